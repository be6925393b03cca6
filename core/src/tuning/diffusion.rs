//! Priorities that flow between siblings and never get lost.
//!
//! Diffusion moves priority along the edges of an undirected graph. A neighbour receives exactly
//! the amount that a node loses, so the total is conserved up to rounding. The explicit step is
//! stable only for small damping, so larger values are refused.

/// An undirected graph in compressed rows that has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SiblingGraph<'a> {
    offsets: &'a [u32],
    targets: &'a [u32],
    nodes: usize,
    max_degree: u32,
}

/// The reason why compressed rows are no sibling graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum GraphError {
    /// Offsets do not start at 0, fall, or do not end at the number of targets.
    #[error("the offsets go wrong at row {row}; they rise from 0 to the number of targets")]
    InvalidOffsets {
        /// The row at which they go wrong.
        row: usize,
    },
    /// A target is no node.
    #[error("row {row} names node {target} of {nodes}; pass one offset per node and one more")]
    InvalidTarget {
        /// The row.
        row: usize,
        /// The target.
        target: u32,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// A row's targets are not strictly ascending.
    #[error("row {row} is not strictly ascending; sort and deduplicate it")]
    UnsortedRow {
        /// The row.
        row: usize,
    },
    /// An edge has no opposite edge.
    #[error("edge {from} to {to} has no opposite; add it")]
    Asymmetric {
        /// First node of the edge.
        from: usize,
        /// Second node of the edge.
        to: u32,
    },
}

kinds! { GraphError {
    InvalidOffsets => "invalid_offsets",
    InvalidTarget => "invalid_target",
    UnsortedRow => "unsorted_row",
    Asymmetric => "asymmetric",
} }

impl<'a> SiblingGraph<'a> {
    /// Checks compressed rows: `offsets` holds one element per node and one more (or nothing at
    /// all), each row is strictly ascending, and each edge has its opposite. A loop carries
    /// nothing, but counts in the degree.
    ///
    /// O(nodes + edges · log degree), no memory.
    ///
    /// # Errors
    /// [`GraphError`] of the first bad row.
    pub fn new(offsets: &'a [u32], targets: &'a [u32]) -> Result<Self, GraphError> {
        check_offsets(offsets, targets)?;
        let mut graph = Self {
            offsets,
            targets,
            nodes: offsets.len().saturating_sub(1),
            max_degree: 0,
        };
        for row in 0..graph.nodes {
            graph.check_row(row)?;
            let degree = u32::try_from(graph.row(row).len()).unwrap_or(u32::MAX);
            graph.max_degree = graph.max_degree.max(degree);
        }
        (0..graph.nodes).try_for_each(|row| graph.check_opposites(row))?;
        Ok(graph)
    }

    /// Nodes of the graph.
    #[must_use]
    pub const fn nodes(&self) -> usize {
        self.nodes
    }

    /// Largest degree of a node.
    #[must_use]
    pub const fn max_degree(&self) -> u32 {
        self.max_degree
    }

    /// Largest stable damping: 1 / (2 · largest degree); infinite without edges.
    #[must_use]
    pub fn max_damping(&self) -> f64 {
        1.0 / (2.0 * f64::from(self.max_degree))
    }

    fn row(&self, row: usize) -> &'a [u32] {
        let end = self.offsets.get(row.saturating_add(1)).copied();
        match (self.offsets.get(row).copied(), end) {
            (Some(start), Some(end)) => self
                .targets
                .get(start as usize..end as usize)
                .unwrap_or_default(),
            _ => &[],
        }
    }

    fn check_row(&self, row: usize) -> Result<(), GraphError> {
        let targets = self.row(row);
        let nodes = self.nodes;
        if let Some(&target) = targets.iter().find(|target| **target as usize >= nodes) {
            return Err(GraphError::InvalidTarget { row, target, nodes });
        }
        if targets.is_sorted_by(|a, b| a < b) {
            Ok(())
        } else {
            Err(GraphError::UnsortedRow { row })
        }
    }

    fn check_opposites(&self, from: usize) -> Result<(), GraphError> {
        for &to in self.row(from) {
            let opposite = u32::try_from(from).is_ok_and(|from| self.has(to, from));
            if !opposite {
                return Err(GraphError::Asymmetric { from, to });
            }
        }
        Ok(())
    }

    fn has(&self, row: u32, target: u32) -> bool {
        self.row(row as usize).binary_search(&target).is_ok()
    }
}

fn check_offsets(offsets: &[u32], targets: &[u32]) -> Result<(), GraphError> {
    let mut last = 0;
    for (row, &offset) in (0..offsets.len()).zip(offsets) {
        if offset < last || (row == 0 && offset != 0) {
            return Err(GraphError::InvalidOffsets { row });
        }
        last = offset;
    }
    if last as usize == targets.len() {
        Ok(())
    } else {
        let row = offsets.len().saturating_sub(1);
        Err(GraphError::InvalidOffsets { row })
    }
}

/// Strength and length of a diffusion.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Diffusion {
    /// Share of a difference that crosses an edge in one step; 0 to [`SiblingGraph::max_damping`].
    pub damping: f64,
    /// Steps.
    pub iterations: u32,
}

/// The reason why priorities cannot be diffused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum DiffusionError {
    /// A slice does not hold one element per node.
    #[error("{field} holds {provided} elements; pass {needed}")]
    ShapeMismatch {
        /// The argument.
        field: &'static str,
        /// Elements needed.
        needed: usize,
        /// Elements provided.
        provided: usize,
    },
    /// The damping is negative, not finite or too large to be stable.
    #[error("a damping of {damping}; choose 0 to {max}")]
    UnstableDamping {
        /// The damping.
        damping: f64,
        /// The largest stable one.
        max: f64,
    },
}

kinds! { DiffusionError {
    ShapeMismatch => "shape_mismatch",
    UnstableDamping => "unstable_damping",
} }

/// Lets priorities flow over the graph: x ← x − damping · L · x, with L the graph's Laplacian.
///
/// The total stays the same up to rounding and no priority leaves the range of the old ones.
/// `scratch` holds one element per node; O((nodes + edges) · iterations).
///
/// ```
/// use seawall_core::tuning::{Diffusion, SiblingGraph, diffuse};
/// let pair = SiblingGraph::new(&[0, 1, 2], &[1, 0])?;
/// let mut priorities = [8.0, 0.0];
/// let diffusion = Diffusion { damping: 0.25, iterations: 1 };
/// diffuse(&pair, diffusion, &mut priorities, &mut [0.0; 2])?;
/// assert_eq!(priorities, [6.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`DiffusionError`]; the priorities are then unchanged.
pub fn diffuse(
    graph: &SiblingGraph<'_>,
    diffusion: Diffusion,
    priorities: &mut [f64],
    scratch: &mut [f64],
) -> Result<(), DiffusionError> {
    check_shape("priorities", priorities, graph.nodes)?;
    check_shape("scratch", scratch, graph.nodes)?;
    let (damping, max) = (diffusion.damping, graph.max_damping());
    if !(damping.is_finite() && (0.0..=max).contains(&damping)) {
        return Err(DiffusionError::UnstableDamping { damping, max });
    }
    for _ in 0..diffusion.iterations {
        let cells = scratch.iter_mut().zip(priorities.iter());
        for (node, (next, &own)) in (0..graph.nodes).zip(cells) {
            *next = own - damping * outflow(graph.row(node), own, priorities);
        }
        for (priority, &next) in priorities.iter_mut().zip(scratch.iter()) {
            *priority = next;
        }
    }
    Ok(())
}

/// The sum of the differences to all neighbours.
fn outflow(row: &[u32], own: f64, priorities: &[f64]) -> f64 {
    row.iter()
        .filter_map(|&neighbour| priorities.get(neighbour as usize))
        .fold(0.0, |sum, other| sum + (own - other))
}

const fn check_shape(
    field: &'static str,
    slice: &[f64],
    needed: usize,
) -> Result<(), DiffusionError> {
    if slice.len() == needed {
        return Ok(());
    }
    Err(DiffusionError::ShapeMismatch {
        field,
        needed,
        provided: slice.len(),
    })
}
