//! Analyses on the graphs of the table: `mega` against `launches` by device time and against the
//! CPU by wall time; and the CPU backend alone.

use super::BenchError;
use super::graphs::{self, Spec, five_sources};
use super::peers;
use super::row::{Baseline, Clock, Figure, Floor, Row, Unit};
use super::section::Section;
use super::setting::Setting;
use super::timing::{self, Done};
use seawall::analysis::{
    AnalysisKind, AnalysisOutput, Built, Case as Asked, End, Question, Ranking,
};
use seawall::backend::cpu::available_threads;
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::run::RunError;
use std::num::NonZeroUsize;
use std::time::Instant;

/// Iterations of a ranking, one of which is reported.
const RANKINGS: u32 = 20;

/// Largest graph on which slow oracles run, edges.
const ORACLE_EDGES: u32 = 20_000_000;

/// Largest relative difference between the ranks of two executors.
const RANK_TOLERANCE: f32 = 1e-4;

/// An analysis on a graph, with its floor in milliseconds.
#[derive(Clone, Copy)]
struct Case {
    analysis: AnalysisKind,
    spec: Spec,
    floor_ms: Option<f64>,
    /// Whether the time of one iteration is reported, and not the whole run.
    by_iteration: bool,
    /// Whether its sequential implementation ends in reasonable time on any graph.
    has_quick_oracle: bool,
}

const fn case(analysis: AnalysisKind, spec: Spec, floor_ms: f64) -> Case {
    Case {
        analysis,
        spec,
        floor_ms: Some(floor_ms),
        by_iteration: false,
        has_quick_oracle: false,
    }
}

/// A case that is checked on any graph.
const fn checked(analysis: AnalysisKind, spec: Spec, floor_ms: f64) -> Case {
    Case {
        has_quick_oracle: true,
        ..case(analysis, spec, floor_ms)
    }
}

const fn ranking(spec: Spec, floor_ms: f64) -> Case {
    Case {
        by_iteration: true,
        ..case(AnalysisKind::Pagerank, spec, floor_ms)
    }
}

const fn open(analysis: AnalysisKind, spec: Spec) -> Case {
    Case {
        floor_ms: None,
        ..case(analysis, spec, 0.0)
    }
}

const BFS: [Case; 5] = [
    checked(AnalysisKind::Bfs, graphs::RMAT, 1.5),
    checked(AnalysisKind::Bfs, graphs::UNIFORM, 1.8),
    checked(AnalysisKind::Bfs, graphs::GRID, 11.0),
    checked(AnalysisKind::Bfs, graphs::CHAIN, 85.0),
    checked(AnalysisKind::Bfs, graphs::SMALL_GRID, 2.5),
];
const SSSP: [Case; 3] = [
    case(AnalysisKind::Sssp, graphs::RMAT, 5.0),
    case(AnalysisKind::Sssp, graphs::UNIFORM, 12.0),
    case(AnalysisKind::Sssp, graphs::GRID, 60.0),
];
const PAGERANK: [Case; 3] = [
    ranking(graphs::RMAT, 0.7),
    ranking(graphs::UNIFORM, 0.8),
    ranking(graphs::GRID, 0.099),
];
const CC: [Case; 3] = [
    checked(AnalysisKind::Cc, graphs::RMAT, 2.5),
    open(AnalysisKind::Cc, graphs::UNIFORM),
    checked(AnalysisKind::Cc, graphs::GRID, 0.39),
];
/// Totals are held to the best peers, which count each triangle once; counts at every node to one
/// and a half times that.
const TRIANGLES: [Case; 8] = [
    case(AnalysisKind::TriangleTotal, graphs::SMALL_RMAT, 1.06),
    case(AnalysisKind::TriangleTotal, graphs::RMAT, 46.0),
    case(AnalysisKind::TriangleTotal, graphs::UNIFORM, 4.85),
    case(AnalysisKind::TriangleTotal, graphs::GRID, 0.3),
    case(AnalysisKind::Triangles, graphs::SMALL_RMAT, 1.59),
    case(AnalysisKind::Triangles, graphs::RMAT, 69.0),
    case(AnalysisKind::Triangles, graphs::UNIFORM, 7.28),
    case(AnalysisKind::Triangles, graphs::GRID, 0.45),
];
const KCORE: [Case; 3] = [
    open(AnalysisKind::Kcore, graphs::RMAT),
    case(AnalysisKind::Kcore, graphs::UNIFORM, 2.8),
    open(AnalysisKind::Kcore, graphs::GRID),
];
/// Longest time of an analysis of the vocabulary, in times of the best special program.
const TIMES_OF_PEERS: f64 = 3.0;
/// Adds the rows of the section in progress.
pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let cases = match setting.section() {
        Section::Bfs => BFS.to_vec(),
        Section::Sssp => SSSP.to_vec(),
        Section::Pagerank => PAGERANK.to_vec(),
        Section::Cc => CC.to_vec(),
        Section::Triangles => TRIANGLES.to_vec(),
        Section::Kcore => KCORE.to_vec(),
        Section::Vocabulary => Vec::from(
            peers::VOCABULARY
                .map(|(analysis, spec, _, ms)| case(analysis, spec, TIMES_OF_PEERS * ms)),
        ),
        // Held to the GAP suite on 16 threads.
        _ => Vec::from(peers::GAP.map(|(analysis, spec, ms)| match analysis {
            AnalysisKind::Pagerank => ranking(spec, ms),
            AnalysisKind::Sssp => case(analysis, spec, ms),
            _ => checked(analysis, spec, ms),
        })),
    };
    for case in cases {
        measure(setting, case)?;
    }
    Ok(())
}

/// Measures one case from each set of sources.
fn measure(setting: &mut Setting<'_>, case: Case) -> Result<(), BenchError> {
    let name = case.spec.text(setting.quick);
    setting.say(format!("making {name}"));
    let graph = case
        .spec
        .load(setting.quick, case.analysis.reads_weights())?;
    for (sources, from) in source_sets(case, &graph) {
        let set = Set {
            case,
            graph: &graph,
            sources: &sources,
            what: format!("{} {name}{from}", case.analysis),
        };
        // The floor of a deep graph holds for the search from node 0.
        let has_floor = !case.spec.is_deep() || sources == [0] || sources.is_empty();
        let floor = case.floor_ms.filter(|_| has_floor);
        set.measure(setting, floor.map(|ms| Floor::Ns(ms * 1e6)))?;
    }
    Ok(())
}

/// Returns the sets of sources that a case is measured from, with their descriptions.
fn source_sets(case: Case, graph: &Graph) -> Vec<(Vec<u32>, &'static str)> {
    if !case.analysis.takes_sources() {
        return vec![(Vec::new(), "")];
    }
    let five = (five_sources(graph), ", 5 sources");
    if case.spec.is_deep() {
        vec![(vec![0], ", from 0"), five]
    } else {
        vec![five]
    }
}

struct Set<'g> {
    case: Case,
    graph: &'g Graph,
    sources: &'g [u32],
    what: String,
}

impl Set<'_> {
    fn measure(&self, setting: &mut Setting<'_>, floor: Option<Floor>) -> Result<(), BenchError> {
        let all = timing::cpu(setting.threads);
        let device = setting.gpu.as_ref().map(|limits| limits.ordinal);
        match device {
            Some(device) if setting.section() != Section::Cpu => {
                let mega = self.run(setting, Machine::gpu(Executor::Mega, device))?;
                let launches = self.run(setting, Machine::gpu(Executor::Launches, device))?;
                let cpu = self.run(setting, all)?;
                self.compare(setting, [&mega, &launches]);
                self.compare(setting, [&mega, &cpu]);
                self.check(setting, &mega);
                let row = self.row(&mega, launches.beside(Clock::Device), Clock::Device);
                setting.push(row.with_floor(floor));
                setting.push(self.row(&mega, cpu.beside(Clock::Wall), Clock::Wall));
                self.push_first_run(setting, &mega, Clock::Device);
            }
            _ => {
                let floor = floor.filter(|_| setting.section() == Section::Cpu);
                let cpu = self.run(setting, all)?;
                let one = self.run(setting, timing::cpu(NonZeroUsize::MIN))?;
                self.compare(setting, [&cpu, &one]);
                let queue = self.check(setting, &cpu);
                let row = self.row(&cpu, one.beside(Clock::Wall), Clock::Wall);
                setting.push(row.with_floor(floor));
                self.push_first_run(setting, &cpu, Clock::Wall);
                if let Some(ns) = queue {
                    let name = match self.sources.len() {
                        0 | 1 => "plain sequential",
                        _ => "plain sequential, first source",
                    };
                    let plain = Baseline::Measured(Figure::new(name, ns));
                    setting.push(self.row(&cpu, plain, Clock::Wall));
                }
            }
        }
        Ok(())
    }

    fn question(&self, sources: Vec<u32>) -> Question {
        let mut question = Question::new(sources);
        if self.case.by_iteration {
            question.max_iterations = RANKINGS;
            question.ranking = Ranking {
                tolerance: 0.0,
                ..Ranking::default()
            };
        }
        question
    }

    fn build(&self, sources: &[u32], machine: &Machine) -> Result<Built, BenchError> {
        let mut question = self.question(sources.to_vec());
        question.warps = machine.executor.is_some_and(Executor::is_on_gpu);
        let threads = machine.threads.unwrap_or_else(available_threads).get();
        question.threads = (!question.warps).then_some(threads as u32);
        let built = self.case.analysis.definition().build(self.graph, &question);
        Ok(built.map_err(RunError::from)?)
    }

    /// Times each source on `machine`.
    fn run(&self, setting: &mut Setting<'_>, machine: Machine) -> Result<Done, BenchError> {
        setting.say(format!("{}: {}", self.what, timing::name(&machine)));
        // Analyses without sources run once.
        let starts: Vec<Vec<u32>> = match self.sources {
            [] => vec![Vec::new()],
            sources => sources.iter().map(|source| vec![*source]).collect(),
        };
        let build = |start: &[u32]| self.build(start, &machine);
        let mut done = timing::each(&machine, self.graph, setting.quick, &starts, build)?;
        if self.case.by_iteration {
            done.times = done.times.share(done.times.iterations.max(1));
        }
        Ok(done)
    }

    /// Adds a row for the first run of a loaded program, if only that one has what depends on the
    /// graph alone. The other rows are of later runs.
    fn push_first_run(&self, setting: &mut Setting<'_>, done: &Done, clock: Clock) {
        let Some(first_ns) = done.first_ns else {
            return;
        };
        let first = Figure::new(done.name.clone(), first_ns);
        let mut later = done.figure(clock);
        later.name = "later runs".to_owned();
        let row = Row::new(
            format!("{}, first run", self.what),
            clock,
            first,
            Baseline::Measured(later),
        );
        setting.push(row.shown_in(Unit::Milliseconds));
    }

    fn row(&self, ours: &Done, baseline: Baseline, clock: Clock) -> Row {
        Row::new(self.what.clone(), clock, ours.figure(clock), baseline)
            .shown_in(Unit::Milliseconds)
    }

    /// Records where two machines disagree.
    fn compare(&self, setting: &mut Setting<'_>, [ours, other]: [&Done; 2]) {
        for (at, (left, right)) in ours.columns.iter().zip(&other.columns).enumerate() {
            if !same(left, right) {
                let source = self.source_text(at);
                let (ours, other) = (&ours.name, &other.name);
                setting.differs(format!("{}{source}: {ours} and {other} differ", self.what));
            }
        }
    }

    fn source_text(&self, at: usize) -> String {
        let source = self.sources.get(at);
        source.map_or_else(String::new, |source| format!(", source {source}"))
    }

    /// Compares the first source's result with the sequential implementation, where that ends in
    /// reasonable time. Returns its time, nanoseconds, unless the case reports a single iteration.
    fn check(&self, setting: &mut Setting<'_>, ours: &Done) -> Option<f64> {
        if !self.case.has_quick_oracle && self.graph.edges() > ORACLE_EDGES {
            return None;
        }
        setting.say(format!("{}: plain sequential", self.what));
        let sources = self.sources.get(..1).unwrap_or_default();
        let by_iteration = self.case.by_iteration;
        let asked = Asked {
            graph: self.graph,
            question: &self.question(sources.to_vec()),
            end: End {
                iterations: ours.times.iterations,
                converged: !by_iteration,
            },
        };
        let found = AnalysisOutput {
            values: ours.columns.first()?,
            parents: None,
        };
        let started = Instant::now();
        let is_right = self.case.analysis.definition().check(&asked, found);
        let elapsed = started.elapsed().as_nanos() as f64;
        if !is_right {
            self.is_wrong(setting, ours);
        }
        (!by_iteration).then_some(elapsed)
    }

    fn is_wrong(&self, setting: &mut Setting<'_>, ours: &Done) {
        let name = &ours.name;
        setting.differs(format!(
            "{}{}: {name} differs from the plain sequential implementation",
            self.what,
            self.source_text(0)
        ));
    }
}

/// Tells whether two columns agree: words exactly, ranks up to rounding.
pub(super) fn same(left: &Column, right: &Column) -> bool {
    match (left, right) {
        (Column::F32(left), Column::F32(right)) => {
            let close =
                |(a, b): (&f32, &f32)| (a - b).abs() <= RANK_TOLERANCE * a.abs().max(b.abs());
            left.len() == right.len() && left.iter().zip(right).all(close)
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_may_differ_by_rounding_and_words_may_not() {
        let ranks = |value: f32| Column::F32(vec![0.25, value]);
        assert!(same(&ranks(0.5), &ranks(0.500_001)));
        assert!(!same(&ranks(0.5), &ranks(0.51)));
        assert!(!same(&ranks(0.5), &ranks(f32::NAN)));
        assert!(!same(&Column::U32(vec![1]), &Column::U32(vec![2])));
    }
}
