//! Graphs in the making: generators, rows from a list of edges, and text.
//!
//! All threads are compared with one, by wall time, and the graphs are compared too: they do not
//! depend on the number of threads.

use super::BenchError;
use super::graphs::{self, Spec};
use super::row::{Amount, Baseline, Clock, Figure, Row, Unit};
use super::setting::Setting;
use super::timing::{self, Times};
use rayon::{ThreadPool, ThreadPoolBuilder};
use seawall::graph::{Graph, GraphError, LoadOptions, load_reader, save};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Graph that is written as text and as a list of edges.
const LISTED: Spec = Spec {
    full: "gen:rmat:20:16",
    quick: "gen:rmat:11:8",
};

pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let all = pool(setting.threads)?;
    let one = pool(NonZeroUsize::MIN)?;
    let pools = [&all, &one];
    let quick = setting.quick;
    for spec in [graphs::RMAT, graphs::UNIFORM, graphs::GRID] {
        let name = spec.text(quick);
        let job = Job {
            what: format!("{name}, generated"),
            bytes: None,
        };
        job.measure(setting, pools, || spec.load(quick, false))?;
    }
    let graph = LISTED.load(quick, false)?;
    let name = LISTED.text(quick);
    let edges: Vec<(u32, u32)> = listed(&graph).collect();
    let job = Job {
        what: format!("rows of {name} from its edges"),
        bytes: None,
    };
    let nodes = graph.nodes();
    job.measure(setting, pools, || {
        Ok(Graph::from_edges(nodes, &edges, true)?)
    })?;
    for (suffix, title) in [
        ("el", "edge list"),
        ("gr", "DIMACS"),
        ("mtx", "Matrix Market"),
    ] {
        let text = text(&graph, suffix)?;
        let job = Job {
            what: format!("{name}, read as {title}"),
            bytes: Some(text.len() as u64),
        };
        let file = format!("graph.{suffix}");
        job.measure(setting, pools, || {
            let text = std::io::Cursor::new(Shared(Arc::clone(&text)));
            Ok(load_reader(&file, text, &LoadOptions::default())?.graph)
        })?;
    }
    Ok(())
}

fn pool(threads: NonZeroUsize) -> Result<ThreadPool, BenchError> {
    let pool = ThreadPoolBuilder::new().num_threads(threads.get()).build();
    let refused = |error: rayon::ThreadPoolBuildError| GraphError::Threads {
        reason: error.to_string(),
    };
    Ok(pool.map_err(refused)?)
}

/// Each undirected edge once, with its larger end first.
fn listed(graph: &Graph) -> impl Iterator<Item = (u32, u32)> {
    (0..graph.nodes()).flat_map(|from| {
        let row = graph.neighbours(from).iter();
        row.filter(move |to| **to < from).map(move |to| (from, *to))
    })
}

/// Bytes that several readers share.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn text(graph: &Graph, suffix: &str) -> Result<Arc<Vec<u8>>, BenchError> {
    let fail = |source| GraphError::Io {
        file: "a temporary file".to_owned(),
        action: "write",
        source,
    };
    let folder = tempfile::tempdir().map_err(fail)?;
    let path = folder.path().join(format!("graph.{suffix}"));
    save(graph, &path, None)?;
    Ok(Arc::new(std::fs::read(&path).map_err(fail)?))
}

/// A graph to make.
struct Job {
    what: String,
    /// Bytes that are read; edges are counted where none are.
    bytes: Option<u64>,
}

impl Job {
    fn measure(
        &self,
        setting: &mut Setting<'_>,
        [all, one]: [&ThreadPool; 2],
        make: impl Fn() -> Result<Graph, BenchError> + Sync,
    ) -> Result<(), BenchError> {
        let (times, graph) = self.times(setting, all, &make)?;
        let (alone, same) = self.times(setting, one, &make)?;
        if graph.layout_hash() != same.layout_hash() {
            setting.differs(format!("{}: the graph depends on the threads", self.what));
        }
        let figure = |threads: NonZeroUsize, times: Times| {
            Figure::new(timing::name(&timing::cpu(threads)), times.wall_ns)
        };
        let beside = Baseline::Measured(figure(NonZeroUsize::MIN, alone));
        let ours = figure(setting.threads, times);
        let amount = match self.bytes {
            Some(bytes) => Amount::Bytes(bytes),
            None => Amount::Edges(u64::from(graph.edges())),
        };
        let row = Row::new(self.what.clone(), Clock::Wall, ours, beside);
        setting.push(row.shown_in(Unit::Milliseconds).of(amount));
        Ok(())
    }

    fn times(
        &self,
        setting: &mut Setting<'_>,
        pool: &ThreadPool,
        make: &(impl Fn() -> Result<Graph, BenchError> + Sync),
    ) -> Result<(Times, Graph), BenchError> {
        let threads = pool.current_num_threads();
        setting.say(format!("{}: {threads} threads", self.what));
        let mut last = None;
        let times = timing::calls(
            || {
                // The last graph is dropped first, so that two are never in memory.
                drop(last.take());
                last = Some(pool.install(make)?);
                Ok::<_, BenchError>((0, 0))
            },
            setting.quick,
        )?;
        match last {
            Some(graph) => Ok((times, graph)),
            None => Ok((times, make()?)),
        }
    }
}
