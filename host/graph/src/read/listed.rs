//! A graph from nodes and edges that come one after the other, with names or numbers as ids.
//!
//! For formats whose lines depend on those before them. If all ids are numbers, written without
//! leading zeros, they are ids as in an edge list; otherwise they are names.

use super::fields::Fields;
use super::named::Names;
use super::parsed::Parsed;
use super::source::Source;
use crate::build::{self, Direction, MAX_NODES, Order};
use crate::ids::Ids;
use crate::load::{LoadOptions, LoadStats, Loaded};
use crate::model::check_counts;
use crate::scale::{Factor, Scale};
use crate::{Format, Graph, GraphError, LineProblem, memory};

/// Nodes and edges so far.
pub(super) struct Listed<'a> {
    options: &'a LoadOptions,
    file: String,
    factor: Option<Factor>,
    names: Names,
    parsed: Parsed<3>,
    is_weighted: bool,
}

impl<'a> Listed<'a> {
    pub(super) fn new(file: &str, options: &'a LoadOptions) -> Result<Self, GraphError> {
        let factor = super::factor(options, file)?;
        Ok(Self {
            options,
            file: file.to_owned(),
            factor,
            names: Names::default(),
            parsed: Parsed::new(factor, options.signed),
            is_weighted: false,
        })
    }

    pub(super) fn wants_weights(&self) -> bool {
        self.options.weights.are_read()
    }

    pub(super) fn edges(&self) -> u64 {
        self.parsed.listed
    }

    /// The label of a node, a new one where it has none.
    pub(super) fn node(&mut self, name: &str) -> Result<u32, GraphError> {
        let label = self.names.label(name);
        let label = label.map_err(|short| GraphError::memory(&self.file, short))?;
        label.ok_or_else(|| GraphError::TooManyNodes {
            file: self.file.clone(),
            nodes: MAX_NODES + 1,
            limit: MAX_NODES,
        })
    }

    /// The name of a label.
    pub(super) fn name(&self, label: u32) -> &str {
        self.names.get(label)
    }

    pub(super) fn nodes(&self) -> usize {
        self.names.len()
    }

    /// The word of a weight. From the first float on, all earlier weights become floats.
    pub(super) fn weight(&mut self, text: &[u8]) -> Result<u32, LineProblem> {
        self.is_weighted = true;
        let mut fields = Fields::new(text);
        let (word, rounded) = self.parsed.weight(&mut fields)?;
        fields.end()?;
        self.parsed.rounded += u64::from(rounded);
        Ok(word)
    }

    /// Takes an edge between labels; `counts` unless it is the mirror image of one.
    pub(super) fn edge(
        &mut self,
        ends: [u32; 2],
        weight: u32,
        counts: bool,
    ) -> Result<(), GraphError> {
        let edges = &mut self.parsed.edges;
        memory::reserve(edges, 1).map_err(|short| GraphError::memory(&self.file, short))?;
        edges.push([ends[0], ends[1], weight]);
        self.parsed.listed += u64::from(counts);
        Ok(())
    }

    /// Adds the mirror image of every edge so far, except of loops.
    pub(super) fn mirror(&mut self) -> Result<(), GraphError> {
        for at in 0..self.parsed.edges.len() {
            let [from, to, weight] = self.parsed.edges[at];
            if from != to {
                self.edge([to, from], weight, false)?;
            }
        }
        Ok(())
    }

    /// Makes the graph.
    pub(super) fn finish(
        mut self,
        source: &Source,
        format: Format,
        undirected: bool,
    ) -> Result<Loaded, GraphError> {
        let undirected = undirected || self.options.undirected;
        let as_numbers = !self.options.names;
        let (nodes, ids) = self.names.number(&mut self.parsed.edges, as_numbers);
        let edges = self.parsed.edges;
        check_counts(&self.file, nodes, edges.len() as u64, undirected)?;
        let direction = Direction::of(undirected);
        let order = Order::of(self.options.listed_order);
        let built = if self.is_weighted {
            build::rows::<3>(edges, nodes as u32, direction, order)
        } else {
            let ends = edges.iter().map(|edge| [edge[0], edge[1]]);
            memory::collect(edges.len(), ends)
                .and_then(|edges| build::rows::<2>(edges, nodes as u32, direction, order))
        };
        let (csr, counts) = built.map_err(|short| GraphError::memory(&self.file, short))?;
        let [rounded, vanished] = self.parsed.scaled;
        let scale = |factor: Factor| Scale {
            factor: factor.value,
            rounded,
            vanished,
        };
        let stats = LoadStats {
            compression: source.compression,
            bytes: source.raw_bytes(),
            text_bytes: source.decoded_bytes(),
            listed_edges: self.parsed.listed,
            mirrored: counts.mirrored,
            rounded_weights: self.parsed.rounded,
            scale: self.factor.filter(|_| self.is_weighted).map(scale),
            compacted: matches!(ids, Ids::Table(_)),
            ..LoadStats::of(format)
        };
        let graph = Graph::from_parts(csr, undirected, ids).with_kind(self.parsed.kind);
        let graph = graph.with_counts(counts, order);
        Ok(Loaded { graph, stats })
    }
}

pub(super) fn name_of(word: &[u8]) -> Result<&str, LineProblem> {
    let quoted = || super::quote::quote(word);
    let name = std::str::from_utf8(word).map_err(|_| LineProblem::NotUtf8 { value: quoted() })?;
    match name {
        "" => Err(LineProblem::MissingField {
            what: "a node id",
            value: String::new(),
        }),
        name if name.chars().any(char::is_control) => {
            Err(LineProblem::ControlInName { value: quoted() })
        }
        name => Ok(name),
    }
}

/// A problem of a line, or of the whole graph.
pub(super) enum Problem {
    Line(LineProblem),
    Graph(GraphError),
}

impl From<LineProblem> for Problem {
    fn from(problem: LineProblem) -> Self {
        Self::Line(problem)
    }
}

impl From<GraphError> for Problem {
    fn from(error: GraphError) -> Self {
        Self::Graph(error)
    }
}

impl Listed<'_> {
    /// The word of a weight that all edges have, or none.
    pub(super) fn value(&mut self, text: Option<&[u8]>, line: &[u8]) -> Result<u32, LineProblem> {
        match text {
            _ if !self.wants_weights() => Ok(0),
            Some(_) if self.edges() > 0 && !self.is_weighted => Err(LineProblem::LateWeight),
            Some(text) => self.weight(text),
            None if self.is_weighted => Err(LineProblem::MissingField {
                what: "a weight",
                value: super::quote::quote(line),
            }),
            None => Ok(0),
        }
    }
}
