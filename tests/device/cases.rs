//! Random graphs, each with many programs in one session.

use crate::tally::Tally;
use seawall::backend::RunLimits;
use seawall::backend::cuda::{CudaOptions, CudaSession, Executor, LoopNodes};
use seawall::executor::Jit;
use seawall::graph::Graph;
use seawall::program::SliceShape;
use seawall::run::{AnalysisKind, Detail, RunRequest};
use seawall_core::abi::search::SearchPolicy;
use seawall_oracles::composed::{COMPOSED, run_composed};
use seawall_oracles::draw::{self, Limits, UNLIMITED};
use seawall_oracles::graphs::{self, EdgeList, SHAPES};
use seawall_oracles::harness::{ANALYSES, RunOptions, run_analysis, run_script};
use seawall_oracles::paths::{Weights, run_paths};
use seawall_oracles::random::Random;
use seawall_oracles::ranks::{run_ranks, run_sliced_ranks, run_slices};
use seawall_oracles::straight;

/// One drawn case.
struct Case {
    seed: u64,
    list: EdgeList,
    sources: Vec<u32>,
    options: CudaOptions,
    scripts: u32,
    words: u32,
    quick: bool,
}

impl Case {
    fn draw(seed: u64, quick: bool) -> Self {
        let mut random = Random::new(seed);
        let shape = SHAPES[(seed % SHAPES.len() as u64) as usize];
        let sizes: &[u32] = if quick {
            &[0, 1, 33, 120]
        } else {
            &[0, 1, 33, 1000, 5000, 5000, 40_000, 200_000]
        };
        let size = random.pick(sizes).unwrap_or(1);
        let nodes = random.below(size + 1).max(size / 2);
        let undirected = random.once_in(2);
        let list = graphs::draw(shape, nodes, undirected, &mut random);
        let sources = graphs::draw_sources(list.nodes, &mut random);
        let options = shape_of_grid(quick, &mut random);
        Self {
            seed,
            sources,
            options,
            // The driver takes seconds for the machine code of a program, for each of its packings.
            scripts: match (options.jit, quick) {
                (Jit::Always, _) => 1,
                (_, true) => 3,
                _ => 12,
            },
            words: if quick { 400 } else { 30_000 },
            list,
            quick,
        }
    }

    fn asked(&self, analysis: AnalysisKind) -> RunOptions {
        RunOptions {
            analysis,
            sources: self.sources.clone(),
            max_levels: UNLIMITED,
            policy: SearchPolicy::default(),
            incoming: false,
            detail: Detail::Plain,
        }
    }

    fn repeat(&self) -> String {
        let CudaOptions {
            blocks,
            lanes,
            cluster,
            tiles,
            loops,
            jit,
            ..
        } = self.options;
        format!(
            "SEED={}{} {} nodes, {} edges, blocks {blocks:?}, lanes {lanes:?}, cluster {cluster:?}, tiles {tiles:?}, loops {loops:?}, jit {jit:?}",
            self.seed,
            if self.quick { " --quick" } else { "" },
            self.list.nodes,
            self.list.edges.len()
        )
    }
}

/// The default grid most of the time, else a smaller one.
fn shape_of_grid(quick: bool, random: &mut Random) -> CudaOptions {
    let limits = RunLimits {
        time_budget_ns: if quick {
            30_000_000_000
        } else {
            10_000_000_000
        },
    };
    let mut options = CudaOptions {
        limits,
        ..CudaOptions::default()
    };
    if quick {
        options.blocks = random.pick(&[1, 2, 5]);
        options.lanes = random.pick(&[32, 96, 256]);
        options.cluster = random.pick(&[1, 2, 4]);
    } else if random.once_in(2) {
        options.blocks = random.pick(&[1, 2, 3, 60, 132]);
        options.lanes = random.pick(&[32, 64, 160, 256, 512, 1024]);
        options.cluster = random.pick(&[1, 2, 4, 8, 16]);
    }
    if random.once_in(2) {
        options.tiles = random.pick(&[true, false]);
    }
    options.jit = random.pick(&[Jit::Always, Jit::Never]).unwrap_or_default();
    // `compute-sanitizer` does not follow conditional nodes.
    if random.once_in(2) || quick {
        options.loops = Some(LoopNodes::Unrolled);
    }
    options
}

/// Draws the case of a seed and runs all of its checks on `executor`.
pub(crate) fn run(
    executor: Executor,
    name: &'static str,
    seed: u64,
    quick: bool,
    tally: &mut Tally,
) {
    let case = Case::draw(seed, quick);
    let opened = case.list.graph().map_err(|error| error.to_string());
    let graph = match opened {
        Ok(graph) => graph,
        Err(error) => return tally.check("graph", name, case.repeat(), || Err(error)),
    };
    let mut session = match CudaSession::open(executor, &graph, case.options) {
        Ok(session) => session,
        Err(error) => {
            return tally.check("session", name, case.repeat(), || Err(error.to_string()));
        }
    };
    analyses(&mut session, &graph, &case, name, tally);
    ranks(&mut session, &graph, &case, name, tally);
    details(&mut session, &graph, &case, name, tally);
    topologies(&mut session, &graph, &case, name, tally);
    limits(&mut session, &graph, &case, name, tally);
    scripts(&mut session, &case, name, tally);
    drop(session);
    composed(executor, &case, name, tally);
    paths(executor, &case, name, tally);
}

/// Analyses of code, on the same edges in both directions, with weights.
fn composed(executor: Executor, case: &Case, name: &'static str, tally: &mut Tally) {
    let mut random = Random::new(case.seed);
    let heaviest = random.pick(&[1, 7, 1000]).unwrap_or(1);
    let weigh = |(from, to): &(u32, u32)| (*from, *to, random.below(heaviest));
    let edges: Vec<_> = case.list.edges.iter().map(weigh).collect();
    let graphs = [true, false].map(|both| {
        let graph = Graph::from_weighted_edges(case.list.nodes, &edges, both);
        graph.map_err(|error| error.to_string())
    });
    for (number, kind) in (0_u64..).zip(COMPOSED) {
        for (graph, both) in graphs.iter().zip([true, false]) {
            // The driver takes seconds for the machine code of each.
            let is_left_out =
                case.options.jit == Jit::Always && !(case.seed + number).is_multiple_of(4);
            if kind.is_undirected() && !both || case.list.nodes == 0 || is_left_out {
                continue;
            }
            let what = format!("{kind}, both directions {both}, {}", case.repeat());
            tally.check("analyses of code, twice", name, what, || {
                let graph = graph.as_ref().map_err(Clone::clone)?;
                let sources = &case.sources[..case.sources.len().min(3)];
                let request = RunRequest::new(kind, sources.to_vec());
                let form = request.form().map_err(|e| e.to_string())?;
                let graph = graph.form(form).map_err(|e| e.to_string())?;
                let mut session =
                    CudaSession::open(executor, graph, case.options).map_err(|e| e.to_string())?;
                (0..2).try_for_each(|_| run_composed(&mut session, graph, kind, sources))
            });
        }
    }
}

/// Shortest paths with weights drawn from all kinds, whole ones in 64 bits too.
fn paths(executor: Executor, case: &Case, name: &'static str, tally: &mut Tally) {
    // The oracle relaxes every edge until nothing changes.
    if case.list.nodes > 5000 {
        return;
    }
    let mut random = Random::new(case.seed);
    for which in 0..3 {
        let weights = Weights::draw(case.list.edges.len(), &mut random);
        let what = format!("weights {which}, {}", case.repeat());
        tally.check("paths of every kind", name, what, || {
            let graph = weights.graph(&case.list).map_err(|e| e.to_string())?;
            let mut session =
                CudaSession::open(executor, &graph, case.options).map_err(|e| e.to_string())?;
            run_paths(&mut session, &graph, &case.list, &weights, &case.sources)
        });
    }
}

fn analyses(
    session: &mut CudaSession<'_>,
    graph: &Graph,
    case: &Case,
    name: &'static str,
    tally: &mut Tally,
) {
    for analysis in ANALYSES {
        tally.check("analyses, three runs each", name, case.repeat(), || {
            run_analysis(session, graph, &case.list, &case.asked(analysis), 3)
        });
    }
}

/// Some two slices of a graph of `nodes` nodes, and some sixteen: each has a word for every node.
fn shapes_of_slices(nodes: u32) -> [SliceShape; 2] {
    let log2 = nodes.max(1).ilog2();
    [(log2, 5), (log2.saturating_sub(3), 7)].map(|(width_log2, part_log2)| SliceShape {
        width_log2,
        part_log2,
    })
}

/// Ranks, whose sums may be gathered by rows or by tiles of them.
fn ranks(
    session: &mut CudaSession<'_>,
    graph: &Graph,
    case: &Case,
    name: &'static str,
    tally: &mut Tally,
) {
    if graph.nodes() > 0 {
        tally.check("ranks, three runs each", name, case.repeat(), || {
            run_ranks(session, graph, 12, 3)
        });
        tally.check("ranks in slices, twice each", name, case.repeat(), || {
            let shapes = shapes_of_slices(graph.nodes());
            shapes.into_iter().try_for_each(|shape| {
                run_slices(session, graph, shape, 1)?;
                run_sliced_ranks(session, graph, shape, 2)
            })
        });
    }
}

/// Triangles where the graph is undirected, parents, and sets of sources, each
/// also cut off by a limit.
fn details(
    session: &mut CudaSession<'_>,
    graph: &Graph,
    case: &Case,
    name: &'static str,
    tally: &mut Tally,
) {
    if case.list.undirected {
        for analysis in [AnalysisKind::Triangles, AnalysisKind::TriangleTotal] {
            let asked = case.asked(analysis);
            tally.check("triangles, three runs each", name, case.repeat(), || {
                run_analysis(session, graph, &case.list, &asked, 3)
            });
        }
    }
    for max_levels in [UNLIMITED, 3] {
        let parents = RunOptions {
            max_levels,
            detail: Detail::Parents,
            ..case.asked(AnalysisKind::Bfs)
        };
        tally.check("parents, three runs each", name, case.repeat(), || {
            run_analysis(session, graph, &case.list, &parents, 3)
        });
        // The oracle searches once per source.
        let most = 4_000_000 / (case.list.edges.len() + 1);
        let sources = case.sources.iter().take(most.clamp(1, 150));
        let sets = RunOptions {
            sources: sources.copied().collect(),
            max_levels,
            detail: Detail::EachSource,
            ..case.asked(AnalysisKind::Reach)
        };
        tally.check(
            "sets of sources, three runs each",
            name,
            case.repeat(),
            || run_analysis(session, graph, &case.list, &sets, 3),
        );
    }
}

fn topologies(
    session: &mut CudaSession<'_>,
    graph: &Graph,
    case: &Case,
    name: &'static str,
    tally: &mut Tally,
) {
    for forced in 0..=5_u32 {
        // A forced sweep visits every node per level: on a long path this takes minutes, and tests
        // no more than on a short one.
        if (2..=4).contains(&forced) && case.list.nodes > 20_000 {
            continue;
        }
        let wide = forced.is_multiple_of(2);
        let default = SearchPolicy::default();
        let policy = SearchPolicy {
            forced,
            narrow_nodes: if wide { 0 } else { default.narrow_nodes },
            narrow_exit_nodes: if wide { 0 } else { default.narrow_exit_nodes },
            ..default
        };
        let analysis = if forced < 3 {
            AnalysisKind::Reach
        } else {
            AnalysisKind::Bfs
        };
        let asked = RunOptions {
            policy,
            incoming: true,
            ..case.asked(analysis)
        };
        tally.check(
            "forced topologies",
            name,
            format!("topology {forced}, {}", case.repeat()),
            || run_analysis(session, graph, &case.list, &asked, 1),
        );
    }
    for (narrow_nodes, narrow_edges) in [(0, 32_768), (1, 16), (4, 0), (64, 300)] {
        let policy = SearchPolicy {
            narrow_nodes,
            narrow_exit_nodes: narrow_nodes + 3,
            narrow_edges,
            pull_edges_min: narrow_edges,
            ..SearchPolicy::default()
        };
        let asked = RunOptions {
            policy,
            incoming: true,
            ..case.asked(AnalysisKind::Bfs)
        };
        tally.check(
            "narrow thresholds",
            name,
            format!("narrow {narrow_nodes}, {}", case.repeat()),
            || run_analysis(session, graph, &case.list, &asked, 1),
        );
    }
}

fn limits(
    session: &mut CudaSession<'_>,
    graph: &Graph,
    case: &Case,
    name: &'static str,
    tally: &mut Tally,
) {
    for (max_levels, forced) in (0..6).zip([u32::MAX, 3, 2, 1, 5, 0]) {
        let asked = RunOptions {
            max_levels,
            policy: SearchPolicy {
                forced,
                ..SearchPolicy::default()
            },
            ..case.asked(AnalysisKind::Bfs)
        };
        tally.check(
            "level limits",
            name,
            format!("{max_levels} levels, {}", case.repeat()),
            || run_analysis(session, graph, &case.list, &asked, 1),
        );
    }
}

/// Several programs in one session, so that each runs after another's data.
fn scripts(session: &mut CudaSession<'_>, case: &Case, name: &'static str, tally: &mut Tally) {
    // The interpreter and the scatter wave are slow; a few thousand nodes already distribute every
    // wave over many blocks.
    if case.list.nodes > 20_000 {
        return;
    }
    let mut random = Random::new(case.seed);
    for which in 0..case.scripts {
        let limits = Limits {
            nodes: case.list.nodes,
            waves: 1 + random.below(if case.options.jit == Jit::Always {
                4
            } else {
                20
            }),
            words: case.words,
        };
        let script = draw::draw(limits, &mut random);
        tally.check(
            "programs, two packings",
            name,
            format!("program {which}, {}", case.repeat()),
            || run_script(session, &case.list, &script, 2),
        );
    }
    let waves = 1 + random.below(200);
    let words = 1 + random.below(6000);
    let script = straight::draw(waves, words, &mut random);
    tally.check(
        "operations on words, two packings",
        name,
        format!("{waves} waves of {words} words, {}", case.repeat()),
        || run_script(session, &case.list, &script, 2),
    );
}
