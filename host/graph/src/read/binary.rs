//! Reads `.swg`, whose sections are the arrays of the graph.
//!
//! Everything that an analysis relies on (order, ranges, symmetry) is checked in the arrays
//! themselves. A damaged or hostile file is an error and not a wrong answer, and a file that
//! changes meanwhile changes nothing that was checked.

use rayon::prelude::*;

use super::source::Source;
use super::words::Words;
use crate::binary::{HEADER_BYTES, Header, MULTI, SYMMETRIC, TABLE, WIDE};
use crate::build::{Counts, MAX_EDGES, Order};
use crate::check::{self, Claim};
use crate::csr::Csr;
use crate::format::Format;
use crate::ids::{Ids, NameTable};
use crate::load::{LoadOptions, LoadStats, Loaded, Progress};
use crate::{BinaryProblem, Graph, GraphError};

/// Arrays of a file that are not checked yet.
struct Parts {
    header: Header,
    csr: Csr,
    ids: Ids,
}

/// Loads a file or stream that starts with the magic.
pub(super) fn load_binary(
    mut source: Source,
    options: &LoadOptions,
    progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    let name = source.name.clone();
    let compression = source.compression;
    let mut words = Words::new(&mut source, ".swg", progress);
    let Parts { header, csr, ids } = parts(&mut words, options.weights.are_read())?;
    let counts = check(&header, &csr, &ids).map_err(|problem| words.bad(problem))?;
    let (bytes, text_bytes) = words.passed();
    let stats = LoadStats {
        compression,
        bytes,
        text_bytes,
        listed_edges: header.edges,
        compacted: header.has(TABLE),
        ..LoadStats::of(Format::Binary)
    };
    let graph = Graph::from_parts(csr, header.has(SYMMETRIC), ids).with_kind(header.weight_kind());
    let graph = graph.with_counts(counts, Order::Listed);
    Loaded::directed(graph, stats, options, &name)
}

fn parts(words: &mut Words<'_>, weights: bool) -> Result<Parts, GraphError> {
    let mut bytes = [0; HEADER_BYTES];
    words.promised = HEADER_BYTES as u64;
    words.fill(&mut bytes)?;
    let header = Header::parse(&bytes).map_err(|problem| words.bad(problem))?;
    if header.edges > MAX_EDGES {
        let (nodes, edges) = (header.nodes, header.edges);
        return Err(words.bad(BinaryProblem::Counts { nodes, edges }));
    }
    words.check_nodes(header.nodes, header.edges)?;
    let sections = header.sections();
    words.promised = sections.end;
    let offsets = if header.has(WIDE) {
        narrow(section(words, &sections.offsets)?)
    } else {
        section(words, &sections.offsets)?
    };
    let targets = section(words, &sections.targets)?;
    let weights = match sections.weights.filter(|_| weights) {
        Some(weights) => Some(section(words, &weights)?),
        None => None,
    };
    let ids = match (&sections.ids, sections.name_ends.zip(sections.name_text)) {
        (Some(ids), _) => Ids::Table(section(words, ids)?),
        (None, Some((ends, text))) => {
            let ends = section(words, &ends)?;
            let text = section(words, &text)?;
            let names = NameTable::checked(text, ends);
            Ids::Names(names.map_err(|node| words.bad(BinaryProblem::Name { node }))?)
        }
        (None, None) => Ids::Offset(header.first_id),
    };
    words.skip(sections.end - words.at())?;
    words.finish()?;
    Ok(Parts {
        header,
        csr: Csr {
            offsets,
            targets,
            weights,
        },
        ids,
    })
}

/// Offsets of 64 bits as 32 bits; an offset that does not fit becomes one that is out of order.
pub(super) fn narrow(offsets: Vec<u64>) -> Vec<u32> {
    let word = |offset: u64| u32::try_from(offset).unwrap_or(u32::MAX);
    offsets.into_par_iter().map(word).collect()
}

/// Reads the words of a section, after skipping the padding before it.
fn section<T: bytemuck::Pod + Send>(
    words: &mut Words<'_>,
    section: &std::ops::Range<u64>,
) -> Result<Vec<T>, GraphError> {
    words.skip(section.start - words.at())?;
    words.words((section.end - section.start) / size_of::<T>() as u64)
}

fn check(header: &Header, csr: &Csr, ids: &Ids) -> Result<Counts, BinaryProblem> {
    let claim = Claim {
        symmetric: header.has(SYMMETRIC),
        simple: !header.has(MULTI),
    };
    let counts = check::check(csr, header.weight_kind(), claim)?;
    let found = [counts.loops, counts.parallel].map(u64::from);
    if found != [header.loops, header.parallel] {
        return Err(BinaryProblem::EdgeKinds {
            loops: found[0],
            parallel: found[1],
            promised_loops: header.loops,
            promised_parallel: header.parallel,
        });
    }
    if let Ids::Table(table) = ids {
        check_ids(table)?;
    }
    Ok(counts)
}

fn check_ids(table: &[u64]) -> Result<(), BinaryProblem> {
    match table
        .par_windows(2)
        .position_first(|pair| pair[0] >= pair[1])
    {
        Some(at) => Err(BinaryProblem::Ids {
            node: at as u64 + 1,
            value: table[at + 1],
        }),
        None => Ok(()),
    }
}
