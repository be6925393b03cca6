//! The values of a function that matter, each once.
//!
//! What a call or an output depends on stays the same if values are left out on which neither does,
//! or to which no data gets; if a value that depends on one other stands for that; and if values
//! that depend on each other, or on the same ones, are one. Most values are of joins of ways that
//! join nothing, so that one in ten remains. Interfaces, results of calls and loads stay, since data
//! gets there from elsewhere.

use super::function::{CallResult, NONE, Site, Values};
use crate::order::{Components, Rows};
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// The call of a value that a load makes.
const LOAD: u32 = NONE - 1;

/// Condenses one function after another, and keeps its memory for the next one.
#[derive(Default)]
pub(super) struct Condenser {
    /// Values that each one depends on.
    before: Rows,
    components: Components,
    of: Condensing,
}

/// A function while it is condensed.
#[derive(Default)]
struct Condensing {
    /// The call that makes each value, or [`LOAD`]; [`NONE`] for others.
    made_by: Vec<u32>,
    /// New number of each value; [`NONE`] where no data gets.
    kept: Vec<u32>,
    /// New values by what they depend on.
    known: HashTable<Known>,
    hasher: DefaultHashBuilder,
    /// Dependencies of the values at hand.
    depends: Vec<u32>,
    /// Dependencies of outputs.
    of_outputs: Vec<(u32, u32)>,
    made: Values,
    /// Number of new values.
    count: u32,
}

/// A new value that is the only one of its kind that depends on the same.
struct Known {
    hash: u64,
    value: u32,
    /// The first of its dependencies, which follow each other.
    edge: u32,
}

impl Condenser {
    /// The values that matter of a function whose data is followed, and their number.
    pub(super) fn condense(&mut self, values: &Values) -> (&Values, u32) {
        let turned = values.edges.iter().map(|(from, to)| (*to, *from));
        self.before.fill(values.ops.len(), turned);
        self.of.begin(values);
        let interface = values.inputs + values.outputs;
        let taken = values.args.iter().copied().filter(|value| *value != NONE);
        // In the order of calls, so that most results of calls come after their arguments.
        let roots = taken.chain(values.inputs..interface);
        let (before, of) = (&self.before, &mut self.of);
        before.each_component(roots, &mut self.components, |members| {
            of.close(values, before, members);
        });
        of.end(values);
        (&of.made, of.count)
    }

    /// The value that stands for each one of the last function; [`NONE`] where no data gets.
    pub(super) fn kept(&self) -> &[u32] {
        &self.of.kept
    }
}

impl Condensing {
    fn begin(&mut self, values: &Values) {
        let count = values.ops.len();
        let interface = values.inputs + values.outputs;
        self.made_by.clear();
        self.made_by.resize(count, NONE);
        for load in &values.loads {
            self.made_by[*load as usize] = LOAD;
        }
        for (number, site) in (0..).zip(&values.sites) {
            let outs = site.outs();
            self.made_by[outs.start as usize..outs.end as usize].fill(number);
        }
        self.kept.clear();
        self.kept.extend(0..interface);
        self.kept.resize(count, NONE);
        self.known.clear();
        self.of_outputs.clear();
        self.made.clear();
        let made = &mut self.made;
        (made.inputs, made.outputs) = (values.inputs, values.outputs);
        self.count = interface;
    }

    fn end(&mut self, values: &Values) {
        let made = &mut self.made;
        made.edges.extend(&self.of_outputs);
        made.sites
            .extend(values.sites.iter().copied().map(Site::condensed));
        let new = |value: &u32| self.kept.get(*value as usize).copied().unwrap_or(NONE);
        made.args.extend(values.args.iter().map(new));
    }

    /// Numbers values that depend on each other, after all others that they depend on.
    fn close(&mut self, values: &Values, before: &Rows, members: &[u32]) {
        if members[0] < values.inputs {
            return;
        }
        let mut depends = std::mem::take(&mut self.depends);
        depends.clear();
        let before = members
            .iter()
            .flat_map(|member| before.row(*member as usize))
            .map(|before| self.kept[*before as usize]);
        depends.extend(before.filter(|before| *before != NONE));
        if depends.len() > 1 {
            depends.sort_unstable();
            depends.dedup();
        }
        let kept = self.replace(values, members, &depends);
        for member in members {
            self.kept[*member as usize] = kept;
        }
        self.depends = depends;
    }

    /// The new value for some that depend on these.
    fn replace(&mut self, values: &Values, members: &[u32], depends: &[u32]) -> u32 {
        let first = members[0];
        if first < values.inputs + values.outputs {
            let flows = depends.iter().map(|from| (*from, first));
            self.of_outputs.extend(flows);
            return first;
        }
        let is_load = members
            .iter()
            .any(|one| self.made_by[*one as usize] == LOAD);
        let is_own = is_load || self.made_by[first as usize] != NONE;
        match depends {
            [] if !is_own => NONE,
            [one] if !is_own => *one,
            _ => self.value(values, first, depends, is_load),
        }
    }

    /// The new value that depends on these, for an old one.
    fn value(&mut self, values: &Values, old: u32, depends: &[u32], is_load: bool) -> u32 {
        let Self { made, known, .. } = self;
        let next = self.count;
        // Results of calls depend on what the summaries of callees say.
        if is_load || !depends.is_empty() {
            let hash = self.hasher.hash_one((depends, is_load));
            let is_same = |one: &Known| {
                let edges = made.edges[one.edge as usize..].iter();
                let own = edges.take_while(|(_, to)| *to == one.value);
                own.map(|(from, _)| from).eq(depends)
                    && made.loads.binary_search(&one.value).is_ok() == is_load
            };
            if let Some(one) = known.find(hash, is_same) {
                return one.value;
            }
            let one = Known {
                hash,
                value: next,
                edge: made.edges.len() as u32,
            };
            known.insert_unique(hash, one, |one| one.hash);
        }
        if let Some(site) = values.sites.get(self.made_by[old as usize] as usize) {
            made.results.push(CallResult {
                value: next,
                site: self.made_by[old as usize],
                number: old - site.outs().start,
            });
        }
        self.count += 1;
        made.edges.extend(depends.iter().map(|from| (*from, next)));
        if is_load {
            made.loads.push(next);
        }
        next
    }
}
