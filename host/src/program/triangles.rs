//! Waves that count triangles.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::wave::WaveSpec;
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
    /// Most entries of a row that a warp or a block holds at a time; 0 for as many as fit its
    /// memory. The counts are the same for any number.
    pub held: u32,
}

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
        let wave = WaveSpec::new(name, Opcode::CountTriangles).updating(triangles.corners);
        self.push(
            wave.reading(0, triangles.forward)
                .reading(1, triangles.degrees)
                .with(0, triangles.held),
        );
    }

    /// Adds each triangle to the count of one corner, which is less work than
    /// [`Self::count_triangles`]: the sum of all words is the number of triangles. It is
    /// one of the two whose edges to the third one remain.
    pub fn count_triangles_once(&mut self, name: &str, triangles: Triangles) {
        let wave = WaveSpec::new(name, Opcode::CountTriangles).updating(triangles.corners);
        self.push(
            wave.reading(0, triangles.forward)
                .reading(1, triangles.degrees)
                .with(0, triangles.held)
                .with(1, 1),
        );
    }
}
