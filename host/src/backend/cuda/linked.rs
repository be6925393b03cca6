//! Machine code of a program's waves, linked to the persistent kernel.
//!
//! A program runs interpreted until compiling pays: before the first run if that is expected to
//! take longer, else beside later ones. The driver compiles the text of the kernel with the
//! program's functions; what it made is kept in the user's cache folder ([`super::code_cache`]).

use super::bound::Bound;
use super::code_cache::Key;
use super::embedded::Embedded;
use super::launch::{Grid, Residency};
use super::module::{Module, assemble};
use super::shape::RequestedShape;
use super::text::linked;
use crate::backend::{BackendError, CodeReport, code};
use crate::executor::Jit;
use crate::graph::Graph;
use crate::program::encoded::EncodedProgram;
use crate::spans;
use crate::units::elapsed_ns;
use cudarc::driver::sys::{self, CUcontext};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// The greatest number of edges for which numbers of edges cannot wrap in code that goes through a
/// row in steps of a block.
const EDGES_MAX: u32 = u32::MAX - (1 << 16);

/// Time that compiling is expected to take, nanoseconds; see `docs/experiments/vocabulary.md`.
const COMPILE_NS: u64 = 1_000_000_000;

/// Time that the interpreter is expected to take for an instruction, picoseconds.
const STEP_PS: u64 = 4;

/// The code of a loaded program.
#[derive(Debug)]
pub(super) struct LinkedCode {
    jit: Jit,
    shape: RequestedShape,
    /// The functions, or the reason for which there are none.
    text: Result<Arc<str>, String>,
    waves: u32,
    /// Time that a run is expected to take, and that runs took so far, nanoseconds.
    expected_ns: u64,
    ran_ns: u64,
    state: State,
    made: Option<Figures>,
}

/// Progress of compiling.
#[derive(Debug)]
enum State {
    /// Whether the cache was looked into.
    Open {
        is_cached: Option<bool>,
    },
    Beside(JoinHandle<Result<Made, BackendError>>),
    Ended,
}

/// Machine code, and what it took to make it.
#[derive(Debug)]
struct Made {
    image: Vec<u8>,
    compile_ns: u64,
}

/// What a report says of machine code that runs.
#[derive(Clone, Copy, Debug)]
struct Figures {
    compile_ns: u64,
    bytes: u64,
    is_beside: bool,
}

/// What a compiler needs, on any thread.
struct Order {
    context: CUcontext,
    image: &'static Embedded,
    bound: Bound,
    text: Arc<str>,
    key: Key,
}

// SAFETY: a context may be made current on any thread, and the code that waits for the thread keeps it.
unsafe impl Send for Order {}

impl LinkedCode {
    /// The code of `program` on `graph`, for blocks of this shape.
    pub(super) fn of(
        program: &EncodedProgram,
        graph: &Graph,
        (jit, shape): (Jit, RequestedShape),
    ) -> Self {
        let text = match jit {
            Jit::Never => Err("not asked for".to_owned()),
            _ if graph.edges() > EDGES_MAX => Err(format!("more than {EDGES_MAX} edges")),
            _ => code::ptx(program),
        };
        Self {
            jit,
            shape,
            text: text.map(Into::into),
            waves: code::code_waves(program).len() as u32,
            expected_ns: code::steps(program, graph).saturating_mul(STEP_PS) / 1000,
            ran_ns: 0,
            state: State::Open { is_cached: None },
            made: None,
        }
    }

    /// Counts a run.
    pub(super) const fn ran(&mut self, run_ns: u64) {
        self.ran_ns = self.ran_ns.saturating_add(run_ns);
    }

    /// The kernel with the code, once that is there. Compiles it, or begins to, if that is due.
    pub(super) fn grid(&mut self, module: &Rc<Module>) -> Option<Grid> {
        let text = Arc::clone(self.text.as_ref().ok()?);
        match self.advance(module, &text) {
            Ok(None) => None,
            Ok(Some((made, is_beside))) => {
                self.state = State::Ended;
                let figures = Figures {
                    compile_ns: made.compile_ns,
                    bytes: made.image.len() as u64,
                    is_beside,
                };
                match self.load(module, &made.image) {
                    Ok(grid) => {
                        tracing::debug!(ms = spans::ms(made.compile_ns), is_beside, "compiled");
                        self.made = Some(figures);
                        Some(grid)
                    }
                    Err(error) => self.refuse(&error),
                }
            }
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&mut self, error: &BackendError) -> Option<Grid> {
        tracing::warn!(%error, "waves stay interpreted");
        self.state = State::Ended;
        self.text = Err(error.to_string());
        None
    }

    fn load(&self, module: &Rc<Module>, image: &[u8]) -> Result<Grid, BackendError> {
        let kernel = module.linked_kernel(image)?;
        Grid::new(kernel, self.shape, Residency::Cooperative)
    }

    /// Machine code, if it is there now, and whether it was made beside a run.
    fn advance(
        &mut self,
        module: &Module,
        text: &Arc<str>,
    ) -> Result<Option<(Made, bool)>, BackendError> {
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
            State::Open { is_cached } => {
                let looks = is_cached.is_none();
                let is_due = self.jit == Jit::Always || self.expected_ns > COMPILE_NS;
                let is_due_beside = self.ran_ns > COMPILE_NS / 4;
                if !(looks || is_due || is_due_beside) {
                    return Ok(None);
                }
                let order = self.order(module, text);
                if looks {
                    let started = Instant::now();
                    let image = order.key.find();
                    self.state = State::Open {
                        is_cached: Some(image.is_some()),
                    };
                    if let Some(image) = image {
                        let compile_ns = elapsed_ns(started);
                        return Ok(Some((Made { image, compile_ns }, false)));
                    }
                }
                if is_due {
                    return Ok(Some((order.compile()?, false)));
                }
                if is_due_beside {
                    let builder = std::thread::Builder::new().name("seawall-jit".to_owned());
                    // Without a thread, runs go on interpreted.
                    self.state = match builder.spawn(move || order.compile()) {
                        Ok(thread) => State::Beside(thread),
                        Err(_) => State::Ended,
                    };
                }
                Ok(None)
            }
        }
    }

    fn order(&self, module: &Module, text: &Arc<str>) -> Order {
        let limits = module.context().limits();
        let bound = self.shape.bound(limits.info.units);
        let image = module.embedded();
        Order {
            context: module.context().raw(),
            image,
            bound,
            text: Arc::clone(text),
            key: Key::of(
                text,
                &format!(
                    "{} {} {} {:?}",
                    image.sources(),
                    bound.lanes(),
                    limits.driver_version,
                    limits.info.compute_capability
                ),
            ),
        }
    }

    /// How waves of code run.
    pub(super) fn report(&self) -> CodeReport {
        let unmade = CodeReport {
            waves: self.waves,
            ..CodeReport::default()
        };
        match (&self.text, self.made) {
            (Err(reason), _) => CodeReport {
                reason: Some(reason.clone()),
                ..unmade
            },
            (Ok(_), None) => CodeReport {
                reason: Some("too little work".to_owned()),
                ..unmade
            },
            (Ok(_), Some(made)) => CodeReport {
                compiled: self.waves,
                compile_ns: made.compile_ns,
                bytes: made.bytes,
                is_beside: made.is_beside,
                ..unmade
            },
        }
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
        let text = self.bound.apply(linked(self.image.text(), &self.text));
        let image = assemble(&text)?;
        let compile_ns = elapsed_ns(started);
        self.key.keep(&image);
        Ok(Made { image, compile_ns })
    }
}
