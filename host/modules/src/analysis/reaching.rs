//! Reaching definitions.

use super::marks::{Found, Marks, Numbers, of_all};
use crate::cells::Cells;
use crate::flow::{Direction, Limits, Meet, Problem, Setup, Span};
use crate::model::{Function, Program};

/// A definition reaches a block if some way from it does not define the cell again.
pub const REACHING: Setup = Setup {
    name: "reaching definitions",
    direction: Direction::Forward,
    meet: Meet::Any,
};

/// The facts of a function. They are sorted by cells; the first fact of a cell is its value on
/// entry, the others are the blocks that write it, in order.
#[derive(Clone, Debug, Default)]
pub struct Reaching {
    /// Cells that some block uses before it defines them.
    pub cells: Vec<u32>,
    /// First fact of each of the cells, and the number of facts.
    pub first: Vec<u32>,
    /// The block of each fact; `u32::MAX` for the value on entry.
    pub blocks: Vec<u32>,
    /// Uses that definitions reach: block, position in `cells`, operation.
    pub uses: Vec<(u32, u32, u32)>,
}

/// The problems of all functions. Costs two passes over all operations, on all threads, and a step
/// for each global in each block that calls. Of a function with more facts than the limits allow,
/// facts are counted and not listed, so that a solver with these limits refuses them.
#[must_use]
pub fn reaching(program: &Program, limits: Limits) -> (Vec<Problem>, Vec<Reaching>) {
    of_all(program, |marks, function, cells| {
        let is_too_much = |facts| limits.refuses(&function.body, facts);
        // Calls may write all cells that outlive the function.
        let most = function.body.blocks.len() as u64 * u64::from(cells.globals + 1);
        let facts = match is_too_much(most) {
            true => changes(marks, function, cells),
            false => 0,
        };
        if is_too_much(facts) {
            let problem = Problem {
                facts: u32::try_from(facts).unwrap_or(u32::MAX),
                ..Problem::default()
            };
            return (problem, Reaching::default());
        }
        problem(marks, function, cells)
    })
}

fn problem(marks: &mut Marks, function: &Function, cells: Cells) -> (Problem, Reaching) {
    let mut numbers = Numbers::default();
    let mut reaching = Reaching::default();
    // Cell, block, and whether the block surely writes.
    let mut writes: Vec<(u32, u32, bool)> = Vec::new();
    marks.pass(function, cells, |found| match found {
        Found::Exposed { block, cell, op } => {
            let number = numbers.number(cell);
            reaching.uses.push((block, number, op));
        }
        Found::Defined { block, cell } => writes.push((cell, block, true)),
        Found::Changed { block, cell } => writes.push((cell, block, false)),
        Found::Outside { .. } => {}
    });
    let mut by_number: Vec<(u32, u32, bool)> = writes
        .into_iter()
        .filter_map(|(cell, block, is_sure)| Some((numbers.find(cell)?, block, is_sure)))
        .collect();
    by_number.sort_unstable();
    let mut problem = Problem::default();
    let mut writes = by_number.into_iter().peekable();
    for number in 0..numbers.cells.len() as u32 {
        let first = reaching.blocks.len() as u32;
        reaching.first.push(first);
        reaching.blocks.push(u32::MAX);
        problem.boundary.push((first, first + 1));
        let kills = problem.killed.len();
        while let Some((_, block, is_sure)) = writes.next_if(|write| write.0 == number) {
            if reaching.blocks.last() != Some(&block) {
                reaching.blocks.push(block);
                let fact = reaching.blocks.len() as u32 - 1;
                problem.made.push(Span::one(block, fact));
            }
            if is_sure {
                problem.killed.push(Span::one(block, first));
            }
        }
        let end = reaching.blocks.len() as u32;
        for kill in &mut problem.killed[kills..] {
            kill.end = end;
        }
    }
    problem.facts = reaching.blocks.len() as u32;
    reaching.first.push(problem.facts);
    reaching.cells = numbers.cells;
    (problem, reaching)
}

/// Changes of shared cells by calls, each once a block.
fn changes(marks: &mut Marks, function: &Function, cells: Cells) -> u64 {
    let mut calls = 0;
    marks.pass_at_once(function, cells, |found| {
        calls += u64::from(matches!(found, Found::Outside { calls: true, .. }));
    });
    calls * marks.shared().len() as u64
}
