//! A cache of raw topology choices that never changes an answer.
//!
//! A cache that decides differently from the computation that it replaces is a bug that only shows
//! under load. So the key is the *class* of the metrics: on which side of every threshold they lie.
//! The raw choice is constant inside a class and is all that is stored; hysteresis is applied after
//! the lookup.
//!
//! Hysteresis needs the topology that an identity ran last. The caller's [`Subject`] holds it,
//! since it must survive evictions and a capacity of 0 must answer like any other.
//!
//! Memory plans are not cached: each is a few additions. [`Recent`], the map below the cache, also
//! serves for values of a caller, such as programs that took long to plan.

mod identity;
mod recent;

pub use identity::{AnalysisKind, DeviceKey, Identity, Subject};
pub use recent::{Ages, Hashed, Insertion, NIL, Recent, Slot};

use crate::topology::memory::{ExecutionPlan, ExecutionRequest, MemoryError, fit};
use crate::topology::{Decision, MetricClass, Metrics, Signals, Topology, TopologyPolicy};

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
    /// Lookups that found their key.
    pub hits: u64,
    /// Lookups that found none.
    pub misses: u64,
    /// Keys stored.
    pub insertions: u64,
    /// Keys replaced by newer ones.
    pub evictions: u64,
}

impl CacheCounters {
    /// Counts a lookup that found its key.
    pub const fn hit(&mut self) {
        self.hits = self.hits.saturating_add(1);
    }

    /// Counts a lookup that found none, and the insertion that followed.
    pub const fn missed(&mut self, insertion: Insertion) {
        self.misses = self.misses.saturating_add(1);
        self.insertions = self.insertions.saturating_add(insertion.stored as u64);
        self.evictions = self.evictions.saturating_add(insertion.evicted as u64);
    }
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
    ages: Ages,
    buckets: [u32; N],
    slots: [Slot<Choice, Topology>; N],
}

/// Key of a raw choice: an identity, and the class of its metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Choice {
    identity: Identity,
    class: MetricClass,
}

const _: () = assert!(
    size_of::<Slot<Choice, Topology>>() <= 72,
    "the documented size of a slot"
);

impl Hashed for Choice {
    /// Multiplies and folds, one word after the other.
    fn hash(&self) -> u64 {
        let start = u64::from(self.class.0);
        let hash = self.identity.words().iter().fold(start, |hash, word| {
            let mixed = (hash ^ *word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            mixed ^ mixed.wrapping_shr(29)
        });
        hash.wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }
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
            ages: Ages::EMPTY,
            buckets: [NIL; N],
            slots: [Slot::EMPTY; N],
        }
    }

    /// The same cache without its capacity in the type.
    pub fn view(&mut self) -> CacheView<'_> {
        CacheView {
            policy: &self.policy,
            counters: &mut self.counters,
            choices: Recent::new(&mut self.slots, &mut self.buckets, &mut self.ages),
        }
    }

    /// Chooses a topology as [`Subject::select`] does, and remembers it in the subject.
    pub fn select(&mut self, subject: &mut Subject, signals: &Signals) -> Decision {
        self.view().select(subject, signals)
    }

    /// Plans an execution as [`Subject::plan`] does, and remembers the topology in the subject.
    ///
    /// # Errors
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
        self.view().choices.clear();
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
        self.ages.used() as usize
    }

    /// Whether no key is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
    choices: Recent<'c, Choice, Topology>,
}

impl<'c> CacheView<'c> {
    /// A cache in memory of the caller.
    #[must_use]
    pub const fn new(
        policy: &'c TopologyPolicy,
        counters: &'c mut CacheCounters,
        choices: Recent<'c, Choice, Topology>,
    ) -> Self {
        Self {
            policy,
            counters,
            choices,
        }
    }

    /// Chooses a topology as [`PlanCache::select`] does.
    pub fn select(&mut self, subject: &mut Subject, signals: &Signals) -> Decision {
        let signals = subject.identity().device.admit(signals);
        let metrics = signals.metrics();
        let decision = self.decide(subject, &metrics);
        subject.record(decision.topology);
        decision
    }

    fn decide(&mut self, subject: &Subject, metrics: &Metrics) -> Decision {
        let key = Choice {
            identity: *subject.identity(),
            class: self.policy.class(metrics),
        };
        let raw = self.raw(key, metrics);
        self.policy.explain(metrics, raw, subject.latest())
    }

    fn raw(&mut self, key: Choice, metrics: &Metrics) -> Topology {
        if let Some(raw) = self.choices.get(&key).copied() {
            self.counters.hit();
            return raw;
        }
        let raw = self.policy.raw(metrics);
        let insertion = self.choices.insert(key, raw);
        self.counters.missed(insertion);
        raw
    }
}
