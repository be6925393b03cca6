//! The call graph.
//!
//! A call through a table may reach every function of its type in that table's element segments, or
//! whose reference may have got there: if instructions write to the table, any reference. All calls
//! of one table and type share one node, a *dispatch*, so that the graph grows with calls and
//! targets and not with their product. Where points-to has found fewer targets, calls with the same
//! ones share a node.

use crate::error::ModuleError;
use crate::flow::{Direction, Meet, On, Problem, Setup, Solution, SolveStats, Span, solve_bodies};
use crate::model::{ANY_TABLE, Block, Body, Indirect, Kind, Module, Program};
use crate::order::Rows;
use crate::points_to::{Choice, PointsTo};
use hashbrown::HashMap;
use seawall::column::Column;
use seawall::executor::Machine;
use seawall::graph::{CsrArrays, Graph};
use seawall::run::{AnalysisKind, RunRequest, execute};

/// Calls through one table by one type, or those of them that may reach the same functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The module.
    pub module: u32,
    /// Table and type.
    pub key: Indirect,
    /// Whether points-to has found its targets, else they are all of the type.
    pub is_known: bool,
}

/// Functions and dispatches, and their calls.
#[derive(Clone, Debug)]
pub struct Calls {
    /// Number of functions, the first nodes.
    pub functions: usize,
    /// The dispatches, the nodes that follow.
    pub dispatches: Vec<Dispatch>,
    /// Callees of each node, sorted and without repetitions.
    pub callees: Rows,
    /// Callers of each node.
    pub callers: Rows,
    /// Functions that run without a call from the program: exported, started, or in a table that
    /// the outside sees.
    pub roots: Vec<u32>,
    /// Functions that others may call by a reference that gets outside.
    pub given: Vec<u32>,
    /// The dispatch of each table and type.
    numbers: HashMap<(u32, Indirect), u32>,
    /// The node that each call with known targets calls: by function and operation.
    chosen: HashMap<(u32, u32), u32>,
}

/// Dispatches while they are numbered.
struct Numbering<'a> {
    program: &'a Program,
    dispatches: Vec<Dispatch>,
    numbers: HashMap<(u32, Indirect), u32>,
    /// Calls with known targets.
    known: HashMap<(u32, u32), &'a [u32]>,
    chosen: HashMap<(u32, u32), u32>,
    /// Dispatches of known targets.
    sets: HashMap<(u32, Indirect, &'a [u32]), u32>,
    /// Targets of each dispatch.
    rows: Vec<Vec<u32>>,
}

impl<'a> Numbering<'a> {
    fn new(program: &'a Program, choices: &'a [Choice]) -> Self {
        let known = choices.iter().filter_map(|choice| {
            let targets = choice.targets.as_deref()?;
            Some(((choice.function, choice.op), targets))
        });
        Self {
            program,
            dispatches: Vec::new(),
            numbers: HashMap::new(),
            known: known.collect(),
            chosen: HashMap::new(),
            sets: HashMap::new(),
            rows: Vec::new(),
        }
    }

    /// The node that an indirect call calls.
    fn number(&mut self, function: u32, op: u32) -> u32 {
        let caller = &self.program.functions[function as usize];
        let module = caller.module;
        let key = caller.body.indirect[caller.body.ops[op as usize].arg as usize];
        let next = (self.program.functions.len() + self.dispatches.len()) as u32;
        let known = self.known.get(&(function, op)).copied();
        let number = match known {
            Some([target]) => *target,
            Some(set) => *self.sets.entry((module, key, set)).or_insert(next),
            None => *self.numbers.entry((module, key)).or_insert(next),
        };
        if known.is_some() {
            self.chosen.insert((function, op), number);
        }
        if number == next {
            let is_known = known.is_some();
            let dispatch = Dispatch {
                module,
                key,
                is_known,
            };
            let row = known.map_or_else(|| targets(self.program, dispatch), <[u32]>::to_vec);
            self.rows.push(row);
            self.dispatches.push(dispatch);
        }
        number
    }
}

impl Calls {
    /// The calls of a program by type. Costs a pass over all operations.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        Self::by(program, &[], None)
    }

    /// The calls of a program, of which those with known targets reach what points-to has found; the
    /// others go by type.
    #[must_use]
    pub fn resolved(program: &Program, found: &PointsTo) -> Self {
        Self::by(program, &found.choices, found.escaped.as_deref())
    }

    fn by(program: &Program, choices: &[Choice], escaped: Option<&[u32]>) -> Self {
        let functions = program.functions.len();
        let mut numbering = Numbering::new(program, choices);
        let mut rows: Vec<Vec<u32>> = Vec::with_capacity(functions);
        for (number, function) in (0..).zip(&program.functions) {
            let module = &program.modules[function.module as usize];
            let mut row = Vec::new();
            for (at, op) in (0..).zip(&function.body.ops) {
                match op.kind() {
                    Kind::Call => row.push(module.functions.start as u32 + op.arg),
                    Kind::Indirect => row.push(numbering.number(number, at)),
                    _ => {}
                }
            }
            row.sort_unstable();
            row.dedup();
            rows.push(row);
        }
        rows.append(&mut numbering.rows);
        let callees = Rows::of(&rows);
        Self {
            functions,
            dispatches: numbering.dispatches,
            callers: callees.reversed(),
            callees,
            roots: roots(program),
            given: escaped.map_or_else(|| given(program), <[u32]>::to_vec),
            numbers: numbering.numbers,
            chosen: numbering.chosen,
        }
    }

    /// The node that an operation calls, of a function.
    #[must_use]
    pub fn callee(&self, program: &Program, function: usize, op: usize) -> Option<u32> {
        let number = (function as u32, op as u32);
        let function = &program.functions[function];
        let op = function.body.ops[op];
        match op.kind() {
            Kind::Indirect if self.chosen.contains_key(&number) => {
                self.chosen.get(&number).copied()
            }
            Kind::Call => Some(program.function(function.module, op.arg) as u32),
            Kind::Indirect => {
                let key = function.body.indirect[op.arg as usize];
                self.numbers.get(&(function.module, key)).copied()
            }
            _ => None,
        }
    }

    /// Numbers of parameters and results of a node.
    #[must_use]
    pub fn arity(&self, program: &Program, node: u32) -> (u32, u32) {
        if let Some(function) = program.functions.get(node as usize) {
            return (function.parameters, function.results);
        }
        let Dispatch { module, key, .. } = self.dispatches[node as usize - self.functions];
        let arities = &program.modules[module as usize].arities;
        arities
            .get(key.signature as usize)
            .copied()
            .unwrap_or_default()
    }

    /// Whether functions from outside may be called by a dispatch.
    #[must_use]
    pub fn is_open(&self, program: &Program, node: u32) -> bool {
        let dispatch = (node as usize).checked_sub(self.functions);
        dispatch.is_some_and(|number| {
            let Dispatch {
                module,
                key,
                is_known,
            } = self.dispatches[number];
            let open = &program.modules[module as usize].open_tables;
            !is_known && open.get(key.table as usize).copied().unwrap_or(true)
        })
    }

    /// Number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.functions + self.dispatches.len()
    }

    /// Name of a node in reports.
    #[must_use]
    pub fn label(&self, program: &Program, node: u32) -> String {
        match program.functions.get(node as usize) {
            Some(function) => function.label(),
            None => {
                let key = self.dispatches[node as usize - self.functions].key;
                match key.table {
                    ANY_TABLE => format!("by reference, type {}", key.signature),
                    table => format!("by table {table}, type {}", key.signature),
                }
            }
        }
    }

    /// Functions that call one of `functions`, by a dispatch, too; sorted.
    #[must_use]
    pub fn callers_of(&self, functions: &[u32]) -> Vec<u32> {
        let row = |node: &u32| self.callers.row(*node as usize).iter().copied();
        let (mut callers, dispatches): (Vec<u32>, Vec<u32>) = functions
            .iter()
            .flat_map(row)
            .partition(|node| (*node as usize) < self.functions);
        callers.extend(dispatches.iter().flat_map(row));
        callers.sort_unstable();
        callers.dedup();
        callers
    }

    /// Functions that run without a call from the program, or by a reference that gets outside.
    pub fn entries(&self) -> impl Iterator<Item = u32> {
        self.roots.iter().chain(&self.given).copied()
    }

    /// The graph as a body whose blocks are the nodes in an order for iteration, and the block of
    /// each node.
    fn as_body(&self) -> (Body, Vec<u32>) {
        let order = self.callees.reverse_postorder(self.entries());
        let mut place = vec![0_u32; order.len()];
        for (block, node) in (0..).zip(&order) {
            place[*node as usize] = block;
        }
        let mut body = Body::default();
        for node in order {
            let row = self.callees.row(node as usize).iter();
            body.push(Block::default(), row.map(|to| place[*to as usize]));
        }
        (body, place)
    }
}

/// Functions that calls of a table and type may reach.
fn targets(program: &Program, dispatch: Dispatch) -> Vec<u32> {
    let module = &program.modules[dispatch.module as usize];
    let first = module.functions.start as u32;
    let fits = |function: &u32| {
        let signature = program.functions[(first + function) as usize].signature;
        let wanted = dispatch.key.signature;
        let above = module.supertypes.get(signature as usize);
        signature == wanted || above.is_some_and(|above| above.contains(&wanted))
    };
    let mut found: Vec<u32> = match dispatch.key.table {
        ANY_TABLE => module.referenced.iter().copied().filter(fits).collect(),
        table => in_table(module, table).into_iter().filter(fits).collect(),
    };
    found.sort_unstable();
    found.dedup();
    found.iter().map(|function| first + function).collect()
}

/// Functions that may be in a table.
fn in_table(module: &Module, table: u32) -> Vec<u32> {
    if module.written_tables.get(table as usize) == Some(&true) {
        return module.referenced.clone();
    }
    let elements = module.elements.iter();
    let here = elements.filter(|element| element.table == table || element.table == ANY_TABLE);
    here.map(|element| element.function).collect()
}

fn roots(program: &Program) -> Vec<u32> {
    let mut roots = Vec::new();
    for module in &program.modules {
        let first = module.functions.start as u32;
        for number in module.functions.clone() {
            if !program.functions[number].exports.is_empty() {
                roots.push(number as u32);
            }
        }
        roots.extend(module.start.map(|start| first + start));
        for (table, is_open) in (0..).zip(&module.open_tables) {
            if *is_open {
                let held = in_table(module, table).into_iter();
                roots.extend(held.map(|function| first + function));
            }
        }
    }
    roots.sort_unstable();
    roots.dedup();
    roots
}

/// Functions of which code may get a reference.
fn given(program: &Program) -> Vec<u32> {
    let modules = program.modules.iter();
    modules
        .flat_map(|module| {
            let first = module.functions.start as u32;
            module.given.iter().map(move |function| first + function)
        })
        .collect()
}

const REACHED: Setup = Setup {
    name: "reachability from exports",
    direction: Direction::Forward,
    meet: Meet::Any,
};

const IMPORTS: Setup = Setup {
    name: "functions that reach imports",
    direction: Direction::Backward,
    meet: Meet::Any,
};

/// Whether calls from the roots, or by references that get outside, reach each node.
///
/// # Errors
/// As for [`solve`](crate::flow::solve).
pub fn reached(calls: &Calls, on: On) -> Result<(Vec<bool>, SolveStats), ModuleError> {
    let (body, place) = calls.as_body();
    let entries = calls.entries();
    let problem = Problem {
        facts: 1,
        made: entries
            .map(|entry| Span::one(place[entry as usize], 0))
            .collect(),
        ..Problem::default()
    };
    let solution = solve_graph(&body, REACHED, problem, on)?;
    let is_reached = place
        .iter()
        .map(|block| solution.passes(0, *block as usize, 0));
    Ok((is_reached.collect(), solution.stats))
}

fn solve_graph(
    body: &Body,
    setup: Setup,
    problem: Problem,
    on: On,
) -> Result<Solution, ModuleError> {
    let label = |_| "the call graph".to_owned();
    solve_bodies(&[body], &label, setup, &[problem], on)
}

/// Which functions can reach each import.
#[derive(Clone, Debug)]
pub struct ImportReach {
    /// The imported functions, by their numbers in the program.
    pub imports: Vec<u32>,
    place: Vec<u32>,
    solution: Solution,
}

impl ImportReach {
    /// Whether calls from `node` reach import number `import` of the list.
    #[must_use]
    pub fn reaches(&self, node: u32, import: usize) -> bool {
        let block = self.place[node as usize] as usize;
        self.solution.passes(0, block, import as u32)
    }

    /// Functions that run without a call from the program and from which calls reach an import, in
    /// order; none if the function is no import.
    #[must_use]
    pub fn entries(&self, calls: &Calls, import: u32) -> Vec<u32> {
        let mut entries = self.those_of(calls.entries(), import);
        entries.sort_unstable();
        entries.dedup();
        entries
    }

    /// Those of some functions from which calls reach an import; none if it is no import.
    #[must_use]
    pub fn those_of(&self, functions: impl Iterator<Item = u32>, import: u32) -> Vec<u32> {
        let Ok(number) = self.imports.binary_search(&import) else {
            return Vec::new();
        };
        functions.filter(|one| self.reaches(*one, number)).collect()
    }

    /// Number of functions, out of the first `functions` nodes, that reach each import.
    #[must_use]
    pub fn counts(&self, functions: usize) -> Vec<u32> {
        let mut counts = vec![0; self.imports.len()];
        for block in &self.place[..functions] {
            for import in self.solution.all_passed(0, *block as usize) {
                counts[import as usize] += 1;
            }
        }
        counts
    }

    /// Cost of the run.
    #[must_use]
    pub fn stats(&self) -> SolveStats {
        self.solution.stats
    }
}

/// Finds what reaches each import, 64 imports a word.
///
/// # Errors
/// As for [`solve`](crate::flow::solve).
pub fn import_reach(program: &Program, calls: &Calls, on: On) -> Result<ImportReach, ModuleError> {
    let (body, place) = calls.as_body();
    let imported = (0..).zip(&program.functions);
    let imports: Vec<u32> = imported
        .filter(|(_, function)| function.import.is_some())
        .map(|(number, _)| number)
        .collect();
    let numbered = (0..).zip(&imports);
    let problem = Problem {
        facts: imports.len() as u32,
        made: numbered
            .map(|(fact, import)| Span::one(place[*import as usize], fact))
            .collect(),
        ..Problem::default()
    };
    let solution = solve_graph(&body, IMPORTS, problem, on)?;
    Ok(ImportReach {
        imports,
        place,
        solution,
    })
}

/// The strong component of each node: the smallest node in it, by the library's own program.
///
/// # Errors
/// As for [`execute`].
pub fn components(calls: &Calls, machine: &Machine) -> Result<Vec<u32>, ModuleError> {
    let graph = Graph::from_csr(CsrArrays {
        offsets: calls.callees.offsets.clone(),
        targets: calls.callees.targets.clone(),
        ..CsrArrays::default()
    })?;
    let request = RunRequest::new(AnalysisKind::Scc, Vec::new()).on(*machine);
    let outcome = execute(&graph, &request)?;
    match outcome.values {
        Column::U32(values) => Ok(values),
        // The analysis has labels of 32 bits.
        _ => Ok(Vec::new()),
    }
}
