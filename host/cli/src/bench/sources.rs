//! Closeness of many sources in one run, against as many searches one after the other.

use super::BenchError;
use super::graphs::{self, five_sources, many_sources};
use super::row::{Amount, Baseline, Clock, Floor, Row, Unit};
use super::setting::Setting;
use super::timing::{self, Done, Times};
use seawall::analysis::{AnalysisKind, Question, oracle};
use seawall::executor::{Executor, Machine};
use seawall::graph::Graph;
use seawall::outcome::Column;
use seawall::run::RunError;
use std::num::NonZeroUsize;

/// Sources of a run: at full size, and with `--quick`.
const COUNTS: [u32; 2] = [1024, 64];

/// Largest share of the time of searches on the same GPU, and of searches on all threads.
const OF_SEARCHES: Floor = Floor::Ratio(0.2);
const OF_THREADS: Floor = Floor::Ratio(0.01);

/// Adds one row against searches on the same machine, and on a GPU one against searches on all
/// threads and one against the same run there.
pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let spec = graphs::RMAT;
    let name = spec.text(setting.quick);
    setting.say(format!("making {name}"));
    let graph = spec.load(setting.quick, false)?;
    let sources = many_sources(&graph, COUNTS[usize::from(setting.quick)]);
    let work = Work {
        what: format!("closeness {name}, {} sources", sources.len()),
        amount: Amount::Edges(traversed(&graph, &sources)),
        graph: &graph,
        sources: &sources,
    };
    let all = timing::cpu(setting.threads);
    let Some(device) = setting.gpu.as_ref().map(|limits| limits.ordinal) else {
        let cpu = work.run(setting, all)?;
        let one = work.run(setting, timing::cpu(NonZeroUsize::MIN))?;
        work.compare(setting, [&cpu, &one]);
        let searches = work.searches(setting, all)?;
        let row = work.row(&cpu, searches.beside(Clock::Wall), Clock::Wall);
        setting.push(row);
        return Ok(());
    };
    let gpu = Machine::gpu(Executor::Mega, device);
    let mega = work.run(setting, gpu)?;
    let cpu = work.run(setting, all)?;
    work.compare(setting, [&mega, &cpu]);
    let searches = work.searches(setting, gpu)?;
    let row = work.row(&mega, searches.beside(Clock::Device), Clock::Device);
    setting.push(row.with_floor(Some(OF_SEARCHES)));
    let searches = work.searches(setting, all)?;
    let row = work.row(&mega, searches.beside(Clock::Wall), Clock::Wall);
    setting.push(row.with_floor(Some(OF_THREADS)));
    setting.push(work.row(&mega, cpu.beside(Clock::Wall), Clock::Wall));
    Ok(())
}

/// Edges of the first source's component for each source in it.
fn traversed(graph: &Graph, sources: &[u32]) -> u64 {
    let levels = oracle::levels(graph, sources.get(..1).unwrap_or_default(), u32::MAX - 1);
    let is_in = |node: u32| {
        let level = levels.get(node as usize);
        level.is_some_and(|level| *level != u32::MAX)
    };
    let nodes = (0..graph.nodes()).filter(|node| is_in(*node));
    let edges: u64 = nodes.map(|node| graph.neighbours(node).len() as u64).sum();
    edges * sources.iter().filter(|source| is_in(**source)).count() as u64
}

struct Work<'g> {
    what: String,
    amount: Amount,
    graph: &'g Graph,
    sources: &'g [u32],
}

impl Work<'_> {
    fn run(&self, setting: &mut Setting<'_>, machine: Machine) -> Result<Done, BenchError> {
        setting.say(format!("{}: {}", self.what, timing::name(&machine)));
        let from = [self.sources.to_vec()];
        self.time(setting, machine, AnalysisKind::Closeness, &from)
    }

    /// As many searches, by the median of five.
    fn searches(&self, setting: &mut Setting<'_>, machine: Machine) -> Result<Done, BenchError> {
        setting.say(format!("{}: searches", self.what));
        let five = five_sources(self.graph);
        let starts: Vec<_> = five.into_iter().map(|source| vec![source]).collect();
        let done = self.time(setting, machine, AnalysisKind::Bfs, &starts)?;
        let count = self.sources.len();
        // One search is that share of all.
        let part = 1.0 / count as f64;
        let times = Times {
            device_ns: done.times.device_ns.share(part),
            wall_ns: done.times.wall_ns.share(part),
            ..done.times
        };
        let name = format!("{}, {count} searches", done.name);
        Ok(Done {
            name,
            times,
            ..done
        })
    }

    /// Times of an analysis from each set of sources.
    fn time(
        &self,
        setting: &Setting<'_>,
        machine: Machine,
        analysis: AnalysisKind,
        starts: &[Vec<u32>],
    ) -> Result<Done, BenchError> {
        let build = |start: &[u32]| {
            let question = Question::new(start.to_vec());
            let built = analysis.definition().build(self.graph, &question);
            Ok(built.map_err(RunError::from)?)
        };
        timing::each(&machine, self.graph, setting.quick, starts, build)
    }

    fn row(&self, ours: &Done, baseline: Baseline, clock: Clock) -> Row {
        let row = Row::new(self.what.clone(), clock, ours.figure(clock), baseline);
        row.shown_in(Unit::Milliseconds).of(self.amount)
    }

    /// Records where two machines disagree.
    fn compare(&self, setting: &mut Setting<'_>, [ours, other]: [&Done; 2]) {
        if !ours
            .columns
            .iter()
            .zip(&other.columns)
            .all(|(left, right)| is_same(left, right))
        {
            let (ours, other) = (&ours.name, &other.name);
            setting.differs(format!("{}: {ours} and {other} differ", self.what));
        }
    }
}

/// Whether two columns have the same bits: nodes that are no sources have no number, which equals
/// nothing.
fn is_same(left: &Column, right: &Column) -> bool {
    match (left, right) {
        (Column::F32(left), Column::F32(right)) => {
            let bits = |value: &f32| value.to_bits();
            left.iter().map(bits).eq(right.iter().map(bits))
        }
        _ => left == right,
    }
}
