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

/// Time from which on a run, or all so far, is worth a look for code that was kept, nanoseconds.
const LOOK_NS: u64 = 5_000_000;

/// Time that the interpreter is expected to take for an instruction, picoseconds.
const STEP_PS: u64 = 4;

/// The code of a loaded program.
#[derive(Debug)]
pub(super) struct LinkedCode {
    jit: Jit,
    shape: RequestedShape,
    program: EncodedProgram,
    /// The functions once they are written, or the reason for which there are none.
    text: Option<Result<Arc<str>, String>>,
    /// Time that a run is expected to take, and that runs took so far, nanoseconds.
    expected_ns: u64,
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
        let refused = match jit {
            Jit::Never => Some("not asked for".to_owned()),
            _ if graph.edges() > EDGES_MAX => Some(format!("more than {EDGES_MAX} edges")),
            _ => None,
        };
        Self {
            jit,
            shape,
            program: program.clone(),
            text: refused.map(Err),
            expected_ns: code::steps(program, graph).saturating_mul(STEP_PS) / 1000,
            ran_ns: 0,
            state: State::Open { has_looked: false },
            made: None,
        }
    }

    /// Counts a run.
    pub(super) const fn ran(&mut self, run_ns: u64) {
        self.ran_ns = self.ran_ns.saturating_add(run_ns);
    }

    /// The kernel with the code, once that is there. Compiles it, or begins to, if that is due.
    pub(super) fn grid(&mut self, module: &Rc<Module>) -> Option<Grid> {
        if matches!(self.text, Some(Err(_))) {
            return None;
        }
        match self.advance(module) {
            Ok(None) => None,
            Ok(Some((made, is_beside))) => match self.load(module, &made.image) {
                Ok(grid) => {
                    tracing::debug!(ms = spans::ms(made.compile_ns), is_beside, "compiled");
                    self.state = State::Ended;
                    self.made = Some(Figures {
                        compile_ns: made.compile_ns,
                        bytes: made.image.len() as u64,
                        is_beside,
                    });
                    Some(grid)
                }
                // The driver takes no longer what it made once: it is made anew.
                Err(_) if made.is_kept => self.grid(module),
                Err(error) => self.refuse(&error),
            },
            Err(error) => self.refuse(&error),
        }
    }

    fn refuse(&mut self, error: &BackendError) -> Option<Grid> {
        tracing::warn!(%error, "waves stay interpreted");
        self.state = State::Ended;
        self.text = Some(Err(error.to_string()));
        None
    }

    /// The functions, written on first use.
    fn text(&mut self) -> Result<Arc<str>, BackendError> {
        let program = &self.program;
        let text = self
            .text
            .get_or_insert_with(|| code::ptx(program).map(Into::into));
        let no_code = |reason: &String| BackendError::NoCode {
            reason: reason.clone(),
        };
        text.as_ref().map(Arc::clone).map_err(no_code)
    }

    fn load(&self, module: &Rc<Module>, image: &[u8]) -> Result<Grid, BackendError> {
        let kernel = module.linked_kernel(image)?;
        Grid::new(kernel, self.shape, Residency::Cooperative)
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
        next(self.jit, self.expected_ns, self.ran_ns, has_looked)
    }

    fn order(&mut self, module: &Module) -> Result<Order, BackendError> {
        let text = self.text()?;
        let limits = module.context().limits();
        let bound = self.shape.bound(limits.info.units);
        let image = module.embedded();
        Ok(Order {
            context: module.context().raw(),
            image,
            bound,
            text: Arc::clone(&text),
            key: Key::of(
                &text,
                &format!(
                    "{} {} {} {:?}",
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
            waves: code::code_waves(&self.program).len() as u32,
            ..CodeReport::default()
        };
        match (&self.text, self.made) {
            (Some(Err(reason)), _) => CodeReport {
                reason: Some(reason.clone()),
                ..unmade
            },
            (_, None) => CodeReport {
                reason: Some("too little work".to_owned()),
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
/// all.
const fn next(jit: Jit, expected_ns: u64, ran_ns: u64, has_looked: bool) -> Next {
    let is_due = matches!(jit, Jit::Always) || expected_ns > COMPILE_NS;
    let is_due_beside = ran_ns > COMPILE_NS / 4;
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
        let text = self.bound.apply(linked(self.image.text(), &self.text));
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
        let next = |ran_ns, has_looked| next(Jit::Auto, SHORT, ran_ns, has_looked);
        assert_eq!(next(0, false), Next::Wait);
        assert_eq!(next(LOOK_NS + 1, false), Next::Look);
        assert_eq!(next(LOOK_NS + 1, true), Next::Wait);
        assert_eq!(next(COMPILE_NS / 4 + 1, true), Next::CompileBeside);
    }

    #[test]
    fn what_is_asked_for_or_long_is_compiled_before_the_first_run_unless_it_was_kept() {
        for (jit, expected_ns) in [(Jit::Always, SHORT), (Jit::Auto, LONG), (Jit::Always, LONG)] {
            assert_eq!(next(jit, expected_ns, 0, false), Next::Look);
            assert_eq!(next(jit, expected_ns, 0, true), Next::Compile);
        }
    }
}
