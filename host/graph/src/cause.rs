//! Who can help when something fails: who asked, or who owns the machine.
//!
//! Scripts tell the two apart, so every error of the library says which one it is.

use std::io::{self, ErrorKind};

/// Whether another request would help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// What was asked or given is wrong; the same request fails everywhere.
    Request,
    /// What was asked is sound and could not be done: the machine has not enough of
    /// something, does not let us, or failed.
    Failure,
}

impl Cause {
    /// The cause of what the system answered: a name that leads nowhere and content that
    /// is none are the request's, everything else (permissions, full disks, closed pipes,
    /// broken devices) is not.
    ///
    /// ```
    /// use seawall_graph::Cause;
    /// use std::io::ErrorKind;
    ///
    /// assert_eq!(Cause::of_io(&ErrorKind::NotFound.into()), Cause::Request);
    /// assert_eq!(Cause::of_io(&ErrorKind::StorageFull.into()), Cause::Failure);
    /// ```
    #[must_use]
    pub fn of_io(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData
            | ErrorKind::UnexpectedEof => Self::Request,
            _ => Self::Failure,
        }
    }
}
