//! Decoding of Zstandard: frames one after the other, with their checksums verified.
//!
//! A frame chooses how much of its past a decoder keeps, and more than 128 MiB is refused.

use std::error::Error;
use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Most bytes of the past that a frame may ask for.
const WINDOW_BYTES: u64 = 128 << 20;

/// The content of all frames of a stream.
pub(super) struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
    is_open: bool,
}

impl<R: BufRead> ZstdReader<R> {
    pub(super) fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_BYTES);
        Self {
            source,
            decoder,
            is_open: false,
        }
    }

    /// Starts the next frame; returns false at the end of the stream.
    fn open(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = (&mut self.source).take(u64::from(length));
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(failed(&error)),
            }
        }
        Ok(false)
    }

    fn decode(&mut self) -> io::Result<()> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let step = BlockDecodingStrategy::UptoBlocks(1);
            let decoded = self.decoder.decode_blocks(&mut self.source, step);
            decoded.map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Verifies the checksum of a frame that was read.
    fn close(&mut self) -> io::Result<()> {
        self.is_open = false;
        let found = self.decoder.get_calculated_checksum();
        match self.decoder.get_checksum_from_data() {
            Some(expected) if found != Some(expected) => {
                Err(io::Error::other("the checksum of a frame differs"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if !self.is_open {
                self.is_open = self.open()?;
                if !self.is_open {
                    return Ok(0);
                }
            }
            self.decode()?;
            match self.decoder.read(buffer)? {
                0 => self.close()?,
                count => return Ok(count),
            }
        }
        Ok(0)
    }
}

/// The reason at the end of an error's chain.
fn failed(error: &FrameDecoderError) -> io::Error {
    let mut last: &dyn Error = error;
    while let Some(source) = last.source() {
        last = source;
    }
    let is_end = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    match last.downcast_ref::<io::Error>().is_some_and(is_end) {
        true => io::Error::new(io::ErrorKind::UnexpectedEof, "it ends within a frame"),
        false => io::Error::other(last.to_string()),
    }
}
