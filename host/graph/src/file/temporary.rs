//! Unfinished files, and the list of them for a process that is asked to end.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The temporary files of this process. A temporary file enters and leaves the list together with its file.
static TEMPORARY_FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn temporary() -> MutexGuard<'static, Vec<PathBuf>> {
    // The list is consistent after every change, so a panic elsewhere does not harm it.
    TEMPORARY_FILES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of this process, for a signal handler that ends it. Afterwards no thread can
/// start or finish a file: it waits for the end.
pub fn remove_temporary_files() {
    let list = temporary();
    remove_all(&list);
    std::mem::forget(list);
}

/// Works as [`remove_temporary_files`] for callers that must not wait, such as an allocator: keeps the
/// temporary files if a thread is starting or finishing one at the moment.
pub fn try_remove_temporary_files() {
    if let Ok(list) = TEMPORARY_FILES.try_lock() {
        remove_all(&list);
        std::mem::forget(list);
    }
}

fn remove_all(list: &[PathBuf]) {
    for path in list {
        // A temporary file that cannot be removed stays; there is no one left to report to.
        let _ = fs::remove_file(path);
    }
}

/// The unfinished content of a file; removed when dropped.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    path: Option<PathBuf>,
    place: PathBuf,
}

impl TemporaryFile {
    /// Creates an empty temporary file beside `place`, under an unused name.
    pub(super) fn create(place: PathBuf) -> io::Result<(File, Self)> {
        check_writable(&place)?;
        let folder = place.parent().unwrap_or(Path::new("."));
        let mut list = temporary();
        let (file, path) = create_in(folder)?;
        list.push(path.clone());
        let path = Some(path);
        Ok((file, Self { path, place }))
    }

    /// Gives the temporary file its final name, and the permissions of the file that had it.
    pub(super) fn publish(mut self, file: &File) -> io::Result<()> {
        if let Ok(about) = fs::metadata(&self.place) {
            inherit(file, &about)?;
        }
        // Some systems report a full disk only here.
        file.sync_all()?;
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut list = temporary();
        fs::rename(path, &self.place)?;
        forget(&mut list, path);
        self.path = None;
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut list = temporary();
            forget(&mut list, &path);
            // Removed while the list is locked, so that a signal finds it either present or gone.
            // One that cannot be removed stays.
            let _ = fs::remove_file(path);
        }
    }
}

fn forget(list: &mut Vec<PathBuf>, path: &Path) {
    list.retain(|known| known != path);
}

/// Most attempts to name a temporary file; another process would have to guess each name.
const NAMES_MAX: u32 = 1000;

/// Creates a file under an unused name, with the permissions that the caller's mask leaves.
fn create_in(folder: &Path) -> io::Result<(File, PathBuf)> {
    let mut tries = 0;
    loop {
        let path = folder.join(draft_name());
        tries += 1;
        // Pages of a file are mapped only if it may be read.
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).create_new(true).open(&path);
        match opened {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < NAMES_MAX => {}
            opened => return Ok((opened?, path)),
        }
    }
}

/// A name that no temporary file of this process had, and probably none of another.
fn draft_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanoseconds = now.map_or(0, |since| since.subsec_nanos());
    format!(
        ".seawall-{:x}-{number:x}-{nanoseconds:x}.part",
        std::process::id()
    )
}

/// Refuses to replace a read-only file, although its folder would allow it.
fn check_writable(place: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies permissions, and owner and group where the system allows it.
#[cfg(unix)]
fn inherit(file: &File, about: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let ours = file.metadata()?;
    if (ours.uid(), ours.gid()) != (about.uid(), about.gid()) {
        // Only the superuser can change the owner of a file.
        let _ = fchown(file, Some(about.uid()), Some(about.gid()));
    }
    file.set_permissions(about.permissions())
}

#[cfg(not(unix))]
fn inherit(file: &File, about: &fs::Metadata) -> io::Result<()> {
    file.set_permissions(about.permissions())
}
