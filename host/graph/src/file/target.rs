//! The destination of a path.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Links followed before a path counts as a cycle; the system's own limit.
const LINKS_MAX: usize = 40;

/// A path with its links followed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A regular file, existing or not.
    File(PathBuf),
    /// An open descriptor of this process, by its number.
    Descriptor(u32),
    /// A pipe, a device or a socket.
    Special(PathBuf),
}

impl Target {
    /// Follows links one by one, so that a dangling link is followed too.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        if names_folder(&path) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        for _ in 0..LINKS_MAX {
            let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
            let folder = folder_of(&path)?;
            if let Some(number) = descriptor_number(&folder, name) {
                return Ok(Self::Descriptor(number));
            }
            let place = folder.join(name);
            match fs::symlink_metadata(&place) {
                Ok(about) if about.is_symlink() => path = folder.join(fs::read_link(&place)?),
                Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
                Ok(about) if !about.is_file() => return Ok(Self::Special(place)),
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => return Ok(Self::File(place)),
            }
        }
        let circle = "too many symbolic links";
        Err(io::Error::new(io::ErrorKind::InvalidInput, circle))
    }
}

/// Whether the path ends in a separator, which the components of a path do not show.
fn names_folder(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|byte| std::path::is_separator(char::from(*byte)))
}

fn folder_of(path: &Path) -> io::Result<PathBuf> {
    match path.parent() {
        Some(folder) if folder != Path::new("") => fs::canonicalize(folder),
        _ => fs::canonicalize("."),
    }
}

/// Returns the number of the descriptor that a name in a descriptor folder denotes.
fn descriptor_number(folder: &Path, name: &OsStr) -> Option<u32> {
    let number = name.to_str()?.parse().ok()?;
    let is_theirs = |of: &str| fs::canonicalize(of).is_ok_and(|known| known == folder);
    ["/proc/self/fd", "/dev/fd"]
        .into_iter()
        .any(is_theirs)
        .then_some(number)
}

/// Opens the file of a descriptor.
///
/// Standard output and standard error are shared, so that reports appear in order after the
/// output. Any other descriptor is reopened: the same pipe, or a file at its end.
#[cfg(unix)]
pub(super) fn descriptor(number: u32) -> io::Result<File> {
    use std::os::fd::AsFd;
    let shared = match number {
        1 => io::stdout().as_fd().try_clone_to_owned()?,
        2 => io::stderr().as_fd().try_clone_to_owned()?,
        _ => {
            let path = format!("/dev/fd/{number}");
            return fs::OpenOptions::new().append(true).open(path);
        }
    };
    Ok(File::from(shared))
}

#[cfg(not(unix))]
pub(super) fn descriptor(_number: u32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
