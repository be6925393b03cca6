//! Paths of the workspace, and file access whose errors name the path.
//!
//! The root is the one this executable was built from, so that commands work
//! from any folder inside the workspace.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The workspace root: the folder above this package's.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// The folder for build outputs, apart from Cargo's own so that neither
/// invalidates the other.
pub(crate) fn target(purpose: &str) -> PathBuf {
    let base = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    root().join(base).join(purpose)
}

pub(crate) fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(Error::file("reading", &path))
}

/// Writes a text file, with its folder.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    fs::write(path, text).map_err(Error::file("writing", &path))
}

pub(crate) fn create_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(Error::file("creating", &path))
}

/// Every file below `folder`, in no particular order.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                pending.push(path);
            } else {
                found.push(path);
            }
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .map_err(Error::file("listing", folder))
}
