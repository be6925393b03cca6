//! The values that data of up to 64 sources reaches: a bit for each source.
//!
//! A program that is asked once has no flows between all values laid out for it. Data rises to
//! callers as words along the values of one function at a time, as summaries do and together with
//! them (`summary.rs`). On its way down,
//! words of inputs are enough: a value depends on the inputs that its summary names.

use super::reach::{Reached, seeds_within};
use super::summary::{Across, Lanes, Risen, Summaries, inputs_of};
use crate::order::Rows;
use crate::values::{NONE, Whole};
use hashbrown::HashMap;
use std::ops::Range;

/// Most sources at once.
pub(super) const SOURCES_MOST: usize = 64;

/// Most inputs of a function whose bits are not shared.
const INPUTS_MOST: usize = 63;

/// Values that some sources reach.
pub(super) struct Wide<'a> {
    whole: &'a Whole<'a>,
    summaries: &'a Summaries,
    /// Values where data of each source begins, sorted.
    seeds: Vec<Vec<u32>>,
    /// Sources whose data comes to a value without going down into a callee.
    risen: Vec<u64>,
    /// Sources whose data comes down to each input.
    fallen: Vec<u64>,
    /// The same to each value of a function whose inputs share a bit.
    shared: HashMap<u32, Vec<u64>>,
    /// Values of the functions that were followed.
    pub(super) taken: u64,
}

impl<'a> Wide<'a> {
    /// Follows sources on from where their data has risen. `order` has callees before callers.
    pub(super) fn of(
        whole: &'a Whole<'a>,
        order: &Rows,
        summaries: &'a Summaries,
        risen: Risen,
    ) -> Self {
        let mut wide = Self {
            whole,
            summaries,
            taken: risen.taken,
            seeds: risen.seeds,
            risen: risen.words,
            fallen: vec![0; whole.interface()[0]],
            shared: HashMap::new(),
        };
        wide.fall(order);
        wide
    }

    /// Takes data down, callers first, until nothing is new.
    fn fall(&mut self, order: &Rows) {
        let mut is_open = vec![false; self.whole.values.len()];
        for component in (0..order.nodes()).rev() {
            let mut is_first = true;
            let mut is_new = true;
            while std::mem::take(&mut is_new) {
                for node in order.row(component).iter().rev() {
                    let risen = &self.risen[self.whole.range(*node)];
                    let is_risen = is_first && risen.iter().any(|word| *word != 0);
                    if std::mem::take(&mut is_open[*node as usize]) || is_risen {
                        is_new = true;
                        self.enter_callees(*node, &mut is_open);
                    }
                }
                is_first = false;
            }
        }
    }

    /// Takes data from a function down into those that it calls, which are open then if it is new.
    fn enter_callees(&mut self, node: u32, is_open: &mut [bool]) {
        let whole = self.whole;
        self.taken += whole.range(node).len() as u64;
        let inputs = whole.inputs(node);
        if node as usize >= whole.calls.functions {
            for target in whole.calls.callees.row(node as usize) {
                for (input, number) in (0..).zip(inputs.clone()) {
                    self.enter(*target, input, self.fallen[number], is_open);
                }
            }
            return;
        }
        let values = &whole.values[node as usize];
        if inputs.len() > INPUTS_MOST {
            let words = self.shared.entry(node).or_default();
            words.resize(whole.range(node).len(), 0);
            words[..inputs.len()].copy_from_slice(&self.fallen[inputs.clone()]);
            let across = Across {
                whole,
                gates: &self.summaries.outputs,
                rising: &[],
            };
            let lanes = &mut Lanes {
                depends: words,
                risen: &mut [],
            };
            across.flow::<true, false>(values, lanes, &mut Vec::new());
        }
        let any = |words: &[u64]| words.iter().fold(0, |any, word| any | word);
        let most = any(&self.risen[whole.range(node)]) | any(&self.fallen[inputs]);
        for site in &values.sites {
            let entered = whole.inputs(site.callee);
            for (input, value) in (0..).zip(values.ins(site)) {
                let entered = entered.clone().nth(input as usize);
                // Most inputs have all that could come already.
                let is_due = entered.is_some_and(|input| most & !self.fallen[input] != 0);
                if *value != NONE && is_due {
                    self.enter(site.callee, input, self.at(node, *value), is_open);
                }
            }
        }
    }

    /// Adds sources to an input of a function, which is open then if they are new.
    fn enter(&mut self, node: u32, input: u32, sources: u64, is_open: &mut [bool]) {
        if let Some(input) = self.whole.inputs(node).nth(input as usize) {
            let word = &mut self.fallen[input];
            is_open[node as usize] |= sources & !*word != 0;
            *word |= sources;
        }
    }

    /// The sources that reach a value of a function.
    fn at(&self, node: u32, own: u32) -> u64 {
        let value = self.whole.value(node, own) as usize;
        let fallen = &self.fallen[self.whole.inputs(node)];
        if let Some(word) = fallen.get(own as usize) {
            return self.risen[value] | word;
        }
        if fallen.len() > INPUTS_MOST {
            let words = self.shared.get(&node);
            return self.risen[value] | words.map_or(0, |words| words[own as usize]);
        }
        let inputs = inputs_of(self.summaries.words[value], fallen.len() as u32);
        inputs.fold(self.risen[value], |sources, input| {
            sources | fallen[input as usize]
        })
    }
}

impl Reached for Wide<'_> {
    fn seeds(&self, source: u32) -> &[u32] {
        &self.seeds[source as usize]
    }

    fn seeds_within(&self, range: Range<usize>) -> Vec<&[u32]> {
        seeds_within(self.seeds.iter().map(Vec::as_slice), range)
    }

    fn risen(&self, value: u32) -> u64 {
        self.risen[value as usize]
    }

    fn sources(&self, _: u32, (node, own): (u32, u32)) -> u64 {
        self.at(node, own)
    }
}
