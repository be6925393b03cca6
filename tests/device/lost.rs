//! A lost context: its sessions end with a distinct error. After the last one is closed, the next
//! session gets a fresh context or reports that the process must restart.

use crate::tally::Tally;
use cudarc::driver::sys;
use seawall::backend::BackendError;
use seawall::backend::cuda::{CudaOptions, CudaSession, Executor};
use seawall::graph::Graph;
use seawall_oracles::ranks::run_ranks;
use std::ffi::CStr;
use std::ptr::null_mut;

/// A kernel with an illegal write.
const WRECK: &CStr = c".version 7.0
.target sm_70
.address_size 64
.visible .entry wreck()
{
    .reg .b64 place;
    .reg .b32 word;
    mov.u64 place, 64;
    mov.u32 word, 1;
    st.global.u32 [place], word;
    ret;
}
";

/// Loses the context on purpose. This is the last check of the program, as a driver need not
/// provide another context.
pub(crate) fn run(tally: &mut Tally) {
    tally.check("lost context", "mega", "no seed", || {
        let edges: Vec<(u32, u32)> = (0..200).map(|node| (node, (node * 7 + 1) % 200)).collect();
        let graph = Graph::from_edges(200, &edges, false).map_err(|error| error.to_string())?;
        let mut session = open(&graph).map_err(|error| error.to_string())?;
        run_ranks(&mut session, &graph, 3, 1)?;
        wreck()?;
        let ended = run_ranks(&mut session, &graph, 3, 1)
            .err()
            .unwrap_or_default();
        if !ended.contains("context of the device is lost") {
            return Err(format!("the session ended with '{ended}'"));
        }
        match open(&graph).err() {
            Some(BackendError::ContextLost { .. }) => {}
            other => return Err(format!("beside the lost session: {other:?}")),
        }
        drop(session);
        match open(&graph) {
            Ok(mut fresh) => run_ranks(&mut fresh, &graph, 3, 1),
            // Drivers need not provide another context to a process; the error then asks for a
            // restart.
            Err(error) if error.to_string().ends_with("restart it") => Ok(()),
            Err(error) => Err(format!("after the lost session: {error}")),
        }
    });
}

fn open(graph: &Graph) -> Result<CudaSession<'_>, BackendError> {
    CudaSession::open(Executor::Mega, graph, CudaOptions::default())
}

/// Runs the kernel in the context of the calling thread, which a session left current.
fn wreck() -> Result<(), String> {
    let (mut module, mut kernel) = (null_mut(), null_mut());
    // SAFETY: valid handles to write to, a zero-terminated text, a name that it contains, and a
    // kernel without parameters; the context is current.
    let codes = unsafe {
        [
            sys::cuModuleLoadData(&raw mut module, WRECK.as_ptr().cast()),
            sys::cuModuleGetFunction(&raw mut kernel, module, c"wreck".as_ptr()),
            sys::cuLaunchKernel(
                kernel,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                null_mut(),
                null_mut(),
                null_mut(),
            ),
            sys::cuCtxSynchronize(),
        ]
    };
    match codes.map(|code| code as u32) {
        [0, 0, 0, 700] => Ok(()),
        codes => Err(format!(
            "the driver answered {codes:?}, not an illegal address"
        )),
    }
}
