//! Output that is compressed on the way.
//!
//! Knows nothing of graphs.

use std::io::{self, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use lzma_rust2::{XzOptions, XzWriter};

use crate::Compression;
use crate::file::{Output, Section, write_in_order};

/// Level of xz: higher ones double the time for a few per cent.
const XZ_PRESET: u32 = 3;

/// Destination of a written graph.
pub(super) struct Sink {
    encoder: Encoder,
    bytes: u64,
}

enum Encoder {
    Plain(Output),
    Gzip(Box<GzEncoder<Output>>),
    Xz(Box<XzWriter<Output>>),
}

impl Sink {
    pub(super) fn create(path: &Path, compression: Compression) -> io::Result<Self> {
        let output = Output::create(path)?;
        let encoder = match compression {
            Compression::None => Encoder::Plain(output),
            Compression::Gzip => Encoder::Gzip(Box::new(GzEncoder::new(
                output,
                flate2::Compression::default(),
            ))),
            Compression::Xz => Encoder::Xz(Box::new(XzWriter::new(
                output,
                XzOptions::with_preset(XZ_PRESET),
            )?)),
            Compression::Bzip2 | Compression::Zstd => {
                return Err(io::ErrorKind::Unsupported.into());
            }
        };
        Ok(Self { encoder, bytes: 0 })
    }

    /// Writes the whole content: sections in order, and zeros between them.
    pub(super) fn write_sections(&mut self, sections: &[Section<'_>]) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(output) => {
                output.write_sections(sections)?;
                let end = sections
                    .last()
                    .map(|(start, last)| start + last.len() as u64);
                self.bytes = end.unwrap_or(0);
                Ok(())
            }
            _ => write_in_order(sections, self),
        }
    }

    /// Ends the stream and the output; returns the bytes written before compression.
    pub(super) fn finish(self) -> io::Result<u64> {
        let output = match self.encoder {
            Encoder::Plain(output) => output,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Xz(encoder) => encoder.finish()?,
        };
        output.finish()?;
        Ok(self.bytes)
    }
}

impl Write for Sink {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = match &mut self.encoder {
            Encoder::Plain(output) => output.write(buffer),
            Encoder::Gzip(encoder) => encoder.write(buffer),
            Encoder::Xz(encoder) => encoder.write(buffer),
        }?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(output) => output.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Xz(encoder) => encoder.flush(),
        }
    }
}
