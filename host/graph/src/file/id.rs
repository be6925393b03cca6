//! Identity of files behind different paths.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::target::Target;

/// The file that a path leads to, through links. Equal for two paths exactly if writing one would
/// change or replace the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileId(Id);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Id {
    /// An existing file: by device and number, so that hard links are equal too.
    #[cfg(unix)]
    Node { device: u64, number: u64 },
    #[cfg(not(unix))]
    Known(PathBuf),
    /// A file that does not exist yet: its name in a folder without links.
    Place(PathBuf),
}

impl FileId {
    /// Returns the file at `path`, or the one that would be created there. `None` for devices such
    /// as `/dev/null` and terminals, which have no content to lose.
    ///
    /// # Errors
    /// If the path leads nowhere: its folder is missing, or its links form a cycle.
    pub fn of(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(about) => Self::of_existing(path, &about),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Err(_) => Ok(match Target::of(path)? {
                Target::File(place) | Target::Special(place) => Some(Self(Id::Place(place))),
                Target::Descriptor(_) => None,
            }),
        }
    }

    /// Returns whether the file exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        !matches!(self.0, Id::Place(_))
    }

    #[cfg(unix)]
    fn of_existing(_path: &Path, about: &Metadata) -> io::Result<Option<Self>> {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let id = Id::Node {
            device: about.dev(),
            number: about.ino(),
        };
        Ok((!about.file_type().is_char_device()).then_some(Self(id)))
    }

    #[cfg(not(unix))]
    fn of_existing(path: &Path, _about: &Metadata) -> io::Result<Option<Self>> {
        Ok(Some(Self(Id::Known(fs::canonicalize(path)?))))
    }
}
