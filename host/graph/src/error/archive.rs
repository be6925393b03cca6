//! Problems of an archive of arrays.

/// A problem of an `.npz` archive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveProblem {
    /// No header of a member where one should be.
    #[error("member {number} of the archive does not start like one")]
    Member {
        /// Members before it, and it.
        number: u32,
    },
    /// A member that is encrypted, packed in another way, or written to a pipe.
    #[error(
        "member {member} is packed by method {method} with flags {flags:#x}; \
         write the file with scipy.sparse.save_npz, and not to a pipe"
    )]
    Method {
        /// The member.
        member: String,
        /// Method of compression.
        method: u16,
        /// Flags of the member.
        flags: u16,
    },
    /// A damaged member.
    #[error("member {member} has the checksum {found:#010x}, its header says {expected:#010x}")]
    Sum {
        /// The member.
        member: String,
        /// By its header.
        expected: u32,
        /// Of its bytes.
        found: u32,
    },
    /// A member that is not the array it should be, or ends early.
    #[error("member {member}: {reason}")]
    Array {
        /// The member.
        member: String,
        /// A problem of it.
        reason: String,
    },
    /// A member that such a matrix has is not there.
    #[error("it has no member {member}.npy; write the file with scipy.sparse.save_npz")]
    Missing {
        /// The member.
        member: &'static str,
    },
    /// Two members that go together differ in length.
    #[error("member {member}.npy has {found} numbers, expected {expected}")]
    Length {
        /// The member.
        member: &'static str,
        /// By the other members.
        expected: u64,
        /// Numbers in it.
        found: u64,
    },
    /// A sparse matrix in another layout.
    #[error("the layout {format:?} is not read; convert the matrix with .tocsr() before saving it")]
    Layout {
        /// The layout.
        format: String,
    },
    /// A matrix with other dimensions.
    #[error("the shape {shape:?} is not that of a graph, which has one row and column a node")]
    Shape {
        /// Extents of the matrix.
        shape: Vec<u64>,
    },
}
