//! The owner of cached choices, and the topology that hysteresis remembers for it.

use crate::ratio::Bps;
use crate::topology::memory::{ExecutionPlan, ExecutionRequest, MemoryError, fit};
use crate::topology::{Decision, Signals, Topology, TopologyPolicy};

/// The analysis that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AnalysisKind {
    /// A general bit-vector dataflow problem.
    Dataflow,
    /// An interprocedural, finite, distributive subset problem.
    Ifds,
    /// Reaching definitions.
    ReachingDefinitions,
    /// Live variables.
    Liveness,
    /// Points-to sets.
    PointsTo,
    /// The front end of a parser.
    ParserFrontend,
    /// Any other analysis, by a number that the caller chooses.
    Custom(u64),
}

impl AnalysisKind {
    /// The kind as two words, different for different kinds.
    const fn words(self) -> [u64; 2] {
        match self {
            Self::Dataflow => [0, 0],
            Self::Ifds => [1, 0],
            Self::ReachingDefinitions => [2, 0],
            Self::Liveness => [3, 0],
            Self::PointsTo => [4, 0],
            Self::ParserFrontend => [5, 0],
            Self::Custom(number) => [6, number],
        }
    }
}

/// The properties of a device that a cached choice depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DeviceKey {
    /// Major compute capability.
    pub compute_capability_major: u32,
    /// Minor compute capability.
    pub compute_capability_minor: u32,
    /// Lanes of a warp.
    pub warp_size: u32,
    /// Most threads of a block.
    pub max_threads_per_block: u32,
    /// Whether all blocks of a grid can meet at a barrier.
    pub grid_sync: bool,
    /// Whether there are tensor cores.
    pub tensor_cores: bool,
}

impl DeviceKey {
    /// The signals as this device sees them: without a grid barrier nothing can be fused, so
    /// fusion pressure counts as 0.
    ///
    /// ```
    /// use seawall_core::cache::DeviceKey;
    /// use seawall_core::ratio::Bps;
    /// use seawall_core::topology::Signals;
    ///
    /// let signals = Signals { fusion_pressure: Bps(9_000), ..Signals::default() };
    /// let old = DeviceKey::default();
    /// let new = DeviceKey { grid_sync: true, ..old };
    /// assert_eq!(old.admit(&signals).fusion_pressure, Bps(0));
    /// assert_eq!(new.admit(&signals), signals);
    /// ```
    #[must_use]
    pub const fn admit(&self, signals: &Signals) -> Signals {
        if self.grid_sync {
            *signals
        } else {
            Signals {
                fusion_pressure: Bps(0),
                ..*signals
            }
        }
    }

    const fn words(&self) -> [u64; 3] {
        [
            pair(self.compute_capability_major, self.compute_capability_minor),
            pair(self.warp_size, self.max_threads_per_block),
            pair(self.grid_sync as u32, self.tensor_cores as u32),
        ]
    }
}

const fn pair(high: u32, low: u32) -> u64 {
    (high as u64).wrapping_shl(32) | low as u64
}

/// Key of choices that are cached together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Identity {
    /// Hash of the graph's layout.
    pub graph_layout_hash: u64,
    /// The analysis.
    pub analysis: AnalysisKind,
    /// The device.
    pub device: DeviceKey,
}

impl Identity {
    pub(super) const fn words(&self) -> [u64; 6] {
        let [kind, number] = self.analysis.words();
        let [capability, threads, features] = self.device.words();
        [
            self.graph_layout_hash,
            kind,
            number,
            capability,
            threads,
            features,
        ]
    }
}

/// An identity with the topology that it actually ran last.
///
/// One value per identity, owned by the caller and never evicted: it is the state that
/// hysteresis works on, with a cache or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Subject {
    identity: Identity,
    latest: Option<Topology>,
}

impl Subject {
    /// A subject that has not run yet.
    #[must_use]
    pub const fn new(identity: Identity) -> Self {
        Self {
            identity,
            latest: None,
        }
    }

    /// The identity of this subject.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The topology actually used last.
    #[must_use]
    pub const fn latest(&self) -> Option<Topology> {
        self.latest
    }

    /// Remembers a topology that was actually used, for instance after a device changed it.
    pub const fn record(&mut self, topology: Topology) {
        self.latest = Some(topology);
    }

    /// Chooses a topology without a cache, and remembers it.
    pub const fn select(&mut self, policy: &TopologyPolicy, signals: &Signals) -> Decision {
        let decision = policy.select(&self.identity.device.admit(signals), self.latest);
        self.record(decision.topology);
        decision
    }

    /// Plans an execution without a cache, and remembers its topology, even after a downgrade.
    ///
    /// # Errors
    /// The error of the Sparse plan, when not even that fits; nothing is remembered then.
    pub fn plan(
        &mut self,
        policy: &TopologyPolicy,
        request: &ExecutionRequest,
    ) -> Result<ExecutionPlan, MemoryError> {
        let sparse = request.footprint.plan(Topology::Sparse)?;
        let signals = request.signals(sparse.required_bytes);
        let admitted = self.identity.device.admit(&signals);
        let chosen = policy.select(&admitted, self.latest).topology;
        let plan = fit(&request.footprint, sparse, chosen);
        self.record(plan.memory.topology);
        Ok(plan)
    }
}
