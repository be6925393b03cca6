//! The fewest groups, by branch and bound over the sets of finished waves.
//!
//! Exponential; meant for a dozen waves.

use std::collections::HashMap;

use seawall_core::plan::Dependency;

/// A small packing problem.
pub(crate) struct Problem {
    /// Fused bytes of each wave; none above the budget.
    pub(crate) bytes: Vec<u64>,
    /// The waves that each wave waits for, as bits.
    pub(crate) before: Vec<u32>,
    /// Bytes that a group may hold.
    pub(crate) budget: u64,
}

impl Problem {
    pub(crate) fn new(bytes: Vec<u64>, dependencies: &[Dependency], budget: u64) -> Self {
        let mut before = vec![0; bytes.len()];
        for dependency in dependencies {
            before[dependency.after as usize] |= 1 << dependency.before;
        }
        Self {
            bytes,
            before,
            budget,
        }
    }

    /// The fewest groups of any plan.
    pub(crate) fn fewest_groups(&self) -> usize {
        let mut search = Search {
            problem: self,
            best: self.bytes.len(),
            seen: HashMap::new(),
        };
        search.branch(0, 0);
        search.best
    }

    fn all(&self) -> u32 {
        (1u32 << self.bytes.len()) - 1
    }

    fn is_ready(&self, wave: usize, done: u32) -> bool {
        done >> wave & 1 == 0 && self.before[wave] & !done == 0
    }

    /// Groups that the unfinished waves need at least.
    fn bound(&self, done: u32) -> usize {
        let left = (0..self.bytes.len()).filter(|wave| done >> wave & 1 == 0);
        let bytes: u64 = left.map(|wave| self.bytes[wave]).sum();
        let by_bytes = bytes.div_ceil(self.budget.max(1)) as usize;
        by_bytes.max(self.longest_path(done))
    }

    fn longest_path(&self, mut done: u32) -> usize {
        let mut length = 0;
        while done != self.all() {
            let ready = (0..self.bytes.len()).filter(|wave| self.is_ready(*wave, done));
            done |= ready.fold(0, |set, wave| set | 1 << wave);
            length += 1;
        }
        length
    }
}

struct Search<'a> {
    problem: &'a Problem,
    best: usize,
    /// Fewest groups after which a set of waves was finished.
    seen: HashMap<u32, usize>,
}

impl Search<'_> {
    fn branch(&mut self, done: u32, groups: usize) {
        if done == self.problem.all() {
            self.best = self.best.min(groups);
            return;
        }
        let known = self.seen.get(&done).is_some_and(|fewest| *fewest <= groups);
        if known || groups + self.problem.bound(done) >= self.best {
            return;
        }
        self.seen.insert(done, groups);
        let ready: Vec<usize> = (0..self.problem.bytes.len())
            .filter(|w| self.problem.is_ready(*w, done))
            .collect();
        self.choose(&ready, done, 0, self.problem.budget, groups);
    }

    /// Takes or leaves each ready wave; leaving is only worth trying where taking is possible.
    fn choose(&mut self, ready: &[usize], done: u32, group: u32, space: u64, groups: usize) {
        let Some((wave, rest)) = ready.split_first() else {
            if group != 0 {
                self.branch(done | group, groups + 1);
            }
            return;
        };
        let bytes = self.problem.bytes[*wave];
        if bytes <= space {
            self.choose(rest, done, group | 1 << wave, space - bytes, groups);
        }
        self.choose(rest, done, group, space, groups);
    }
}

#[test]
fn the_oracle_finds_known_optima() {
    let chain = [
        Dependency {
            before: 0,
            after: 1,
        },
        Dependency {
            before: 1,
            after: 2,
        },
    ];
    assert_eq!(Problem::new(vec![1, 1, 1], &chain, 10).fewest_groups(), 3);
    assert_eq!(Problem::new(vec![6, 5, 5, 4], &[], 10).fewest_groups(), 2);
    assert_eq!(Problem::new(vec![6, 6, 6], &[], 10).fewest_groups(), 3);
}
