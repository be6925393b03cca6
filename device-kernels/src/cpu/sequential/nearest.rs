//! Searches in the order of keys that edges never lower: shortest and widest paths.
//!
//! The node of the least key of those found so far is done, as any other way to it leads through
//! larger ones. Keys of shortest paths are their lengths. Those of widest paths are less the wider a
//! path is.
//!
//! A node whose only edge leads back is not queued. The row of a node is read when it is found, so
//! that it is in a cache when the node comes to the front.
//!
//! Work: each edge once, and a step of a heap for each node and each edge that lowers a key:
//! `O((n + m) log n)`. Memory: `5 n` words.
//!
//! Source: Dijkstra, "A Note on Two Problems in Connexion with Graphs", 1959; Pollack, "The Maximum
//! Capacity through a Network", 1960.

use super::Operands;
use super::queue::Queue;
use super::work::{Pairs, Rows, Scratch, Work, ordered_float};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Csr, Words};
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::sequential::Lengths;

/// Edges between one that is looked at and one whose end is fetched.
const AHEAD: u32 = 8;

/// Stores the length of the shortest path to every node.
pub(super) fn shorten<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    scratch: Scratch,
) -> Result<(), FaultCode> {
    match rows.lengths {
        Lengths::Float => search::<G, Float>(work, operands, rows, scratch),
        Lengths::Whole | Lengths::Edges => search::<G, Whole>(work, operands, rows, scratch),
    }
}

/// Stores the width of the widest path to every node: whole ones with one less than the largest
/// number for a source and the largest for no path, floats with the largest finite one and with
/// infinity.
pub(super) fn widen<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    scratch: Scratch,
) -> Result<(), FaultCode> {
    match rows.lengths {
        Lengths::Float => widen_by::<G, WidthOfFloats>(work, operands, rows, scratch),
        Lengths::Whole | Lengths::Edges => {
            widen_by::<G, WidthOfWholes>(work, operands, rows, scratch)
        }
    }
}

/// The meaning of keys.
trait Rule {
    /// The key of a source.
    const FIRST: u32;
    /// The key of a node without a path, above all others.
    const NONE: u32;

    /// The key of a path of key `key` that goes on along an edge of that weight, or [`Self::NONE`];
    /// it is not below `key`.
    fn along(key: u32, weight: u32) -> u32;
}

/// Whole lengths of 32 bits; a longer path is none.
struct Whole;

impl Rule for Whole {
    const FIRST: u32 = 0;
    const NONE: u32 = u32::MAX;

    #[inline(always)]
    fn along(key: u32, weight: u32) -> u32 {
        key.saturating_add(weight)
    }
}

/// Float lengths, rounded edge by edge; a longer path than the largest float is none.
struct Float;

impl Rule for Float {
    const FIRST: u32 = 0;
    const NONE: u32 = f32::INFINITY.to_bits();

    #[inline(always)]
    fn along(key: u32, weight: u32) -> u32 {
        (f32::from_bits(key) + f32::from_bits(weight)).to_bits()
    }
}

/// A rule of widths.
trait Width: Rule {
    /// The width of a key.
    fn width(key: u32) -> u32;
}

/// Width of a source, above every whole weight.
const UNBOUNDED: u32 = u32::MAX - 1;

/// Keys fall from that of width 0 to 0.
struct WidthOfWholes;

impl Rule for WidthOfWholes {
    const FIRST: u32 = 0;
    const NONE: u32 = u32::MAX;

    #[inline(always)]
    fn along(key: u32, weight: u32) -> u32 {
        key.max(UNBOUNDED.saturating_sub(weight))
    }
}

impl Width for WidthOfWholes {
    #[inline(always)]
    fn width(key: u32) -> u32 {
        match key {
            Self::NONE => u32::MAX,
            key => UNBOUNDED - key,
        }
    }
}

/// Keys fall with the order of floats.
struct WidthOfFloats;

impl Rule for WidthOfFloats {
    const FIRST: u32 = !ordered_float(f32::MAX.to_bits());
    const NONE: u32 = u32::MAX;

    #[inline(always)]
    fn along(key: u32, weight: u32) -> u32 {
        key.max(!ordered_float(weight))
    }
}

impl Width for WidthOfFloats {
    #[inline(always)]
    fn width(key: u32) -> u32 {
        const SIGN: u32 = 1 << 31;
        let ordered = !key;
        if key == Self::NONE {
            f32::INFINITY.to_bits()
        } else if ordered & SIGN != 0 {
            ordered & !SIGN
        } else {
            !ordered
        }
    }
}

fn widen_by<G: Grid, W: Width>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    scratch: Scratch,
) -> Result<(), FaultCode> {
    search::<G, W>(work, operands, rows, scratch)?;
    let (grid, to) = (work.grid, operands.to);
    for node in 0..operands.nodes {
        to.store_weak(grid, node, W::width(to.load_weak(grid, node)));
    }
    Ok(())
}

/// Stores the least key of every node.
fn search<G: Grid, R: Rule>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes, keys) = (work.grid, operands.nodes, operands.to);
    operands.needs(nodes.into())?;
    let mut queue = Queue::<false>::new(&mut scratch, nodes)?;
    for node in 0..nodes {
        keys.store_weak(grid, node, R::NONE);
    }
    operands.each_source(grid, |source| {
        if keys.load_weak(grid, source) != R::FIRST {
            keys.store_weak(grid, source, R::FIRST);
            queue.push(grid, keys, source, R::FIRST);
        }
        Ok(())
    })?;
    settle(work, rows, keys, queue, R::along)
}

/// Settles the nodes of a queue and all that they lead to.
#[inline(always)]
fn settle<G: Grid>(
    work: &mut Work<'_, G>,
    rows: Rows,
    keys: Words,
    mut queue: Queue<false>,
    along: impl Fn(u32, u32) -> u32,
) -> Result<(), FaultCode> {
    let grid = work.grid;
    while let Some((node, key)) = queue.take(grid, keys) {
        let row = work.row(rows.rows, node)?;
        for edge in row.clone() {
            if edge + AHEAD < row.end {
                keys.prefetch(grid, rows.rows.target(grid, edge + AHEAD));
            }
            let to = rows.rows.target(grid, edge);
            let weight = rows.weights.load_weak(grid, edge);
            let through = along(key, weight);
            if through < keys.load_weak(grid, to) {
                keys.store_weak(grid, to, through);
                if leads_on(grid, rows, node, to) {
                    queue.push(grid, keys, to, through);
                }
            }
        }
    }
    Ok(())
}

/// Ends a search that other waves began: every node of a key below `from` is settled, and `memory`
/// has 5 words for each node. Key `none` is that of nodes without a path.
pub(crate) fn settle_rest<G: Grid>(
    team: &Team<G>,
    (rows, weights): (Csr, Words),
    (keys, memory): (Words, Words),
    (from, none): (u32, u32),
    along: impl Fn(u32, u32) -> u32,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (team.grid, keys.len());
    let mut scratch = Scratch::of_block(memory, memory.len().into(), 0)?;
    let mut queue = Queue::new(&mut scratch, nodes)?;
    for node in 0..nodes {
        let key = keys.load_weak(grid, node);
        if key >= from && key < none {
            queue.begin(grid, node, key);
        }
    }
    let rows = Rows {
        rows,
        weights,
        lengths: Lengths::Whole,
    };
    settle(&mut Work::new(team), rows, keys, queue, along)
}

/// Whether `to`, found from `from`, has an edge that does not lead straight back.
#[inline(always)]
fn leads_on<G: Grid>(grid: G, rows: Rows, from: u32, to: u32) -> bool {
    let (start, end) = rows.rows.row(grid, to);
    match end - start {
        0 => false,
        1 => rows.rows.target(grid, start) != from,
        _ => {
            rows.rows.prefetch_target(grid, start);
            rows.weights.prefetch(grid, start);
            true
        }
    }
}

/// Stores lengths of 64 bits. Those of queued nodes lie within one weight, which has 32.
pub(super) fn shorten_wide<G: Grid>(
    work: &mut Work<'_, G>,
    operands: &Operands,
    rows: Rows,
    mut scratch: Scratch,
) -> Result<(), FaultCode> {
    let (grid, nodes) = (work.grid, operands.nodes);
    operands.needs(2 * u64::from(nodes))?;
    let lengths = Pairs::of(operands.to);
    for node in 0..nodes {
        lengths.store(grid, node, u64::MAX);
    }
    let mut queue = Queue::<true>::new(&mut scratch, nodes)?;
    operands.each_source(grid, |source| {
        if lengths.load(grid, source) != 0 {
            lengths.store(grid, source, 0);
            queue.push(grid, operands.to, source, 0);
        }
        Ok(())
    })?;
    while let Some((node, _)) = queue.take(grid, operands.to) {
        let length = lengths.load(grid, node);
        let row = work.row(rows.rows, node)?;
        for edge in row.clone() {
            if edge + AHEAD < row.end {
                lengths.prefetch(grid, rows.rows.target(grid, edge + AHEAD));
            }
            let to = rows.rows.target(grid, edge);
            let through = rows.along(grid, length, edge);
            if through < lengths.load(grid, to) {
                lengths.store(grid, to, through);
                if leads_on(grid, rows, node, to) {
                    queue.push(grid, operands.to, to, through as u32);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_rise_where_widths_fall_and_give_them_back() {
        let floats = [f32::MAX, 1.0, f32::MIN_POSITIVE, 0.0, -0.0, -2.5, f32::MIN];
        let keys = floats.map(|float| WidthOfFloats::along(0, float.to_bits()));
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
        assert_eq!(keys[0], WidthOfFloats::FIRST);
        for (float, key) in floats.iter().zip(keys) {
            assert_eq!(WidthOfFloats::width(key), float.to_bits());
            assert!(key < WidthOfFloats::NONE);
        }
        let widths = [UNBOUNDED, UNBOUNDED - 1, 1, 0];
        let keys = widths.map(|width| WidthOfWholes::along(0, width));
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "{keys:?}");
        for (width, key) in widths.iter().zip(keys) {
            assert_eq!(WidthOfWholes::width(key), *width);
            assert!(key < WidthOfWholes::NONE);
        }
    }

    #[test]
    fn paths_beyond_their_lengths_are_none() {
        assert_eq!(Whole::along(u32::MAX - 3, 2), u32::MAX - 1);
        assert_eq!(Whole::along(u32::MAX - 3, 3), Whole::NONE);
        let largest = f32::MAX.to_bits();
        assert_eq!(Float::along(largest, largest), Float::NONE);
        assert_eq!(Float::along(0, 2.5_f32.to_bits()), 2.5_f32.to_bits());
    }
}
