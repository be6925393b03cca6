//! Decay and autotuning.

use super::Outcome;
use super::read::{Float, floats, input, plain};
use seawall_core::tuning::{NaturalGradient, cheapest, natural_gradient_step};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecayInput {
    priorities: Vec<Float>,
    coefficients: Vec<Float>,
    damping: Float,
    iterations: u32,
}

pub(super) fn decay(value: Value) -> Outcome {
    let given: DecayInput = input(value);
    let mut priorities = plain(&given.priorities);
    let coefficients = plain(&given.coefficients);
    let lengths_differ = priorities.len() != coefficients.len();
    let done = seawall_core::tuning::decay(
        &mut priorities,
        &coefficients,
        given.damping.0,
        given.iterations,
    );
    // The vectors expect unchanged priorities here; the interface also reports the reason.
    assert_eq!(done.is_err(), lengths_differ);
    Ok(json!({"priorities": floats(&priorities)}))
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum AutotuneInput {
    Choose {
        candidates: Vec<u32>,
        costs: Vec<Float>,
        current: u32,
    },
    NaturalGradient {
        matrix: Vec<Float>,
        gradient: Vec<Float>,
        n: u64,
        learning_rate: Float,
    },
}

pub(super) fn autotune(value: Value) -> Outcome {
    match input(value) {
        AutotuneInput::Choose {
            candidates,
            costs,
            current,
        } => Ok(json!(cheapest(&candidates, &plain(&costs), current))),
        AutotuneInput::NaturalGradient {
            matrix,
            gradient,
            n,
            learning_rate,
        } => step(&NaturalGradient {
            matrix: &plain(&matrix),
            gradient: &plain(&gradient),
            n: usize::try_from(n).unwrap_or(usize::MAX),
            learning_rate: learning_rate.0,
        }),
    }
}

fn step(step: &NaturalGradient<'_>) -> Outcome {
    // If the dimensions exceed the gradient, the step is refused, so this space suffices.
    let mut delta = vec![0.0; step.gradient.len().min(step.n)];
    match natural_gradient_step(step, &mut delta) {
        Ok(()) => Ok(json!({"delta": floats(&delta)})),
        Err(error) => Err(json!(error)),
    }
}
