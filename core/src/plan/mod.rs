//! Plans: which waves run together, in what order, in what memory.
//!
//! Three steps, each usable alone: [`layers()`] puts waves between the fewest global barriers,
//! [`groups()`] keeps groups inside a byte budget, [`arena()`] assigns every region an offset.
//! [`execution()`] takes all of them, and the topology, memory and launch that follow, in one call;
//! [`devices()`] does so for several devices, and places their exchanges.
//! [`Requirements`] states the working memory that they take. Nothing here runs a wave, allocates,
//! or keeps state between calls.

pub mod arena;
pub mod devices;
pub mod execution;
pub mod groups;
pub mod layers;

mod canonical;
mod cells;
mod csr;
mod pack;
mod ready;
mod scarce;
#[cfg(feature = "serde")]
mod serialize;

pub use crate::wave::{Dag, Dependency, Wave, WaveId};
pub use arena::{Arena, ArenaOptions, Offsets, Results, arena};
pub use devices::{DevicesError, DevicesPlan, devices};
pub use execution::{Execution, ExecutionError, execution};
pub use groups::{Budget, Group, GroupSummary, Groups, Strategy, groups};
pub use layers::{Layers, Shape, check_records, layers, layers_of};

use crate::scratch;

/// Number of elements that each scratch buffer needs for a program.
///
/// Counts saturate: a program too large to address asks for `usize::MAX`.
///
/// ```
/// use seawall_core::plan::{Requirements, Strategy};
/// let needs = Requirements::for_dag(64, 128);
/// assert_eq!(needs.layer_words, 4 * 64);
/// assert_eq!(needs.layers_bytes(), 16 * 64 + 4 * 128);
/// assert!(needs.groups_bytes(Strategy::InOrder) < needs.groups_bytes(Strategy::Packed));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Requirements {
    /// `u32` elements of the layers' wave buffer.
    pub layer_words: usize,
    /// `u32` elements of the layers' dependency buffer.
    pub dependency_words: usize,
    /// `u32` elements that packing needs beside the layers.
    pub pack_words: usize,
    /// `u64` elements that packing needs.
    pub pack_bytes: usize,
    /// `u32` elements of an arena.
    pub arena_words: usize,
    /// `u64` elements of an arena.
    pub arena_offsets: usize,
}

impl Requirements {
    /// The requirements of a program with this many waves and dependencies.
    #[must_use]
    pub const fn for_dag(waves: usize, dependencies: usize) -> Self {
        Self {
            layer_words: waves.saturating_mul(scratch::LAYER_WORDS),
            dependency_words: dependencies,
            pack_words: waves.saturating_mul(scratch::PACK_WORDS),
            pack_bytes: waves.saturating_mul(scratch::PACK_BYTES),
            arena_words: waves.saturating_mul(scratch::ARENA_WORDS),
            arena_offsets: waves.saturating_mul(scratch::ARENA_OFFSETS),
        }
    }

    /// Bytes of scratch for [`layers()`].
    #[must_use]
    pub const fn layers_bytes(&self) -> usize {
        bytes(self.layer_words.saturating_add(self.dependency_words), 0)
    }

    /// Bytes of scratch for [`groups()`], those for the layers included.
    #[must_use]
    pub const fn groups_bytes(&self, strategy: Strategy) -> usize {
        match strategy {
            Strategy::InOrder => self.layers_bytes(),
            Strategy::Packed => self
                .layers_bytes()
                .saturating_add(bytes(self.pack_words, self.pack_bytes)),
        }
    }

    /// Bytes of scratch for [`arena()`].
    #[must_use]
    pub const fn arena_bytes(&self) -> usize {
        bytes(self.arena_words, self.arena_offsets)
    }

    /// Bytes of scratch for [`execution()`]: groups and arena together.
    #[must_use]
    pub const fn execution_bytes(&self, strategy: Strategy) -> usize {
        self.groups_bytes(strategy)
            .saturating_add(self.arena_bytes())
    }
}

const fn bytes(words: usize, longs: usize) -> usize {
    words
        .saturating_mul(4)
        .saturating_add(longs.saturating_mul(8))
}
