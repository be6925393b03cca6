//! The places of the code whose accesses order others.

/// A place where an access is ordered before or after others.
///
/// Every access that is not relaxed names its place, so this list has all of them. Each of
/// [`Site::ALL`] is needed: the model checker runs the code without the order of one place at a
/// time, and finds a failure for each (`tests/loom`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Site {
    /// A host reserves an empty slot, after its previous answer was read.
    Reserve,
    /// A host frees a slot whose answer it has read.
    Free,
    /// A host hands a slot to the workers, with its payload.
    Publish,
    /// A worker claims a slot, with its payload.
    Claim,
    /// A worker puts a slot back, with its continuation.
    PutBack,
    /// A worker ends a slot, with its completion and all that it wrote.
    End,
    /// A worker ends a slot by a sealed status, with its writes besides the completion.
    Seal,
    /// A host checks whether a slot has ended.
    Poll,
    /// The same where statuses are sealed.
    Ended,
    /// A member of a batch has ended.
    Member,
    /// A fence reads the count of members that ended.
    Members,
    /// A fence begins the next epoch.
    NextEpoch,
    /// The epoch is read, with the writes of the batches before it.
    Epoch,
    /// Workers are asked to end, after all that was posted.
    ShutDown,
    /// A worker checks whether to end.
    ShouldEnd,
    /// A printer takes the place of an older record, after its words.
    PrintPlace,
    /// A printer writes a word, after the mark that the record is being written.
    PrintWord,
    /// A printer publishes a record, after its words.
    PrintShown,
    /// A reader of the log checks whether a record is there, before its words.
    PrintPoll,
    /// A reader of the log reads a word before it checks again whether the record is there.
    PrintRead,
    /// A block arrives at the barrier of a grid.
    Arrive,
    /// A block polls how many have arrived.
    Arrivals,
    /// The last block of a group sees the writes of the others.
    LastArrival,
    /// A block publishes its writes to the last one.
    OtherArrival,
    /// A thread publishes a word to its thread group.
    Tell,
    /// A thread receives a word from its thread group.
    Hear,
    /// A device publishes its mail, and what it wrote for others before, to another device.
    Mail,
    /// A device polls for the mail of another.
    MailPoll,
    /// A place outside the protocol and the barriers, between one machine's kernel and its host. The
    /// checker does not run that code.
    Machine,
}

impl Site {
    /// All places that the checker covers.
    pub const ALL: [Self; 28] = [
        Self::Reserve,
        Self::Free,
        Self::Publish,
        Self::Claim,
        Self::PutBack,
        Self::End,
        Self::Seal,
        Self::Poll,
        Self::Ended,
        Self::Member,
        Self::Members,
        Self::NextEpoch,
        Self::Epoch,
        Self::ShutDown,
        Self::ShouldEnd,
        Self::PrintPlace,
        Self::PrintWord,
        Self::PrintShown,
        Self::PrintPoll,
        Self::PrintRead,
        Self::Arrive,
        Self::Arrivals,
        Self::LastArrival,
        Self::OtherArrival,
        Self::Tell,
        Self::Hear,
        Self::Mail,
        Self::MailPoll,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_but_the_machines_own_is_listed_in_turn() {
        let listed = Site::ALL.map(|site| site as usize);
        assert!(listed.into_iter().eq(0..Site::Machine as usize));
    }
}
