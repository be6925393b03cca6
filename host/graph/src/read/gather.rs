//! Joins pieces of text into one graph.
//!
//! Finds the layout from the first lines, parses pieces in parallel, and absorbs their edges in
//! the order of the file. This keeps line numbers exact and the result independent of the number
//! of threads. The only large memory here is the edge buffer that the rows are later packed into.

use std::sync::mpsc::{Receiver, sync_channel};

use rayon::prelude::*;

use super::body;
use super::chunks::{LINE_BYTES, Passed, Piece, next_batch, pump};
use super::dense::Cursor;
use super::fields::{Fields, line_of};
use super::header_sniffer::{HeaderSniffer, Step};
use super::labels::{self, FarIds, Hint};
use super::layout::{Header, Layout, Shape, Values};
use super::named::Names;
use super::parsed::Parsed;
use super::quote::quote;
use super::rows::{Rows, line_beyond};
use super::source::Source;
use super::table::{NamedEnds, Wish};
use crate::build::{self, Direction, Edges, MAX_NODES, Order};
use crate::dedup;
use crate::ids::Ids;
use crate::limits;
use crate::load::{LoadOptions, LoadStats, Loaded, Progress};
use crate::memory;
use crate::mirror;
use crate::model::check_counts;
use crate::notes::Notes;
use crate::scale::Scale;
use crate::weights::{Growing, each_weight};
use crate::{Graph, GraphError, LineProblem, WeightKind};

/// Reads any text format.
pub(super) fn load_text(
    source: Source,
    options: &LoadOptions,
    progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    let name = source.name.clone();
    let compression = source.compression;
    let gather = Gather {
        name: &name,
        options,
    };
    let read = with_pieces(source, progress, |pieces| gather.run(pieces));
    let ((graph, stats), passed) = read?;
    let stats = LoadStats {
        compression,
        bytes: passed.raw,
        text_bytes: passed.decoded,
        ..stats
    };
    Ok(Loaded { graph, stats })
}

/// Calls `take` with the pieces of a source, which another thread reads.
pub(super) fn with_pieces<T>(
    source: Source,
    progress: Option<&dyn Progress>,
    take: impl FnOnce(&Receiver<Piece>) -> Result<T, GraphError>,
) -> Result<(T, Passed), GraphError> {
    let (sender, pieces) = sync_channel(2 * rayon::current_num_threads());
    std::thread::scope(|scope| {
        let reading = std::thread::Builder::new()
            .name("seawall-reader".to_owned())
            .spawn_scoped(scope, move || pump(source, &sender, progress))
            .map_err(|error| GraphError::Threads {
                reason: error.to_string(),
            })?;
        let taken = take(&pieces);
        // Without a receiver the reading thread ends.
        drop(pieces);
        let passed = reading.join().unwrap_or_else(|_| Passed::default());
        Ok((taken?, passed))
    })
}

/// The parsing side of a load.
pub(super) struct Gather<'a> {
    pub(super) name: &'a str,
    pub(super) options: &'a LoadOptions,
}

/// Start of the edges.
pub(super) struct Opened {
    pub(super) layout: Layout,
    pub(super) notes: Notes,
    named_ends: Option<NamedEnds>,
    /// Bytes before the rest.
    pub(super) start: u64,
    /// The rest of the piece in which they start.
    rest: Vec<u8>,
    pub(super) lines: u64,
}

/// Content of all pieces together.
pub(super) struct Gathered<const N: usize> {
    pub(super) edges: Edges<N>,
    pub(super) far: FarIds,
    names: Names,
    scaled: [u64; 2],
    pub(super) listed: u64,
    rows: u64,
    cursor: Cursor,
    pub(super) kind: WeightKind,
    pub(super) rounded: u64,
    pub(super) lines: u64,
}

impl Gather<'_> {
    fn run(&self, pieces: &Receiver<Piece>) -> Result<(Graph, LoadStats), GraphError> {
        let opened = self.open(&mut || pieces.recv().ok())?;
        if self.reads_weights(&opened.layout) {
            self.edges::<3>(opened, pieces)
        } else {
            self.edges::<2>(opened, pieces)
        }
    }

    /// Whether edges have the weights of the file.
    pub(super) fn reads_weights(&self, layout: &Layout) -> bool {
        self.options.weights.are_read() && layout.values == Values::Required
    }

    fn at(&self, line: u64, problem: LineProblem) -> GraphError {
        GraphError::Line {
            file: self.name.to_owned(),
            line,
            problem,
        }
    }

    fn lines_of(&self, piece: Piece, lines: u64) -> Result<Vec<u8>, GraphError> {
        match piece {
            Piece::Lines(bytes) => Ok(bytes),
            Piece::TooLong => Err(self.at(lines + 1, LineProblem::TooLong { limit: LINE_BYTES })),
            Piece::Failed(error) => Err(error),
        }
    }

    /// Reads the lines before the edges, from the pieces that `next` returns.
    pub(super) fn open(
        &self,
        next: &mut dyn FnMut() -> Option<Piece>,
    ) -> Result<Opened, GraphError> {
        let mut header_sniffer = HeaderSniffer::new(
            self.options.format,
            super::named(self.options, self.name),
            Wish::of(self.options),
        );
        let (mut lines, mut passed) = (0, 0);
        while let Some(piece) = next() {
            let bytes = self.lines_of(piece, lines)?;
            let mut fields = Fields::new(&bytes);
            while !fields.is_done() {
                let start = fields.position();
                fields.next_line();
                let (end, line) = (fields.position(), &bytes[start..]);
                let (layout, from, before) = match header_sniffer
                    .line(line)
                    .map_err(|p| self.at(lines + 1, p))?
                {
                    Step::Taken => {
                        lines += 1;
                        continue;
                    }
                    Step::Done(layout) => (layout, end, lines + 1),
                    Step::Edge(layout) => (layout, start, lines),
                    Step::Unknown => return Err(self.unknown(lines + 1, line)),
                };
                return Ok(Opened {
                    layout: self.with_options(layout)?,
                    named_ends: header_sniffer.take_named_ends(),
                    notes: header_sniffer.take_notes(),
                    start: passed + from as u64,
                    rest: bytes[from..].to_vec(),
                    lines: before,
                });
            }
            passed += bytes.len() as u64;
        }
        match header_sniffer.end().map_err(|p| self.at(lines.max(1), p))? {
            Some(layout) => Ok(Opened {
                layout: self.with_options(layout)?,
                start: passed,
                named_ends: header_sniffer.take_named_ends(),
                notes: header_sniffer.take_notes(),
                rest: Vec::new(),
                lines,
            }),
            None => Err(GraphError::Empty {
                file: self.name.to_owned(),
            }),
        }
    }

    fn with_options(&self, layout: Layout) -> Result<Layout, GraphError> {
        Ok(Layout {
            factor: super::factor(self.options, self.name)?,
            signed: self.options.signed,
            ..layout
        })
    }

    fn unknown(&self, line: u64, bytes: &[u8]) -> GraphError {
        let first = line_of(bytes)
            .split(u8::is_ascii_whitespace)
            .next()
            .unwrap_or(&[]);
        GraphError::UnknownFormat {
            file: self.name.to_owned(),
            line,
            value: quote(first),
        }
    }

    fn edges<const N: usize>(
        &self,
        opened: Opened,
        pieces: &Receiver<Piece>,
    ) -> Result<(Graph, LoadStats), GraphError>
    where
        [u32; N]: bytemuck::Pod,
    {
        let layout = opened.layout;
        let mut all = Gathered::<N>::after(opened.lines);
        self.absorb_batch(&mut all, &layout, vec![Piece::Lines(opened.rest)])?;
        self.absorb_all(&mut all, &layout, pieces)?;
        if layout.is_named()
            && let Some(ends) = opened.named_ends
        {
            self.check_header(&all.names, ends)?;
        }
        self.finish(all, &layout, opened.notes)
    }

    /// Absorbs all pieces.
    pub(super) fn absorb_all<const N: usize>(
        &self,
        all: &mut Gathered<N>,
        layout: &Layout,
        pieces: &Receiver<Piece>,
    ) -> Result<(), GraphError> {
        loop {
            let batch = next_batch(pieces, rayon::current_num_threads());
            if batch.is_empty() {
                return Ok(());
            }
            self.absorb_batch(all, layout, batch)?;
        }
    }

    fn absorb_batch<const N: usize>(
        &self,
        all: &mut Gathered<N>,
        layout: &Layout,
        batch: Vec<Piece>,
    ) -> Result<(), GraphError> {
        let parse = |piece| match piece {
            Piece::Lines(bytes) => (
                Some(body::parse::<N>(&bytes, layout, u64::MAX)),
                Piece::Lines(bytes),
            ),
            other => (None, other),
        };
        let parsed: Vec<_> = batch.into_par_iter().map(parse).collect();
        for (parsed, piece) in parsed {
            let bytes = self.lines_of(piece, all.lines)?;
            if let Some(parsed) = parsed {
                self.absorb(all, layout, parsed, &bytes)?;
            }
        }
        Ok(())
    }

    fn absorb<const N: usize>(
        &self,
        all: &mut Gathered<N>,
        layout: &Layout,
        mut parsed: Parsed<N>,
        bytes: &[u8],
    ) -> Result<(), GraphError> {
        if let Shape::Rows(format) = &layout.shape {
            self.check_rows(all, format, &parsed, bytes)?;
        } else if let Some(header) = layout.header {
            let space = header.edges - all.listed;
            if parsed.listed > space {
                let again = body::parse::<N>(bytes, layout, space);
                return Err(self.count(all.lines + again.lines, header.edges, header.edges + 1));
            }
        }
        if let Some((line, problem)) = parsed.problem {
            return Err(self.at(all.lines + line, problem));
        }
        let names = all
            .names
            .settle(&parsed.names, layout.is_named(), &mut parsed.edges);
        let names = names.map_err(|short| GraphError::memory(self.name, short))?;
        if names.is_none() || !all.far.settle(&parsed.far, &mut parsed.edges) {
            return Err(self.too_many_nodes());
        }
        let undirected = layout.undirected || self.options.undirected;
        let count = (all.edges.len() + parsed.edges.len()) as u64;
        check_counts(self.name, 0, count, undirected)?;
        all.agree(&mut parsed);
        all.place(layout, &mut parsed);
        memory::reserve(&mut all.edges, parsed.edges.len())
            .map_err(|short| GraphError::memory(self.name, short))?;
        all.edges.append(&mut parsed.edges);
        all.rounded += parsed.rounded;
        all.scaled[0] += parsed.scaled[0];
        all.scaled[1] += parsed.scaled[1];
        all.listed += parsed.listed;
        all.rows += parsed.rows;
        all.lines += parsed.lines;
        Ok(())
    }

    fn too_many_nodes(&self) -> GraphError {
        GraphError::TooManyNodes {
            file: self.name.to_owned(),
            nodes: MAX_NODES + 1,
            limit: MAX_NODES,
        }
    }

    fn count(&self, line: u64, promised: u64, found: u64) -> GraphError {
        GraphError::EdgeCount {
            file: self.name.to_owned(),
            line,
            promised,
            found,
        }
    }

    fn finish<const N: usize>(
        &self,
        mut all: Gathered<N>,
        layout: &Layout,
        notes: Notes,
    ) -> Result<(Graph, LoadStats), GraphError>
    where
        [u32; N]: bytemuck::Pod,
    {
        let (nodes, ids) = match layout.header {
            Some(header) => {
                self.check_counts(&all, layout, header)?;
                self.numbered(header, notes, all.listed)?
            }
            None => self.number(&mut all, layout, notes)?,
        };
        check_counts(self.name, nodes, 0, false)?;
        let undirected = layout.undirected || self.options.undirected;
        let listed = match layout.shape {
            Shape::Dense(_) => all.edges.len() as u64,
            _ => all.listed,
        };
        let is_row_wise = matches!(layout.shape, Shape::Rows(_));
        let direction = Direction::of(undirected && !is_row_wise);
        let order = Order::of(self.options.listed_order);
        let built = build::rows(all.edges, nodes as u32, direction, order);
        let (mut csr, mut counts) = built.map_err(|short| GraphError::memory(self.name, short))?;
        if is_row_wise && counts.loops > 0 {
            csr = dedup::halve_loops(csr);
            counts = dedup::count(&csr);
        }
        if is_row_wise && let Some((from, to)) = mirror::first_unmatched(&csr) {
            return Err(GraphError::OneSided {
                file: self.name.to_owned(),
                from: u64::from(from) + 1,
                to: u64::from(to) + 1,
            });
        }
        let stats = LoadStats {
            listed_edges: listed,
            mirrored: counts.mirrored,
            rounded_weights: all.rounded,
            compacted: matches!(ids, Ids::Table(_)),
            scale: self.scale(layout, all.scaled),
            ..LoadStats::of(layout.format)
        };
        let graph = Graph::from_parts(csr, undirected || is_row_wise, ids).with_kind(all.kind);
        Ok((graph.with_counts(counts, order), stats))
    }

    /// The effect of scaling, if there were weights.
    fn scale(&self, layout: &Layout, [rounded, vanished]: [u64; 2]) -> Option<Scale> {
        let factor = layout
            .factor
            .filter(|_| layout.values == Values::Required)?;
        Some(Scale {
            factor: factor.value,
            rounded,
            vanished,
        })
    }

    /// Refuses a header whose words are nodes too: it may be the first edge.
    fn check_header(&self, names: &Names, ends: NamedEnds) -> Result<(), GraphError> {
        let [from, to] = ends.names;
        let Some(name) = [&from, &to].into_iter().find(|end| names.has(end)) else {
            return Ok(());
        };
        let problem = LineProblem::HeaderOrEdge {
            name: name.clone(),
            value: format!("{from} {to}"),
        };
        Err(self.at(ends.line, problem))
    }

    /// Refuses a file whose header promises more than the file holds.
    fn check_counts<const N: usize>(
        &self,
        all: &Gathered<N>,
        layout: &Layout,
        header: Header,
    ) -> Result<(), GraphError> {
        match layout.shape {
            Shape::Rows(rows) if all.rows < rows.nodes => Err(GraphError::RowCount {
                file: self.name.to_owned(),
                promised: rows.nodes,
                found: all.rows,
            }),
            Shape::Rows(_) if header.edges != all.listed => Err(GraphError::NeighbourCount {
                file: self.name.to_owned(),
                promised: header.edges / 2,
                found: all.listed,
            }),
            _ => self.check_listed(layout, header, all.listed, all.lines),
        }
    }

    /// Refuses other numbers of edges than the header promises, at the last of all lines.
    pub(super) fn check_listed(
        &self,
        layout: &Layout,
        header: Header,
        listed: u64,
        lines: u64,
    ) -> Result<(), GraphError> {
        // Files of colours often count an edge in both directions and list it once.
        let is_twice = layout.letter == Some(b'e') && header.edges == 2 * listed;
        if is_twice || header.edges == listed {
            return Ok(());
        }
        Err(self.count(lines, header.edges, listed))
    }

    /// Refuses lines for more nodes than the header promises.
    fn check_rows<const N: usize>(
        &self,
        all: &Gathered<N>,
        format: &Rows,
        parsed: &Parsed<N>,
        bytes: &[u8],
    ) -> Result<(), GraphError> {
        let space = format.nodes.saturating_sub(all.rows);
        if parsed.rows < space {
            return Ok(());
        }
        match line_beyond(bytes, space) {
            Some((line, problem)) => Err(self.at(all.lines + line, problem)),
            None => Ok(()),
        }
    }

    /// Numbers the nodes of a list of edges, and those that the notes add.
    fn number<const N: usize>(
        &self,
        all: &mut Gathered<N>,
        layout: &Layout,
        notes: Notes,
    ) -> Result<(u64, Ids), GraphError> {
        let short = |short| GraphError::memory(self.name, short);
        let listed = all.edges.len();
        if layout.is_named() || notes.has_names {
            for name in &notes.names {
                let label = all.names.label(name).map_err(short)?;
                label.ok_or_else(|| self.too_many_nodes())?;
            }
            return Ok(std::mem::take(&mut all.names).number(&mut all.edges, false));
        }
        memory::reserve(&mut all.edges, notes.nodes.len()).map_err(short)?;
        for &id in &notes.nodes {
            // An edge for the time of numbering.
            if !all.far.add_node(id, &mut all.edges) {
                return Err(self.too_many_nodes());
            }
        }
        let hint = self.hint(layout, &notes, all.listed)?;
        let far = std::mem::take(&mut all.far);
        let numbering = labels::number(&mut all.edges, far, hint);
        all.edges.truncate(listed);
        let numbering = numbering.map_err(|id| self.outside(&notes, id))?;
        limits::check_nodes(self.name, numbering.nodes, all.listed, 0)?;
        Ok((numbering.nodes, numbering.ids))
    }

    /// The statement of the file on its nodes. That of a comment is checked once it turns out to
    /// count.
    pub(super) fn hint(
        &self,
        layout: &Layout,
        notes: &Notes,
        listed: u64,
    ) -> Result<Hint, GraphError> {
        Ok(match (&notes.range, layout.hinted_nodes) {
            (Some(range), _) => {
                let nodes = (range.end() - range.start()).saturating_add(1);
                limits::check_nodes(self.name, nodes, listed, 0)?;
                Hint::Range(range.clone())
            }
            (None, Some(nodes)) => Hint::Count(nodes),
            (None, None) => Hint::None,
        })
    }

    pub(super) fn outside(&self, notes: &Notes, id: u64) -> GraphError {
        self.at(notes.line, LineProblem::IdOutsideNote { value: id })
    }

    /// The nodes and ids of a format with numbered nodes.
    pub(super) fn numbered(
        &self,
        header: Header,
        notes: Notes,
        listed: u64,
    ) -> Result<(u64, Ids), GraphError> {
        let (nodes, line) = (header.nodes, notes.line);
        limits::check_nodes(self.name, nodes, listed, 0)?;
        let wrong = |found| self.at(line, LineProblem::IdCount { found, nodes });
        Ok((nodes, notes.ids(nodes).map_err(wrong)?))
    }
}

impl<const N: usize> Gathered<N> {
    /// Nothing yet, after as many lines.
    pub(super) fn after(lines: u64) -> Self {
        Self {
            edges: Vec::new(),
            far: FarIds::default(),
            names: Names::default(),
            scaled: [0; 2],
            listed: 0,
            rows: 0,
            cursor: Cursor::default(),
            kind: WeightKind::Integer,
            rounded: 0,
            lines,
        }
    }

    /// Sets the ends of a piece's edges, where they hold positions within the piece.
    fn place(&mut self, layout: &Layout, parsed: &mut Parsed<N>) {
        match &layout.shape {
            Shape::Edge | Shape::Table(_) => {}
            Shape::Rows(_) => {
                // Lines beyond the header's nodes have no neighbours, so this fits 32 bits.
                let before = self.rows as u32;
                parsed.edges.iter_mut().for_each(|edge| edge[0] += before);
            }
            Shape::Dense(dense) => {
                for edge in &mut parsed.edges {
                    let position = self.listed + u64::from(edge[0]);
                    [edge[0], edge[1]] = self.cursor.place(dense, position);
                }
            }
        }
    }

    /// Makes the weights so far and those of the next piece of one kind.
    fn agree(&mut self, next: &mut Parsed<N>) {
        self.rounded += self.grow(next.kind);
        next.rounded += next.grow(self.kind);
        // Whole weights of the next piece may not fit beside negative ones so far.
        self.rounded += self.grow(next.kind);
    }
}

impl<const N: usize> Growing for Gathered<N> {
    fn kind_mut(&mut self) -> &mut WeightKind {
        &mut self.kind
    }

    fn each(&mut self, change: &(dyn Fn(&mut u32) -> u64 + Sync)) -> u64 {
        each_weight(&mut self.edges, change)
    }
}
