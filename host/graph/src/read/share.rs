//! Text of edges that several processes read together, each a share of its bytes.
//!
//! A share begins at the first line after its first byte. Its ends are ids until all shares were
//! read: then those that occur in any of them are numbered, as one reader numbers them. Files that
//! have to be read as a whole are left to that reader: compressed ones, names, ids of 2^31 and more,
//! and lines of all neighbours of a node.

use super::chunks::next_piece;
use super::gather::{Gather, Gathered, with_pieces};
use super::labels::{FarIds, number_seen};
use super::layout::{Layout, Shape};
use super::seen::{Seen, range_of};
use super::source::Source;
use super::{Kind, kind_of};
use crate::build::{self, Counts, Direction, Edges, Order};
use crate::csr::Csr;
use crate::ids::Ids;
use crate::limits;
use crate::load::{LoadOptions, WeightChoice};
use crate::memory::{self, Shortage};
use crate::model::check_counts;
use crate::notes::Notes;
use crate::sample::digest_of_sample;
use crate::weights::{Growing, each_weight};
use crate::{Graph, GraphError, WeightKind};
use bytemuck::allocation::{cast_vec, try_cast_vec};
use bytemuck::{cast_slice, cast_slice_mut};
use rayon::prelude::*;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::atomic::AtomicU64;

/// Bytes that are read at once to find the end of a line.
const STEP: usize = 1 << 16;

/// Edges that a thread takes at a time.
const EDGES: usize = 1 << 16;

/// Fewest bytes of a line with an edge.
const LINE_LEAST: u64 = 4;

/// A plain text file of edges of which each of several processes reads a share.
#[derive(Debug)]
pub struct TextFile {
    path: OsString,
    name: String,
    options: LoadOptions,
    layout: Layout,
    notes: Notes,
    /// Lines before the edges.
    lines: u64,
    /// The bytes of the edges.
    bytes: Range<u64>,
}

/// The edges of a share.
#[derive(Debug)]
#[doc(hidden)]
pub struct TextShare {
    /// Two words for each edge, or three with a weight.
    words: Vec<u32>,
    is_weighted: bool,
    kind: WeightKind,
    rounded: u64,
    listed: u64,
    lines: u64,
    has_far_ids: bool,
    ids: Range<u64>,
}

/// Facts of all shares together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct TextFacts {
    /// Edges listed.
    pub listed: u64,
    /// Lines of edges.
    pub lines: u64,
    /// Weights that were rounded to floats.
    pub rounded: u64,
    /// The largest id below 2^31, plus one.
    pub end: u64,
    /// Whether there are larger ids.
    pub has_far_ids: bool,
}

impl TextFacts {
    /// As words, to be sent to other processes.
    #[must_use]
    pub fn words(&self) -> [u64; 5] {
        let far = u64::from(self.has_far_ids);
        [self.listed, self.lines, self.rounded, self.end, far]
    }

    /// Adds the facts of another share, by their words.
    pub fn add(&mut self, words: [u64; 5]) {
        let [listed, lines, rounded, end, far] = words;
        self.listed += listed;
        self.lines += lines;
        self.rounded += rounded;
        self.end = self.end.max(end);
        self.has_far_ids |= far != 0;
    }
}

/// Incoming edges of some nodes.
#[derive(Debug)]
#[non_exhaustive]
#[doc(hidden)]
pub struct TextPart {
    /// A row for each node, with the nodes from which edges lead there.
    pub rows: Csr,
    /// Loops among them.
    pub loops: u64,
    /// Edges beyond the first one with the same ends.
    pub parallel: u64,
    /// Undirected edges whose smaller end is one of the nodes.
    pub kept: u64,
}

impl TextFile {
    /// Opens a file and reads the lines before its edges. `None` if it has to be read as a whole.
    ///
    /// # Errors
    /// [`GraphError`] as [`load`](crate::load).
    pub fn open(path: &OsStr, options: &LoadOptions) -> Result<Option<Self>, GraphError> {
        let is_whole = options.listed_order || matches!(options.weights, WeightChoice::Scaled(_));
        if path == "-" || is_whole {
            return Ok(None);
        }
        let mut source = Source::open(path)?;
        let Some(end) = source.plain_bytes() else {
            return Ok(None);
        };
        let kind = kind_of(&mut source, options)?;
        if !matches!(kind, Kind::Text) {
            return Ok(None);
        }
        // Bytes before the text that are none of it.
        let mark = source.decoded_bytes();
        let name = source.name.clone();
        let gather = Gather {
            name: &name,
            options,
        };
        let mut rest = Vec::new();
        let opened = gather.open(&mut || next_piece(&mut source, &mut rest))?;
        let (layout, notes) = (opened.layout, opened.notes);
        let has_edges = matches!(layout.shape, Shape::Edge | Shape::Table(_));
        if !has_edges || layout.is_named() || notes.has_names {
            return Ok(None);
        }
        Ok(Some(Self {
            path: path.to_owned(),
            lines: opened.lines,
            bytes: (mark + opened.start).min(end)..end,
            options: options.clone(),
            name,
            layout,
            notes,
        }))
    }

    /// The file as the caller named it.
    #[must_use]
    pub fn path(&self) -> &OsStr {
        &self.path
    }

    /// How the file is read.
    #[must_use]
    pub const fn options(&self) -> &LoadOptions {
        &self.options
    }

    /// Whether every edge has its reverse.
    #[must_use]
    pub const fn is_symmetric(&self) -> bool {
        self.layout.undirected || self.options.undirected
    }

    /// Whether edges have the weights of the file.
    #[must_use]
    pub fn has_weights(&self) -> bool {
        self.gather().reads_weights(&self.layout)
    }

    /// The most directed edges that the file may list.
    #[must_use]
    pub fn edges_max(&self) -> u64 {
        let listed = (self.bytes.end - self.bytes.start).div_ceil(LINE_LEAST);
        listed * (1 + u64::from(self.is_symmetric()))
    }

    /// The bytes of the edges and the lines before them, by which processes compare their files.
    #[must_use]
    #[doc(hidden)]
    pub fn place(&self) -> [u64; 3] {
        [self.bytes.start, self.bytes.end, self.lines]
    }

    /// A digest of the file's length and of blocks spread over it, of all bytes up to 16 MiB, by which
    /// processes compare their files.
    ///
    /// # Errors
    /// [`GraphError::Io`].
    #[doc(hidden)]
    pub fn digest(&self) -> Result<u64, GraphError> {
        let file = File::open(&self.path).map_err(self.failed("open"))?;
        digest_of_sample(&file).map_err(self.failed("read"))
    }

    /// Whether edges name nodes by their numbers, which the file states, and not by any ids.
    #[must_use]
    #[doc(hidden)]
    pub const fn is_numbered(&self) -> bool {
        self.layout.header.is_some()
    }

    fn gather(&self) -> Gather<'_> {
        Gather {
            name: &self.name,
            options: &self.options,
        }
    }

    fn direction(&self) -> Direction {
        Direction::of(self.is_symmetric())
    }

    fn failed(&self, action: &'static str) -> impl Fn(io::Error) -> GraphError {
        move |source| GraphError::Io {
            file: self.name.clone(),
            action,
            source,
        }
    }

    fn short(&self) -> impl Fn(Shortage) -> GraphError {
        |short| GraphError::memory(&self.name, short)
    }

    /// Reads share `own` of `of`. Lines of errors count from the first one of the share; those before
    /// are [`Self::lines_before`] and the lines of the shares before this one.
    ///
    /// # Errors
    /// [`GraphError`] as [`load`](crate::load); [`GraphError::Changed`].
    #[doc(hidden)]
    pub fn share(&self, own: u32, of: u32) -> Result<TextShare, GraphError> {
        match self.has_weights() {
            true => self.read::<3>(own, of),
            false => self.read::<2>(own, of),
        }
    }

    /// Lines before the edges.
    #[must_use]
    #[doc(hidden)]
    pub const fn lines_before(&self) -> u64 {
        self.lines
    }

    fn read<const N: usize>(&self, own: u32, of: u32) -> Result<TextShare, GraphError>
    where
        [u32; N]: bytemuck::Pod,
    {
        let failed = |action| self.failed(action);
        let mut file = File::open(&self.path).map_err(failed("open"))?;
        let all = u128::from(self.bytes.end - self.bytes.start);
        let mut cut = |share: u32| {
            let at = (all * u128::from(share) / u128::from(of.max(1))) as u64;
            line_after(&mut file, self.bytes.start + at, &self.bytes).map_err(failed("read"))
        };
        let (first, end) = (cut(own)?, cut(own + 1)?);
        let mut all = Gathered::<N>::after(0);
        if first < end {
            file.seek(SeekFrom::Start(first)).map_err(failed("read"))?;
            let source = Source::of_reader(&self.name, Box::new(file.take(end - first)))?;
            let gather = self.gather();
            let read = with_pieces(source, None, |pieces| {
                gather.absorb_all(&mut all, &self.layout, pieces)
            });
            let ((), passed) = read?;
            if passed.decoded != end - first {
                return Err(GraphError::Changed {
                    file: self.name.clone(),
                });
            }
        }
        let ids = range_of(&all.edges);
        Ok(TextShare {
            words: cast_vec(all.edges),
            is_weighted: N == 3,
            kind: all.kind,
            rounded: all.rounded,
            listed: all.listed,
            lines: all.lines,
            has_far_ids: !all.far.is_empty(),
            ids,
        })
    }

    /// Words of bits that hold the ids of all shares, by the facts of all; `None` if there are ids that
    /// they do not hold, or too few edges for so many bits.
    #[must_use]
    #[doc(hidden)]
    pub fn bit_words(&self, facts: &TextFacts) -> Option<usize> {
        let noted = self.notes.nodes.iter().map(|id| id.saturating_add(1));
        let end = noted.max().unwrap_or(0).max(facts.end);
        let are_near = !facts.has_far_ids && end <= super::parsed::NEAR;
        let takes = are_near && Seen::bits_pay(end, facts.listed);
        takes.then_some(end.div_ceil(64) as usize)
    }

    /// Marks the ids of a share, and those of nodes without edges, in so many words of bits.
    ///
    /// # Errors
    /// [`GraphError::Memory`].
    #[doc(hidden)]
    pub fn bits(&self, share: &TextShare, words: usize) -> Result<Vec<u64>, GraphError> {
        let mut bits: Vec<AtomicU64> = Vec::new();
        memory::reserve_exact(&mut bits, words).map_err(self.short())?;
        bits.resize_with(words, AtomicU64::default);
        match share.is_weighted {
            true => Seen::mark::<3>(cast_slice(&share.words), &bits),
            false => Seen::mark::<2>(cast_slice(&share.words), &bits),
        }
        for id in &self.notes.nodes {
            if let Some(word) = bits.get_mut((id / 64) as usize) {
                *word.get_mut() |= 1 << (id % 64);
            }
        }
        Ok(bits.into_iter().map(AtomicU64::into_inner).collect())
    }

    /// Numbers the nodes by the bits of all ids that occur, and writes their numbers into the share.
    /// Returns the nodes, without edges.
    ///
    /// # Errors
    /// [`GraphError`] as [`load`](crate::load).
    #[doc(hidden)]
    pub fn number(
        &self,
        share: &mut TextShare,
        facts: &TextFacts,
        bits: Vec<u64>,
    ) -> Result<Graph, GraphError> {
        let gather = self.gather();
        let (nodes, ids) = match self.layout.header {
            Some(header) => {
                let lines = self.lines + facts.lines;
                gather.check_listed(&self.layout, header, facts.listed, lines)?;
                gather.numbered(header, self.notes.clone(), facts.listed)?
            }
            None => {
                let hint = gather.hint(&self.layout, &self.notes, facts.listed)?;
                let seen = Seen::of_bits(bits);
                let none = FarIds::default();
                let words = &mut share.words;
                let numbering = match share.is_weighted {
                    true => number_seen::<3>(cast_slice_mut(words), &seen, none, hint),
                    false => number_seen::<2>(cast_slice_mut(words), &seen, none, hint),
                };
                let numbering = numbering.map_err(|id| gather.outside(&self.notes, id))?;
                limits::check_nodes(&self.name, numbering.nodes, facts.listed, 0)?;
                (numbering.nodes, numbering.ids)
            }
        };
        self.nodes(nodes, ids)
    }

    fn nodes(&self, nodes: u64, ids: Ids) -> Result<Graph, GraphError> {
        check_counts(&self.name, nodes, 0, false)?;
        let none = Csr::without_edges(nodes as u32).map_err(self.short())?;
        Ok(Graph::from_parts(none, self.is_symmetric(), ids))
    }

    /// Ends of a share's edges that count for the rows of incoming edges, for each block of `block`
    /// nodes.
    #[must_use]
    #[doc(hidden)]
    pub fn ends_by_block(&self, share: &TextShare, nodes: u32, block: u32) -> Vec<u64> {
        let (block, first) = (block.max(1), usize::from(!self.is_symmetric()));
        let none = || vec![0_u64; nodes.div_ceil(block) as usize];
        let count = |mut counts: Vec<u64>, edge: &[u32]| {
            for end in &edge[first..2] {
                counts[(end / block) as usize] += 1;
            }
            counts
        };
        let counts = share.words.par_chunks_exact(share.width());
        let counts = counts.with_min_len(EDGES).fold(none, count);
        counts.reduce(none, |mut sums, counts| {
            sums.iter_mut()
                .zip(counts)
                .for_each(|(sum, count)| *sum += count);
            sums
        })
    }

    /// The words of a share's edges for each range of nodes that they lead to, or touch if they lead
    /// both ways; ranges begin at `cuts`. Frees the share.
    ///
    /// # Errors
    /// [`GraphError::Memory`].
    #[doc(hidden)]
    pub fn split(&self, share: TextShare, cuts: &[u32]) -> Result<Vec<Vec<u32>>, GraphError> {
        let owner = |end: u32| cuts[1..].partition_point(|cut| *cut <= end);
        let owners = |edge: &[u32]| {
            let to = owner(edge[1]);
            let from = owner(edge[0]);
            (to, (self.is_symmetric() && from != to).then_some(from))
        };
        let bytes = 4 * share.words.len() as u64 * (2 + u64::from(self.is_symmetric()));
        memory::check(bytes).map_err(self.short())?;
        let width = share.width();
        let split = |words: &[u32]| {
            let mut parts = vec![Vec::new(); cuts.len() - 1];
            for edge in words.chunks_exact(width) {
                let (to, from) = owners(edge);
                parts[to].extend_from_slice(edge);
                if let Some(from) = from {
                    parts[from].extend_from_slice(edge);
                }
            }
            parts
        };
        let pieces = share.words.par_chunks(width * EDGES).map(split);
        let pieces: Vec<Vec<Vec<u32>>> = pieces.collect();
        drop(share);
        let parts = (0..cuts.len() - 1).into_par_iter();
        let joined = parts.map(|rank| {
            let of_rank: Vec<&[u32]> = pieces.iter().map(|parts| &parts[rank][..]).collect();
            of_rank.concat()
        });
        Ok(joined.collect())
    }

    /// Makes the incoming rows of the nodes `own`, out of `nodes`, from the words of all edges that
    /// [`Self::split`] made for them.
    ///
    /// # Errors
    /// [`GraphError::Memory`]; [`GraphError::TooManyEdges`] for 2^32 and more.
    #[doc(hidden)]
    pub fn part(
        &self,
        words: Vec<u32>,
        own: Range<u32>,
        nodes: u32,
    ) -> Result<TextPart, GraphError> {
        let width = if self.has_weights() { 3 } else { 2 };
        let is_symmetric = self.is_symmetric();
        let rows = |edge: &[u32]| {
            let turned = is_symmetric && edge[0] != edge[1] && own.contains(&edge[0]);
            u64::from(own.contains(&edge[1])) + u64::from(turned)
        };
        let edges = words.par_chunks_exact(width).map(rows).sum();
        check_counts(&self.name, 0, edges, false)?;
        let built = match width {
            3 => build::rows_to::<3>(edges_of(words), own, nodes, self.direction()),
            _ => build::rows_to::<2>(edges_of(words), own, nodes, self.direction()),
        };
        let (rows, counts, kept) = built.map_err(self.short())?;
        Ok(TextPart {
            rows,
            loops: counts.loops.into(),
            parallel: counts.parallel.into(),
            kept,
        })
    }

    /// The nodes with the numbers of loops and parallel edges of all parts.
    #[must_use]
    #[doc(hidden)]
    pub fn with_counts(&self, nodes: Graph, loops: u64, parallel: u64) -> Graph {
        let word = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let counts = Counts {
            loops: word(loops),
            parallel: word(parallel),
            mirrored: 0,
        };
        nodes.with_counts(counts, Order::Weight)
    }
}

impl TextShare {
    /// What all shares have to know of this one.
    #[must_use]
    pub const fn facts(&self) -> TextFacts {
        TextFacts {
            listed: self.listed,
            lines: self.lines,
            rounded: self.rounded,
            end: self.ids.end,
            has_far_ids: self.has_far_ids,
        }
    }

    /// The kind of the weights so far.
    #[must_use]
    pub const fn kind(&self) -> WeightKind {
        self.kind
    }

    /// Widens the kind of the weights to hold those of another share too.
    pub fn widen(&mut self, kind: WeightKind) {
        let rounded = self.grow(kind);
        self.rounded += rounded;
    }

    const fn width(&self) -> usize {
        if self.is_weighted { 3 } else { 2 }
    }
}

impl Growing for TextShare {
    fn kind_mut(&mut self) -> &mut WeightKind {
        &mut self.kind
    }

    fn each(&mut self, change: &(dyn Fn(&mut u32) -> u64 + Sync)) -> u64 {
        match self.is_weighted {
            true => each_weight::<3>(cast_slice_mut(&mut self.words), change),
            false => 0,
        }
    }
}

/// The edges of words, which are as many as whole edges have.
fn edges_of<const N: usize>(words: Vec<u32>) -> Edges<N>
where
    [u32; N]: bytemuck::Pod,
{
    match try_cast_vec(words) {
        Ok(edges) => edges,
        // The capacity is no multiple of an edge.
        Err((_, words)) => words
            .chunks_exact(N)
            .map(|edge| std::array::from_fn(|at| edge[at]))
            .collect(),
    }
}

/// The place after the first newline at or after the byte before `at`, within `bytes`.
fn line_after(file: &mut File, at: u64, bytes: &Range<u64>) -> io::Result<u64> {
    if at <= bytes.start || at >= bytes.end {
        return Ok(at.clamp(bytes.start, bytes.end));
    }
    let mut place = at - 1;
    file.seek(SeekFrom::Start(place))?;
    let mut buffer = vec![0; STEP];
    loop {
        let held = file.read(&mut buffer)?;
        if held == 0 {
            return Ok(bytes.end);
        }
        if let Some(newline) = buffer[..held].iter().position(|byte| *byte == b'\n') {
            return Ok((place + newline as u64 + 1).min(bytes.end));
        }
        place += held as u64;
    }
}
