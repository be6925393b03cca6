//! Arrays of little-endian words from a file or a stream.
//!
//! A plain file is read at many places at once, straight into the arrays that the graph keeps.
//! Anything else is read piece by piece, so that memory follows the bytes that arrive and not a
//! header's promise. Nothing is mapped: a mapped file that another program rewrites or cuts short
//! would change checked arrays, or kill the process.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Pod;
use rayon::prelude::*;

use super::source::Source;
use crate::limits;
use crate::memory;
use crate::{BinaryProblem, Compression, GraphError, Progress};

/// Bytes read at once, from a stream or by one thread.
const STEP_BYTES: usize = 1 << 20;

/// A position in a binary input.
pub(super) struct Words<'a> {
    source: &'a mut Source,
    format: &'static str,
    file: Option<(File, u64)>,
    at: u64,
    /// Size that the input should have, as far as it is known.
    pub(super) promised: u64,
    progress: Option<&'a dyn Progress>,
}

impl<'a> Words<'a> {
    /// Starts at the first byte of a complete source.
    pub(super) fn new(
        source: &'a mut Source,
        format: &'static str,
        progress: Option<&'a dyn Progress>,
    ) -> Self {
        let is_plain = source.compression == Compression::None;
        let file = source.file.take().filter(|_| is_plain);
        let file = file.zip(source.total);
        Self {
            source,
            format,
            file,
            at: 0,
            promised: 0,
            progress,
        }
    }

    /// Refuses counts that the file is too small for.
    pub(super) fn check_nodes(&self, nodes: u64, edges: u64) -> Result<(), GraphError> {
        let bytes = self.source.total.unwrap_or(0);
        limits::check_nodes(&self.source.name, nodes, edges, bytes)
    }

    fn about(&self) -> About<'_> {
        About {
            name: &self.source.name,
            format: self.format,
            promised: self.promised,
        }
    }

    pub(super) fn bad(&self, problem: BinaryProblem) -> GraphError {
        self.about().bad(problem)
    }

    /// Bytes passed so far: of the file, and after decompression.
    pub(super) fn passed(&self) -> (u64, u64) {
        match &self.file {
            Some((_, total)) => (*total, *total),
            None => (self.source.raw_bytes(), self.source.decoded_bytes()),
        }
    }

    /// Bytes taken so far.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Returns whether nothing follows.
    pub(super) fn is_at_end(&mut self) -> Result<bool, GraphError> {
        match &self.file {
            Some((_, total)) => Ok(self.at >= *total),
            None => {
                let mut next = [0];
                let filled = self.source.fill(&mut next)?;
                self.source.unread(&next[..filled]);
                Ok(filled == 0)
            }
        }
    }

    /// Returns an error unless the input ends here.
    pub(super) fn finish(&mut self) -> Result<(), GraphError> {
        if self.is_at_end()? {
            return Ok(());
        }
        let found = self.file.as_ref().map_or(self.at + 1, |(_, total)| *total);
        Err(self.bad(BinaryProblem::Length {
            promised: self.at,
            found,
        }))
    }

    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<(), GraphError> {
        let filled = match &self.file {
            None => self.source.fill(buffer)?,
            Some((file, _)) => {
                fill_at(file, buffer, self.at).map_err(|e| self.about().failed(e))?
            }
        };
        self.at += filled as u64;
        if filled < buffer.len() {
            return Err(self.about().short(self.at));
        }
        Ok(())
    }

    pub(super) fn skip(&mut self, bytes: u64) -> Result<(), GraphError> {
        if let Some((_, total)) = self.file {
            self.at = self.at.saturating_add(bytes);
            return if self.at <= total {
                Ok(())
            } else {
                Err(self.about().short(total))
            };
        }
        let mut buffer = vec![0; STEP_BYTES.min(usize::try_from(bytes).unwrap_or(STEP_BYTES))];
        let mut left = bytes;
        while left > 0 {
            let step = left.min(buffer.len() as u64);
            self.fill(&mut buffer[..step as usize])?;
            left -= step;
        }
        Ok(())
    }

    pub(super) fn words<T: Pod + Send>(&mut self, count: u64) -> Result<Vec<T>, GraphError> {
        let words = match &self.file {
            Some((file, total)) => self.placed(file, *total, count)?,
            None => return self.streamed(count),
        };
        self.at += size_of_val(words.as_slice()) as u64;
        Ok(words)
    }

    /// Reads words of a file, which is large enough, on all threads.
    fn placed<T: Pod + Send>(
        &self,
        file: &File,
        total: u64,
        count: u64,
    ) -> Result<Vec<T>, GraphError> {
        let (about, progress, start) = (self.about(), self.progress, self.at);
        let bytes = count.saturating_mul(size_of::<T>() as u64);
        if bytes > total.saturating_sub(start) {
            return Err(about.short(total));
        }
        let mut words = zeroed(count, about.name)?;
        let done = AtomicU64::new(start);
        bytemuck::cast_slice_mut::<T, u8>(&mut words)
            .par_chunks_mut(STEP_BYTES)
            .enumerate()
            .try_for_each(|(part, buffer)| {
                let at = start + (part * STEP_BYTES) as u64;
                let filled = fill_at(file, buffer, at).map_err(|e| about.failed(e))?;
                if filled < buffer.len() {
                    return Err(about.short(at + filled as u64));
                }
                let before = done.fetch_add(filled as u64, Ordering::Relaxed);
                if let Some(progress) = progress {
                    progress.update(before + filled as u64, Some(total));
                }
                Ok(())
            })?;
        Ok(words)
    }

    fn streamed<T: Pod>(&mut self, count: u64) -> Result<Vec<T>, GraphError> {
        let mut words = Vec::new();
        let mut left = count;
        while left > 0 {
            let step = left.min((STEP_BYTES / size_of::<T>()) as u64) as usize;
            let start = words.len();
            let space = left.min(start.max(step) as u64) as usize;
            grow(&mut words, step, space, &self.source.name)?;
            self.fill(bytemuck::cast_slice_mut(&mut words[start..]))?;
            left -= step as u64;
            if let Some(progress) = self.progress {
                progress.update(self.source.raw_bytes(), self.source.total);
            }
        }
        words.shrink_to_fit();
        Ok(words)
    }
}

/// Name of a file in messages.
#[derive(Clone, Copy)]
struct About<'a> {
    name: &'a str,
    format: &'static str,
    promised: u64,
}

impl About<'_> {
    fn bad(self, problem: BinaryProblem) -> GraphError {
        GraphError::Binary {
            file: self.name.to_owned(),
            format: self.format,
            problem,
        }
    }

    fn short(self, found: u64) -> GraphError {
        self.bad(BinaryProblem::Length {
            promised: self.promised,
            found,
        })
    }

    fn failed(self, source: io::Error) -> GraphError {
        GraphError::Io {
            file: self.name.to_owned(),
            action: "read",
            source,
        }
    }
}

/// Adds `step` zeroes; reserves `space` if the vector is empty.
fn grow<T: Pod>(
    words: &mut Vec<T>,
    step: usize,
    space: usize,
    name: &str,
) -> Result<(), GraphError> {
    if words.capacity() - words.len() < step {
        memory::reserve_exact(words, space).map_err(|short| GraphError::memory(name, short))?;
    }
    words.resize(words.len() + step, T::zeroed());
    Ok(())
}

/// Returns `count` zeroes in pages that the system maps on the first write.
pub(super) fn zeroed<T: Pod>(count: u64, name: &str) -> Result<Vec<T>, GraphError> {
    // A count beyond the address space is a shortage of memory like one at its end.
    let length = usize::try_from(count).unwrap_or(usize::MAX);
    memory::zeroed(length).map_err(|short| GraphError::memory(name, short))
}

fn fill_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read_at(file, &mut buffer[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}
