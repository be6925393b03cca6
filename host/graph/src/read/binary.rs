//! Reads `.swg`: mapped where it lies, or streamed when it is compressed.
//!
//! Both roads check everything that an analysis relies on (order, ranges, symmetry)
//! in one linear, parallel pass, so that a damaged or hostile file is an error and
//! not a wrong answer. Memory follows the bytes that arrive, not the header.

use std::fs::File;
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;
use rayon::prelude::*;

use super::source::Source;
use crate::array::Array;
use crate::binary::{HEADER_BYTES, Header, SYMMETRIC, Sections, TABLE, WEIGHTS};
use crate::csr::Csr;
use crate::ids::Ids;
use crate::load::{Format, LoadOptions, LoadStats, Loaded, Progress};
use crate::mix::mix;
use crate::{BinaryProblem, Graph, GraphError};

/// Bytes streamed at once.
const STEP_BYTES: usize = 1 << 20;

/// Arrays of a file that was not checked yet.
struct Parts {
    header: Header,
    csr: Csr,
    ids: Ids,
}

/// Loads a file or stream whose first bytes are the magic.
pub(super) fn load_binary(
    mut source: Source,
    head: &[u8],
    options: &LoadOptions,
    progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    let name = source.name.clone();
    let bad = |problem| GraphError::Binary {
        file: name.clone(),
        problem,
    };
    let is_plain = source.compression == crate::Compression::None;
    let (parts, bytes, text_bytes) = match source.file.take().filter(|_| is_plain) {
        Some(file) => {
            let map = map(&file, &name)?;
            let bytes = map.len() as u64;
            (mapped(&Arc::new(map)).map_err(bad)?, bytes, bytes)
        }
        None => {
            let parts = streamed(&mut source, head, progress)?;
            (parts, source.raw_bytes(), source.decoded_bytes())
        }
    };
    let Parts { header, csr, ids } = parts;
    check(&header, &csr, &ids).map_err(bad)?;
    let graph = Graph::from_parts(csr, header.has(SYMMETRIC), ids);
    let graph = if options.weights {
        graph
    } else {
        graph.without_weights()
    };
    let graph = if options.undirected {
        graph.into_undirected(&name)?
    } else {
        graph
    };
    let stats = LoadStats {
        compression: source.compression,
        bytes,
        text_bytes,
        listed_edges: header.edges,
        compacted: header.has(TABLE),
        ..LoadStats::of(Format::Binary)
    };
    Ok(Loaded { graph, stats })
}

fn map(file: &File, name: &str) -> Result<Mmap, GraphError> {
    // SAFETY: the map is read-only and private to this process. Its bytes are only read
    // through shared slices; another process that rewrites the file while it is mapped
    // can change words after they were checked, which safe code then meets as wrong
    // indices (a panic, not undefined reads of ours), and one that truncates it raises
    // SIGBUS. The documentation of `load` asks callers not to do either.
    let map = unsafe { Mmap::map(file) };
    map.map_err(|source| GraphError::Io {
        file: name.to_owned(),
        action: "map",
        source,
    })
}

fn mapped(map: &Arc<Mmap>) -> Result<Parts, BinaryProblem> {
    let found = map.len() as u64;
    let short = BinaryProblem::Length {
        promised: HEADER_BYTES as u64,
        found,
    };
    let header = Header::parse(map.first_chunk().ok_or(short)?)?;
    let sections = header.sections();
    let length = BinaryProblem::Length {
        promised: sections.end,
        found,
    };
    if sections.end != found {
        return Err(length);
    }
    view(map, header, &sections).ok_or(length)
}

fn view(map: &Arc<Mmap>, header: Header, sections: &Sections) -> Option<Parts> {
    let range = |r: &std::ops::Range<u64>| {
        Some(usize::try_from(r.start).ok()?..usize::try_from(r.end).ok()?)
    };
    let weights = match &sections.weights {
        Some(weights) => Some(Array::mapped(map, range(weights)?)?),
        None => None,
    };
    let ids = match &sections.ids {
        Some(ids) => Ids::Table(Array::mapped(map, range(ids)?)?),
        None => Ids::Offset(header.first_id),
    };
    let offsets = Array::mapped(map, range(&sections.offsets)?)?;
    let targets = Array::mapped(map, range(&sections.targets)?)?;
    Some(Parts {
        header,
        csr: Csr {
            offsets,
            targets,
            weights,
        },
        ids,
    })
}

/// The sequential reader of a stream.
struct Stream<'a> {
    source: &'a mut Source,
    head: &'a [u8],
    at: u64,
    end: u64,
    progress: Option<&'a dyn Progress>,
}

fn streamed(
    source: &mut Source,
    head: &[u8],
    progress: Option<&dyn Progress>,
) -> Result<Parts, GraphError> {
    let mut stream = Stream {
        source,
        head,
        at: 0,
        end: HEADER_BYTES as u64,
        progress,
    };
    let mut bytes = [0; HEADER_BYTES];
    stream.fill(&mut bytes)?;
    let header = Header::parse(&bytes).map_err(|problem| stream.bad(problem))?;
    let sections = header.sections();
    stream.end = sections.end;
    let offsets = stream.words(&sections.offsets)?.into();
    let targets = stream.words(&sections.targets)?.into();
    let weights = match &sections.weights {
        Some(weights) => Some(stream.words(weights)?.into()),
        None => None,
    };
    let ids = match &sections.ids {
        Some(ids) => Ids::Table(stream.words(ids)?.into()),
        None => Ids::Offset(header.first_id),
    };
    stream.finish()?;
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

impl Stream<'_> {
    fn bad(&self, problem: BinaryProblem) -> GraphError {
        GraphError::Binary {
            file: self.source.name.clone(),
            problem,
        }
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), GraphError> {
        let from_head = self.head.len().min(buffer.len());
        let (now, later) = self.head.split_at(from_head);
        buffer[..from_head].copy_from_slice(now);
        self.head = later;
        let filled = from_head + self.source.fill(&mut buffer[from_head..])?;
        self.at += filled as u64;
        if filled < buffer.len() {
            return Err(self.bad(BinaryProblem::Length {
                promised: self.end,
                found: self.at,
            }));
        }
        Ok(())
    }

    fn words<T: Pod>(&mut self, section: &std::ops::Range<u64>) -> Result<Vec<T>, GraphError> {
        let mut gap = [0; crate::binary::ALIGN as usize];
        let padding = (section.start - self.at) as usize;
        self.fill(&mut gap[..padding])?;
        let mut left = (section.end - section.start) / size_of::<T>() as u64;
        let mut words = Vec::new();
        while left > 0 {
            let step = left.min((STEP_BYTES / size_of::<T>()) as u64) as usize;
            let start = words.len();
            words.resize(start + step, T::zeroed());
            self.fill(bytemuck::cast_slice_mut(&mut words[start..]))?;
            left -= step as u64;
            if let Some(progress) = self.progress {
                progress.update(self.source.raw_bytes(), self.source.total);
            }
        }
        words.shrink_to_fit();
        Ok(words)
    }

    fn finish(&mut self) -> Result<(), GraphError> {
        let more = self.source.fill(&mut [0])?;
        if more > 0 {
            return Err(self.bad(BinaryProblem::Length {
                promised: self.end,
                found: self.end + 1,
            }));
        }
        Ok(())
    }
}

fn check(header: &Header, csr: &Csr, ids: &Ids) -> Result<(), BinaryProblem> {
    check_offsets(csr)?;
    let nodes = csr.nodes();
    let twins = (0..nodes)
        .into_par_iter()
        .map(|node| check_row(csr, node))
        .try_reduce(|| 0, |a, b| Ok(a.wrapping_add(b)))?;
    if header.has(SYMMETRIC) && twins != 0 {
        return Err(BinaryProblem::Asymmetric);
    }
    if header.has(WEIGHTS) && csr.weights().is_none_or(|w| w.len() != csr.targets().len()) {
        return Err(BinaryProblem::Counts {
            nodes: header.nodes,
            edges: header.edges,
        });
    }
    match ids {
        Ids::Offset(_) => Ok(()),
        Ids::Table(table) => check_ids(table),
    }
}

fn check_offsets(csr: &Csr) -> Result<(), BinaryProblem> {
    let offsets = csr.offsets();
    let wrong = |at: usize| BinaryProblem::Offset {
        node: at as u64,
        value: u64::from(offsets[at]),
    };
    if offsets[0] != 0 {
        return Err(wrong(0));
    }
    if let Some(at) = offsets
        .par_windows(2)
        .position_first(|pair| pair[0] > pair[1])
    {
        return Err(wrong(at + 1));
    }
    let last = offsets.len() - 1;
    if offsets[last] as usize != csr.targets().len() {
        Err(wrong(last))
    } else {
        Ok(())
    }
}

/// Checks one row; the sum over all rows is 0 when every edge has its mirror image.
///
/// Each edge adds the hash of itself and takes away that of its mirror, so the sum of
/// a symmetric graph cancels, and one of an asymmetric graph does with chance 2^-64.
fn check_row(csr: &Csr, node: u32) -> Result<u64, BinaryProblem> {
    let row = csr.row(node);
    let first = row.start as u64;
    let targets = csr.neighbours(node);
    if let Some(at) = targets.iter().position(|&target| target >= csr.nodes()) {
        let (edge, value) = (first + at as u64, u64::from(targets[at]));
        return Err(BinaryProblem::Target {
            edge,
            value,
            nodes: u64::from(csr.nodes()),
        });
    }
    if !targets.windows(2).all(|pair| pair[0] < pair[1]) || targets.binary_search(&node).is_ok() {
        return Err(BinaryProblem::Order {
            node: u64::from(node),
        });
    }
    let weights = csr.weights();
    let twin = |edge: usize, &target: &u32| {
        let weight = weights.map_or(0, |w| mix(u64::from(w[edge])));
        let (a, b) = (u64::from(node), u64::from(target));
        mix(weight ^ (a << 32 | b)).wrapping_sub(mix(weight ^ (b << 32 | a)))
    };
    Ok(row.zip(targets).fold(0, |sum, (edge, target)| {
        sum.wrapping_add(twin(edge, target))
    }))
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
