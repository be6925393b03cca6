//! Runs whose devices are ranks that a carrier joins have the columns of runs on one device; a rank
//! that refuses, differs or is lost ends all. The ranks are threads here.

use crate::multi::graph;
use proptest::prelude::*;
use seawall::backend::{BackendError, Canceller};
use seawall::graph::disk::SwgFile;
use seawall::graph::{
    Form, Generated, Graph, LoadOptions, Parallel, TextFile, WeightChoice, load, save,
};
use seawall::multi::{
    ANALYSES, Carrier, Devices, GraphInParts, PartSource, execute_on_ranks, execute_with,
    refuse_on_ranks,
};
use seawall::outcome::RunOutcome;
use seawall::run::{self, AnalysisKind, Machine, RunError, RunRequest};
use seawall_oracles::carriers::{Threads, each};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

type Answer = Result<RunOutcome, RunError>;

fn execute(graph: &Graph, request: &RunRequest, rank: &mut Threads, threads: u32) -> Answer {
    let canceller = Canceller::default();
    execute_on_ranks(graph, request, rank, threads, &canceller, &mut |_| ())
}

fn request(kind: AnalysisKind, sources: &[u32]) -> RunRequest {
    let takes = kind.facts().takes_sources;
    let mut request = RunRequest::new(kind, if takes { sources.to_vec() } else { Vec::new() });
    request.weighted = false;
    request
}

fn compare(graph: &Graph, kind: AnalysisKind, sources: &[u32], ranks: u32, threads: u32) {
    if kind.facts().is_undirected && !graph.is_symmetric() {
        return;
    }
    let mut request = request(kind, sources);
    let one = request.clone().on(Machine::cpu(NonZeroUsize::new(1)));
    let wanted = run::execute(graph, &one).unwrap();
    request.check = true;
    request.repeat = NonZeroU32::new(2).unwrap();
    let found = each(Threads::all(ranks), |rank| {
        execute(graph, &request, rank, threads)
    });
    for (rank, found) in found.into_iter().enumerate() {
        let found = found.unwrap();
        assert_eq!(
            found.values, wanted.values,
            "{kind} on rank {rank} of {ranks}"
        );
        assert_eq!(
            found.reached, wanted.reached,
            "{kind} on rank {rank} of {ranks}"
        );
        assert_eq!(found.converged, wanted.converged, "{kind}");
        assert_eq!(found.checked, (rank == 0).then_some(true), "{kind}");
        let report = found.devices.unwrap();
        assert_eq!(report.count, ranks);
        assert_eq!(report.nodes.len() as u32, ranks);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn random_graphs_have_the_columns_of_one_device(
        graph in graph(),
        ranks in 1..5_u32,
        threads in 1..3_u32,
        sources in prop::collection::btree_set(0..9001_u32, 1..4),
        kind in prop::sample::select(ANALYSES.to_vec()),
    ) {
        let sources: Vec<u32> = sources.into_iter().collect();
        compare(&graph, kind, &sources, ranks, threads);
    }
}

#[test]
fn every_shape_has_the_columns_of_one_device() {
    let leaves = 20_000_u32;
    let edges: Vec<_> = (1..=leaves).map(|leaf| (0, leaf, leaf % 9 + 1)).collect();
    let star = Graph::from_weighted_edges(leaves + 1, &edges, true).unwrap();
    let mut graphs = vec![star];
    for shape in [
        "gen:grid:40",
        "gen:rmat:12:8",
        "gen:rmat-directed:11:8",
        "gen:chain:1",
    ] {
        let graph = load(shape, &LoadOptions::default(), None).unwrap().graph;
        graphs.push(graph.with_drawn_weights(7).unwrap());
    }
    for graph in &graphs {
        for kind in ANALYSES {
            compare(graph, kind, &[0], 3, 1);
        }
    }
    let floats = [(0, 1, 0.5_f32), (1, 2, 0.25), (0, 2, 1.0)];
    let floats = Graph::from_float_edges(3, &floats, true).unwrap();
    compare(&floats, AnalysisKind::Sssp, &[0], 2, 1);
}

/// The parts of a file.
fn of_file(path: &Path) -> PartSource {
    PartSource::File(SwgFile::open(path).unwrap().unwrap())
}

/// Runs on one of the ranks that have parts alone.
fn execute_parts(
    source: PartSource,
    unit_weights: bool,
    request: &RunRequest,
    rank: &mut Threads,
) -> Answer {
    let parts = GraphInParts::on_ranks(source, request, unit_weights, rank)?;
    let parts = parts.expect("ranks take parts");
    let canceller = Canceller::default();
    parts.execute_on_ranks(request, rank, 1, &canceller, &mut |_| ())
}

/// Compares ranks that read their parts of the graph's file with ranks that have the graph.
fn compare_parts(graph: &Graph, kind: AnalysisKind, weighted: bool, ranks: u32) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.swg");
    save(graph, &path, None).unwrap();
    let weights = match weighted {
        true => WeightChoice::Given,
        false => WeightChoice::Unit,
    };
    let options = LoadOptions {
        weights,
        ..LoadOptions::default()
    };
    let whole = load(&path, &options, None).unwrap().graph;
    compare_sources(&whole, &|| of_file(&path), kind, weighted, ranks);
}

/// Compares ranks, and devices, that have parts with those that have the whole graph.
fn compare_sources(
    whole: &Graph,
    source: &(dyn Fn() -> PartSource + Sync),
    kind: AnalysisKind,
    weighted: bool,
    ranks: u32,
) {
    let mut request = request(kind, &[0, 7]);
    request.sources.retain(|source| *source < whole.nodes());
    request.repeat = NonZeroU32::new(2).unwrap();
    let unit_weights = !weighted;
    assert!(GraphInParts::takes(&source(), &request, unit_weights, ranks).unwrap());
    let devices = Devices::simulated(ranks, 1);
    let canceller = Canceller::default();
    let wanted = execute_with(whole, &request, &devices, &canceller, &mut |_| ());
    let wanted_of_ranks = each(Threads::all(ranks), |rank| {
        execute(whole, &request, rank, 1)
    });
    request.check = true;
    let is_text = matches!(source(), PartSource::Text(_));
    if !is_text {
        let parts = GraphInParts::on_devices(source(), unit_weights, ranks);
        let found = parts
            .unwrap()
            .execute(&request, &devices, &canceller, &mut |_| ());
        let what = format!("{kind} on {ranks} devices");
        if let Some([found, wanted]) = same(found, wanted, &what) {
            assert_eq!(found.checked, Some(true), "{what}");
            compare_reports(found, wanted, whole, &what);
        }
    }
    let found = each(Threads::all(ranks), |rank| {
        execute_parts(source(), unit_weights, &request, rank)
    });
    for (rank, (found, wanted)) in found.into_iter().zip(wanted_of_ranks).enumerate() {
        let what = format!("{kind} on rank {rank} of {ranks}");
        let Some([found, wanted]) = same(found, wanted, &what) else {
            continue;
        };
        assert_eq!(found.checked, (rank == 0).then_some(true), "{what}");
        let [report, wanted_report] = [&found, &wanted].map(|outcome| outcome.devices.clone());
        assert_eq!(report.unwrap().graph_bytes.len() as u32, ranks, "{what}");
        let is_of_file = matches!(source(), PartSource::File(_));
        // Weights of 1 are an array of a loaded graph, and none of a part.
        if is_of_file && (weighted || kind != AnalysisKind::Sssp) {
            let found = found.devices.as_ref().map(|report| &report.memory_bytes);
            let wanted = wanted_report.as_ref().map(|report| &report.memory_bytes);
            assert_eq!(found, wanted, "{what}");
        }
        compare_reports(found, wanted, whole, &what);
    }
}

/// Compares two answers, and returns both if they are outcomes.
fn same(found: Answer, wanted: Answer, what: &str) -> Option<[RunOutcome; 2]> {
    let (found, wanted) = match (found, wanted) {
        (Ok(found), Ok(wanted)) => (found, wanted),
        (Err(found), Err(wanted)) => {
            assert_eq!(found.to_string(), wanted.to_string());
            return None;
        }
        (found, wanted) => panic!("{what}: {found:?} and {wanted:?}"),
    };
    assert_eq!(found.values, wanted.values, "{what}");
    assert_eq!(found.edges, wanted.edges, "{what}");
    assert_eq!(found.reached, wanted.reached, "{what}");
    // Rounds of lengths depend on the cut.
    if found.analysis != AnalysisKind::Sssp {
        assert_eq!(found.rounds, wanted.rounds, "{what}");
    }
    assert_eq!(found.answer, wanted.answer, "{what}");
    assert_eq!(found.sources, wanted.sources, "{what}");
    Some([found, wanted])
}

/// Compares the edges of all devices; a generated graph is cut elsewhere than one that was loaded.
fn compare_reports(found: RunOutcome, wanted: RunOutcome, whole: &Graph, what: &str) {
    if whole.loops() + whole.parallel_edges() > 0 {
        return;
    }
    let edges = [found, wanted].map(|outcome| {
        let edges = outcome.devices.unwrap().edges;
        (edges.len(), edges.into_iter().sum::<u64>())
    });
    assert_eq!(edges[0], edges[1], "{what}");
}

/// Analyses whose ranks have a part of the nodes each.
const CUT: [AnalysisKind; 6] = [
    AnalysisKind::Bfs,
    AnalysisKind::Reach,
    AnalysisKind::Cc,
    AnalysisKind::Sssp,
    AnalysisKind::Pagerank,
    AnalysisKind::Kcore,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn parts_of_files_have_the_columns_of_whole_graphs(
        edges in prop::collection::vec((0..4000_u32, 0..4000_u32, 1..9_u32), 1..3000),
        undirected: bool,
        weighted: bool,
        ranks in 1..5_u32,
        kind in prop::sample::select(CUT.to_vec()),
    ) {
        let graph = Graph::from_weighted_edges(4000, &edges, undirected).unwrap();
        let simple = graph.form(Form::simple(Parallel::Least)).unwrap();
        compare_parts(simple, kind, weighted && kind != AnalysisKind::Pagerank, ranks);
    }
}

#[test]
fn float_weights_and_small_files_are_read_in_parts() {
    let floats = [(0, 1, 0.5_f32), (1, 2, 0.25), (0, 8, 1.0)];
    for undirected in [true, false] {
        let floats = Graph::from_float_edges(9, &floats, undirected).unwrap();
        compare_parts(&floats, AnalysisKind::Sssp, true, 2);
    }
    let none = Graph::from_edges(8, &[], true).unwrap();
    compare_parts(&none, AnalysisKind::Bfs, false, 3);
}

/// Text of edges, and how it is read.
#[derive(Debug)]
struct Listed {
    text: String,
    name: &'static str,
    options: LoadOptions,
}

fn listed() -> impl Strategy<Value = Listed> {
    let edges = prop::collection::vec((0..900_u32, 0..900_u32, 0..30_u32), 1..400);
    let weight = prop::sample::select(vec![0, 1, 2]);
    let form = prop::sample::select(vec!["el", "csv", "mtx", "gr"]);
    let shape = (any::<bool>(), any::<bool>(), 1..4_u32, 0..3_u32);
    (edges, weight, form, shape).prop_map(|(edges, weight, form, shape)| {
        let (undirected, is_simple, step, first) = shape;
        let mut edges = edges;
        if is_simple {
            edges.iter_mut().for_each(|edge| {
                (edge.0, edge.1) = (edge.0.min(edge.1), edge.0.max(edge.1));
            });
            edges.retain(|edge| edge.0 != edge.1);
            edges.sort_unstable();
            edges.dedup_by_key(|edge| (edge.0, edge.1));
        }
        let is_numbered = matches!(form, "mtx" | "gr");
        let weight = if form == "gr" { 1 } else { weight };
        let mut text = match form {
            "mtx" => {
                let field = ["pattern", "integer", "real"][weight];
                let kind = if undirected { "symmetric" } else { "general" };
                let head = format!("%%MatrixMarket matrix coordinate {field} {kind}");
                format!("{head}\n% nodes\n905 905 {}\n", edges.len())
            }
            "gr" => format!("c roads\np sp 903 {}\n", edges.len()),
            "el" => "# a list\n".to_owned(),
            _ => String::new(),
        };
        for (at, (from, to, word)) in edges.iter().enumerate() {
            let id = |node: u32| match is_numbered {
                true => node + 1,
                false => node * step + first,
            };
            // Lower triangle of a symmetric matrix.
            let (from, to) = match form == "mtx" && undirected {
                true => (from.max(to), from.min(to)),
                false => (from, to),
            };
            let (from, to) = (id(*from), id(*to));
            // The last weights may be of another kind than the first.
            let number = match weight {
                2 if at > 40 => format!("{word}.25"),
                2 if form != "mtx" => word.to_string(),
                2 => format!("{word}.5"),
                _ => word.to_string(),
            };
            let number = if weight == 0 { String::new() } else { number };
            let line = match (form, weight) {
                ("csv", 0) => format!("{from},{to}"),
                ("csv", _) => format!("{from},{to},{number}"),
                ("gr", _) => format!("a {from} {to} {number}"),
                _ => format!("{from} {to} {number}"),
            };
            text.push_str(line.trim_end());
            text.push_str(if at % 7 == 3 { "\r\n" } else { "\n" });
            if at % 50 == 9 && form == "el" {
                text.push_str("# a comment\n");
            }
        }
        let options = LoadOptions {
            undirected: undirected && form != "mtx",
            weights: match weight {
                0 => WeightChoice::Unit,
                _ => WeightChoice::Given,
            },
            signed: true,
            ..LoadOptions::default()
        };
        let name = match form {
            "el" => "list.el",
            "csv" => "list.csv",
            "mtx" => "list.mtx",
            _ => "list.gr",
        };
        Listed {
            text,
            name,
            options,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn shares_of_text_have_the_columns_of_whole_graphs(
        listed in listed(),
        ranks in 1..6_u32,
        kind in prop::sample::select(CUT.to_vec()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(listed.name);
        std::fs::write(&path, &listed.text).unwrap();
        let whole = load(&path, &listed.options, None).unwrap().graph;
        if kind == AnalysisKind::Kcore && !whole.is_symmetric() {
            return Ok(());
        }
        let source = || {
            let text = TextFile::open(path.as_os_str(), &listed.options).unwrap();
            PartSource::Text(text.expect("ranks read shares"))
        };
        let weighted = listed.options.weights == WeightChoice::Given;
        let weighted = weighted && kind != AnalysisKind::Pagerank;
        let mut asked = request(kind, &[0]);
        asked.weighted = false;
        let parts = each(Threads::all(ranks), |rank| {
            GraphInParts::on_ranks(source(), &asked, !weighted, rank).unwrap()
        });
        let is_simple = whole.loops() + whole.parallel_edges() == 0;
        for parts in &parts {
            prop_assert_eq!(parts.is_none(), kind == AnalysisKind::Kcore && !is_simple);
            let Some(parts) = parts else { continue };
            let nodes = parts.nodes();
            prop_assert_eq!(nodes.nodes(), whole.nodes());
            prop_assert_eq!(nodes.loops(), whole.loops());
            prop_assert_eq!(nodes.parallel_edges(), whole.parallel_edges());
            for node in 0..whole.nodes() {
                prop_assert_eq!(nodes.original_id(node), whole.original_id(node));
            }
        }
        if parts[0].is_some() {
            compare_sources(&whole, &source, kind, weighted, ranks);
        }
    }
}

#[test]
fn shares_of_text_name_the_line_of_an_error_and_leave_some_files_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.el");
    let options = LoadOptions::default();
    let bfs = request(AnalysisKind::Bfs, &[0]);
    let mut text: String = (0..500)
        .map(|node| format!("{node} {}\n", node + 1))
        .collect();
    text.insert_str(0, "# a list\n# of lines\n");
    let open = |text: &str| {
        std::fs::write(&path, text).unwrap();
        TextFile::open(path.as_os_str(), &options).unwrap()
    };
    let bad = text.replace("\n400 401\n", "\n400 x1\n");
    open(&bad);
    let found = each(Threads::all(3), |rank| {
        let text = TextFile::open(path.as_os_str(), &options).unwrap().unwrap();
        GraphInParts::on_ranks(PartSource::Text(text), &bfs, false, rank).unwrap_err()
    });
    let whole = load(&path, &options, None).unwrap_err();
    let wanted = RunError::from(whole).to_string();
    assert!(wanted.contains("list.el:403"), "{wanted}");
    let same = |error: &&RunError| error.to_string() == wanted;
    assert_eq!(found.iter().filter(same).count(), 1, "{found:?}");
    let ended = |error: &&RunError| {
        matches!(
            error,
            RunError::Backend(BackendError::RankEnded { rank: 2 })
        )
    };
    assert_eq!(found.iter().filter(ended).count(), 2, "{found:?}");
    for whole in [
        "a b\nb c\n",
        "# seawall: names\n1 2\n",
        "%%MatrixMarket matrix array real general\n1 1\n1.0\n",
    ] {
        assert!(open(whole).is_none(), "{whole}");
    }
    // Whole weights that do not fit beside the negative one of another rank.
    let signed = LoadOptions {
        signed: true,
        weights: WeightChoice::Given,
        ..LoadOptions::default()
    };
    std::fs::write(&path, "0 1 4294967295\n1 2 7\n2 3 -5\n").unwrap();
    let sssp = request(AnalysisKind::Sssp, &[0]);
    let found = each(Threads::all(2), |rank| {
        let text = TextFile::open(path.as_os_str(), &signed).unwrap().unwrap();
        execute_parts(PartSource::Text(text), false, &sssp, rank).unwrap_err()
    });
    for error in found {
        assert!(error.to_string().contains("negative weights"), "{error}");
    }
    for text in ["0 4294967296\n", "7 2000000000\n8 1000000000\n9 7\n"] {
        open(text);
        let found = each(Threads::all(2), |rank| {
            let text = TextFile::open(path.as_os_str(), &options).unwrap().unwrap();
            GraphInParts::on_ranks(PartSource::Text(text), &bfs, false, rank).unwrap()
        });
        assert!(found.iter().all(Option::is_none), "{text}");
    }
}

/// Files of the same length with as many nodes and edges, of which each rank reads another part.
#[test]
fn a_rank_with_another_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let lines = |step: u32| -> String {
        let edge = |node: u32| format!("{node:04} {:04}\n", (node * step + 1) % 3001);
        (0..3001).map(edge).collect()
    };
    let directed = |step: u32| {
        let edges: Vec<_> = (0..3001)
            .map(|node| (node, (node * step + 1) % 3001))
            .collect();
        Graph::from_edges(3001, &edges, false).unwrap()
    };
    let paths = |kind: &str, step: u32| {
        let path = folder.path().join(format!("{step}.{kind}"));
        match kind {
            "swg" => drop(save(&directed(step), &path, None).unwrap()),
            _ => std::fs::write(&path, lines(step)).unwrap(),
        }
        path
    };
    let bfs = request(AnalysisKind::Bfs, &[0]);
    for kind in ["el", "csv", "swg"] {
        let files = [7, 11].map(|step| paths(kind, step));
        let bytes = files.each_ref().map(|path| path.metadata().unwrap().len());
        assert_eq!(bytes[0], bytes[1], "{kind}");
        let found = each(Threads::all(3), |rank| {
            let path = &files[usize::from(rank.rank() == 2)];
            let source = match kind {
                "swg" => of_file(path),
                _ => {
                    let text = TextFile::open(path.as_os_str(), &LoadOptions::default());
                    PartSource::Text(text.unwrap().unwrap())
                }
            };
            GraphInParts::on_ranks(source, &bfs, false, rank).map(|parts| parts.is_some())
        });
        for found in found {
            let named = matches!(
                found,
                Err(RunError::RankDiffers {
                    rank: 2,
                    what: "another graph"
                })
            );
            assert!(named, "{kind}: {found:?}");
        }
    }
}

#[test]
fn generators_make_parts_with_the_columns_of_whole_graphs() {
    for (spec, ranks) in [
        ("gen:rmat:10:6", 3),
        ("gen:rmat-directed:10:6", 2),
        ("gen:uniform:10:3", 4),
        ("gen:grid:50x31", 3),
        ("gen:chain:1500", 3),
        ("gen:chain:1", 2),
    ] {
        for kind in CUT {
            for weighted in [true, false] {
                // A search reads none of the weights that a part has.
                if weighted && ![AnalysisKind::Bfs, AnalysisKind::Sssp].contains(&kind) {
                    continue;
                }
                let options = LoadOptions {
                    weights: match weighted {
                        true => WeightChoice::Given,
                        false => WeightChoice::Unit,
                    },
                    ..LoadOptions::default()
                };
                let whole = load(spec, &options, None).unwrap().graph;
                let source = || PartSource::Generator {
                    generated: Generated::parse(spec).unwrap().unwrap(),
                    weighted,
                };
                compare_sources(&whole, &source, kind, weighted, ranks);
            }
        }
    }
}

#[test]
fn ranks_with_other_generators_and_devices_without_parts_are_refused() {
    let source = |spec: &str| PartSource::Generator {
        generated: Generated::parse(spec).unwrap().unwrap(),
        weighted: false,
    };
    let bfs = request(AnalysisKind::Bfs, &[0]);
    let found = each(Threads::all(3), |rank| {
        let spec = ["gen:grid:40", "gen:grid:41"][usize::from(rank.rank == 2)];
        execute_parts(source(spec), false, &bfs, rank)
    });
    for found in found {
        let error = found.unwrap_err();
        assert!(
            matches!(&error, RunError::RankDiffers { rank: 2, what } if *what == "another graph"),
            "{error}"
        );
    }
    let parts = GraphInParts::on_devices(source("gen:grid:40"), false, 2).unwrap();
    let three = Devices::simulated(3, 1);
    let found = parts.execute(&bfs, &three, &Canceller::default(), &mut |_| ());
    let error = found.unwrap_err();
    assert!(
        error.to_string().contains("no part for each device"),
        "{error}"
    );
    // The whole graph has 2^32 edges or more.
    let large = source("gen:rmat:28:16");
    assert!(GraphInParts::takes(&large, &bfs, false, 2).unwrap());
    let mut checked = bfs.clone();
    checked.check = true;
    for (request, what) in [
        (&checked, "--check takes the whole graph"),
        (
            &request(AnalysisKind::Closeness, &[0]),
            "this analysis takes",
        ),
    ] {
        let error = GraphInParts::takes(&large, request, false, 2).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains(what) && error.contains("up to 8589934592"),
            "{error}"
        );
    }
}

/// Each rank holds about its share of the edges.
#[test]
fn a_rank_holds_its_own_edges_alone() {
    let graph = load("gen:grid:300", &LoadOptions::default(), None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.swg");
    save(&graph.graph, &path, None).unwrap();
    let request = request(AnalysisKind::Pagerank, &[]);
    let bytes = |ranks| {
        let found = each(Threads::all(ranks), |rank| {
            let outcome = execute_parts(of_file(&path), false, &request, rank);
            outcome.unwrap().devices.unwrap().graph_bytes
        });
        assert!(found.iter().all(|bytes| *bytes == found[0]));
        found[0].iter().copied().max().unwrap()
    };
    let [one, four] = [1, 4].map(bytes);
    let edges = 4 * u64::from(graph.graph.edges());
    let saved = one - four;
    assert!(
        saved > edges * 7 / 10 && saved < edges * 12 / 10,
        "{saved} of {edges}"
    );
}

#[test]
fn files_that_ranks_do_not_read_in_parts_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.swg");
    let edges = [(0, 1, 3), (1, 2, 4), (1, 2, 5), (2, 0, 6)];
    let open = |graph: &Graph| {
        save(graph, &path, None).unwrap();
        of_file(&path)
    };
    let takes = |file: &PartSource, kind, unit_weights| {
        let request = RunRequest::new(kind, vec![0]);
        GraphInParts::takes(file, &request, unit_weights, 2).unwrap()
    };
    let parallel = Graph::from_weighted_edges(3, &edges, false).unwrap();
    assert!(takes(&open(&parallel), AnalysisKind::Bfs, false));
    assert!(!takes(&open(&parallel), AnalysisKind::Kcore, false));
    let simple = Graph::from_weighted_edges(3, &edges[1..3], false).unwrap();
    let simple = simple.form(Form::simple(Parallel::Least)).unwrap();
    let file = open(simple);
    for (kind, unit_weights, is_taken) in [
        (AnalysisKind::Bfs, false, true),
        (AnalysisKind::Closeness, false, false),
        (AnalysisKind::TriangleTotal, false, false),
        (AnalysisKind::Pagerank, false, false),
        (AnalysisKind::Pagerank, true, true),
    ] {
        assert_eq!(takes(&file, kind, unit_weights), is_taken, "{kind}");
    }
    let refused = |file, kind| {
        let mut alone = Threads::all(1).remove(0);
        execute_parts(file, false, &request(kind, &[0]), &mut alone).unwrap_err()
    };
    let error = refused(file, AnalysisKind::Kcore);
    assert!(matches!(error, RunError::Directed { .. }), "{error}");
    let plain = Graph::from_edges(3, &[(0, 1)], true).unwrap();
    let error = refused(open(&plain), AnalysisKind::Sssp);
    assert!(matches!(error, RunError::NoWeights { .. }), "{error}");
    // The only edge of node 2 gets another end, so that two have no mirror images.
    let star = Graph::from_edges(4, &[(0, 1), (0, 2), (0, 3)], true).unwrap();
    open(&star);
    let file = SwgFile::open(&path).unwrap().unwrap();
    let at = file.targets().start + 4 * 4;
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[at as usize] = 1;
    std::fs::write(&path, bytes).unwrap();
    let error = refused(of_file(&path), AnalysisKind::Bfs);
    assert!(error.to_string().contains("mirror image"), "{error}");
}

/// A rank that cannot read its part, or has another file, ends all.
#[test]
fn a_rank_whose_part_is_damaged_or_differs_ends_all() {
    let folder = tempfile::tempdir().unwrap();
    let grid = |side: u32| {
        let shape = format!("gen:grid:{side}");
        let graph = load(shape.as_str(), &LoadOptions::default(), None).unwrap();
        let path = folder.path().join(format!("{side}.swg"));
        save(&graph.graph, &path, None).unwrap();
        path
    };
    let (path, other) = (grid(40), grid(41));
    let request = request(AnalysisKind::Bfs, &[0]);
    let run = |path: &dyn Fn(u32) -> PathBuf| {
        let paths: Vec<PathBuf> = (0..3).map(path).collect();
        each(Threads::all(3), |rank| {
            execute_parts(of_file(&paths[rank.rank as usize]), false, &request, rank)
        })
    };
    for found in run(&|rank| {
        if rank == 2 {
            other.clone()
        } else {
            path.clone()
        }
    }) {
        let error = found.unwrap_err();
        assert!(
            matches!(&error, RunError::RankDiffers { rank: 2, what } if *what == "another graph"),
            "{error}"
        );
    }
    // An edge of the last node, which one rank alone reads.
    let file = SwgFile::open(&path).unwrap().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = file.targets().end as usize - 4;
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let damaged = folder.path().join("damaged.swg");
    std::fs::write(&damaged, bytes).unwrap();
    let found = run(&|_| damaged.clone());
    let errors: Vec<RunError> = found.into_iter().filter_map(Result::err).collect();
    let [own, others] = [true, false].map(|is_own| {
        let is_of = |error: &&RunError| match error {
            RunError::Stream(_) => is_own,
            RunError::Backend(BackendError::RankEnded { .. }) => !is_own,
            _ => false,
        };
        errors.iter().filter(is_of).count()
    });
    assert_eq!([own, others], [1, 2], "{errors:?}");
}

#[test]
fn a_rank_that_refuses_or_differs_ends_all() {
    let graph = load("gen:grid:40", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let other = load("gen:grid:41", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let bfs = request(AnalysisKind::Bfs, &[0]);
    let found = each(Threads::all(3), |rank| match rank.rank {
        1 => refuse_on_ranks(rank).map(|is_first| assert!(is_first)),
        2 => refuse_on_ranks(rank).map(|is_first| assert!(!is_first)),
        _ => execute(&graph, &bfs, rank, 1).map(|_| ()),
    });
    let ended = RunError::from(BackendError::RankEnded { rank: 1 }).to_string();
    assert_eq!(found[0].as_ref().unwrap_err().to_string(), ended);
    assert!(found[1].is_ok() && found[2].is_ok());

    for (what, differs) in [("another graph", true), ("another request", false)] {
        let found = each(Threads::all(3), |rank| {
            let is_odd = rank.rank == 2;
            let graph = if is_odd && differs { &other } else { &graph };
            let source = u32::from(is_odd && !differs);
            execute(graph, &request(AnalysisKind::Bfs, &[source]), rank, 1)
        });
        for found in found {
            let error = found.unwrap_err();
            assert!(
                matches!(&error, RunError::RankDiffers { rank: 2, what: found } if *found == what),
                "{error}"
            );
        }
    }

    // One rank alone has too small a budget: it says so, the others name it.
    let found = each(Threads::all(2), |rank| {
        let mut asked = bfs.clone();
        asked.machine.budget_bytes = (rank.rank == 1).then_some(1);
        execute(&graph, &asked, rank, 1)
    });
    let errors: Vec<RunError> = found.into_iter().map(Result::unwrap_err).collect();
    let named = |error: &RunError| {
        matches!(
            error,
            RunError::Backend(BackendError::RankEnded { rank: 1 })
        )
    };
    assert!(named(&errors[0]), "{}", errors[0]);
    assert!(
        matches!(errors[1], RunError::OverBudget { .. }),
        "{}",
        errors[1]
    );
}

/// Whichever exchange a rank is lost in, all others name it, and nothing hangs.
#[test]
fn a_lost_rank_is_named_by_all_others() {
    let graph = load("gen:grid:40", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    for kind in [AnalysisKind::Bfs, AnalysisKind::Cc, AnalysisKind::Closeness] {
        let request = request(kind, &[0, 9]);
        for calls in [0, 1, 3, 4, 5, 6, 9, 40] {
            let mut ranks = Threads::all(3);
            ranks[1].calls_left = calls;
            let found = each(ranks, |rank| execute(&graph, &request, rank, 1));
            let lost = found.iter().filter_map(|found| found.as_ref().err());
            let lost: Vec<&RunError> = lost.collect();
            // With few calls the run is over before the rank is lost.
            assert!(
                lost.is_empty() || lost.len() == 3,
                "{kind} {calls}: {lost:?}"
            );
            let least = if kind == AnalysisKind::Closeness {
                3
            } else {
                7
            };
            assert!(!lost.is_empty() || calls >= least, "{kind} {calls}");
            for error in lost {
                assert!(
                    matches!(
                        error,
                        RunError::Backend(BackendError::RankLost { rank: 1, .. })
                    ),
                    "{kind} {calls}: {error}"
                );
            }
        }
    }
}

/// A fault on one rank, here the end of its time, ends all; that rank says what it was.
#[test]
fn a_fault_of_one_rank_ends_all() {
    let graph = load("gen:grid:300", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let found = each(Threads::all(3), |rank| {
        let canceller = Canceller::default();
        if rank.rank == 1 {
            canceller.cancel();
        }
        let request = request(AnalysisKind::Bfs, &[0]);
        execute_on_ranks(&graph, &request, rank, 1, &canceller, &mut |_| ())
    });
    for (rank, found) in found.into_iter().enumerate() {
        match found.unwrap_err() {
            RunError::Backend(BackendError::Cancelled) if rank == 1 => {}
            RunError::Backend(BackendError::RankEnded { rank: 1 }) if rank != 1 => {}
            other => panic!("rank {rank}: {other}"),
        }
    }
}

/// Kernels take nodes for indices, so each rank refuses those that the sender does not have.
#[test]
fn nodes_that_a_rank_does_not_have_end_all() {
    let graph = load("gen:grid:60", &LoadOptions::default(), None).unwrap();
    let graph = graph.graph.with_drawn_weights(3).unwrap();
    for kind in [AnalysisKind::Bfs, AnalysisKind::Sssp, AnalysisKind::Kcore] {
        let mut ranks = Threads::all(3);
        ranks[1].lies = true;
        let asked = request(kind, &[0]);
        let found = each(ranks, |rank| execute(&graph, &asked, rank, 1));
        for found in found {
            let error = found.unwrap_err();
            assert!(
                matches!(
                    &error,
                    RunError::Backend(BackendError::RankLost { rank: 1, .. })
                ),
                "{kind}: {error}"
            );
        }
    }
}
