//! Waves that put incoming edges into slices.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::error::ProgramError;
use super::operands::{SliceShape, shape_error};
use super::wave::WaveSpec;
use crate::graph::Csr;
use rayon::prelude::*;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::slices::{list_words, map_words};

/// Nodes whose words a gather along slices reads so often that they are copied side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrequentSources {
    /// Fewest outgoing edges of such a node.
    pub least_edges: u32,
    /// Number of nodes with this degree or more. With another number a gather is still correct, but
    /// less local.
    pub count: u32,
}

/// Registers of frequent sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frequent {
    /// Map of these sources.
    pub sources: FrequentSources,
    /// The node at each place.
    pub list: RegisterId,
    /// Number of places.
    pub map: RegisterId,
    /// One word: the number of these nodes.
    pub count: RegisterId,
}

/// Registers of incoming edges in slices, see [`ProgramBuilder::slices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    /// Sources of the edges: one word per edge of the graph.
    pub sources: RegisterId,
    /// Offsets of the rows of all slices, one word for each node and slice.
    pub starts: RegisterId,
    /// Parts of the rows, two words each, and their sum.
    pub parts: RegisterId,
    /// List of the rows that have edges.
    pub rows: RegisterId,
    /// Sizes of the slices.
    pub shape: SliceShape,
    /// Sources whose words lie side by side.
    pub frequent: Option<Frequent>,
}

// Waves of the ready analyses: public for benchmarks and tests.
#[doc(hidden)]
impl ProgramBuilder {
    /// Registers for `incoming` edges in slices of `shape`: four bytes for each edge, and for each
    /// node and slice, and eight for each row that may have an edge. Takes one pass over the row
    /// offsets, on all threads.
    ///
    /// # Errors
    /// [`ProgramError::SliceShape`] if there are no such slices, else as [`ProgramBuilder::words`].
    pub fn slices(&mut self, shape: SliceShape, incoming: &Csr) -> Result<Slices, ProgramError> {
        let layout = shape.layout(self.nodes);
        let layout = layout.ok_or_else(|| shape_error("slices", shape))?;
        let (edges, rows) = (incoming.edges(), rows_most(incoming, layout.slices()));
        Ok(Slices {
            sources: self.words("sliced edges", u64::from(edges))?,
            starts: self.words("starts in slices", u64::from(layout.start_words()))?,
            parts: self.words("parts of slices", u64::from(layout.part_words()))?,
            rows: self.words("rows in slices", list_words(rows))?,
            shape,
            frequent: None,
        })
    }

    /// Registers for frequent sources in addition to those of `slices`: four bytes for each, and a
    /// quarter of a byte for each node. [Contributions](super::Ranks::contributions) along these
    /// slices have a word more for each.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`].
    pub fn frequent_sources(
        &mut self,
        slices: Slices,
        sources: FrequentSources,
    ) -> Result<Slices, ProgramError> {
        let frequent = Frequent {
            sources,
            list: self.words("frequent sources", u64::from(sources.count))?,
            map: self.words("places of sources", map_words(self.nodes).into())?,
            count: self.words("sources with a place", 1)?,
        };
        Ok(Slices {
            frequent: Some(frequent),
            ..slices
        })
    }

    /// Copies the incoming edges by slices of their sources: five waves, or seven with frequent
    /// sources, which read and write each edge once and the offsets twice. They depend only on the
    /// graph, so they may run [once](Self::once). The program reads incoming edges.
    pub fn slice_edges(&mut self, slices: Slices) {
        self.needs.incoming = true;
        if let Some(frequent) = slices.frequent {
            self.fill("place no source", frequent.count, 0);
            let pick = WaveSpec::new("pick sources", Opcode::PickFrequent).writing(frequent.map);
            let pick = pick.writing_source(0, frequent.list);
            let pick = pick.updating_source(1, frequent.count);
            self.push(pick.with(0, frequent.sources.least_edges));
        }
        self.fill("clear parts", slices.parts, 0);
        let count = WaveSpec::new("count slices", Opcode::CountSlices).writing(slices.starts);
        self.push(slices.shaping(count.updating_source(0, slices.parts)));
        let scan = WaveSpec::new("scan parts", Opcode::ScanSlices).updating(slices.parts);
        self.push(slices.shaping(scan));
        let place = WaveSpec::new("place slices", Opcode::PlaceSlices).updating(slices.starts);
        let place = place.reading(0, slices.parts);
        self.push(slices.shaping(place.writing_source(1, slices.rows)));
        let copy = WaveSpec::new("copy slices", Opcode::CopySlices).writing(slices.sources);
        let copy = copy.reading(0, slices.starts);
        self.push(slices.shaping(match slices.frequent {
            Some(frequent) => copy.reading(1, frequent.map),
            None => copy,
        }));
    }

    /// Copies the words of frequent sources in `words` to their places.
    pub(super) fn copy_frequent(&mut self, slices: Slices, words: RegisterId) {
        if let Some(frequent) = slices.frequent {
            let copy = WaveSpec::new("copy frequent", Opcode::CopyFrequent).updating(words);
            self.push(copy.reading(0, frequent.list));
        }
    }
}

impl Slices {
    /// The wave with the parameters of these slices.
    pub(super) fn shaping(self, wave: WaveSpec) -> WaveSpec {
        wave.with(0, self.shape.width_log2)
            .with(1, self.shape.part_log2)
    }
}

/// Most rows that may have edges in a number of slices: one for each edge of a node, and each
/// slice.
fn rows_most(incoming: &Csr, slices: u32) -> u32 {
    let rows = incoming.offsets().par_windows(2);
    rows.map(|row| (row[1] - row[0]).min(slices)).sum()
}
