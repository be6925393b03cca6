//! Files that appear whole or not at all.
//!
//! A report that is interrupted must not leave half a file under the name that
//! a script waits for, so the bytes go to a neighbour that is renamed at the
//! end. Devices and pipes, which cannot be renamed over, are written directly.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write: {source}", path.display())]
pub struct WriteError {
    /// The path as the caller named it.
    pub path: PathBuf,
    /// What the operating system said.
    pub source: io::Error,
}

/// Writes `path` through `fill`: afterwards it holds everything, or what it
/// held before.
///
/// # Errors
/// When the folder is missing or closed to us, the disk is full, or `fill` fails.
pub fn write_whole(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    attempt(path, fill).map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

/// Finds out whether `path` can be written, so that a long run does not end in
/// an error that was clear at its start. Leaves nothing behind.
///
/// # Errors
/// As [`write_whole`].
pub fn probe(path: &Path) -> Result<(), WriteError> {
    let tried = if is_special(path) {
        OpenOptions::new().write(true).open(path).map(drop)
    } else {
        Neighbour::create(path).map(drop)
    };
    tried.map_err(|source| WriteError {
        path: path.to_owned(),
        source,
    })
}

fn attempt(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if is_special(path) {
        let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        fill(&mut out)?;
        return out.flush();
    }
    let mut neighbour = Neighbour::create(path)?;
    fill(&mut neighbour.out)?;
    neighbour.out.flush()?;
    neighbour.rename(path)
}

/// Whether the path exists and is neither a file nor a folder.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir())
}

/// The unfinished file; removed when dropped before its renaming.
struct Neighbour {
    path: PathBuf,
    out: BufWriter<File>,
}

impl Neighbour {
    fn create(target: &Path) -> io::Result<Self> {
        let Some(name) = target.file_name().filter(|_| !target.is_dir()) else {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let path = target.with_file_name(hidden);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        Ok(Self {
            path,
            out: BufWriter::new(file),
        })
    }

    fn rename(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // After a renaming there is nothing under this name; a failure leaves
        // a stray file and has no one to tell.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_finished_file_replaces_the_old_one_and_leaves_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        write_whole(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[test]
    fn a_failure_keeps_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        let error = write_whole(&path, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("the source dried up"))
        });
        assert!(
            error
                .unwrap_err()
                .to_string()
                .ends_with("out.csv: cannot write: the source dried up")
        );
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["out.csv"]);
    }

    #[test]
    fn a_probe_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        probe(&folder.path().join("a.json")).unwrap();
        assert!(names(folder.path()).is_empty());
        assert!(probe(&folder.path().join("no/such/a.json")).is_err());
        assert!(probe(folder.path()).is_err());
    }
}
