//! Reasons why a queue cannot be launched.

use core::fmt;

/// The reason why a request has no launch plan.
///
/// ```
/// use seawall_core::launch::{LaunchPolicy, LaunchRequest};
/// // Limits of 0 are no adapter's.
/// let error = LaunchPolicy::STANDARD.plan(&LaunchRequest::default(), None).unwrap_err();
/// assert_eq!(error.kind(), "zero_limit");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "kind", rename_all = "snake_case")
)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LaunchError {
    /// An adapter limit is 0.
    ZeroLimit {
        /// The limit's field.
        field: &'static str,
    },
    /// The queue, rounded up to whole groups, exceeds 32 bits.
    QueueTooLong {
        /// Items in the queue.
        queue_len: u32,
        /// Lanes of one group.
        lanes_per_group: u32,
    },
    /// The derived hit capacity exceeds 32 bits.
    HitCapacityOverflow {
        /// Items in the queue.
        queue_len: u32,
        /// Hits expected of one item.
        expected_hits_per_item: u32,
    },
    /// Resident bytes and the hit buffer's exceed 64 bits.
    PeakBytesOverflow {
        /// Bytes that stay on the device.
        resident_bytes: u64,
        /// Entries of the hit buffer.
        hit_capacity: u32,
    },
    /// The launch does not fit its budget.
    OutOfMemory {
        /// Bytes that it needs.
        requested: u64,
        /// Bytes that it may use.
        available: u64,
    },
}

impl LaunchError {
    /// The error's name in snake case.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ZeroLimit { .. } => "zero_limit",
            Self::QueueTooLong { .. } => "queue_too_long",
            Self::HitCapacityOverflow { .. } => "hit_capacity_overflow",
            Self::PeakBytesOverflow { .. } => "peak_bytes_overflow",
            Self::OutOfMemory { .. } => "out_of_memory",
        }
    }
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroLimit { field } => {
                write!(
                    f,
                    "adapter limit {field} is 0; query the adapter before planning"
                )
            }
            Self::QueueTooLong {
                queue_len,
                lanes_per_group,
            } => write!(
                f,
                "{queue_len} items rounded up to groups of {lanes_per_group} lanes exceed 32 bits; \
                 split the queue"
            ),
            Self::HitCapacityOverflow {
                queue_len,
                expected_hits_per_item,
            } => write!(
                f,
                "hits of {queue_len} items with {expected_hits_per_item} each exceed 32 bits; \
                 split the queue or request a capacity"
            ),
            Self::PeakBytesOverflow {
                resident_bytes,
                hit_capacity,
            } => write!(
                f,
                "{resident_bytes} resident bytes and {hit_capacity} hits exceed 64 bits; \
                 check the resident byte count"
            ),
            Self::OutOfMemory {
                requested,
                available,
            } => write!(
                f,
                "the launch needs {requested} bytes of {available}; \
                 raise the budget or request a smaller hit capacity"
            ),
        }
    }
}

impl core::error::Error for LaunchError {}
