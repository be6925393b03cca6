//! The values that data of one source reaches: a search that stops and goes on.

use super::flow::Flows;

/// Values of a page: 2 bits each in 64 words.
const PAGE: usize = 2048;

/// The bits of a value: data comes to it, and without going down into a callee.
const FALLEN: u64 = 1;
const RISEN: u64 = 3;

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
    /// Values that have risen and whose flows into callees are still to be followed.
    turning: Vec<u32>,
}

impl Reach {
    /// A search that has not begun, among this number of values.
    pub(super) fn new(values: usize, seeds: Vec<u32>) -> Self {
        let mut reach = Self {
            marks: Marks::new(values),
            rising: Vec::new(),
            falling: Vec::new(),
            turning: Vec::new(),
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
        let lists = [&self.seeds, &self.rising, &self.falling, &self.turning];
        let listed: usize = lists.iter().map(|list| list.capacity()).sum();
        self.marks.bytes() + 4 * listed as u64
    }

    /// Whether all is found.
    pub(super) fn is_complete(&self) -> bool {
        self.rising.is_empty() && self.falling.is_empty() && self.turning.is_empty()
    }

    /// Whether data of the source begins at a value.
    pub(super) fn is_seed(&self, value: u32) -> bool {
        self.seeds.binary_search(&value).is_ok()
    }

    /// Whether data comes to a value without going down into a callee.
    pub(super) fn has_risen(&self, value: u32) -> bool {
        self.marks.has(value, RISEN)
    }

    /// Whether data comes to a value.
    pub(super) fn has(&self, value: u32) -> bool {
        self.marks.has(value, FALLEN)
    }

    /// Follows the source to its end; returns the number of values taken.
    pub(super) fn complete(&mut self, flows: &Flows) -> u64 {
        self.advance(flows, u64::MAX)
    }

    /// Follows the source until it reaches one of `values`; returns whether it does, and the number
    /// of values taken.
    pub(super) fn until(&mut self, flows: &Flows, values: &[u32]) -> (bool, u64) {
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
            taken += self.advance(flows, steps);
        }
    }

    fn advance(&mut self, flows: &Flows, most: u64) -> u64 {
        let mut taken = 0;
        while taken < most {
            if let Some(value) = self.rising.pop() {
                self.turning.push(value);
                let row = flows.along.row(value as usize).iter();
                for to in row.chain(flows.up.row(value as usize)) {
                    if self.marks.insert(*to, RISEN) {
                        self.rising.push(*to);
                    }
                }
            } else if let Some(value) = self.falling.pop() {
                let row = flows.along.row(value as usize).iter();
                for to in row.chain(flows.down.row(value as usize)) {
                    if self.marks.insert(*to, FALLEN) {
                        self.falling.push(*to);
                    }
                }
            } else if let Some(value) = self.turning.pop() {
                for to in flows.down.row(value as usize) {
                    if self.marks.insert(*to, FALLEN) {
                        self.falling.push(*to);
                    }
                }
            } else {
                (self.rising, self.falling, self.turning) = Default::default();
                break;
            }
            taken += 1;
        }
        taken
    }
}
