//! The values of a function that matter, each once.
//!
//! What a call or an output depends on stays the same if values are left out on which neither does,
//! or to which no data gets; if a value that depends on one other stands for that; and if values
//! that depend on each other, or on the same ones, are one. Most values are of joins of ways that
//! join nothing, so that one in ten remains. Interfaces, results of calls and loads stay, since data
//! gets there from elsewhere.

use super::function::{CallResult, NONE, Site, Values};
use crate::order::{Rows, rows};
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// A function while it is condensed.
struct Condenser<'a> {
    values: &'a Values,
    /// Values that each one depends on.
    before: &'a Rows,
    is_load: Vec<bool>,
    /// The call that makes each value and the number of the value there; [`NONE`] without one.
    made_by: Vec<[u32; 2]>,
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
}

/// A new value that is the only one of its kind that depends on the same.
struct Known {
    hash: u64,
    value: u32,
    /// The first of its dependencies, which follow each other.
    edge: u32,
}

/// The values that matter of a function whose data is followed, and the one that stands for each;
/// [`NONE`] where no data gets.
pub(super) fn condensed(values: &Values) -> (Values, Vec<u32>) {
    let count = values.ops.len();
    let interface = (values.inputs + values.outputs) as usize;
    let turned = values.edges.iter().map(|(from, to)| (*to, *from));
    let before = rows(count, turned);
    let mut is_load = vec![false; count];
    for load in &values.loads {
        is_load[*load as usize] = true;
    }
    let mut made_by = vec![[NONE; 2]; count];
    for (site, one) in (0..).zip(&values.sites) {
        for (number, out) in (0..).zip(&one.outs) {
            made_by[*out as usize] = [site, number];
        }
    }
    let mut condenser = Condenser {
        values,
        before: &before,
        is_load,
        made_by,
        kept: vec![NONE; count],
        known: HashTable::new(),
        hasher: DefaultHashBuilder::default(),
        depends: Vec::new(),
        of_outputs: Vec::new(),
        made: Values {
            inputs: values.inputs,
            outputs: values.outputs,
            ops: values.ops[..interface].to_vec(),
            ..Values::default()
        },
    };
    for value in 0..interface as u32 {
        condenser.kept[value as usize] = value;
    }
    let taken = values.sites.iter().flat_map(|site| &site.ins).copied();
    let taken = taken.filter(|value| *value != NONE);
    // In the order of calls, so that most results of calls come after their arguments.
    let roots = taken.chain(values.inputs..interface as u32);
    before.each_component(roots, &mut |members| condenser.close(members));
    let Condenser {
        kept,
        mut made,
        of_outputs,
        ..
    } = condenser;
    made.edges.extend(of_outputs);
    let new = |value: &u32| kept.get(*value as usize).copied().unwrap_or(NONE);
    let sites = values.sites.iter().map(|site| Site {
        ins: site.ins.iter().map(new).collect(),
        outs: site.outs.iter().map(new).collect(),
        ..*site
    });
    made.sites = sites.collect();
    (made, kept)
}

impl Condenser<'_> {
    /// Numbers values that depend on each other, after all others that they depend on.
    fn close(&mut self, members: &[u32]) {
        let (first, values) = (members[0], self.values);
        if first < values.inputs {
            return;
        }
        let mut depends = std::mem::take(&mut self.depends);
        depends.clear();
        let before = members
            .iter()
            .flat_map(|member| self.before.row(*member as usize))
            .map(|before| self.kept[*before as usize]);
        depends.extend(before.filter(|before| *before != NONE));
        depends.sort_unstable();
        depends.dedup();
        let kept = self.replace(members, &depends);
        for member in members {
            self.kept[*member as usize] = kept;
        }
        self.depends = depends;
    }

    /// The new value for some that depend on these.
    fn replace(&mut self, members: &[u32], depends: &[u32]) -> u32 {
        let (first, values) = (members[0], self.values);
        if first < values.inputs + values.outputs {
            let flows = depends.iter().map(|from| (*from, first));
            self.of_outputs.extend(flows);
            return first;
        }
        let load = members.iter().find(|one| self.is_load[**one as usize]);
        let is_own = load.is_some() || self.made_by[first as usize][0] != NONE;
        match depends {
            [] if !is_own => NONE,
            [one] if !is_own => *one,
            _ => {
                let is_named = |one: &&u32| values.ops[**one as usize] != NONE;
                let named = load.or_else(|| members.iter().find(is_named));
                self.value(*named.unwrap_or(&first), depends, load.is_some())
            }
        }
    }

    /// The new value that depends on these, made by the operation of an old one.
    fn value(&mut self, old: u32, depends: &[u32], is_load: bool) -> u32 {
        let Self { made, known, .. } = self;
        let next = made.ops.len() as u32;
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
        let [site, number] = self.made_by[old as usize];
        if site != NONE {
            made.results.push(CallResult {
                value: next,
                site,
                number,
            });
        }
        made.ops.push(self.values.ops[old as usize]);
        made.edges.extend(depends.iter().map(|from| (*from, next)));
        if is_load {
            made.loads.push(next);
        }
        next
    }
}
