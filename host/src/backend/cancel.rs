//! Cancellation of runs from another thread.

use super::BackendError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends runs of a session from another thread.
///
/// A run ends where it checks its time budget: between waves, and on a CPU within long ones. It then
/// returns
/// [`BackendError::Cancelled`], and its session can run again. If no run is in progress, the next
/// one ends before it begins.
///
/// ```
/// use seawall::backend::BackendError;
/// use seawall::graph::{LoadOptions, load};
/// use seawall::run::{AnalysisKind, Analyzer, Machine, RunError, RunRequest};
///
/// let graph = load("gen:chain:1000", &LoadOptions::default(), None)?.graph;
/// let mut analyzer = Analyzer::new(&graph);
/// let canceller = analyzer.canceller();
/// std::thread::spawn(move || canceller.cancel()).join().unwrap();
/// let request = RunRequest::new(AnalysisKind::Bfs, vec![0]).on(Machine::cpu(None));
/// let ended = analyzer.run(&request, &mut |_| ()).unwrap_err();
/// assert!(matches!(ended, RunError::Backend(BackendError::Cancelled)));
/// assert!(analyzer.run(&request, &mut |_| ()).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Canceller(Arc<AtomicBool>);

impl Canceller {
    /// Ends the run in progress, or the next one.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Tells whether a run has to end.
    pub(super) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Tells whether another owner than an analyzer and its session could end a run.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "GPUs prepare for it")
    )]
    pub(super) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 2
    }

    /// Clears the request to end a run.
    ///
    /// # Errors
    /// [`BackendError::Cancelled`] if there was one.
    pub(super) fn settle(&self) -> Result<(), BackendError> {
        match self.0.swap(false, Ordering::AcqRel) {
            true => Err(BackendError::Cancelled),
            false => Ok(()),
        }
    }
}
