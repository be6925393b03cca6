//! A graph on a device, ready to run programs.
//!
//! Opening uploads the graph, loading a program allocates all memory of its runs, and a run only
//! queues and waits. Fields are dropped in order: graphs and programs before the graph's arrays,
//! the stream after everything that it copies.

pub(crate) mod stepped;

use super::GridShape;
use super::abort::{AbortFlag, Watch};
use super::baseline::Copies;
use super::context::Context;
use super::linked::BESIDE_CODE;
use super::loaded::{Loaded, Surroundings};
use super::module::Module;
use super::resident::{ResidentGraph, Uploader, lane, largest_array};
use super::runner::Runner;
use super::running::Running;
use super::shape::RequestedShape;
use super::staging::Staging;
use super::stream::{COPY_LIMIT, Event, Stream};
use super::{CudaOptions, Executor};
use crate::backend::code::interpreted;
use crate::backend::{
    BackendError, Canceller, CodeReport, DeviceInfo, RunLimits, RunStats, Session, SessionMemory,
    SessionWork, Trace, fit, overflow,
};
use crate::graph::Graph;
use crate::program::encoded::{EncodedProgram, GraphNeeds, RegisterId};
use crate::tiles::{TILE_SLOTS, TileShape};
use crate::units::elapsed_ns;
use bytemuck::Zeroable;
use seawall_core::abi::control::{ControlRecord, FaultCode};
use seawall_core::abi::program::{Opcode, WaveRecord};
use seawall_device::machine::shared::{EACH_LANE, EACH_LANES};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Words of shared memory for neighbour hash tables: as many as for tiles, for the same reason.
const HELD_WORDS: u32 = TILE_SLOTS;

/// A resident graph on a CUDA device.
///
/// It may move to another thread: every call makes its context current there first.
#[derive(Debug)]
pub struct CudaSession<'g> {
    runner: Runner,
    /// The report of a program of code whose kernel interprets.
    interpreted: Option<CodeReport>,
    copies: Option<Copies>,
    program: Option<Loaded>,
    graph: ResidentGraph<'g>,
    staging: Staging,
    clock: [Event; 2],
    stream: Stream,
    module: Rc<Module>,
    limits: RunLimits,
    baseline: bool,
    tiles: Option<bool>,
    canceller: Canceller,
    abort: Option<AbortFlag>,
    /// Time after which a run ends because another machine takes it over.
    patience: Option<Duration>,
    traces: bool,
    /// Whether the starts of groups are marked in the stream.
    marks: bool,
    work: SessionWork,
    /// What it joins copies by that devices wrote which share its program.
    joins: Option<stepped::Joins>,
    context: Rc<Context>,
}

// SAFETY: handles of the driver may be used on any thread to which their context is current, and
// `load`, `run`, `read` and every drop make it current. The `Rc`s of the context and of the module
// have no clone outside of this session, since no method returns one, so that all of them move
// together. The graph is borrowed, and `Graph` is `Sync`; the words of the abort flag are atomic.
unsafe impl Send for CudaSession<'_> {}

impl<'g> CudaSession<'g> {
    /// Opens a device, compiles the kernels that `executor` starts with and
    /// uploads `graph`.
    ///
    /// Weights and incoming edges are uploaded with the first program that reads them. Device
    /// memory: 4 bytes per node and edge, plus pinned host memory of at most 32 MiB. Programs that
    /// gather over the incoming edges of a graph of higher degree take 4 more bytes per edge, if
    /// there is space, for the edges by tiles of rows, which the host makes on all threads.
    ///
    /// # Errors
    /// [`BackendError::NotOnGpu`] for the CPU,
    /// [`BackendError::Unavailable`] without driver or device,
    /// [`BackendError::Unsupported`] for a device that lacks what `executor`
    /// needs, [`BackendError::NotCoResident`] for too large a grid,
    /// [`BackendError::OutOfMemory`] for too large a graph.
    pub fn open(
        executor: Executor,
        graph: &'g Graph,
        options: CudaOptions,
    ) -> Result<Self, BackendError> {
        if !executor.is_on_gpu() {
            return Err(BackendError::NotOnGpu { executor });
        }
        let context = Context::open(options.device, options.budget_bytes)?;
        let module = Module::load(&context)?;
        let asked = match executor {
            Executor::Mega => RequestedShape::for_mega(graph, &options, context.limits()),
            Executor::Launches | Executor::Graph | Executor::Cpu => {
                RequestedShape::plainly(&options)
            }
        };
        let runner = Runner::new(executor, &module, asked, &options)?;
        let (stream, mut staging) = lane(&context, largest_array(graph))?;
        let uploader = uploader(&stream, &mut staging);
        let graph = ResidentGraph::upload(graph, options.device, uploader)?;
        let clock = [Event::new(&context)?, Event::new(&context)?];
        let limits = options.limits;
        Ok(Self {
            runner,
            interpreted: None,
            joins: None,
            copies: None,
            program: None,
            graph,
            staging,
            clock,
            stream,
            module,
            limits,
            baseline: options.baseline,
            tiles: options.tiles,
            canceller: Canceller::default(),
            abort: None,
            patience: None,
            traces: false,
            marks: false,
            work: SessionWork::default(),
            context,
        })
    }

    /// Time that the driver took to compile the kernels needed so far, or to find them in its
    /// cache, nanoseconds.
    #[must_use]
    pub fn module_ns(&self) -> u64 {
        self.module.load_ns()
    }

    /// Blocks and lanes of a launch.
    #[must_use]
    pub fn shape(&self) -> GridShape {
        self.runner.shape()
    }

    fn load_program(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        fit::check_graph(program, self.graph.graph())?;
        super::refuse_sequential(program)?;
        self.context.bind()?;
        self.runner.clear();
        self.copies = None;
        self.program = None;
        let uploader = uploader(&self.stream, &mut self.staging);
        self.graph.complete(program.needs, uploader)?;
        if !program.code.is_empty() {
            self.graph.measure_rows();
        }
        self.runner.choose(program, self.graph.graph())?;
        self.interpreted = interpreted([program], BESIDE_CODE);
        let mut slots = self.make_tiles(program.needs)?;
        let held = self
            .space_for_rows(program)?
            .max(self.space_for_code(program)?);
        let loaded = loop {
            self.runner.ask(slots.max(held))?;
            match self.load_tables(program, slots > 0) {
                // Tiles only save time: memory that a program requires comes first.
                Err(BackendError::OutOfMemory { .. }) if self.graph.drop_tiles() => slots = 0,
                loaded => break loaded?,
            }
        };
        self.runner.prepare(&self.stream, &loaded)?;
        if self.baseline {
            self.copies = Some(Copies::of(&self.stream, &self.graph, &loaded)?);
        }
        self.program = Some(loaded);
        self.work.loaded();
        Ok(())
    }

    /// Allocates a program's memory and uploads its tables, which refer to the graph's tiles if
    /// there are any.
    fn load_tables(
        &mut self,
        program: &EncodedProgram,
        by_tiles: bool,
    ) -> Result<Loaded, BackendError> {
        let around = Surroundings {
            graph: self.graph.graph(),
            addresses: if by_tiles {
                self.graph.addresses_with_tiles()
            } else {
                self.graph.addresses()
            },
            traced_blocks: self.traces.then(|| self.runner.shape().blocks),
            time_budget_ns: self.limits.time_budget_ns,
        };
        Loaded::load(program, around, uploader(&self.stream, &mut self.staging))
    }

    /// Returns the words of shared memory for the neighbour hash tables of `program`.
    fn space_for_rows(&mut self, program: &EncodedProgram) -> Result<u32, BackendError> {
        let holds = |wave: &WaveRecord| wave.opcode == Opcode::CountTriangles as u32;
        if !program.waves.iter().any(holds) {
            return Ok(0);
        }
        self.runner.space(HELD_WORDS)
    }

    /// Returns the words of shared memory with which every lane of a block can run the code of
    /// `program`.
    fn space_for_code(&mut self, program: &EncodedProgram) -> Result<u32, BackendError> {
        let lanes = self.runner.shape().lanes;
        if program.code.is_empty() || lanes <= EACH_LANES || self.runner.is_linked() {
            return Ok(0);
        }
        self.runner.space(lanes * EACH_LANE)
    }

    /// Makes incoming edges by tiles if `needs` and options ask for them; returns the slots of the
    /// largest tile, 0 without tiles.
    fn make_tiles(&mut self, needs: GraphNeeds) -> Result<u32, BackendError> {
        if !needs.tiles || self.tiles == Some(false) {
            return Ok(0);
        }
        let shape = TileShape {
            blocks: self.runner.shape().blocks,
            slots: self.runner.space(TILE_SLOTS)?,
            always: self.tiles == Some(true),
        };
        let uploader = uploader(&self.stream, &mut self.staging);
        self.graph.complete_tiles(shape, uploader)
    }

    fn run_program(&mut self, inputs: &[u32]) -> Result<RunStats, BackendError> {
        self.context.bind()?;
        let program = self.program.as_mut().ok_or(BackendError::NotLoaded)?;
        stage_inputs(program, inputs)?;
        program.outgrowing.begin_run();
        program.clear_trace(&mut uploader(&self.stream, &mut self.staging))?;
        let program = &*program;
        if self.abort.is_none() && (self.canceller.is_shared() || self.patience.is_some()) {
            self.abort = Some(AbortFlag::new(&self.context, 1)?);
        }
        let deadline = self.patience.map(|limit| Instant::now() + limit);
        let watch = Watch::new(&self.canceller, self.abort.as_ref()).until(deadline);
        let limits = (self.limits.time_budget_ns, watch);
        let mut running = Running::new(&self.stream, program, limits)
            .with_copies(self.copies.as_ref())
            .with_marks(self.marks);
        let [start, end] = &self.clock;
        begin(&mut running)?;
        start.record(&self.stream)?;
        self.runner.queue(&mut running)?;
        end.record(&self.stream)?;
        let region = running.region();
        let control = finish(&mut running)?;
        let waits = running.host().host_synchronisations;
        self.work.ran(inputs.len(), waits);
        let host = running.host();
        let marked = running.trace(&self.clock)?;
        // A baseline session behaves like a program without a resident graph.
        if let Some(program) = self.program.as_mut().filter(|_| !self.baseline) {
            program.leave_out_what_ran_once(&self.stream)?;
        }
        let run_ns = start.ns_until(end)?;
        let code = self.runner.code_report();
        let code = code.or_else(|| self.interpreted.clone());
        if let Some(program) = &self.program {
            self.runner.ran(run_ns, &self.stream, program)?;
        }
        Ok(RunStats {
            code,
            run_ns,
            host,
            trace: match marked {
                Some(marked) => Some(marked),
                None => self.read_trace(&control)?,
            },
            region,
            control,
        })
    }

    fn read_trace(&mut self, control: &ControlRecord) -> Result<Option<Trace>, BackendError> {
        let program = self.program.as_mut().ok_or(BackendError::NotLoaded)?;
        program.read_trace(control, &mut uploader(&self.stream, &mut self.staging))
    }

    /// Refuses to answer when a path exceeded the distances of the last run; `words` are those of
    /// `register`.
    fn check_distances(&mut self, register: RegisterId, words: &[u32]) -> Result<(), BackendError> {
        let program = self.program.as_ref().ok_or(BackendError::NotLoaded)?;
        for search in program.outgrowing.due() {
            if search.register == register {
                overflow::check(&search, self.graph.graph(), words)?;
                continue;
            }
            let mut distances = Vec::new();
            let result = self.read_register(search.register, &mut distances);
            self.context.settled(&self.stream, result)?;
            overflow::check(&search, self.graph.graph(), &distances)?;
        }
        let program = self.program.as_mut().ok_or(BackendError::NotLoaded)?;
        program.outgrowing.settle();
        Ok(())
    }

    fn read_register(
        &mut self,
        register: RegisterId,
        words: &mut Vec<u32>,
    ) -> Result<(), BackendError> {
        self.context.bind()?;
        let place = self
            .program
            .as_ref()
            .ok_or(BackendError::NotLoaded)?
            .place(register)?;
        words.clear();
        words.reserve(place.bytes / 4);
        // SAFETY: the register lies within its region, as was checked at load, and the program
        // that owns the region is loaded.
        unsafe {
            self.staging
                .download_words(&self.stream, place.address, place.bytes, words)
        }
    }
}

fn uploader<'a>(stream: &'a Stream, staging: &'a mut Staging) -> Uploader<'a> {
    Uploader { stream, staging }
}

/// Puts the inputs into the memory that the device copies from.
fn stage_inputs(program: &mut Loaded, inputs: &[u32]) -> Result<(), BackendError> {
    let expected = program.input_bytes();
    let bytes: &[u8] = bytemuck::cast_slice(inputs);
    if bytes.len() != expected {
        return Err(BackendError::InputLength {
            expected: expected as u64 / 4,
            given: inputs.len() as u64,
        });
    }
    // SAFETY: every call ends with a wait, even one that failed, so no copy is pending.
    let staged = unsafe { program.staged_inputs.as_mut_slice() };
    if let Some(front) = staged.get_mut(..bytes.len()) {
        front.copy_from_slice(bytes);
    }
    Ok(())
}

/// Queues the inputs and clears the control block.
fn begin(running: &mut Running<'_>) -> Result<(), BackendError> {
    let (stream, program) = (running.stream(), running.program());
    if program.input_bytes() > 0 {
        running.uploaded();
    }
    // SAFETY: region, control block and pinned words belong to the loaded
    // program, which outlives the run; the pinned words are not written before
    // the run's wait.
    unsafe {
        stream.copy_in(
            program.inputs_address(),
            &program.staged_inputs,
            program.input_bytes(),
        )?;
        stream.zero(program.control_address(), size_of::<ControlRecord>() as u64)
    }
}

/// Reads the control block back and turns its fault into an error.
fn finish(running: &mut Running<'_>) -> Result<ControlRecord, BackendError> {
    let program = running.program();
    // SAFETY: the control block and the pinned words belong to the program.
    unsafe {
        running.stream().copy_out(
            &program.control,
            program.control_address(),
            size_of::<ControlRecord>(),
        )?
    };
    running.wait()?;
    // SAFETY: the wait above ended the copy.
    let bytes = unsafe { program.control.as_slice() };
    let mut control = ControlRecord::zeroed();
    for (word, read) in bytemuck::bytes_of_mut(&mut control).iter_mut().zip(bytes) {
        *word = *read;
    }
    if control.fault.code != 0 {
        return Err(program.fault(&control));
    }
    Ok(control)
}

/// Whether a run ended because the host asked for it.
fn is_given_up(error: &BackendError) -> bool {
    matches!(error, BackendError::Fault { record, .. } if record.code == FaultCode::GivenUp as u32)
}

impl Session for CudaSession<'_> {
    fn device(&self) -> &DeviceInfo {
        &self.context.limits().info
    }

    fn upload_ns(&self) -> u64 {
        self.graph.upload_ns()
    }

    fn cancel_by(&mut self, canceller: Canceller) {
        self.canceller = canceller;
    }

    fn end_after(&mut self, limit: Option<Duration>) {
        self.patience = limit.filter(|_| matches!(self.runner, Runner::Mega(_)));
    }

    fn trace_runs(&mut self, trace: bool) {
        self.traces = trace && matches!(self.runner, Runner::Mega(_));
        self.marks = trace && matches!(self.runner, Runner::Launches(_));
    }

    fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        // It keeps words of the last program.
        self.joins = None;
        let result = self.load_program(program);
        self.context.settled(&self.stream, result)
    }

    fn work(&self) -> SessionWork {
        SessionWork {
            graph_uploads: 1,
            graph_bytes: self.graph.bytes(),
            ..self.work
        }
    }

    fn memory(&self) -> SessionMemory {
        let tiles_bytes = self.graph.tiles_bytes();
        let trace_bytes = self.program.as_ref().map_or(0, Loaded::trace_bytes);
        SessionMemory {
            allocated_bytes: self
                .context
                .used_bytes()
                .saturating_sub(tiles_bytes + trace_bytes),
            tiles_bytes,
        }
    }

    fn run(&mut self, inputs: &[u32]) -> Result<RunStats, BackendError> {
        self.canceller.settle()?;
        let began = Instant::now();
        let result = self.run_program(inputs);
        let result = self.context.settled(&self.stream, result);
        self.canceller.settle()?;
        match (result, self.patience) {
            (Err(error), Some(limit)) if is_given_up(&error) && began.elapsed() >= limit => {
                Err(BackendError::Overdue {
                    after_ns: elapsed_ns(began),
                })
            }
            (result, _) => result,
        }
    }

    fn read(&mut self, register: RegisterId, words: &mut Vec<u32>) -> Result<(), BackendError> {
        let result = self.read_register(register, words);
        self.context.settled(&self.stream, result)?;
        let checked = self.check_distances(register, words);
        if checked.is_err() {
            words.clear();
        } else {
            self.work.read(words.len());
        }
        checked
    }
}

impl Drop for CudaSession<'_> {
    fn drop(&mut self) {
        if self.context.is_given_up() {
            return;
        }
        // A failed call may have left work in the stream. Waiting with a limit keeps the frees
        // that follow from waiting without one; if the limit ends, the context is abandoned and
        // they do nothing. The error itself was or will be reported elsewhere.
        let _ = self.context.bind();
        let _ = self.stream.wait("closing the session", COPY_LIMIT);
    }
}
