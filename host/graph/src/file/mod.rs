//! Files that appear whole or not at all.
//!
//! Half a file under the name that a script waits for is worse than none, so bytes go to
//! a draft in the same folder, which takes the name at the end. Links are followed first,
//! so that a link stays one, and a file that is replaced hands on its permissions. Pipes,
//! devices and open descriptors have no content to protect and are written straight
//! through. This is the only place that writes files; it knows nothing of their content.

mod drafts;
mod id;
mod target;

pub use drafts::{abandon_drafts, try_abandon_drafts};
pub use id::FileId;

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use drafts::Draft;
use target::Target;

/// Bytes handed to the system at once.
const BUFFER_BYTES: usize = 256 << 10;

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write: {source}", path.display())]
pub struct WriteError {
    /// The path as the caller named it.
    pub path: PathBuf,
    /// The system's answer.
    pub source: io::Error,
}

/// A file that is being written.
///
/// Without [`Output::finish`] a regular file keeps what it held before. An existing file
/// is replaced and not changed, so other hard links to it keep the old content.
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
    draft: Option<Draft>,
}

impl Output {
    /// Opens a draft for `path`, or the pipe or device itself. To open a named pipe waits
    /// for its reader.
    ///
    /// # Errors
    /// When the folder is missing or closed to us, or the file may not be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (file, draft) = match Target::of(path)? {
            Target::File(place) => {
                let (file, draft) = Draft::create(place)?;
                (file, Some(draft))
            }
            Target::Descriptor(number) => (target::descriptor(number)?, None),
            Target::Special(place) => (OpenOptions::new().write(true).open(place)?, None),
        };
        let out = BufWriter::with_capacity(BUFFER_BYTES, file);
        Ok(Self { out, draft })
    }

    /// Hands everything to the system; a regular file appears under its name.
    ///
    /// # Errors
    /// When the disk is full, the reader of a pipe has left, or the name cannot be taken.
    pub fn finish(self) -> io::Result<()> {
        let file = self.out.into_inner();
        let file = file.map_err(io::IntoInnerError::into_error)?;
        self.draft.map_or(Ok(()), |draft| draft.publish(&file))
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

/// Writes `path` through `fill`: afterwards it holds everything, or what it held before.
///
/// # Errors
/// As [`Output::create`] and [`Output::finish`], and what `fill` returns.
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

/// Finds out whether `path` can be written, so that a long run does not end in an error
/// that was clear at its start. Leaves nothing behind, and does not open what is no
/// regular file: to do so would wait for the reader of a pipe, and end it.
///
/// # Errors
/// As [`Output::create`].
pub fn probe(path: &Path) -> Result<(), WriteError> {
    let tried = match Target::of(path) {
        Ok(Target::File(place)) => Draft::create(place).map(drop),
        other => other.map(drop),
    };
    tried.map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

/// Whether `path` is written straight through: a pipe, a device, or an open descriptor
/// such as `/dev/stdout`. False where nothing can be written.
#[must_use]
pub fn is_written_through(path: &Path) -> bool {
    Target::of(path).is_ok_and(|target| !matches!(target, Target::File(_)))
}

/// Whether `path` is this process's standard output, such as `/dev/stdout`; false for a
/// file that standard output leads to.
#[must_use]
pub fn is_standard_output(path: &Path) -> bool {
    Target::of(path).is_ok_and(|target| target == Target::Descriptor(1))
}

#[cfg(test)]
mod tests;
