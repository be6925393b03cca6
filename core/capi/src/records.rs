//! The records that C passes and receives.
//!
//! Waves, dependencies and offsets have the planner's own layout, asserted here,
//! so that a caller's tables are planned where they lie.

use core::mem::{align_of, offset_of, size_of};

use seawall_core::plan;

/// One step of graph work, described by the bytes that it needs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Wave {
    /// Bytes of the frontier that the wave reads or fills while it runs.
    pub frontier_bytes: u64,
    /// Bytes of working memory for one copy of the wave.
    pub scratch_bytes: u64,
    /// Bytes that the wave leaves for its successors.
    pub output_bytes: u64,
}

/// One wave waits for another.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dependency {
    /// Position of the wave that runs first.
    pub before: u32,
    /// Position of the wave that waits.
    pub after: u32,
}

const _: () = {
    assert!(size_of::<Wave>() == size_of::<plan::Wave>());
    assert!(align_of::<Wave>() == align_of::<plan::Wave>());
    assert!(offset_of!(Wave, frontier_bytes) == offset_of!(plan::Wave, frontier_bytes));
    assert!(offset_of!(Wave, scratch_bytes) == offset_of!(plan::Wave, scratch_bytes));
    assert!(offset_of!(Wave, output_bytes) == offset_of!(plan::Wave, output_bytes));
    assert!(size_of::<Dependency>() == size_of::<plan::Dependency>());
    assert!(align_of::<Dependency>() == align_of::<plan::Dependency>());
    assert!(offset_of!(Dependency, before) == offset_of!(plan::Dependency, before));
    assert!(offset_of!(Dependency, after) == offset_of!(plan::Dependency, after));
};

/// A program: waves and their dependencies. Null is allowed for tables of no entries.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dag {
    /// The waves.
    pub waves: *const Wave,
    /// Number of entries.
    pub wave_count: usize,
    /// The dependencies, in any order.
    pub dependencies: *const Dependency,
    /// Number of entries.
    pub dependency_count: usize,
}

/// Bytes that a plan may use.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Bytes that stay on the device for the whole run: the graph.
    pub resident_bytes: u64,
    /// Total bytes.
    pub budget_bytes: u64,
    /// Bytes that the last interval read back.
    pub readback_bytes: u64,
}

impl From<Budget> for plan::Budget {
    fn from(budget: Budget) -> Self {
        Self {
            resident_bytes: budget.resident_bytes,
            budget_bytes: budget.budget_bytes,
            readback_bytes: budget.readback_bytes,
        }
    }
}

/// Strategies that turn layers into groups.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Next-fit inside each layer; needs the buffers of layers only.
    InOrder = 0,
    /// Fewest barriers that list scheduling finds; needs the packing buffers as well.
    Packed = 1,
}

/// Options of an arena's layout.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArenaOptions {
    /// Every offset is a multiple of this power of two; 256 suits most devices.
    pub alignment_bytes: u64,
    /// Bit `w % 32` of word `w / 32` keeps the output of wave `w` to the end. Null keeps the
    /// outputs that no wave depends on.
    pub result_words: *const u32,
    /// Number of words.
    pub result_word_count: usize,
}

/// Layers; both tables lie in the caller's buffers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Layers {
    /// All waves, layer by layer.
    pub order: *const u32,
    /// Number of waves.
    pub wave_count: usize,
    /// End of each layer in `order`.
    pub ends: *const u32,
    /// Number of layers.
    pub layer_count: usize,
}

/// The figures of a plan.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// Barriers between groups.
    pub global_barriers: u64,
    /// No plan has fewer groups.
    pub lower_bound: u64,
    /// Largest sum of frontier bytes in a group.
    pub peak_frontier_bytes: u64,
    /// Largest sum of scratch bytes in a group.
    pub peak_scratch_bytes: u64,
    /// Largest sum of output bytes in a group.
    pub peak_output_bytes: u64,
    /// Largest sum of fused bytes in a group.
    pub peak_group_bytes: u64,
    /// The last readback or the largest output of a group.
    pub amortized_readback_bytes: u64,
    /// Most waves in one group.
    pub max_group_width: u64,
}

impl From<&plan::GroupSummary> for Summary {
    fn from(summary: &plan::GroupSummary) -> Self {
        Self {
            global_barriers: summary.global_barriers,
            lower_bound: summary.lower_bound,
            peak_frontier_bytes: summary.peak_frontier_bytes,
            peak_scratch_bytes: summary.peak_scratch_bytes,
            peak_output_bytes: summary.peak_output_bytes,
            peak_group_bytes: summary.peak_group_bytes,
            amortized_readback_bytes: summary.amortized_readback_bytes,
            max_group_width: summary.max_group_width,
        }
    }
}

/// Groups; both tables lie in the caller's buffers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Groups {
    /// All waves, group by group.
    pub order: *const u32,
    /// Number of waves.
    pub wave_count: usize,
    /// End of each group in `order`.
    pub ends: *const u32,
    /// Number of groups.
    pub group_count: usize,
    /// The figures.
    pub summary: Summary,
}

/// Offsets of a wave's regions, in bytes from the start of the arena.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// The frontier.
    pub frontier: u64,
    /// The scratch.
    pub scratch: u64,
    /// The output.
    pub output: u64,
}

/// One device allocation for everything that a plan touches.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arena {
    /// Size of the arena in bytes.
    pub bytes: u64,
    /// No arena is smaller.
    pub lower_bound: u64,
}
