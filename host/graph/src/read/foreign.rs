//! Recognition of files that are no graphs, or no text, by their first bytes.

use super::source::Source;
use crate::{Format, GraphError};

/// Bytes of a file that are sniffed, decompressed.
pub(super) const HEAD_BYTES: usize = 512;
/// Place of the mark of a tar archive.
const TAR_AT: usize = 257;
const UNPACK: &str = "unpack it and give the file that it holds";
const AS_UTF8: &str = "save it as UTF-8";
const DECOMPRESS: &str = "decompress it, or use gzip, xz, bzip2 or zstd";
const DOWNLOAD: &str = "download the file itself";
const AS_BINARY: &str = "write its binary (.bin), or .mtx";
const EXPORT: &str = "export the graph as .mtx, .csv, .graphml or .el";

/// First bytes, the name of the format, and the remedy.
const KNOWN: &[(&[u8], &str, &str)] = &[
    (b"\xff\xfe\0\0", "text in UTF-32", AS_UTF8),
    (b"\0\0\xfe\xff", "text in UTF-32", AS_UTF8),
    (b"\xff\xfe", "text in UTF-16", AS_UTF8),
    (b"\xfe\xff", "text in UTF-16", AS_UTF8),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"PK\x05\x06", "an empty zip archive", UNPACK),
    (b"!<arch>\n", "an ar archive", UNPACK),
    (b"\x04\x22\x4d\x18", "a file compressed by lz4", DECOMPRESS),
    (b"\x1f\x9d", "a file compressed by compress", DECOMPRESS),
    (b"LZIP", "a file compressed by lzip", DECOMPRESS),
    (b"%PDF-", "a PDF document", EXPORT),
    (b"\x89HDF", "an HDF5 file", EXPORT),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file", EXPORT),
    (b"PAR1", "a Parquet file", EXPORT),
    (b"ARROW1", "an Arrow file", EXPORT),
    (b"SQLite format 3\0", "an SQLite database", EXPORT),
    (
        b"\x93NUMPY",
        "an array of NumPy",
        "save a sparse matrix with scipy.sparse.save_npz",
    ),
    (b"\x80\x02", "a pickle of Python", EXPORT),
    (b"\x80\x03", "a pickle of Python", EXPORT),
    (b"\x80\x04", "a pickle of Python", EXPORT),
    (b"\x80\x05", "a pickle of Python", EXPORT),
    (b"\x89PNG", "a picture", EXPORT),
    (b"\x7fELF", "a program", EXPORT),
    (b"<!DOCTYPE html", "an HTML page", DOWNLOAD),
    (b"<!doctype html", "an HTML page", DOWNLOAD),
    (b"<html", "an HTML page", DOWNLOAD),
    (b"<gexf", "a GEXF file", EXPORT),
    (b"graph [", "a GML file", EXPORT),
    (b"graph\n[", "a GML file", EXPORT),
    (b"Creator \"", "a GML file", EXPORT),
    (b"*Vertices", "a Pajek file", EXPORT),
    (b"*vertices", "a Pajek file", EXPORT),
    (b"digraph ", "a DOT file", EXPORT),
    (b"strict graph", "a DOT file", EXPORT),
    (b"strict digraph", "a DOT file", EXPORT),
    (b"graph {", "a DOT file", EXPORT),
    (
        b"AdjacencyGraph",
        "an adjacency graph of PBBS in text",
        AS_BINARY,
    ),
    (
        b"WeightedAdjacencyGraph",
        "an adjacency graph of PBBS in text",
        AS_BINARY,
    ),
    (b"{\"", "a JSON file", EXPORT),
    (b"[{", "a JSON file", EXPORT),
    (b"[[", "a JSON file", EXPORT),
    (b"{\n", "a JSON file", EXPORT),
];

fn refused(source: &Source, what: &'static str, remedy: &'static str) -> Result<(), GraphError> {
    let file = source.name.clone();
    Err(GraphError::Foreign { file, what, remedy })
}

/// Refuses a file whose first bytes, decompressed, show another format.
pub(super) fn check(source: &Source, head: &[u8]) -> Result<(), GraphError> {
    let refused = |what, remedy| refused(source, what, remedy);
    if head
        .get(TAR_AT..)
        .is_some_and(|mark| mark.starts_with(b"ustar"))
    {
        return refused("a tar archive", UNPACK);
    }
    if head.starts_with(b"<?xml") && !super::graphml::starts(head) && !is_xml_of_name(source) {
        return refused("an XML document that is no GraphML", EXPORT);
    }
    match KNOWN.iter().find(|(start, ..)| head.starts_with(start)) {
        Some((_, what, remedy)) => refused(what, remedy),
        None => Ok(()),
    }
}

/// Returns whether the file's name says that it is GraphML, however far its root is.
fn is_xml_of_name(source: &Source) -> bool {
    super::format_of(&source.name) == Some(Format::GraphMl)
}

/// Refuses a file that is not text.
pub(super) fn check_text(source: &Source, head: &[u8]) -> Result<(), GraphError> {
    let nul = head.iter().position(|byte| *byte == 0);
    let Some(nul) = nul else { return Ok(()) };
    // Text of single-byte letters in UTF-16 has a NUL in every second byte, and only there.
    let half = |first: usize| head.iter().skip(first % 2).step_by(2);
    let is_wide =
        head.len() >= 4 && half(nul).all(|byte| *byte == 0) && half(nul + 1).all(|byte| *byte != 0);
    if is_wide {
        return refused(source, "text in UTF-16", AS_UTF8);
    }
    let what = "a binary file of no known format, with NUL bytes";
    refused(source, what, EXPORT)
}
