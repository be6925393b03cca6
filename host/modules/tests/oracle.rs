//! Obvious sequential solutions: sets, a worklist, one statement at a time. Nothing here uses the
//! facts, the layout or the program of the product; it shares with it only the blocks and what each
//! operation reads and writes.

use seawall_modules::cells::{Access, Cells, visit};
use seawall_modules::flow::{Direction, Meet, Problem};
use seawall_modules::model::{Body, Function, Kind};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Set = BTreeSet<u32>;

/// Predecessors of each block.
pub(crate) fn predecessors(body: &Body) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); body.blocks.len()];
    for block in 0..body.blocks.len() {
        for to in body.successors_of(block) {
            all[*to as usize].push(block);
        }
    }
    all
}

/// Facts that each block passes on, by a worklist over sets.
pub(crate) fn solve(body: &Body, problem: &Problem, direction: Direction, meet: Meet) -> Vec<Set> {
    let blocks = body.blocks.len();
    let all: Set = (0..problem.facts).collect();
    let before = predecessors(body);
    let rows: Vec<Vec<usize>> = (0..blocks)
        .map(|block| match direction {
            Direction::Forward => before[block].clone(),
            Direction::Backward => {
                let row = body.successors_of(block).iter();
                row.map(|to| *to as usize).collect()
            }
        })
        .collect();
    let mut later = vec![Vec::new(); blocks];
    for (block, row) in rows.iter().enumerate() {
        row.iter().for_each(|from| later[*from].push(block));
    }
    let outside: Set = problem
        .boundary
        .iter()
        .flat_map(|(first, end)| *first..*end)
        .collect();
    let start = match meet {
        Meet::Any => Set::new(),
        Meet::All => all.clone(),
    };
    let mut passed = vec![start.clone(); blocks];
    let mut open: Vec<usize> = (0..blocks).collect();
    while let Some(block) = open.pop() {
        let is_boundary = match direction {
            Direction::Forward => block == 0,
            Direction::Backward => body.is_exit(block),
        };
        let mut sets: Vec<&Set> = rows[block].iter().map(|from| &passed[*from]).collect();
        if is_boundary {
            sets.push(&outside);
        }
        let mut facts = sets.iter().fold(start.clone(), |facts, set| match meet {
            Meet::Any => facts.union(set).copied().collect(),
            Meet::All => facts.intersection(set).copied().collect(),
        });
        for span in problem
            .killed
            .iter()
            .filter(|span| span.block as usize == block)
        {
            (span.first..span.end).for_each(|fact| {
                facts.remove(&fact);
            });
        }
        for kill in problem
            .set_kills
            .iter()
            .filter(|kill| kill.block as usize == block)
        {
            for fact in problem.sets[kill.set as usize].facts() {
                facts.remove(&fact);
            }
        }
        for span in problem
            .made
            .iter()
            .filter(|span| span.block as usize == block)
        {
            facts.extend(span.first..span.end);
        }
        if facts != passed[block] {
            passed[block] = facts;
            open.extend(&later[block]);
        }
    }
    passed
}

/// Accesses of each block.
pub(crate) fn accesses(function: &Function, cells: Cells) -> Vec<Vec<Access>> {
    (0..function.body.blocks.len())
        .map(|block| {
            let mut all = Vec::new();
            visit(function, cells, block, |access| all.push(access));
            all
        })
        .collect()
}

/// Cells that outlive the function and that it names.
pub(crate) fn shared(all: &[Vec<Access>], cells: Cells) -> Set {
    let named = all.iter().flatten().filter_map(|access| match access {
        Access::Use { cell, .. } | Access::Define { cell, .. } | Access::Change { cell, .. } => {
            Some(*cell)
        }
        Access::Call { .. } => None,
    });
    named.filter(|cell| cells.outlives(*cell)).collect()
}

/// One step back over an access.
fn step_back(access: Access, shared: &Set, live: &mut Set) {
    match access {
        Access::Use { cell, .. } => {
            live.insert(cell);
        }
        Access::Define { cell, .. } => {
            live.remove(&cell);
        }
        Access::Call { .. } => live.extend(shared),
        Access::Change { .. } => {}
    }
}

/// Cells live at the start of each block, and stores to locals and globals that are dead.
pub(crate) fn liveness(function: &Function, cells: Cells) -> (Vec<Set>, Vec<u32>) {
    let all = accesses(function, cells);
    let shared = shared(&all, cells);
    let blocks = all.len();
    let mut live = vec![Set::new(); blocks];
    let after = |live: &[Set], block: usize| {
        let row = function.body.successors_of(block).iter();
        let mut set: Set = row
            .flat_map(|to| live[*to as usize].iter().copied())
            .collect();
        if function.body.is_exit(block) {
            set.extend(&shared);
        }
        set
    };
    loop {
        let mut has_changed = false;
        for block in (0..blocks).rev() {
            let mut set = after(&live, block);
            for access in all[block].iter().rev() {
                step_back(*access, &shared, &mut set);
            }
            has_changed |= set != live[block];
            live[block] = set;
        }
        if !has_changed {
            break;
        }
    }
    let mut dead = Vec::new();
    for (block, accesses) in all.iter().enumerate() {
        let mut set = after(&live, block);
        for access in accesses.iter().rev() {
            if let Access::Define { cell, op } = access {
                let kind = function.body.ops[*op as usize].kind();
                let is_store = matches!(kind, Kind::LocalSet | Kind::LocalTee | Kind::GlobalSet);
                if is_store && *cell <= cells.memory() && !set.contains(cell) {
                    dead.push(*op);
                }
            }
            step_back(*access, &shared, &mut set);
        }
    }
    dead.sort_unstable();
    (live, dead)
}

/// For the first use of a cell in a block before it is defined there: the blocks whose writes reach
/// it, by (block, cell). `u32::MAX` is the value on entry.
pub(crate) fn reaching(function: &Function, cells: Cells) -> BTreeMap<(u32, u32), Set> {
    type Writes = BTreeMap<u32, Set>;
    let all = accesses(function, cells);
    let shared = shared(&all, cells);
    let before = predecessors(&function.body);
    let named: Set = all
        .iter()
        .flatten()
        .filter_map(|access| match access {
            Access::Use { cell, .. } | Access::Define { cell, .. } => Some(*cell),
            Access::Change { cell, .. } => Some(*cell),
            Access::Call { .. } => None,
        })
        .chain(shared.iter().copied())
        .collect();
    let entry: Writes = named
        .iter()
        .map(|cell| (*cell, Set::from([u32::MAX])))
        .collect();
    let mut passed = vec![Writes::new(); all.len()];
    let mut uses = BTreeMap::new();
    loop {
        let mut has_changed = false;
        for block in 0..all.len() {
            let mut state = Writes::new();
            let outside = (block == 0).then_some(&entry);
            let from = before[block].iter().map(|from| &passed[*from]);
            for (cell, writes) in from.chain(outside).flatten() {
                state.entry(*cell).or_default().extend(writes);
            }
            let mut written = Set::new();
            let mut first_use = |cell: u32, written: &Set, state: &Writes| {
                if !written.contains(&cell) {
                    let writes = state.get(&cell).cloned().unwrap_or_default();
                    // A write of this block that does not replace the value may have come first.
                    uses.insert((block as u32, cell), writes);
                }
            };
            let coming = state.clone();
            for access in &all[block] {
                match access {
                    Access::Use { cell, .. } => first_use(*cell, &written, &coming),
                    Access::Define { cell, .. } => {
                        written.insert(*cell);
                        state.insert(*cell, Set::from([block as u32]));
                    }
                    Access::Change { cell, .. } => {
                        state.entry(*cell).or_default().insert(block as u32);
                    }
                    Access::Call { .. } => {
                        for cell in &shared {
                            first_use(*cell, &written, &coming);
                            state.entry(*cell).or_default().insert(block as u32);
                        }
                    }
                }
            }
            if function.body.is_exit(block) {
                shared
                    .iter()
                    .for_each(|cell| first_use(*cell, &written, &coming));
            }
            has_changed |= state != passed[block];
            passed[block] = state;
        }
        if !has_changed {
            return uses;
        }
    }
}

/// Locals that some way reads before it writes them: (block, local), for blocks that the entry
/// reaches.
pub(crate) fn uninitialised(function: &Function, cells: Cells) -> BTreeSet<(u32, u32)> {
    let all = accesses(function, cells);
    let mut found = BTreeSet::new();
    // A search over pairs of a block and the set of locals written so far would be exponential; one
    // search for each local is not.
    for local in function.parameters..cells.locals {
        let mut seen = vec![false; all.len()];
        let mut open = Vec::from_iter((!all.is_empty()).then_some(0_usize));
        while let Some(block) = open.pop() {
            if std::mem::replace(&mut seen[block], true) {
                continue;
            }
            let first = all[block].iter().find_map(|access| match access {
                Access::Use { cell, .. } if *cell == local => Some(true),
                Access::Define { cell, .. } if *cell == local => Some(false),
                _ => None,
            });
            if first == Some(true) {
                found.insert((block as u32, local));
            }
            let defines = all[block]
                .iter()
                .any(|access| matches!(access, Access::Define { cell, .. } if *cell == local));
            if !defines {
                let row = function.body.successors_of(block).iter();
                open.extend(row.map(|to| *to as usize));
            }
        }
    }
    found
}

/// Whether the entry reaches each block without passing `without`.
pub(crate) fn reached(body: &Body, without: Option<usize>) -> Vec<bool> {
    let mut seen = vec![false; body.blocks.len()];
    let mut open = Vec::from_iter((!seen.is_empty()).then_some(0_usize));
    while let Some(block) = open.pop() {
        if Some(block) == without || std::mem::replace(&mut seen[block], true) {
            continue;
        }
        open.extend(body.successors_of(block).iter().map(|to| *to as usize));
    }
    seen
}

/// Blocks that each block dominates, itself included, among those that the entry reaches.
pub(crate) fn dominated(body: &Body) -> Vec<BTreeSet<usize>> {
    let all = reached(body, None);
    (0..body.blocks.len())
        .map(|block| {
            let left = reached(body, Some(block));
            let gone = (0..left.len()).filter(|other| all[*other] && !left[*other]);
            if all[block] {
                gone.collect()
            } else {
                BTreeSet::new()
            }
        })
        .collect()
}

/// Loops by header: the blocks of each.
pub(crate) fn loops(body: &Body) -> BTreeMap<usize, BTreeSet<usize>> {
    let dominated = dominated(body);
    let before = predecessors(body);
    let is_reached = reached(body, None);
    let mut loops: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for from in 0..body.blocks.len() {
        for header in body.successors_of(from) {
            let header = *header as usize;
            if !is_reached[from] || !dominated[header].contains(&from) {
                continue;
            }
            let blocks = loops.entry(header).or_default();
            blocks.insert(header);
            let mut open = vec![from];
            while let Some(block) = open.pop() {
                if is_reached[block] && blocks.insert(block) {
                    open.extend(&before[block]);
                }
            }
        }
    }
    loops
}

/// Functions that others reach by calls, by plain searches over operations.
pub(crate) fn called_from(rows: &[Vec<u32>], from: u32) -> BTreeSet<u32> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if seen.insert(node) {
            open.extend(&rows[node as usize]);
        }
    }
    seen
}
