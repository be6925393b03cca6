//! The CUDA backend: one resident graph on one GPU, and three ways to run a
//! program on it.
//!
//! The driver is loaded when a device is first requested, so the same binary starts without one.
//! All unsafe use of the driver stays in this module: raw handles have one owner each, owners hold
//! what they depend on, and nothing is freed while the device may still use it. Planning, encoding
//! and the choice of a backend are elsewhere.
//!
//! A run allocates no memory, queues its work on one stream and ends with one readback of the
//! control block. If a kernel outlasts its own time budget, the host abandons it after a grace
//! period and leaks the device's memory instead of hanging in a free.

mod error;
mod lost;
mod driver;
mod device;
mod context;
mod memory;
mod stream;
mod text;
mod staging;
mod embedded;
mod entry;
mod module;
mod precompiled;
mod cluster;
mod launch;
mod resident;
mod loaded;
mod marks;
mod runner;
mod running;
mod abort;
mod baseline;
mod mega;
mod linked;
mod code_cache;
mod launches;
mod graph;
mod session;
mod mapped;
pub(crate) mod serve;
pub(crate) mod streaming;
pub(crate) mod multi;
pub(crate) mod rank;
mod shape;
mod batch;
mod bound;
pub mod measure;

pub use super::gpu::{CudaOptions, DeviceLimits, GridShape, LoopNodes};
pub use crate::executor::Executor;
pub use batch::CudaBatch;
pub use context::release;
pub use device::probe;
pub use embedded::{EMBEDDED, Embedded};
pub use module::precompiled_for;
pub use session::CudaSession;
pub(crate) use session::stepped;

use super::batch::{BatchError, BatchSession, Job};
use super::{BackendError, Session};
use crate::graph::Graph;
use crate::program::EncodedProgram;
use seawall_core::abi::program::Opcode;

/// Opens a session of `executor` with `graph` resident on a device.
///
/// The graph stays borrowed, because weights and incoming edges are uploaded only when a program
/// reads them. The session belongs to the calling thread.
///
/// # Errors
/// [`BackendError::Unavailable`] without a usable driver or device; otherwise as for
/// [`CudaSession::open`].
///
/// ```
/// use seawall::backend::{BackendError, cuda};
/// use seawall::graph::Graph;
///
/// let graph = Graph::from_edges(3, &[(0, 1), (1, 2)], false)?;
/// match cuda::open(cuda::Executor::Mega, &graph, cuda::CudaOptions::default()) {
///     Ok(session) => println!("{}", session.device().name),
///     Err(BackendError::Unavailable { reason }) => println!("no GPU: {reason}"),
///     Err(error) => println!("{error}"),
/// }
/// # Ok::<(), seawall::graph::GraphError>(())
/// ```
pub fn open<'g>(
    executor: Executor,
    graph: &'g Graph,
    options: CudaOptions,
) -> Result<Box<dyn Session + 'g>, BackendError> {
    Ok(Box::new(CudaSession::open(executor, graph, options)?))
}

/// Opens a batch on a device.
///
/// # Errors
/// As for [`CudaBatch::open`].
pub fn open_batch<'g>(
    jobs: &[Job<'g>],
    options: CudaOptions,
) -> Result<Box<dyn BatchSession + 'g>, BatchError> {
    Ok(Box::new(CudaBatch::open(jobs, options)?))
}

/// Refuses a program with a sequential algorithm, by the first wave that runs one.
fn refuse_sequential(program: &EncodedProgram) -> Result<(), BackendError> {
    let mut waves = program.waves.iter();
    let Some(wave) = waves.find(|wave| wave.opcode == Opcode::Sequential as u32) else {
        return Ok(());
    };
    let name = program.wave_names.get(wave.wave as usize);
    Err(BackendError::Sequential {
        wave: name.cloned().unwrap_or_else(|| wave.wave.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_without_the_device_gives_the_reason_for_every_executor() {
        let graph = Graph::from_edges(2, &[(0, 1)], false).unwrap();
        for executor in [Executor::Mega, Executor::Launches, Executor::Graph] {
            let options = CudaOptions {
                device: u32::MAX,
                ..CudaOptions::default()
            };
            let error = open(executor, &graph, options).err().unwrap();
            assert!(matches!(error, BackendError::Unavailable { .. }), "{error}");
        }
    }
}
