//! Order in which a worker polls the priorities.

use crate::abi::ring::PRIORITIES;

/// Claims above Low after which one scan starts from below.
pub const AGEING_AFTER: u32 = 16;

/// The first priority that is not above Low.
const LOW: u32 = 3;

/// Recent claims of a worker.
///
/// Scans from below begin at Idle, then at Low, at Normal and at High in turn, so that
/// endless work at two priorities does not starve those between them.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Pace {
    above_low: u32,
    scans_from_below: u32,
}

impl Pace {
    /// Whether the next scan starts from below.
    pub(super) const fn is_from_below(&self, ageing_after: u32) -> bool {
        self.above_low >= ageing_after
    }

    /// The priorities in the order of the next scan.
    pub(super) fn order(&self, ageing_after: u32) -> [u32; PRIORITIES as usize] {
        if !self.is_from_below(ageing_after) {
            return [0, 1, 2, 3, 4];
        }
        match self.scans_from_below & 3 {
            0 => [4, 3, 2, 1, 0],
            1 => [3, 2, 1, 0, 4],
            2 => [2, 1, 0, 4, 3],
            _ => [1, 0, 4, 3, 2],
        }
    }

    /// Records that a scan ended with a claim at `level`.
    pub(super) fn claimed(&mut self, level: u32, ageing_after: u32) {
        if self.is_from_below(ageing_after) {
            self.above_low = 0;
            self.scans_from_below = self.scans_from_below.wrapping_add(1);
        } else if level < LOW {
            self.above_low = self.above_low.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels claimed by one worker when `waits` always have work.
    fn claims<const N: usize>(waits: [bool; 5]) -> [u32; N] {
        let mut pace = Pace::default();
        core::array::from_fn(|_| {
            let mut order = pace.order(AGEING_AFTER).into_iter();
            let level = order.find(|level| waits[*level as usize]);
            let level = level.unwrap_or(u32::MAX);
            pace.claimed(level, AGEING_AFTER);
            level
        })
    }

    #[test]
    fn the_highest_priority_comes_first_and_one_scan_in_17_starts_from_below() {
        let claimed = claims::<34>([true, false, false, false, true]);
        assert!(claimed[..16].iter().all(|level| *level == 0));
        assert_eq!(claimed[16], 4);
        assert!(claimed[17..33].iter().all(|level| *level == 0));
    }

    #[test]
    fn every_priority_is_served_within_68_claims_when_all_have_endless_work() {
        for window in claims::<680>([true; 5]).chunks(68) {
            for level in 0..5 {
                assert!(window.contains(&level), "{level}");
            }
        }
    }

    #[test]
    fn nothing_lower_waiting_is_no_livelock() {
        let claimed = claims::<100>([true, false, false, false, false]);
        assert!(claimed.iter().all(|level| *level == 0));
    }
}
