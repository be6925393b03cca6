//! Errors of an archive of arrays.

use crate::build::MAX_NODES;

/// An error of an `.npz` archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveProblem {
    /// An archive that ends before its last member.
    #[error("the archive ends early; it is truncated")]
    Truncated,
    /// A missing member header.
    #[error("member {number} of the archive does not start like one")]
    Member {
        /// Number of this member, from 1.
        number: u32,
    },
    /// A member that is encrypted, packed by an unknown method, or streamed.
    #[error(
        "member {member} is packed by method {method} with flags {flags:#x}; \
         write the file with scipy.sparse.save_npz, and not to a pipe"
    )]
    Method {
        /// The member.
        member: String,
        /// Compression method.
        method: u16,
        /// Flags of the member.
        flags: u16,
    },
    /// A damaged member.
    #[error("member {member} has the checksum {found:#010x}, its header says {expected:#010x}")]
    Sum {
        /// The member.
        member: String,
        /// Checksum in its header.
        expected: u32,
        /// Checksum of its bytes.
        found: u32,
    },
    /// A member that is not the expected array, or ends early.
    #[error("member {member}: {reason}")]
    Array {
        /// The member.
        member: String,
        /// The problem.
        reason: String,
    },
    /// A weight below zero, where weights have no sign.
    #[error("member {member}: its number {at} is a negative weight ({value})")]
    NegativeWeight {
        /// The member.
        member: String,
        /// Its position, from 0.
        at: u64,
        /// The weight.
        value: String,
    },
    /// A required member is missing.
    #[error("it has no member {member}.npy; write the file with scipy.sparse.save_npz")]
    Missing {
        /// The member.
        member: &'static str,
    },
    /// Two related members of different length.
    #[error("member {member}.npy has {found} numbers, expected {expected}")]
    Length {
        /// The member.
        member: &'static str,
        /// Length by the other members.
        expected: u64,
        /// Its length.
        found: u64,
    },
    /// A zip archive without arrays.
    #[error(
        "it is a zip archive of other files (the first is {member:?}); unpack it and give the file \
         that holds the graph"
    )]
    NoArrays {
        /// Its first member.
        member: String,
    },
    /// A sparse matrix in an unsupported layout.
    #[error("the layout {format:?} is not read; convert the matrix with .tocsr() before saving it")]
    Layout {
        /// The layout.
        format: String,
    },
    /// A matrix that is not square and two-dimensional.
    #[error(
        "the shape {shape:?} is not that of a graph, which has one row and column for each of at most \
         {MAX_NODES} nodes"
    )]
    Shape {
        /// Dimensions of the matrix.
        shape: Vec<u64>,
    },
}
