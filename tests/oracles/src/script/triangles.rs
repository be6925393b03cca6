//! Counts of triangles in scripts.

use super::{Assembler, Slot, Wave};
use crate::graphs::EdgeList;
use crate::random::Random;
use seawall::program::{Hubs, ProgramBuilder, ProgramError, RegisterId, Triangles};
use seawall_core::abi::hubs::HUBS_LEAST;

/// A method of finding triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// By rows.
    Rows {
        /// Entries of a row kept at a time; 0 for as many as fit.
        held: u32,
    },
    /// By rows, and by bits for triangles with two corners of `least` edges or more.
    Hubs {
        /// Space for them: enough for all nodes, so that results do not depend on their order.
        space: u32,
        /// Fewest edges of a hub.
        least: u32,
    },
}

impl Finding {
    /// Draws a method.
    pub fn draw(random: &mut Random) -> Option<Self> {
        Some(match random.below(3) {
            2 => Self::Hubs {
                space: random.pick(&[HUBS_LEAST, 2 * HUBS_LEAST])?,
                least: random.pick(&[0, 2, 4, 9])?,
            },
            _ => Self::Rows {
                held: random.pick(&[0, 1, 3, 20])?,
            },
        })
    }
}

/// Registers for each count of triangles, the last ones first: oriented edges, their number at
/// each node, and hubs.
pub(super) fn oriented(
    program: &mut ProgramBuilder,
    waves: &[Wave],
    list: &EdgeList,
) -> Result<Vec<[RegisterId; 3]>, ProgramError> {
    // The graph may list each edge in both directions.
    let edges = 2 * list.edges.len() as u64;
    let counts = waves.iter().rev().filter_map(|wave| match wave {
        Wave::Triangles { by, .. } => Some(by),
        _ => None,
    });
    counts
        .map(|by| {
            Ok([
                program.words("forward", edges)?,
                program.words("degrees", u64::from(list.nodes))?,
                match by {
                    Finding::Rows { .. } => program.words("nothing", 1)?,
                    Finding::Hubs { space, .. } => program.hubs("hubs", *space)?,
                },
            ])
        })
        .collect()
}

impl Assembler {
    pub(super) fn add_triangles(&mut self, to: Slot, by: Finding, once: bool) {
        let Some([forward, degrees, other]) = self.oriented.pop() else {
            return;
        };
        let (held, is_shared) = match by {
            Finding::Rows { held } => (held, held % 2 == 1),
            Finding::Hubs { least, .. } => (0, least % 2 == 1),
        };
        let triangles = Triangles {
            corners: self.at(to),
            forward,
            degrees,
            held,
            centers: None,
        };
        // Counts from some nodes and from the others add up to those of all.
        let nodes = self.program_nodes;
        let parts = match is_shared {
            true => &[Some([0, nodes / 3]), Some([nodes / 3, nodes])][..],
            false => &[None],
        };
        let from = |centers: &Option<[u32; 2]>| Triangles {
            centers: *centers,
            ..triangles
        };
        self.program.fill("clear", triangles.corners, 0);
        match by {
            Finding::Rows { .. } => {
                self.program.orient_edges("orient", triangles);
            }
            Finding::Hubs { space, least } => {
                let hubs = Hubs {
                    register: other,
                    space,
                    least,
                    corners: !once,
                };
                self.program.find_hubs(["reset", "pick", "rank"], hubs);
                self.program.orient_by_hubs("orient", triangles, hubs);
                for centers in parts {
                    self.program.count_by_hubs("pairs", from(centers), hubs);
                }
            }
        }
        for centers in parts {
            if once {
                self.program.count_triangles_once("count", from(centers));
            } else {
                self.program.count_triangles("count", from(centers));
            }
        }
    }
}
