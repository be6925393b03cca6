//! Causes of an error: the request or the machine.
//!
//! Scripts tell the two apart, so every error of the library reports one of them.

use std::io::{self, ErrorKind};

/// Cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The request or its input is wrong; it fails on every machine.
    Request,
    /// The request is sound, but the machine lacks a resource, denies access, or failed.
    Failure,
}

impl Cause {
    /// Cause of an operating system's error. A name that leads nowhere and invalid content are the
    /// request's fault; everything else (permissions, full disks, closed pipes, broken devices) is
    /// not.
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
