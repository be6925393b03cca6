//! Carriers of words between the processes of a run, called ranks as in MPI.

/// Carries words between the ranks of a run, in which each rank has a part of the graph.
///
/// All ranks call [`Carrier::all_gather`] equally often, with the same counts. The crate
/// `seawall-cluster` has one over MPI.
pub trait Carrier: Send {
    /// The number of this rank, from 0.
    fn rank(&self) -> u32;

    /// The number of ranks, at least 1.
    fn ranks(&self) -> u32;

    /// Sends `own` to all ranks, and returns the words of all, one rank's after another's: of rank
    /// `r` as many as element `r` of `counts` says. Waits for the slowest.
    ///
    /// # Errors
    /// [`CarrierError`] if a rank is gone or does not answer; this carrier takes no further calls.
    fn all_gather(&mut self, own: &[u32], counts: &[usize]) -> Result<Vec<u32>, CarrierError>;
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
