//! Reads vector fields by the types in the vectors' README.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde_json::{Value, json};

/// The input of a vector as a typed record.
///
/// # Panics
///
/// If a field is missing, unknown or out of range; the harness reports it for that line.
pub(super) fn input<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// An outcome whose error carries its numbers, as JSON.
pub(super) fn outcome<T: serde::Serialize, E: serde::Serialize>(
    result: Result<T, E>,
) -> super::Outcome {
    match result {
        Ok(ok) => Ok(serde_json::to_value(ok).unwrap()),
        Err(err) => Err(serde_json::to_value(err).unwrap()),
    }
}

/// A float that may be written as `"NaN"`, `"inf"` or `"-inf"`.
#[derive(Clone, Copy)]
pub(super) struct Float(pub(super) f64);

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
        .map(Self)
        .ok_or_else(|| D::Error::custom(format!("{value} is no float")))
    }
}

/// A float as vectors write it.
pub(super) fn float(value: f64) -> Value {
    if value.is_nan() {
        json!("NaN")
    } else if value.is_infinite() {
        json!(if value > 0.0 { "inf" } else { "-inf" })
    } else {
        json!(value)
    }
}

/// Plain numbers of a list of floats.
pub(super) fn plain(floats: &[Float]) -> Vec<f64> {
    floats.iter().map(|float| float.0).collect()
}

/// A list of floats as vectors write it.
pub(super) fn floats(values: &[f64]) -> Value {
    values.iter().copied().map(float).collect()
}
