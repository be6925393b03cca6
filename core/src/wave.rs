//! The caller's description of a program: waves, their bytes and their dependencies.
//!
//! These are plain records over borrowed slices, so a table in flash, a mapped file
//! and a `Vec` are planned alike. The planners check the records, not this module.

use bytemuck::TransparentWrapper;

/// The position of a wave in [`Dag::waves`].
///
/// ```
/// use seawall_core::plan::WaveId;
/// assert!(WaveId(3) < WaveId(4));
/// assert_eq!(WaveId(3).to_string(), "3");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, TransparentWrapper)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(transparent)]
pub struct WaveId(pub u32);

impl WaveId {
    /// The id as a slice position.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl core::fmt::Display for WaveId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

/// Copies of a wave's scratch that a fused group holds at once.
pub const FUSED_SCRATCH_COPIES: u64 = 4;

/// One step of graph work, described by the bytes that it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Wave {
    /// Bytes of the frontier that the wave reads or fills while it runs.
    pub frontier_bytes: u64,
    /// Bytes of working memory for one copy of the wave.
    pub scratch_bytes: u64,
    /// Bytes that the wave leaves for its successors.
    pub output_bytes: u64,
}

impl Wave {
    /// Bytes of the wave inside a fused group: frontier, four scratch copies, output.
    ///
    /// `None` when the sum does not fit in 64 bits.
    ///
    /// ```
    /// use seawall_core::wave::Wave;
    /// let wave = Wave { frontier_bytes: 10, scratch_bytes: 3, output_bytes: 5 };
    /// assert_eq!(wave.fused_bytes(), Some(27));
    /// ```
    #[inline]
    #[must_use]
    pub const fn fused_bytes(&self) -> Option<u64> {
        let Some(scratch) = self.scratch_bytes.checked_mul(FUSED_SCRATCH_COPIES) else {
            return None;
        };
        let Some(sum) = self.frontier_bytes.checked_add(scratch) else {
            return None;
        };
        sum.checked_add(self.output_bytes)
    }

    /// Fused bytes of a wave whose sum has been checked.
    #[inline]
    pub(crate) fn checked_bytes(&self) -> u64 {
        self.fused_bytes().unwrap_or(u64::MAX)
    }
}

/// A dependency: `after` may start only when `before` has finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C)]
pub struct Dependency {
    /// Id of the wave that comes first.
    pub before: u32,
    /// Id of the wave that waits.
    pub after: u32,
}

/// A wave program: waves, and the order between them.
///
/// Duplicated dependencies are legal and harmless.
///
/// ```
/// use seawall_core::wave::{Dag, Dependency, Wave};
/// let dag = Dag {
///     waves: &[Wave::default(); 2],
///     dependencies: &[Dependency { before: 0, after: 1 }],
/// };
/// assert_eq!(dag.waves.len(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Dag<'a> {
    /// The waves; a wave's id is its position.
    pub waves: &'a [Wave],
    /// The dependencies, in any order.
    pub dependencies: &'a [Dependency],
}
