//! Waves that count triangles.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::error::ProgramError;
use super::wave::{Name, WaveSpec};
use seawall_core::abi::hubs::HubLayout;
use seawall_core::abi::program::Opcode;

/// Operands of the waves that count triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangles {
    /// Triangles at every node, 0 before the first wave. A word is enough: a
    /// node has at most as many as the graph has edges.
    pub corners: RegisterId,
    /// One direction of every edge: one word per edge of the graph.
    pub forward: RegisterId,
    /// Number of remaining edges of every node.
    pub degrees: RegisterId,
    /// Most entries of a row in the hash table of a warp or a block at a time; 0 for as many as fit
    /// its memory. The counts are the same for any number.
    pub held: u32,
    /// The first node from which triangles are looked for, and the node after the last: not all of
    /// them if several devices share them out.
    pub centers: Option<[u32; 2]>,
}

impl Triangles {
    /// A wave that counts the oriented edges at their corners, with the numbers of nodes before and
    /// after its centers, on a graph of `nodes` nodes.
    fn counting(self, name: &str, opcode: Opcode, nodes: u32) -> WaveSpec {
        let wave = WaveSpec::new(name, opcode).updating(self.corners);
        let wave = wave.reading(0, self.forward).reading(1, self.degrees);
        match self.centers {
            Some([first, end]) => wave.with(2, first).with(3, nodes.saturating_sub(end)),
            None => wave,
        }
    }
}

/// Nodes of many edges, between which edges are bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hubs {
    /// The register of [`ProgramBuilder::hubs`].
    pub register: RegisterId,
    /// Most hubs that there is space for: a power of two from 2^11 to 2^14.
    pub space: u32,
    /// Fewest edges of a hub. At most as many nodes as there is space for should reach it: further
    /// ones are dropped in an unspecified order, so counts at one corner may differ from run to
    /// run.
    pub least: u32,
    /// Whether triangles are counted at every corner, which takes the bits of both directions.
    pub corners: bool,
}

// Waves of the ready analyses: public for benchmarks and tests.
#[doc(hidden)]
impl ProgramBuilder {
    /// Keeps one direction of every edge, from the node of lower degree, or of lower number if
    /// degrees are equal.
    pub fn orient_edges(&mut self, name: &str, triangles: Triangles) {
        let wave = WaveSpec::new(name, Opcode::OrientEdges).writing(triangles.forward);
        self.push(wave.writing_source(0, triangles.degrees));
    }

    /// Adds the triangles of the oriented edges to their corners; the counts are complete only if
    /// the graph is symmetric.
    pub fn count_triangles(&mut self, name: &str, triangles: Triangles) {
        let wave = triangles.counting(name, Opcode::CountTriangles, self.nodes);
        self.push(wave.with(0, triangles.held));
    }

    /// Adds each triangle to the count of one corner, which is less work than
    /// [`Self::count_triangles`]: the sum of all words is the number of triangles. It is
    /// the one whose remaining edges lead to the two others.
    pub fn count_triangles_once(&mut self, name: &str, triangles: Triangles) {
        let wave = triangles.counting(name, Opcode::CountTriangles, self.nodes);
        self.push(wave.with(0, triangles.held).with(1, 1));
    }

    /// A register for `space` hubs.
    ///
    /// # Errors
    /// [`ProgramError::HubSpace`] if there is no such space, else as [`ProgramBuilder::words`].
    pub fn hubs(&mut self, name: impl Into<Name>, space: u32) -> Result<RegisterId, ProgramError> {
        let name = name.into();
        match HubLayout::new(self.nodes, space) {
            Some(layout) => self.words(name, layout.words()),
            None => Err(ProgramError::HubSpace {
                user: name.to_string(),
                space,
            }),
        }
    }

    /// Finds the hubs and ranks them: three waves.
    pub fn find_hubs(&mut self, [reset, pick, rank]: [&str; 3], hubs: Hubs) {
        let wave = WaveSpec::new(reset, Opcode::ResetHubs).writing(hubs.register);
        self.push(wave.with(0, hubs.space));
        let wave = WaveSpec::new(pick, Opcode::PickHubs).updating(hubs.register);
        self.push(wave.with(0, hubs.least));
        self.push(WaveSpec::new(rank, Opcode::RankHubs).updating(hubs.register));
    }

    /// Keeps edges as [`Self::orient_edges`], but edges of hubs separately:
    /// [`Self::count_triangles`] then leaves out triangles whose two higher corners are hubs.
    pub fn orient_by_hubs(&mut self, name: &str, triangles: Triangles, hubs: Hubs) {
        let wave = WaveSpec::new(name, Opcode::OrientHubs).writing(triangles.forward);
        self.push(
            wave.writing_source(0, triangles.degrees)
                .updating_source(1, hubs.register)
                .with(0, u32::from(hubs.corners)),
        );
    }

    /// Adds the triangles that other waves leave out after [`Self::orient_by_hubs`] to all corners,
    /// or to the lowest one.
    pub fn count_by_hubs(&mut self, name: &str, triangles: Triangles, hubs: Hubs) {
        let wave = triangles.counting(name, Opcode::CountHubs, self.nodes);
        let corners = u32::from(hubs.corners);
        self.push(wave.reading(2, hubs.register).with(0, corners));
    }
}
