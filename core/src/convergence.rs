//! A fixpoint that ends on the device without being polled by the host.
//!
//! Polling a changed flag from the host costs one round trip per iteration, so a contract that
//! asks for it is refused. The flag is tagged with the iteration that set it, and a flag of an
//! older iteration counts as clear. So nothing ever clears the flag, and no clearing can race with
//! a setter. The device decides memory order, not this module.

/// Bytes of the changed flag: one device word.
const CHANGED_FLAG_BYTES: u32 = 4;

/// A caller's request for a device-resident fixpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ConvergenceRequest {
    /// Iterations after which the device stops without convergence.
    pub max_device_iterations: u32,
    /// Bytes of the changed flag.
    pub changed_flag_bytes: u32,
    /// Reads of the flag by the host before the end.
    pub requested_host_iteration_polls: u32,
}

/// The point at which the host reads the changed flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FlagReadback {
    /// Once, after the last iteration.
    FinalFlagOnly,
}

/// A fixpoint that the device ends by itself.
///
/// ```
/// use seawall_core::convergence::{ConvergenceContract, Outcome};
/// let contract = ConvergenceContract::device_resident(100)?;
/// assert_eq!(contract.after_iteration(7, 7), None); // iteration 7 changed something
/// assert_eq!(contract.after_iteration(8, 7), Some(Outcome::Converged { iterations: 8 }));
/// assert_eq!(contract.after_iteration(100, 100), Some(Outcome::Exhausted { iterations: 100 }));
/// # Ok::<(), seawall_core::convergence::ConvergenceError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ConvergenceContract {
    max_device_iterations: u32,
    host_sync_points: u32,
    changed_flag_readback_bytes: u32,
    host_iteration_polls: u32,
    readback_policy: FlagReadback,
}

impl ConvergenceRequest {
    /// The contract of this request.
    ///
    /// # Errors
    /// In this order: no iterations, a flag that is not one word, polling from the host.
    pub const fn contract(&self) -> Result<ConvergenceContract, ConvergenceError> {
        if self.max_device_iterations == 0 {
            return Err(ConvergenceError::EmptyIterationBudget);
        }
        if self.changed_flag_bytes != CHANGED_FLAG_BYTES {
            return Err(ConvergenceError::InvalidChangedFlagWidth {
                bytes: self.changed_flag_bytes,
            });
        }
        if self.requested_host_iteration_polls != 0 {
            return Err(ConvergenceError::HostPolledConvergence {
                polls: self.requested_host_iteration_polls,
            });
        }
        Ok(ConvergenceContract {
            max_device_iterations: self.max_device_iterations,
            host_sync_points: 1,
            changed_flag_readback_bytes: CHANGED_FLAG_BYTES,
            host_iteration_polls: 0,
            readback_policy: FlagReadback::FinalFlagOnly,
        })
    }
}

impl ConvergenceContract {
    /// A contract of at most this many iterations.
    ///
    /// # Errors
    /// [`ConvergenceError::EmptyIterationBudget`] for 0.
    pub const fn device_resident(max_device_iterations: u32) -> Result<Self, ConvergenceError> {
        ConvergenceRequest {
            max_device_iterations,
            changed_flag_bytes: CHANGED_FLAG_BYTES,
            requested_host_iteration_polls: 0,
        }
        .contract()
    }

    /// Iterations after which the device stops without convergence.
    #[must_use]
    pub const fn max_device_iterations(&self) -> u32 {
        self.max_device_iterations
    }

    /// Synchronisations of the host with the device.
    #[must_use]
    pub const fn host_sync_points(&self) -> u32 {
        self.host_sync_points
    }

    /// Bytes of the changed flag that the host reads at the end.
    #[must_use]
    pub const fn changed_flag_readback_bytes(&self) -> u32 {
        self.changed_flag_readback_bytes
    }

    /// Reads of the flag by the host before the end.
    #[must_use]
    pub const fn host_iteration_polls(&self) -> u32 {
        self.host_iteration_polls
    }

    /// Returns the end of the fixpoint after `iteration` (the first is 1), or `None` to continue.
    ///
    /// `changed_flag` is the word of the flag after all writers of this iteration: the number of the
    /// last iteration that changed anything. The device can call this: it only compares.
    #[must_use]
    pub const fn after_iteration(&self, iteration: u32, changed_flag: u32) -> Option<Outcome> {
        if !changed_in(iteration, changed_flag) {
            Some(Outcome::Converged {
                iterations: iteration,
            })
        } else if iteration >= self.max_device_iterations {
            Some(Outcome::Exhausted {
                iterations: iteration,
            })
        } else {
            None
        }
    }
}

/// The word that a writer stores into the changed flag during `iteration`, counted from 1.
///
/// Every writer of an iteration stores the same word, so their order does not matter.
#[must_use]
pub const fn changed_tag(iteration: u32) -> u32 {
    iteration
}

/// Returns whether `iteration` changed anything, according to the flag.
#[must_use]
pub const fn changed_in(iteration: u32, changed_flag: u32) -> bool {
    changed_flag == changed_tag(iteration)
}

/// The end of a fixpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "outcome", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Outcome {
    /// The last iteration changed nothing.
    Converged {
        /// Iterations run, the last one included.
        iterations: u32,
    },
    /// The last allowed iteration still changed something; the result is not a fixpoint.
    Exhausted {
        /// Iterations run.
        iterations: u32,
    },
}

/// The reason why a request is no device-resident fixpoint.
///
/// ```
/// use seawall_core::convergence::ConvergenceContract;
/// let error = ConvergenceContract::device_resident(0).unwrap_err();
/// assert_eq!(error.kind(), "empty_iteration_budget");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ConvergenceError {
    /// No iteration is allowed.
    #[error("0 iterations cannot reach a fixpoint; allow at least 1")]
    EmptyIterationBudget,
    /// The changed flag is not one device word.
    #[error("a changed flag of {bytes} bytes; it is one word of {CHANGED_FLAG_BYTES}")]
    InvalidChangedFlagWidth {
        /// Bytes that were asked for.
        bytes: u32,
    },
    /// The host asks to read the flag between iterations.
    #[error("{polls} polls from the host; ask for 0, the device ends the loop by itself")]
    HostPolledConvergence {
        /// Reads that were asked for.
        polls: u32,
    },
}

kinds! { ConvergenceError {
    EmptyIterationBudget => "empty_iteration_budget",
    InvalidChangedFlagWidth => "invalid_changed_flag_width",
    HostPolledConvergence => "host_polled_convergence",
} }
