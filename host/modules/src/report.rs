//! One request over a program: analyses in, figures and findings out.

use crate::analysis::{
    AVAILABLE, INITIALISED, LIVENESS, Lived, REACHING, VERY_BUSY, available, dead_stores,
    dominators, expressions, initialised, loops, reaching, uninitialised_uses, very_busy,
};
use crate::calls::{self, Calls};
use crate::cells::Cells;
use crate::error::ModuleError;
use crate::finding::{Finding, FindingKind, Place, Step};
use crate::flow::{On, Problem, Setup, Solution, SolveStats, count, facts, has, solve};
use crate::model::Program;
use crate::named::named;
use crate::names::Names;
use crate::points_to::{Choice, OpenTables, PointsTo, points_to};
use crate::taint::{Spec, TaintQuestion, TaintSession};
use hashbrown::HashSet;
use seawall::units::elapsed_ns;
use serde::Serialize;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::time::Instant;

named! {
    /// Analyses that a request may name.
    AnalysisName {
        Calls = "calls": "Call graph: unreachable functions, recursion, what reaches imports",
        Liveness = "liveness": "Liveness of locals, globals, memory and stack slots; dead stores",
        Initialised = "initialised": "Locals that are read before every way has written them",
        Reaching = "reaching": "Definitions that reach uses",
        Available = "available": "Expressions that every way has computed already",
        VeryBusy = "very-busy": "Expressions that every way on will compute",
        Loops = "loops": "Dominators and loop nesting",
        PointsTo = "points-to": "Functions that calls through tables and by reference may reach",
        Taint = "taint": "Data from sources that reaches sinks, across calls",
    }
}

named! {
    /// How calls through tables and by reference find their functions.
    #[derive(Default)]
    Resolve {
        #[default]
        Type = "type": "All functions of the type in the table",
        PointsTo = "points-to": "The functions that points-to finds",
    }
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The analyses, in order.
    pub analyses: Vec<AnalysisName>,
    /// Imports whose callers are findings, as MODULE.FIELD or FIELD.
    pub reach: Vec<String>,
    /// Origins of data that is not to be trusted, or not to leave.
    pub sources: Vec<Spec>,
    /// Places that this data must not reach.
    pub sinks: Vec<Spec>,
    /// Number of the findings of taint, the first ones, that have a way.
    pub ways: usize,
    /// Functions that calls through tables and by reference reach, for the call graph and taint.
    pub resolve: Resolve,
    /// Changes that the outside may make to tables, for points-to.
    pub open_tables: OpenTables,
    /// The machine, and its memory.
    pub on: On,
}

/// A figure of an analysis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The counted thing, with its unit.
    pub what: &'static str,
    /// The number.
    pub count: u64,
}

/// Figures and times of an analysis.
#[derive(Clone, Debug, Serialize)]
pub struct AnalysisReport {
    /// The analysis.
    pub name: &'static str,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// Facts of all functions.
    pub facts: u64,
    /// Work of its fixpoints.
    pub work: SolveStats,
    /// Time from the program to its findings, nanoseconds.
    pub total_ns: u64,
}

/// Sizes of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Sizes {
    /// Files.
    pub files: usize,
    /// Bytes of the files.
    pub bytes: u64,
    /// Functions, imports included.
    pub functions: usize,
    /// Imported functions.
    pub imports: usize,
    /// Basic blocks.
    pub blocks: usize,
    /// Edges between blocks.
    pub edges: usize,
    /// Blocks of the largest function.
    pub largest: usize,
    /// Operations.
    pub operations: usize,
}

impl Sizes {
    /// The sizes of a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let functions = || program.functions.iter();
        let blocks = functions().map(|f| f.body.blocks.len());
        Self {
            files: program.modules.len(),
            bytes: program.modules.iter().map(|module| module.bytes).sum(),
            functions: program.functions.len(),
            imports: functions().filter(|f| f.import.is_some()).count(),
            blocks: program.blocks(),
            edges: functions().map(|f| f.body.successors.len()).sum(),
            largest: blocks.max().unwrap_or(0),
            operations: program.ops(),
        }
    }
}

/// The answer to a request.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Size of the program.
    pub program: Sizes,
    /// The analyses, as requested.
    pub analyses: Vec<AnalysisReport>,
    /// Findings, by analysis and place.
    pub findings: Vec<Finding>,
}

impl Answer {
    fn add(&mut self, name: &'static str, figures: Vec<Figure>, facts: u64, work: SolveStats) {
        self.analyses.push(AnalysisReport {
            name,
            figures,
            facts,
            work,
            total_ns: 0,
        });
    }
}

/// Carries out a request.
///
/// # Errors
/// The first analysis that fails ends it, as [`solve`] does; [`ModuleError::NoSuchName`] for an
/// import that no module has.
pub fn run(program: &Program, request: &Request) -> Result<Answer, ModuleError> {
    Run::new(program, request).answer()
}

/// A request over a program, with the results that its analyses share.
pub struct Run<'a> {
    program: &'a Program,
    request: &'a Request,
    /// Result of points-to, once it was asked for, and the nanoseconds that it took.
    found: OnceCell<(PointsTo, u64)>,
}

fn figure(what: &'static str, count: usize) -> Figure {
    Figure {
        what,
        count: count as u64,
    }
}

fn facts_of(problems: &[Problem]) -> u64 {
    problems.iter().map(|one| u64::from(one.facts)).sum()
}

impl<'a> Run<'a> {
    /// A request over a program; nothing has run yet.
    #[must_use]
    pub fn new(program: &'a Program, request: &'a Request) -> Self {
        Self {
            program,
            request,
            found: OnceCell::new(),
        }
    }

    /// Carries out the request.
    ///
    /// # Errors
    /// As for [`run`].
    pub fn answer(&self) -> Result<Answer, ModuleError> {
        self.check_names()?;
        let mut answer = Answer {
            program: Sizes::of(self.program),
            analyses: Vec::new(),
            findings: Vec::new(),
        };
        for name in &self.request.analyses {
            self.resolve(*name, &mut answer)?;
            let clock = Instant::now();
            let first = answer.analyses.len();
            match name {
                AnalysisName::Calls => self.calls(&mut answer)?,
                AnalysisName::Liveness => self.liveness(&mut answer)?,
                AnalysisName::Initialised => self.initialised(&mut answer)?,
                AnalysisName::Reaching => self.reaching(&mut answer)?,
                AnalysisName::Available => self.available(&mut answer)?,
                AnalysisName::VeryBusy => self.very_busy(&mut answer)?,
                AnalysisName::Loops => self.loops(&mut answer),
                AnalysisName::PointsTo => self.points_to(&mut answer)?,
                AnalysisName::Taint => self.taint(&mut answer)?,
            }
            let total_ns = elapsed_ns(clock);
            match &mut answer.analyses[first..] {
                [report] if report.total_ns == 0 => report.total_ns = total_ns,
                reports => {
                    for AnalysisReport { total_ns, work, .. } in reports {
                        *total_ns = (*total_ns).max(work.ns());
                    }
                }
            }
        }
        Ok(answer)
    }

    /// Refuses names that the program lacks, before any analysis takes its time.
    fn check_names(&self) -> Result<(), ModuleError> {
        let Request {
            reach,
            sources,
            sinks,
            ..
        } = self.request;
        if reach.is_empty() && sources.is_empty() && sinks.is_empty() {
            return Ok(());
        }
        let names = Names::of(self.program);
        for name in reach {
            names.imports(self.program, name)?;
        }
        for source in sources.iter().filter(|source| !source.is_load()) {
            source.functions("source", self.program, &names)?;
        }
        for sink in sinks {
            sink.functions("sink", self.program, &names)?;
        }
        Ok(())
    }

    fn solve(&self, setup: Setup, problems: &[Problem]) -> Result<Solution, ModuleError> {
        solve(self.program, setup, problems, self.request.on)
    }

    fn finding(&self, kind: FindingKind, function: usize, op: u32, message: String) -> Finding {
        let offset = self.program.functions[function].body.ops.get(op as usize);
        let place = Place::of(self.program, function, offset.map(|op| op.offset));
        Finding::new(kind, place, message)
    }

    fn liveness(&self, answer: &mut Answer) -> Result<(), ModuleError> {
        let Lived { live, solution } = Lived::of(self.program, self.request.on)?;
        let dead = dead_stores(self.program, &live, &solution);
        let figures = vec![figure("dead stores", dead.len())];
        for store in dead {
            let function = &self.program.functions[store.function];
            let cells = Cells::of(function, &self.program.modules[function.module as usize]);
            let cell = cells.label(function, store.cell);
            let message = format!("nothing reads what this stores in {cell}");
            let kind = FindingKind::DeadStore;
            let finding = self.finding(kind, store.function, store.op, message);
            answer.findings.push(finding);
        }
        let facts = live.iter().map(|one| one.cells.len() as u64).sum();
        answer.add(LIVENESS.name, figures, facts, solution.stats);
        Ok(())
    }

    fn initialised(&self, answer: &mut Answer) -> Result<(), ModuleError> {
        let (problems, reads) = initialised(self.program);
        let solution = self.solve(INITIALISED, &problems)?;
        let uses = uninitialised_uses(self.program, &reads, &solution);
        let figures = vec![figure(
            "reads that a way reaches without a write",
            uses.len(),
        )];
        for read in uses {
            let function = &self.program.functions[read.function];
            let cells = Cells::of(function, &self.program.modules[function.module as usize]);
            let local = cells.label(function, read.local);
            let message = format!("a way from the entry reads {local} before it is written");
            let kind = FindingKind::UninitialisedRead;
            let finding = self.finding(kind, read.function, read.op, message);
            answer.findings.push(finding);
        }
        answer.add(
            INITIALISED.name,
            figures,
            facts_of(&problems),
            solution.stats,
        );
        Ok(())
    }

    fn reaching(&self, answer: &mut Answer) -> Result<(), ModuleError> {
        let (problems, reaching) = reaching(self.program, self.request.on.limits);
        let solution = self.solve(REACHING, &problems)?;
        let (mut pairs, mut uses) = (0, 0);
        for (number, found) in reaching.iter().enumerate() {
            let entry = problems[number].boundary_words();
            let body = &self.program.functions[number].body;
            let mut coming = solution.arrivals(number, body, &entry);
            for (block, cell, _) in &found.uses {
                let (first, end) = (found.first[*cell as usize], found.first[*cell as usize + 1]);
                uses += 1;
                pairs += count(coming.at(*block), first, end);
            }
        }
        let figures = vec![
            figure("uses across blocks", uses),
            figure("pairs of a definition and a use that it reaches", pairs),
        ];
        answer.add(REACHING.name, figures, facts_of(&problems), solution.stats);
        Ok(())
    }

    fn available(&self, answer: &mut Answer) -> Result<(), ModuleError> {
        let expressions = expressions(self.program);
        let problems: Vec<Problem> = expressions.iter().map(available).collect();
        let solution = self.solve(AVAILABLE, &problems)?;
        let mut redundant = 0;
        for (number, found) in expressions.iter().enumerate() {
            if found.exposed.is_empty() {
                continue;
            }
            let body = &self.program.functions[number].body;
            let mut coming = solution.arrivals(number, body, &[]);
            for (block, fact, op) in &found.exposed {
                if has(coming.at(*block), *fact) {
                    redundant += 1;
                    let message = "every way here has computed this value already".to_owned();
                    let kind = FindingKind::RedundantExpression;
                    answer
                        .findings
                        .push(self.finding(kind, number, *op, message));
                }
            }
        }
        let figures = vec![figure(
            "computations of a value that is available",
            redundant,
        )];
        answer.add(AVAILABLE.name, figures, facts_of(&problems), solution.stats);
        Ok(())
    }

    fn very_busy(&self, answer: &mut Answer) -> Result<(), ModuleError> {
        let expressions = expressions(self.program);
        let problems: Vec<Problem> = expressions.iter().map(very_busy).collect();
        let solution = self.solve(VERY_BUSY, &problems)?;
        let (mut busy, mut words) = (0, Vec::new());
        for (number, function) in self.program.functions.iter().enumerate() {
            if solution.facts(number) == 0 {
                continue;
            }
            for block in 0..function.body.blocks.len() {
                let row = function.body.successors_of(block);
                if row.len() > 1 {
                    solution.coming(number, row, None, &mut words);
                    busy += facts(words.iter().copied()).count();
                }
            }
        }
        let figures = vec![figure(
            "values that all ways on from a branch compute",
            busy,
        )];
        answer.add(VERY_BUSY.name, figures, facts_of(&problems), solution.stats);
        Ok(())
    }

    fn loops(&self, answer: &mut Answer) {
        let tree = dominators(self.program);
        let nests = loops(self.program, &tree);
        let deepest = nests.depth.iter().flatten().max().copied().unwrap_or(0);
        let found: usize = nests.headers.iter().map(Vec::len).sum();
        let blocks = self.program.blocks();
        let figures = vec![figure("blocks", blocks)];
        answer.add("dominators", figures, blocks as u64, tree.stats);
        let figures = vec![
            figure("loops", found),
            figure("loops around the innermost block", deepest as usize),
            figure("edges back that close no loop", nests.irreducible),
        ];
        answer.add("loop nesting", figures, found as u64, nests.stats);
    }

    /// Points-to, which all analyses share, and the nanoseconds that it took.
    fn found(&self) -> Result<&(PointsTo, u64), ModuleError> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let clock = Instant::now();
        let calls = Calls::of(self.program);
        let Request {
            open_tables, on, ..
        } = self.request;
        let found = points_to(self.program, &calls, *open_tables, *on)?;
        let total_ns = elapsed_ns(clock);
        Ok(self.found.get_or_init(|| (found, total_ns)))
    }

    /// Resolves calls before the first analysis that goes by what they reach. Points-to has a report
    /// of its own then, unless that was asked for.
    fn resolve(&self, name: AnalysisName, answer: &mut Answer) -> Result<(), ModuleError> {
        let goes_by_calls = matches!(name, AnalysisName::Calls | AnalysisName::Taint);
        let is_due = goes_by_calls && self.request.resolve == Resolve::PointsTo;
        if is_due && self.found.get().is_none() {
            let found = self.found()?;
            if !self.request.analyses.contains(&AnalysisName::PointsTo) {
                answer.analyses.push(points_to_report(found));
            }
        }
        Ok(())
    }

    /// The call graph that was asked for.
    ///
    /// # Errors
    /// As for [`solve`], if points-to resolves calls.
    pub fn call_graph(&self) -> Result<Calls, ModuleError> {
        Ok(match self.request.resolve {
            Resolve::Type => Calls::of(self.program),
            Resolve::PointsTo => Calls::resolved(self.program, &self.found()?.0),
        })
    }

    fn points_to(&self, answer: &mut Answer) -> Result<(), ModuleError> {
        let found = self.found()?;
        for choice in &found.0.choices {
            let targets = choice.targets.as_ref();
            if let Some(targets) = targets.filter(|targets| targets.len() < choice.by_type as usize)
            {
                let message = self.resolved(targets, choice.by_type);
                let (kind, function) = (FindingKind::ResolvedCall, choice.function as usize);
                let finding = self.finding(kind, function, choice.op, message);
                answer.findings.push(finding);
            }
        }
        answer.analyses.push(points_to_report(found));
        Ok(())
    }

    /// A sentence on the functions that a call reaches.
    fn resolved(&self, targets: &[u32], by_type: u32) -> String {
        const NAMED: usize = 8;
        let named = targets.iter().take(NAMED);
        let names: Vec<String> = named
            .map(|target| self.program.functions[*target as usize].label())
            .collect();
        let mut names = names.join(", ");
        if targets.len() > NAMED {
            names.push_str(&format!(" and {} more", targets.len() - NAMED));
        }
        let reached = match targets.len() {
            0 => "calls nothing: it traps, or nothing gets here".to_owned(),
            1 => format!("calls {names}"),
            _ => format!("calls one of: {names}"),
        };
        format!("{reached}; {by_type} by type")
    }

    fn calls(&self, answer: &mut Answer) -> Result<(), ModuleError> {
        let calls = self.call_graph()?;
        let (is_reached, reached_work) = calls::reached(&calls, self.request.on)?;
        let functions = self.program.functions.len();
        let unreached: Vec<usize> = (0..functions).filter(|node| !is_reached[*node]).collect();
        let components = calls::components(&calls, &self.request.on.machine)?;
        let reach = calls::import_reach(self.program, &calls, self.request.on)?;
        let mut sizes = vec![0_usize; components.len()];
        for component in &components {
            sizes[*component as usize] += 1;
        }
        let figures = vec![
            figure("calls, each pair once", calls.callees.targets.len()),
            figure("tables and types that calls go by", calls.dispatches.len()),
            figure("functions that nothing outside reaches", unreached.len()),
            figure(
                "strong components",
                sizes.iter().filter(|size| **size > 0).count(),
            ),
            figure(
                "functions of the largest component",
                sizes.iter().max().copied().unwrap_or(0),
            ),
        ];
        for function in unreached {
            let place = Place::of(self.program, function, None);
            let message = "no call from an export, the start function, an open table or a reference gets here";
            let kind = FindingKind::UnreachableFunction;
            answer
                .findings
                .push(Finding::new(kind, place, message.to_owned()));
        }
        self.import_findings(answer, &calls, &reach)?;
        let (facts, work) = (1 + reach.imports.len(), reached_work.plus(reach.stats()));
        answer.add("call graph", figures, facts as u64, work);
        Ok(())
    }

    /// For each import that was asked for, the entries that reach it, with the calls in between.
    fn import_findings(
        &self,
        answer: &mut Answer,
        calls: &Calls,
        reach: &calls::ImportReach,
    ) -> Result<(), ModuleError> {
        if self.request.reach.is_empty() {
            return Ok(());
        }
        let names = Names::of(self.program);
        let mut known = HashSet::new();
        for name in &self.request.reach {
            let mut imports = names.imports(self.program, name)?;
            imports.retain(|import| known.insert(*import));
            for import in imports {
                let entries = reach.entries(calls, import).into_iter();
                answer.findings.extend(
                    entries.map(|entry| reaches_import(self.program, calls, entry, import, true)),
                );
            }
        }
        Ok(())
    }

    fn taint(&self, answer: &mut Answer) -> Result<(), ModuleError> {
        let calls = Cow::Owned(self.call_graph()?);
        let Request {
            sources, sinks, on, ..
        } = self.request;
        let program = Cow::Borrowed(self.program);
        let session = TaintSession::over(program, calls, sources, on.limits)?;
        let found = session.ask(&TaintQuestion {
            sources,
            sinks,
            limit: usize::MAX,
            ways: self.request.ways,
        })?;
        let figures = vec![
            figure(
                "ways from a source to an argument of a sink",
                found.findings.len(),
            ),
            figure("values", session.values()),
            figure("calls", session.sites()),
        ];
        answer.findings.extend(found.findings);
        let search = SolveStats {
            nodes: found.work.values,
            run_ns: found.work.ns,
            ..SolveStats::default()
        };
        let values = session.values() as u64;
        answer.add("summaries", Vec::new(), values, session.summaries());
        answer.add("taint", figures, sources.len() as u64, search);
        Ok(())
    }
}

/// The finding that calls from a function reach an import; with `has_way`, by which calls, which
/// costs a search.
#[must_use]
pub fn reaches_import(
    program: &Program,
    calls: &Calls,
    from: u32,
    import: u32,
    has_way: bool,
) -> Finding {
    let path = match has_way {
        true => calls.callees.path([from].into_iter(), import),
        false => None,
    };
    let label = program.functions[import as usize].label();
    Finding {
        kind: FindingKind::ReachesImport,
        place: Place::of(program, from as usize, None),
        message: format!("calls from here reach {label}"),
        witness: call_steps(program, calls, &path.unwrap_or_default()),
    }
}

fn call_steps(program: &Program, calls: &Calls, path: &[u32]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut through = None;
    for node in path {
        if *node as usize >= calls.functions {
            through = Some(calls.label(program, *node));
            continue;
        }
        let what = match (steps.is_empty(), through.take()) {
            (true, _) => "begins".to_owned(),
            (false, None) => "is called".to_owned(),
            (false, Some(dispatch)) => format!("is called, {dispatch}"),
        };
        let place = Place::of(program, *node as usize, None);
        steps.push(Step { place, what });
    }
    steps
}

/// Figures of points-to.
fn points_to_report((found, total_ns): &(PointsTo, u64)) -> AnalysisReport {
    let choices = || found.choices.iter();
    let targets = |choice: &Choice| choice.targets.as_ref().map(Vec::len);
    let by_type = |choice: &Choice| choice.by_type as usize;
    let figures = vec![
        figure("calls through tables and by reference", choices().count()),
        figure(
            "calls whose targets are known",
            choices().filter_map(targets).count(),
        ),
        figure(
            "targets of all these calls by type",
            choices().map(by_type).sum(),
        ),
        figure(
            "targets of all these calls by points-to",
            choices()
                .map(|choice| targets(choice).unwrap_or(by_type(choice)))
                .sum(),
        ),
        figure("values that choose them", found.values),
        figure("rounds", found.rounds as usize),
    ];
    AnalysisReport {
        name: "points-to",
        figures,
        facts: found.facts,
        work: found.stats,
        total_ns: *total_ns,
    }
}
