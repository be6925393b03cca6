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
/// let ended = analyzer.run(&request).unwrap_err();
/// assert!(matches!(ended, RunError::Backend(BackendError::Cancelled)));
/// assert!(analyzer.run(&request).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Canceller(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// Whether a run has to end.
    is_asked: AtomicBool,
    /// Whether there ever was a second handle, by which another thread may cancel.
    is_shared: AtomicBool,
}

impl Clone for Canceller {
    fn clone(&self) -> Self {
        self.0.is_shared.store(true, Ordering::Release);
        self.of_session()
    }
}

impl Canceller {
    /// Ends the run in progress, or the next one.
    pub fn cancel(&self) {
        self.0.is_asked.store(true, Ordering::Release);
    }

    /// Returns whether a run has to end.
    pub(crate) fn is_asked(&self) -> bool {
        self.0.is_asked.load(Ordering::Acquire)
    }

    /// Returns the handle that a session polls; it is not used to cancel.
    pub(crate) fn of_session(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// Returns whether a handle other than the first could end a run.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "GPUs prepare for it")
    )]
    pub(super) fn is_shared(&self) -> bool {
        self.0.is_shared.load(Ordering::Acquire)
    }

    /// Clears the request to end a run.
    pub(crate) fn settle(&self) -> Result<(), BackendError> {
        match self.0.is_asked.swap(false, Ordering::AcqRel) {
            true => Err(BackendError::Cancelled),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session prepares for a cancelled run only if another handle exists.
    #[test]
    fn any_second_handle_of_a_user_is_seen() {
        let own = Canceller::default();
        let looked_at = own.of_session();
        assert!(!looked_at.is_shared());
        let given = own.clone();
        assert!(looked_at.is_shared());
        given.cancel();
        assert!(looked_at.is_asked());
        assert!(matches!(looked_at.settle(), Err(BackendError::Cancelled)));
        assert!(looked_at.settle().is_ok());

        let direct = given.clone();
        drop(own);
        assert!(direct.is_shared(), "a session that holds a user's clone");
    }
}
