//! Ranks that read their own part of a `.swg` file: the offsets of all rows, and the edges that lead to
//! their own nodes.
//!
//! A rank has about `m / d` edges of a symmetric file in memory, and reads no others. The edges of
//! any other file pass through a buffer, twice, and those to its own nodes are kept. No rank has the
//! whole graph, so that it may have more than 2^32 edges, each part fewer.

use super::Devices;
use super::carrier::{Carrier, gather_alike};
use super::cut::{Sizes, cuts, edges_of_part};
use super::execute::Split;
use super::ranges::{Cut, check_budget, short, sum_of_weights, walks};
use super::ranks::{GREETING, drive_on_ranks, greet_with, greeting, hash_request, meet, run_cut};
use super::way::{Way, Work, way_of};
use crate::backend::Canceller;
use crate::graph::disk::{DiskNodes, MirrorSum, Rows, SwgFile};
use crate::graph::{BinaryProblem, Csr, Graph, GraphError};
use crate::job::Job;
use crate::outcome::{RunOutcome, Weights};
use crate::run::{Phase, RunError, RunRequest};
use crate::spans;
use crate::units::counted;
use std::hash::{DefaultHasher, Hash};

/// The edges of a `.swg` file that lead to the nodes of a rank, to be read, and the offsets of all
/// rows.
///
/// ```
/// use seawall::backend::Canceller;
/// use seawall::graph::disk::SwgFile;
/// use seawall::graph::{LoadOptions, load, save};
/// use seawall::multi::{Carrier, CarrierError, FileOnRanks};
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
/// assert!(FileOnRanks::takes(&file, &request, false, 1)?);
/// let file = FileOnRanks::read(file, false)?;
/// let outcome = file.execute(&request, &mut Alone, 1, &Canceller::default(), &mut |_| ())?;
/// assert!(matches!(outcome.values, Column::U32(levels) if levels[2_499] == 98));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileOnRanks {
    file: SwgFile,
    outgoing: Rows,
    /// Those of incoming edges, if they are others.
    incoming: Option<Rows>,
    nodes: Graph,
    unit_weights: bool,
}

impl FileOnRanks {
    /// Whether each of `ranks` ranks reads its own part of `file` for `request`, with the weight 1 on
    /// every edge if `unit_weights`. The whole graph has to be loaded otherwise: for analyses that
    /// share out sources or triangles, for files with loops or parallel edges, and for rankings that
    /// may follow weights.
    ///
    /// # Errors
    /// [`RunError::CannotSplit`], also where the whole graph is needed and has 2^32 edges or more.
    pub fn takes(
        file: &SwgFile,
        request: &RunRequest,
        unit_weights: bool,
        ranks: u32,
    ) -> Result<bool, RunError> {
        let way = way_of(request, &Devices::simulated(ranks, 1))?;
        let follows = request.weighted && file.weight_kind().is_some() && !unit_weights;
        let reason = match way {
            Way::Whole(_) => "each rank takes the whole graph for this analysis",
            Way::Cut(_) if !file.is_simple() => {
                "the file has loops or parallel edges, so that each rank takes the whole graph"
            }
            Way::Cut(Work::Ranks) if follows => {
                "each rank takes the whole graph to see if weights differ"
            }
            Way::Cut(_) => return Ok(true),
        };
        let edges = file.edges();
        if edges <= u64::from(u32::MAX) {
            return Ok(false);
        }
        Err(RunError::CannotSplit {
            analysis: request.analysis,
            what: format!("{reason}, which has fewer than 2^32 edges; this one has {edges}"),
        })
    }

    /// Reads the offsets of rows, and the ids or names of nodes; of a file that is not symmetric also
    /// all edges, through a buffer. Takes four bytes for each node, eight of such a file, and those of
    /// ids and names.
    ///
    /// # Errors
    /// If the file cannot be read, or is invalid; if there is no memory for its nodes.
    pub fn read(file: SwgFile, unit_weights: bool) -> Result<Self, GraphError> {
        let DiskNodes { rows, nodes } = file.nodes()?;
        Ok(Self {
            incoming: file.incoming()?,
            file,
            outgoing: rows,
            nodes,
            unit_weights,
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

    /// Bytes of rows and nodes.
    fn bytes(&self) -> u64 {
        let rows = 1 + u64::from(self.incoming.is_some());
        rows * Rows::bytes(self.outgoing.len()) + self.nodes.memory_bytes() as u64
    }

    /// Runs `request` as [`execute_on_ranks`](super::execute_on_ranks) does on a loaded graph, with
    /// the same columns. A check loads the whole graph, on rank 0 alone.
    ///
    /// # Errors
    /// As there; [`RunError::Stream`] for a file that cannot be read, or is invalid.
    pub fn execute(
        &self,
        request: &RunRequest,
        carrier: &mut dyn Carrier,
        threads: u32,
        canceller: &Canceller,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, RunError> {
        let (nodes, edges) = (self.file.node_count(), self.file.edges());
        let span = spans::run_of("ranks", nodes, edges, request);
        let outcome = drive_on_ranks(
            span,
            request,
            carrier,
            canceller,
            progress,
            |job, carrier| self.prepare(job, carrier, threads, canceller),
        );
        let mut outcome = outcome?;
        let is_unit = self.unit_weights;
        let weights = || Weights::of_file(&self.file, is_unit);
        outcome.weights = request.reads_weights().then(weights);
        Ok(outcome)
    }

    /// Refuses what ranks do not run on this file.
    fn check(&self, request: &RunRequest, devices: &Devices) -> Result<Work, RunError> {
        let analysis = request.analysis;
        let is_in_parts = Self::takes(&self.file, request, self.unit_weights, devices.count())?;
        request.check_for_nodes(self.file.node_count())?;
        let has_weights = self.unit_weights || self.file.weight_kind().is_some();
        if request.reads_weights() && !has_weights {
            return Err(RunError::NoWeights { analysis });
        }
        if analysis.is_undirected() && !self.file.is_symmetric() {
            return Err(RunError::Directed { analysis });
        }
        match way_of(request, devices)? {
            Way::Cut(work) if is_in_parts => Ok(work),
            _ => Err(RunError::CannotSplit {
                analysis,
                what: "this file is no graph that ranks read in parts".to_owned(),
            }),
        }
    }

    /// Compares the file and the request with the other ranks, reads this one's part, and cuts.
    fn prepare<'a>(
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
        let weighted = work == Work::Lengths && !self.unit_weights;
        let sizes = Sizes::File {
            outgoing: &self.outgoing,
            incoming: self.incoming(),
            is_symmetric: self.file.is_symmetric(),
            kind: self.file.weight_kind().filter(|_| weighted),
        };
        let cut = cuts(sizes, count);
        self.check_parts(request, sizes, &cut)?;
        let range = cut[own as usize]..cut[own as usize + 1];
        let first = range.start;
        let part = self
            .file
            .edges_to(range, &self.outgoing, self.incoming(), weighted);
        let (part, mean_weight) = self.compare(carrier, part, sizes, first)?;
        let cut = Cut::of_rows(&self.nodes, sizes, request, work, count, mean_weight);
        let ready = cut.and_then(|cut| {
            let edges = edges_of_part(part, sizes, first, walks(sizes, work)).map_err(short)?;
            check_budget(request, &cut.job(own, &edges))?;
            Ok((cut, edges))
        });
        let (cut, edges) = meet(carrier, ready)?;
        let words: usize = cut
            .job(own, &edges)
            .arrays()
            .iter()
            .map(|array| array.len())
            .sum();
        let graph_bytes = gather_alike(carrier, &[self.bytes() + 4 * words as u64])?;
        let plan_ns = job.since(start);
        let mut run = run_cut(cut, edges, carrier, devices, canceller, plan_ns);
        Ok(Split {
            graph: &self.nodes,
            file: Some((&self.file, self.unit_weights)),
            run: Box::new(move |job| {
                let (mut outcome, end) = run(job)?;
                if let Some(report) = &mut outcome.devices {
                    report.graph_bytes.clone_from(&graph_bytes);
                }
                Ok((outcome, end))
            }),
        })
    }

    /// The version, the rows and the request of this rank.
    fn greeting(&self, request: &RunRequest) -> [u32; GREETING] {
        let kind = self.file.weight_kind().map_or(0, |kind| 1 + kind as u64);
        greeting(
            &|hasher: &mut DefaultHasher| {
                (self.outgoing.halves(), self.incoming().halves()).hash(hasher);
                (self.file.edges(), self.file.is_symmetric(), kind).hash(hasher);
            },
            &|hasher: &mut DefaultHasher| {
                hash_request(request, hasher);
                self.unit_weights.hash(hasher);
            },
        )
    }

    /// Refuses parts of 2^32 edges or more, on all ranks alike.
    fn check_parts(
        &self,
        request: &RunRequest,
        sizes: Sizes<'_>,
        cut: &[u32],
    ) -> Result<(), RunError> {
        let edges = |pair: &[u32]| sizes.edges_before(pair[1]) - sizes.edges_before(pair[0]);
        let Some(most) = cut.windows(2).map(edges).max() else {
            return Ok(());
        };
        if most < 1 << 32 {
            return Ok(());
        }
        Err(RunError::CannotSplit {
            analysis: request.analysis,
            what: format!(
                "a rank would have {}, and a part has fewer than 2^32; start more ranks",
                counted(most, "edge")
            ),
        })
    }

    /// Compares the edges with their mirror images, if the file claims that all have one, and returns
    /// the part and the mean weight of all edges, 1 without weights.
    fn compare(
        &self,
        carrier: &mut dyn Carrier,
        part: Result<Csr, GraphError>,
        sizes: Sizes<'_>,
        first: u32,
    ) -> Result<(Csr, f64), RunError> {
        let part = meet(carrier, part.map_err(RunError::from))?;
        let keys = gather_alike(carrier, &MirrorSum::draw().keys())?;
        let mirrors = MirrorSum::with_keys([keys[0], keys[1], keys[2]]);
        let mut sum = 0_u64;
        if self.file.is_symmetric() {
            for (own, node) in (0..part.nodes()).zip(first..) {
                for edge in part.row(own) {
                    let weight = part.weights().map_or(0, |weights| weights[edge]);
                    sum = sum.wrapping_add(mirrors.edge([node, part.targets()[edge]], weight));
                }
            }
        }
        let weight = sum_of_weights(part.weights().unwrap_or(&[]), sizes.weight_kind());
        let all = gather_alike(carrier, &[sum, weight.to_bits()])?;
        let sums = all.chunks(2);
        if sums
            .clone()
            .fold(0_u64, |sum, pair| sum.wrapping_add(pair[0]))
            != 0
        {
            return Err(self.file.bad(BinaryProblem::Unmirrored).into());
        }
        let weight: f64 = sums.map(|pair| f64::from_bits(pair[1])).sum();
        let edges = sizes.edges();
        let mean = match sizes.weight_kind() {
            Some(_) if edges > 0 => weight / edges as f64,
            _ => 1.0,
        };
        Ok((part, mean))
    }
}
