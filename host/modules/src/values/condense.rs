//! The values of a function that matter, each once.
//!
//! What a call or an output depends on stays the same if values are left out on which neither does,
//! or to which no data gets; if a value that depends on one other stands for that; and if values
//! that depend on each other, or on the same ones, are one. Most values are of joins of ways that
//! join nothing, so that one in ten remains. Interfaces, results of calls and loads stay, since data
//! gets there from elsewhere.

use super::function::{NONE, Site, Values};
use crate::order::{Rows, rows};
use hashbrown::HashMap;

/// A function while it is condensed.
struct Condenser<'a> {
    values: &'a Values,
    /// Values that each one depends on.
    before: &'a Rows,
    is_load: Vec<bool>,
    is_made_by_call: Vec<bool>,
    /// New number of each value; [`NONE`] where no data gets.
    kept: Vec<u32>,
    /// New values by what they depend on, which ends with [`NONE`] for loads.
    known: HashMap<Vec<u32>, u32>,
    made: Values,
}

/// The values that matter of a function whose data is followed, and the one that stands for each;
/// [`NONE`] where no data gets.
pub(super) fn condensed(values: &Values) -> (Values, Vec<u32>) {
    let count = values.ops.len();
    let interface = (values.inputs + values.outputs) as usize;
    let turned = values.edges.iter().map(|(from, to)| (*to, *from));
    let before = rows(count, turned);
    let marks = |marked: &mut dyn Iterator<Item = u32>| {
        let mut marks = vec![false; count];
        marked.for_each(|value| marks[value as usize] = true);
        marks
    };
    let mut outs = values.sites.iter().flat_map(|site| &site.outs).copied();
    let mut condenser = Condenser {
        values,
        before: &before,
        is_load: marks(&mut values.loads.iter().copied()),
        is_made_by_call: marks(&mut outs),
        kept: vec![NONE; count],
        known: HashMap::new(),
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
    let roots = (values.inputs..interface as u32).chain(taken);
    before.each_component(roots, &mut |members| condenser.close(members));
    let Condenser { kept, mut made, .. } = condenser;
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
        let mut depends: Vec<u32> = members
            .iter()
            .flat_map(|member| self.before.row(*member as usize))
            .map(|before| self.kept[*before as usize])
            .filter(|before| *before != NONE)
            .collect();
        depends.sort_unstable();
        depends.dedup();
        if first < values.inputs + values.outputs {
            let flows = depends.into_iter().map(|from| (from, first));
            self.made.edges.extend(flows);
            return;
        }
        let load = members.iter().find(|one| self.is_load[**one as usize]);
        let is_own = load.is_some() || self.is_made_by_call[first as usize];
        let kept = match depends.as_slice() {
            [] if !is_own => NONE,
            [one] if !is_own => *one,
            _ => {
                let is_named = |one: &&u32| values.ops[**one as usize] != NONE;
                let named = load.or_else(|| members.iter().find(is_named));
                self.value(*named.unwrap_or(&first), depends, load.is_some())
            }
        };
        for member in members {
            self.kept[*member as usize] = kept;
        }
    }

    /// The new value that depends on these, made by the operation of an old one.
    fn value(&mut self, old: u32, depends: Vec<u32>, is_load: bool) -> u32 {
        let made = &mut self.made;
        let next = made.ops.len() as u32;
        let mut key = depends.clone();
        if is_load {
            key.push(NONE);
        }
        // Results of calls depend on what the summaries of callees say.
        if !key.is_empty() {
            let known = *self.known.entry(key).or_insert(next);
            if known != next {
                return known;
            }
        }
        made.ops.push(self.values.ops[old as usize]);
        made.edges
            .extend(depends.into_iter().map(|from| (from, next)));
        if is_load {
            made.loads.push(next);
        }
        next
    }
}
