//! Programs of code on several devices.

use super::{Carrier, Devices};
use crate::backend::cpu::stepped;
use crate::backend::gpu::CudaOptions;
use crate::backend::{BackendError, RunLimits, Session, cuda};
use crate::executor::Machine;
use crate::graph::Graph;
use crate::units::counted;
use seawall_core::abi::multi::DEVICES_MAX;

/// Opens a session of programs on `devices`: each has `graph`, and all of a program's registers.
/// Loading a program that they cannot share is refused with [`BackendError::NotShared`]; results
/// are those of one device. The host launches each group of waves on all of them, and exchanges
/// what they wrote after it.
///
/// ```
/// use seawall::backend::ProgramSession;
/// use seawall::executor::Machine;
/// use seawall::graph::{LoadOptions, load};
/// use seawall::multi::{Devices, open_session};
/// use seawall::program::{Kind, Over, PlanRequest, ProgramBuilder};
///
/// let graph = load("gen:grid:100", &LoadOptions::default(), None)?.graph;
/// let mut program = ProgramBuilder::new(graph.nodes());
/// let squares = program.per_node("squares", Kind::U32)?;
/// program.each("square the numbers", Over::Nodes, |node| {
///     node.store(squares, node.index() * node.index());
/// });
/// program.keep(squares);
/// let (encoded, _) = program.encode(&PlanRequest::default())?;
/// let mut session = open_session(&graph, &Machine::auto(), &Devices::simulated(3, 1))?;
/// let mut session = ProgramSession::over(session);
/// session.load(&encoded)?;
/// session.run()?;
/// let mut words = Vec::new();
/// session.read(squares, &mut words)?;
/// assert_eq!(words[9_999], 9_999 * 9_999);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`BackendError::NotShared`] for no device or too many; as for
/// [`CpuSession::open`](crate::backend::cpu::CpuSession::open) and [`cuda::open`].
pub fn open_session<'g>(
    graph: &'g Graph,
    machine: &Machine,
    devices: &Devices,
) -> Result<Box<dyn Session + 'g>, BackendError> {
    let count = devices.count();
    if count == 0 || count as usize > DEVICES_MAX {
        let reason = format!("a run has 1 to {DEVICES_MAX} devices, not {count}");
        return Err(BackendError::NotShared { reason });
    }
    match devices {
        Devices::Gpus(numbers) => {
            let session = cuda::stepped::open(graph, numbers, CudaOptions::of(machine))?;
            Ok(Box::new(session))
        }
        Devices::Simulated { threads, .. } => {
            let limits = RunLimits::of(machine);
            let session = stepped::open(graph, count, *threads, limits, machine.jit)?;
            Ok(Box::new(session))
        }
    }
}

/// Opens a session of programs on the ranks that `carrier` joins, as [`open_session`] does on
/// devices: each rank has `graph` and all of a program's registers, and `threads` threads, or the GPU of
/// `machine` if its executor is one of a GPU. Every rank loads the same program, or calls [`refuse_on_ranks`](super::refuse_on_ranks), runs it as
/// often as the others, with the same inputs, and reads whole results.
///
/// # Errors
/// Of loading: [`BackendError::NotShared`] for a program that ranks cannot share or if a rank has
/// another graph or program, of a run also if it has other inputs; of loading and runs:
/// [`BackendError::RankEnded`] if another rank could not go on, and [`BackendError::RankLost`] if one is gone. As for
/// [`CpuSession::open`](crate::backend::cpu::CpuSession::open).
pub fn open_on_ranks<'g>(
    graph: &'g Graph,
    machine: &Machine,
    carrier: &'g mut dyn Carrier,
    threads: u32,
) -> Result<Box<dyn Session + 'g>, BackendError> {
    let (session, name) = match Devices::of_ranks(1, machine, threads) {
        Devices::Gpus(numbers) => {
            let session = cuda::stepped::open(graph, &numbers, CudaOptions::of(machine))?;
            let name = session.name_of_one();
            (session, name)
        }
        Devices::Simulated { threads, .. } => {
            let limits = RunLimits::of(machine);
            let session = stepped::open(graph, 1, threads, limits, machine.jit)?;
            (session, counted(threads.into(), "CPU thread"))
        }
    };
    Ok(Box::new(session.on_ranks(carrier, &name)))
}
