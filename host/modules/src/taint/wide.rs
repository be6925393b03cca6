//! The values that data of up to 64 sources reaches: a bit for each source.
//!
//! A program that is asked once has no flows between all values laid out for it. Data rises to
//! callers as words along the values of one function at a time, as summaries do. On its way down,
//! words of inputs are enough: a value depends on the inputs that its summary names.

use super::reach::Reached;
use super::summary::{Along, inputs_of};
use crate::values::{NONE, Whole};

/// Most sources at once.
pub(super) const SOURCES_MOST: usize = 64;

/// Most inputs of a function whose bits are not shared.
const INPUTS_MOST: u32 = 63;

/// Values that some sources reach.
pub(super) struct Wide<'a> {
    /// Inputs that values depend on.
    summaries: &'a [u64],
    /// Values where data of each source begins, sorted.
    seeds: Vec<Vec<u32>>,
    /// Sources whose data comes to a value without going down into a callee.
    risen: Vec<u64>,
    /// Sources whose data comes down to each input; where inputs share a bit, to each value.
    fallen: Along<'a>,
    /// Sources that reach each value, once ways are searched.
    reached: Vec<u64>,
}

impl<'a> Wide<'a> {
    /// Follows sources by the values where their data begins. `order` has callees before callers.
    pub(super) fn of(
        whole: &'a Whole<'a>,
        order: &'a [u32],
        summaries: &'a [u64],
        seeds: Vec<Vec<u32>>,
    ) -> Self {
        let along = |rises| Along {
            whole,
            words: vec![0; whole.len()],
            gates: Some(summaries),
            rises,
            order,
            is_open: vec![false; order.len()],
            late: Vec::new(),
            taken: 0,
        };
        let mut rising = along(true);
        for (source, seeds) in seeds.iter().enumerate() {
            for seed in seeds {
                rising.words[*seed as usize] |= 1 << source;
                let (node, _) = whole.owner(*seed);
                rising.is_open[node as usize] = true;
                for caller in whole.calls.callers.row(node as usize) {
                    rising.is_open[*caller as usize] = true;
                }
            }
        }
        rising.settle();
        let mut wide = Self {
            summaries,
            seeds,
            risen: rising.words,
            fallen: along(false),
            reached: Vec::new(),
        };
        wide.fallen.taken = rising.taken;
        wide.fall();
        wide
    }

    /// Values of the functions that were followed.
    pub(super) fn taken(&self) -> u64 {
        self.fallen.taken
    }

    /// Takes data down, callers first, until nothing is new.
    fn fall(&mut self) {
        let order = self.fallen.order;
        let mut is_first = true;
        let mut is_new = true;
        while std::mem::take(&mut is_new) {
            for node in order.iter().rev() {
                let range = self.fallen.whole.range(*node);
                let is_risen = is_first && self.risen[range].iter().any(|word| *word != 0);
                if std::mem::take(&mut self.fallen.is_open[*node as usize]) || is_risen {
                    is_new |= self.enter_callees(*node);
                }
            }
            is_first = false;
        }
    }

    /// Takes data from a function down into those that it calls; returns whether some is new.
    fn enter_callees(&mut self, node: u32) -> bool {
        let whole = self.fallen.whole;
        let values = &whole.values[node as usize];
        self.fallen.taken += values.ops.len() as u64;
        let mut is_new = false;
        if node as usize >= whole.calls.functions {
            for target in whole.calls.callees.row(node as usize) {
                for input in 0..values.inputs {
                    is_new |= self.enter(*target, input, self.at(node, input));
                }
            }
            return is_new;
        }
        if values.inputs > INPUTS_MOST {
            self.fallen.follow(node);
        }
        let range = whole.range(node);
        let any = |words: &[u64]| words.iter().fold(0, |any, word| any | word);
        let most = any(&self.risen[range.clone()])
            | any(&self.fallen.words[range][..values.inputs as usize]);
        for site in &values.sites {
            for (input, value) in (0..).zip(&site.ins) {
                let entered = whole.input(site.callee, input);
                let entered = entered.map_or(u64::MAX, |input| self.fallen.words[input as usize]);
                // Most inputs have all that could come already.
                if *value != NONE && most & !entered != 0 {
                    is_new |= self.enter(site.callee, input, self.at(node, *value));
                }
            }
        }
        is_new
    }

    /// Adds sources to an input of a function.
    fn enter(&mut self, node: u32, input: u32, sources: u64) -> bool {
        let Some(input) = self.fallen.whole.input(node, input) else {
            return false;
        };
        let word = &mut self.fallen.words[input as usize];
        let is_new = sources & !*word != 0;
        *word |= sources;
        self.fallen.is_open[node as usize] |= is_new;
        is_new
    }

    /// The sources that reach a value of a function.
    fn at(&self, node: u32, own: u32) -> u64 {
        let whole = self.fallen.whole;
        let first = whole.first[node as usize];
        let value = (first + own) as usize;
        let inputs = whole.values[node as usize].inputs;
        if inputs > INPUTS_MOST {
            return self.risen[value] | self.fallen.words[value];
        }
        inputs_of(self.summaries[value], inputs).fold(self.risen[value], |sources, input| {
            sources | self.fallen.words[(first + input) as usize]
        })
    }

    /// The numbers of the sources that reach a value.
    pub(super) fn sources(&self, value: u32) -> impl Iterator<Item = u32> {
        let (node, own) = self.fallen.whole.owner(value);
        inputs_of(self.at(node, own), 64)
    }

    /// Values that one of the sources reaches. Costs a pass over all values the first time.
    pub(super) fn one(&mut self, source: usize) -> One<'_> {
        if self.reached.is_empty() {
            let whole = self.fallen.whole;
            let nodes = (0..).zip(&whole.values);
            let values = nodes.flat_map(|(node, values)| {
                (0..values.ops.len() as u32).map(move |own| (node, own))
            });
            self.reached = values.map(|(node, own)| self.at(node, own)).collect();
        }
        One { wide: self, source }
    }
}

/// Values that one of several sources reaches.
pub(super) struct One<'a> {
    wide: &'a Wide<'a>,
    source: usize,
}

impl Reached for One<'_> {
    fn is_seed(&self, value: u32) -> bool {
        self.wide.seeds[self.source].binary_search(&value).is_ok()
    }

    fn has_risen(&self, value: u32) -> bool {
        self.wide.risen[value as usize] >> self.source & 1 == 1
    }

    fn has(&self, value: u32) -> bool {
        self.wide.reached[value as usize] >> self.source & 1 == 1
    }
}
