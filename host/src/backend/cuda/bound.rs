//! Register bounds: the number of lanes of a block that a kernel is compiled for.
//!
//! A multiprocessor shares its registers among its resident lanes. The embedded kernels are written
//! for blocks of up to 1024 lanes, which leaves 64 per lane. Compiled for the smaller blocks of an
//! actual launch, their loops keep values in registers that would otherwise be in memory. Measured
//! on an H200 with the grid of 2048 × 2048 nodes: paths 55.6 instead of 64.7 ms, a search 10.6
//! instead of 11.4 ms.

use seawall_device::machine::LANES_MAX;

/// The largest block that a kernel is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bound(u32);

/// The block sizes that kernels are compiled for. They are few, since each costs the driver
/// seconds.
const SIZES: [u32; 3] = [256, 512, 640];

impl Bound {
    /// Blocks of any size.
    pub(super) const ANY: Self = Self(LANES_MAX);

    /// Returns the bound for blocks of `lanes` lanes if each multiprocessor holds one; if it may
    /// hold more, they need the registers of large ones.
    pub(super) fn of(lanes: u32, alone: bool) -> Self {
        let fitting = SIZES.into_iter().find(|size| alone && lanes <= *size);
        fitting.map_or(Self::ANY, Self)
    }

    /// Returns the lanes of the largest block.
    pub(super) const fn lanes(self) -> u32 {
        self.0
    }

    /// Returns the PTX of one kernel with this bound instead of the widest.
    pub(super) fn apply(self, text: String) -> String {
        if self == Self::ANY {
            return text;
        }
        text.replace(&directive(LANES_MAX), &directive(self.0))
    }
}

fn directive(lanes: u32) -> String {
    format!("\n.maxntid {lanes}, 1, 1\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_alone_gets_the_least_bound_that_holds_it() {
        for (lanes, bound) in [
            (32, 256),
            (256, 256),
            (288, 512),
            (640, 640),
            (672, 1024),
            (1024, 1024),
        ] {
            assert_eq!(Bound::of(lanes, true), Bound(bound), "{lanes}");
            assert_eq!(Bound::of(lanes, false), Bound::ANY);
        }
    }

    #[test]
    fn the_bound_is_written_into_the_text() {
        let text = || "(\n)\n.maxntid 1024, 1, 1\n.minnctapersm 1\n{".to_owned();
        assert_eq!(Bound::ANY.apply(text()), text());
        let small = Bound::of(200, true).apply(text());
        assert_eq!(small, "(\n)\n.maxntid 256, 1, 1\n.minnctapersm 1\n{");
    }
}
