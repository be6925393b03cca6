//! Places of registers, and the facts that hold there.

use seawall_core::abi::facts::Invariant;
use seawall_core::abi::program::{Region, RegisterRecord};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a region, at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) region: u32,
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Span {
    /// Returns whether the two share a byte.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.region == other.region && self.start < other.end && other.start < self.end
    }

    /// Whether the two are the same or share no byte.
    pub(super) fn is_apart_or_same(&self, other: &Self) -> bool {
        self == other || !self.meets(other)
    }
}

/// Returns the place of `register`; `None` if there is no such register, or it is empty.
pub(super) fn place_of(registers: &[RegisterRecord], register: u32) -> Option<Span> {
    let record = registers.get(register as usize)?;
    let place = Span {
        region: record.region,
        start: record.offset_bytes,
        end: record
            .offset_bytes
            .saturating_add(u64::from(record.words) * 4),
    };
    (place.start < place.end).then_some(place)
}

/// A fact about a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holds {
    pub(super) invariant: Invariant,
    /// Number of loops that had begun when a wave established it.
    pub(super) loops: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HeldFact {
    end: u64,
    register: u32,
    holds: Holds,
}

/// Facts about registers. Their places share no byte: writing one ends the facts of all others
/// there.
#[derive(Clone, Debug, Default)]
pub(super) struct Holding {
    /// By region and first byte.
    held: BTreeMap<(u32, u64), HeldFact>,
}

impl Holding {
    /// Returns the fact about `register`.
    pub(super) fn of(&self, register: u32, place: Span) -> Option<Holds> {
        let held = self.held.get(&(place.region, place.start))?;
        (held.register == register).then_some(held.holds)
    }

    /// Records that `register` was written, and its new fact. Cost is logarithmic in the number of
    /// facts, and linear in those that end.
    pub(super) fn write(&mut self, register: u32, place: Span, holds: Option<Holds>) {
        let before = (place.region, 0)..(place.region, place.end);
        let meets = |((_, _), held): &(&(u32, u64), &HeldFact)| held.end > place.start;
        // Places are disjoint, so overlaps with this one come last.
        let over: Vec<_> = self
            .held
            .range(before)
            .rev()
            .take_while(meets)
            .map(|(at, _)| *at)
            .collect();
        for at in over {
            self.held.remove(&at);
        }
        if let Some(holds) = holds {
            let held = HeldFact {
                end: place.end,
                register,
                holds,
            };
            self.held.insert((place.region, place.start), held);
        }
    }

    pub(super) fn keep_only(&mut self, region: Region, registers: &BTreeSet<u32>) {
        self.held.retain(|(held_in, _), held| {
            *held_in == region as u32 && registers.contains(&held.register)
        });
    }

    pub(super) fn keep_common(&mut self, other: &Self) {
        self.held.retain(|at, held| {
            let other = other.held.get(at);
            let same =
                other.filter(|other| (other.register, other.end) == (held.register, held.end));
            let either = same.and_then(|other| {
                let invariant = held.holds.invariant.either(other.holds.invariant)?;
                let loops = held.holds.loops.min(other.holds.loops);
                Some(Holds { invariant, loops })
            });
            held.holds = either.unwrap_or(held.holds);
            either.is_some()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(start: u64, end: u64) -> Span {
        Span {
            region: 0,
            start,
            end,
        }
    }

    fn holds(invariant: Invariant) -> Option<Holds> {
        Some(Holds {
            invariant,
            loops: 0,
        })
    }

    #[test]
    fn a_write_ends_what_held_of_registers_across_it() {
        let mut holding = Holding::default();
        for (register, start) in [(0, 0), (1, 10), (2, 20), (3, 30)] {
            let own = place(start, start + 10);
            holding.write(register, own, holds(Invariant::Forest));
        }
        holding.write(4, place(15, 21), None);
        let holds = [0, 1, 2, 3].map(|register| {
            let start = 10 * u64::from(register);
            holding.of(register, place(start, start + 10)).is_some()
        });
        assert_eq!(holds, [true, false, false, true]);
    }

    #[test]
    fn another_register_of_the_same_place_is_another() {
        let mut holding = Holding::default();
        holding.write(0, place(0, 8), holds(Invariant::Forest));
        assert_eq!(holding.of(1, place(0, 8)), None);
        holding.write(1, place(0, 4), holds(Invariant::Forest));
        assert_eq!(holding.of(0, place(0, 8)), None);
    }

    #[test]
    fn only_what_holds_on_both_ways_holds() {
        let mut one = Holding::default();
        one.write(0, place(0, 8), holds(Invariant::Fresh));
        one.write(1, place(8, 16), holds(Invariant::Forest));
        let mut other = Holding::default();
        other.write(0, place(0, 8), holds(Invariant::Frontier));
        one.keep_common(&other);
        assert_eq!(one.of(0, place(0, 8)), holds(Invariant::Frontier));
        assert_eq!(one.of(1, place(8, 16)), None);
    }
}
