//! `seawall run` on ranks: processes that a carrier joins, each with a part of the graph.

use super::RunArgs;
use crate::LocalRanks;
use crate::error::CliError;
use crate::program::ProgramFailure;
use crate::progress::ProgressLine;
use crate::sources::Sources;
use seawall::backend::cpu::available_threads;
use seawall::backend::{BackendError, Canceller, ProgramSession, cuda};
use seawall::batch::is_batch;
use seawall::executor::{Executor, Machine};
use seawall::graph::{Generated, Graph, TextFile, WeightChoice};
use seawall::multi::{
    Carrier, DeviceChoice, GraphInParts, PartSource, execute_on_ranks, open_on_ranks,
    refuse_on_ranks,
};
use seawall::outcome::RunOutcome;
use seawall::run::{Phase, RunError, RunRequest};
use seawall::units::elapsed_ns;
use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::time::Instant;

/// The variable by which schedulers show a process some GPUs of a host.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

pub(crate) struct Ranks {
    carrier: RefCell<Box<dyn Carrier>>,
    own: u32,
    /// Those of this host.
    local: LocalRanks,
    /// Whether the others have heard if this rank can run.
    has_answered: Cell<bool>,
}

impl Ranks {
    /// The ranks that `carrier` joins, of which `local` share this host.
    pub(crate) fn new(carrier: Box<dyn Carrier>, local: LocalRanks) -> Self {
        Self {
            own: carrier.rank(),
            carrier: RefCell::new(carrier),
            local,
            has_answered: Cell::new(false),
        }
    }

    pub(crate) fn own(&self) -> u32 {
        self.own
    }

    /// Whether this rank prints reports and writes files.
    pub(crate) fn reports(&self) -> bool {
        self.own == 0
    }

    pub(super) fn execute(
        &self,
        graph: &Graph,
        request: &RunRequest,
        progress: &mut dyn FnMut(Phase),
    ) -> Result<RunOutcome, CliError> {
        let threads = self.threads(&request.machine);
        self.has_answered.set(true);
        let carrier = &mut **self.carrier.borrow_mut();
        let canceller = Canceller::default();
        let found = execute_on_ranks(graph, request, carrier, threads, &canceller, progress);
        Ok(found?)
    }

    pub(super) fn with_session<T>(
        &self,
        graph: &Graph,
        machine: &Machine,
        run: impl FnOnce(ProgramSession<'_>) -> Result<T, BackendError>,
    ) -> Result<T, BackendError> {
        let carrier = &mut **self.carrier.borrow_mut();
        let session = open_on_ranks(graph, machine, carrier, self.threads(machine))?;
        // They hear of this rank when it loads the program.
        self.has_answered.set(true);
        run(ProgramSession::over(session))
    }

    fn threads(&self, machine: &Machine) -> u32 {
        let share = available_threads().get() as u32 / self.local.count.max(1);
        let asked = machine.threads.map(|threads| threads.get() as u32);
        asked.unwrap_or(share).max(1)
    }

    /// The number of this rank's GPU: its number among the ranks of this host, or the only one that a
    /// scheduler shows it.
    pub(crate) fn gpu(&self) -> Result<u32, CliError> {
        let gpus = cuda::probe().map_err(RunError::from)?.len() as u32;
        match (gpus, self.local) {
            (1, _) if std::env::var_os(VISIBLE).is_some() => Ok(0),
            (_, LocalRanks { own, count }) if count <= gpus => Ok(own),
            (_, LocalRanks { count, .. }) => Err(CliError::FewGpus { gpus, ranks: count }),
        }
    }

    /// Returns whether this rank is the one to show `error`, after telling the others that it
    /// cannot run.
    pub(crate) fn shows(&self, error: &CliError) -> bool {
        if !self.has_answered.replace(true) {
            let carrier = &mut **self.carrier.borrow_mut();
            return refuse_on_ranks(carrier).unwrap_or(true);
        }
        error.is_of_this_rank() || self.reports()
    }
}

impl RunArgs {
    /// Runs on ranks that have parts of the graph alone, and returns the outcome and the nodes; `None` if
    /// each takes the whole graph.
    pub(super) fn run_in_parts_on_ranks(
        &self,
        ranks: &Ranks,
        name: &OsStr,
        sources: &Sources,
        line: &ProgressLine,
    ) -> Result<Option<(RunOutcome, Graph)>, CliError> {
        let found = match self.part_source(name)? {
            None => self.text_source(name)?,
            found => found,
        };
        let Some(source) = found else {
            return Ok(None);
        };
        let carrier = &mut **ranks.carrier.borrow_mut();
        let started = Instant::now();
        line.say(format!("reading a part of {}", name.to_string_lossy()));
        let (asked, unit_weights) = (self.request(Vec::new()), self.are_unit_weights());
        if !GraphInParts::takes(&source, &asked, unit_weights, carrier.ranks())? {
            return Ok(None);
        }
        ranks.has_answered.set(true);
        let parts = GraphInParts::on_ranks(source, &asked, unit_weights, carrier);
        let parts = parts.map_err(|error| match error {
            RunError::Stream(error) => self.named(error),
            error => error.into(),
        })?;
        ranks.has_answered.set(false);
        let Some(parts) = parts else {
            return Ok(None);
        };
        let load_ns = elapsed_ns(started);
        let request = self.request_on(parts.nodes(), &name.to_string_lossy(), sources)?;
        let threads = ranks.threads(&request.machine);
        ranks.has_answered.set(true);
        let progress = &mut |phase| line.phase(phase);
        let canceller = Canceller::default();
        let outcome = parts.execute_on_ranks(&request, carrier, threads, &canceller, progress)?;
        self.with_nodes(outcome, parts, load_ns, name, line)
            .map(Some)
    }

    /// Runs on devices that have parts of a graph of 2^32 edges or more; `None` for others, which are
    /// loaded as a whole.
    pub(super) fn run_in_parts(
        &self,
        choice: &DeviceChoice,
        name: &OsStr,
        sources: &Sources,
        line: &ProgressLine,
    ) -> Result<Option<(RunOutcome, Graph)>, CliError> {
        let is_large = |source: &PartSource| source.edges_max() > u64::from(u32::MAX);
        let Some(source) = self.part_source(name)?.filter(is_large) else {
            return Ok(None);
        };
        let Some(devices) = choice.devices(&self.request(Vec::new()))? else {
            return Ok(None);
        };
        let (asked, unit_weights) = (self.request(Vec::new()), self.are_unit_weights());
        if !GraphInParts::takes(&source, &asked, unit_weights, devices.count())? {
            return Ok(None);
        }
        let started = Instant::now();
        line.say(format!("loading the parts of {}", name.to_string_lossy()));
        let parts = GraphInParts::on_devices(source, unit_weights, devices.count())?;
        let load_ns = elapsed_ns(started);
        let request = self.request_on(parts.nodes(), &name.to_string_lossy(), sources)?;
        let progress = &mut |phase| line.phase(phase);
        let outcome = parts.execute(&request, &devices, &Canceller::default(), progress)?;
        self.with_nodes(outcome, parts, load_ns, name, line)
            .map(Some)
    }

    /// Whether all edges have the weight 1, which a ranking ignores.
    fn are_unit_weights(&self) -> bool {
        let weights = self.weights.choice_for(&self.request(Vec::new()));
        matches!(weights, WeightChoice::Unit | WeightChoice::Ignored)
    }

    /// The outcome, and the nodes, with all edges if they are drawn.
    fn with_nodes(
        &self,
        mut outcome: RunOutcome,
        parts: GraphInParts,
        load_ns: u64,
        name: &OsStr,
        line: &ProgressLine,
    ) -> Result<(RunOutcome, Graph), CliError> {
        outcome.times.load = load_ns;
        outcome.taken.undirected_reaches_more = outcome.reached_little();
        let nodes = match self.output.draw {
            Some(_) => self.load(name, line)?.graph,
            None => parts.into_nodes(),
        };
        Ok((outcome, nodes))
    }

    /// The text file of which ranks read shares.
    fn text_source(&self, name: &OsStr) -> Result<Option<PartSource>, CliError> {
        let opened = TextFile::open(name, &self.load_options());
        let text = opened.map_err(|error| self.named(error))?;
        Ok(text.map(PartSource::Text))
    }

    /// The graph, if parts of it can be read or made alone: a plain `.swg` file or a generator whose
    /// edges are taken as they are.
    fn part_source(&self, name: &OsStr) -> Result<Option<PartSource>, CliError> {
        if let Some(file) = self.streamed_file(name)? {
            return Ok(Some(PartSource::File(file)));
        }
        let Some(generated) = name.to_str().and_then(Generated::parse) else {
            return Ok(None);
        };
        let weights = self.weights.choice_for(&self.request(Vec::new()));
        let (generated, weighted) = (generated?, weights.are_drawn());
        let is_mirrored = self.undirected && !generated.is_symmetric();
        let is_other = is_mirrored || matches!(weights, WeightChoice::Scaled(_));
        Ok((!is_other).then_some(PartSource::Generator {
            generated,
            weighted,
        }))
    }

    pub(super) fn check_ranks(&self) -> Result<(), CliError> {
        let refuse = |option, remedy| Err(CliError::NotOnRanks { option, remedy });
        if self.machine.emit.is_some() {
            return refuse("--emit", "print it with seawall, on one host");
        }
        if self.machine.devices.is_some() {
            return refuse("--devices", "each rank is one device");
        }
        let backend = self.machine.backend.0;
        if self.program.is_none() && matches!(backend, Some(Executor::Launches | Executor::Graph)) {
            return refuse("this --backend", "an analysis takes mega or cpu");
        }
        if self.machine.device != 0 {
            return refuse("--device", "each rank takes a GPU of its own");
        }
        if self.graphs.len() != 1 || is_batch(&self.graphs) {
            return refuse("a batch", "run it with seawall, on one host");
        }
        self.stream.check_whole("a run on ranks")
    }

    /// Leaves files and reports to rank 0.
    pub(crate) fn silence(&mut self) {
        let output = &mut self.output;
        (output.out, output.trace) = (None, None);
        (output.plot, output.draw) = (None, None);
        (output.json, output.explain, output.quiet) = (false, false, true);
        output.columns.clear();
    }
}

impl CliError {
    /// Whether no other rank shows this error.
    fn is_of_this_rank(&self) -> bool {
        use BackendError::{NotShared, RankEnded};
        match self {
            Self::Run(RunError::Backend(RankEnded { .. }) | RunError::RankDiffers { .. }) => false,
            Self::Program(ProgramFailure::Run { source }) => {
                !matches!(source, RankEnded { .. } | NotShared { .. })
            }
            _ => true,
        }
    }
}
