//! Judges samples one by one, in constant memory.

use super::{
    BACKEND, COMPUTE_CAPABILITY_MIN, DEVICE_MEMORY_MIN_BYTES, DISTINCT_SAMPLES_MIN, EvidenceError,
    GRAPH_EDGES_MIN, GRAPH_NODES_MIN, Proof, REPETITIONS_MIN, Sample,
};

// Comparing each sample with the first one only distinguishes one from several.
const _: () = assert!(DISTINCT_SAMPLES_MIN == 2);

/// Judges all samples of a slice against a required speed-up.
///
/// Costs O(samples) time and no memory.
///
/// # Errors
/// No samples, an invalid threshold, the first fault of the first faulty sample, or fewer than
/// two distinct samples, in this order.
pub fn verify<'a>(samples: &[Sample<'a>], required_x: f64) -> Result<Proof, EvidenceError<'a>> {
    if samples.is_empty() {
        return Err(EvidenceError::EmptySamples);
    }
    let mut gate = Gate::new(required_x)?;
    for sample in samples {
        gate.push(sample)?;
    }
    gate.finish()
}

/// A proof under construction, to which samples are added one by one.
///
/// ```
/// use seawall_core::evidence::{Gate, Sample};
/// let sample = Sample {
///     backend_id: "cuda", device_ordinal: 0, device_memory_bytes: 80 << 30,
///     compute_capability_major: 9, compute_capability_minor: 0,
///     graph_nodes: 100_000, graph_edges: 800_000, repetitions: 64,
///     host_orchestrated_ns: 3e6, resident_megakernel_ns: 1e6, setup_ns: 5e8,
///     timed_graph_uploads: 0, timed_host_allocations: 0, timed_host_syncs: 0,
/// };
/// let mut gate = Gate::new(2.0)?;
/// gate.push(&sample)?;
/// gate.push(&Sample { host_orchestrated_ns: 2.5e6, ..sample })?;
/// let proof = gate.finish()?;
/// assert_eq!((proof.min_speedup_x, proof.max_speedup_x), (2.5, 3.0));
/// # Ok::<(), seawall_core::evidence::EvidenceError<'static>>(())
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gate<'a> {
    required_x: f64,
    first: Option<Sample<'a>>,
    several: bool,
    proof: Proof,
}

impl<'a> Gate<'a> {
    /// A gate that requires this speed-up.
    ///
    /// # Errors
    /// [`EvidenceError::InvalidRequiredSpeedup`] when it is not finite or not above 0.
    pub fn new(required_x: f64) -> Result<Self, EvidenceError<'a>> {
        if !is_positive(required_x) {
            return Err(EvidenceError::InvalidRequiredSpeedup { required_x });
        }
        Ok(Self {
            required_x,
            first: None,
            several: false,
            proof: Proof {
                min_speedup_x: f64::INFINITY,
                max_speedup_x: 0.0,
                sample_count: 0,
                total_repetitions: 0,
            },
        })
    }

    /// Judges the next sample.
    ///
    /// # Errors
    /// The first fault of the sample, with its index; the gate is then unchanged.
    pub fn push(&mut self, sample: &Sample<'a>) -> Result<(), EvidenceError<'a>> {
        let index = self.proof.sample_count;
        check_origin(index, sample)?;
        check_scale(index, sample)?;
        check_timing(index, sample)?;
        let observed_x = sample.speedup_x();
        if observed_x < self.required_x {
            return Err(EvidenceError::SpeedupBelowThreshold {
                index,
                observed_x,
                required_x: self.required_x,
            });
        }
        let total_repetitions = self
            .proof
            .total_repetitions
            .checked_add(sample.repetitions)
            .ok_or(EvidenceError::RepetitionCountOverflow { index })?;
        self.several |= self.first.is_some_and(|first| first != *sample);
        self.first.get_or_insert(*sample);
        self.proof = Proof {
            min_speedup_x: self.proof.min_speedup_x.min(observed_x),
            max_speedup_x: self.proof.max_speedup_x.max(observed_x),
            sample_count: index.saturating_add(1),
            total_repetitions,
        };
        Ok(())
    }

    /// The proof of all samples so far.
    ///
    /// # Errors
    /// [`EvidenceError::InsufficientSampleCount`] for fewer than two distinct samples.
    pub fn finish(self) -> Result<Proof, EvidenceError<'a>> {
        if self.several {
            return Ok(self.proof);
        }
        Err(EvidenceError::InsufficientSampleCount {
            sample_count: u64::from(self.first.is_some()),
        })
    }
}

fn is_positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn check_origin<'a>(index: u64, sample: &Sample<'a>) -> Result<(), EvidenceError<'a>> {
    if sample.backend_id != BACKEND {
        return Err(EvidenceError::NonCudaEvidence {
            index,
            backend_id: sample.backend_id,
        });
    }
    let capability = (
        sample.compute_capability_major,
        sample.compute_capability_minor,
    );
    if sample.device_memory_bytes < DEVICE_MEMORY_MIN_BYTES || capability < COMPUTE_CAPABILITY_MIN {
        return Err(EvidenceError::InsufficientCudaDevice {
            index,
            device_memory_bytes: sample.device_memory_bytes,
            compute_capability_major: sample.compute_capability_major,
            compute_capability_minor: sample.compute_capability_minor,
        });
    }
    Ok(())
}

const fn check_scale<'a>(index: u64, sample: &Sample<'_>) -> Result<(), EvidenceError<'a>> {
    if sample.graph_nodes == 0 || sample.graph_edges == 0 || sample.repetitions <= 1 {
        return Err(EvidenceError::NotRepeatedFixedGraph { index });
    }
    if sample.graph_nodes < GRAPH_NODES_MIN
        || sample.graph_edges < GRAPH_EDGES_MIN
        || sample.repetitions < REPETITIONS_MIN
    {
        return Err(EvidenceError::InsufficientScale {
            index,
            graph_nodes: sample.graph_nodes,
            graph_edges: sample.graph_edges,
            repetitions: sample.repetitions,
        });
    }
    Ok(())
}

fn check_timing<'a>(index: u64, sample: &Sample<'_>) -> Result<(), EvidenceError<'a>> {
    if (
        sample.timed_graph_uploads,
        sample.timed_host_allocations,
        sample.timed_host_syncs,
    ) != (0, 0, 0)
    {
        return Err(EvidenceError::PollutedTimedRegion {
            index,
            graph_uploads: sample.timed_graph_uploads,
            host_allocations: sample.timed_host_allocations,
            host_syncs: sample.timed_host_syncs,
        });
    }
    let valid = is_positive(sample.host_orchestrated_ns)
        && is_positive(sample.resident_megakernel_ns)
        && sample.setup_ns.is_finite()
        && sample.setup_ns >= 0.0
        && sample.speedup_x().is_finite();
    if valid {
        Ok(())
    } else {
        Err(EvidenceError::InvalidTiming { index })
    }
}
