//! Machine code of programs in the user's cache folder.
//!
//! A file for each program and machine, in `seawall/code`: a line with the format, the length and a
//! checksum, then the code. A file that is damaged is as good as none. The oldest go once there are
//! more than [`FILES_MAX`].

use crate::graph::file::write_whole;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// First word of a file.
const FORMAT: &str = "seawall-code-1";

/// Longest file that is read, bytes.
const FILE_MAX: u64 = 16 << 20;

/// Most files that are kept.
const FILES_MAX: usize = 64;

/// The name of a program's code for a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// `None` without a cache folder.
    path: Option<PathBuf>,
}

/// A number of 64 bits that texts rarely share.
fn digest(salt: u64, parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (salt, parts).hash(&mut hasher);
    hasher.finish()
}

impl Key {
    /// The name of the code that `text` becomes on `machine`.
    pub(super) fn of(text: &str, machine: &str) -> Self {
        let folder = etcetera::choose_base_strategy().ok().map(|folders| {
            use etcetera::BaseStrategy;
            folders.cache_dir().join("seawall").join("code")
        });
        Self::within(folder.as_deref(), text, machine)
    }

    fn within(folder: Option<&Path>, text: &str, machine: &str) -> Self {
        let [first, second] =
            [1, 2].map(|salt| digest(salt, &[text.as_bytes(), machine.as_bytes()]));
        Self {
            path: folder.map(|folder| folder.join(format!("{first:016x}{second:016x}"))),
        }
    }

    /// The code, if it is kept.
    pub(super) fn find(&self) -> Option<Vec<u8>> {
        let path = self.path.as_ref()?;
        // A pipe would be waited for.
        std::fs::metadata(path)
            .ok()
            .filter(|found| found.is_file())?;
        let mut whole = Vec::new();
        let file = std::fs::File::open(path).ok()?;
        file.take(FILE_MAX).read_to_end(&mut whole).ok()?;
        let end = whole.iter().position(|byte| *byte == b'\n')?;
        let code = whole.split_off(end + 1);
        (whole == line(&code).as_bytes()).then_some(code)
    }

    /// Keeps `code`. A failure only costs the next compiling.
    pub(super) fn keep(&self, code: &[u8]) {
        let Some(path) = &self.path else {
            return;
        };
        let Some(folder) = path.parent() else {
            return;
        };
        // A folder that cannot be made fails the next step.
        let _ = std::fs::create_dir_all(folder);
        let kept = write_whole(path, |out| {
            out.write_all(line(code).as_bytes())?;
            out.write_all(code)
        });
        if let Err(error) = kept {
            tracing::debug!(%error, "machine code is not kept");
        }
        forget_oldest(folder);
    }
}

/// The first line of a file.
fn line(code: &[u8]) -> String {
    format!("{FORMAT} {} {:016x}\n", code.len(), digest(3, &[code]))
}

/// Removes the files beyond [`FILES_MAX`] that were written first.
fn forget_oldest(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let found = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((found.modified().ok()?, entry.path()))
        })
        .collect();
    files.sort();
    let beyond = files.len().saturating_sub(FILES_MAX);
    for (_, path) in &files[..beyond] {
        // Another process may have removed it.
        let _ = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_by_the_same_program_and_machine() {
        let folder = tempfile::tempdir().unwrap();
        let key = |text, machine| Key::within(Some(folder.path()), text, machine);
        key("a", "sm_90").keep(b"\x7fELF of a");
        assert_eq!(key("a", "sm_90").find().unwrap(), b"\x7fELF of a");
        assert_eq!(key("b", "sm_90").find(), None);
        assert_eq!(key("a", "sm_80").find(), None);
        assert_eq!(Key::within(None, "a", "sm_90").find(), None);
    }

    #[test]
    fn damaged_files_are_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let key = Key::within(Some(folder.path()), "a", "sm_90");
        key.keep(b"some machine code");
        let path = key.path.as_ref().unwrap();
        let whole = std::fs::read(path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(path, &changed).unwrap();
            assert_eq!(key.find(), None, "{at}");
            std::fs::write(path, &whole[..at]).unwrap();
            assert_eq!(key.find(), None, "{at}");
        }
    }

    #[test]
    fn the_oldest_files_go() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..FILES_MAX + 9 {
            Key::within(Some(folder.path()), &number.to_string(), "sm_90").keep(b"code");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), FILES_MAX);
    }
}
