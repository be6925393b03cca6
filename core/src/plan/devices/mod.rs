//! Plans for several devices: what each holds, and when they tell each other.
//!
//! Nodes are cut into as many ranges as there are devices, so each device has its part of the graph,
//! of every frontier and of every output that has a place for each node. A wave that looks only at
//! its own nodes goes on with what its device has. One that follows edges looks at nodes of all
//! devices, so what came before it has to be exchanged first: every device writes its part into the
//! memory of the others, and a barrier of all devices, the widest [`Scope`], ends the exchange.
//!
//! ```text
//! device 0:  group 0 | group 1 | part of 1 -> others | group 2
//! device 1:  group 0 | group 1 | part of 1 -> others | group 2
//!                    ^ grid              system ^
//! ```
//!
//! Exchanges lie between groups. An output may be exchanged after its own group and has to be before
//! the group of the first wave that reads it on another device. Among all ways to place them, the
//! one here has the fewest: each exchange is put off until the first output that it carries is due,
//! and carries all that is ready (stabbing intervals by their right ends). [`Exchanges::lower_bound`]
//! is what no grouping falls below: the most readings across devices on one path of the program.

mod cost;
mod exchanges;

pub use cost::{Prediction, Prices, Scope};
pub use exchanges::{Exchange, Exchanges};

use super::execution::{Chooser, Execution, ExecutionError, Request, execution};
use super::groups::Budget;
use crate::error::ScratchTooSmall;
use crate::scratch::{DevicesScratchView, ExecutionScratchView};
use crate::wave::{Dag, Wave};

/// How the memory of a wave lies on several devices: by default it follows edges, and leaves
/// something for each node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct WaveCut(u32);

impl WaveCut {
    /// The wave reads what its predecessors left for its own nodes, and nothing of other devices.
    pub const OWN_NODES: Self = Self(1);

    /// Its output is one for all nodes, a sum or a flag, to which each device adds: then all that
    /// read it need the exchange, and each device holds all of it.
    pub const TOTAL: Self = Self(2);

    /// Both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it reads what its predecessors left for nodes of other devices.
    #[must_use]
    pub const fn reads_all(self) -> bool {
        self.0 & Self::OWN_NODES.0 == 0
    }

    /// Whether its output is a total.
    #[must_use]
    pub const fn is_total(self) -> bool {
        self.0 & Self::TOTAL.0 != 0
    }
}

/// Most devices of a plan.
pub const DEVICES_MAX: u32 = 1 << 16;

/// A program planned for several devices, inside borrowed scratch.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DevicesPlan<'a> {
    /// The budget of each device, with its share of the resident bytes.
    pub budget: Budget,
    /// The plan of each device, in its own memory.
    pub execution: Execution<'a>,
    /// The exchanges between its groups.
    pub exchanges: Exchanges<'a>,
}

/// The reason why a program could not be planned for several devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum DevicesError {
    /// No devices, or more than [`DEVICES_MAX`].
    #[error("a plan has 1 to {DEVICES_MAX} devices, not {devices}")]
    Count {
        /// Devices asked for.
        devices: u32,
    },
    /// There is not one [`WaveCut`] for each wave.
    #[error("{waves} waves need as many records of how they are cut, not {cuts}")]
    Cuts {
        /// Waves of the program.
        waves: u64,
        /// Records given.
        cuts: u64,
    },
    /// A scratch buffer is too small.
    #[error(transparent)]
    ScratchTooSmall(ScratchTooSmall),
    /// The plan of a device fails.
    #[error(transparent)]
    Execution(#[from] ExecutionError),
}

/// Plans a program for `devices` devices, each with the budget of the request.
///
/// Each device has its share of the resident bytes, of frontiers and scratch and of outputs, rounded
/// up; outputs that are exchanged, and totals, are whole on each. With one device the plan is that of
/// [`execution()`], without exchanges. Costs that of [`execution()`] and `O(W + D)`.
///
/// # Errors
/// [`DevicesError::Count`], [`DevicesError::Cuts`], then errors of the plan in the order of
/// [`execution()`]. Budgets in them are those of each device.
///
/// ```
/// use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
/// use seawall_core::plan::devices::{WaveCut, devices};
/// use seawall_core::plan::execution::{Chooser, Request};
/// use seawall_core::plan::{Budget, Dag, Dependency, Wave};
/// use seawall_core::scratch::{DevicesScratch, ExecutionScratch};
/// use seawall_core::topology::TopologyPolicy;
///
/// // Shares, a sum along edges, and a step for each node.
/// let wave = Wave { frontier_bytes: 0, scratch_bytes: 0, output_bytes: 4000 };
/// let chain = [(0, 1), (1, 2)].map(|(before, after)| Dependency { before, after });
/// let dag = Dag { waves: &[wave; 3], dependencies: &chain };
/// let cuts = [WaveCut::OWN_NODES, WaveCut::default(), WaveCut::OWN_NODES];
/// let mut subject = Subject::new(Identity {
///     graph_layout_hash: 7,
///     analysis: AnalysisKind::Dataflow,
///     device: DeviceKey::default(),
/// });
/// let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
/// let mut scratch = ExecutionScratch::<3, 2>::new();
/// let mut more = DevicesScratch::<3, 2>::new();
/// let budget = Budget { budget_bytes: 1 << 20, ..Budget::default() };
/// let request = Request::new(dag, budget);
/// let plan = devices(&request, 4, &cuts, chooser, &mut scratch, &mut more)?;
/// let found = plan.exchanges.iter().map(|one| (one.after_group, one.received_bytes));
/// assert!(found.eq([(0, 3000)]));
/// # Ok::<(), seawall_core::plan::devices::DevicesError>(())
/// ```
pub fn devices<'a>(
    request: &Request<'a>,
    devices: u32,
    cuts: &[WaveCut],
    chooser: Chooser<'_>,
    scratch: impl Into<ExecutionScratchView<'a>>,
    more: impl Into<DevicesScratchView<'a>>,
) -> Result<DevicesPlan<'a>, DevicesError> {
    let DevicesScratchView {
        waves,
        words,
        bytes,
        targets,
    } = checked(request, devices, cuts, more.into())?;
    let own = own(request, devices, cuts, waves);
    let execution = execution(&own, chooser, scratch)?;
    let exchanges = exchanges::place(
        &request.dag,
        devices,
        cuts,
        &execution.groups,
        words,
        bytes,
        targets,
    );
    Ok(DevicesPlan {
        budget: own.budget,
        execution,
        exchanges,
    })
}

/// The least budget of a device that [`devices()`] accepts, as
/// [`execution::least_budget`](super::execution::least_budget) of its share.
///
/// # Errors
/// As [`devices()`], except those of budgets.
pub fn least_budget<'a>(
    request: &Request<'a>,
    devices: u32,
    cuts: &[WaveCut],
    scratch: impl Into<ExecutionScratchView<'a>>,
    more: impl Into<DevicesScratchView<'a>>,
) -> Result<u64, DevicesError> {
    let more = checked(request, devices, cuts, more.into())?;
    let own = own(request, devices, cuts, more.waves);
    Ok(super::execution::least_budget(&own, scratch)?)
}

/// The space for a request, if that can be planned in it.
fn checked<'a>(
    request: &Request<'_>,
    devices: u32,
    cuts: &[WaveCut],
    more: DevicesScratchView<'a>,
) -> Result<DevicesScratchView<'a>, DevicesError> {
    if devices == 0 || devices > DEVICES_MAX {
        return Err(DevicesError::Count { devices });
    }
    let (waves, given) = (request.dag.waves.len() as u64, cuts.len() as u64);
    if waves != given {
        return Err(DevicesError::Cuts { waves, cuts: given });
    }
    match more.check(waves, request.dag.dependencies.len() as u64) {
        Ok(()) => Ok(more),
        Err(error) => Err(DevicesError::ScratchTooSmall(error)),
    }
}

/// The request of each device, with its waves in `space`.
fn own<'a>(
    request: &Request<'a>,
    devices: u32,
    cuts: &[WaveCut],
    space: &'a mut [Wave],
) -> Request<'a> {
    let dag = request.dag;
    let waves = space.get_mut(..dag.waves.len()).unwrap_or_default();
    share(&dag, devices, cuts, waves);
    Request {
        dag: Dag {
            waves,
            dependencies: dag.dependencies,
        },
        budget: Budget {
            resident_bytes: part(request.budget.resident_bytes, devices),
            ..request.budget
        },
        ..*request
    }
}

/// The share of one of `devices` devices, rounded up.
fn part(bytes: u64, devices: u32) -> u64 {
    bytes.div_ceil(u64::from(devices.max(1)))
}

/// Whether `after` needs what other devices have of the output of `before`.
fn crosses(cuts: &[WaveCut], before: u32, after: u32) -> bool {
    let cut = |wave: u32| cuts.get(wave as usize).copied().unwrap_or_default();
    cut(before).is_total() || cut(after).reads_all()
}

/// Writes the bytes of each wave on one of `devices` devices.
fn share(dag: &Dag<'_>, devices: u32, cuts: &[WaveCut], shares: &mut [Wave]) {
    let part = |bytes| part(bytes, devices);
    for ((share, wave), cut) in shares.iter_mut().zip(dag.waves).zip(cuts) {
        *share = Wave {
            frontier_bytes: part(wave.frontier_bytes),
            scratch_bytes: part(wave.scratch_bytes),
            output_bytes: match cut.is_total() {
                true => wave.output_bytes,
                false => part(wave.output_bytes),
            },
        };
    }
    for record in dag.dependencies {
        if crosses(cuts, record.before, record.after)
            && let (Some(share), Some(wave)) = (
                shares.get_mut(record.before as usize),
                dag.waves.get(record.before as usize),
            )
        {
            share.output_bytes = wave.output_bytes;
        }
    }
}
