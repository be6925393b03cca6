//! Checks of the order of a policy's thresholds.
//!
//! Policies hold thresholds as plain words and decide what they mean. Two rules are common to all:
//! a share is at most one, and neighbours may be equal but not cross.

/// The reason why thresholds make no policy.
///
/// ```
/// use seawall_core::launch::{LaunchPolicy, LaunchThresholds};
/// let half = LaunchThresholds { dense_density_min_bps: 20_000, ..LaunchThresholds::STANDARD };
/// let error = LaunchPolicy::new(half).unwrap_err();
/// assert_eq!(error.kind(), "out_of_range");
/// assert!(error.to_string().contains("dense_density_min_bps is 20000"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ThresholdError {
    /// A threshold of a share exceeds one.
    #[error("threshold {field} is {value}; choose at most {max}")]
    OutOfRange {
        /// The threshold's field.
        field: &'static str,
        /// Its value.
        value: u32,
        /// The largest value that makes sense.
        max: u32,
    },
    /// Two neighbouring thresholds cross.
    #[error(
        "threshold {lower} ({lower_value}) exceeds {upper} ({upper_value}); lower the first or \
         raise the second"
    )]
    Misordered {
        /// The field that must not be larger.
        lower: &'static str,
        /// Its value.
        lower_value: u32,
        /// The field that must not be smaller.
        upper: &'static str,
        /// Its value.
        upper_value: u32,
    },
}

kinds! { ThresholdError {
    OutOfRange => "out_of_range",
    Misordered => "misordered",
} }

/// A threshold's field and value.
pub(crate) type Named = (&'static str, u32);

/// Checks that each value is at most its limit.
pub(crate) const fn check_limits(checks: &[(Named, u32)]) -> Result<(), ThresholdError> {
    let mut rest = checks;
    while let [((field, value), max), tail @ ..] = rest {
        if *value > *max {
            return Err(ThresholdError::OutOfRange {
                field,
                value: *value,
                max: *max,
            });
        }
        rest = tail;
    }
    Ok(())
}

/// Checks that the first of each pair is at most the second.
pub(crate) const fn check_order(pairs: &[(Named, Named)]) -> Result<(), ThresholdError> {
    let mut rest = pairs;
    while let [((lower, lower_value), (upper, upper_value)), tail @ ..] = rest {
        if *lower_value > *upper_value {
            return Err(ThresholdError::Misordered {
                lower,
                lower_value: *lower_value,
                upper,
                upper_value: *upper_value,
            });
        }
        rest = tail;
    }
    Ok(())
}
