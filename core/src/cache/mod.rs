//! A cache of raw topology choices that never changes an answer.
//!
//! A cache that decides differently from the computation that it replaces is a bug that only
//! shows under load. So the key is the *class* of the metrics: on which side of every threshold
//! they lie. The raw choice is constant inside a class and is all that is stored; hysteresis is
//! applied after the look-up.
//!
//! Hysteresis needs the topology that an identity ran last. The caller's [`Subject`] holds it,
//! since it must survive evictions and a capacity of 0 must answer like any other.
//!
//! Memory plans are not cached: each is a few additions.

mod identity;
mod lru;

pub use identity::{AnalysisKind, DeviceKey, Identity, Subject};

use crate::topology::memory::{ExecutionPlan, ExecutionRequest, MemoryError, fit};
use crate::topology::{Decision, Metrics, Signals, Topology, TopologyPolicy};
use heapless::Vec;
use lru::{Ends, Insertion, Key, Lru, NIL, Slot};

/// Counters of a cache; all saturate and survive [`PlanCache::clear`].
///
/// ```
/// use seawall_core::cache::{CacheCounters, PlanCache};
/// use seawall_core::topology::TopologyPolicy;
/// let cache = PlanCache::<4>::new(TopologyPolicy::DEFAULT);
/// assert_eq!(cache.counters(), CacheCounters::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CacheCounters {
    /// Look-ups that found their key.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
    /// Keys stored.
    pub insertions: u64,
    /// Keys replaced by newer ones.
    pub evictions: u64,
}

/// A bounded cache of raw choices under one policy that evicts the least recently used.
///
/// Hit, miss and insertion cost O(1) expected, eviction O(1); a slot takes 72 bytes or fewer and
/// `N` may be 0.
///
/// ```
/// use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, PlanCache, Subject};
/// use seawall_core::topology::{Signals, TopologyPolicy};
///
/// static POLICY: TopologyPolicy = TopologyPolicy::DEFAULT;
/// let mut cache = PlanCache::<8>::new(POLICY);
/// let identity = Identity {
///     graph_layout_hash: 7,
///     analysis: AnalysisKind::Liveness,
///     device: DeviceKey::default(),
/// };
/// let (mut cached, mut plain) = (Subject::new(identity), Subject::new(identity));
/// let signals = Signals { nodes: 10, edges: 40, ..Signals::default() };
/// assert_eq!(cache.select(&mut cached, &signals), plain.select(&POLICY, &signals));
/// assert_eq!(cache.counters().misses, 1);
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PlanCache<const N: usize> {
    policy: TopologyPolicy,
    counters: CacheCounters,
    ends: Ends,
    buckets: [u32; N],
    slots: Vec<Slot, N>,
}

impl<const N: usize> PlanCache<N> {
    /// An empty cache for this policy.
    #[must_use]
    pub const fn new(policy: TopologyPolicy) -> Self {
        const { assert!(N < NIL as usize, "slots are numbered in 32 bits") };
        Self {
            policy,
            counters: CacheCounters {
                hits: 0,
                misses: 0,
                insertions: 0,
                evictions: 0,
            },
            ends: Ends::EMPTY,
            buckets: [NIL; N],
            slots: Vec::new(),
        }
    }

    /// The same cache without its capacity in the type.
    pub fn view(&mut self) -> CacheView<'_> {
        CacheView {
            policy: &self.policy,
            counters: &mut self.counters,
            lru: Lru {
                slots: self.slots.as_mut_view(),
                buckets: &mut self.buckets,
                ends: &mut self.ends,
            },
        }
    }

    /// Chooses a topology as [`Subject::select`] does, and remembers it in the subject.
    pub fn select(&mut self, subject: &mut Subject, signals: &Signals) -> Decision {
        self.view().select(subject, signals)
    }

    /// Plans an execution as [`Subject::plan`] does, and remembers the topology in the subject.
    ///
    /// # Errors
    ///
    /// The error of the Sparse plan, when not even that fits; nothing is looked up or remembered
    /// then.
    pub fn plan(
        &mut self,
        subject: &mut Subject,
        request: &ExecutionRequest,
    ) -> Result<ExecutionPlan, MemoryError> {
        let sparse = request.footprint.plan(Topology::Sparse)?;
        let signals = request.signals(sparse.required_bytes);
        let metrics = subject.identity().device.admit(&signals).metrics();
        let chosen = self.view().decide(subject, &metrics).topology;
        let plan = fit(&request.footprint, sparse, chosen);
        subject.record(plan.memory.topology);
        Ok(plan)
    }

    /// Forgets every key; the counters stay.
    pub fn clear(&mut self) {
        self.view().lru.clear();
    }

    /// The counters so far.
    #[must_use]
    pub const fn counters(&self) -> CacheCounters {
        self.counters
    }

    /// The policy that this cache answers for.
    #[must_use]
    pub const fn policy(&self) -> &TopologyPolicy {
        &self.policy
    }

    /// Keys stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no key is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Most keys stored.
    #[must_use]
    pub const fn capacity(&self) -> usize {
        N
    }
}

/// A cache of any capacity, for functions that are compiled once.
#[derive(Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CacheView<'c> {
    policy: &'c TopologyPolicy,
    counters: &'c mut CacheCounters,
    lru: Lru<'c>,
}

impl CacheView<'_> {
    /// Chooses a topology as [`PlanCache::select`] does.
    pub fn select(&mut self, subject: &mut Subject, signals: &Signals) -> Decision {
        let signals = subject.identity().device.admit(signals);
        let metrics = signals.metrics();
        let decision = self.decide(subject, &metrics);
        subject.record(decision.topology);
        decision
    }

    fn decide(&mut self, subject: &Subject, metrics: &Metrics) -> Decision {
        let key = Key {
            identity: *subject.identity(),
            class: self.policy.class(metrics),
        };
        let raw = self.raw(&key, metrics);
        self.policy.explain(metrics, raw, subject.latest())
    }

    fn raw(&mut self, key: &Key, metrics: &Metrics) -> Topology {
        if let Some(raw) = self.lru.get(key) {
            self.counters.hits = self.counters.hits.saturating_add(1);
            return raw;
        }
        self.counters.misses = self.counters.misses.saturating_add(1);
        let raw = self.policy.raw(metrics);
        let insertion = self.lru.insert(key, raw);
        self.count(insertion);
        raw
    }

    fn count(&mut self, insertion: Insertion) {
        let c = &mut *self.counters;
        c.insertions = c.insertions.saturating_add(u64::from(insertion.stored));
        c.evictions = c.evictions.saturating_add(u64::from(insertion.evicted));
    }
}
