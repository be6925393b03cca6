//! Sessions that own their graph, so that they can be stored and sent to other threads.

use crate::backend::{BackendError, Canceller, ProgramSession};
use crate::graph::Graph;
use crate::outcome::RunOutcome;
use crate::run::{Analyzer, Machine, RunError, RunRequest};
use std::fmt;
use std::sync::Arc;

self_cell::self_cell!(
    struct AnalyzerCell {
        owner: Arc<Graph>,
        #[not_covariant]
        dependent: Analyzer,
    }
);

/// An [`Analyzer`] that shares its graph.
///
/// ```
/// use seawall::graph::Graph;
/// use seawall::SharedAnalyzer;
/// use seawall::run::{AnalysisKind, Machine, RunRequest};
/// use std::sync::Arc;
///
/// let graph = Arc::new(Graph::from_edges(3, &[(0, 1), (1, 2)], false)?);
/// let mut analyzer = SharedAnalyzer::new(Arc::clone(&graph));
/// let reached = std::thread::spawn(move || {
///     let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(Machine::cpu(None));
///     analyzer.run(&request).map(|outcome| outcome.reached)
/// });
/// assert_eq!(reached.join().unwrap()?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedAnalyzer(AnalyzerCell);

impl SharedAnalyzer {
    /// Opens nothing before the first request.
    #[must_use]
    pub fn new(graph: Arc<Graph>) -> Self {
        Self(AnalyzerCell::new(graph, |graph| Analyzer::new(graph)))
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Arc<Graph> {
        self.0.borrow_owner()
    }

    /// Ends runs from another thread.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.0.with_dependent(|_, analyzer| analyzer.canceller())
    }

    /// Runs `request` as [`Analyzer::run`].
    ///
    /// # Errors
    /// As [`Analyzer::run`].
    pub fn run(&mut self, request: &RunRequest) -> Result<RunOutcome, RunError> {
        self.with(|analyzer| analyzer.run(request))
    }

    /// Calls `job` with the analyzer, such as for a run with progress.
    pub fn with<T>(&mut self, job: impl FnOnce(&mut Analyzer<'_>) -> T) -> T {
        self.0.with_dependent_mut(|_, analyzer| job(analyzer))
    }
}

impl fmt::Debug for SharedAnalyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedAnalyzer").finish_non_exhaustive()
    }
}

self_cell::self_cell!(
    struct ProgramCell {
        owner: Arc<Graph>,
        #[not_covariant]
        dependent: ProgramSession,
    }
);

/// A [`ProgramSession`] that shares its graph.
pub struct SharedProgramSession(ProgramCell);

impl SharedProgramSession {
    /// Opens `machine` with `graph` resident; the CPU if it names no executor.
    ///
    /// # Errors
    /// As [`ProgramSession::open`].
    pub fn open(graph: Arc<Graph>, machine: &Machine) -> Result<Self, BackendError> {
        ProgramCell::try_new(graph, |graph| ProgramSession::open(graph, machine)).map(Self)
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Arc<Graph> {
        self.0.borrow_owner()
    }

    /// Calls `job` with the session: loads programs, sets inputs, runs, reads.
    pub fn with<T>(&mut self, job: impl FnOnce(&mut ProgramSession<'_>) -> T) -> T {
        self.0.with_dependent_mut(|_, session| job(session))
    }
}

impl fmt::Debug for SharedProgramSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedProgramSession")
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{PlanRequest, ProgramBuilder};
    use crate::run::AnalysisKind;

    fn is_send<T: Send>(value: T) -> T {
        value
    }

    #[test]
    fn sessions_move_to_another_thread_with_their_graph() {
        let graph = Arc::new(Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], false).unwrap());
        let mut analyzer = is_send(SharedAnalyzer::new(Arc::clone(&graph)));
        let request = RunRequest::new(AnalysisKind::Bfs, vec![1]).on(Machine::cpu(None));
        let first = analyzer.run(&request).unwrap().values;
        let again = std::thread::spawn(move || {
            assert_eq!(analyzer.graph().nodes(), 4);
            analyzer.run(&request).unwrap().values
        });
        assert_eq!(again.join().unwrap(), first);
        drop(is_send(Analyzer::new(&graph)));
    }

    #[test]
    fn a_program_runs_on_the_thread_that_has_the_session() {
        let graph = Arc::new(Graph::from_edges(3, &[(0, 1)], false).unwrap());
        let mut program = ProgramBuilder::new(3);
        let numbers = program.words("numbers", 3).unwrap();
        program.iota("number", numbers);
        program.keep(numbers);
        let (program, _) = program.encode(&PlanRequest::default()).unwrap();
        let machine = Machine::cpu(None);
        let mut session = is_send(SharedProgramSession::open(graph, &machine).unwrap());
        let words = std::thread::spawn(move || {
            session.with(|session| {
                let mut words = Vec::new();
                session.load(&program)?;
                session.run()?;
                session.read(numbers, &mut words)?;
                Ok::<_, BackendError>(words)
            })
        });
        assert_eq!(words.join().unwrap().unwrap(), [0, 1, 2]);
    }
}
