//! The values that data of one source reaches: a search that stops and goes on.
//!
//! Functions that call each other pass memory round, so that data that gets there reaches the same
//! large set of values, whatever its source. Once searches have taken as long as to find that set,
//! it is found for all of them ([`Hubs`]): a search that gets to it does not go on there.

use super::flow::Flows;
use crate::order::Rows;
use std::ops::Range;
use std::sync::Arc;

/// Values of a page: 2 bits each in 64 words.
const PAGE: usize = 2048;

/// The bits of a value: data comes to it, and without going down into a callee.
const FALLEN: u64 = 1;
const RISEN: u64 = 3;

/// The first bit of each value in a word.
const EVEN: u64 = u64::MAX / 3;

/// Marks of values, with memory for the pages that have some alone: most sources reach few values.
struct Marks {
    pages: Vec<Option<Box<[u64; PAGE / 32]>>>,
    /// Number of pages with memory.
    used: usize,
}

impl Marks {
    fn new(values: usize) -> Self {
        let pages = (0..values.div_ceil(PAGE)).map(|_| None).collect();
        Self { pages, used: 0 }
    }

    fn bytes(&self) -> u64 {
        8 * (self.pages.len() + self.used * PAGE / 32) as u64
    }

    /// Whether a value has all of `bits`.
    fn has(&self, value: u32, bits: u64) -> bool {
        let page = self.pages[value as usize / PAGE].as_ref();
        page.is_some_and(|page| page[value as usize % PAGE / 32] >> (value % 32 * 2) & bits == bits)
    }

    /// The first value from `from` on that has risen.
    fn risen_from(&self, from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(page) = self.pages.get(at / PAGE) {
            let word = page.as_ref().map(|page| page[at % PAGE / 32]);
            let risen = word.map_or(0, |word| (word & word >> 1 & EVEN) >> (at % 32 * 2));
            if risen != 0 {
                return Some(at + risen.trailing_zeros() as usize / 2);
            }
            let step = if word.is_some() { 32 } else { PAGE };
            at = (at / step + 1) * step;
        }
        None
    }

    /// Gives a value `bits`, and returns whether some of them are new.
    fn insert(&mut self, value: u32, bits: u64) -> bool {
        let page = &mut self.pages[value as usize / PAGE];
        let page = page.get_or_insert_with(|| {
            self.used += 1;
            Box::new([0; PAGE / 32])
        });
        let (word, bits) = (
            &mut page[value as usize % PAGE / 32],
            bits << (value % 32 * 2),
        );
        let is_new = *word & bits != bits;
        *word |= bits;
        is_new
    }
}

/// Marks the values that flows of two kinds lead to from one, itself included.
fn closure(flows: [&Rows; 2], from: u32) -> Marks {
    let mut marks = Marks::new(flows[0].nodes());
    marks.insert(from, FALLEN);
    let mut open = vec![from];
    while let Some(value) = open.pop() {
        for to in flows.iter().flat_map(|rows| rows.row(value as usize)) {
            if marks.insert(*to, FALLEN) {
                open.push(*to);
            }
        }
    }
    marks
}

/// A value that many searches get to.
struct Hub {
    /// Values that lead to it.
    before: Marks,
    /// Values that data reaches from it on, on the way that led to it.
    after: Marks,
}

/// Values that many searches get to on the way up, and on the way down.
pub(super) struct Hubs {
    up: Arc<Hub>,
    down: Arc<Hub>,
}

impl Hubs {
    /// Costs five searches, two of them over flows that are turned for it.
    pub(super) fn of(flows: &Flows, up: u32, down: u32) -> Self {
        let along = flows.along.reversed();
        let rise = || {
            let mut reach = Reach::new(along.nodes(), vec![up]);
            reach.complete(flows, None);
            Hub {
                before: closure([&along, &flows.up.reversed()], up),
                after: reach.marks,
            }
        };
        let fall = || Hub {
            before: closure([&along, &flows.down.reversed()], down),
            after: closure([&flows.along, &flows.down], down),
        };
        let (up, down) = rayon::join(rise, fall);
        Self {
            up: Arc::new(up),
            down: Arc::new(down),
        }
    }
}

/// Values that sources reach which were followed together, by their numbers.
pub(super) trait Reached {
    /// Values where data of a source begins, sorted.
    fn seeds(&self, source: u32) -> &[u32];
    /// The same within a range of values, of all sources that have some there.
    fn seeds_within(&self, range: Range<usize>) -> Vec<&[u32]>;
    /// The sources whose data comes to a value without going down into a callee, as bits.
    fn risen(&self, value: u32) -> u64;
    /// The sources whose data comes to a value; by its function and number there, too.
    fn sources(&self, value: u32, place: (u32, u32)) -> u64;
}

/// The parts of sorted lists within a range, but those without any.
pub(super) fn seeds_within<'s>(
    lists: impl Iterator<Item = &'s [u32]>,
    range: Range<usize>,
) -> Vec<&'s [u32]> {
    let within = |seeds: &'s [u32]| {
        let from = |end: usize| seeds.partition_point(|seed| (*seed as usize) < end);
        &seeds[from(range.start)..from(range.end)]
    };
    lists
        .map(within)
        .filter(|seeds| !seeds.is_empty())
        .collect()
}

/// One source.
impl Reached for Reach {
    fn seeds(&self, _: u32) -> &[u32] {
        &self.seeds
    }

    fn seeds_within(&self, range: Range<usize>) -> Vec<&[u32]> {
        seeds_within([self.seeds.as_slice()].into_iter(), range)
    }

    fn risen(&self, value: u32) -> u64 {
        let rose = self.rose.as_ref();
        let is_risen =
            self.marks.has(value, RISEN) || rose.is_some_and(|hub| hub.after.has(value, RISEN));
        u64::from(is_risen)
    }

    fn sources(&self, value: u32, _: (u32, u32)) -> u64 {
        u64::from(self.has(value))
    }
}

/// The values that a source reaches, as far as it was followed.
///
/// Data goes up to callers first, and then down into callees. Each value is taken once on the way
/// up and at most once more on the way down, whatever the number of questions.
pub(super) struct Reach {
    seeds: Vec<u32>,
    marks: Marks,
    /// Values whose flows are still to be followed: up, and down.
    rising: Vec<u32>,
    falling: Vec<u32>,
    /// Values from here on that have risen are still to be followed into callees.
    turned: usize,
    /// The hubs that it got to on the way up and on the way down.
    rose: Option<Arc<Hub>>,
    fell: Option<Arc<Hub>>,
}

impl Reach {
    /// A search that has not begun, among this number of values.
    pub(super) fn new(values: usize, seeds: Vec<u32>) -> Self {
        let mut reach = Self {
            marks: Marks::new(values),
            rising: Vec::new(),
            falling: Vec::new(),
            turned: 0,
            rose: None,
            fell: None,
            seeds,
        };
        for seed in &reach.seeds {
            if reach.marks.insert(*seed, RISEN) {
                reach.rising.push(*seed);
            }
        }
        reach
    }

    /// Bytes that it holds: two bits a value of pages that it reaches, and lists while it goes on.
    pub(super) fn bytes(&self) -> u64 {
        let lists = [&self.seeds, &self.rising, &self.falling];
        let listed: usize = lists.iter().map(|list| list.capacity()).sum();
        self.marks.bytes() + 4 * listed as u64
    }

    /// Whether all is found.
    pub(super) fn is_complete(&self) -> bool {
        self.rising.is_empty() && self.falling.is_empty() && self.turned == usize::MAX
    }

    /// Whether data comes to a value.
    fn has(&self, value: u32) -> bool {
        self.marks.has(value, FALLEN) || self.is_after_hub(value)
    }

    fn is_after_hub(&self, value: u32) -> bool {
        let hubs = [&self.rose, &self.fell].into_iter().flatten();
        hubs.into_iter().any(|hub| hub.after.has(value, FALLEN))
    }

    /// Whether all that data reaches from a value on, on the way up, is known from a hub.
    fn has_hub_up(&mut self, value: u32, hubs: &Hubs) -> bool {
        if self.rose.is_none() && hubs.up.before.has(value, FALLEN) {
            self.rose = Some(Arc::clone(&hubs.up));
        }
        let rose = self.rose.as_ref();
        rose.is_some_and(|hub| hub.after.has(value, RISEN))
    }

    /// The same on the way down.
    fn has_hub_down(&mut self, value: u32, hubs: &Hubs) -> bool {
        if self.fell.is_none() && hubs.down.before.has(value, FALLEN) {
            self.fell = Some(Arc::clone(&hubs.down));
        }
        self.is_after_hub(value)
    }

    /// Follows the source to its end; returns the number of values taken.
    pub(super) fn complete(&mut self, flows: &Flows, hubs: Option<&Hubs>) -> u64 {
        self.advance(flows, hubs, u64::MAX)
    }

    /// Follows the source until it reaches one of `values`; returns whether it does, and the number
    /// of values taken.
    pub(super) fn until(
        &mut self,
        flows: &Flows,
        hubs: Option<&Hubs>,
        values: &[u32],
    ) -> (bool, u64) {
        // As many steps as there are values to look at, so that to look costs no more than to go.
        let steps = (values.len() as u64).max(64);
        let mut taken = 0;
        loop {
            if values.iter().any(|value| self.has(*value)) {
                return (true, taken);
            }
            if self.is_complete() {
                return (false, taken);
            }
            taken += self.advance(flows, hubs, steps);
        }
    }

    fn advance(&mut self, flows: &Flows, hubs: Option<&Hubs>, most: u64) -> u64 {
        let mut taken = 0;
        while taken < most {
            taken += 1;
            if let Some(value) = self.rising.pop() {
                if hubs.is_some_and(|hubs| self.has_hub_up(value, hubs)) {
                    continue;
                }
                let row = flows.along.row(value as usize).iter();
                for to in row.chain(flows.up.row(value as usize)) {
                    if self.marks.insert(*to, RISEN) {
                        self.rising.push(*to);
                    }
                }
            } else if let Some(value) = self.falling.pop() {
                if hubs.is_some_and(|hubs| self.has_hub_down(value, hubs)) {
                    continue;
                }
                let row = flows.along.row(value as usize).iter();
                for to in row.chain(flows.down.row(value as usize)) {
                    if self.marks.insert(*to, FALLEN) {
                        self.falling.push(*to);
                    }
                }
            } else if let Some(value) = self.marks.risen_from(self.turned) {
                self.turned = value + 1;
                for to in flows.down.row(value) {
                    if self.marks.insert(*to, FALLEN) {
                        self.falling.push(*to);
                    }
                }
            } else {
                (self.rising, self.falling) = Default::default();
                self.turned = usize::MAX;
                return taken - 1;
            }
        }
        taken
    }
}
