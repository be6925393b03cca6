//! Branches that choose between block barriers.
//!
//! Lanes of a warp that wait at two copies of a block barrier wait forever. rustc's pass
//! JumpThreading once made such copies, one for each side of a condition. A branch is found if two
//! barriers, or two calls of one function that has barriers, lie on different sides of it before
//! the sides meet again. Such a branch is right only if all lanes of a block take the same side.
//! PTX does not show whether they do, so [`UNIFORM`] lists the branches where they are known to.
//!
//! A barrier on only one side is not found. A copy leaves one on each side, and every loop with a
//! barrier would be found too.

use std::collections::{HashMap, HashSet};

use crate::ptx::listing::Function;

/// Parts of functions' mangled names, with the number of branches in each function that all lanes
/// of a block take alike. The comments name the conditions of these branches.
const UNIFORM: [(&str, usize); 17] = [
    // Conditions: whether a level is pulled or the kind of the weights, whether any device found a node,
    // and whether the first block takes the step alone.
    ("seawall_multi", 3),
    // Whether the team is one block, whose barrier is simpler.
    ("seawall_barriers", 1),
    ("_mega", 1),
    ("5multi4meetINtB2_4Part", 1),
    ("9scheduler8straight12run_straight", 1),
    ("5Level3run", 1),
    ("11search_loop5close", 1),
    ("11search_loop8run_body", 2),
    // The same, and whether groups remain.
    ("9scheduler8fixpoint11run_flagged", 3),
    // Whether the thread group is one block, and how many nodes it holds.
    ("5fused3run9run_fused", 3),
    // The number of nodes in the round.
    ("10algorithms5cores4peel", 1),
    ("10algorithms5paths10step_float", 1),
    ("10algorithms5paths11relax_whole", 1),
    // The shape of the step.
    ("11search_loop10run_search", 1),
    // The same, and the wave's opcode.
    ("3bfs5waves15run_search_wave", 2),
    // The wave's opcode.
    ("10algorithms5paths9run_paths", 1),
    // The task that lane 0 took.
    ("5serve6worker3run", 1),
];

/// A block barrier, among the names of functions.
const BARRIER: &str = "a block barrier";

/// The end of a function, among its labels.
const END: &str = "end";

/// Returns a line for each branch of a function that has more of them than [`UNIFORM`] allows.
pub(crate) fn errors(functions: &[Function<'_>]) -> Vec<String> {
    let all = choices(functions).into_iter();
    all.filter(|(name, found)| found.len() > allowed(name))
        .flat_map(|(name, found)| {
            let known = allowed(name);
            let line = move |choice| format!("{name}, {choice}; {known} such branches are known");
            found.into_iter().map(line)
        })
        .collect()
}

fn allowed(name: &str) -> usize {
    let entry = UNIFORM.iter().find(|(part, _)| name.contains(part));
    entry.map_or(0, |(_, branches)| *branches)
}

/// Each function that chooses between barriers, with the branches that do.
fn choices<'a>(functions: &[Function<'a>]) -> Vec<(&'a str, Vec<String>)> {
    let graphs: Vec<_> = functions.iter().map(Graph::of).collect();
    let waiting = waiting(&graphs);
    let found = graphs
        .iter()
        .map(|graph| (graph.name, graph.choices(&waiting)));
    found.filter(|(_, found)| !found.is_empty()).collect()
}

/// Names of the functions with block barriers, including those in their callees, and [`BARRIER`].
fn waiting<'a>(graphs: &[Graph<'a>]) -> HashSet<&'a str> {
    let mut waiting = HashSet::from([BARRIER]);
    loop {
        let before = waiting.len();
        for graph in graphs {
            if !graph.sites(&waiting).is_empty() {
                waiting.insert(graph.name);
            }
        }
        if waiting.len() == before {
            return waiting;
        }
    }
}

/// Instructions up to a jump or a label.
#[derive(Debug, Default)]
struct Block<'a> {
    /// Lines with barriers and calls. A call's operands are listed too.
    calls: Vec<(usize, &'a str)>,
    /// Labels, tables of labels, or [`END`].
    jumps: Vec<&'a str>,
    /// Whether the next block is unreachable from the end of this one.
    leaves: bool,
    /// The last instruction, if it is a jump, and its line.
    last: (usize, &'a str),
}

/// A barrier or a call: its block, line and name.
type Site<'a> = (usize, usize, &'a str);

/// The blocks of a function and their successors; the end comes after the last block.
#[derive(Debug)]
struct Graph<'a> {
    name: &'a str,
    blocks: Vec<Block<'a>>,
    next: Vec<Vec<usize>>,
}

impl<'a> Graph<'a> {
    fn of(function: &Function<'a>) -> Self {
        let mut reader = Reader::default();
        reader.blocks.push(Block::default());
        for (number, line) in (function.first_line..).zip(&function.body) {
            reader.line(number, line);
        }
        reader.labels.insert(END, reader.blocks.len());
        Self {
            name: function.name,
            next: reader.next(),
            blocks: reader.blocks,
        }
    }

    fn sites(&self, waiting: &HashSet<&str>) -> Vec<Site<'a>> {
        let all = self.blocks.iter().enumerate().flat_map(|(at, block)| {
            let calls = block.calls.iter();
            calls.map(move |&(line, name)| (at, line, name))
        });
        all.filter(|(_, _, name)| waiting.contains(name)).collect()
    }

    fn choices(&self, waiting: &HashSet<&str>) -> Vec<String> {
        let sites = self.sites(waiting);
        if sites.len() < 2 {
            return Vec::new();
        }
        let joins = joins(&self.next);
        let branches = (0..self.blocks.len()).filter(|&at| self.next[at].len() > 1);
        branches
            .filter_map(|at| self.choice(at, &joins[at], &sites))
            .collect()
    }

    /// Two sites of one name on different sides of the branch.
    fn choice(&self, branch: usize, joins: &[u64], sites: &[Site<'_>]) -> Option<String> {
        let sides = self.sides(branch, joins);
        let apart = |a: usize, b: usize| sides[a] & !sides[b] != 0 && sides[b] & !sides[a] != 0;
        let (line, text) = self.blocks[branch].last;
        let text = text.replace('\t', "");
        sites.iter().find_map(|&(at, first, name)| {
            let mut others = sites.iter();
            let (_, second, _) = others.find(|site| site.2 == name && apart(at, site.0))?;
            Some(format!(
                "line {line}: `{text}` chooses between {name} in line {first} and in line {second}"
            ))
        })
    }

    /// For each block, the sides of the branch that reach it before one of `joins`, as bits.
    fn sides(&self, branch: usize, joins: &[u64]) -> Vec<u64> {
        let mut sides = vec![0; self.next.len()];
        for (side, &first) in self.next[branch].iter().enumerate() {
            // Sides of a large switch that share the last bit count as one.
            let bit = 1 << side.min(63);
            let mut pending = vec![first];
            while let Some(at) = pending.pop() {
                if sides[at] & bit == 0 && joins[at / 64] >> (at % 64) & 1 == 0 {
                    sides[at] |= bit;
                    pending.extend(&self.next[at]);
                }
            }
        }
        sides
    }
}

/// For each block, its post-dominators including itself, as bits. Paths to a trap do not count.
fn joins(next: &[Vec<usize>]) -> Vec<Vec<u64>> {
    let all = vec![u64::MAX; next.len().div_ceil(64)];
    let mut joins = vec![all.clone(); next.len()];
    let end = next.len() - 1;
    joins[end] = vec![0; all.len()];
    loop {
        let mut is_changed = false;
        for at in (0..end).rev() {
            let mut common = all.clone();
            for &follower in &next[at] {
                let words = common.iter_mut().zip(&joins[follower]);
                words.for_each(|(word, other)| *word &= other);
            }
            common[at / 64] |= 1 << (at % 64);
            is_changed |= common != joins[at];
            joins[at] = common;
        }
        if !is_changed {
            return joins;
        }
    }
}

/// Cuts the lines of a function into blocks.
#[derive(Debug, Default)]
struct Reader<'a> {
    blocks: Vec<Block<'a>>,
    labels: HashMap<&'a str, usize>,
    /// Tables of labels, and the name of the last one.
    tables: HashMap<&'a str, Vec<&'a str>>,
    table: &'a str,
}

impl<'a> Reader<'a> {
    fn line(&mut self, number: usize, line: &'a str) {
        if !line.starts_with('$') {
            for text in line.split(';') {
                self.instruction(number, text.trim_matches(['{', '}', ' ', '\t']));
            }
        } else if let Some((label, rest)) = line.split_once(':') {
            if rest.contains(".branchtargets") {
                self.table = label;
            } else {
                self.labels.insert(label, self.blocks.len());
                self.blocks.push(Block::default());
            }
        } else {
            let row = line.trim_end_matches([',', ';']);
            self.tables.entry(self.table).or_default().push(row);
        }
    }

    fn instruction(&mut self, line: usize, text: &'a str) {
        let (guard, plain) = match text.split_once([' ', '\t']) {
            Some((guard, plain)) if guard.starts_with('@') => (Some(guard), plain),
            _ => (None, text),
        };
        let mut words = plain
            .split([' ', '\t', ',', '(', ')'])
            .filter(|word| !word.is_empty());
        let Some((opcode, block)) = words.next().zip(self.blocks.last_mut()) else {
            return;
        };
        match opcode.split('.').next() {
            Some("bra" | "brx") => block.jumps.extend(words.next_back()),
            Some("ret") => block.jumps.push(END),
            Some("trap" | "exit") => {}
            Some("call") => return block.calls.extend(words.map(|word| (line, word))),
            Some("bar" | "barrier") if is_block_wide(opcode) => {
                return block.calls.push((line, BARRIER));
            }
            _ => return,
        }
        block.last = (line, text);
        block.leaves = guard.is_none();
        self.blocks.push(Block::default());
    }

    /// For each block, and for the end, its possible successors.
    fn next(&self) -> Vec<Vec<usize>> {
        let blocks = self.blocks.iter().enumerate().map(|(at, block)| {
            let targets = block.jumps.iter().flat_map(|jump| self.targets(jump));
            let mut next: Vec<_> = targets.chain((!block.leaves).then_some(at + 1)).collect();
            next.sort_unstable();
            next.dedup();
            next
        });
        blocks.chain([Vec::new()]).collect()
    }

    fn targets(&self, jump: &'a str) -> Vec<usize> {
        let one = vec![jump];
        let labels = self.tables.get(jump).unwrap_or(&one);
        labels
            .iter()
            .filter_map(|label| self.labels.get(label).copied())
            .collect()
    }
}

/// Whether a barrier is wider than a warp. Lanes that only arrive do not wait.
fn is_block_wide(opcode: &str) -> bool {
    !opcode.starts_with("bar.warp") && !opcode.contains(".arrive")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::listing::functions;

    /// Errors of a function with this body, whose first line is line 3.
    fn errors_of(body: &str) -> Vec<String> {
        errors(&functions(&format!(".func walk()\n{{\n{body}\n}}\n")))
    }

    #[test]
    fn a_barrier_for_each_side_is_found() {
        let found = errors_of(
            "@%p1 bra $L_2;\nbar.sync 0;\nbra.uni $L_3;\n$L_2:\nbar.sync 0;\n$L_3:\nret;",
        );
        let line = "walk, line 3: `@%p1 bra $L_2` chooses between a block barrier in line 4 \
                    and in line 7; 0 such branches are known";
        assert_eq!(found, [line]);
    }

    #[test]
    fn barriers_for_each_side_are_found_in_a_loop_that_is_left_in_many_places() {
        let side = "bar.sync 0;\n@%p2 bra $L_end;\nbra.uni $L_1;";
        let body = format!("$L_1:\n@%p1 bra $L_2;\n{side}\n$L_2:\n{side}\n$L_end:\nret;");
        assert_eq!(errors_of(&body).len(), 1);
    }

    #[test]
    fn a_call_for_each_side_is_found() {
        let call = "call.uni (retval0), far, (param0);";
        let body = |call: &str| {
            let walk = format!("@%p1 bra $L_2;\n{call}\nbra.uni $L_3;\n$L_2:\n{call}\n$L_3:\nret;");
            format!("{walk}\n}}\n.func far()\n{{\nbarrier.sync 0;\nret;")
        };
        assert_eq!(errors_of(&body(call)).len(), 1);
        assert_eq!(errors_of(&body("call.uni near, ();")), [""; 0]);
    }

    #[test]
    fn two_sides_of_a_switch_are_found() {
        let table = "$L_brx: .branchtargets\n$L_1,\n$L_2,\n$L_3;\nbrx.idx %r1, $L_brx;";
        let sides = "$L_1:\nbar.sync 0;\nbra.uni $L_3;\n$L_2:\nbar.sync 0;\n$L_3:\nret;";
        assert_eq!(errors_of(&format!("{table}\n{sides}")).len(), 1);
    }

    #[test]
    fn a_loop_with_a_barrier_before_another_one_is_right() {
        let body = "$L_1:\nbar.sync 0;\n@%p1 bra $L_1;\nbar.sync 0;\nret;";
        assert_eq!(errors_of(body), [""; 0]);
        let body = "$L_1:\n@%p1 bra $L_2;\nbar.sync 0;\nbra.uni $L_1;\n$L_2:\nbar.sync 0;\nret;";
        assert_eq!(errors_of(body), [""; 0]);
    }

    #[test]
    fn a_barrier_on_one_side_is_right() {
        let body = "bar.sync 0;\n@%p1 bra $L_1;\nbar.sync 0;\n$L_1:\nbar.sync 0;\nret;";
        assert_eq!(errors_of(body), [""; 0]);
        let traps = "@%p1 bra $L_1;\nbar.sync 0;\nret;\n$L_1:\ntrap; exit;\nbar.sync 0;\nret;";
        assert_eq!(errors_of(traps), [""; 0]);
    }

    #[test]
    fn sides_that_share_a_barrier_are_right() {
        let body = "@%p1 bra $L_1;\nadd.u32 %r1, %r1, 1;\n$L_1:\nbar.sync 0;\n@%p1 bra $L_2;\n\
                    bar.warp.sync -1;\nbra.uni $L_3;\n$L_2:\nbar.warp.sync -1;\n$L_3:\nbar.sync 0;\nret;";
        assert_eq!(errors_of(body), [""; 0]);
    }

    #[test]
    fn no_more_branches_are_allowed_than_there_are() {
        let mut most = UNIFORM.map(|(part, _)| (part, 0));
        for (_, text) in crate::ptx::packed::texts().unwrap() {
            for (name, found) in choices(&functions(&text)) {
                let entry = most.iter_mut().find(|(part, _)| name.contains(part));
                let (_, count) = entry.unwrap_or_else(|| panic!("{name}: {found:?}"));
                *count = found.len().max(*count);
            }
        }
        assert_eq!(most, UNIFORM);
    }
}
