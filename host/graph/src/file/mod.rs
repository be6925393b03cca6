//! Files that appear whole or not at all.
//!
//! A partial file under the name that a script waits for is worse than none, so bytes go to a
//! temporary file in the same folder, which takes the name at the end. Links are followed first, so
//! that a link stays one. A replaced file passes on its permissions. Pipes, devices and open
//! descriptors have no content to protect and are written directly. This is the only place that
//! writes files; it knows nothing of their content.

mod temporary;
mod id;
#[cfg(target_os = "linux")]
mod pages;
mod target;

pub use id::FileId;
pub use temporary::{remove_temporary_files, try_remove_temporary_files};

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use target::Target;
use temporary::TemporaryFile;

/// Bytes passed to the system at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Bytes and their place in a file.
pub(crate) type Section<'a> = (u64, &'a [u8]);

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write: {source}", path.display())]
pub struct WriteError {
    /// The path as the caller named it.
    pub path: PathBuf,
    /// The system's answer.
    pub source: io::Error,
}

/// An unfinished output file.
///
/// Without [`Output::finish`] a regular file keeps its old content. An existing file is replaced
/// and not changed, so other hard links to it keep the old content.
///
/// ```
/// use seawall_graph::file::Output;
/// use std::io::Write;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("numbers.txt");
/// let mut output = Output::create(&path)?;
/// output.write_all(b"1 2 3\n")?;
/// assert!(!path.exists());
/// output.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"1 2 3\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Output {
    out: BufWriter<File>,
    temporary_file: Option<TemporaryFile>,
    #[cfg(target_os = "linux")]
    flusher: Option<pages::Flusher>,
}

impl Output {
    /// Opens a temporary file for `path`, or the pipe or device itself. Opening a named pipe waits for its
    /// reader.
    ///
    /// # Errors
    /// If the folder is missing or not accessible, or the file is not writable.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (file, temporary_file) = match Target::of(path)? {
            Target::File(place) => {
                let (file, temporary_file) = TemporaryFile::create(place)?;
                (file, Some(temporary_file))
            }
            Target::Descriptor(number) => (target::descriptor(number)?, None),
            Target::Special(place) => (OpenOptions::new().write(true).open(place)?, None),
        };
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self {
            out,
            temporary_file,
            #[cfg(target_os = "linux")]
            flusher: None,
        })
    }

    /// Writes the whole content: sections in order, and zeros between them. All threads write a
    /// large regular file where the system is Linux.
    pub(crate) fn write_sections(&mut self, sections: &[Section<'_>]) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let (Some(_), Some((start, last))) = (&self.temporary_file, sections.last()) {
            let end = start + last.len() as u64;
            if pages::are_worthwhile(end) {
                self.flusher = pages::fill(self.out.get_ref(), sections, end)?;
                return Ok(());
            }
        }
        write_in_order(sections, self)
    }

    /// Flushes everything; a regular file appears under its name.
    ///
    /// # Errors
    /// If the disk is full, the reader of a pipe has left, or the name cannot be taken.
    pub fn finish(self) -> io::Result<()> {
        let file = self.out.into_inner();
        let file = file.map_err(io::IntoInnerError::into_error)?;
        #[cfg(target_os = "linux")]
        self.flusher.map_or(Ok(()), pages::Flusher::finish)?;
        self.temporary_file
            .map_or(Ok(()), |temporary_file| temporary_file.publish(&file))
    }
}

impl Write for Output {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.out.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes sections one after the other, and zeros between them.
pub(crate) fn write_in_order(sections: &[Section<'_>], out: &mut impl Write) -> io::Result<()> {
    let mut end = 0;
    for &(start, bytes) in sections {
        io::copy(&mut io::repeat(0).take(start - end), out)?;
        out.write_all(bytes)?;
        end = start + bytes.len() as u64;
    }
    Ok(())
}

/// Writes `path` through `fill`: afterwards it holds the new content, or the old one.
///
/// # Errors
/// As [`Output::create`] and [`Output::finish`], and any error of `fill`.
pub fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let written = Output::create(path).and_then(|mut output| {
        fill(&mut output)?;
        output.finish()
    });
    written.map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

/// Checks that `path` can be written, so that a long run does not end in an error that was clear
/// at its start. Leaves nothing behind, and opens regular files only: opening a pipe would wait
/// for its reader, and end it.
///
/// # Errors
/// As [`Output::create`].
pub fn probe(path: &Path) -> Result<(), WriteError> {
    let tried = match Target::of(path) {
        Ok(Target::File(place)) => TemporaryFile::create(place).map(drop),
        other => other.map(drop),
    };
    tried.map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

/// Returns whether `path` is written directly: a pipe, a device, or an open descriptor such as
/// `/dev/stdout`. False if it cannot be written.
#[must_use]
pub fn is_written_through(path: &Path) -> bool {
    Target::of(path).is_ok_and(|target| !matches!(target, Target::File(_)))
}

/// Returns whether `path` is this process's standard output, such as `/dev/stdout`; false for a
/// file that standard output is redirected to.
#[must_use]
pub fn is_standard_output(path: &Path) -> bool {
    Target::of(path).is_ok_and(|target| target == Target::Descriptor(1))
}

#[cfg(test)]
mod tests;
