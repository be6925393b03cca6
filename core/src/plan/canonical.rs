//! Names of waves that do not depend on how the caller numbered them.
//!
//! If a planner has to break a tie, it takes the wave with the smaller name, so that a program and
//! the same program renumbered get plans of the same size. Waves get colours from their bytes and
//! from the colours of all waves before and after them, and are sorted by colour. If several waves
//! share a colour, one of them gets a unique colour and the others follow from it, until no two are
//! alike: colour refinement with individualisation, as in McKay and Piperno, "Practical graph
//! isomorphism, II" (2014). Waves with the same neighbours can change places, so their order is
//! free. Among others the choice with the least certificate counts. The work is bounded: ties that
//! are left after it are broken by the caller's numbers.

use super::arena::Results;
use super::cells::{IDS, copy, read, write};
use super::csr::{Direction, Neighbours};
use super::ready::heap_sort;
use crate::scratch::{ArenaScratchView, ScratchView, split};
use crate::wave::{Dag, Wave};

/// Waves and dependencies visited, over all choices together.
const VISITS: u64 = 1 << 18;

/// Leaves the waves in the order of their names in `layers.starts`.
///
/// Expects a checked program whose groups are in `layers.order` and `layers.depth`, which stay.
/// `O((W + D) log W)`, plus a bounded amount if waves are alike.
pub(super) fn name(
    dag: &Dag<'_>,
    results: Results<'_>,
    layers: &mut ScratchView<'_>,
    arena: &mut ArenaScratchView<'_>,
) {
    layers.cut(dag.waves.len(), dag.dependencies.len());
    let ScratchView {
        order,
        ends,
        starts,
        targets,
        ..
    } = layers.reborrow();
    let lists = Neighbours::build(Direction::Forward, dag.dependencies, starts, targets, ends);
    if lists.is_none() {
        return;
    }
    let waves = dag.waves.len();
    let offsets = arena.offsets.get_mut(..waves.saturating_mul(3));
    let words = arena.words.get_mut(..waves.saturating_mul(4));
    let [colours, sums, keys] = split::<u64, 3>(offsets.unwrap_or_default());
    let [sorted, class, base, twin] = split::<u32, 4>(words.unwrap_or_default());
    let mut naming = Naming {
        dag,
        results,
        order,
        after: Neighbours::over(starts, targets),
        colours,
        sums,
        keys,
        sorted,
        class,
        base,
        twin,
        visits: 0,
    };
    naming.find_twins();
    naming.name();
    copy(starts, sorted);
}

struct Naming<'a> {
    dag: &'a Dag<'a>,
    results: Results<'a>,
    /// Each wave after those that it depends on.
    order: &'a [u32],
    after: Neighbours<'a>,
    colours: &'a mut [u64],
    sums: &'a mut [u64],
    keys: &'a mut [u64],
    /// Waves by ascending colour.
    sorted: &'a mut [u32],
    /// Position in `sorted` of the first wave with the colour of a wave.
    class: &'a mut [u32],
    /// The classes before a choice.
    base: &'a mut [u32],
    /// Equal for waves with the same neighbours.
    twin: &'a mut [u32],
    visits: u64,
}

/// A tie of several waves, as a range of `sorted`.
#[derive(Clone, Copy)]
struct Tie {
    begin: u32,
    end: u32,
}

impl Naming<'_> {
    fn waves(&self) -> u32 {
        u32::try_from(self.dag.waves.len()).unwrap_or(u32::MAX)
    }

    fn find_twins(&mut self) {
        self.sums.fill(0);
        for dependency in self.dag.dependencies {
            let (before, after) = (dependency.before, dependency.after);
            add(self.sums, before, mix(after.into(), 1));
            add(self.sums, after, mix(before.into(), 2));
        }
        for (twin, sum) in self.twin.iter_mut().zip(self.sums.iter()) {
            *twin = high(*sum);
        }
    }

    fn name(&mut self) {
        for wave in 0..self.waves() {
            let Wave {
                frontier_bytes,
                scratch_bytes,
                output_bytes,
            } = read(self.dag.waves, wave);
            let kept = match self.results {
                Results::Bits(words) => (read::<u32>(words, wave >> 5) >> (wave & 31)) & 1,
                _ => 0,
            };
            let bytes = mix(mix(frontier_bytes, scratch_bytes), output_bytes);
            write(self.colours, wave, mix(bytes, kept.into()));
        }
        self.refine();
        while let Some(tie) = self.first_tie() {
            let chosen = self.choose(tie);
            self.split_off(chosen);
        }
    }

    /// Returns the first tie whose waves could not change places freely. Others are broken.
    fn first_tie(&mut self) -> Option<Tie> {
        let mut begin = 0;
        while begin < self.waves() {
            let first = read(self.sorted, begin);
            let mut end = begin.wrapping_add(1);
            let mut is_free = self.visits >= VISITS;
            let mut are_twins = true;
            while end < self.waves() {
                let wave = read(self.sorted, end);
                if read::<u32>(self.class, wave) != read::<u32>(self.class, first) {
                    break;
                }
                are_twins &= read::<u32>(self.twin, wave) == read::<u32>(self.twin, first);
                end = end.wrapping_add(1);
            }
            is_free |= are_twins;
            if !is_free {
                return Some(Tie { begin, end });
            }
            for position in begin..end {
                write(self.class, read(self.sorted, position), position);
            }
            begin = end;
        }
        None
    }

    /// Returns the wave of a tie that leads to the least certificate.
    fn choose(&mut self, tie: Tie) -> u32 {
        let first = read(self.sorted, tie.begin);
        let members = u64::from(tie.end.wrapping_sub(tie.begin));
        let cost = members.saturating_mul(self.size());
        if self.visits.saturating_add(cost) > VISITS {
            return first;
        }
        copy(self.base, self.class);
        let mut best = (u64::MAX, first);
        for wave in 0..self.waves() {
            if read::<u32>(self.base, wave) != tie.begin {
                continue;
            }
            let found = (self.split_off(wave), wave);
            if found < best {
                best = found;
            }
            copy(self.class, self.base);
        }
        best.1
    }

    /// Gives a wave a unique colour, propagates it to the others, and returns the certificate.
    fn split_off(&mut self, chosen: u32) -> u64 {
        for (wave, class) in IDS.zip(self.class.iter()) {
            let own = u64::from(wave == chosen);
            write(self.colours, wave, mix((*class).into(), own));
        }
        self.refine()
    }

    /// Sorts the waves by colour, and colours them by their predecessors and successors, until no
    /// more are distinguished.
    fn refine(&mut self) -> u64 {
        let mut classes = 0;
        loop {
            self.visits = self.visits.saturating_add(self.size());
            self.spread();
            let (found, certificate) = self.sort();
            if found <= classes || found == self.waves() {
                return certificate;
            }
            classes = found;
            for (colour, class) in self.colours.iter_mut().zip(self.class.iter()) {
                *colour = mix((*class).into(), 0);
            }
        }
    }

    /// Waves and dependencies.
    fn size(&self) -> u64 {
        let Dag {
            waves,
            dependencies,
        } = self.dag;
        u64::try_from(waves.len().saturating_add(dependencies.len())).unwrap_or(u64::MAX)
    }

    /// Mixes the colours of all predecessors into each wave, then of all successors.
    fn spread(&mut self) {
        self.sums.fill(0);
        for wave in self.order {
            let colour = mix(read(self.colours, *wave), read(self.sums, *wave));
            write(self.colours, *wave, colour);
            for next in self.after.of(*wave) {
                add(self.sums, *next, mix(colour, 3));
            }
        }
        for wave in self.order.iter().rev() {
            let after = self.after.of(*wave).iter();
            let sum = after.fold(0u64, |sum, next| {
                sum.wrapping_add(mix(read(self.colours, *next), 4))
            });
            write(self.colours, *wave, mix(read(self.colours, *wave), sum));
        }
    }

    /// Numbers the classes; returns how many there are, and a hash of all colours.
    fn sort(&mut self) -> (u32, u64) {
        for (id, slot) in IDS.zip(self.sorted.iter_mut()) {
            *slot = id;
        }
        copy(self.keys, self.colours);
        heap_sort(self.sorted, self.keys);
        let (mut classes, mut certificate, mut first) = (0u32, 0, 0);
        for position in 0..self.waves() {
            let key = read(self.keys, position);
            if position == 0 || key != read(self.keys, position.wrapping_sub(1)) {
                (classes, first) = (classes.wrapping_add(1), position);
            }
            certificate = mix(certificate, key);
            write(self.class, read(self.sorted, position), first);
        }
        (classes, certificate)
    }
}

fn add(cells: &mut [u64], index: u32, value: u64) {
    write(cells, index, read::<u64>(cells, index).wrapping_add(value));
}

/// The upper half of a hash.
fn high(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or(0)
}

/// Hashes two numbers, by the finalizer of `SplitMix64`.
fn mix(a: u64, b: u64) -> u64 {
    let mut hash = (a ^ b.wrapping_mul(0xD6E8_FEB8_6659_FD93)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ (hash >> 31)
}
