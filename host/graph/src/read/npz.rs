//! Reads `.npz`, the sparse matrices that SciPy saves.
//!
//! The rows of a CSR matrix become those of the graph; a CSC matrix is transposed, a COO matrix
//! sorted. An entry is an edge, for any value. Arrays grow as bytes arrive, regardless of their
//! headers' promises.

use super::npy::{Array, Header};
use super::source::Source;
use super::zip::Zip;
use crate::build::{self, Counts, Direction, MAX_NODES, Order};
use crate::check::check_rows;
use crate::csr::Csr;
use crate::format::Format;
use crate::ids::Ids;
use crate::load::{LoadOptions, LoadStats, Loaded};
use crate::memory;
use crate::model::check_counts;
use crate::tidy::tidy;
use crate::{ArchiveProblem, Graph, GraphError, WeightKind};

/// The members of a matrix that were read so far.
#[derive(Default)]
struct Members {
    format: Option<String>,
    shape: Option<Vec<u64>>,
    indptr: Option<Vec<u32>>,
    indices: Option<Vec<u32>>,
    row: Option<Vec<u32>>,
    col: Option<Vec<u32>>,
    data: Option<Array>,
}

/// Loads an archive.
pub(super) fn load_npz(mut source: Source, options: &LoadOptions) -> Result<Loaded, GraphError> {
    let name = source.name.clone();
    let members = members(&mut source, options.weights.are_read())?;
    let matrix = Matrix::of(members).map_err(|problem| GraphError::Archive {
        file: name.clone(),
        problem,
    })?;
    let listed = matrix.entries();
    check_counts(&name, u64::from(matrix.nodes), listed, false)?;
    let (kind, rounded) = (matrix.kind, matrix.rounded);
    let order = Order::of(options.listed_order);
    let (csr, counts) = matrix.rows(&name, order)?;
    let mut stats = LoadStats {
        compression: source.compression,
        bytes: source.raw_bytes(),
        text_bytes: source.decoded_bytes(),
        listed_edges: listed,
        rounded_weights: rounded,
        ..LoadStats::of(Format::Npz)
    };
    let graph = Graph::from_parts(csr, false, Ids::Offset(0)).with_kind(kind);
    let mut graph = graph.with_counts(counts, order);
    if options.undirected {
        (graph, stats.mirrored) = graph.into_undirected(&name)?;
    }
    Ok(Loaded { graph, stats })
}

fn members(source: &mut Source, weights: bool) -> Result<Members, GraphError> {
    let mut members = Members::default();
    let mut zip = Zip::new(source);
    while let Some(mut member) = zip.next()? {
        let Some(name) = member.name.strip_suffix(".npy").map(str::to_owned) else {
            member.finish()?;
            continue;
        };
        let header = Header::read(&mut member)?;
        let words = match name.as_str() {
            "indptr" => &mut members.indptr,
            "indices" => &mut members.indices,
            "row" => &mut members.row,
            "col" => &mut members.col,
            "format" => {
                members.format = Some(header.text(&mut member)?);
                member.finish()?;
                continue;
            }
            "shape" => {
                members.shape = Some(header.numbers(&mut member)?);
                member.finish()?;
                continue;
            }
            "data" if weights => {
                members.data = Some(header.weights(&mut member)?);
                member.finish()?;
                continue;
            }
            _ => {
                member.finish()?;
                continue;
            }
        };
        *words = Some(header.words(&mut member)?);
        member.finish()?;
    }
    Ok(members)
}

/// A matrix with all its members.
struct Matrix {
    nodes: u32,
    entries: Entries,
    weights: Option<Vec<u32>>,
    kind: WeightKind,
    rounded: u64,
}

enum Entries {
    Rows {
        offsets: Vec<u32>,
        targets: Vec<u32>,
        /// Whether the rows are columns.
        turned: bool,
    },
    Pairs {
        rows: Vec<u32>,
        columns: Vec<u32>,
    },
}

impl Matrix {
    fn of(members: Members) -> Result<Self, ArchiveProblem> {
        let missing = |member| ArchiveProblem::Missing { member };
        let format = members.format.ok_or(missing("format"))?;
        let nodes = nodes_of(&members.shape.ok_or(missing("shape"))?)?;
        let entries = match format.as_str() {
            "csr" | "csc" => Entries::Rows {
                offsets: members.indptr.ok_or(missing("indptr"))?,
                targets: members.indices.ok_or(missing("indices"))?,
                turned: format == "csc",
            },
            "coo" => Entries::Pairs {
                rows: members.row.ok_or(missing("row"))?,
                columns: members.col.ok_or(missing("col"))?,
            },
            _ => return Err(ArchiveProblem::Layout { format }),
        };
        let data = members.data;
        let (kind, rounded) = data
            .as_ref()
            .map_or((WeightKind::Integer, 0), |data| (data.kind, data.rounded));
        let matrix = Self {
            nodes,
            entries,
            weights: data.map(|data| data.words),
            kind,
            rounded,
        };
        matrix.check_lengths()?;
        Ok(matrix)
    }

    fn entries(&self) -> u64 {
        match &self.entries {
            Entries::Rows { targets, .. } => targets.len() as u64,
            Entries::Pairs { rows, .. } => rows.len() as u64,
        }
    }

    /// Checks that related arrays are equally long.
    fn check_lengths(&self) -> Result<(), ArchiveProblem> {
        let expect = |member, expected: u64, found: usize| {
            let found = found as u64;
            if expected == found {
                return Ok(());
            }
            Err(ArchiveProblem::Length {
                member,
                expected,
                found,
            })
        };
        match &self.entries {
            Entries::Rows { offsets, .. } => {
                expect("indptr", u64::from(self.nodes) + 1, offsets.len())?;
            }
            Entries::Pairs { rows, columns } => expect("col", rows.len() as u64, columns.len())?,
        }
        match &self.weights {
            Some(weights) => expect("data", self.entries(), weights.len()),
            None => Ok(()),
        }
    }

    fn rows(self, name: &str, order: Order) -> Result<(Csr, Counts), GraphError> {
        let problem = |problem| GraphError::Binary {
            file: name.to_owned(),
            format: ".npz",
            problem,
        };
        let short = |short| GraphError::memory(name, short);
        match self.entries {
            Entries::Rows {
                offsets,
                targets,
                turned,
            } => {
                let csr = Csr {
                    offsets,
                    targets,
                    weights: self.weights,
                };
                check_rows(&csr).map_err(problem)?;
                let (csr, counts) = tidy(csr, order);
                let turned = turned.then(|| csr.transpose()).transpose().map_err(short)?;
                Ok((turned.unwrap_or(csr), counts))
            }
            Entries::Pairs { rows, columns } => {
                let ends = rows.iter().zip(&columns);
                let nodes = self.nodes;
                if let Some(edge) = ends.clone().position(|(a, b)| *a.max(b) >= nodes) {
                    return Err(problem(crate::BinaryProblem::Target {
                        edge: edge as u64,
                        value: u64::from(rows[edge].max(columns[edge])),
                        nodes: u64::from(nodes),
                    }));
                }
                let built = match self.weights {
                    None => {
                        let edges = ends.map(|(a, b)| [*a, *b]);
                        memory::collect(rows.len(), edges).and_then(|edges| {
                            build::rows::<2>(edges, nodes, Direction::Directed, order)
                        })
                    }
                    Some(weights) => {
                        let edges = ends.zip(&weights).map(|((a, b), w)| [*a, *b, *w]);
                        memory::collect(rows.len(), edges).and_then(|edges| {
                            build::rows::<3>(edges, nodes, Direction::Directed, order)
                        })
                    }
                };
                built.map_err(short)
            }
        }
    }
}

fn nodes_of(shape: &[u64]) -> Result<u32, ArchiveProblem> {
    match *shape {
        [rows, columns] if rows == columns && rows <= MAX_NODES => Ok(rows as u32),
        _ => Err(ArchiveProblem::Shape {
            shape: shape.to_vec(),
        }),
    }
}
