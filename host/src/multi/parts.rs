//! Graphs of which each device or rank has a part alone: the sizes of all rows, and the edges that lead
//! to its own nodes.
//!
//! Parts are read from a `.swg` file, made by a generator, or put together by ranks that each read a
//! share of a text file (`text`). A rank has about `m / d` edges of a
//! symmetric file in memory, and reads no others. The edges of any other file pass through a buffer,
//! twice, and those to its own nodes are kept; so are those that a random generator draws. The whole
//! graph is in no memory, so that it may have more than 2^32 edges, each part fewer.

use super::Devices;
use super::carrier::{Carrier, gather, gather_alike};
use super::cut::{Sizes, Walks, cuts, edges_of_part, even_cuts};
use super::execute::{Split, check_budgets, check_numbers, run_cut as run_on_devices};
use super::ranges::{Cut, check_budget, short, slices, sum_of_weights, walks};
use super::ranks::{GREETING, drive_on_ranks, greet_with, greeting, hash_request, meet, run_cut};
use super::text::{self, TextOnRanks};
use super::way::{Way, Work, check_weights, way_of};
use crate::analysis::{End, LoopRule, ParallelRule};
use crate::backend::Canceller;
use crate::backend::multi::DeviceEdges;
use crate::graph::disk::{DiskNodes, MirrorSum, Rows, SwgFile};
use crate::graph::memory::zeroed;
use crate::graph::{
    BinaryProblem, Csr, Generated, Graph, GraphError, LoadOptions, Loops, Parallel, TextFile,
    WeightChoice, WeightKind, WeightOrigin,
};
use crate::job::{Job, drive};
use crate::outcome::{RunOutcome, Weights};
use crate::run::{Phase, RunError, RunRequest};
use crate::spans;
use crate::units::counted;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash};
use std::ops::Range;

/// A graph whose parts can be read or made, each without the others.
#[derive(Debug)]
#[non_exhaustive]
pub enum PartSource {
    /// A `.swg` file.
    File(SwgFile),
    /// A generator.
    Generator {
        /// The generator.
        generated: Generated,
        /// Whether it draws weights.
        weighted: bool,
    },
    /// A text file, for ranks.
    Text(TextFile),
}

impl PartSource {
    /// The most directed edges that the graph may have.
    #[must_use]
    pub fn edges_max(&self) -> u64 {
        match self {
            Self::File(file) => file.edges(),
            Self::Generator { generated, .. } => generated.edges_max(),
            Self::Text(text) => text.edges_max(),
        }
    }

    /// Whether there are neither loops nor parallel edges; text is taken to have none.
    fn is_simple(&self) -> bool {
        match self {
            Self::File(file) => file.is_simple(),
            Self::Generator { .. } | Self::Text(_) => true,
        }
    }

    fn is_symmetric(&self) -> bool {
        match self {
            Self::File(file) => file.is_symmetric(),
            Self::Generator { generated, .. } => generated.is_symmetric(),
            Self::Text(text) => text.is_symmetric(),
        }
    }

    /// Kind of the weights, if there are any; of text that was not read yet any kind.
    fn weight_kind(&self) -> Option<WeightKind> {
        match self {
            Self::File(file) => file.weight_kind(),
            Self::Generator { weighted, .. } => weighted.then_some(WeightKind::Integer),
            Self::Text(text) => text.has_weights().then_some(WeightKind::Integer),
        }
    }

    fn weight_origin(&self) -> WeightOrigin {
        match self {
            Self::File(_) | Self::Text(_) => WeightOrigin::File,
            Self::Generator { .. } => WeightOrigin::Generator,
        }
    }
}

/// A graph of which each device or rank has the edges that lead to its own nodes, and the offsets of
/// all rows.
///
/// ```
/// use seawall::backend::Canceller;
/// use seawall::graph::disk::SwgFile;
/// use seawall::graph::{LoadOptions, load, save};
/// use seawall::multi::{Carrier, CarrierError, Devices, GraphInParts, PartSource};
/// use seawall::outcome::Column;
/// use seawall::run::{AnalysisKind, RunRequest};
///
/// /// A run of one rank.
/// struct Alone;
///
/// impl Carrier for Alone {
///     fn rank(&self) -> u32 {
///         0
///     }
///
///     fn ranks(&self) -> u32 {
///         1
///     }
///
///     fn all_gather(
///         &mut self,
///         own: &[u32],
///         _: &[usize],
///         all: &mut Vec<u32>,
///     ) -> Result<(), CarrierError> {
///         all.clear();
///         all.extend_from_slice(own);
///         Ok(())
///     }
/// }
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("grid.swg");
/// save(&load("gen:grid:50", &LoadOptions::default(), None)?.graph, &path, None)?;
///
/// let request = RunRequest::new(AnalysisKind::Bfs, vec![0]);
/// let file = SwgFile::open(&path)?.expect("a .swg file");
/// let source = PartSource::File(file);
/// let parts = GraphInParts::on_ranks(source, &request, false, &mut Alone)?;
/// let parts = parts.expect("a search takes parts");
/// let canceller = Canceller::default();
/// let outcome = parts.execute_on_ranks(&request, &mut Alone, 1, &canceller, &mut |_| ())?;
/// assert!(matches!(outcome.values, Column::U32(levels) if levels[2_499] == 98));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GraphInParts {
    source: PartSource,
    /// Those of devices or of this rank, if they were made already.
    made: Option<Made>,
    outgoing: Rows,
    /// Those of incoming edges, if they are others.
    incoming: Option<Rows>,
    nodes: Graph,
    kind: Option<WeightKind>,
    unit_weights: bool,
    /// Of text: weights that were rounded, and listed edges that are the reverse of another.
    rounded: u64,
    mirrored: u64,
}

/// Parts that were made.
#[derive(Debug)]
struct Made {
    /// First nodes of all parts, and the number of nodes.
    cuts: Vec<u32>,
    /// The number of the first of these parts.
    first: u32,
    parts: Vec<Csr>,
}

/// The sums by which edges of a file that claims so are compared with their mirror images, and the sum
/// of weights.
#[derive(Default)]
struct Sums {
    mirrors: u64,
    weights: f64,
}

impl GraphInParts {
    /// Whether each of `devices` devices or ranks takes its own part of a graph for `request`, with the
    /// weight 1 on every edge if `unit_weights`. The whole graph has to be loaded otherwise: for analyses
    /// that share out sources or triangles, for files with loops or parallel edges that the analysis
    /// drops, and for rankings that may follow weights.
    ///
    /// # Errors
    /// [`RunError::CannotSplit`], also where the whole graph is needed and has 2^32 edges or more.
    pub fn takes(
        source: &PartSource,
        request: &RunRequest,
        unit_weights: bool,
        devices: u32,
    ) -> Result<bool, RunError> {
        let way = way_of(request, &Devices::simulated(devices, 1))?;
        let follows = request.weighted && source.weight_kind().is_some() && !unit_weights;
        let edges = source.edges_max();
        // Of text only the bytes are known: the loader refuses what is too large.
        let is_known = !matches!(source, PartSource::Text(_));
        let is_large = is_known && edges > u64::from(u32::MAX);
        let reason = match way {
            Way::Whole(_) => "this analysis takes the whole graph",
            Way::Cut(_) if !source.is_simple() && !keeps_all(request)? => {
                "to drop loops or parallel edges, it takes the whole graph"
            }
            Way::Cut(Work::Ranks) if follows => {
                "to see if weights differ, a ranking takes the whole graph"
            }
            Way::Cut(_) if request.check && is_large => "--check takes the whole graph",
            Way::Cut(_) => return Ok(true),
        };
        if !is_large {
            return Ok(false);
        }
        let most = match source {
            PartSource::File(_) => "has",
            _ => "has up to",
        };
        Err(RunError::CannotSplit {
            analysis: request.analysis,
            what: format!("{reason}, which has fewer than 2^32 edges; this one {most} {edges}"),
        })
    }

    /// Reads the offsets of rows, and the ids or names of nodes; of a file that is not symmetric also
    /// all edges, through a buffer. Takes four bytes for each node, eight of such a file, and those of
    /// ids and names. A generator makes the parts of `devices` devices.
    ///
    /// # Errors
    /// If the file cannot be read, or is invalid; if there is no memory for its nodes;
    /// [`GraphError::TooManyEdges`] for a generated part of 2^32 edges or more.
    pub fn on_devices(
        source: PartSource,
        unit_weights: bool,
        devices: u32,
    ) -> Result<Self, RunError> {
        let (generated, weighted) = match source {
            PartSource::File(file) => return Self::of_file(file, unit_weights),
            PartSource::Generator {
                generated,
                weighted,
            } => (generated, weighted),
            PartSource::Text(text) => return Err(no_shares(&text)),
        };
        let cuts = even_cuts(generated.nodes(), devices);
        let mut parts = Vec::new();
        for range in cuts.windows(2) {
            parts.push(generated.edges_to(range[0]..range[1], weighted)?);
        }
        let mut out = None;
        if !generated.is_symmetric() {
            let mut counts: Vec<u32> = zeroed(generated.nodes() as usize).map_err(short)?;
            parts
                .iter()
                .for_each(|part| part.count_targets(&mut counts));
            out = Some(counts);
        }
        let degrees = Degrees {
            into: parts.iter().flat_map(degrees).collect(),
            out,
        };
        let made = Made {
            cuts,
            first: 0,
            parts,
        };
        Self::of_generated(generated, weighted, unit_weights, made, degrees)
    }

    /// As [`Self::on_devices`], of the ranks that `carrier` joins; a generator makes the part of this
    /// one, and of text each rank reads a share. Every rank calls this with the same source, of which
    /// [`Self::takes`] says that the request takes parts, or
    /// [`refuse_on_ranks`](super::refuse_on_ranks). `None` if ranks take the whole graph after all, as
    /// text has ids of 2^31 and more, ids with large gaps, or loops and parallel edges that the analysis
    /// drops.
    ///
    /// # Errors
    /// As there; [`RunError::RankDiffers`] if a rank has another source or version, and
    /// [`BackendError::RankEnded`](crate::backend::BackendError::RankEnded) if one could not go on.
    pub fn on_ranks(
        source: PartSource,
        request: &RunRequest,
        unit_weights: bool,
        carrier: &mut dyn Carrier,
    ) -> Result<Option<Self>, RunError> {
        let asked = |hasher: &mut DefaultHasher| unit_weights.hash(hasher);
        match source {
            PartSource::File(file) => {
                let read = file.digest().map_err(RunError::from).and_then(|digest| {
                    let graph = |hasher: &mut DefaultHasher| digest.hash(hasher);
                    let words = greeting(&graph, &asked);
                    Ok((words, Self::of_file(file, unit_weights)?))
                });
                let words = read.as_ref().map(|(words, _)| *words);
                greet_with(carrier, words.unwrap_or([0; GREETING]))?;
                read.map(|(_, parts)| Some(parts))
            }
            PartSource::Generator {
                generated,
                weighted,
            } => {
                let cuts = even_cuts(generated.nodes(), carrier.ranks());
                let own = carrier.rank() as usize;
                let part = generated.edges_to(cuts[own]..cuts[own + 1], weighted);
                let graph = |hasher: &mut DefaultHasher| (generated.spec(), weighted).hash(hasher);
                let is_made = part.as_ref().map(|_| greeting(&graph, &asked));
                greet_with(carrier, is_made.unwrap_or([0; GREETING]))?;
                let made = Made {
                    cuts,
                    first: own as u32,
                    parts: vec![part?],
                };
                let degrees = degrees_on_ranks(carrier, &made, generated.is_symmetric())?;
                let all = Self::of_generated(generated, weighted, unit_weights, made, degrees);
                meet(carrier, all).map(Some)
            }
            PartSource::Text(text) => {
                let digest = text.digest().map_err(RunError::from);
                let words = digest.as_ref().map(|digest| {
                    let graph = |hasher: &mut DefaultHasher| {
                        let layout = (text.place(), text.is_symmetric(), text.has_weights());
                        (digest, layout).hash(hasher);
                    };
                    greeting(&graph, &asked)
                });
                greet_with(carrier, words.unwrap_or([0; GREETING]))?;
                digest?;
                match text::read(&text, carrier)? {
                    Some(found) if found.is_simple || keeps_all(request)? => {
                        Self::of_text(text, found, unit_weights, carrier).map(Some)
                    }
                    _ => Ok(None),
                }
            }
        }
    }

    fn of_text(
        text: TextFile,
        found: TextOnRanks,
        unit_weights: bool,
        carrier: &mut dyn Carrier,
    ) -> Result<Self, RunError> {
        let made = Made {
            cuts: found.cuts,
            first: carrier.rank(),
            parts: vec![found.rows],
        };
        let degrees = degrees_on_ranks(carrier, &made, text.is_symmetric())?;
        let (outgoing, incoming) = meet(carrier, rows_of(&degrees))?;
        Ok(Self {
            source: PartSource::Text(text),
            made: Some(made),
            outgoing,
            incoming,
            nodes: found.nodes,
            kind: found.kind,
            unit_weights,
            rounded: found.rounded,
            mirrored: found.mirrored,
        })
    }

    fn of_file(file: SwgFile, unit_weights: bool) -> Result<Self, RunError> {
        let DiskNodes { rows, nodes } = file.nodes()?;
        Ok(Self {
            incoming: file.incoming()?,
            kind: file.weight_kind(),
            source: PartSource::File(file),
            made: None,
            outgoing: rows,
            nodes,
            unit_weights,
            rounded: 0,
            mirrored: 0,
        })
    }

    fn of_generated(
        generated: Generated,
        weighted: bool,
        unit_weights: bool,
        made: Made,
        degrees: Degrees,
    ) -> Result<Self, RunError> {
        let (outgoing, incoming) = rows_of(&degrees)?;
        let nodes = generated.nodes_alone()?;
        let source = PartSource::Generator {
            generated,
            weighted,
        };
        Ok(Self {
            kind: source.weight_kind(),
            source,
            made: Some(made),
            outgoing,
            incoming,
            nodes,
            unit_weights,
            rounded: 0,
            mirrored: 0,
        })
    }

    /// The nodes of the graph with their ids in the file, and without edges.
    #[must_use]
    pub const fn nodes(&self) -> &Graph {
        &self.nodes
    }

    /// Returns the nodes, and frees the row offsets.
    #[must_use]
    pub fn into_nodes(self) -> Graph {
        self.nodes
    }

    fn incoming(&self) -> &Rows {
        self.incoming.as_ref().unwrap_or(&self.outgoing)
    }

    fn name(&self) -> &OsStr {
        match &self.source {
            PartSource::File(file) => file.path().as_os_str(),
            PartSource::Generator { generated, .. } => OsStr::new(generated.spec()),
            PartSource::Text(text) => text.path(),
        }
    }

    /// Bytes of rows, nodes and parts that were made.
    fn bytes(&self) -> u64 {
        let rows = 1 + u64::from(self.incoming.is_some());
        let parts = self.made.iter().flat_map(|made| &made.parts);
        let parts: u64 = parts.map(|part| part.memory_bytes() as u64).sum();
        rows * Rows::bytes(self.outgoing.len()) + self.nodes.memory_bytes() as u64 + parts
    }

    /// Runs `request` as [`execute_on_ranks`](super::execute_on_ranks) does on a loaded graph, with
    /// the same columns. A check loads the whole graph, on rank 0 alone.
    ///
    /// # Errors
    /// As there; [`RunError::Stream`] for a file that cannot be read, or is invalid.
    pub fn execute_on_ranks(
        &self,
        request: &RunRequest,
        carrier: &mut dyn Carrier,
        threads: u32,
        canceller: &Canceller,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, RunError> {
        let outcome = drive_on_ranks(
            self.span("ranks", request),
            request,
            carrier,
            canceller,
            progress,
            |job, carrier| self.prepare_on_ranks(job, carrier, threads, canceller),
        );
        Ok(self.with_weights(outcome?, request))
    }

    /// Runs `request` as [`execute_with`](super::execute_with) does on a loaded graph, with the same
    /// columns. A check loads the whole graph.
    ///
    /// # Errors
    /// As there; [`RunError::Stream`] for a file that cannot be read, or is invalid.
    pub fn execute(
        &self,
        request: &RunRequest,
        devices: &Devices,
        canceller: &Canceller,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, RunError> {
        let span = self.span("devices", request);
        let outcome = drive(span, request, progress, |job| {
            self.prepare(job, devices, canceller)
        });
        canceller.settle()?;
        Ok(self.with_weights(outcome?, request))
    }

    fn span(&self, name: &'static str, request: &RunRequest) -> tracing::Span {
        let (nodes, edges) = (self.outgoing.len(), self.outgoing.edges());
        spans::run_of(name, nodes, edges, request)
    }

    fn with_weights(&self, mut outcome: RunOutcome, request: &RunRequest) -> RunOutcome {
        let origin = self.source.weight_origin();
        let weights = || Weights {
            rounded: self.rounded,
            ..Weights::of_origin(origin, self.kind, self.unit_weights)
        };
        outcome.weights = request.reads_weights().then(weights);
        outcome.taken.mirrored_edges = self.mirrored;
        outcome
    }

    fn is_symmetric(&self) -> bool {
        self.source.is_symmetric()
    }

    /// Refuses what devices do not run on this graph.
    fn check(&self, request: &RunRequest, devices: &Devices) -> Result<Work, RunError> {
        let analysis = request.analysis;
        let is_in_parts = Self::takes(&self.source, request, self.unit_weights, devices.count())?;
        request.check_for_nodes(self.outgoing.len())?;
        let has_weights = self.unit_weights || self.kind.is_some();
        if request.reads_weights() && !has_weights {
            return Err(RunError::NoWeights { analysis });
        }
        let kind = self.kind.filter(|_| !self.unit_weights);
        check_weights(request, kind)?;
        if analysis.is_undirected() && !self.is_symmetric() {
            return Err(RunError::Directed { analysis });
        }
        let parts = self.made.as_ref().map(|made| made.cuts.len() as u32 - 1);
        let is_for_as_many = parts.is_none_or(|parts| parts == devices.count());
        match way_of(request, devices)? {
            Way::Cut(work) if is_in_parts && is_for_as_many => Ok(work),
            _ => Err(RunError::CannotSplit {
                analysis,
                what: "this graph has no part for each device".to_owned(),
            }),
        }
    }

    fn sizes(&self, is_weighted: bool) -> Sizes<'_> {
        Sizes::Rows {
            outgoing: &self.outgoing,
            incoming: self.incoming(),
            is_symmetric: self.is_symmetric(),
            kind: self.kind.filter(|_| is_weighted),
        }
    }

    /// First nodes of all parts, and the number of nodes.
    fn cuts(&self, sizes: Sizes<'_>, devices: u32) -> Vec<u32> {
        match &self.made {
            Some(made) => made.cuts.clone(),
            None => cuts(sizes, devices),
        }
    }

    /// The edges that lead to the nodes of a device.
    fn part(
        &self,
        device: u32,
        nodes: Range<u32>,
        is_weighted: bool,
    ) -> Result<Cow<'_, Csr>, GraphError> {
        if let PartSource::File(file) = &self.source {
            let part = file.edges_to(nodes, &self.outgoing, self.incoming(), is_weighted);
            return part.map(Cow::Owned);
        }
        let made = self.made.iter();
        let part = made.flat_map(|made| (made.first..).zip(&made.parts));
        let own = part
            .filter(|(number, _)| *number == device)
            .map(|(_, part)| part);
        Ok(own.last().map_or_else(Cow::default, Cow::Borrowed))
    }

    /// Adds a part to the sums. Of a file that is not symmetric, and of a generated graph, none has to
    /// be compared.
    fn add(&self, sums: &mut Sums, mirrors: &MirrorSum, part: &Csr, first: u32, sizes: Sizes<'_>) {
        if matches!(self.source, PartSource::File(_)) && self.is_symmetric() {
            for (own, node) in (0..part.nodes()).zip(first..) {
                for edge in part.row(own) {
                    let weight = part.weights().map_or(0, |weights| weights[edge]);
                    let edge = mirrors.edge([node, part.targets()[edge]], weight);
                    sums.mirrors = sums.mirrors.wrapping_add(edge);
                }
            }
        }
        let weights = part.weights().filter(|_| sizes.weight_kind().is_some());
        sums.weights += sum_of_weights(weights.unwrap_or(&[]), sizes.weight_kind());
    }

    /// Checks the sums of all parts, and returns the mean weight of all edges, 1 without weights.
    fn mean_weight(&self, sums: &Sums, sizes: Sizes<'_>) -> Result<f64, RunError> {
        if let (PartSource::File(file), 1..) = (&self.source, sums.mirrors) {
            return Err(file.bad(BinaryProblem::Unmirrored).into());
        }
        let edges = sizes.edges();
        Ok(match sizes.weight_kind() {
            Some(_) if edges > 0 => sums.weights / edges as f64,
            _ => 1.0,
        })
    }

    /// Reads or takes the parts of all devices, and cuts.
    fn prepare<'a>(
        &'a self,
        job: &mut Job<'_>,
        devices: &'a Devices,
        canceller: &'a Canceller,
    ) -> Result<Split<'a>, RunError> {
        let request = job.request;
        let start = job.now();
        job.phase(Phase::Plan);
        let work = self.check(request, devices)?;
        check_numbers(request, devices)?;
        let is_weighted = work == Work::Lengths && !self.unit_weights;
        let sizes = self.sizes(is_weighted);
        let cuts = self.cuts(sizes, devices.count());
        check_parts(request, sizes, &cuts)?;
        let walks = Walks {
            slices: slices(sizes, work, devices),
            ..walks(sizes, work)
        };
        let mirrors = MirrorSum::draw();
        let mut sums = Sums::default();
        let mut parts = Vec::new();
        for (device, range) in (0..).zip(cuts.windows(2)) {
            let part = self.part(device, range[0]..range[1], is_weighted)?;
            self.add(&mut sums, &mirrors, &part, range[0], sizes);
            parts.push(edges_of_part(part, sizes, range[0], walks).map_err(short)?);
        }
        let mean = self.mean_weight(&sums, sizes)?;
        let cut = Cut::of_rows(&self.nodes, sizes, request, work, cuts, mean)?;
        check_budgets(request, &cut, &parts)?;
        let plan_ns = job.since(start);
        let run = run_on_devices(cut, parts, devices, None, canceller, plan_ns);
        Ok(self.split(request, run))
    }

    /// How a check of `request` loads the whole graph. Text is read as its shares were: weights decide
    /// which lines list one edge.
    fn options(&self, request: &RunRequest) -> LoadOptions {
        if let PartSource::Text(text) = &self.source {
            return text.options().clone();
        }
        let weights = match (request.reads_weights(), self.unit_weights) {
            (false, _) => WeightChoice::Ignored,
            (true, false) => WeightChoice::Given,
            (true, true) => WeightChoice::Unit,
        };
        LoadOptions {
            weights,
            ..LoadOptions::default()
        }
    }

    fn split<'a>(
        &'a self,
        request: &RunRequest,
        run: impl FnMut(&mut Job<'_>) -> Result<(RunOutcome, End), RunError> + 'a,
    ) -> Split<'a> {
        Split {
            whole: Some((self.name(), self.options(request))),
            ..Split::of(&self.nodes, run)
        }
    }

    /// Compares the graph and the request with the other ranks, reads or takes this one's part, and
    /// cuts.
    fn prepare_on_ranks<'a>(
        &'a self,
        job: &mut Job<'_>,
        carrier: &'a mut dyn Carrier,
        threads: u32,
        canceller: &'a Canceller,
    ) -> Result<Split<'a>, RunError> {
        let (own, count) = (carrier.rank(), carrier.ranks());
        let devices = Devices::of_ranks(count, &job.request.machine, threads);
        let request = job.request;
        let start = job.now();
        job.phase(Phase::Plan);
        let work = self.check(request, &devices);
        let words = work.as_ref().map(|_| self.greeting(request));
        greet_with(carrier, words.unwrap_or([0; GREETING]))?;
        let work = work?;
        let is_weighted = work == Work::Lengths && !self.unit_weights;
        let sizes = self.sizes(is_weighted);
        let cuts = self.cuts(sizes, count);
        check_parts(request, sizes, &cuts)?;
        let range = cuts[own as usize]..cuts[own as usize + 1];
        let first = range.start;
        let part = self.part(own, range, is_weighted);
        let part = meet(carrier, part.map_err(RunError::from))?;
        let mean = self.compare(carrier, &part, sizes, first)?;
        let walks = Walks {
            slices: slices(sizes, work, &devices),
            ..walks(sizes, work)
        };
        let cut = Cut::of_rows(&self.nodes, sizes, request, work, cuts, mean);
        let ready = cut.and_then(|cut| {
            let edges = edges_of_part(part, sizes, first, walks).map_err(short)?;
            check_budget(request, &cut.job(own, &edges))?;
            Ok((cut, edges))
        });
        let (cut, edges) = meet(carrier, ready)?;
        let graph_bytes = gather_alike(carrier, &[self.bytes() + bytes_beside(&cut, own, &edges)])?;
        let plan_ns = job.since(start);
        let mut run = run_cut(cut, edges, carrier, devices, canceller, plan_ns);
        Ok(self.split(request, move |job: &mut Job<'_>| {
            let (mut outcome, end) = run(job)?;
            if let Some(report) = &mut outcome.devices {
                report.graph_bytes.clone_from(&graph_bytes);
            }
            Ok((outcome, end))
        }))
    }

    /// The version, the rows and the request of this rank.
    fn greeting(&self, request: &RunRequest) -> [u32; GREETING] {
        let kind = self.kind.map_or(0, |kind| 1 + kind as u64);
        greeting(
            &|hasher: &mut DefaultHasher| {
                (self.outgoing.halves(), self.incoming().halves()).hash(hasher);
                (self.outgoing.edges(), self.is_symmetric(), kind).hash(hasher);
            },
            &|hasher: &mut DefaultHasher| {
                hash_request(request, hasher);
                self.unit_weights.hash(hasher);
            },
        )
    }

    /// Compares the edges of all ranks with their mirror images, if a file claims that all have one, and
    /// returns the mean weight of all edges.
    fn compare(
        &self,
        carrier: &mut dyn Carrier,
        part: &Csr,
        sizes: Sizes<'_>,
        first: u32,
    ) -> Result<f64, RunError> {
        let keys = gather_alike(carrier, &MirrorSum::draw().keys())?;
        let mirrors = MirrorSum::with_keys([keys[0], keys[1], keys[2]]);
        let mut own = Sums::default();
        self.add(&mut own, &mirrors, part, first, sizes);
        let mut all = Sums::default();
        for sums in gather_alike(carrier, &[own.mirrors, own.weights.to_bits()])?.chunks(2) {
            all.mirrors = all.mirrors.wrapping_add(sums[0]);
            all.weights += f64::from_bits(sums[1]);
        }
        self.mean_weight(&all, sizes)
    }
}

/// Whether the answer is the same if all loops and parallel edges stay.
fn keeps_all(request: &RunRequest) -> Result<bool, RunError> {
    let (form, (loops, parallel)) = (request.form()?, request.rules());
    let loops_stay = match loops {
        LoopRule::Count => form.loops == Loops::Keep,
        LoopRule::NoEffect => true,
        LoopRule::Ignored => false,
    };
    let parallel_stay = match parallel {
        ParallelRule::Count => form.parallel == Parallel::Keep,
        ParallelRule::NoEffect => true,
        ParallelRule::Least => form.parallel == Parallel::Least,
        ParallelRule::Greatest | ParallelRule::Ignored => false,
    };
    Ok(loops_stay && parallel_stay)
}

/// The error of devices of one process, which read no shares of text.
fn no_shares(text: &TextFile) -> RunError {
    let file = text.path().to_string_lossy().into_owned();
    let (edges, limit) = (text.edges_max(), u32::MAX.into());
    GraphError::TooManyEdges { file, edges, limit }.into()
}

/// Edges of each node.
struct Degrees {
    /// Those that lead there.
    into: Vec<u32>,
    /// Those that leave, if they are others.
    out: Option<Vec<u32>>,
}

/// The degrees of all nodes, by the parts of all ranks.
fn degrees_on_ranks(
    carrier: &mut dyn Carrier,
    made: &Made,
    is_symmetric: bool,
) -> Result<Degrees, RunError> {
    let part = &made.parts[0];
    let ranges = made.cuts.windows(2);
    let lengths: Vec<usize> = ranges.map(|cut| (cut[1] - cut[0]) as usize).collect();
    let own: Vec<u32> = degrees(part).collect();
    let into = gather(carrier, &own, &lengths)?;
    let mut out = None;
    if !is_symmetric {
        let mut counts: Vec<u32> = meet(carrier, zeroed(into.len()).map_err(short))?;
        part.count_targets(&mut counts);
        let own = sums_by_rank(carrier, &counts, &made.cuts)?;
        out = Some(gather(carrier, &own, &lengths)?);
    }
    Ok(Degrees { into, out })
}

/// Offsets of outgoing rows and of incoming ones, if they are others.
fn rows_of(degrees: &Degrees) -> Result<(Rows, Option<Rows>), RunError> {
    let rows = |degrees: &[u32]| Rows::of_degrees(degrees).map_err(short);
    let into = rows(&degrees.into)?;
    Ok(match &degrees.out {
        None => (into, None),
        Some(out) => (rows(out)?, Some(into)),
    })
}

/// Edges of each row.
fn degrees(part: &Csr) -> impl Iterator<Item = u32> {
    part.offsets().windows(2).map(|row| row[1] - row[0])
}

/// The sums over all ranks of the words that belong to nodes of this one; `words` has one for each node.
fn sums_by_rank(
    carrier: &mut dyn Carrier,
    words: &[u32],
    cuts: &[u32],
) -> Result<Vec<u32>, RunError> {
    let mut own = Vec::new();
    for (rank, range) in (0..).zip(cuts.windows(2)) {
        let part = &words[range[0] as usize..range[1] as usize];
        let all = gather_alike(carrier, part)?;
        if rank == carrier.rank() {
            own = vec![0; part.len()];
            for words in all.chunks(part.len().max(1)) {
                own.iter_mut()
                    .zip(words)
                    .for_each(|(sum, word)| *sum += word);
            }
        }
    }
    Ok(own)
}

/// Bytes of a rank's edges, without those that a part holds which was made before.
fn bytes_beside(cut: &Cut<'_>, own: u32, edges: &DeviceEdges<'_>) -> u64 {
    let job = cut.job(own, edges);
    let words: usize = job.arrays().iter().map(|array| array.len()).sum();
    let held = match &edges.in_sources {
        Cow::Borrowed(sources) => sources.len(),
        Cow::Owned(_) => 0,
    };
    4 * (words - held) as u64
}

/// Refuses parts of 2^32 edges or more.
fn check_parts(request: &RunRequest, sizes: Sizes<'_>, cuts: &[u32]) -> Result<(), RunError> {
    let edges = |pair: &[u32]| sizes.edges_before(pair[1]) - sizes.edges_before(pair[0]);
    let most = cuts.windows(2).map(edges).max().unwrap_or(0);
    if most < 1 << 32 {
        return Ok(());
    }
    Err(RunError::CannotSplit {
        analysis: request.analysis,
        what: format!(
            "a part would have {}, and one has fewer than 2^32; take more devices or ranks",
            counted(most, "edge")
        ),
    })
}
