//! Machine code of waves, linked to the persistent kernel of a program or to that of a batch.
//!
//! Programs run interpreted until compiling pays: before the first run if that is expected to
//! take longer, else beside later ones. The driver compiles the text of the kernel with the
//! functions of all waves; what it made is kept in the user's cache folder ([`super::code_cache`]).

use super::bound::Bound;
use super::code_cache::Key;
use super::embedded::Embedded;
use super::entry::Entry;
use super::launch::{Grid, Residency};
use super::module::{Module, assemble};
use super::shape::RequestedShape;
use super::text::linked;
use crate::backend::batch::{Job, Pack};
use crate::backend::code::CodeTables;
use crate::backend::{BackendError, CodeReport, code};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::program::encoded::EncodedProgram;
use crate::spans;
use crate::units::elapsed_ns;
use cudarc::driver::sys::{self, CUcontext};
use seawall_core::abi::program::{Opcode, RegisterRecord};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// The greatest number of edges for which numbers of edges cannot wrap in code that goes through a
/// row in steps of a block.
const EDGES_MAX: u32 = u32::MAX - (1 << 16);

/// Time that compiling is expected to take, nanoseconds; see `docs/experiments/vocabulary.md`.
const COMPILE_NS: u64 = 1_000_000_000;

/// Time that it is expected to take beyond that for each wave after the first few, nanoseconds.
const WAVE_NS: u64 = 50_000_000;

/// Waves within [`COMPILE_NS`].
const WAVES_WITHIN: u64 = 16;

/// Most waves of code of a kernel, so that compiling ends within a minute.
const WAVES_MAX: u32 = 1024;

/// The reason for which programs are interpreted beside waves that no kernel with machine code has.
pub(super) const BESIDE_CODE: &str = "the kernel runs other waves beside code";

/// Runs of each of its programs that are expected of a service.
const SERVED: u64 = 1000;

/// Most lanes of a block of kernels that are launched again, which leaves each 255 registers: functions
/// of waves take 68 to 254. Larger blocks were not measured.
const FREE_LANES: u32 = 256;

/// Time from which on a run, or all so far, is worth a look for code that was kept, nanoseconds.
const LOOK_NS: u64 = 5_000_000;

/// Time that the interpreter is expected to take for an instruction, picoseconds.
const STEP_PS: u64 = 4;

/// Kernels that run linked code, and their grids.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkedKernels {
    pub(super) entries: &'static [Entry],
    pub(super) shape: RequestedShape,
    pub(super) residency: Residency,
}

impl LinkedKernels {
    /// Kernels that are launched again, in blocks of at most [`FREE_LANES`] lanes.
    pub(super) fn free(entries: &'static [Entry], asked: RequestedShape) -> Self {
        let lanes = asked.lanes.unwrap_or(FREE_LANES).min(FREE_LANES);
        Self {
            entries,
            shape: RequestedShape {
                lanes: Some(lanes),
                ..asked
            },
            residency: Residency::Free,
        }
    }

    /// The kernel of a service, in blocks of `lanes`.
    pub(super) fn service(lanes: u32) -> Self {
        Self {
            entries: &[Entry::ServeLinked],
            shape: RequestedShape {
                lanes: Some(lanes),
                ..RequestedShape::default()
            },
            residency: Residency::Free,
        }
    }

    fn bound(&self, units: u32) -> Bound {
        match self.residency {
            Residency::Cooperative => self.shape.bound(units),
            Residency::Free => Bound::of(self.shape.lanes.unwrap_or(0).max(FREE_LANES), true),
        }
    }
}

/// A program whose code lies in a kernel's table.
#[derive(Debug)]
struct Program {
    program: Arc<EncodedProgram>,
    /// Those of the program, or with other places.
    registers: Vec<RegisterRecord>,
    /// The number of its first instruction.
    first_code: u32,
}

/// The programs of a kernel, and the work of a run of all.
#[derive(Debug)]
pub(super) struct Programs {
    all: Vec<Program>,
    /// Instructions that a run is expected to take.
    steps: u64,
    /// Edges of the largest graph.
    edges: u32,
}

impl Programs {
    /// One program on one graph.
    pub(super) fn one(program: &EncodedProgram, graph: &Graph) -> Self {
        Self {
            steps: code::steps(program, graph),
            edges: graph.edges(),
            all: vec![Program {
                program: Arc::new(program.clone()),
                registers: program.registers.clone(),
                first_code: 0,
            }],
        }
    }

    /// Those of a batch.
    pub(super) fn of_batch(jobs: &[Job<'_>], pack: &Pack) -> Self {
        let steps = jobs.iter().map(|job| code::steps(&job.program, job.graph));
        let edges = jobs.iter().map(|job| job.graph.edges());
        let programs = pack.tables().iter().map(|tables| Program {
            program: Arc::clone(&tables.program),
            registers: tables.registers.clone(),
            first_code: tables.first_code,
        });
        Self {
            steps: steps.fold(0, u64::saturating_add),
            edges: edges.max().unwrap_or(0),
            all: programs.collect(),
        }
    }

    /// Those of a service, each with the number of its first instruction.
    pub(super) fn of_service<'p>(
        programs: impl Iterator<Item = (&'p EncodedProgram, u32)>,
        graph: &Graph,
    ) -> Self {
        let mut all = Self {
            all: Vec::new(),
            steps: 0,
            edges: graph.edges(),
        };
        for (program, first_code) in programs {
            let steps = code::steps(program, graph).saturating_mul(SERVED);
            all.steps = all.steps.saturating_add(steps);
            all.all.push(Program {
                program: Arc::new(program.clone()),
                registers: program.registers.clone(),
                first_code,
            });
        }
        all
    }

    /// Waves of code.
    fn waves(&self) -> u32 {
        let waves = self.all.iter().map(|one| code::code_waves(&one.program));
        let waves: usize = waves.map(|waves| waves.len()).sum();
        u32::try_from(waves).unwrap_or(u32::MAX)
    }

    fn text(&self) -> Result<String, String> {
        let tables = self.all.iter().map(|one| {
            let tables = CodeTables {
                program: &one.program,
                registers: &one.registers,
                is_alone: false,
            };
            (tables, one.first_code)
        });
        code::ptx(tables)
    }
}

/// Whether programs only run code, so that a kernel with their machine code knows all waves.
pub(super) fn run_code_alone<'p>(programs: impl IntoIterator<Item = &'p EncodedProgram>) -> bool {
    let waves = programs.into_iter().flat_map(|program| &program.waves);
    let opcodes = waves.filter_map(|wave| Opcode::from_word(wave.opcode));
    seawall_device::megakernel_for(opcodes).as_bytes() == Entry::MegaCode.name().to_bytes()
}

/// The code of a loaded program, or of the programs of a batch.
#[derive(Debug)]
pub(super) struct LinkedCode {
    jit: Jit,
    kernels: LinkedKernels,
    programs: Programs,
    /// Waves of code.
    waves: u32,
    /// The functions once they are written, or the reason for which there are none.
    text: Option<Result<Arc<str>, String>>,
    /// Time that a run and compiling are expected to take, and that runs took so far, nanoseconds.
    expected_ns: u64,
    compile_ns: u64,
    ran_ns: u64,
    state: State,
    made: Option<Figures>,
}

/// Progress of compiling.
#[derive(Debug)]
enum State {
    Open {
        /// Whether the cache was looked into.
        has_looked: bool,
    },
    Beside(JoinHandle<Result<Made, BackendError>>),
    Ended,
}

/// Machine code, and what it took to make it.
#[derive(Debug)]
struct Made {
    image: Vec<u8>,
    compile_ns: u64,
    /// Whether it comes from the cache.
    is_kept: bool,
}

/// Figures of machine code that runs, for reports.
#[derive(Clone, Copy, Debug)]
struct Figures {
    compile_ns: u64,
    bytes: u64,
    is_beside: bool,
}

/// A program for the compiler, on any thread.
struct Order {
    context: CUcontext,
    image: &'static Embedded,
    entries: &'static [Entry],
    bound: Bound,
    text: Arc<str>,
    key: Key,
}

// SAFETY: a context may be made current on any thread, and the code that waits for the thread keeps it.
unsafe impl Send for Order {}

impl LinkedCode {
    /// The code of `programs`, for `kernels`.
    pub(super) fn of(programs: Programs, jit: Jit, kernels: LinkedKernels) -> Self {
        let waves = programs.waves();
        let refused = match jit {
            Jit::Never => Some("not asked for".to_owned()),
            _ if programs.edges > EDGES_MAX => Some(format!("more than {EDGES_MAX} edges")),
            _ if waves > WAVES_MAX => Some(format!("more than {WAVES_MAX} waves of code")),
            _ => None,
        };
        let beyond = u64::from(waves).saturating_sub(WAVES_WITHIN);
        Self {
            jit,
            kernels,
            waves,
            text: refused.map(Err),
            expected_ns: programs.steps.saturating_mul(STEP_PS) / 1000,
            compile_ns: COMPILE_NS + beyond * WAVE_NS,
            programs,
            ran_ns: 0,
            state: State::Open { has_looked: false },
            made: None,
        }
    }

    /// Counts a run.
    pub(super) const fn ran(&mut self, run_ns: u64) {
        self.ran_ns = self.ran_ns.saturating_add(run_ns);
    }

    /// The only kernel with the code, as [`LinkedCode::grids`].
    pub(super) fn grid(&mut self, module: &Rc<Module>) -> Option<Grid> {
        self.grids(module)?.into_iter().next()
    }

    /// The kernels with the code, once that is there. Compiles it, or begins to, if that is due.
    pub(super) fn grids(&mut self, module: &Rc<Module>) -> Option<Vec<Grid>> {
        if matches!(self.text, Some(Err(_))) {
            return None;
        }
        match self.advance(module) {
            Ok(None) => None,
            Ok(Some((made, is_beside))) => match self.load(module, &made.image) {
                Ok(grids) => {
                    tracing::debug!(ms = spans::ms(made.compile_ns), is_beside, "compiled");
                    self.state = State::Ended;
                    self.made = Some(Figures {
                        compile_ns: made.compile_ns,
                        bytes: made.image.len() as u64,
                        is_beside,
                    });
                    Some(grids)
                }
                // The driver takes no longer what it made once: it is made anew.
                Err(_) if made.is_kept => self.grids(module),
                Err(error) => self.refuse(&error),
            },
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&mut self, error: &BackendError) -> Option<Vec<Grid>> {
        tracing::warn!(%error, "waves stay interpreted");
        self.state = State::Ended;
        self.text = Some(Err(error.to_string()));
        None
    }

    /// The functions, written on first use.
    fn text(&mut self) -> Result<Arc<str>, BackendError> {
        let programs = &self.programs;
        let text = self
            .text
            .get_or_insert_with(|| programs.text().map(Into::into));
        let no_code = |reason: &String| BackendError::NoCode {
            reason: reason.clone(),
        };
        text.as_ref().map(Arc::clone).map_err(no_code)
    }

    fn load(&self, module: &Rc<Module>, image: &[u8]) -> Result<Vec<Grid>, BackendError> {
        let LinkedKernels {
            entries,
            shape,
            residency,
        } = self.kernels;
        let kernels = module.linked_kernels(entries, image)?.into_iter();
        kernels
            .map(|kernel| Grid::new(kernel, shape, residency))
            .collect()
    }

    /// Machine code, if it is there now, and whether it was made beside a run.
    fn advance(&mut self, module: &Module) -> Result<Option<(Made, bool)>, BackendError> {
        match &self.state {
            State::Ended => Ok(None),
            State::Beside(thread) if !thread.is_finished() => Ok(None),
            State::Beside(_) => {
                let State::Beside(thread) = std::mem::replace(&mut self.state, State::Ended) else {
                    return Ok(None);
                };
                let made = thread.join().map_err(|_| BackendError::NoCode {
                    reason: "the compiler's thread ended early".to_owned(),
                })?;
                Ok(Some((made?, true)))
            }
            State::Open { has_looked } => match self.next(*has_looked) {
                Next::Wait => Ok(None),
                Next::Look => {
                    self.state = State::Open { has_looked: true };
                    let started = Instant::now();
                    let Some(image) = self.order(module)?.key.find() else {
                        return self.advance(module);
                    };
                    let made = Made {
                        image,
                        compile_ns: elapsed_ns(started),
                        is_kept: true,
                    };
                    Ok(Some((made, false)))
                }
                Next::Compile => Ok(Some((self.order(module)?.compile()?, false))),
                Next::CompileBeside => {
                    let order = self.order(module)?;
                    let builder = std::thread::Builder::new().name("seawall-jit".to_owned());
                    // Without a thread, runs go on interpreted.
                    self.state = match builder.spawn(move || order.compile()) {
                        Ok(thread) => State::Beside(thread),
                        Err(_) => State::Ended,
                    };
                    Ok(None)
                }
            },
        }
    }

    const fn next(&self, has_looked: bool) -> Next {
        let times = [self.expected_ns, self.ran_ns, self.compile_ns];
        next(self.jit, times, has_looked)
    }

    fn order(&mut self, module: &Module) -> Result<Order, BackendError> {
        let text = self.text()?;
        let limits = module.context().limits();
        let entries = self.kernels.entries;
        let bound = self.kernels.bound(limits.info.units);
        let image = module.embedded();
        Ok(Order {
            context: module.context().raw(),
            image,
            entries,
            bound,
            text: Arc::clone(&text),
            key: Key::of(
                &text,
                &format!(
                    "{} {entries:?} {} {} {:?}",
                    image.sources(),
                    bound.lanes(),
                    limits.driver_version,
                    limits.info.compute_capability
                ),
            ),
        })
    }

    /// How waves of code run.
    pub(super) fn report(&self) -> CodeReport {
        let unmade = CodeReport {
            waves: self.waves,
            ..CodeReport::default()
        };
        match (&self.text, self.made) {
            (Some(Err(reason)), _) => CodeReport {
                reason: Some(reason.clone()),
                ..unmade
            },
            (_, None) => CodeReport {
                reason: Some(match self.state {
                    State::Beside(_) => "still being compiled".to_owned(),
                    State::Open { .. } | State::Ended => "too little work".to_owned(),
                }),
                ..unmade
            },
            (_, Some(made)) => CodeReport {
                compiled: unmade.waves,
                compile_ns: made.compile_ns,
                bytes: made.bytes,
                is_beside: made.is_beside,
                ..unmade
            },
        }
    }
}

/// The next step towards machine code, before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Wait,
    /// Look for code that was kept.
    Look,
    Compile,
    /// Compile while runs go on.
    CompileBeside,
}

/// The step before a run that is expected to take `expected_ns` interpreted, after runs of `ran_ns` in
/// all, where compiling is expected to take `compile_ns`.
const fn next(jit: Jit, [expected_ns, ran_ns, compile_ns]: [u64; 3], has_looked: bool) -> Next {
    let is_due = matches!(jit, Jit::Always) || expected_ns > compile_ns;
    let is_due_beside = ran_ns > compile_ns / 4;
    let is_long = expected_ns > LOOK_NS || ran_ns > LOOK_NS;
    match (has_looked, is_due, is_due_beside) {
        (false, true, _) => Next::Look,
        (false, ..) if is_long => Next::Look,
        (_, true, _) => Next::Compile,
        (_, _, true) => Next::CompileBeside,
        _ => Next::Wait,
    }
}

impl Drop for LinkedCode {
    fn drop(&mut self) {
        // The context must outlast the compiler.
        if let State::Beside(thread) = std::mem::replace(&mut self.state, State::Ended) {
            let _ = thread.join();
        }
    }
}

impl Order {
    /// Compiles, and keeps the result in the cache.
    fn compile(&self) -> Result<Made, BackendError> {
        let started = Instant::now();
        // SAFETY: the session keeps the context until this ends.
        super::error::check("selecting the device", unsafe {
            sys::cuCtxSetCurrent(self.context)
        })?;
        let text = linked(self.image.text(), self.entries, &self.text);
        let text = self.bound.apply(text);
        let image = assemble(&text)?;
        let compile_ns = elapsed_ns(started);
        self.key.keep(&image);
        Ok(Made {
            image,
            compile_ns,
            is_kept: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: u64 = COMPILE_NS + 1;
    const SHORT: u64 = LOOK_NS / 5;

    #[test]
    fn short_runs_stay_interpreted_until_they_add_up() {
        let next = |ran_ns, has_looked| next(Jit::Auto, [SHORT, ran_ns, COMPILE_NS], has_looked);
        assert_eq!(next(0, false), Next::Wait);
        assert_eq!(next(LOOK_NS + 1, false), Next::Look);
        assert_eq!(next(LOOK_NS + 1, true), Next::Wait);
        assert_eq!(next(COMPILE_NS / 4 + 1, true), Next::CompileBeside);
    }

    #[test]
    fn what_is_asked_for_or_long_is_compiled_before_the_first_run_unless_it_was_kept() {
        for (jit, expected_ns) in [(Jit::Always, SHORT), (Jit::Auto, LONG), (Jit::Always, LONG)] {
            let times = [expected_ns, 0, COMPILE_NS];
            assert_eq!(next(jit, times, false), Next::Look);
            assert_eq!(next(jit, times, true), Next::Compile);
        }
    }

    /// Some analyses of code on two graphs of other sizes, each with a program of its own.
    #[cfg(feature = "jit")]
    fn of_batch(graphs: &[Graph]) -> Programs {
        use crate::analysis::{self, AnalysisKind, Question};
        use crate::program::PlanRequest;

        let kinds = [
            AnalysisKind::Mis,
            AnalysisKind::Colouring,
            AnalysisKind::Msf,
        ];
        let job = |graph, kind| {
            let built = analysis::build(kind, graph, &Question::new(Vec::new())).unwrap();
            let (program, _) = built.program.encode(&PlanRequest::default()).unwrap();
            Job {
                graph,
                program: Arc::new(program),
                inputs: built.inputs,
                result: built.result,
            }
        };
        let jobs = graphs
            .iter()
            .flat_map(|graph| kinds.map(|kind| job(graph, kind)));
        let jobs: Vec<_> = jobs.collect();
        Programs::of_batch(&jobs, &Pack::of(&jobs).unwrap())
    }

    #[cfg(feature = "jit")]
    #[test]
    fn a_kernel_has_the_code_of_all_programs_and_assembles() {
        use crate::backend::cuda::EMBEDDED;
        use seawall_core::abi::compiled::LINKED_NAME;

        let graphs = [5, 9].map(|nodes| {
            let edges: Vec<_> = (1..nodes).map(|node| (node - 1, node, node)).collect();
            Graph::from_weighted_edges(nodes, &edges, true).unwrap()
        });
        let programs = of_batch(&graphs);
        let firsts = programs.all.iter().map(|one| one.first_code);
        assert!(firsts.is_sorted_by(|first, next| first < next));
        let code = programs.text().unwrap();
        let functions = code.matches(&format!(".func {LINKED_NAME}_")).count();
        // Functions without a number of nodes in them serve both sizes.
        assert!(functions <= programs.waves() as usize, "{functions}");
        let calls = code.matches(&format!("call.uni {LINKED_NAME}_")).count();
        assert_eq!(calls, programs.waves() as usize);
        let Some(ptxas) = std::env::var_os("PTXAS") else {
            eprintln!("PTXAS names no assembler: the kernel is not assembled");
            return;
        };
        let launches = [Entry::GroupLinked, Entry::BodyLinked];
        let kernels: [(&[Entry], u32); 4] = [
            (&[Entry::MegaLinked], 512),
            (&[Entry::ServeLinked], 512),
            (&[Entry::BatchLinked], FREE_LANES),
            (&launches, FREE_LANES),
        ];
        for (embedded, (entries, lanes)) in EMBEDDED
            .iter()
            .flat_map(|embedded| kernels.map(|kernel| (embedded, kernel)))
        {
            let folder = tempfile::tempdir().unwrap();
            let [from, to] = ["kernel.ptx", "kernel.cubin"].map(|name| folder.path().join(name));
            let text = linked(embedded.text(), entries, &code);
            let text = Bound::of(lanes, true).apply(text);
            std::fs::write(&from, text.trim_end_matches('\0')).unwrap();
            // As the driver does: for linking.
            let ran = std::process::Command::new(&ptxas)
                .args(["-c", "-arch", embedded.target(), "-o"])
                .args([&to, &from])
                .output()
                .unwrap();
            let log = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{log}");
        }
    }
}
