//! Whether two paths name one file.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::target::Target;

/// The file that a path leads to, through links: equal for two paths exactly if writing
/// one would change or replace the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileId(Id);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Id {
    /// A file that is there: by device and number, so that hard links are equal too.
    #[cfg(unix)]
    Node { device: u64, number: u64 },
    /// A file that is there.
    #[cfg(not(unix))]
    Known(PathBuf),
    /// A file that is not there yet: its name in a folder without links.
    Place(PathBuf),
}

impl FileId {
    /// The file at `path`, or the one that would be created there. `None` for devices
    /// such as `/dev/null` and terminals, which hold nothing that could be lost.
    ///
    /// # Errors
    /// When the path leads to no place: its folder is missing, or links form a circle.
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

    /// Whether the file is there already.
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
