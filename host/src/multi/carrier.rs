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

    /// Sends to each rank `r` the words of element `r` of `parts`, and puts what all ranks sent to this
    /// one into `all`, one rank's after another's. All ranks call this equally often. Without a way of
    /// its own a carrier sends all words to all.
    ///
    /// # Errors
    /// As [`all_gather`](Self::all_gather).
    fn all_to_all(&mut self, parts: &[Vec<u32>], all: &mut Vec<u32>) -> Result<(), CarrierError> {
        let counts = counts_of_all(self, parts)?;
        let (own, ranks) = (self.rank() as usize, parts.len());
        let sent: Vec<usize> = counts.chunks(ranks).map(|row| row.iter().sum()).collect();
        let mut words = Vec::new();
        self.all_gather(&parts.concat(), &sent, &mut words)?;
        all.clear();
        let mut rest = &words[..];
        for row in counts.chunks(ranks) {
            let mut row_words = rest.split_off(..row.iter().sum()).unwrap_or_default();
            for (to, count) in row.iter().enumerate() {
                let part = row_words.split_off(..*count).unwrap_or_default();
                if to == own {
                    all.extend_from_slice(part);
                }
            }
        }
        Ok(())
    }
}

/// Words that each rank sends to each, a row for each sender.
///
/// # Errors
/// As [`Carrier::all_gather`].
#[doc(hidden)]
pub fn counts_of_all<C: Carrier + ?Sized>(
    carrier: &mut C,
    parts: &[Vec<u32>],
) -> Result<Vec<usize>, CarrierError> {
    let own: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
    let mut all = Vec::new();
    let counts = vec![2 * own.len(); carrier.ranks() as usize];
    carrier.all_gather(cast_slice(&own), &counts, &mut all)?;
    let counts: Vec<u64> = pod_collect_to_vec(&all);
    Ok(counts.into_iter().map(|count| count as usize).collect())
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
