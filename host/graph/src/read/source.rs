//! Sources of bytes: a file or standard input, decompressed on the way.
//!
//! Plain files are read, not mapped: a page of text is needed once, mapped pages would count as
//! memory until the end, and a file that shrinks under a map kills the process. The first bytes
//! determine the compression, never the name. This module knows nothing of lines or formats.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use lzma_rust2::XzReader;

use super::gzip::GzipReader;
use super::zstd::ZstdReader;
use crate::{Compression, GraphError};

/// Bytes that identify the compression.
const MAGIC_BYTES: u64 = 6;
/// Largest dictionary accepted, so that a header cannot choose our memory. `xz -9` uses 64 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;
/// Bytes read from the system at once.
const READ_BYTES: usize = 256 << 10;

/// A sequence of bytes from anywhere.
pub(super) type Stream = Box<dyn Read + Send>;

/// An opened input.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) compression: Compression,
    /// Size of the file, if it is one.
    pub(super) total: Option<u64>,
    /// The file itself, for reads at any position; `None` for standard input.
    pub(super) file: Option<File>,
    raw_bytes: Arc<AtomicU64>,
    decoded_bytes: u64,
    stream: Stream,
}

impl Source {
    /// Opens a path, or standard input for `-`.
    pub(super) fn open(path: &OsStr) -> Result<Self, GraphError> {
        if path == "-" {
            return Self::start("standard input", Box::new(io::stdin()), None, None);
        }
        let name = if path.is_empty() {
            "\"\"".into()
        } else {
            path.to_string_lossy()
        };
        let fail = |action| {
            let file = name.to_string();
            move |source| GraphError::Io {
                file,
                action,
                source,
            }
        };
        let file = File::open(path).map_err(fail("open"))?;
        let about = file.metadata().map_err(fail("read"))?;
        if about.is_dir() {
            return Err(fail("read")(io::ErrorKind::IsADirectory.into()));
        }
        let total = about.is_file().then_some(about.len());
        let reader = file.try_clone().map_err(fail("open"))?;
        Self::start(
            &name,
            Box::new(reader),
            total,
            about.is_file().then_some(file),
        )
    }

    /// Wraps a reader of unknown length.
    pub(super) fn of_reader(name: &str, reader: Stream) -> Result<Self, GraphError> {
        Self::start(name, reader, None, None)
    }

    /// Wraps bytes in memory.
    #[cfg(test)]
    pub(super) fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, GraphError> {
        let total = Some(bytes.len() as u64);
        Self::start(name, Box::new(Cursor::new(bytes)), total, None)
    }

    fn start(
        name: &str,
        raw: Stream,
        total: Option<u64>,
        file: Option<File>,
    ) -> Result<Self, GraphError> {
        let raw_bytes = Arc::new(AtomicU64::new(0));
        let mut raw = Counted {
            inner: raw,
            count: Arc::clone(&raw_bytes),
        };
        let mut head = Vec::new();
        let io = |source| GraphError::Io {
            file: name.to_owned(),
            action: "read",
            source,
        };
        Read::take(&mut raw, MAGIC_BYTES)
            .read_to_end(&mut head)
            .map_err(io)?;
        if head.is_empty() {
            return Err(GraphError::Empty {
                file: name.to_owned(),
            });
        }
        let compression = compression_of(&head);
        let whole = Cursor::new(head).chain(raw);
        let buffered = BufReader::with_capacity(READ_BYTES, whole);
        let stream: Stream = match compression {
            Compression::None => Box::new(buffered),
            Compression::Gzip => Box::new(GzipReader::new(buffered)),
            Compression::Xz => Box::new(XzReader::new_mem_limit(buffered, true, XZ_MEMORY_KIB)),
            Compression::Bzip2 => Box::new(MultiBzDecoder::new(buffered)),
            Compression::Zstd => Box::new(ZstdReader::new(buffered)),
        };
        Ok(Self {
            name: name.to_owned(),
            compression,
            total,
            file,
            raw_bytes,
            decoded_bytes: 0,
            stream,
        })
    }

    /// Fills as much of the buffer as possible; less only at the end.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, GraphError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.stream.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error, filled)),
            }
        }
        self.decoded_bytes += filled as u64;
        Ok(filled)
    }

    /// Puts bytes back before the next ones.
    pub(super) fn unread(&mut self, bytes: &[u8]) {
        self.decoded_bytes -= bytes.len() as u64;
        let rest = std::mem::replace(&mut self.stream, Box::new(io::empty()));
        self.stream = Box::new(Cursor::new(bytes.to_vec()).chain(rest));
    }

    /// Bytes of the content, if they are known before it is read.
    pub(super) fn plain_bytes(&self) -> Option<u64> {
        self.total.filter(|_| self.compression == Compression::None)
    }

    /// Bytes of the file read so far.
    pub(super) fn raw_bytes(&self) -> u64 {
        self.raw_bytes.load(Ordering::Relaxed)
    }

    /// Bytes returned so far.
    pub(super) fn decoded_bytes(&self) -> u64 {
        self.decoded_bytes
    }

    fn failed(&self, error: io::Error, filled: usize) -> GraphError {
        let codec = match self.compression {
            Compression::None => return self.io("read", error),
            codec => codec.name(),
        };
        // A disk error under a decoder has an errno; a decoder's own error has none.
        if error.raw_os_error().is_some() {
            return self.io("read", error);
        }
        GraphError::Compressed {
            file: self.name.clone(),
            codec,
            produced: self.decoded_bytes + filled as u64,
            reason: error.to_string(),
        }
    }

    fn io(&self, action: &'static str, source: io::Error) -> GraphError {
        GraphError::Io {
            file: self.name.clone(),
            action,
            source,
        }
    }
}

fn compression_of(head: &[u8]) -> Compression {
    let mut all = Compression::ALL.into_iter();
    let found = all.find(|compression| head.starts_with(compression.magic()));
    found.unwrap_or_default()
}

/// Counts bytes as they pass, for progress.
struct Counted {
    inner: Stream,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
