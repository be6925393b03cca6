//! Facts of one function, block by block, with their names: what a picture of its blocks shows.

use crate::analysis::{
    AVAILABLE, Expressions, INITIALISED, LIVENESS, REACHING, VERY_BUSY, available, dominators,
    expressions, initialised, liveness, loops, reaching, very_busy,
};
use crate::cells::Cells;
use crate::error::ModuleError;
use crate::flow::{Direction, Limits, On, Problem, Setup, facts, predecessors, solve};
use crate::model::{Function, Program};
use crate::report::AnalysisName;

/// Facts of the blocks of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockFacts {
    /// Names of the two lists that a block has.
    pub lists: [&'static str; 2],
    /// Names of the facts.
    pub facts: Vec<String>,
    /// Numbers of the facts in both lists of each block; cells in their order.
    pub blocks: Vec<[Vec<u32>; 2]>,
}

/// The lists of a problem: facts at the start and at the end of a block.
const ENDS: [&str; 2] = ["in", "out"];

/// Facts of an analysis at the start and at the end of each block of a function; of loops, the
/// dominators of each block and the header of its innermost loop. `None` for an analysis that has
/// none of blocks. Other functions are left out, so that it costs one function's work.
///
/// # Errors
/// As for [`solve`].
pub fn block_facts(
    program: &Program,
    function: usize,
    analysis: AnalysisName,
    on: On,
) -> Result<Option<BlockFacts>, ModuleError> {
    let alone = alone(program, function);
    let stated = match analysis {
        AnalysisName::Liveness => live_cells(&alone),
        AnalysisName::Initialised => initialised_locals(&alone),
        AnalysisName::Reaching => definitions(&alone, on.limits),
        AnalysisName::Available => values(&alone, AVAILABLE, available),
        AnalysisName::VeryBusy => values(&alone, VERY_BUSY, very_busy),
        AnalysisName::Loops => return Ok(Some(nested(&alone))),
        AnalysisName::Calls | AnalysisName::PointsTo | AnalysisName::Taint => return Ok(None),
    };
    stated.solved(&alone, on).map(Some)
}

/// The analyses of which blocks have facts.
pub const OF_BLOCKS: [AnalysisName; 6] = [
    AnalysisName::Liveness,
    AnalysisName::Initialised,
    AnalysisName::Reaching,
    AnalysisName::Available,
    AnalysisName::VeryBusy,
    AnalysisName::Loops,
];

/// A program of one function.
fn alone(program: &Program, function: usize) -> Program {
    let function = &program.functions[function];
    Program {
        modules: vec![program.modules[function.module as usize].clone()],
        functions: vec![Function {
            module: 0,
            ..function.clone()
        }],
    }
}

/// The problem of one function.
struct Stated {
    setup: Setup,
    problem: Problem,
    facts: Vec<String>,
    /// Keys by which the facts of a list are sorted.
    order: Vec<u32>,
    /// Facts that hold at the end of blocks that nothing follows, in a backward problem.
    at_exits: Vec<u32>,
}

impl Stated {
    fn solved(self, alone: &Program, on: On) -> Result<BlockFacts, ModuleError> {
        let body = &alone.functions[0].body;
        let outside = self.problem.boundary_words();
        let problems = [self.problem];
        let solution = solve(alone, self.setup, &problems, on)?;
        let rows = predecessors(body);
        let mut words = Vec::new();
        let mut blocks = Vec::with_capacity(body.blocks.len());
        for block in 0..body.blocks.len() {
            let (row, is_boundary) = match self.setup.direction {
                Direction::Forward => (rows.row(block), block == 0),
                Direction::Backward => (body.successors_of(block), body.is_exit(block)),
            };
            let boundary = is_boundary.then_some(outside.as_slice());
            solution.coming(0, row, boundary, &mut words);
            let coming = facts(words.iter().copied()).collect();
            let passed = solution.all_passed(0, block).collect();
            let mut lists: [Vec<u32>; 2] = match self.setup.direction {
                Direction::Forward => [coming, passed],
                Direction::Backward if is_boundary => [passed, self.at_exits.clone()],
                Direction::Backward => [passed, coming],
            };
            for list in &mut lists {
                list.sort_by_key(|fact| self.order.get(*fact as usize));
            }
            blocks.push(lists);
        }
        Ok(BlockFacts {
            lists: ENDS,
            facts: self.facts,
            blocks,
        })
    }
}

/// The only entry of lists that have one a function.
fn only<T: Default>(mut list: Vec<T>) -> T {
    list.pop().unwrap_or_default()
}

/// Names of cells.
fn labels(alone: &Program, cells: &[u32]) -> Vec<String> {
    let function = &alone.functions[0];
    let all = Cells::of(function, &alone.modules[0]);
    let cells = cells.iter();
    cells.map(|cell| all.label(function, *cell)).collect()
}

fn live_cells(alone: &Program) -> Stated {
    let (problems, live) = liveness(alone);
    let live = only(live).cells;
    let cells = Cells::of(&alone.functions[0], &alone.modules[0]);
    let outlives = (0..).zip(&live).filter(|(_, cell)| cells.outlives(**cell));
    Stated {
        setup: LIVENESS,
        problem: only(problems),
        facts: labels(alone, &live),
        at_exits: outlives.map(|(fact, _)| fact).collect(),
        order: live,
    }
}

fn initialised_locals(alone: &Program) -> Stated {
    let (problems, reads) = initialised(alone);
    let locals = only(reads).locals;
    Stated {
        setup: INITIALISED,
        problem: only(problems),
        facts: labels(alone, &locals),
        order: locals,
        at_exits: Vec::new(),
    }
}

fn definitions(alone: &Program, limits: Limits) -> Stated {
    let (problems, found) = reaching(alone, limits);
    let found = only(found);
    let cells = labels(alone, &found.cells);
    let mut facts = Vec::with_capacity(found.blocks.len());
    for (cell, ends) in cells.iter().zip(found.first.windows(2)) {
        for block in &found.blocks[ends[0] as usize..ends[1] as usize] {
            facts.push(match block {
                &u32::MAX => format!("{cell} at entry"),
                block => format!("{cell} of block {block}"),
            });
        }
    }
    Stated {
        setup: REACHING,
        problem: only(problems),
        facts,
        order: Vec::new(),
        at_exits: Vec::new(),
    }
}

/// Expressions, each named by the offset of an operation that computes it.
fn values(alone: &Program, setup: Setup, state: fn(&Expressions) -> Problem) -> Stated {
    let found = only(expressions(alone));
    let mut facts: Vec<String> = (0..found.facts)
        .map(|fact| format!("value {fact}"))
        .collect();
    for (_, fact, op) in found.exposed.iter().rev() {
        let offset = alone.functions[0].body.ops[*op as usize].offset;
        facts[*fact as usize] = format!("value at {offset:#x}");
    }
    Stated {
        setup,
        problem: state(&found),
        facts,
        order: Vec::new(),
        at_exits: Vec::new(),
    }
}

fn nested(alone: &Program) -> BlockFacts {
    let tree = dominators(alone);
    let nests = loops(alone, &tree);
    let (nearest, headers) = (&tree.nearest[0], &nests.headers[0]);
    let count = alone.functions[0].body.blocks.len() as u32;
    let of_block = |block: u32| {
        let next = |block: &u32| nearest.get(*block as usize).copied();
        let mut above: Vec<u32> = std::iter::successors(next(&block), next).collect();
        // A chain ends with a number that no block has.
        above.retain(|block| *block < count);
        above.reverse();
        let innermost = nests.innermost[0].get(block as usize);
        let header = innermost.and_then(|number| headers.get(*number as usize));
        [above, header.copied().into_iter().collect()]
    };
    BlockFacts {
        lists: ["dominators", "loop"],
        facts: (0..count).map(|block| format!("block {block}")).collect(),
        blocks: (0..count).map(of_block).collect(),
    }
}
