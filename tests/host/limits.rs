//! The limits of `docs/limits.md` without another test, by headers and counts with large claims
//! instead of large data.

use super::graph::{PLAIN, WEIGHTED, load_as, message, xz};
use seawall::backend::cpu::{CpuSession, THREADS_MAX};
use seawall::backend::{BackendError, RunLimits, Session};
use seawall::batch::{self, BatchError};
use seawall::calibrate::Calibration;
use seawall::graph::{self, Graph, LoadOptions, NodeName};
use seawall::program::{
    GraphSize, PlanRequest, ProgramBuilder, ProgramError, TEXT_BYTES_MAX, TextError, read_text,
};
use seawall::run::{self, AnalysisKind, RunError, RunRequest, SOURCES_MAX};
use seawall_core::abi::batch::GRAPHS_MAX;
use seawall_core::abi::control::LOOPS_MAX;
use std::io::Read;
use std::num::NonZeroUsize;

const MTX: &str = "%%MatrixMarket matrix coordinate pattern general\n";

fn refused(name: &str, text: &str) -> String {
    message(name, text.as_bytes(), &WEIGHTED)
}

fn generated(spec: &str) -> String {
    let loaded = graph::load(spec, &PLAIN, None);
    loaded.expect_err("it is beyond a limit").to_string()
}

#[test]
fn more_nodes_or_edges_than_32_bits_number_are_refused() {
    let nodes = refused("a.mtx", &format!("{MTX}4294967295 4294967295 0\n"));
    assert!(
        nodes.contains("(4294967295); at most 4294967294"),
        "{nodes}"
    );
    let edges = refused("a.mtx", &format!("{MTX}5 5 4294967296\n1 2\n"));
    assert!(
        edges.contains("(4294967296); at most 4294967295"),
        "{edges}"
    );
    let nodes = generated("gen:grid:65536x65536");
    assert!(
        nodes.contains("4294967296 nodes, but at most 4294967294"),
        "{nodes}"
    );
    let edges = generated("gen:rmat:31:65536");
    assert!(
        edges.contains("directed edges, but at most 4294967295"),
        "{edges}"
    );
}

#[test]
fn the_nodes_of_a_header_are_bounded_by_its_edges() {
    let text = refused("a.mtx", &format!("{MTX}67108865 67108865 1\n1 2\n"));
    assert!(text.contains("67108865 nodes for 1 edges"), "{text}");
}

#[test]
fn ids_of_edge_lists_have_64_bits() {
    let most = format!("{} {}\n", u64::MAX, u64::MAX - 1);
    let graph = load_as("a.el", most.as_bytes(), &PLAIN).unwrap().graph;
    assert_eq!(graph.original_id(1), u64::MAX);
    let text = refused("a.el", "1 2\n18446744073709551616 1\n");
    assert!(text.contains(":2: a node id is too large"), "{text}");
}

#[test]
fn weights_have_32_bits() {
    let most = load_as("a.el", b"1 2 4294967295\n", &WEIGHTED).unwrap();
    assert_eq!(most.graph.weights(), Some(&[u32::MAX][..]));
    let text = refused("a.el", "1 2 4294967296\n");
    assert!(
        text.contains(":1: a weight is too large (4294967296)"),
        "{text}"
    );
    assert!(load_as("a.el", b"1 2 4294967296\n", &PLAIN).is_ok());
}

#[test]
fn an_endless_line_of_a_graph_is_refused() {
    let line = format!("1 2\n#{}\n3 4\n", " ".repeat(2 << 20));
    assert!(load_as("a.el", line.as_bytes(), &PLAIN).is_ok());
    let endless = "1 2\n#".as_bytes().chain(std::io::repeat(b' '));
    let error = graph::load_reader("a.el", endless, &PLAIN).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(":2: the line is longer than 67108864 bytes"),
        "{text}"
    );
}

#[test]
fn xz_dictionaries_above_256_mebibytes_are_refused() {
    // The properties of the filter name the dictionary: 40 stands for 4 GiB - 1.
    let mut bytes = xz(b"1 2\n");
    assert_eq!(
        bytes[12..16],
        [2, 0, 0x21, 1],
        "header size, flags, LZMA2, one property"
    );
    bytes[16] = 40;
    let sum = crc32(&bytes[12..20]);
    bytes[20..24].copy_from_slice(&sum.to_le_bytes());
    let text = message("a.el.xz", &bytes, &PLAIN);
    assert!(text.contains("xz stream"), "{text}");
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[test]
fn generators_have_ranges() {
    for (spec, range) in [
        ("gen:rmat:32:1", "from 0 to 31"),
        ("gen:uniform:3:65537", "from 0 to 65536"),
        ("gen:grid:1073741825x1", "from 1 to 1073741824"),
        ("gen:chain:2147483649", "from 1 to 2147483648"),
    ] {
        assert!(generated(spec).contains(range), "{spec}");
    }
}

#[test]
fn a_long_calibration_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calibration.json");
    std::fs::write(&path, vec![b' '; (1 << 20) + 1]).unwrap();
    let text = Calibration::load_from(&path).unwrap_err().to_string();
    assert!(text.contains("larger than 1048576 bytes"), "{text}");
}

#[test]
fn threads_have_a_limit() {
    let graph = Graph::from_edges(2, &[(0, 1)], false).unwrap();
    let open = |threads| CpuSession::open(&graph, NonZeroUsize::new(threads), RunLimits::default());
    assert!(open(THREADS_MAX).is_ok(), "threads start with a run");
    let error = open(THREADS_MAX + 1).unwrap_err();
    assert!(
        matches!(error, BackendError::TooManyThreads { .. }),
        "{error}"
    );
}

#[test]
fn sources_have_a_limit() {
    let bfs = AnalysisKind::Bfs;
    assert!(bfs.check_sources(SOURCES_MAX as usize).is_ok());
    let error = bfs.check_sources(SOURCES_MAX as usize + 1).unwrap_err();
    assert!(matches!(error, RunError::TooManySources { .. }), "{error}");
    assert!(
        AnalysisKind::Cc.check_sources(usize::MAX).is_ok(),
        "they are ignored"
    );
}

#[test]
fn lines_of_sources_have_4096_bytes() {
    let line = |bytes: usize| format!("{}\n7\n", "#".repeat(bytes - 1));
    let read = |bytes| seawall_cli::Sources::from_reader("ids", line(bytes).as_bytes());
    assert!(read(4096).unwrap().labels().eq(["7"]));
    let text = read(4097).unwrap_err().to_string();
    assert!(text.starts_with("ids:1: "), "{text}");
}

#[test]
fn a_batch_has_2_to_the_20_graphs() {
    let most = format!("gen:batch:{GRAPHS_MAX}:chain:3");
    assert_eq!(batch::expand(&[&most]).unwrap().len(), GRAPHS_MAX as usize);
    let error = batch::expand(&[most.as_str(), "gen:chain:3"]).unwrap_err();
    assert!(matches!(error, BatchError::TooMany { .. }), "{error}");
}

#[test]
fn frontiers_and_work_fit_32_bits_of_words() {
    let mut small = ProgramBuilder::new(500_000_000);
    assert!(small.frontier("frontier").is_ok() && small.work("work").is_ok());
    let mut large = ProgramBuilder::new(u32::MAX - 1);
    for made in [large.frontier("frontier"), large.work("work")] {
        let is_too_long = matches!(made, Err(ProgramError::RegisterTooLong { .. }));
        assert!(is_too_long, "{made:?}");
    }
}

#[test]
fn loops_beyond_the_eighth_run_uncounted() {
    let mut program = ProgramBuilder::new(4);
    let loops = LOOPS_MAX as u32 + 3;
    let registers: Vec<_> = (0..loops)
        .map(|_| program.words("words", 4).unwrap())
        .collect();
    for (value, register) in (1..).zip(&registers) {
        program.fixpoint("loop", 5, |body| body.fill("fill", *register, value));
        program.keep(*register);
    }
    let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
    let graph = Graph::from_edges(4, &[], false).unwrap();
    let mut session = CpuSession::open(&graph, NonZeroUsize::new(2), RunLimits::default()).unwrap();
    session.load(&encoded).unwrap();
    let control = session.run(&[]).unwrap().control;
    assert_eq!(control.loops_done, loops);
    assert_eq!(control.loops.len(), LOOPS_MAX);
    for (value, register) in (1..).zip(&registers) {
        let mut words = Vec::new();
        session.read(*register, &mut words).unwrap();
        assert_eq!(words, [value; 4]);
    }
}

#[test]
fn sizes_are_exact_below_2_to_the_64() {
    let size = seawall_cli::size;
    assert_eq!(size("18446744073709551615"), Ok(u64::MAX));
    assert_eq!(size("9007199254740993KiB"), Ok(9_007_199_254_740_993 << 10));
    assert_eq!(size("1.5 KiB"), Ok(1536));
    for large in [
        "18446744073709551616",
        "444444444444444448GB",
        "1e99.5TiB",
        "99999999999.5EiB",
    ] {
        assert!(size(large).is_err(), "{large}");
    }
}

/// Every analysis of weights can represent the largest one, or refuses it by its edge.
#[test]
fn the_largest_weights_are_exact_or_refused() {
    let options = LoadOptions {
        undirected: true,
        ..WEIGHTED
    };
    for weight in [u32::MAX - 2, u32::MAX - 1, u32::MAX] {
        let list = format!("0 1 1\n0 2 {weight}\n");
        let graph = load_as("a.el", list.as_bytes(), &options);
        let graph = graph.unwrap().graph;
        for analysis in AnalysisKind::ALL {
            if !analysis.reads_weights() {
                continue;
            }
            let mut request = RunRequest::new(analysis, vec![0]);
            request.check = true;
            match run::execute(&graph, &request) {
                Ok(outcome) => {
                    assert_eq!(outcome.checked, Some(true), "{analysis}, {weight}");
                    let answer = format!("{:?} {:?}", outcome.values, outcome.answer);
                    let exact = [u64::from(weight), u64::from(weight) + 1];
                    let is_notified = exact
                        .iter()
                        .any(|number| answer.contains(&number.to_string()));
                    assert!(is_notified, "{analysis}, {weight}: {answer}");
                }
                Err(RunError::WeightTooLarge { from, to, most, .. }) => {
                    assert_eq!((from, to), (NodeName::Id(0), NodeName::Id(2)), "{analysis}");
                    assert!(most < weight, "{analysis}, {weight}");
                }
                Err(other) => panic!("{analysis}, {weight}: {other}"),
            }
        }
    }
}

#[test]
fn programs_as_text_have_limits() {
    let size = GraphSize { nodes: 2, edges: 0 };
    let long = " ".repeat(TEXT_BYTES_MAX + 1);
    let error = read_text(&long, size).unwrap_err();
    assert!(matches!(
        error,
        TextError::TooLong {
            most: TEXT_BYTES_MAX,
            ..
        }
    ));
    let text = |registers: usize| {
        let register = |number| format!(r#"{{"name":"r{number}","kind":"u32","count":1}}"#);
        let list: Vec<_> = (0..registers).map(register).collect();
        let list = list.join(",");
        format!(r#"{{"version":1,"registers":[{list}],"waves":[]}}"#)
    };
    assert!(read_text(&text(64), size).is_ok());
    let error = read_text(&text(65), size).unwrap_err().to_string();
    assert!(error.contains("65") && error.contains("64"), "{error}");
    let text = |joins: usize| {
        let join = |number| format!(r#"{{"let":"n{number}","how":"sum","value":1}}"#);
        let list: Vec<_> = (0..joins).map(join).collect();
        let list = list.join(",");
        let code = format!(r#"[{{"edges":"out","join":[{list}]}}]"#);
        let wave = format!(r#"{{"wave":"each","name":"sum","over":"nodes","code":{code}}}"#);
        format!(r#"{{"version":1,"registers":[],"waves":[{wave}]}}"#)
    };
    read_text(&text(3), size).unwrap();
    let error = read_text(&text(4), size).unwrap_err().to_string();
    assert!(error.contains("4 joins"), "{error}");
}

#[test]
fn lines_of_lists_have_64_kibibytes() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    for (bytes, is_long) in [((64 << 10) - 2, false), (64 << 10, true)] {
        std::fs::write(&list, format!("#{}\n", "x".repeat(bytes))).unwrap();
        let error = batch::expand(&[format!("@{}", list.display())]).unwrap_err();
        let long = matches!(error, BatchError::LongLine { line: 1, .. });
        assert_eq!(long, is_long, "{bytes}: {error}");
    }
}
