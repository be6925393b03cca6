//! Members of a zip archive, one after the other.
//!
//! Reads the headers before the members and not the directory at the end, so that any stream will
//! do. Members are stored or deflated, as NumPy writes them; checksums are verified. This module
//! knows nothing of arrays.

use std::io::{self, BufReader, Read};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::source::Source;
use crate::{ArchiveProblem, GraphError};

/// First bytes of an archive with a member.
pub(super) const MAGIC: [u8; 4] = *b"PK\x03\x04";
/// First bytes of the directory after the members, and of the end of an empty archive.
const ENDS: [[u8; 4]; 2] = [*b"PK\x01\x02", *b"PK\x05\x06"];
/// Bytes of a header before the name.
const HEADER_BYTES: usize = 30;
/// Most members to visit.
const MEMBERS_MAX: u32 = 64;
/// Flags of members that are encrypted, and of those whose sizes follow them.
const ENCRYPTED: u16 = 1;
const STREAMED: u16 = 8;
/// Placeholder of a size that needs 64 bits.
const LARGE: u32 = u32::MAX;

/// Adapter from a source to a reader.
struct Bytes<'a>(&'a mut Source);

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.fill(buffer).map_err(io::Error::other)
    }
}

pub(super) struct Zip<'a> {
    name: String,
    stream: BufReader<Bytes<'a>>,
    members: u32,
}

pub(super) struct Member<'z, 'a> {
    pub(super) name: String,
    archive: &'z str,
    content: Content<'z, 'a>,
    sum: Crc,
    expected_sum: u32,
    size: u64,
}

type Packed<'z, 'a> = io::Take<&'z mut BufReader<Bytes<'a>>>;

enum Content<'z, 'a> {
    Stored(Packed<'z, 'a>),
    Deflated(DeflateDecoder<Packed<'z, 'a>>),
}

impl<'a> Zip<'a> {
    /// Starts at the first byte of an archive.
    pub(super) fn new(source: &'a mut Source) -> Self {
        Self {
            name: source.name.clone(),
            stream: BufReader::new(Bytes(source)),
            members: 0,
        }
    }

    /// Returns the next member; the previous one must be read to its end.
    pub(super) fn next(&mut self) -> Result<Option<Member<'_, 'a>>, GraphError> {
        let mut header = [0; HEADER_BYTES];
        self.fill(&mut header[..4])?;
        if ENDS.iter().any(|end| header.starts_with(end)) {
            return Ok(None);
        }
        self.members += 1;
        if !header.starts_with(&MAGIC) || self.members > MEMBERS_MAX {
            return Err(self.bad(ArchiveProblem::Member {
                number: self.members,
            }));
        }
        self.fill(&mut header[4..])?;
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let mut name = vec![0; usize::from(half(26))];
        self.fill(&mut name)?;
        let mut extra = vec![0; usize::from(half(28))];
        self.fill(&mut extra)?;
        let name = String::from_utf8_lossy(&name).into_owned();
        let (flags, method) = (half(6), half(8));
        if flags & (ENCRYPTED | STREAMED) != 0 || !matches!(method, 0 | 8) {
            if !name.ends_with(".npy") {
                return Err(self.bad(ArchiveProblem::NoArrays { member: name }));
            }
            return Err(self.bad(ArchiveProblem::Method {
                member: name,
                method,
                flags,
            }));
        }
        let (size, packed) = sizes([word(22), word(18)], &extra);
        let content = (&mut self.stream).take(packed);
        Ok(Some(Member {
            name,
            archive: &self.name,
            content: match method {
                0 => Content::Stored(content),
                _ => Content::Deflated(DeflateDecoder::new(content)),
            },
            sum: Crc::new(),
            expected_sum: word(14),
            size,
        }))
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), GraphError> {
        let filled = self.stream.read_exact(buffer);
        filled.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.bad(ArchiveProblem::Truncated),
            _ => failed(&self.name, "the archive", error),
        })
    }

    fn bad(&self, problem: ArchiveProblem) -> GraphError {
        GraphError::Archive {
            file: self.name.clone(),
            problem,
        }
    }
}

/// Returns the sizes of a member after and before compression, which may be in the extra field.
fn sizes(header: [u32; 2], extra: &[u8]) -> (u64, u64) {
    let mut wide = wide_sizes(extra);
    let mut size = |word: u32| match wide.split_first_chunk() {
        Some((bytes, rest)) if word == LARGE => {
            wide = rest;
            u64::from_le_bytes(*bytes)
        }
        _ => u64::from(word),
    };
    (size(header[0]), size(header[1]))
}

/// Finds the 64-bit sizes in the extra field.
fn wide_sizes(mut extra: &[u8]) -> &[u8] {
    while let [a, b, c, d, rest @ ..] = extra {
        let length = usize::from(u16::from_le_bytes([*c, *d])).min(rest.len());
        if u16::from_le_bytes([*a, *b]) == 1 {
            return &rest[..length];
        }
        extra = &rest[length..];
    }
    &[]
}

impl Member<'_, '_> {
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<(), GraphError> {
        let filled = match &mut self.content {
            Content::Stored(content) => content.read_exact(buffer),
            Content::Deflated(content) => content.read_exact(buffer),
        };
        filled.map_err(|error| failed(self.archive, &self.name, error))?;
        self.sum.update(buffer);
        Ok(())
    }

    pub(super) fn left(&self) -> u64 {
        self.size.saturating_sub(self.taken())
    }

    fn taken(&self) -> u64 {
        match &self.content {
            Content::Stored(content) => self.size.saturating_sub(content.limit()),
            Content::Deflated(content) => content.total_out(),
        }
    }

    /// Skips the rest, and verifies the checksum.
    pub(super) fn finish(mut self) -> Result<(), GraphError> {
        let mut buffer = [0; 1 << 14];
        while self.left() > 0 {
            let step = self.left().min(buffer.len() as u64) as usize;
            self.fill(&mut buffer[..step])?;
        }
        let found = self.sum.sum();
        let trailing = match &mut self.content {
            Content::Stored(_) => 0,
            Content::Deflated(content) => content
                .read(&mut buffer)
                .map_err(|error| failed(self.archive, &self.name, error))?,
        };
        let packed = match self.content {
            Content::Stored(content) => content,
            Content::Deflated(content) => content.into_inner(),
        };
        if trailing > 0 || packed.limit() > 0 || found != self.expected_sum {
            return Err(GraphError::Archive {
                file: self.archive.to_owned(),
                problem: ArchiveProblem::Sum {
                    member: self.name,
                    expected: self.expected_sum,
                    found,
                },
            });
        }
        Ok(())
    }

    pub(super) fn bad(&self, reason: String) -> GraphError {
        let member = self.name.clone();
        self.refused(ArchiveProblem::Array { member, reason })
    }

    /// Returns the error for a negative weight at a position of this member.
    pub(super) fn negative(&self, at: u64, value: String) -> GraphError {
        let member = self.name.clone();
        self.refused(ArchiveProblem::NegativeWeight { member, at, value })
    }

    fn refused(&self, problem: ArchiveProblem) -> GraphError {
        GraphError::Archive {
            file: self.archive.to_owned(),
            problem,
        }
    }
}

/// Classifies an error of the source under the archive, or a member that ends early.
fn failed(file: &str, member: &str, error: io::Error) -> GraphError {
    let reason = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends early".to_owned(),
        _ => error.to_string(),
    };
    let truncated = || GraphError::Archive {
        file: file.to_owned(),
        problem: ArchiveProblem::Array {
            member: member.to_owned(),
            reason,
        },
    };
    match error.downcast::<GraphError>() {
        Ok(error) => error,
        Err(_) => truncated(),
    }
}
