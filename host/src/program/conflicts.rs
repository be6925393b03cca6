//! Conflicts between waves of one group.

use super::places::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    place: Span,
    wave: u32,
    writes: bool,
}

/// The registers that the waves of a group use.
#[derive(Debug, Default)]
pub(super) struct Conflicts {
    uses: Vec<Use>,
}

/// The two uses that end last, of different waves.
#[derive(Clone, Copy, Debug, Default)]
struct Longest([Option<(u64, u32)>; 2]);

impl Longest {
    fn note(&mut self, end: u64, wave: u32) {
        let [first, second] = self.0;
        self.0 = match first {
            Some((known, same)) if same == wave => [Some((known.max(end), wave)), second],
            Some((known, _)) if known >= end => {
                let stays = second.is_some_and(|(known, _)| known >= end);
                [first, if stays { second } else { Some((end, wave)) }]
            }
            _ => [Some((end, wave)), first],
        };
    }

    /// Returns a use by another wave that extends beyond byte `start`.
    fn beyond(&self, start: u64, wave: u32) -> Option<u32> {
        let mut uses = self.0.into_iter().flatten();
        let found = uses.find(|(end, other)| *other != wave && *end > start);
        found.map(|(_, other)| other)
    }
}

impl Conflicts {
    pub(super) fn note(&mut self, wave: u32, place: Span, writes: bool) {
        self.uses.push(Use {
            place,
            wave,
            writes,
        });
    }

    /// Returns two waves of which one writes memory that the other uses, if there are any.
    pub(super) fn first(mut self) -> Option<[u32; 2]> {
        self.uses.sort_unstable();
        let (mut read, mut written) = (Longest::default(), Longest::default());
        let mut region = None;
        for Use {
            place,
            wave,
            writes,
        } in self.uses
        {
            if region.replace(place.region) != Some(place.region) {
                (read, written) = Default::default();
            }
            let other = written.beyond(place.start, wave).or_else(|| {
                let reads = read.beyond(place.start, wave);
                reads.filter(|_| writes)
            });
            if let Some(other) = other {
                return Some([other, wave]);
            }
            let longest = if writes { &mut written } else { &mut read };
            longest.note(place.end, wave);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn conflicts(uses: &[(u32, u64, u64, bool)]) -> bool {
        let mut conflicts = Conflicts::default();
        for (wave, start, length, writes) in uses {
            let place = Span {
                region: 0,
                start: *start,
                end: start + length,
            };
            conflicts.note(*wave, place, *writes);
        }
        conflicts.first().is_some()
    }

    #[test]
    fn reading_together_is_no_conflict() {
        assert!(!conflicts(&[(0, 0, 8, false), (1, 4, 8, false)]));
        assert!(conflicts(&[(0, 0, 8, false), (1, 4, 8, true)]));
        assert!(!conflicts(&[
            (0, 0, 8, true),
            (0, 4, 8, true),
            (1, 12, 1, true)
        ]));
    }

    proptest! {
        #[test]
        fn every_pair_is_found(
            uses in prop::collection::vec((0..4_u32, 0..30_u64, 1..9_u64, any::<bool>()), 0..12)
        ) {
            let meet = |a: &(u32, u64, u64, bool), b: &(u32, u64, u64, bool)| {
                a.0 != b.0 && (a.3 || b.3) && a.1 < b.1 + b.2 && b.1 < a.1 + a.2
            };
            let any = uses.iter().any(|a| uses.iter().any(|b| meet(a, b)));
            prop_assert_eq!(conflicts(&uses), any);
        }
    }
}
