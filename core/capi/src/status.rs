//! Outcomes of calls, as numbers that stay the same between versions.

use core::ffi::CStr;

use seawall_core::convergence::ConvergenceError;
use seawall_core::error::{ArenaError, GroupError, LayerError, ScratchTooSmall};
use seawall_core::launch::LaunchError;
use seawall_core::plan::{DevicesError, ExecutionError};
use seawall_core::topology::memory::MemoryError;

/// The outcome of a call. Numbers are never reused.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// A pointer is null where a record or a table is needed.
    NullPointer = 1,
    /// A pointer is not aligned to its type.
    Misaligned = 2,
    /// The strategy does not exist.
    InvalidStrategy = 3,
    /// A length is more than any memory holds.
    InvalidLength = 4,
    /// A dependency names a wave that does not exist; numbers: waves, before, after.
    InvalidWave = 10,
    /// A wave waits for itself; numbers: wave.
    SelfDependency = 11,
    /// Waves wait for each other in a cycle; numbers: waves on a cycle or reachable from one, a
    /// wave on it.
    Cycle = 12,
    /// A buffer is too small; numbers: waves or dependencies needed, and those that fit; which
    /// buffer, in the order of the requirements from 0.
    ScratchTooSmall = 13,
    /// The resident graph exceeds the budget; numbers: resident bytes, budget bytes.
    ResidentOverBudget = 20,
    /// A byte count exceeds 64 bits.
    Overflow = 21,
    /// A wave alone exceeds a group; numbers: wave, its bytes, bytes of a group.
    WaveOverBudget = 22,
    /// The resident graph and the regions that are alive at once exceed the budget; numbers: the
    /// least budget that works, budget bytes.
    ArenaOverBudget = 23,
    /// A group exceeds the budget under a topology; numbers: topology, its bytes, budget bytes.
    OverBudget = 24,
    /// The alignment is no power of two; numbers: alignment.
    InvalidAlignment = 30,
    /// The groups belong to another program; numbers: waves, waves planned.
    PlanMismatch = 31,
    /// No iteration is allowed.
    EmptyIterationBudget = 40,
    /// The changed flag is not one device word; numbers: its bytes.
    InvalidChangedFlagWidth = 41,
    /// The host asks to read the flag between iterations; numbers: reads.
    HostPolledConvergence = 42,
    /// A limit of the dispatch's device is 0.
    ZeroLimit = 50,
    /// The queue, rounded up to whole groups, exceeds 32 bits; numbers: items, lanes of a group.
    QueueTooLong = 51,
    /// The derived hit capacity exceeds 32 bits; numbers: items, hits expected of one.
    HitCapacityOverflow = 52,
    /// Resident bytes and the hit buffer's exceed 64 bits; numbers: resident bytes, hit capacity.
    PeakBytesOverflow = 53,
    /// The dispatch does not fit; numbers: bytes that it needs, bytes that there are.
    OutOfMemory = 54,
    /// There is no plan for that many devices; numbers: devices.
    InvalidDeviceCount = 60,
}

impl Status {
    /// The outcome with this number.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Ok,
            1 => Self::NullPointer,
            2 => Self::Misaligned,
            3 => Self::InvalidStrategy,
            4 => Self::InvalidLength,
            10 => Self::InvalidWave,
            11 => Self::SelfDependency,
            12 => Self::Cycle,
            13 => Self::ScratchTooSmall,
            20 => Self::ResidentOverBudget,
            21 => Self::Overflow,
            22 => Self::WaveOverBudget,
            23 => Self::ArenaOverBudget,
            24 => Self::OverBudget,
            30 => Self::InvalidAlignment,
            31 => Self::PlanMismatch,
            40 => Self::EmptyIterationBudget,
            41 => Self::InvalidChangedFlagWidth,
            42 => Self::HostPolledConvergence,
            50 => Self::ZeroLimit,
            51 => Self::QueueTooLong,
            52 => Self::HitCapacityOverflow,
            53 => Self::PeakBytesOverflow,
            54 => Self::OutOfMemory,
            60 => Self::InvalidDeviceCount,
            _ => return None,
        })
    }

    /// The name in `snake_case`, as the planner's own errors have it.
    #[must_use]
    pub const fn name(self) -> &'static CStr {
        match self {
            Self::Ok => c"ok",
            Self::NullPointer => c"null_pointer",
            Self::Misaligned => c"misaligned",
            Self::InvalidStrategy => c"invalid_strategy",
            Self::InvalidLength => c"invalid_length",
            Self::InvalidWave => c"invalid_wave",
            Self::SelfDependency => c"self_dependency",
            Self::Cycle => c"cycle",
            Self::ScratchTooSmall => c"scratch_too_small",
            Self::ResidentOverBudget => c"resident_over_budget",
            Self::Overflow => c"overflow",
            Self::WaveOverBudget => c"wave_over_budget",
            Self::ArenaOverBudget => c"arena_over_budget",
            Self::OverBudget => c"over_budget",
            Self::InvalidAlignment => c"invalid_alignment",
            Self::PlanMismatch => c"plan_mismatch",
            Self::EmptyIterationBudget => c"empty_iteration_budget",
            Self::InvalidChangedFlagWidth => c"invalid_changed_flag_width",
            Self::HostPolledConvergence => c"host_polled_convergence",
            Self::ZeroLimit => c"zero_limit",
            Self::QueueTooLong => c"queue_too_long",
            Self::HitCapacityOverflow => c"hit_capacity_overflow",
            Self::PeakBytesOverflow => c"peak_bytes_overflow",
            Self::OutOfMemory => c"out_of_memory",
            Self::InvalidDeviceCount => c"invalid_device_count",
        }
    }
}

/// The numbers of an outcome, as described at the outcome; the rest is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The numbers, in the order that the outcome lists them.
    pub numbers: [u64; 3],
}

/// An outcome other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) problem: Problem,
}

impl Failure {
    pub(crate) const fn new(status: Status, numbers: [u64; 3]) -> Self {
        Self {
            status,
            problem: Problem { numbers },
        }
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::new(status, [0; 3])
    }
}

impl From<DevicesError> for Failure {
    fn from(error: DevicesError) -> Self {
        match error {
            DevicesError::Count { devices } => {
                Self::new(Status::InvalidDeviceCount, [u64::from(devices), 0, 0])
            }
            // The table of cuts is as long as that of waves.
            DevicesError::Cuts { waves, cuts } => {
                Self::new(Status::InvalidLength, [waves, cuts, 0])
            }
            DevicesError::ScratchTooSmall(small) => small.into(),
            DevicesError::Execution(error) => error.into(),
        }
    }
}

impl From<ScratchTooSmall> for Failure {
    fn from(small: ScratchTooSmall) -> Self {
        let numbers = [small.needed, small.capacity, small.field as u64];
        Self::new(Status::ScratchTooSmall, numbers)
    }
}

impl From<LayerError> for Failure {
    fn from(error: LayerError) -> Self {
        match error {
            LayerError::InvalidWave {
                waves,
                before,
                after,
            } => Self::new(Status::InvalidWave, [waves, before, after]),
            LayerError::SelfDependency { wave } => Self::new(Status::SelfDependency, [wave, 0, 0]),
            LayerError::Cycle { unscheduled, wave } => {
                Self::new(Status::Cycle, [unscheduled, wave.0.into(), 0])
            }
            LayerError::ScratchTooSmall(small) => small.into(),
        }
    }
}

impl From<GroupError> for Failure {
    fn from(error: GroupError) -> Self {
        match error {
            GroupError::ResidentOverBudget {
                required_bytes,
                budget_bytes,
            } => Self::new(
                Status::ResidentOverBudget,
                [required_bytes, budget_bytes, 0],
            ),
            GroupError::Overflow { .. } => Status::Overflow.into(),
            GroupError::WaveOverBudget {
                wave,
                required_bytes,
                budget_bytes,
            } => Self::new(
                Status::WaveOverBudget,
                [wave.0.into(), required_bytes, budget_bytes],
            ),
            GroupError::ScratchTooSmall(small) => small.into(),
            GroupError::Layers(error) => error.into(),
        }
    }
}

impl From<ArenaError> for Failure {
    fn from(error: ArenaError) -> Self {
        match error {
            ArenaError::InvalidAlignment { alignment_bytes } => {
                Self::new(Status::InvalidAlignment, [alignment_bytes, 0, 0])
            }
            ArenaError::PlanMismatch { waves, planned } => {
                Self::new(Status::PlanMismatch, [waves, planned, 0])
            }
            ArenaError::Overflow { .. } => Status::Overflow.into(),
            ArenaError::ScratchTooSmall(small) => small.into(),
        }
    }
}

impl From<ExecutionError> for Failure {
    fn from(error: ExecutionError) -> Self {
        match error {
            ExecutionError::Groups(error) => error.into(),
            ExecutionError::Arena(error) => error.into(),
            ExecutionError::OverBudget(over) => Self::new(
                Status::ArenaOverBudget,
                [over.required_bytes, over.budget_bytes, 0],
            ),
            ExecutionError::Memory(error) => error.into(),
            ExecutionError::Launch(error) => error.into(),
        }
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        match error {
            MemoryError::Overflow { .. } => Status::Overflow.into(),
            MemoryError::OverBudget {
                topology,
                required_bytes,
                budget_bytes,
            } => Self::new(
                Status::OverBudget,
                [topology as u64, required_bytes, budget_bytes],
            ),
        }
    }
}

impl From<LaunchError> for Failure {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::ZeroLimit { .. } => Status::ZeroLimit.into(),
            LaunchError::QueueTooLong {
                queue_len,
                lanes_per_group,
            } => Self::new(
                Status::QueueTooLong,
                [queue_len.into(), lanes_per_group.into(), 0],
            ),
            LaunchError::HitCapacityOverflow {
                queue_len,
                expected_hits_per_item,
            } => Self::new(
                Status::HitCapacityOverflow,
                [queue_len.into(), expected_hits_per_item.into(), 0],
            ),
            LaunchError::PeakBytesOverflow {
                resident_bytes,
                hit_capacity,
            } => Self::new(
                Status::PeakBytesOverflow,
                [resident_bytes, hit_capacity.into(), 0],
            ),
            LaunchError::OutOfMemory {
                requested,
                available,
            } => Self::new(Status::OutOfMemory, [requested, available, 0]),
        }
    }
}

impl From<ConvergenceError> for Failure {
    fn from(error: ConvergenceError) -> Self {
        match error {
            ConvergenceError::EmptyIterationBudget => Status::EmptyIterationBudget.into(),
            ConvergenceError::InvalidChangedFlagWidth { bytes } => {
                Self::new(Status::InvalidChangedFlagWidth, [bytes.into(), 0, 0])
            }
            ConvergenceError::HostPolledConvergence { polls } => {
                Self::new(Status::HostPolledConvergence, [polls.into(), 0, 0])
            }
        }
    }
}
