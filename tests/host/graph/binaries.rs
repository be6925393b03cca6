//! Binary files of other programs: the ECL codes and SciPy.
use super::formats::edges_of;
use super::{PLAIN, WEIGHTED, gzip, load_as, message};
use seawall::graph::Format;
use std::io::Write;

/// The words of an `.egr` file.
pub(super) fn egr(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn ecl_binaries_are_read_and_checked() {
    let plain = [3, 4, 0, 3, 4, 4, 2, 1, 1, 1];
    let weighted = [&plain[..], &[7, 5, 3, 9]].concat();
    for bytes in [egr(&plain), gzip(&egr(&plain))] {
        let name = if bytes[0] == 0x1f {
            "a.egr.gz"
        } else {
            "a.egr"
        };
        let loaded = load_as(name, &bytes, &WEIGHTED).unwrap();
        let edges = [(0, 1, 0), (0, 1, 0), (0, 2, 0), (1, 1, 0)];
        assert_eq!(edges_of(&loaded.graph), edges);
    }
    let loaded = load_as("a.egr", &egr(&weighted), &WEIGHTED).unwrap();
    let edges = [(0, 1, 3), (0, 1, 5), (0, 2, 7), (1, 1, 9)];
    assert_eq!(edges_of(&loaded.graph), edges);
    let without = load_as("a.egr", &egr(&weighted), &PLAIN).unwrap().graph;
    assert!(without.weights().is_none());
    for (words, expected) in [
        (
            &[3][..],
            ": not a valid .egr file: 4 bytes, the header promises 8",
        ),
        (
            &[-3, 4, 0, 0],
            ": not a valid .egr file: 4294967293 nodes and 4 edges",
        ),
        (
            &[i32::MAX, i32::MAX, 0],
            ": not a valid .egr file: 12 bytes, the header promises",
        ),
        (&[1, 1, 0, 2, 0], ": not a valid .egr file: offset 2"),
        (
            &[1, 1, 0, 1, 1],
            ": not a valid .egr file: edge 0 ends at node 1",
        ),
        (
            &[1, 1, 0, 1, 0, 4, 4],
            ": not a valid .egr file: 28 bytes, the header promises 24",
        ),
        (
            &[1, 1, 0, 1, 0, -4],
            ": not a valid .egr file: the weight of edge 0 is negative (-4)",
        ),
    ] {
        let found = message("a.egr", &egr(words), &WEIGHTED);
        assert!(found.starts_with(&format!("a.egr{expected}")), "{found}");
        let packed = message("a.egr.gz", &gzip(&egr(words)), &WEIGHTED);
        assert!(
            packed.starts_with("a.egr.gz: not a valid .egr file: "),
            "{packed}"
        );
    }
}

/// A `.npy` array of `<i4` or another type, from its bytes.
pub(super) fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), bytes].concat()
}

/// An archive of stored and deflated members, with sizes of 64 bits as NumPy writes them.
pub(super) fn archive(members: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in members {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let mut packed = bytes.clone();
        if deflated {
            let level = flate2::Compression::default();
            let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            packed = encoder.finish().unwrap();
        }
        out.extend(b"PK\x03\x04\x2d\0\0\0");
        out.extend([if deflated { 8 } else { 0 }, 0, 0, 0, 0, 0]);
        out.extend(crc.sum().to_le_bytes());
        out.extend([0xff; 8]);
        out.extend((name.len() as u16).to_le_bytes());
        out.extend(20u16.to_le_bytes());
        out.extend(name.as_bytes());
        out.extend([1, 0, 16, 0]);
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend((packed.len() as u64).to_le_bytes());
        out.extend(packed);
    }
    out.extend(b"PK\x01\x02");
    out
}

fn matrix(format: &str, data: (&str, Vec<u8>)) -> Vec<(&'static str, Vec<u8>)> {
    let words = |words: &[i32]| egr(words);
    let (first, second) = match format {
        "coo" => ("row.npy", "col.npy"),
        _ => ("indptr.npy", "indices.npy"),
    };
    let (a, b) = match format {
        "coo" => (
            npy("<i4", "(3,)", &words(&[0, 0, 2])),
            npy("<i4", "(3,)", &words(&[2, 1, 0])),
        ),
        _ => (
            npy("<i4", "(4,)", &words(&[0, 2, 2, 3])),
            npy("<i4", "(3,)", &words(&[2, 1, 0])),
        ),
    };
    let shape: Vec<u8> = [3i64, 3].iter().flat_map(|n| n.to_le_bytes()).collect();
    vec![
        (second, b),
        (first, a),
        ("format.npy", npy("|S3", "()", format.as_bytes())),
        ("shape.npy", npy("<i8", "(2,)", &shape)),
        ("data.npy", npy(data.0, "(3,)", &data.1)),
    ]
}

fn doubles(values: [f64; 3]) -> (&'static str, Vec<u8>) {
    (
        "<f8",
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
    )
}

#[test]
fn sparse_matrices_of_scipy_are_read() {
    for deflated in [false, true] {
        for format in ["csr", "csc", "coo"] {
            let bytes = archive(&matrix(format, doubles([7.0, 5.0, 4.0])), deflated);
            let loaded = load_as("a.npz", &bytes, &WEIGHTED).unwrap();
            let expected = match format {
                "csc" => [(0, 2, 4), (1, 0, 5), (2, 0, 7)],
                _ => [(0, 1, 5), (0, 2, 7), (2, 0, 4)],
            };
            assert_eq!(edges_of(&loaded.graph), expected, "{format} {deflated}");
            assert_eq!(loaded.stats.format, Format::Npz);
        }
    }
    let floats = archive(&matrix("csr", doubles([0.5, 3.0, 0.1])), true);
    let loaded = load_as("a.npz", &floats, &WEIGHTED).unwrap();
    let words = [3.0f32, 0.5, 0.1].map(f32::to_bits);
    assert_eq!(loaded.graph.weights(), Some(&words[..]));
    assert_eq!(loaded.stats.rounded_weights, 1);
    let nan = archive(&matrix("csr", doubles([f64::NAN; 3])), true);
    assert_eq!(load_as("a.npz", &nan, &PLAIN).unwrap().graph.edges(), 3);
    assert!(message("a.npz", &nan, &WEIGHTED).contains("member data.npy: its number 0 (NaN)"));
}

#[test]
fn damaged_archives_name_their_fault() {
    let good = matrix("csr", doubles([1.0; 3]));
    let with = |name: &str, bytes: Vec<u8>| {
        let mut members = good.clone();
        let place = members.iter_mut().find(|member| member.0 == name).unwrap();
        place.1 = bytes;
        message("a.npz", &archive(&members, true), &WEIGHTED)
    };
    let huge = npy("<i4", "(9000000000000000000,)", &egr(&[1]));
    for (name, bytes, expected) in [
        ("indices.npy", huge, "member indices.npy: "),
        (
            "indices.npy",
            npy("<i4", "(3, 4000000000000, 4000000000000)", &[]),
            "its header is not understood",
        ),
        (
            "indices.npy",
            npy("<i4", "(3,)", &egr(&[0, 1, -1])),
            "its number 2 (-1)",
        ),
        (
            "indices.npy",
            npy("<i4", "(3,)", &egr(&[0, 1, 3])),
            "edge 2 ends at node 3",
        ),
        (
            "indices.npy",
            npy("|O8", "(3,)", &[0; 24]),
            "expected an array of real numbers, found 3 of type O8",
        ),
        (
            "indices.npy",
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec(),
            "its header has 4294967295 bytes",
        ),
        (
            "indptr.npy",
            npy("<i4", "(4,)", &egr(&[0, 2, 1, 3])),
            "offset 1 of node 2",
        ),
        (
            "indptr.npy",
            npy("<i4", "(3,)", &egr(&[0, 2, 3])),
            "indptr.npy has 3 numbers, expected 4",
        ),
        (
            "format.npy",
            npy("|S3", "()", b"dia"),
            "the layout \"dia\" is not read",
        ),
        (
            "shape.npy",
            npy("<i4", "(2,)", &egr(&[3, 4])),
            "the shape [3, 4] is not that of a graph",
        ),
        ("data.npy", npy("<c16", "(3,)", &[0; 48]), "of type c16"),
        (
            "data.npy",
            npy("<f8", "(2,)", &[0; 16]),
            "data.npy has 2 numbers, expected 3",
        ),
    ] {
        let found = with(name, bytes);
        assert!(found.contains(expected), "{found}");
    }
    let bytes = archive(&good, false);
    assert!(load_as("a.npz", &bytes, &WEIGHTED).is_ok());
    for end in 0..bytes.len() - 1 {
        assert!(load_as("a.npz", &bytes[..end], &WEIGHTED).is_err(), "{end}");
    }
}
