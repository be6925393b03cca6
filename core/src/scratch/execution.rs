//! The scratch of a whole execution: of groups and of the arena.

use super::{ArenaScratch, ArenaScratchView, GroupScratch, GroupScratchView};

/// Space to plan an execution of at most `W` waves and `D` dependencies.
///
/// Takes `104 W + 4 D` bytes.
///
/// ```
/// use seawall_core::scratch::ExecutionScratch;
/// static ROOM: ExecutionScratch<64, 128> = ExecutionScratch::new();
/// assert_eq!(size_of_val(&ROOM), 104 * 64 + 4 * 128);
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ExecutionScratch<const W: usize, const D: usize> {
    groups: GroupScratch<W, D>,
    arena: ArenaScratch<W>,
}

impl<const W: usize, const D: usize> ExecutionScratch<W, D> {
    /// Zeroed space, usable in a `static`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            groups: GroupScratch::new(),
            arena: ArenaScratch::new(),
        }
    }

    /// The unsized view that the planner takes.
    pub fn view(&mut self) -> ExecutionScratchView<'_> {
        ExecutionScratchView::new(self.groups.view(), self.arena.view())
    }
}

/// Execution scratch over slices of any length.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ExecutionScratchView<'a> {
    pub(crate) groups: GroupScratchView<'a>,
    pub(crate) arena: ArenaScratchView<'a>,
}

impl<'a> ExecutionScratchView<'a> {
    /// A view over the scratch of groups and the scratch of an arena.
    #[must_use]
    pub fn new(groups: GroupScratchView<'a>, arena: ArenaScratchView<'a>) -> Self {
        Self { groups, arena }
    }
}

owner! { ExecutionScratch<W, D> => ExecutionScratchView }

impl<'a> From<&'a mut ExecutionScratchView<'_>> for ExecutionScratchView<'a> {
    fn from(view: &'a mut ExecutionScratchView<'_>) -> Self {
        Self::new(view.groups.reborrow(), (&mut view.arena).into())
    }
}
