//! Layout of `.swg`, Seawall's own graph file.
//!
//! A 64-byte header, then the arrays of a [`Csr`](super::Csr) as little-endian words. Each section
//! starts at a multiple of 64 bytes, so that it is read at once into the array that the graph
//! keeps. The header's counts determine every position; there are no pointers. Sections: offsets,
//! targets, weights (if flagged), original ids (if flagged), ends of names and their text (if
//! flagged). Rows ascend strictly and hold no loop, unless flagged otherwise. Reading and writing are
//! elsewhere; this is the only description of the bytes. Offsets are words of 32 bits, or of 64 if
//! flagged.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::build::{MAX_EDGES, MAX_NODES};
use super::error::BinaryProblem;
use super::weights::WeightKind;

const _: () = assert!(
    cfg!(target_endian = "little"),
    "sections are read as little-endian words"
);

/// First bytes of every file.
pub(super) const MAGIC: [u8; 8] = *b"SEAWALLG";
pub(super) const VERSION: u32 = 1;
/// Alignment of sections.
pub(super) const ALIGN: u64 = 64;
pub(super) const HEADER_BYTES: usize = 64;
/// Every edge has its mirror image.
pub(super) const SYMMETRIC: u32 = 1;
/// There is a section of weights.
pub(super) const WEIGHTS: u32 = 2;
/// There is a section of original ids.
pub(super) const TABLE: u32 = 4;
/// The weights are floats; goes with [`WEIGHTS`].
pub(super) const FLOATS: u32 = 8;
/// Offsets are words of 64 bits, so that there may be more edges than 32 bits count.
pub(super) const WIDE: u32 = 16;
/// There are loops or parallel edges, whose numbers the header holds: rows ascend, but not strictly.
pub(super) const MULTI: u32 = 32;
/// Nodes have names instead of ids: the end of each in their text, a word of 64 bits, and the text in
/// UTF-8. Names ascend by their bytes.
pub(super) const NAMES: u32 = 64;

/// All flags.
const KNOWN: u32 = SYMMETRIC | WEIGHTS | TABLE | FLOATS | WIDE | MULTI | NAMES;

/// Most bytes of the text of names, likewise.
const MAX_NAME_BYTES: u64 = 1 << 56;

/// Most edges of a file whose offsets have 64 bits: positions in it stay far below 2^64.
const MAX_WIDE_EDGES: u64 = 1 << 56;

/// The first 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Header {
    pub(super) magic: [u8; 8],
    pub(super) version: u32,
    pub(super) flags: u32,
    pub(super) nodes: u64,
    pub(super) edges: u64,
    /// Original id of node 0 when there is no id section; bytes of the text of names if there are any.
    pub(super) first_id: u64,
    /// Loops of the graph, if flagged; 0 otherwise.
    pub(super) loops: u64,
    /// Its parallel edges, likewise.
    pub(super) parallel: u64,
    /// Checksum of all bytes before it.
    pub(super) checksum: u64,
}

const _: () = assert!(size_of::<Header>() == HEADER_BYTES);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sections {
    pub(super) offsets: Range<u64>,
    pub(super) targets: Range<u64>,
    pub(super) weights: Option<Range<u64>>,
    pub(super) ids: Option<Range<u64>>,
    pub(super) name_ends: Option<Range<u64>>,
    pub(super) name_text: Option<Range<u64>>,
    /// Bytes of the whole file.
    pub(super) end: u64,
}

impl Header {
    /// Returns a header for a simple graph.
    #[cfg(test)]
    fn new(nodes: u32, edges: u32, flags: u32, first_id: u64) -> Self {
        Self::with_loops(nodes, edges, flags, first_id, [0; 2])
    }

    /// Returns a header for a graph with these numbers of loops and parallel edges.
    pub(super) fn with_loops(
        nodes: u32,
        edges: u32,
        flags: u32,
        first_id: u64,
        [loops, parallel]: [u32; 2],
    ) -> Self {
        let is_simple = loops == 0 && parallel == 0;
        let flags = flags | if is_simple { 0 } else { MULTI };
        let mut header = Self {
            magic: MAGIC,
            version: VERSION,
            flags,
            nodes: u64::from(nodes),
            edges: u64::from(edges),
            first_id,
            loops: u64::from(loops),
            parallel: u64::from(parallel),
            checksum: 0,
        };
        header.checksum = header.compute_checksum();
        header
    }

    pub(super) fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, BinaryProblem> {
        let header: Self = bytemuck::pod_read_unaligned(bytes);
        if header.magic != MAGIC {
            return Err(BinaryProblem::Magic);
        }
        if header.version != VERSION {
            return Err(BinaryProblem::Version {
                found: header.version,
                supported: VERSION,
            });
        }
        let computed = header.compute_checksum();
        if header.checksum != computed {
            return Err(BinaryProblem::Checksum {
                found: header.checksum,
                computed,
            });
        }
        let known = header.flags & !KNOWN == 0 && !(header.has(NAMES) && header.has(TABLE));
        let floats_weigh = header.has(WEIGHTS) || !header.has(FLOATS);
        let has_more = header.loops.max(header.parallel) > 0;
        if !(known && floats_weigh) || header.has(MULTI) != has_more {
            return Err(BinaryProblem::Flags {
                found: header.flags,
            });
        }
        let all = header.edges;
        if header.nodes > MAX_NODES
            || all > header.max_edges()
            || header.loops.max(header.parallel) > all
        {
            return Err(BinaryProblem::Counts {
                nodes: header.nodes,
                edges: header.edges,
            });
        }
        let is_text_long = header.has(NAMES) && header.first_id > MAX_NAME_BYTES;
        if is_text_long || header.first_id.checked_add(header.nodes).is_none() {
            return Err(BinaryProblem::FirstId {
                first: header.first_id,
                nodes: header.nodes,
            });
        }
        Ok(header)
    }

    /// Returns whether a flag is set.
    pub(super) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Most edges that its offsets count.
    fn max_edges(&self) -> u64 {
        if self.has(WIDE) {
            MAX_WIDE_EDGES
        } else {
            MAX_EDGES
        }
    }

    pub(super) fn offset_bytes(&self) -> u64 {
        if self.has(WIDE) { 8 } else { 4 }
    }

    pub(super) fn weight_kind(&self) -> WeightKind {
        if self.has(FLOATS) {
            WeightKind::Float
        } else {
            WeightKind::Integer
        }
    }

    /// FNV-1a of the bytes before the checksum.
    pub(super) fn compute_checksum(&self) -> u64 {
        let bytes = bytemuck::bytes_of(self);
        bytes[..HEADER_BYTES - 8]
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            })
    }

    /// Returns the positions of the sections. The counts were checked, so nothing overflows.
    pub(super) fn sections(&self) -> Sections {
        let mut end = HEADER_BYTES as u64;
        let mut take = |bytes: u64| {
            let start = end.next_multiple_of(ALIGN);
            end = start + bytes;
            start..end
        };
        let offsets = take(self.offset_bytes() * (self.nodes + 1));
        let targets = take(4 * self.edges);
        let weights = self.has(WEIGHTS).then(|| take(4 * self.edges));
        let ids = self.has(TABLE).then(|| take(8 * self.nodes));
        let name_ends = self.has(NAMES).then(|| take(8 * self.nodes));
        let name_text = self.has(NAMES).then(|| take(self.first_id));
        Sections {
            offsets,
            targets,
            weights,
            ids,
            name_ends,
            name_text,
            end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_read_back_and_every_changed_bit_is_noticed() {
        let header = Header::new(5, 9, WEIGHTS | TABLE, 1);
        let bytes: [u8; HEADER_BYTES] = bytemuck::cast(header);
        assert_eq!(Header::parse(&bytes), Ok(header));
        for bit in 0..8 * HEADER_BYTES {
            let mut other = bytes;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(Header::parse(&other).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn sections_are_aligned_and_in_order() {
        let sections = Header::new(20, 33, WEIGHTS | TABLE, 0).sections();
        assert_eq!(sections.offsets, 64..148);
        assert_eq!(sections.targets, 192..324);
        assert_eq!(sections.weights, Some(384..516));
        assert_eq!(sections.ids, Some(576..736));
        assert_eq!(sections.end, 736);
    }

    #[test]
    fn names_follow_all_other_sections() {
        let sections = Header::new(20, 33, NAMES, 11).sections();
        assert_eq!(
            (sections.name_ends, sections.name_text),
            (Some(384..544), Some(576..587))
        );
        assert_eq!(sections.end, 587);
        let header = Header::new(20, 33, NAMES, 1 << 57);
        assert!(Header::parse(&bytemuck::cast(header)).is_err());
    }

    #[test]
    fn ids_beyond_64_bits_are_refused() {
        let header = Header::new(3, 0, 0, u64::MAX - 1);
        assert_eq!(
            Header::parse(&bytemuck::cast(header)),
            Err(BinaryProblem::FirstId {
                first: u64::MAX - 1,
                nodes: 3
            })
        );
        let header = Header::new(1, 0, 0, u64::MAX - 1);
        assert!(Header::parse(&bytemuck::cast(header)).is_ok());
    }

    #[test]
    fn unknown_flags_are_refused() {
        for (flags, known) in [
            (WEIGHTS | FLOATS, true),
            (FLOATS, false),
            (WIDE, true),
            (MULTI, false),
            (NAMES, true),
            (NAMES | TABLE, false),
            (128, false),
        ] {
            let header = Header::new(3, 2, flags, 0);
            let parsed = Header::parse(&bytemuck::cast(header));
            assert_eq!(parsed.is_ok(), known, "{flags}");
        }
    }

    #[test]
    fn counts_beyond_the_offsets_are_refused() {
        for (flags, edges, fits) in [
            (0, MAX_EDGES, true),
            (0, 1 << 32, false),
            (WIDE, 1 << 32, true),
            (WIDE, 1_000_000_000_000_000_000, false),
        ] {
            let mut header = Header::new(1, 1, flags, 0);
            header.edges = edges;
            header.checksum = header.compute_checksum();
            let parsed = Header::parse(&bytemuck::cast(header));
            let refused = matches!(parsed, Err(BinaryProblem::Counts { .. }));
            assert_eq!(refused, !fits, "{flags} {edges}");
        }
    }

    #[test]
    fn loops_and_parallel_edges_are_flagged_and_no_more_than_edges() {
        let header = Header::with_loops(3, 5, 0, 0, [1, 2]);
        assert!(header.has(MULTI));
        assert_eq!(Header::parse(&bytemuck::cast(header)), Ok(header));
        for (loops, parallel) in [(6, 0), (0, 6)] {
            let header = Header::with_loops(3, 5, 0, 0, [loops, parallel]);
            let parsed = Header::parse(&bytemuck::cast(header));
            assert!(matches!(parsed, Err(BinaryProblem::Counts { .. })));
        }
    }

    #[test]
    fn wide_offsets_take_twice_the_room() {
        let sections = Header::new(20, 33, WIDE, 0).sections();
        assert_eq!((sections.offsets, sections.targets), (64..232, 256..388));
    }
}
