//! Joins by segment.

use super::Drawer;
use crate::script::{Slot, Wave};
use seawall::program::{Join, Kind};

impl Drawer<'_> {
    /// A join by segment that depends on no order.
    pub(super) fn segments(&mut self) -> Option<Wave> {
        let to = self.writable(|words| words > 1)?;
        let kind = self.script.registers[to].kind;
        let fits = |how: &Join| how.takes(kind) && kind != Kind::F32;
        let hows: Vec<Join> = Join::ALL.into_iter().filter(fits).collect();
        let how = self.random.pick(&hows)?;
        let from = self.readable(0, Some(to))?;
        let values = self.words(from) / kind.words();
        let by = self.readable(values, Some(to))?;
        let kind_of = |slot: Slot| self.script.registers[slot].kind;
        let fits = kind_of(from) == kind && kind_of(by) == Kind::U32;
        fits.then_some(Wave::Segments { how, to, from, by })
    }
}
