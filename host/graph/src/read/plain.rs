//! Reads binaries whose words are the rows of a graph, `.egr` and `.bin`.

use super::source::Source;
use super::words::Words;
use crate::build::Order;
use crate::check::check_rows;
use crate::csr::Csr;
use crate::dedup::dedup;
use crate::format::Format;
use crate::ids::Ids;
use crate::load::{LoadOptions, LoadStats, Loaded, Progress};
use crate::weights::signed_whole;
use crate::{BinaryProblem, Graph, GraphError, WeightKind};

/// A format of such a file.
pub(super) struct Plain {
    pub(super) format: Format,
    pub(super) suffix: &'static str,
    /// Reads the rows, with weights if these are wanted.
    pub(super) arrays: fn(&mut Words<'_>, bool) -> Result<Csr, GraphError>,
}

impl Plain {
    /// Loads a file or stream of this format.
    pub(super) fn load(
        &self,
        mut source: Source,
        options: &LoadOptions,
        progress: Option<&dyn Progress>,
    ) -> Result<Loaded, GraphError> {
        let name = source.name.clone();
        let compression = source.compression;
        let mut words = Words::new(&mut source, self.suffix, progress);
        let mut csr = (self.arrays)(&mut words, options.weights.are_read())?;
        check_rows(&csr).map_err(|problem| words.bad(problem))?;
        let kind = take_signs(&mut csr, options.signed).map_err(|problem| words.bad(problem))?;
        let (bytes, text_bytes) = words.passed();
        let listed_edges = u64::from(csr.edges());
        let order = Order::of(options.listed_order);
        let (csr, counts) = dedup(csr, order);
        let stats = LoadStats {
            compression,
            bytes,
            text_bytes,
            listed_edges,
            ..LoadStats::of(self.format)
        };
        let graph = Graph::from_parts(csr, false, Ids::Offset(0));
        let graph = graph.with_counts(counts, order).with_kind(kind);
        Loaded::directed(graph, stats, options, &name)
    }
}

/// Takes weights as numbers with a sign; returns their kind.
///
/// # Errors
/// [`BinaryProblem::NegativeWeight`] for a negative one unless weights may be `signed`.
fn take_signs(csr: &mut Csr, signed: bool) -> Result<WeightKind, BinaryProblem> {
    let weights = csr.weights.as_deref_mut().unwrap_or_default();
    match weights.iter().position(|&weight| weight > i32::MAX as u32) {
        Some(_) if signed => {
            for weight in weights {
                *weight = signed_whole(weight.cast_signed());
            }
            Ok(WeightKind::Signed)
        }
        Some(edge) => Err(BinaryProblem::NegativeWeight {
            edge: edge as u64,
            value: i64::from(weights[edge].cast_signed()),
        }),
        None => Ok(WeightKind::Integer),
    }
}
