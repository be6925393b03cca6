//! Small files that state huge counts, in every format: refused, and without the memory.

use std::io::{Cursor, Write};

use seawall_graph::{Format, LoadOptions, load_reader};

use super::{refusal, weighted};

/// Nodes that no small file may state.
const HUGE: u64 = 2_000_000_000;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// An archive of stored members.
fn zip(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, content) in members {
        let mut sum = flate2::Crc::new();
        sum.update(content);
        bytes.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0");
        bytes.extend(sum.sum().to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(content);
    }
    bytes.extend(b"PK\x05\x06");
    bytes
}

fn npy(descr: &str, shape: &str, content: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(content);
    bytes
}

/// The matrix of 946 bytes that took 8.4 GB: few entries and huge dimensions.
fn sparse(format: &str) -> Vec<u8> {
    let one = npy("<i4", "(1,)", &1u32.to_le_bytes());
    zip(&[
        ("row.npy", one.clone()),
        ("col.npy", npy("<i4", "(1,)", &0u32.to_le_bytes())),
        ("indptr.npy", npy("<i4", "(2000000001,)", &[0; 64])),
        ("indices.npy", one.clone()),
        ("data.npy", one),
        ("format.npy", npy("|S3", "()", format.as_bytes())),
        ("shape.npy", npy("<i8", "(2,)", &words(&[HUGE, HUGE]))),
    ])
}

/// Small files of a format that state huge numbers of nodes or edges, with the name of each.
fn promises(format: Format) -> Vec<(&'static str, Vec<u8>)> {
    let text = |name, text: String| (name, text.into_bytes());
    match format {
        Format::MatrixMarket => {
            let banner = "%%MatrixMarket matrix coordinate pattern general\n";
            vec![
                text("a.mtx", format!("{banner}{HUGE} {HUGE} 1\n1 2\n")),
                text("a.mtx", format!("{banner}{HUGE} {HUGE} {HUGE}\n1 2\n")),
            ]
        }
        Format::EdgeList => vec![
            text("a.el", format!("# seawall: ids 1 to {HUGE}\n1 2\n")),
            text("a.el", format!("# Nodes: {HUGE} Edges: 1\n1 2\n")),
        ],
        Format::Csv => vec![text(
            "a.csv",
            format!("# seawall: ids 1 to {HUGE}\nsource,target\n1,2\n"),
        )],
        Format::Metis => vec![text("a.graph", format!("{HUGE} 1\n2\n1\n"))],
        Format::Dimacs => vec![
            text("a.gr", format!("p sp {HUGE} 1\na 1 2 3\n")),
            text("a.col", format!("p col {HUGE} 1\ne 1 2\n")),
            text("a.max", format!("p max {HUGE} 1\na 1 2 3\n")),
        ],
        Format::Pace => vec![text("a.gr", format!("p tw {HUGE} 1\n1 2\n"))],
        Format::Npz => vec![
            ("a.npz", sparse("coo")),
            ("a.npz", sparse("csr")),
            ("a.npz", sparse("csc")),
        ],
        Format::Ecl => {
            let counts = [HUGE as u32, 1, 0, 0]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            vec![("a.egr", counts)]
        }
        Format::Gbbs => {
            let bytes = 24 + 8 * (HUGE + 1) + 4;
            vec![
                ("a.bin", words(&[HUGE, 1, bytes, 0])),
                ("a.bin", words(&[2, HUGE, u64::MAX, 0])),
            ]
        }
        Format::Binary => vec![("a.swg", swg())],
        // No counts are stated, so the promise is a document that never ends.
        Format::GraphMl => vec![text("a.graphml", format!("<graphml>{}", "<a ".repeat(99)))],
        Format::Adjacency => vec![text("a.adjlist", "1 2 \0".to_owned())],
        Format::Lgl => vec![text("a.lgl", "# 1\n2 3 4\n".to_owned())],
        _ => Vec::new(),
    }
}

/// A header of Seawall's binary for many nodes, with its checksum.
fn swg() -> Vec<u8> {
    let mut bytes = b"SEAWALLG".to_vec();
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    bytes.extend(words(&[HUGE, 1, 0, 0, 0]));
    let sum = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Largest resident set of this process so far, in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

#[test]
fn wide_first_lines_take_little_memory() {
    let before = peak();
    for (first, name) in [("", "a.el"), ("a,b\n", "a.csv")] {
        let mut text = first.as_bytes().to_vec();
        text.extend(b"1 2 ".repeat(10 << 20));
        assert!(refusal(name, &text, &weighted()).contains(name));
    }
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after - before < 1 << 29, "{} bytes more", after - before);
    }
}

#[test]
fn no_format_takes_memory_for_a_promise() {
    let before = peak();
    for format in Format::ALL {
        let files = promises(format);
        assert!(!files.is_empty(), "{format}");
        for (name, bytes) in files {
            assert!(bytes.len() < 4096);
            let found = refusal(name, &bytes, &weighted());
            assert!(found.contains(name), "{found}");
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(&bytes).unwrap();
            let packed = Cursor::new(packed.finish().unwrap());
            assert!(
                load_reader(name, packed, &LoadOptions::default()).is_err(),
                "{name}"
            );
        }
    }
    // 2^26 nodes are believed without edges, in any format, and take 256 MiB.
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after - before < 1 << 29, "{} bytes more", after - before);
    }
}
