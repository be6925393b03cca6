//! Counts of the items that were requeued between two launches.

use super::{LaunchPolicy, LaunchRequest};

/// Items that were put back, and how long they have waited; all counters saturate.
///
/// ```
/// use seawall_core::launch::{LaunchPolicy, RequeueAccount};
/// let mut account = RequeueAccount::default();
/// account.record(&LaunchPolicy::STANDARD, 3);
/// account.record(&LaunchPolicy::STANDARD, 32);
/// assert_eq!((account.requeues, account.aged_promotions, account.max_age), (2, 1, 32));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct RequeueAccount {
    /// Items put back.
    pub requeues: u64,
    /// Items among them that were old enough to be promoted.
    pub aged_promotions: u64,
    /// Largest age seen, in launches.
    pub max_age: u32,
}

impl RequeueAccount {
    /// Counts one item that was put back after waiting for `age` launches.
    pub const fn record(&mut self, policy: &LaunchPolicy, age: u32) {
        self.requeues = self.requeues.saturating_add(1);
        if age >= policy.thresholds().priority_age_min {
            self.aged_promotions = self.aged_promotions.saturating_add(1);
        }
        if age > self.max_age {
            self.max_age = age;
        }
    }

    /// The request with this account's requeues and age.
    #[must_use]
    pub const fn apply(&self, request: LaunchRequest) -> LaunchRequest {
        LaunchRequest {
            requeue_count: self.requeues,
            max_priority_age: self.max_age,
            ..request
        }
    }
}
