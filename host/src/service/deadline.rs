//! Time limits of handlers.

use super::Shared;
use seawall_core::abi::ring::FaultCode;
use seawall_core::protocol::Refusal;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The time until which a handler may continue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline<'s> {
    pub(super) shared: &'s Shared,
    pub(super) at: Option<Instant>,
}

impl Deadline<'_> {
    /// Ends a handler whose time is over, or whose service ends by force.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let is_late = self.at.is_some_and(|at| Instant::now() >= at);
        if is_late || self.shared.is_forced.load(Ordering::Relaxed) {
            return Err(Refusal::new(FaultCode::TimeBudget, 0));
        }
        Ok(())
    }

    /// Time that is left.
    pub(super) fn left(&self) -> Duration {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        self.at.map_or(Duration::MAX, left)
    }
}
