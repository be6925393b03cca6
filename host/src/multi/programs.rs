//! Programs of code on several devices.

use super::Devices;
use crate::backend::cpu::stepped::SteppedSession;
use crate::backend::{BackendError, RunLimits, Session};
use crate::executor::Machine;
use crate::graph::Graph;
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
/// [`BackendError::NotShared`] for no device, too many, or GPUs, which share no programs yet; as for
/// [`CpuSession::open`](crate::backend::cpu::CpuSession::open).
pub fn open_session<'g>(
    graph: &'g Graph,
    machine: &Machine,
    devices: &Devices,
) -> Result<Box<dyn Session + 'g>, BackendError> {
    let refuse = |reason: String| BackendError::NotShared { reason };
    let Devices::Simulated { count, threads } = *devices else {
        let reason = "GPUs do not share programs yet, the backend cpu simulates devices that do";
        return Err(refuse(reason.to_owned()));
    };
    if count == 0 || count as usize > DEVICES_MAX {
        let reason = format!("a run has 1 to {DEVICES_MAX} devices, not {count}");
        return Err(refuse(reason));
    }
    let limits = RunLimits {
        time_budget_ns: machine.time_budget_ns,
    };
    let session = SteppedSession::open(graph, count, threads, limits)?;
    Ok(Box::new(session.with_jit(machine.jit)))
}
