//! Files that are no graphs, or are packed, are recognised, with the remedy in the message.

use std::io::Write;

use seawall_graph::{Compression, LoadOptions};

use super::{edges, edges_of, load_as, refusal, weighted};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// A tar archive of one file.
fn tar(name: &str, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 512];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes[257..262].copy_from_slice(b"ustar");
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(512) + 1024, 0);
    bytes
}

#[test]
fn foreign_files_are_named_with_a_remedy() {
    let utf16: Vec<u8> = "0 1\n1 2\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let marked = [&b"\xff\xfe"[..], &utf16].concat();
    let tarball = tar("graph/a.el", b"0 1\n");
    for (name, bytes, parts) in [
        ("a.tar", tarball.clone(), ["a tar archive", "unpack it"]),
        ("a.tar.gz", gzip(&tarball), ["a tar archive", "unpack it"]),
        ("a.el", gzip(&tarball), ["a tar archive", "unpack it"]),
        ("a.txt", utf16, ["UTF-16", "UTF-8"]),
        ("a.txt", marked.clone(), ["UTF-16", "UTF-8"]),
        ("a.csv", marked, ["UTF-16", "UTF-8"]),
        ("a.el", b"0 1\n1 \0 2\n".to_vec(), ["NUL bytes", "export"]),
        (
            "a",
            b"\0\0\0\0\0\0\0\0\0\0\0\0\0\x01".to_vec(),
            ["NUL bytes", "export"],
        ),
        (
            "a.pdf",
            b"%PDF-1.7\n1 2\n".to_vec(),
            ["a PDF document", "export"],
        ),
        (
            "a.el",
            b"<html><body>404</body></html>".to_vec(),
            ["an HTML page", "download"],
        ),
        (
            "a.7z",
            b"7z\xbc\xaf\x27\x1c\0\0".to_vec(),
            ["a 7z archive", "unpack"],
        ),
        (
            "a.h5",
            b"\x89HDF\r\n\x1a\n".to_vec(),
            ["an HDF5 file", "export"],
        ),
        (
            "a.gml",
            b"graph [\n node [ id 1 ] ]\n".to_vec(),
            ["a GML file", "export"],
        ),
        (
            "a.gexf",
            b"<?xml version=\"1.0\"?>\n<gexf><graph/></gexf>".to_vec(),
            ["an XML document", "export"],
        ),
        (
            "a.dot",
            b"digraph G { a -> b }".to_vec(),
            ["a DOT file", "export"],
        ),
        (
            "a.json",
            b"[{\"source\": 1}]".to_vec(),
            ["a JSON file", "export"],
        ),
        (
            "a.pkl",
            b"\x80\x04\x95\0\0".to_vec(),
            ["a pickle of Python", "export"],
        ),
    ] {
        let found = refusal(name, &bytes, &LoadOptions::default());
        assert!(found.starts_with(&format!("{name}: this is")), "{found}");
        assert!(parts.iter().all(|part| found.contains(part)), "{found}");
    }
    // The place of a NUL byte far into a text is reported.
    let mut long = "0 1\n".repeat(1000).into_bytes();
    long.extend(b"1 \x002\n");
    let found = refusal("a.el", &long, &LoadOptions::default());
    assert!(
        found.starts_with("a.el:1001: the line has a NUL byte"),
        "{found}"
    );
    // A byte order mark of UTF-8 is accepted.
    let marked = b"\xef\xbb\xbf0 1\n";
    assert!(load_as("a.el", marked, &LoadOptions::default()).is_ok());
}

#[test]
fn bzip2_and_zstd_are_read_in_any_number_of_pieces() {
    let expected = edges(&[(0, 1, 5.0), (1, 2, 6.0)]);
    for (pack, compression) in [
        (bzip2 as fn(&[u8]) -> Vec<u8>, Compression::Bzip2),
        (zstd, Compression::Zstd),
    ] {
        let mut bytes = pack(b"0 1 5\n1 ");
        if compression == Compression::Zstd {
            // A frame that decoders skip.
            bytes.extend(b"\x50\x2a\x4d\x18\x03\0\0\0abc");
        }
        bytes.extend(pack(b"2 6\n"));
        let loaded = load_as("a.el.packed", &bytes, &weighted()).unwrap();
        assert_eq!(edges_of(&loaded.graph), expected, "{compression}");
        assert_eq!(loaded.stats.compression, compression);
        for end in 1..bytes.len() {
            // No panic, and no graph of half an edge.
            if let Ok(loaded) = load_as("a.el", &bytes[..end], &weighted()) {
                assert!(loaded.graph.edges() < 2, "{compression} {end}");
            }
        }
        let large: String = (0..200_000)
            .map(|at| format!("{} {} {at}\n", at % 977, at % 991))
            .collect();
        let plain = load_as("a.el", large.as_bytes(), &weighted())
            .unwrap()
            .graph;
        let packed = pack(large.as_bytes());
        let again = load_as("a.el", &packed, &weighted()).unwrap().graph;
        assert_eq!(plain.layout_hash(), again.layout_hash(), "{compression}");
        // Damage is an error, not another graph.
        for at in (20..packed.len()).step_by(packed.len() / 50) {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x10;
            if let Ok(loaded) = load_as("a.el", &damaged, &weighted()) {
                assert_eq!(
                    loaded.graph.layout_hash(),
                    plain.layout_hash(),
                    "{compression} {at}"
                );
            }
        }
    }
}

#[test]
fn a_window_that_a_frame_asks_for_is_limited() {
    // A frame whose window would be 2 GiB.
    let bytes = [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3][..], &[0; 32]].concat();
    let found = refusal("a.zst", &bytes, &LoadOptions::default());
    assert!(found.contains("zstd stream"), "{found}");
}

#[test]
fn packed_formats_that_are_only_read_are_refused_before_writing() {
    let folder = tempfile::tempdir().unwrap();
    let graph = seawall_graph::Graph::from_edges(2, &[(0, 1)], false).unwrap();
    for name in ["g.el.bz2", "g.mtx.zst"] {
        let refused = seawall_graph::save(&graph, &folder.path().join(name), None).unwrap_err();
        assert!(refused.to_string().contains("use .gz or .xz"), "{refused}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Without the length of a stream, any words with a 0 in the third place look like an ECL binary.
#[test]
fn a_file_and_a_stream_named_swg_are_refused_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.swg");
    let name = path.to_str().unwrap();
    let marked = b"\xef\xbb\xbfSEAWALLG\x01";
    for bytes in [&b"SEAW"[..], b"\0\0\0\0", b"\x03\0\0\0", marked] {
        for length in [16, 511, 512, 700] {
            let mut bytes = bytes.to_vec();
            bytes.resize(length, 0);
            std::fs::write(&path, &bytes).unwrap();
            let filed = seawall_graph::load(name, &weighted(), None).unwrap_err();
            assert_eq!(refusal(name, &bytes, &weighted()), filed.to_string());
            let expected = "not a valid .swg file: it does not start with the magic bytes";
            assert!(filed.to_string().contains(expected), "{filed}");
        }
    }
}
