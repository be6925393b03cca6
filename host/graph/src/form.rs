//! Forms of a graph: with or without loops, with parallel edges or one in their place.
//!
//! A graph keeps all edges read. An analysis that needs less asks for a form, which is made once
//! and kept beside the graph. A graph that has nothing to drop is its own form, at no cost.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::build::Order;
use super::cause::Cause;
use super::csr::Csr;
use super::memory::{self, Shortage};
use super::model::Graph;
use super::weights::{WeightKind, signed_whole, signed_word};

/// Edges from a node to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Loops {
    /// They stay.
    #[default]
    Keep,
    /// They go.
    Drop,
}

/// Edges with the same ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Parallel {
    /// All stay.
    #[default]
    Keep,
    /// The first one listed stays.
    ///
    /// Of an undirected graph whose rows were given, it is the first one in the row of the smaller
    /// end.
    First,
    /// The lightest one stays.
    Least,
    /// The heaviest one stays.
    Greatest,
    /// One stays, with the sum of their weights, or their number.
    ///
    /// The number counts if the graph has no weights.
    Sum,
}

impl Loops {
    /// Both choices.
    pub const ALL: [Self; 2] = [Self::Keep, Self::Drop];

    /// The name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
        }
    }
}

impl Parallel {
    /// All choices.
    pub const ALL: [Self; 5] = [
        Self::Keep,
        Self::First,
        Self::Least,
        Self::Greatest,
        Self::Sum,
    ];

    /// The name on the command line and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::First => "first",
            Self::Least => "least",
            Self::Greatest => "greatest",
            Self::Sum => "sum",
        }
    }
}

impl fmt::Display for Loops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Parallel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A form of a graph. The default is the graph as read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Form {
    /// Its loops.
    pub loops: Loops,
    /// Its parallel edges.
    pub parallel: Parallel,
}

impl Form {
    /// The graph as read.
    pub const AS_READ: Self = Self {
        loops: Loops::Keep,
        parallel: Parallel::Keep,
    };

    /// No loops, and one edge in place of parallel ones.
    #[must_use]
    pub const fn simple(parallel: Parallel) -> Self {
        Self {
            loops: Loops::Drop,
            parallel,
        }
    }

    /// Place among the forms of a graph.
    const fn index(self) -> usize {
        self.loops as usize * Parallel::ALL.len() + self.parallel as usize
    }
}

/// A form that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FormError {
    /// Not enough memory.
    #[error(
        "out of memory: a graph without loops or parallel edges needs {} bytes more, and {} are available; convert the graph with --loops drop and --parallel first",
        .0.needed, .0.available
    )]
    Memory(Shortage),
    /// A sum beyond the largest weight.
    #[error(
        "the weights of the {edges} edges from node {from} to node {to} add up to more than {most}; take the least or the greatest of parallel edges instead of their sum"
    )]
    #[serde(rename = "weight_too_large")]
    TooHeavy {
        /// Start of the edges, by its id in the file.
        from: u64,
        /// End of the edges, by its id in the file.
        to: u64,
        /// Number of the edges.
        edges: u64,
        /// The largest weight.
        #[serde(skip)]
        most: &'static str,
    },
    /// The order of listing is not known.
    #[error(
        "the first of parallel edges is not known, since they were put in the order of their weights; load the graph with `LoadOptions::listed_order`"
    )]
    #[serde(rename = "listed_order")]
    Unlisted,
}

impl From<Shortage> for FormError {
    fn from(short: Shortage) -> Self {
        Self::Memory(short)
    }
}

impl FormError {
    /// Returns the cause: the request or the machine.
    #[must_use]
    pub const fn cause(&self) -> Cause {
        match self {
            Self::Memory(_) => Cause::Failure,
            Self::TooHeavy { .. } | Self::Unlisted => Cause::Request,
        }
    }
}

/// Forms of a graph that were made. Most graphs need none, so their places are made with the first.
#[derive(Debug, Default)]
pub(super) struct Forms(OnceLock<Box<[OnceLock<Box<Graph>>; 10]>>);

const _: () = assert!(Loops::ALL.len() * Parallel::ALL.len() == 10);

impl Forms {
    pub(super) fn bytes(&self) -> usize {
        let places = self.0.get().into_iter().flat_map(|places| places.iter());
        let made = places.filter_map(OnceLock::get);
        made.map(|graph| graph.memory_bytes()).sum()
    }
}

impl Graph {
    /// Returns the graph in a form: itself if it has nothing to drop, or a graph that the first call
    /// makes, on all threads and in time linear in the edges, and that stays in memory beside it.
    ///
    /// Nodes and their ids are the same. A form of a symmetric graph is symmetric.
    ///
    /// ```
    /// use seawall_graph::{Form, Graph, Parallel};
    ///
    /// let edges = [(0, 1, 5), (0, 1, 9), (1, 1, 7)];
    /// let graph = Graph::from_weighted_edges(2, &edges, false)?;
    /// assert_eq!((graph.loops(), graph.parallel_edges()), (1, 1));
    /// let simple = graph.form(Form::simple(Parallel::Greatest))?;
    /// assert_eq!(simple.weights(), Some(&[9][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FormError`] if there is not enough memory, if a sum is beyond 32 bits, or if the first of
    /// parallel edges is asked for where it is not known.
    pub fn form(&self, form: Form) -> Result<&Self, FormError> {
        let form = self.effective(form);
        if form == Form::AS_READ {
            return Ok(self);
        }
        let slot = &self.forms.0.get_or_init(Box::default)[form.index()];
        if let Some(made) = slot.get() {
            return Ok(made);
        }
        let made = Box::new(self.make(form)?);
        Ok(slot.get_or_init(|| made))
    }

    /// Normalises a form: drops the choices that change nothing.
    fn effective(&self, form: Form) -> Form {
        let loops = match form.loops {
            Loops::Drop if self.loops() > 0 => Loops::Drop,
            _ => Loops::Keep,
        };
        let parallel = match form.parallel {
            _ if self.parallel_edges() == 0 => Parallel::Keep,
            Parallel::Least | Parallel::Greatest if self.weights().is_none() => Parallel::First,
            parallel => parallel,
        };
        Form { loops, parallel }
    }

    fn make(&self, form: Form) -> Result<Self, FormError> {
        let is_open = self.weights().is_some() && !self.is_listed();
        if form.parallel == Parallel::First && is_open {
            return Err(FormError::Unlisted);
        }
        let maker = Maker { graph: self, form };
        let outgoing = maker.rows()?;
        let counts = super::dedup::count(&outgoing);
        let order = Order::of(self.is_listed());
        let kind = self.weight_kind().unwrap_or_default();
        let graph = Self::from_parts(outgoing, self.is_symmetric(), self.ids().clone());
        Ok(graph.with_kind(kind).with_counts(counts, order))
    }
}

struct Maker<'a> {
    graph: &'a Graph,
    form: Form,
}

/// Rows of a form that one thread fills.
struct Part<'a> {
    rows: Range<u32>,
    targets: &'a mut [u32],
    weights: &'a mut [u32],
}

impl Maker<'_> {
    fn rows(&self) -> Result<Csr, FormError> {
        let csr = self.graph.outgoing();
        let mut offsets = memory::zeroed::<u32>(csr.nodes() as usize + 1)?;
        offsets[1..]
            .par_iter_mut()
            .zip(0..csr.nodes())
            .for_each(|(length, node)| *length = self.runs(node).map(|run| self.kept(&run)).sum());
        let mut end = 0;
        for length in &mut offsets {
            end += *length;
            *length = end;
        }
        let is_weighted = csr.weights().is_some() || self.form.parallel == Parallel::Sum;
        let mut targets = memory::zeroed::<u32>(end as usize)?;
        let mut weights = memory::zeroed::<u32>(if is_weighted { targets.len() } else { 0 })?;
        let parts = self.parts(&offsets, &mut targets, &mut weights);
        let filled = parts.into_par_iter().map(|part| self.fill(part));
        filled.collect::<Result<(), FormError>>()?;
        Ok(Csr {
            offsets,
            targets,
            weights: is_weighted.then_some(weights),
        })
    }

    fn parts<'a>(
        &self,
        offsets: &[u32],
        mut targets: &'a mut [u32],
        mut weights: &'a mut [u32],
    ) -> Vec<Part<'a>> {
        let mut parts = Vec::new();
        for rows in self.graph.outgoing().parts() {
            let length = (offsets[rows.end as usize] - offsets[rows.start as usize]) as usize;
            parts.push(Part {
                rows,
                targets: targets.split_off_mut(..length).unwrap_or_default(),
                // Empty without weights.
                weights: weights.split_off_mut(..length).unwrap_or_default(),
            });
        }
        parts
    }

    /// Edges of a node, by their targets; loops only if they stay.
    fn runs(&self, node: u32) -> impl Iterator<Item = Range<usize>> {
        let row = self.graph.outgoing().row(node);
        let (targets, mut start) = (&self.graph.targets()[row.clone()], row.start);
        let drops = self.form.loops == Loops::Drop;
        targets.chunk_by(|a, b| a == b).filter_map(move |run| {
            let edges = start..start + run.len();
            start = edges.end;
            (!(drops && run[0] == node)).then_some(edges)
        })
    }

    /// Number of edges of a run that stay.
    fn kept(&self, run: &Range<usize>) -> u32 {
        match self.form.parallel {
            Parallel::Keep => run.len() as u32,
            _ => 1,
        }
    }

    fn fill(&self, part: Part<'_>) -> Result<(), FormError> {
        let mut at = 0;
        for node in part.rows {
            for run in self.runs(node) {
                let target = self.graph.targets()[run.start];
                let slots = at..at + self.kept(&run) as usize;
                at = slots.end;
                part.targets[slots.clone()].fill(target);
                if let Some(slots) = part.weights.get_mut(slots).filter(|w| !w.is_empty()) {
                    self.weigh(node, target, run, slots)?;
                }
            }
        }
        Ok(())
    }

    /// Sets the weights of the edges of a run that stay.
    fn weigh(
        &self,
        node: u32,
        target: u32,
        run: Range<usize>,
        slots: &mut [u32],
    ) -> Result<(), FormError> {
        let Some(all) = self.graph.weights() else {
            slots[0] = run.len() as u32;
            return Ok(());
        };
        let weights = &all[run.clone()];
        let kind = self.graph.weight_kind().unwrap_or_default();
        let key = |word: &&u32| kind.key(**word);
        let one = match self.form.parallel {
            Parallel::Keep => {
                slots.copy_from_slice(weights);
                return Ok(());
            }
            Parallel::First => Some(self.first(node, target, weights)),
            Parallel::Least => weights.iter().min_by_key(key).copied(),
            Parallel::Greatest => weights.iter().max_by_key(key).copied(),
            Parallel::Sum => sum(kind, weights),
        };
        slots[0] = one.ok_or_else(|| FormError::TooHeavy {
            from: self.graph.original_id(node),
            to: self.graph.original_id(target),
            edges: run.len() as u64,
            most: match kind {
                WeightKind::Float | WeightKind::SignedFloat => "the largest 32-bit float",
                WeightKind::Integer => "4294967295",
                WeightKind::Signed => "2147483647",
            },
        })?;
        Ok(())
    }

    /// The weight of the first edge; both directions of an undirected one have the same.
    fn first(&self, node: u32, target: u32, weights: &[u32]) -> u32 {
        let all = self.graph.weights().unwrap_or_default();
        if self.graph.is_symmetric() && target < node && weights.len() > 1 {
            let back = self.graph.outgoing().edges_between(target, node);
            return all.get(back.start).copied().unwrap_or(weights[0]);
        }
        weights[0]
    }
}

/// Adds weights, in the order of their words, so that both directions of an edge have the same sum.
/// `None` if it is beyond the largest weight.
fn sum(kind: WeightKind, weights: &[u32]) -> Option<u32> {
    if let [weight] = weights {
        return Some(*weight);
    }
    match kind {
        WeightKind::Float | WeightKind::SignedFloat => {
            let mut sorted = weights.to_vec();
            sorted.sort_unstable();
            let sum: f64 = sorted.iter().map(|word| kind.number(*word)).sum();
            let sum = sum as f32;
            sum.is_finite().then(|| match kind {
                WeightKind::Float => (sum + 0.0).to_bits(),
                _ => signed_word(sum),
            })
        }
        WeightKind::Signed => {
            let sum: i64 = weights.iter().map(|word| kind.number(*word) as i64).sum();
            i32::try_from(sum).ok().map(signed_whole)
        }
        WeightKind::Integer => {
            let sum: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
            u32::try_from(sum).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Listed = Vec<(u32, u32, u32)>;

    /// The edges of a form, one by one.
    fn expected(edges: &Listed, form: Form, symmetric: bool) -> Vec<(u32, u32, u32)> {
        let mut groups: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for &(a, b, weight) in edges {
            groups.entry((a, b)).or_default().push(weight);
        }
        if symmetric {
            let mut both: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
            for &(a, b) in groups.keys() {
                let of = |ends| groups.get(&ends).cloned().unwrap_or_default();
                let (mut there, mut back) = (of((a, b)), of((b, a)));
                if a != b {
                    there.retain(|weight| match back.iter().position(|w| w == weight) {
                        Some(at) => {
                            back.remove(at);
                            true
                        }
                        None => true,
                    });
                    there.extend(back);
                }
                both.insert((a, b), there.clone());
                both.insert((b, a), there);
            }
            groups = both;
        }
        let mut all = Vec::new();
        for ((a, b), mut weights) in groups {
            if a == b && form.loops == Loops::Drop {
                continue;
            }
            weights.sort_unstable();
            let weights = match form.parallel {
                Parallel::Keep => weights,
                Parallel::First | Parallel::Least => vec![weights[0]],
                Parallel::Greatest => vec![weights[weights.len() - 1]],
                Parallel::Sum => vec![weights.iter().sum()],
            };
            all.extend(weights.into_iter().map(|weight| (a, b, weight)));
        }
        all
    }

    fn listed(graph: &Graph) -> Listed {
        let rows = (0..graph.nodes()).flat_map(|node| {
            let row = graph.outgoing().row(node);
            row.map(move |edge| (node, graph.targets()[edge], graph.weights().unwrap()[edge]))
        });
        rows.collect()
    }

    proptest! {
        #[test]
        fn forms_hold_what_they_say(
            list in prop::collection::vec((0u32..6, 0u32..6, 0u32..5), 0..80), symmetric: bool
        ) {
            let graph = Graph::from_weighted_edges(6, &list, symmetric).unwrap();
            for loops in Loops::ALL {
                for parallel in Parallel::ALL {
                    let form = Form { loops, parallel };
                    let found = match graph.form(form) {
                        Err(FormError::Unlisted) => {
                            prop_assert!(parallel == Parallel::First && !graph.is_simple());
                            continue;
                        }
                        found => found.unwrap(),
                    };
                    prop_assert_eq!(listed(found), expected(&list, form, symmetric), "{:?}", form);
                    prop_assert_eq!(found.is_symmetric(), symmetric);
                    prop_assert!(!symmetric || mirrors(found));
                    let counts = super::super::dedup::count(found.outgoing());
                    prop_assert_eq!(found.loops(), counts.loops);
                    prop_assert_eq!(found.parallel_edges(), counts.parallel);
                    prop_assert!(std::ptr::eq(found, graph.form(form).unwrap()));
                }
            }
        }
    }

    fn mirrors(graph: &Graph) -> bool {
        super::super::mirror::first_unmatched(graph.outgoing()).is_none()
    }

    #[test]
    fn a_simple_graph_is_its_own_form() {
        let graph = Graph::from_weighted_edges(3, &[(0, 1, 4), (1, 2, 5)], true).unwrap();
        for parallel in Parallel::ALL {
            let form = graph.form(Form::simple(parallel)).unwrap();
            assert!(std::ptr::eq(form, &graph));
        }
    }

    #[test]
    fn the_sum_of_edges_without_weights_is_their_number() {
        let graph = Graph::from_edges(2, &[(0, 1), (0, 1), (1, 0)], false).unwrap();
        let form = Form {
            parallel: Parallel::Sum,
            ..Form::AS_READ
        };
        assert_eq!(listed(graph.form(form).unwrap()), [(0, 1, 2), (1, 0, 1)]);
    }

    #[test]
    fn a_sum_beyond_the_largest_weight_names_its_edges() {
        let sum = Form::simple(Parallel::Sum);
        let heavy = [(0, 1, u32::MAX), (0, 1, 1)];
        let graph = Graph::from_weighted_edges(2, &heavy, false).unwrap();
        let text = graph.form(sum).unwrap_err().to_string();
        assert!(text.contains("2 edges from node 0 to node 1"), "{text}");
        let heavy = [(0, 1, f32::MAX), (0, 1, f32::MAX)];
        let graph = Graph::from_float_edges(2, &heavy, false).unwrap();
        assert!(matches!(
            graph.form(sum),
            Err(FormError::TooHeavy { edges: 2, .. })
        ));
    }

    #[test]
    fn the_first_of_rows_that_differ_is_the_same_in_both_directions() {
        let graph = Graph::from_csr(crate::CsrArrays {
            offsets: vec![0, 2, 4],
            targets: vec![1, 1, 0, 0],
            weights: Some(vec![9, 4, 4, 9]),
            symmetric: true,
            ..crate::CsrArrays::default()
        });
        let graph = graph.unwrap();
        let first = graph.form(Form::simple(Parallel::First)).unwrap();
        assert_eq!(first.weights(), Some(&[9, 9][..]));
    }
}
