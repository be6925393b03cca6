//! The edges of a `.swg` file that lead to a range of nodes.
//!
//! Rows of a symmetric file are those of incoming edges too, so that only the own ones are read.
//! The edges of any other file are read through a buffer, twice, and others' are passed over.

use super::rows::Rows;
use super::swg::SwgFile;
use crate::csr::Csr;
use crate::memory;
use crate::{BinaryProblem, GraphError};
use std::ops::Range;

/// Words read at once.
const STEP: u64 = 1 << 18;

impl SwgFile {
    /// Row offsets of incoming edges; `None` for those of the file, which claims to be symmetric.
    /// Takes four bytes for each node, and one pass over the edges.
    ///
    /// # Errors
    /// [`GraphError::Binary`], [`GraphError::Io`], [`GraphError::Memory`].
    pub fn incoming(&self) -> Result<Option<Rows>, GraphError> {
        if self.is_symmetric() {
            return Ok(None);
        }
        let short = |short| GraphError::memory(&self.name(), short);
        let nodes = self.node_count();
        let mut counts: Vec<u32> = memory::zeroed(nodes as usize).map_err(short)?;
        self.each_step(0..self.edges(), false, |first, targets, _| {
            for (edge, to) in (first..).zip(targets) {
                let count = counts.get_mut(*to as usize);
                let count = count.ok_or_else(|| self.bad_target(edge, *to))?;
                // Edges of a row differ in a simple graph, and a word counts them.
                *count = count.saturating_add(1);
            }
            Ok(())
        })?;
        let rows = Rows::of_degrees(&counts);
        rows.map(Some).map_err(short)
    }

    /// The edges that lead to `nodes`, a row for each of these with the nodes from which they lead
    /// there; `rows` are the offsets of the file, and `incoming` those of incoming edges. Checks
    /// what it reads, but not whether a symmetric file is.
    ///
    /// # Errors
    /// As [`Self::incoming`]; [`GraphError::Binary`] if there are 2^32 edges or more.
    pub fn edges_to(
        &self,
        nodes: Range<u32>,
        rows: &Rows,
        incoming: &Rows,
        weighted: bool,
    ) -> Result<Csr, GraphError> {
        let short = |short| GraphError::memory(&self.name(), short);
        let weighted = weighted && self.weights().is_some();
        let first = incoming.start(nodes.start);
        let edges = incoming.start(nodes.end) - first;
        if edges > u64::from(u32::MAX) {
            let nodes = nodes.len() as u64;
            return Err(self.bad(BinaryProblem::Counts { nodes, edges }));
        }
        let mut offsets: Vec<u32> = memory::zeroed(nodes.len() + 1).map_err(short)?;
        for (offset, node) in offsets.iter_mut().zip(nodes.start..=nodes.end) {
            *offset = (incoming.start(node) - first) as u32;
        }
        let mut part = Csr {
            offsets,
            targets: memory::zeroed(edges as usize).map_err(short)?,
            weights: match weighted {
                true => Some(memory::zeroed(edges as usize).map_err(short)?),
                false => None,
            },
        };
        if self.is_symmetric() {
            self.read_words(&self.targets(), first, &mut part.targets)?;
            if let (Some(to), Some(section)) = (&mut part.weights, self.weights()) {
                self.read_words(&section, first, to)?;
            }
        } else {
            self.gather(&nodes, rows, &mut part)?;
        }
        self.check_unchanged()?;
        self.check_part(nodes.start, first, &part)?;
        Ok(part)
    }

    /// Passes over all edges, and keeps those to `nodes`.
    fn gather(&self, nodes: &Range<u32>, rows: &Rows, part: &mut Csr) -> Result<(), GraphError> {
        let short = |short| GraphError::memory(&self.name(), short);
        let mut next: Vec<u32> = memory::zeroed(nodes.len()).map_err(short)?;
        next.copy_from_slice(&part.offsets[..nodes.len()]);
        let mut row = 0;
        let weighted = part.weights.is_some();
        self.each_step(0..self.edges(), weighted, |first, targets, weights| {
            for (at, to) in targets.iter().enumerate() {
                let edge = first + at as u64;
                while rows.start(row + 1) <= edge {
                    row += 1;
                }
                if !nodes.contains(to) {
                    continue;
                }
                let own = (to - nodes.start) as usize;
                let place = next[own] as usize;
                // A file that changes meanwhile has another number of edges.
                if place >= part.offsets[own + 1] as usize {
                    return Err(GraphError::Changed { file: self.name() });
                }
                next[own] += 1;
                part.targets[place] = row;
                if let Some(all) = &mut part.weights {
                    all[place] = weights[at];
                }
            }
            Ok(())
        })
    }

    /// Checks the order of rows, whose targets are nodes, and the words of weights.
    fn check_part(&self, first: u32, first_edge: u64, part: &Csr) -> Result<(), GraphError> {
        for (own, node) in (0..part.nodes()).zip(first..) {
            let row = part.neighbours(own);
            let ascends = match self.is_simple() {
                true => row.is_sorted_by(|a, b| a < b) && row.binary_search(&node).is_err(),
                false => row.is_sorted(),
            };
            if !ascends {
                let node = u64::from(node);
                return Err(self.bad(BinaryProblem::Order { node }));
            }
            if let Some(last) = row.last().filter(|last| **last >= self.node_count()) {
                let edge = first_edge + u64::from(part.offsets[own as usize + 1]) - 1;
                return Err(self.bad_target(edge, *last));
            }
        }
        let kind = self.weight_kind().unwrap_or_default();
        let weights = part.weights().unwrap_or(&[]);
        match weights.iter().position(|word| !kind.holds(*word)) {
            None => Ok(()),
            Some(at) => Err(self.bad(BinaryProblem::Weight {
                edge: first_edge + at as u64,
                value: f32::from_bits(weights[at]),
            })),
        }
    }

    fn bad_target(&self, edge: u64, to: u32) -> GraphError {
        self.bad(BinaryProblem::Target {
            edge,
            value: u64::from(to),
            nodes: u64::from(self.node_count()),
        })
    }

    /// Reads edges step by step: the number of the first, targets, and weights if asked for.
    fn each_step(
        &self,
        edges: Range<u64>,
        weighted: bool,
        mut take: impl FnMut(u64, &[u32], &[u32]) -> Result<(), GraphError>,
    ) -> Result<(), GraphError> {
        let words = (edges.end - edges.start).min(STEP) as usize;
        let mut buffers = [vec![0; words], vec![0; if weighted { words } else { 0 }]];
        let weights = self.weights().filter(|_| weighted);
        let mut first = edges.start;
        while first < edges.end {
            let count = (edges.end - first).min(STEP) as usize;
            let [targets, weighing] = &mut buffers;
            self.read_words(&self.targets(), first, &mut targets[..count])?;
            let mut read = &mut weighing[..0];
            if let Some(section) = &weights {
                read = &mut weighing[..count];
                self.read_words(section, first, read)?;
            }
            take(first, &targets[..count], read)?;
            first += count as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binary::{HEADER_BYTES, Header, SYMMETRIC, WIDE};
    use crate::disk::DiskNodes;
    use crate::{Graph, save};
    use std::io::{Seek, SeekFrom, Write};

    fn open(graph: &Graph) -> (tempfile::TempDir, SwgFile) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.swg");
        save(graph, &path, None).unwrap();
        let file = SwgFile::open(&path).unwrap().unwrap();
        (folder, file)
    }

    #[test]
    fn parts_together_are_the_incoming_rows() {
        let edges = [
            (0, 3, 5),
            (1, 0, 2),
            (4, 3, 9),
            (2, 1, 1),
            (3, 4, 7),
            (0, 1, 8),
        ];
        for undirected in [false, true] {
            let graph = Graph::from_weighted_edges(5, &edges, undirected).unwrap();
            let (_folder, file) = open(&graph);
            let DiskNodes { rows, .. } = file.nodes().unwrap();
            let counted = file.incoming().unwrap();
            assert_eq!(counted.is_none(), undirected);
            let incoming = counted.as_ref().unwrap_or(&rows);
            for weighted in [true, false] {
                for (cut, node) in [0..2, 2..2, 2..5].into_iter().flat_map(|cut| {
                    let nodes = cut.clone();
                    nodes.map(move |node| (cut.clone(), node))
                }) {
                    let part = file
                        .edges_to(cut.clone(), &rows, incoming, weighted)
                        .unwrap();
                    let own = node - cut.start;
                    assert_eq!(part.neighbours(own), graph.incoming().neighbours(node));
                    let weights =
                        |rows: &Csr, node| rows.weights().map(|all| all[rows.row(node)].to_vec());
                    let wanted = weights(graph.incoming(), node).filter(|_| weighted);
                    assert_eq!(weights(&part, own), wanted);
                }
            }
        }
    }

    /// A file of more than 2^32 edges, all but the last four in a hole, that no disk holds.
    fn huge() -> (tempfile::TempDir, SwgFile) {
        let row = 3_u64 << 30;
        let mut header = Header::with_loops(7, 0, SYMMETRIC | WIDE, 0, [0; 2]);
        header.edges = 2 * row + 4;
        header.checksum = header.compute_checksum();
        let sections = header.sections();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.swg");
        let mut file = std::fs::File::create(&path).unwrap();
        file.set_len(sections.end).unwrap();
        let bytes: [u8; HEADER_BYTES] = bytemuck::cast(header);
        file.write_all(&bytes).unwrap();
        let offsets = [
            0,
            row,
            2 * row,
            2 * row,
            2 * row + 2,
            2 * row + 3,
            2 * row + 3,
        ];
        let offsets = offsets.iter().chain([&header.edges]);
        file.seek(SeekFrom::Start(sections.offsets.start)).unwrap();
        for offset in offsets {
            file.write_all(&offset.to_le_bytes()).unwrap();
        }
        file.seek(SeekFrom::Start(sections.targets.end - 16))
            .unwrap();
        for target in [4_u32, 6, 3, 9] {
            file.write_all(&target.to_le_bytes()).unwrap();
        }
        let file = SwgFile::open(&path).unwrap().unwrap();
        (folder, file)
    }

    #[test]
    fn rows_beyond_32_bits_are_read_and_others_are_not() {
        let (_folder, file) = huge();
        let DiskNodes { rows, .. } = file.nodes().unwrap();
        let part = file.edges_to(2..6, &rows, &rows, false).unwrap();
        assert_eq!(part.offsets(), [0, 0, 2, 3, 3]);
        assert_eq!(part.targets(), [4, 6, 3]);
        let error = file.edges_to(0..2, &rows, &rows, false).unwrap_err();
        assert!(error.to_string().contains("6442450944"), "{error}");
        let error = file.edges_to(6..7, &rows, &rows, false).unwrap_err();
        assert!(error.to_string().contains('9'), "{error}");
    }

    #[test]
    fn rows_out_of_order_and_files_that_changed_are_refused() {
        let graph = Graph::from_edges(4, &[(0, 1), (0, 2), (0, 3)], true).unwrap();
        let (folder, file) = open(&graph);
        let DiskNodes { rows, .. } = file.nodes().unwrap();
        let at = file.targets().start;
        let path = folder.path().join("graph.swg");
        let mut other = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        other.seek(SeekFrom::Start(at)).unwrap();
        other.write_all(&3_u32.to_le_bytes()).unwrap();
        drop(other);
        let file = SwgFile::open(&path).unwrap().unwrap();
        let error = file.edges_to(0..1, &rows, &rows, false).unwrap_err();
        assert!(
            matches!(
                error,
                GraphError::Binary {
                    problem: BinaryProblem::Order { node: 0 },
                    ..
                }
            ),
            "{error}"
        );
        let short = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        short.set_len(at + 4).unwrap();
        let error = file.edges_to(0..1, &rows, &rows, false).unwrap_err();
        assert!(
            matches!(
                error,
                GraphError::Binary {
                    problem: BinaryProblem::Length { .. },
                    ..
                }
            ),
            "{error}"
        );
    }
}
