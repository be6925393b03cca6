//! Files with offsets of 64 bits, and one with more than 2^32 edges.

use super::{Kept, STREAMING, on, reading, windows};
use seawall::Cause;
use seawall::graph::{Graph, LoadOptions, load, save};
use seawall::outcome::Column;
use seawall::run::{AnalysisKind, RunError};
use seawall::stream::{Caching, Keeping, ReaderChoice, StreamOptions};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::process::Command;

const WIDE: u32 = 16;

/// The header of a `.swg` file.
fn header(flags: u32, nodes: u64, edges: u64) -> [u8; 64] {
    let mut bytes = [0; 64];
    bytes[..8].copy_from_slice(b"SEAWALLG");
    bytes[8..12].copy_from_slice(&1_u32.to_le_bytes());
    bytes[12..16].copy_from_slice(&flags.to_le_bytes());
    bytes[16..24].copy_from_slice(&nodes.to_le_bytes());
    bytes[24..32].copy_from_slice(&edges.to_le_bytes());
    sealed(bytes)
}

/// A header with its checksum.
pub(super) fn sealed(mut bytes: [u8; 64]) -> [u8; 64] {
    let hash = bytes[..56]
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    bytes[56..].copy_from_slice(&hash.to_le_bytes());
    bytes
}

/// The bytes of a graph without weights, with offsets of 64 bits.
fn wide_bytes(graph: &Graph) -> Vec<u8> {
    let (nodes, edges) = (u64::from(graph.nodes()), u64::from(graph.edges()));
    let mut bytes = header(WIDE, nodes, edges).to_vec();
    let offsets = graph.offsets().iter();
    bytes.extend(offsets.flat_map(|offset| u64::from(*offset).to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(64), 0);
    bytes.extend(graph.targets().iter().flat_map(|to| to.to_le_bytes()));
    bytes
}

#[test]
fn offsets_of_64_bits_load_and_stream_alike() {
    let graph = load("gen:rmat:8:6", &LoadOptions::default(), None)
        .unwrap()
        .graph;
    let narrow = Kept::of(&graph);
    let wide = Kept::with(&wide_bytes(&graph));
    let loaded = load(&wide.path, &LoadOptions::default(), None)
        .unwrap()
        .graph;
    assert_eq!(
        (loaded.offsets(), loaded.targets()),
        (graph.offsets(), graph.targets())
    );
    for kind in STREAMING {
        if kind == AnalysisKind::Sssp {
            continue;
        }
        let request = on(kind, &[3], 2);
        let [a, b] = [&narrow, &wide].map(|kept| kept.run(&request, windows(256)).unwrap());
        assert_eq!(a.values, b.values, "{kind}");
    }
    let again = wide.path.with_file_name("again.swg");
    save(&loaded, &again, None).unwrap();
    assert_eq!(
        load(&again, &LoadOptions::default(), None)
            .unwrap()
            .graph
            .edges(),
        graph.edges()
    );
}

/// Nodes with many edges each, none of which a search needs.
const UNREAD: u64 = 70_000;
/// Their edges: together more than 2^32, and fewer.
pub(super) const EACH: u64 = 65_000;
const FEWER: u64 = 61_000;
/// The node whose row is the last one.
pub(super) const NEXT: u32 = (UNREAD + 1) as u32;

/// A sparse file: a path 0, 1, 2 whose rows lie before and after edges that were never written.
/// With [`EACH`], node `UNREAD + 1`'s row starts beyond 2^32.
pub(super) fn huge(path: &std::path::Path, each: u64) -> u64 {
    let nodes = UNREAD + 3;
    let last = 1 + UNREAD * each;
    let edges = last + 2;
    let file = File::create(path).unwrap();
    file.write_all_at(&header(WIDE, nodes, edges), 0).unwrap();
    let mut offsets = vec![0_u64];
    offsets.extend((0..=UNREAD).map(|row| 1 + row * each));
    offsets.extend([edges, edges]);
    let bytes: Vec<u8> = offsets
        .iter()
        .flat_map(|offset| offset.to_le_bytes())
        .collect();
    file.write_all_at(&bytes, 64).unwrap();
    let targets = (64 + bytes.len() as u64).next_multiple_of(64);
    // Row 0 leads to node UNREAD + 1, whose row is the last one.
    let next = NEXT;
    file.write_all_at(&next.to_le_bytes(), targets).unwrap();
    // Edges that share a window with those that are read.
    const BESIDE: u32 = 20_000;
    let words = |from: u32| {
        (from..from + BESIDE)
            .flat_map(u32::to_le_bytes)
            .collect::<Vec<_>>()
    };
    file.write_all_at(&words(2), targets + 4).unwrap();
    let before = targets + 4 * (last - u64::from(BESIDE));
    file.write_all_at(&words(UNREAD as u32 - BESIDE), before)
        .unwrap();
    let ends = [3_u32, next + 1].map(u32::to_le_bytes).concat();
    file.set_len(targets + 4 * edges).unwrap();
    file.write_all_at(&ends, targets + 4 * last).unwrap();
    edges
}

/// The search must end at node 3, whose row is a hole, so it may go two levels deep.
#[test]
fn a_graph_of_more_than_2_to_the_32_edges_streams() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.swg");
    let edges = huge(&path, EACH);
    assert!(edges > 1 << 32);
    let streamed = seawall::stream::Streamed::open(&path).unwrap().unwrap();
    for (reader, caching) in [
        (ReaderChoice::Auto, Caching::Cached),
        (ReaderChoice::Threads, Caching::Direct),
    ] {
        let mut request = on(AnalysisKind::Bfs, &[0], 2);
        request.max_iterations = std::num::NonZeroU32::new(2);
        let mut options = reading(reader, caching, 4096);
        options.keeping = Keeping::Never;
        options.blocks = reader == ReaderChoice::Auto;
        let outcome = streamed.run(&request, options).unwrap();
        assert_eq!(outcome.edges, edges);
        let Column::U32(levels) = outcome.values else {
            panic!("no levels");
        };
        let reached = (0..).zip(&levels).filter(|(_, level)| **level != u32::MAX);
        let reached: Vec<(usize, u32)> = reached.map(|(node, level)| (node, *level)).collect();
        let next = UNREAD as usize + 1;
        assert_eq!(reached, [(0, 0), (3, 2), (next, 1), (next + 1, 2)]);
    }
    let refused = load(&path, &LoadOptions::default(), None).unwrap_err();
    assert!(
        refused.to_string().contains("do not fit 32-bit"),
        "{refused}"
    );
}

/// Neither run reads an edge: the refusal comes first.
#[test]
fn a_check_that_cannot_load_the_graph_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.swg");
    huge(&path, EACH);
    let mut request = on(AnalysisKind::Cc, &[], 2);
    request.check = true;
    let streamed = seawall::stream::Streamed::open(&path).unwrap().unwrap();
    let refused = streamed.run(&request, StreamOptions::default());
    let refused = refused.unwrap_err();
    assert!(matches!(refused, RunError::CannotCheck { .. }), "{refused}");
    assert!(refused.to_string().contains("fewer than 2^32 edges"));
    assert_eq!(refused.cause(), Cause::Request);
    let edges = huge(&path, FEWER);
    assert!(edges < 1 << 32);
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 2000000; exec \"$0\" \"$@\""])
        .arg(env!("CARGO_BIN_EXE_seawall-under-test"))
        .args(["run", "--analysis", "cc", "--check", "--stream", "always"])
        .args(["--backend", "cpu", "--threads", "2", "--json", "-q"])
        .arg(&path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("takes 15.9 GiB at least and "), "{text}");
}
