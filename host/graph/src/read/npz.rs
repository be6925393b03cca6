//! Reads `.npz`, the sparse matrices that SciPy saves.
//!
//! The rows of a CSR matrix become those of the graph; a CSC matrix is transposed, a COO matrix
//! sorted. An entry is an edge, for any value. Arrays grow as bytes arrive, regardless of their
//! headers' promises.

use super::named::numbered;
use super::npy::{Array, Header};
use super::source::Source;
use super::zip::{Member, Zip};
use crate::build::{self, Counts, Direction, MAX_NODES, Order};
use crate::check::check_rows;
use crate::csr::Csr;
use crate::dedup::dedup;
use crate::format::Format;
use crate::ids::Ids;
use crate::limits;
use crate::load::{LoadOptions, LoadStats, Loaded};
use crate::memory;
use crate::model::check_counts;
use crate::npz_members;
use crate::scale::{Factor, Scale};
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
    ids: Option<Vec<u64>>,
    is_unweighted: bool,
}

pub(super) fn load_npz(mut source: Source, options: &LoadOptions) -> Result<Loaded, GraphError> {
    let name = source.name.clone();
    let factor = super::factor(options, &name)?;
    let weights = options
        .weights
        .are_read()
        .then_some((factor, options.signed));
    let mut members = members(&mut source, weights)?;
    let ids = members.ids.take();
    let matrix = Matrix::of(members).map_err(|problem| GraphError::Archive {
        file: name.clone(),
        problem,
    })?;
    let listed = matrix.entries();
    check_counts(&name, u64::from(matrix.nodes), listed, false)?;
    limits::check_nodes(&name, u64::from(matrix.nodes), listed, source.raw_bytes())?;
    let ids = ids_of(ids, matrix.nodes).map_err(|problem| GraphError::Archive {
        file: name.clone(),
        problem,
    })?;
    let (kind, rounded) = (matrix.kind, matrix.rounded);
    let scale = matrix.weights.as_ref().and(factor).map(|factor| Scale {
        factor: factor.value,
        rounded: matrix.scaled[0],
        vanished: matrix.scaled[1],
    });
    let order = Order::of(options.listed_order);
    let (csr, counts) = matrix.rows(&name, order)?;
    let stats = LoadStats {
        compression: source.compression,
        bytes: source.raw_bytes(),
        text_bytes: source.decoded_bytes(),
        listed_edges: listed,
        rounded_weights: rounded,
        scale,
        compacted: matches!(ids, Ids::Table(_)),
        ..LoadStats::of(Format::Npz)
    };
    let graph = Graph::from_parts(csr, false, ids).with_kind(kind);
    let graph = graph.with_counts(counts, order);
    Loaded::directed(graph, stats, options, &name)
}

/// Reads the members; with the factor on weights, if they are wanted.
fn members(
    source: &mut Source,
    weights: Option<(Option<Factor>, bool)>,
) -> Result<Members, GraphError> {
    let file = source.name.clone();
    let mut members = Members::default();
    let (mut zip, mut first, mut has_arrays) = (Zip::new(source), None, false);
    while let Some(mut member) = zip.next()? {
        let Some(name) = member.name.strip_suffix(".npy").map(str::to_owned) else {
            first.get_or_insert_with(|| member.name.clone());
            member.finish()?;
            continue;
        };
        has_arrays = true;
        members.take(&name, &mut member, weights)?;
        member.finish()?;
    }
    match first {
        Some(member) if !has_arrays => Err(GraphError::Archive {
            file,
            problem: ArchiveProblem::NoArrays { member },
        }),
        _ => Ok(members),
    }
}

impl Members {
    fn take(
        &mut self,
        name: &str,
        member: &mut Member<'_, '_>,
        weights: Option<(Option<Factor>, bool)>,
    ) -> Result<(), GraphError> {
        let header = Header::read(member)?;
        // A list in the layouts that are read, and a table in others, whose name comes later.
        if header.is_table() {
            return Ok(());
        }
        match (name, weights) {
            ("indptr", _) => self.indptr = Some(header.words(member)?),
            ("indices", _) => self.indices = Some(header.words(member)?),
            ("row", _) => self.row = Some(header.words(member)?),
            ("col", _) => self.col = Some(header.words(member)?),
            ("format", _) => self.format = Some(header.text(member)?),
            ("shape", _) => self.shape = Some(header.numbers(member)?),
            ("data", Some((factor, signed))) => {
                self.data = Some(header.weights(member, factor, signed)?);
            }
            (npz_members::IDS, _) => self.ids = Some(header.ids(member)?),
            (npz_members::UNWEIGHTED, _) => self.is_unweighted = true,
            _ => {}
        }
        Ok(())
    }
}

fn ids_of(ids: Option<Vec<u64>>, nodes: u32) -> Result<Ids, ArchiveProblem> {
    let Some(ids) = ids else {
        return Ok(Ids::Offset(0));
    };
    if ids.len() != nodes as usize {
        return Err(ArchiveProblem::Length {
            member: npz_members::IDS,
            expected: u64::from(nodes),
            found: ids.len() as u64,
        });
    }
    match ids.windows(2).position(|pair| pair[0] >= pair[1]) {
        Some(at) => Err(ArchiveProblem::Array {
            member: format!("{}.npy", npz_members::IDS),
            reason: format!("its number {} does not ascend", at + 1),
        }),
        None => Ok(numbered(ids)),
    }
}

struct Matrix {
    nodes: u32,
    entries: Entries,
    weights: Option<Vec<u32>>,
    kind: WeightKind,
    rounded: u64,
    scaled: [u64; 2],
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
        if !matches!(format.as_str(), "csr" | "csc" | "coo") {
            return Err(ArchiveProblem::Layout { format });
        }
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
        let data = members.data.filter(|_| !members.is_unweighted);
        let scaled = data.as_ref().map_or([0; 2], |data| data.scaled);
        let (kind, rounded) = data
            .as_ref()
            .map_or((WeightKind::Integer, 0), |data| (data.kind, data.rounded));
        let matrix = Self {
            nodes,
            entries,
            weights: data.map(|data| data.words),
            kind,
            rounded,
            scaled,
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
                let (csr, counts) = dedup(csr, order);
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
