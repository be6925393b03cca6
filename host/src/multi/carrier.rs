//! Carriers of words between the processes of a run, called ranks as in MPI.

use crate::backend::BackendError;
use crate::units::counted;
use bytemuck::{AnyBitPattern, NoUninit, cast_slice, pod_collect_to_vec};

/// Carries words between the ranks of a run, in which each rank has a part of the graph.
///
/// All ranks call [`Carrier::all_gather`] equally often, with the same counts. The crate
/// `seawall-cluster` has one over MPI.
pub trait Carrier: Send {
    /// The number of this rank, from 0.
    fn rank(&self) -> u32;

    /// The number of ranks, at least 1.
    fn ranks(&self) -> u32;

    /// Sends `own` to all ranks, and puts the words of all into `all`, one rank's after another's: of
    /// rank `r` as many as element `r` of `counts` says. What is there is overwritten; its memory is used
    /// again, as new memory takes longer than the words. Waits for the slowest.
    ///
    /// # Errors
    /// [`CarrierError`] if a rank is gone or does not answer; this carrier takes no further calls.
    fn all_gather(
        &mut self,
        own: &[u32],
        counts: &[usize],
        all: &mut Vec<u32>,
    ) -> Result<(), CarrierError>;
}

/// A rank is gone, or does not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank} is lost: {problem}")]
#[non_exhaustive]
pub struct CarrierError {
    /// Number of the rank.
    pub rank: u32,
    /// The known facts, such as its host.
    pub problem: String,
}

impl CarrierError {
    /// An error of rank `rank`.
    #[must_use]
    pub const fn new(rank: u32, problem: String) -> Self {
        Self { rank, problem }
    }
}

/// Returns the values of all ranks, one rank's after another's, each as many as `own`.
pub(crate) fn gather_alike<T: NoUninit + AnyBitPattern>(
    carrier: &mut dyn Carrier,
    own: &[T],
) -> Result<Vec<T>, BackendError> {
    let own: &[u32] = cast_slice(own);
    let counts = vec![own.len(); carrier.ranks() as usize];
    Ok(pod_collect_to_vec(&gather(carrier, own, &counts)?))
}

/// Returns the words of all ranks, one rank's after another's, of each as many as `counts` says.
pub(crate) fn gather(
    carrier: &mut dyn Carrier,
    own: &[u32],
    counts: &[usize],
) -> Result<Vec<u32>, BackendError> {
    let mut all = Vec::new();
    carrier.all_gather(own, counts, &mut all).map_err(lost)?;
    Ok(all)
}

/// The words of each rank, given those of all.
pub(crate) fn split<'w>(mut words: &'w [u32], counts: &[usize]) -> impl Iterator<Item = &'w [u32]> {
    let parts = counts.iter();
    parts.map(move |count| words.split_off(..*count).unwrap_or_default())
}

/// The name of ranks, by that of the device of one.
pub(crate) fn name_of_ranks(ranks: u32, device: &str) -> String {
    format!("{} of {device}", counted(ranks.into(), "rank"))
}

pub(crate) fn lost(CarrierError { rank, problem }: CarrierError) -> BackendError {
    BackendError::RankLost { rank, problem }
}
