//! Invalid graphs. Each ends with exit code 2 and one message that names the file, the line if
//! there is one, and the reason.

use super::{Fixture, finish, seawall};
use std::io::Write as _;

#[track_caller]
fn refused(name: &str, content: &[u8], parts: &[&str]) {
    let file = Fixture::new(name, content);
    let run = finish(&mut seawall(&[
        "run",
        file.path(),
        "--analysis",
        "cc",
        "--json",
    ]));
    run.refused(&[file.path()]);
    run.refused(parts);
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn xz(content: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn edges() -> Vec<u8> {
    (0..20_000u32)
        .flat_map(|node| format!("{node} {}\n", node.wrapping_mul(7919) % 20_000).into_bytes())
        .collect()
}

#[test]
fn empty_files() {
    for name in ["a.txt", "a.mtx", "a.gr", "a.swg", "a"] {
        refused(name, b"", &["empty"]);
    }
    refused("a.txt.gz", &gzip(b""), &["empty"]);
    refused("a.txt.xz", &xz(b""), &["empty"]);
}

#[test]
fn missing_files_and_folders() {
    let missing = finish(&mut seawall(&[
        "run",
        "no-such-graph.mtx",
        "--analysis",
        "cc",
    ]));
    missing.refused(&["no-such-graph.mtx", "No such file"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    finish(&mut seawall(&["run", path, "--analysis", "cc"])).refused(&[path]);
}

#[test]
fn truncated_and_garbage_compression() {
    for (name, packed) in [("a.txt.gz", gzip(&edges())), ("a.txt.xz", xz(&edges()))] {
        refused(name, &packed[..packed.len() / 2], &["truncated or damaged"]);
        refused(name, &packed[..packed.len() - 1], &["truncated or damaged"]);
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0x55;
        refused(name, &damaged, &["damaged"]);
        let header = &packed[..6];
        refused(
            name,
            &[header, b"this is no stream at all"].concat(),
            &["damaged"],
        );
    }
}

#[test]
fn ids_out_of_range() {
    let banner = "%%MatrixMarket matrix coordinate pattern general\n";
    refused(
        "a.mtx",
        format!("{banner}3 3 1\n1 4\n").as_bytes(),
        &[":3:", "4"],
    );
    refused(
        "a.mtx",
        format!("{banner}3 3 1\n0 1\n").as_bytes(),
        &[":3:", "0"],
    );
    refused("a.gr", b"p sp 3 1\na 1 9 5\n", &[":2:", "9"]);
    refused("a.gr", b"c note\np tw 3 1\n4 1\n", &[":3:", "4"]);
}

#[test]
fn negative_and_huge_numbers() {
    let banner = "%%MatrixMarket matrix coordinate pattern general\n";
    refused(
        "a.mtx",
        format!("{banner}-3 -3 1\n1 1\n").as_bytes(),
        &[":2:", "-3"],
    );
    refused("a.gr", b"p sp 3 -1\n", &[":1:", "-1"]);
    refused("a.txt", b"0 1\n-5 2\n", &[":2:", "-5"]);
    refused(
        "a.txt",
        b"0 99999999999999999999\n",
        &[":1:", "99999999999999999999"],
    );
    for content in [
        format!("{banner}1000000000000000000 1000000000000000000 1000000000000000000\n1 1\n"),
        format!("{banner}4 4 1000000000000000000\n1 2\n"),
    ] {
        refused("a.mtx", content.as_bytes(), &["1000000000000000000"]);
    }
    refused(
        "a.gr",
        b"p sp 4 1000000000000000000\na 1 2 3\n",
        &["1000000000000000000"],
    );
}

#[test]
fn fields_that_are_not_numbers() {
    let banner = "%%MatrixMarket matrix coordinate pattern general\n";
    refused("a.txt", b"# note\n0 1\n1 two\n", &[":3:", "two"]);
    refused(
        "a.mtx",
        format!("{banner}3 3 x\n").as_bytes(),
        &[":2:", "x"],
    );
    refused("a.gr", b"p sp 3 1\na 1 b 1\n", &[":2:", "b"]);
    refused("a.txt", b"0 1\n5\n", &[":2:"]);
}

#[test]
fn wrong_banners() {
    refused(
        "a.mtx",
        b"%%MatrixMarket tensor coordinate pattern general\n1 1 0\n",
        &[":1:"],
    );
    refused("a.mtx", b"3 3 1\n1 2\n", &[":1:"]);
    refused("a.gr", b"p cnf 3 1\na 1 2 3\n", &[":1:", "cnf"]);
    refused("a.swg", b"not a binary graph at all, but long enough to hold a header of one hundred and more bytes", &["magic"]);
}

#[test]
fn unknown_generators() {
    for (spec, parts) in [
        ("gen:torus:5", &["torus", "gen:grid"][..]),
        ("gen:grid:-4", &["-4"]),
        ("gen:grid:99999999999999999999", &["99999999999999999999"]),
        ("gen:rmat:22", &["EDGEFACTOR"]),
        ("gen:rmat:60:16", &["60"]),
        ("gen:chain:5:1:2", &["2"]),
    ] {
        let run = finish(&mut seawall(&["run", spec, "--analysis", "cc"]));
        run.refused(&[spec]);
        run.refused(parts);
    }
}

#[test]
fn standard_input_is_named_in_messages() {
    let run = finish(seawall(&["run", "-", "--analysis", "cc"]).write_stdin("0 1\n1 x\n"));
    run.refused(&[":2:", "x"]);
}

#[test]
fn a_file_that_cannot_be_converted_leaves_nothing_behind() {
    let file = Fixture::new("a.txt", b"0 1\n1 x\n");
    let output = file.beside("a.swg");
    finish(&mut seawall(&["convert", file.path(), &output])).refused(&[file.path(), ":2:"]);
    let left: Vec<_> = std::fs::read_dir(file.folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1);
}
