//! Rounds over the values that choices depend on.

use super::constraints::{Constraints, Object};
use super::net::{Net, check};
use super::{Choice, PointsTo};
use crate::error::ModuleError;
use crate::flow::{Direction, Meet, On, Problem, Setup, Solution, SolveStats, Span, solve_bodies};
use crate::model::{ANY_INDEX, ANY_TABLE, Block, Body, Initial, Module};
use crate::order::rows;
use hashbrown::HashMap;

const SETUP: Setup = Setup {
    name: "points-to",
    direction: Direction::Forward,
    meet: Meet::Any,
};

/// Most rounds. Calls that a later one would change are taken as reaching all of their type, so
/// that a chain of choices made for it costs no quadratic time.
const ROUNDS_MOST: u32 = 256;

/// The fact that a value is unknown; objects follow.
const UNKNOWN: u32 = 0;

/// The values that matter, and the calls as far as they are known.
pub(super) struct Rounds<'a> {
    net: &'a Net<'a>,
    on: On,
    /// Module and block of each value that matters and that anything is known of.
    place: HashMap<u32, (u32, u32)>,
    /// Number of blocks of each module.
    blocks: Vec<u32>,
    /// Inclusions whatever calls choose, between values that matter.
    edges: Vec<(u32, u32)>,
    /// The objects of each module, by their facts from number 1 on.
    objects: Vec<Vec<Initial>>,
    /// Facts that values make: (value, fact).
    made: Vec<(u32, u32)>,
    /// Functions that each call may reach, so far; `None` if any of its type may be.
    targets: Vec<Option<Vec<u32>>>,
    /// Functions that the outside may call by a reference, so far.
    escaped: Vec<u32>,
}

/// The end of the rounds.
struct Settled {
    rounds: u32,
    stats: SolveStats,
    /// Findings of the last round; `None` if there were too many rounds.
    solution: Option<Solution>,
}

/// Values that `from` reaches over edges of values that `goes_on` holds for.
fn closure(
    count: usize,
    edges: impl Iterator<Item = (u32, u32)> + Clone,
    from: impl Iterator<Item = u32>,
    goes_on: impl Fn(u32) -> bool,
) -> Vec<bool> {
    let rows = rows(count, edges);
    let mut seen = vec![false; count];
    let mut open: Vec<u32> = from.collect();
    while let Some(value) = open.pop() {
        if !std::mem::replace(&mut seen[value as usize], true) && goes_on(value) {
            open.extend(rows.row(value as usize));
        }
    }
    seen
}

impl<'a> Rounds<'a> {
    /// Calls that `given_up` chooses are taken as reaching all of their type.
    pub(super) fn new(net: &'a Net<'a>, on: On, given_up: &GivenUp) -> Result<Self, ModuleError> {
        let all = every_inclusion(net);
        let matters = mattering(net, &all, given_up);
        let is_here = |(from, to): &(u32, u32)| {
            matters[*from as usize] && matters[*to as usize] && from != to
        };
        let between = all.iter().copied().filter(is_here);
        let rows = rows(net.len(), between);
        let inputs = referenced(net).flat_map(|function| net.outside_caller(function).0);
        let makers = net.made.iter().map(|(value, _)| *value);
        let makers = makers.chain(inputs).chain(given_up.values());
        let order = rows.reached_order(makers.filter(|value| matters[*value as usize]));
        let mut rounds = Self {
            net,
            on,
            place: HashMap::with_capacity(order.len()),
            blocks: vec![0; net.program.modules.len()],
            edges: Vec::new(),
            objects: vec![Vec::new(); net.program.modules.len()],
            made: Vec::new(),
            targets: (0..net.sites.len())
                .map(|number| (!given_up.has(net.chooser(number))).then(Vec::new))
                .collect(),
            escaped: Vec::new(),
        };
        for value in order {
            let module = net.owner(value);
            let block = &mut rounds.blocks[module as usize];
            rounds.place.insert(value, (module, *block));
            *block += 1;
        }
        let fixed = net.edges.iter().copied();
        rounds.edges = fixed.filter(|edge| rounds.has(edge)).collect();
        rounds.number_objects();
        let unknown = given_up.values().map(|value| (value, UNKNOWN));
        rounds.made.extend(unknown);
        Ok(rounds)
    }

    fn has(&self, (from, to): &(u32, u32)) -> bool {
        from != to && self.place.contains_key(from) && self.place.contains_key(to)
    }

    /// Numbers the objects of each module that any value that matters is.
    fn number_objects(&mut self) {
        let mut facts: HashMap<(u32, Initial), u32> = HashMap::new();
        for (value, object) in &self.net.made {
            let Some((module, _)) = self.place.get(value) else {
                continue;
            };
            let fact = match object {
                Initial::Unknown => UNKNOWN,
                object => {
                    let objects = &mut self.objects[*module as usize];
                    *facts.entry((*module, *object)).or_insert_with(|| {
                        objects.push(*object);
                        objects.len() as u32
                    })
                }
            };
            self.made.push((*value, fact));
        }
    }

    /// Repeats rounds until nothing is new.
    pub(super) fn run(mut self) -> Result<PointsTo, ModuleError> {
        let Settled {
            rounds,
            stats,
            solution,
        } = self.settle()?;
        let is_done = solution.is_some();
        if !is_done {
            self.targets.fill(None);
        }
        let objects: usize = self.objects.iter().map(Vec::len).sum();
        let modules = self.blocks.iter().filter(|blocks| **blocks > 0).count();
        let (values, facts) = (self.place.len(), (objects + modules) as u64);
        let escaped = is_done.then(|| std::mem::take(&mut self.escaped));
        Ok(PointsTo {
            choices: self.choices(),
            escaped,
            rounds,
            values,
            facts,
            stats,
        })
    }

    fn settle(&mut self) -> Result<Settled, ModuleError> {
        let mut stats = SolveStats::default();
        let mut rounds = 0;
        loop {
            rounds += 1;
            let solution = self.solve()?;
            stats = stats.plus(solution.stats);
            let is_new = self.take_targets(&solution)? | self.take_escaped(&solution);
            if !is_new || rounds == ROUNDS_MOST {
                return Ok(Settled {
                    rounds,
                    stats,
                    solution: (!is_new).then_some(solution),
                });
            }
        }
    }

    /// The inclusions of the last round, and what it found.
    pub(super) fn constraints(mut self) -> Result<Constraints, ModuleError> {
        let settled = self.settle()?;
        let solution = settled.solution.ok_or(ModuleError::NotConverged {
            analysis: SETUP.name,
            iterations: settled.rounds,
        })?;
        let object = |module: u32, initial| Object { module, initial };
        let made = self.made.iter().copied().chain(self.unknown());
        let made = made.filter_map(|(value, fact)| {
            let (module, _) = *self.place.get(&value)?;
            let number = fact.checked_sub(1);
            let initial = number.map(|number| self.objects[module as usize][number as usize]);
            Some((object(module, initial.unwrap_or(Initial::Unknown)), value))
        });
        let made = made.collect();
        let mut values: Vec<(u32, u32)> = self
            .place
            .iter()
            .map(|(value, (module, _))| (*value, *module))
            .collect();
        values.sort_unstable();
        let mut found = Vec::new();
        for (value, module) in values {
            let (objects, is_unknown) = self.objects_of(value, &solution);
            let unknown = is_unknown.then_some(Initial::Unknown);
            let all = objects.into_iter().chain(unknown);
            found.extend(all.map(|initial| (object(module, initial), value)));
        }
        let choice = |number| {
            let (node, site) = self.net.site(number);
            (node, site.op, self.net.chooser(number))
        };
        Ok(Constraints {
            made,
            inclusions: self.inclusions()?,
            found,
            choices: (0..self.net.sites.len()).map(choice).collect(),
        })
    }

    /// Values that are unknown since the outside may call their functions: (value, fact).
    fn unknown(&self) -> impl Iterator<Item = (u32, u32)> {
        let escaped = self.escaped.iter();
        let inputs = escaped.flat_map(|function| self.net.outside_caller(*function).0);
        inputs.map(|input| (input, UNKNOWN))
    }

    fn choices(self) -> Vec<Choice> {
        let numbered = self.targets.into_iter().enumerate();
        numbered
            .map(|(number, targets)| {
                let (function, site) = self.net.site(number);
                Choice {
                    function,
                    op: site.op,
                    by_type: self.net.row(&site.callee).len() as u32,
                    targets,
                }
            })
            .collect()
    }

    /// The inclusions of this round.
    fn inclusions(&self) -> Result<Vec<(u32, u32)>, ModuleError> {
        let mut edges = Vec::new();
        let mut count = self.edges.len() as u64;
        for (number, targets) in self.targets.iter().enumerate() {
            let (node, site) = self.net.site(number);
            let callees = targets
                .as_deref()
                .unwrap_or(std::slice::from_ref(&site.callee));
            count += u64::from(site.across()) * callees.len() as u64;
            check(count, self.on)?;
            for callee in callees {
                self.net.add_call(node, site, *callee, &mut edges);
            }
        }
        for function in &self.escaped {
            edges.extend(self.net.outside_caller(*function).1);
        }
        edges.retain(|edge| self.has(edge));
        edges.extend(&self.edges);
        Ok(edges)
    }

    /// One round, a body for each module.
    fn solve(&self) -> Result<Solution, ModuleError> {
        let mut lists: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.blocks.len()];
        for (from, to) in self.inclusions()? {
            let ((module, from), (_, to)) = (self.place[&from], self.place[&to]);
            lists[module as usize].push((from, to));
        }
        let counted = self.blocks.iter().zip(lists);
        let bodies: Vec<Body> = counted.map(|(blocks, list)| body(*blocks, &list)).collect();
        let bodies: Vec<&Body> = bodies.iter().collect();
        let mut problems: Vec<Problem> = self
            .objects
            .iter()
            .map(|objects| Problem {
                facts: 1 + objects.len() as u32,
                ..Problem::default()
            })
            .collect();
        for (value, fact) in self.made.iter().copied().chain(self.unknown()) {
            if let Some((module, block)) = self.place.get(&value) {
                let made = &mut problems[*module as usize].made;
                made.push(Span::one(*block, fact));
            }
        }
        let label = |module: usize| self.net.program.modules[module].path.clone();
        solve_bodies(&bodies, &label, SETUP, &problems, self.on)
    }

    /// The objects of a value, and whether it is unknown besides.
    fn objects_of(&self, value: u32, solution: &Solution) -> (Vec<Initial>, bool) {
        let Some((module, block)) = self.place.get(&value) else {
            return (Vec::new(), false);
        };
        let (module, block) = (*module as usize, *block as usize);
        let (mut found, mut is_unknown) = (Vec::new(), false);
        for fact in solution.all_passed(module, block) {
            match fact.checked_sub(1) {
                None => is_unknown = true,
                Some(object) => found.push(self.objects[module][object as usize]),
            }
        }
        (found, is_unknown)
    }

    /// Takes the functions that calls reach; returns whether there are new ones.
    fn take_targets(&mut self, solution: &Solution) -> Result<bool, ModuleError> {
        let (mut is_new, mut count) = (false, 0);
        for number in 0..self.targets.len() {
            let Some(before) = &self.targets[number] else {
                continue;
            };
            let found = self.found(number, solution);
            is_new |= found.as_ref() != Some(before);
            count += found.as_ref().map_or(0, Vec::len) as u64;
            check(count, self.on)?;
            self.targets[number] = found;
        }
        Ok(is_new)
    }

    /// Functions that a call reaches after a round; `None` if any of its type may be.
    fn found(&self, number: usize, solution: &Solution) -> Option<Vec<u32>> {
        let (node, site) = self.net.site(number);
        let function = &self.net.program.functions[node as usize];
        let module = &self.net.program.modules[function.module as usize];
        let (objects, is_unknown) = self.objects_of(self.net.chooser(number), solution);
        if is_unknown {
            return None;
        }
        let key = function.body.ops[site.op as usize].arg;
        let table = function.body.indirect[key as usize].table;
        let mut found: Vec<u32> = Vec::new();
        let functions = |objects: &[Initial], found: &mut Vec<u32>| {
            found.extend(objects.iter().filter_map(|object| match object {
                Initial::Function(function) => Some(*function),
                _ => None,
            }));
        };
        if table == ANY_TABLE {
            functions(&objects, &mut found);
        } else {
            let written = self.net.cells[function.module as usize].written(table);
            let (written, is_unknown) = self.objects_of(written, solution);
            if is_unknown && !objects.is_empty() {
                return None;
            }
            if !objects.is_empty() {
                functions(&written, &mut found);
            }
            let is_open = module.open_tables.get(table as usize) == Some(&true);
            let size = module.table_sizes.get(table as usize).copied().unwrap_or(0);
            for object in objects {
                if let Initial::Index(index) = object {
                    let here = entries(module, table, index);
                    if is_open && here.is_empty() && index >= size {
                        return None;
                    }
                    functions(&here, &mut found);
                }
            }
        }
        let first = module.functions.start as u32;
        let mut found: Vec<u32> = found.iter().map(|function| first + function).collect();
        let by_type = self.net.row(&site.callee);
        found.retain(|function| by_type.binary_search(function).is_ok());
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Takes the functions whose references got outside; returns whether there are new ones.
    fn take_escaped(&mut self, solution: &Solution) -> bool {
        let mut escaped = Vec::new();
        for (module, cells) in self.net.program.modules.iter().zip(&self.net.cells) {
            let first = module.functions.start as u32;
            let (objects, _) = self.objects_of(cells.outside(), solution);
            escaped.extend(objects.iter().filter_map(|object| match object {
                Initial::Function(function) => Some(first + function),
                _ => None,
            }));
        }
        escaped.sort_unstable();
        let is_new = escaped != self.escaped;
        self.escaped = escaped;
        is_new
    }
}

/// References that segments put at an index of a table.
fn entries(module: &Module, table: u32, index: u32) -> Vec<Initial> {
    if index == ANY_INDEX {
        return Vec::new();
    }
    let key = (table, index);
    let first = module
        .entries
        .partition_point(|entry| (entry.table, entry.index) < key);
    let here = module.entries[first..].iter();
    here.take_while(|entry| (entry.table, entry.index) == key)
        .map(|entry| entry.initial)
        .collect()
}

/// Functions that the outside may get a reference of.
fn referenced<'a>(net: &'a Net<'a>) -> impl Iterator<Item = u32> {
    net.program.modules.iter().flat_map(|module| {
        let first = module.functions.start as u32;
        module
            .referenced
            .iter()
            .map(move |function| first + function)
    })
}

/// All inclusions that any round may have.
fn every_inclusion(net: &Net<'_>) -> Vec<(u32, u32)> {
    let mut all = net.edges.clone();
    for number in 0..net.sites.len() {
        let (node, site) = net.site(number);
        net.add_call(node, site, site.callee, &mut all);
    }
    all.extend(referenced(net).flat_map(|function| net.outside_caller(function).1));
    all
}

/// Values that are unknown whatever the rounds find, so that calls which they choose go by type.
///
/// What such a value may be besides chooses nothing, so that what leads to it does not matter.
pub(super) struct GivenUp(Vec<bool>);

impl GivenUp {
    /// No value.
    pub(super) fn none(net: &Net<'_>) -> Self {
        Self(vec![false; net.len()])
    }

    /// The values that are reached from unknown ones, over inclusions that hold whatever calls choose
    /// and those of the calls that such values choose. `O(v + e)` for `v` values and `e` inclusions.
    pub(super) fn of(net: &Net<'_>) -> Self {
        let fixed = rows(net.len(), net.edges.iter().copied());
        let mut sites: HashMap<u32, Vec<usize>> = HashMap::new();
        for number in 0..net.sites.len() {
            sites.entry(net.chooser(number)).or_default().push(number);
        }
        // Inclusions of calls by type, once these are given up.
        let mut by_type: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut is_unknown = vec![false; net.len()];
        let made = net.made.iter();
        let made = made.filter(|(_, object)| *object == Initial::Unknown);
        let mut open: Vec<u32> = made.map(|(value, _)| *value).collect();
        while let Some(value) = open.pop() {
            if std::mem::replace(&mut is_unknown[value as usize], true) {
                continue;
            }
            open.extend(fixed.row(value as usize));
            open.extend(by_type.get(&value).into_iter().flatten());
            for number in sites.get(&value).into_iter().flatten() {
                let (node, site) = net.site(*number);
                let mut inclusions = Vec::new();
                net.add_call(node, site, site.callee, &mut inclusions);
                for (from, to) in inclusions {
                    match is_unknown[from as usize] {
                        true => open.push(to),
                        false => by_type.entry(from).or_default().push(to),
                    }
                }
            }
        }
        Self(is_unknown)
    }

    fn has(&self, value: u32) -> bool {
        self.0[value as usize]
    }

    fn values(&self) -> impl Iterator<Item = u32> {
        (0..)
            .zip(&self.0)
            .filter_map(|(value, has)| has.then_some(value))
    }
}

/// Values that choices of calls depend on, or that may take a reference outside.
fn mattering(net: &Net<'_>, all: &[(u32, u32)], given_up: &GivenUp) -> Vec<bool> {
    let is_function = |made: &&(u32, Initial)| matches!(made.1, Initial::Function(_));
    let functions = net.made.iter().filter(is_function).map(|made| made.0);
    let carries = closure(net.len(), all.iter().copied(), functions, |_| true);
    let back = all.iter().map(|(from, to)| (*to, *from));
    let outside = net.cells.iter().map(|cells| cells.outside());
    let escaping = closure(net.len(), back.clone(), outside, |value| {
        carries[value as usize]
    });
    let open = (0..net.sites.len()).filter(|number| !given_up.has(net.chooser(*number)));
    let chosen = open.flat_map(|number| {
        let (node, site) = net.site(number);
        let function = &net.program.functions[node as usize];
        let op = function.body.ops[site.op as usize];
        let table = function.body.indirect[op.arg as usize].table;
        let cells = net.cells[function.module as usize];
        let written = (table != ANY_TABLE).then(|| cells.written(table));
        [net.chooser(number)].into_iter().chain(written)
    });
    // A call that is known passes by the values of its type, so that what leads to those matters.
    let goes_on = |value| !given_up.has(value) || net.is_of_type(value);
    let chosen = closure(net.len(), back, chosen, goes_on);
    let escaping = escaping.into_iter().zip(carries);
    let escaping = escaping.map(|(reaches, carries)| reaches && carries);
    let both = chosen.into_iter().zip(escaping);
    both.map(|(one, other)| one || other).collect()
}

/// Blocks with these edges.
fn body(blocks: u32, edges: &[(u32, u32)]) -> Body {
    let rows = rows(blocks as usize, edges.iter().copied()).distinct();
    let mut body = Body::default();
    for block in 0..blocks as usize {
        body.push(Block::default(), rows.row(block).iter().copied());
    }
    body
}
