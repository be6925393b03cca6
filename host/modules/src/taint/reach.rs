//! The values that data of one source reaches: a search that stops and goes on.

use super::flow::Flows;

/// A set of values.
struct Marks(Vec<u64>);

impl Marks {
    fn new(values: usize) -> Self {
        Self(vec![0; values.div_ceil(64)])
    }

    fn has(&self, value: u32) -> bool {
        self.0[value as usize / 64] >> (value % 64) & 1 == 1
    }

    /// Adds a value, and returns whether it is new.
    fn insert(&mut self, value: u32) -> bool {
        let (word, bit) = (&mut self.0[value as usize / 64], 1 << (value % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// The values that a source reaches, as far as it was followed.
///
/// Data goes up to callers first, and then down into callees. Each value is taken once on the way
/// up and at most once more on the way down, whatever the number of questions.
pub(super) struct Reach {
    seeds: Vec<u32>,
    /// Values that the way up reaches.
    risen: Marks,
    /// These, and those that the way down reaches.
    fallen: Marks,
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
            risen: Marks::new(values),
            fallen: Marks::new(values),
            rising: Vec::new(),
            falling: Vec::new(),
            turning: Vec::new(),
            seeds,
        };
        for seed in &reach.seeds {
            if reach.risen.insert(*seed) {
                reach.fallen.insert(*seed);
                reach.rising.push(*seed);
            }
        }
        reach
    }

    /// Bytes that it holds: two bits a value, and lists while it goes on.
    pub(super) fn bytes(&self) -> u64 {
        let words = self.risen.0.len() + self.fallen.0.len();
        let lists = [&self.seeds, &self.rising, &self.falling, &self.turning];
        let listed: usize = lists.iter().map(|list| list.capacity()).sum();
        8 * words as u64 + 4 * listed as u64
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
        self.risen.has(value)
    }

    /// Whether data comes to a value.
    pub(super) fn has(&self, value: u32) -> bool {
        self.fallen.has(value)
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
                    if self.risen.insert(*to) {
                        self.fallen.insert(*to);
                        self.rising.push(*to);
                    }
                }
            } else if let Some(value) = self.falling.pop() {
                let row = flows.along.row(value as usize).iter();
                for to in row.chain(flows.down.row(value as usize)) {
                    if self.fallen.insert(*to) {
                        self.falling.push(*to);
                    }
                }
            } else if let Some(value) = self.turning.pop() {
                for to in flows.down.row(value as usize) {
                    if self.fallen.insert(*to) {
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
