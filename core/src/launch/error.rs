//! Reasons why a queue cannot be launched.

/// The reason why a request has no launch plan.
///
/// ```
/// use seawall_core::launch::{LaunchPolicy, LaunchRequest};
/// // Limits of 0 are no adapter's.
/// let error = LaunchPolicy::STANDARD.plan(&LaunchRequest::default(), None).unwrap_err();
/// assert_eq!(error.kind(), "zero_limit");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LaunchError {
    /// An adapter limit is 0.
    #[error("adapter limit {field} is 0; query the adapter before planning")]
    ZeroLimit {
        /// The limit's field.
        field: &'static str,
    },
    /// The queue, rounded up to whole groups, exceeds 32 bits.
    #[error(
        "{queue_len} items rounded up to groups of {lanes_per_group} lanes exceed 32 bits; split \
         the queue"
    )]
    QueueTooLong {
        /// Items in the queue.
        queue_len: u32,
        /// Lanes of one group.
        lanes_per_group: u32,
    },
    /// The derived hit capacity exceeds 32 bits.
    #[error(
        "hits of {queue_len} items with {expected_hits_per_item} each exceed 32 bits; split the \
         queue or request a capacity"
    )]
    HitCapacityOverflow {
        /// Items in the queue.
        queue_len: u32,
        /// Hits expected of one item.
        expected_hits_per_item: u32,
    },
    /// Resident bytes and the hit buffer's exceed 64 bits.
    #[error(
        "{resident_bytes} resident bytes and {hit_capacity} hits exceed 64 bits; check the \
         resident byte count"
    )]
    PeakBytesOverflow {
        /// Bytes that stay on the device.
        resident_bytes: u64,
        /// Entries of the hit buffer.
        hit_capacity: u32,
    },
    /// The launch does not fit its budget.
    #[error(
        "the launch needs {requested} bytes of {available}; raise the budget or request a \
         smaller hit capacity"
    )]
    OutOfMemory {
        /// Bytes that it needs.
        requested: u64,
        /// Bytes that it may use.
        available: u64,
    },
}

kinds! { LaunchError {
    ZeroLimit => "zero_limit",
    QueueTooLong => "queue_too_long",
    HitCapacityOverflow => "hit_capacity_overflow",
    PeakBytesOverflow => "peak_bytes_overflow",
    OutOfMemory => "out_of_memory",
} }
