//! Weights in reports: origin, kind, rounding.

use seawall::graph::{Scale, WeightKind, WeightOrigin};
use seawall::outcome::Weights;
use seawall::units::{Count, counted};
use serde::Serialize;

/// The `weights` of a JSON report.
#[derive(Serialize)]
pub struct WeightsReport {
    from: &'static str,
    kind: &'static str,
    rounded: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<ScaleReport>,
}

#[derive(Serialize)]
struct ScaleReport {
    factor: f64,
    rounded: u64,
    vanished: u64,
}

impl From<Weights> for WeightsReport {
    fn from(weights: Weights) -> Self {
        Self {
            from: match weights.origin {
                WeightOrigin::File => "file",
                WeightOrigin::Generator => "generator",
                WeightOrigin::Unit => "unit",
            },
            kind: kind(weights.kind),
            rounded: weights.rounded,
            scale: weights.scale.map(ScaleReport::from),
        }
    }
}

impl From<Scale> for ScaleReport {
    fn from(scale: Scale) -> Self {
        let Scale {
            factor,
            rounded,
            vanished,
        } = scale;
        Self {
            factor,
            rounded,
            vanished,
        }
    }
}

const fn kind(kind: WeightKind) -> &'static str {
    match kind {
        WeightKind::Integer => "u32",
        WeightKind::Signed => "i32",
        WeightKind::Float | WeightKind::SignedFloat => "f32",
    }
}

/// The weights of some graphs in words; `None` if none has any.
pub fn described(all: impl IntoIterator<Item = Weights>) -> Option<String> {
    let mut kinds: Vec<Weights> = Vec::new();
    for weights in all {
        let same = kinds
            .iter_mut()
            .find_map(|known| sum(*known, weights).map(|sum| (known, sum)));
        match same {
            Some((known, sum)) => *known = sum,
            None => kinds.push(weights),
        }
    }
    let described: Vec<String> = kinds.iter().map(describe_one).collect();
    (!described.is_empty()).then(|| described.join("; "))
}

/// Merges two kinds of weights, if they differ only in counts.
fn sum(a: Weights, b: Weights) -> Option<Weights> {
    let plain = |weights: Weights| Weights {
        rounded: 0,
        scale: weights.scale.map(|scale| Scale {
            rounded: 0,
            vanished: 0,
            ..scale
        }),
        ..weights
    };
    let scales = a.scale.zip(b.scale).map(|(a, b)| Scale {
        rounded: a.rounded + b.rounded,
        vanished: a.vanished + b.vanished,
        ..a
    });
    (plain(a) == plain(b)).then_some(Weights {
        rounded: a.rounded + b.rounded,
        scale: scales,
        ..a
    })
}

fn describe_one(weights: &Weights) -> String {
    let origin = match weights.origin {
        WeightOrigin::File => "read from the file",
        WeightOrigin::Generator => "drawn by the generator",
        WeightOrigin::Unit => "1 on every edge",
    };
    let rounded = match weights.rounded {
        0 => String::new(),
        some => format!(", {} rounded to 32-bit floats", Count(some)),
    };
    let scale = weights
        .scale
        .as_ref()
        .map_or_else(String::new, describe_scale);
    format!("{}, {origin}{rounded}{scale}", kind(weights.kind))
}

fn describe_scale(scale: &Scale) -> String {
    let rounded = match scale.rounded {
        0 => String::new(),
        some => format!(", {} rounded", counted(some, "product")),
    };
    let vanished = match scale.vanished {
        0 => String::new(),
        some => format!(", {} of them to 0", Count(some)),
    };
    format!(", times {:?}{rounded}{vanished}", scale.factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWN: Weights = Weights {
        origin: WeightOrigin::Generator,
        kind: WeightKind::Integer,
        rounded: 0,
        scale: None,
    };

    #[test]
    fn graphs_of_a_batch_add_up_by_kind() {
        let read = Weights {
            origin: WeightOrigin::File,
            kind: WeightKind::Float,
            rounded: 2,
            scale: None,
        };
        let described = described([DRAWN, read, DRAWN, read]).unwrap();
        assert_eq!(
            described,
            "u32, drawn by the generator; f32, read from the file, 4 rounded to 32-bit floats"
        );
    }

    #[test]
    fn the_loss_of_scaling_is_reported() {
        let scale = Some(Scale {
            factor: 0.25,
            rounded: 3,
            vanished: 1,
        });
        let scaled = Weights { scale, ..DRAWN };
        assert_eq!(
            described([scaled, scaled]).unwrap(),
            "u32, drawn by the generator, times 0.25, 6 products rounded, 2 of them to 0"
        );
        assert_eq!(described([]), None);
    }
}
