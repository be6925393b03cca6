//! Readers: they fill buffers with pieces of a file, several at a time.
//!
//! A buffer moves into a reader and comes back filled, so it is not visible in between. The caller
//! owns the buffers, which may be any memory, such as pinned memory that a device reads.

#[cfg(target_os = "linux")]
mod fallback;
mod threads;
#[cfg(target_os = "linux")]
mod uring;

use super::windows::Part;
use std::fs::File;
use std::io;
use std::path::Path;
use std::thread::Scope;

/// A buffer in flight.
pub(super) struct Fill<'b> {
    pub(super) slot: usize,
    pub(super) window: usize,
    pub(super) bytes: &'b mut [u8],
    /// The pieces of the file that it gets.
    pub(super) parts: [Option<Part>; 2],
}

/// A buffer that came back, and the result.
pub(super) struct Filled<'b> {
    pub(super) fill: Fill<'b>,
    pub(super) end: io::Result<()>,
}

pub(super) trait Reader<'b> {
    fn submit(&mut self, fill: Fill<'b>);

    /// Waits until a buffer is filled. `None` if none is in flight.
    fn reap(&mut self) -> Option<Filled<'b>>;
}

/// The requested method of reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ReaderChoice {
    /// `io_uring` where the system has it, threads elsewhere.
    #[default]
    Auto,
    /// `io_uring`.
    ///
    /// Threads read from the first call on that the kernel refuses.
    Uring,
    /// Threads that read at positions.
    Threads,
}

/// Whether reads go around the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Caching {
    /// Around it if the edges exceed the memory that is left.
    ///
    /// Through it otherwise, so that a later pass finds them there.
    #[default]
    Auto,
    /// Around it, if the file system allows.
    Direct,
    /// Through it.
    Cached,
}

/// A file for readers.
pub(super) struct Source<'f> {
    pub(super) file: &'f File,
    /// [`Self::file`], read around the page cache.
    pub(super) direct: Option<&'f File>,
}

impl<'f> Source<'f> {
    fn file(&self) -> &'f File {
        self.direct.unwrap_or(self.file)
    }
}

/// Opens the file around the page cache; `None` if the system or the file system does not support
/// it, or if the path now names another file.
pub(super) fn open_direct(path: &Path, file: &File) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
        let mut options = std::fs::OpenOptions::new();
        options.read(true).custom_flags(libc::O_DIRECT);
        let direct = options.open(path).ok()?;
        let id = |file: &File| file.metadata().ok().map(|data| (data.dev(), data.ino()));
        let is_same = id(&direct).is_some_and(|it| Some(it) == id(file));
        // A read of one sector into aligned memory shows whether such reads work with this
        // alignment.
        let mut sector = super::buffer::Buffers::new(1, super::windows::SECTOR).ok()?;
        let mut buffers = sector.split();
        let works = direct.read_at(buffers.first_mut()?, 0).is_ok();
        (is_same && works).then_some(direct)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (path, file);
        None
    }
}

pub(super) type Named<'b, 'f> = (Box<dyn Reader<'b> + 'f>, &'static str);

/// Starts a reader for these buffers; several threads copy cached data at a time if it `spreads`.
pub(super) fn start<'s, 'b: 's, 'f: 's>(
    scope: &'s Scope<'s, '_>,
    source: Source<'f>,
    choice: ReaderChoice,
    spreads: bool,
    buffers: &mut [&'b mut [u8]],
) -> io::Result<Named<'b, 's>> {
    let file = source.file();
    #[cfg(target_os = "linux")]
    if choice != ReaderChoice::Threads {
        match uring::Uring::start(file, buffers, spreads) {
            Ok(reader) => {
                let name = reader.name();
                let count = buffers.len();
                let reader = fallback::Fallback::new(reader, scope, file, count, spreads);
                return Ok((Box::new(reader), name));
            }
            Err(error) if choice == ReaderChoice::Uring => return Err(error),
            Err(_) => {}
        }
    }
    if cfg!(not(target_os = "linux")) && choice == ReaderChoice::Uring {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let reader = threads::Threads::start(scope, file, buffers.len(), spreads)?;
    Ok((Box::new(reader), "threads"))
}

/// The error of a file that ends too early.
fn cut() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
