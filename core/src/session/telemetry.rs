//! Savings by reuse, counted run by run.
//!
//! Snapshots add up over sessions and subtract over time, field by field. A sum that
//! exceeds 64 bits is an error and not a wrong rate. [`super::SessionProfile`] plans
//! the savings that a session *should* reach.

use crate::ratio::Ppm;

/// Counts of actual uploads and of uploads that reuse avoided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReuseTelemetry {
    /// Graph uploads that happened.
    pub cold_uploads: u64,
    /// Runs that found their graph on the device.
    pub warm_reuses: u64,
    /// Bytes uploaded.
    pub upload_bytes: u64,
    /// Bytes not uploaded again.
    pub avoided_upload_bytes: u64,
}

/// A counter that left its range; neither operand has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum TelemetryError {
    /// The sum of a counter exceeds 64 bits.
    #[error("counter {field} exceeds 64 bits; report and reset it earlier")]
    Overflow {
        /// The counter.
        field: &'static str,
    },
    /// A counter is smaller than what is subtracted from it.
    #[error(
        "counter {field} is {minuend}, less than the {subtrahend} to subtract; subtract the \
         older snapshot from the newer"
    )]
    Underflow {
        /// The counter.
        field: &'static str,
        /// Its value.
        minuend: u64,
        /// The value to subtract.
        subtrahend: u64,
    },
}

kinds! { TelemetryError {
    Overflow => "overflow",
    Underflow => "underflow",
} }

impl ReuseTelemetry {
    /// The sum, field by field.
    ///
    /// # Errors
    /// [`TelemetryError::Overflow`] names the first field that exceeds 64 bits.
    pub fn checked_add(&self, other: &Self) -> Result<Self, TelemetryError> {
        self.combine(other, |field, a, b| {
            a.checked_add(b).ok_or(TelemetryError::Overflow { field })
        })
    }

    /// The counts since an older snapshot, field by field.
    ///
    /// # Errors
    /// [`TelemetryError::Underflow`] names the first field that was larger in `older`.
    pub fn checked_sub(&self, older: &Self) -> Result<Self, TelemetryError> {
        self.combine(older, |field, minuend, subtrahend| {
            minuend
                .checked_sub(subtrahend)
                .ok_or(TelemetryError::Underflow {
                    field,
                    minuend,
                    subtrahend,
                })
        })
    }

    fn combine(
        &self,
        other: &Self,
        with: impl Fn(&'static str, u64, u64) -> Result<u64, TelemetryError>,
    ) -> Result<Self, TelemetryError> {
        Ok(Self {
            cold_uploads: with("cold_uploads", self.cold_uploads, other.cold_uploads)?,
            warm_reuses: with("warm_reuses", self.warm_reuses, other.warm_reuses)?,
            upload_bytes: with("upload_bytes", self.upload_bytes, other.upload_bytes)?,
            avoided_upload_bytes: with(
                "avoided_upload_bytes",
                self.avoided_upload_bytes,
                other.avoided_upload_bytes,
            )?,
        })
    }

    /// Warm reuses over all runs, rounded down; `None` before the first run.
    ///
    /// ```
    /// use seawall_core::{ratio::Ppm, session::ReuseTelemetry};
    /// let telemetry = ReuseTelemetry { cold_uploads: 1, warm_reuses: 3, ..Default::default() };
    /// assert_eq!(telemetry.reuse_rate(), Some(Ppm(750_000)));
    /// assert_eq!(telemetry.avoided_fraction(), None);
    /// ```
    #[must_use]
    pub const fn reuse_rate(&self) -> Option<Ppm> {
        fraction(self.warm_reuses, self.cold_uploads)
    }

    /// Avoided over all upload bytes, rounded down; `None` without any.
    #[must_use]
    pub const fn avoided_fraction(&self) -> Option<Ppm> {
        fraction(self.avoided_upload_bytes, self.upload_bytes)
    }
}

/// `part / (part + rest)`; both are halved if their sum would not fit 64 bits, which keeps more
/// digits than a ratio in millionths has.
const fn fraction(part: u64, rest: u64) -> Option<Ppm> {
    match part.checked_add(rest) {
        Some(whole) => Ppm::share(part, whole),
        None => {
            let (part, rest) = (part.wrapping_shr(1), rest.wrapping_shr(1));
            Ppm::share(part, part.wrapping_add(rest))
        }
    }
}
