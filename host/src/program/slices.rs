//! Waves that put incoming edges into slices.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::error::ProgramError;
use super::wave::WaveSpec;
use seawall_core::abi::program::Opcode;
use seawall_core::abi::slices::SliceLayout;

/// Sizes of slices of edges, as powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceShape {
    /// Nodes of a slice, at most 2^31: their contributions take four bytes each, and should fit the
    /// cache of the machine.
    pub width_log2: u32,
    /// Rows that are counted together, from 2^5 to 2^20. Any number makes the same slices; one of
    /// about 2^13 keeps both the scan of the parts and each part short.
    pub part_log2: u32,
}

impl SliceShape {
    /// Rows in slices of a graph of `nodes` nodes, a word each; `None` for sizes that there are
    /// not, and for more rows than words can count.
    #[must_use]
    pub fn rows(self, nodes: u32) -> Option<u32> {
        self.layout(nodes).map(SliceLayout::rows)
    }

    fn layout(self, nodes: u32) -> Option<SliceLayout> {
        SliceLayout::new(nodes, [self.width_log2, self.part_log2])
    }
}

/// Registers of incoming edges in slices, see [`ProgramBuilder::slices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    /// Sources of the edges: one word per edge of the graph.
    pub sources: RegisterId,
    /// Starts of the rows of all slices, one word for each node and slice.
    pub starts: RegisterId,
    /// Parts of the rows, a word each.
    pub parts: RegisterId,
    /// Their sizes.
    pub shape: SliceShape,
}

impl ProgramBuilder {
    /// Registers for `edges` incoming edges in slices of `shape`: four bytes for each edge, and for
    /// each node and slice.
    ///
    /// # Errors
    /// [`ProgramError::SliceShape`] if there are no such slices, else as [`ProgramBuilder::words`].
    pub fn slices(&mut self, shape: SliceShape, edges: u32) -> Result<Slices, ProgramError> {
        let layout = shape.layout(self.nodes);
        let layout = layout.ok_or_else(|| shape_error("slices", shape))?;
        Ok(Slices {
            sources: self.words("sliced edges", u64::from(edges))?,
            starts: self.words("starts in slices", u64::from(layout.start_words()))?,
            parts: self.words("parts of slices", u64::from(layout.part_words()))?,
            shape,
        })
    }

    /// Copies the incoming edges by slices of their sources: five waves, which read and write each
    /// edge once and the starts twice. They depend on the graph alone, so they may run
    /// [once](Self::once). The program reads incoming edges.
    pub fn slice_edges(&mut self, slices: Slices) {
        self.needs.incoming = true;
        self.fill("clear parts", slices.parts, 0);
        let count = WaveSpec::new("count slices", Opcode::CountSlices).writing(slices.starts);
        self.push(slices.shaping(count.updating_source(0, slices.parts)));
        self.push(WaveSpec::new("scan parts", Opcode::ScanSlices).updating(slices.parts));
        let place = WaveSpec::new("place slices", Opcode::PlaceSlices).updating(slices.starts);
        self.push(slices.shaping(place.reading(0, slices.parts)));
        let copy = WaveSpec::new("copy slices", Opcode::CopySlices).writing(slices.sources);
        self.push(slices.shaping(copy.reading(0, slices.starts)));
    }
}

impl Slices {
    /// The wave with the parameters of these slices.
    pub(super) fn shaping(self, wave: WaveSpec) -> WaveSpec {
        wave.with(0, self.shape.width_log2)
            .with(1, self.shape.part_log2)
    }
}

/// Refuses what is no shape of slices.
pub(super) fn shape_error(user: &str, shape: SliceShape) -> ProgramError {
    ProgramError::SliceShape {
        user: user.to_owned(),
        width_log2: shape.width_log2,
        part_log2: shape.part_log2,
    }
}
