//! A file that appears whole or not at all, compressed on the way.
//!
//! Knows nothing of graphs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};

use crate::Compression;

/// Effort of xz: beyond this, time doubles for a few per cent.
const XZ_PRESET: u32 = 3;
const BUFFER_BYTES: usize = 256 << 10;

/// Where a graph is written.
pub(super) struct Sink {
    encoder: Encoder,
    target: Target,
    bytes: u64,
}

enum Encoder {
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
    Xz(Box<XzWriter<BufWriter<File>>>),
}

/// The path being written, and what becomes of it.
struct Target {
    path: PathBuf,
    /// The neighbour that is written first; none for devices and pipes, which cannot be replaced.
    draft: Option<PathBuf>,
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(draft) = &self.draft {
            // Nothing can be done about a draft that cannot be removed.
            let _ = fs::remove_file(draft);
        }
    }
}

impl Sink {
    /// Opens a draft beside the path, or a device itself.
    pub(super) fn create(path: &Path, compression: Compression) -> io::Result<Self> {
        let replaceable = fs::metadata(path).map_or(true, |about| about.is_file());
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (file, draft) = if replaceable {
            let draft = draft_of(path)?;
            (
                OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .open(&draft)?,
                Some(draft),
            )
        } else {
            (OpenOptions::new().write(true).open(path)?, None)
        };
        let target = Target {
            path: path.to_owned(),
            draft,
        };
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        let encoder = match compression {
            Compression::None => Encoder::Plain(file),
            Compression::Gzip => Encoder::Gzip(Box::new(GzEncoder::new(
                file,
                flate2::Compression::default(),
            ))),
            Compression::Xz => Encoder::Xz(Box::new(XzWriter::new(
                file,
                XzOptions::with_preset(XZ_PRESET),
            )?)),
        };
        Ok(Self {
            encoder,
            target,
            bytes: 0,
        })
    }

    /// Ends the stream, flushes it and gives the file its name; the bytes written before compression.
    pub(super) fn finish(self) -> io::Result<u64> {
        let Self {
            encoder,
            mut target,
            bytes,
        } = self;
        let file = match encoder {
            Encoder::Plain(file) => file,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Xz(encoder) => encoder.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(draft) = &target.draft {
            fs::rename(draft, &target.path)?;
        }
        target.draft = None;
        Ok(bytes)
    }
}

impl Write for Sink {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = match &mut self.encoder {
            Encoder::Plain(file) => file.write(buffer),
            Encoder::Gzip(encoder) => encoder.write(buffer),
            Encoder::Xz(encoder) => encoder.write(buffer),
        }?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(file) => file.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Xz(encoder) => encoder.flush(),
        }
    }
}

fn draft_of(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut draft = std::ffi::OsString::from(".");
    draft.push(name);
    draft.push(format!(".{}.part", std::process::id()));
    Ok(path.with_file_name(draft))
}
