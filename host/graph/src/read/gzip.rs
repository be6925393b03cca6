//! Decoding of gzip: members one after the other, and zeros that pad the last one, as tapes have them.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// The content of all members of a stream.
pub(super) struct GzipReader<R> {
    /// The open member; `None` at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> GzipReader<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            member: Some(GzDecoder::new(source)),
        }
    }
}

/// Skips zeros; returns whether anything follows.
fn skip_padding(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = match source.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let Some(&first) = bytes.iter().find(|byte| **byte != 0) else {
            let zeros = bytes.len();
            if zeros == 0 {
                return Ok(false);
            }
            source.consume(zeros);
            continue;
        };
        return match first {
            0x1f => Ok(true),
            _ => Err(io::Error::other("what follows a member is not gzip")),
        };
    }
}

impl<R: BufRead> Read for GzipReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 {
                return Ok(count);
            }
            let ended = self.member.take().map(GzDecoder::into_inner);
            if let Some(mut source) = ended
                && skip_padding(&mut source)?
            {
                self.member = Some(GzDecoder::new(source));
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::{BufReader, Write};

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8], step: usize) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        let source = BufReader::with_capacity(step, bytes);
        GzipReader::new(source).read_to_end(&mut content)?;
        Ok(content)
    }

    /// Bytes one at a time, each after an interrupt.
    struct Interrupted<'a>(&'a [u8], bool);

    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let step = buffer.len().min(1);
            self.0.read(&mut buffer[..step])
        }
    }

    #[test]
    fn interrupts_lose_nothing() {
        let both = [packed(b"1 2\n"), vec![0; 3], packed(b"2 3\n"), vec![0; 3]].concat();
        let source = BufReader::with_capacity(1, Interrupted(&both, false));
        let mut content = Vec::new();
        GzipReader::new(source).read_to_end(&mut content).unwrap();
        assert_eq!(content, b"1 2\n2 3\n");
    }

    #[test]
    fn members_follow_each_other_and_zeros_end_them() {
        let both = [packed(b"1 2\n"), packed(b"2 3\n")].concat();
        for step in [1, 7, 4096] {
            assert_eq!(read(&both, step).unwrap(), b"1 2\n2 3\n");
            for padding in [1, 511, 9000] {
                let padded = [both.clone(), vec![0; padding]].concat();
                assert_eq!(read(&padded, step).unwrap(), b"1 2\n2 3\n");
            }
            let trailing = [both.clone(), b"text".to_vec()].concat();
            assert!(read(&trailing, step).is_err());
            let trailing = [both.clone(), vec![0; 20], b"text".to_vec()].concat();
            let error = read(&trailing, step).unwrap_err().to_string();
            assert!(error.contains("not gzip"), "{error}");
            for end in 1..both.len() {
                let is_whole = end == packed(b"1 2\n").len();
                assert_eq!(read(&both[..end], step).is_ok(), is_whole, "{end}");
            }
        }
    }
}
