//! The parts of the planner that calculate with floating point, over a small example.
//!
//! A controller plans without them, so they are a separate image. Evidence as CSV text is left out:
//! reading and printing decimals takes more flash than planning.

use seawall_core::evidence::{self, EvidenceError, Proof};
use seawall_core::tuning::{
    self, Choice, Diffusion, DiffusionError, GraphError, NaturalGradient, ShapeMismatch,
    SiblingGraph,
};

use crate::program::Tuning;

/// The refusing part, and its error.
#[derive(Clone, Copy, Debug)]
pub enum Refusal {
    /// Slices of other lengths.
    Shape(ShapeMismatch),
    /// The siblings do not form a graph.
    Graph(GraphError),
    /// The diffusion would not settle.
    Diffusion(DiffusionError),
    /// The samples prove nothing.
    Evidence(EvidenceError<'static>),
}

/// Tunes three priorities in place.
///
/// # Errors
///
/// The first refusal.
#[inline(never)]
pub fn tune(tuning: &Tuning, priorities: &mut [f64; 3]) -> Result<Choice, Refusal> {
    let mut scratch = [0.0; 3];
    let step = NaturalGradient {
        matrix: &tuning.matrix,
        gradient: &tuning.gradient,
        n: tuning.gradient.len(),
        learning_rate: tuning.damping,
    };
    tuning::natural_gradient_step(&step, priorities).map_err(Refusal::Shape)?;
    tuning::decay(priorities, &tuning.costs, tuning.damping, 2).map_err(Refusal::Shape)?;
    let graph = SiblingGraph::new(&tuning.offsets, &tuning.siblings).map_err(Refusal::Graph)?;
    let diffusion = Diffusion {
        damping: tuning.damping,
        iterations: 2,
    };
    tuning::diffuse(&graph, diffusion, priorities, &mut scratch).map_err(Refusal::Diffusion)?;
    Ok(tuning::cheapest(&tuning.candidates, &tuning.costs, 64))
}

/// Judges the samples.
///
/// # Errors
///
/// The first fault of the evidence.
#[inline(never)]
pub fn judge(tuning: &'static Tuning) -> Result<Proof, Refusal> {
    evidence::verify(&tuning.samples, 2.0).map_err(Refusal::Evidence)
}
