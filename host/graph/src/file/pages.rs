//! The content of a large file, placed by all threads.
//!
//! Threads that write to one file wait for each other: ext4, XFS and tmpfs lock it while they find
//! pages and copy. Pages of a mapping are found and filled independently. They are requested before
//! bytes are copied, so a full disk is an error and not a signal. What the system refuses to map is
//! written instead, and that call returns the reason.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::ptr::{self, NonNull};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use rayon::prelude::*;

use super::Section;
use crate::threads;

/// Bytes that a thread places at a time.
const BLOCK_BYTES: usize = 4 << 20;
/// Smaller files are written by one thread.
const LEAST_BYTES: u64 = 8 * BLOCK_BYTES as u64;
/// Fewer threads gain nothing: a page that is mapped takes twice the processor time of one that is
/// written (tmpfs).
const LEAST_THREADS: usize = 4;
/// Pages start at multiples of this on every machine.
const PAGE_BYTES: usize = 64 << 10;
/// Time between two flushes.
const PAUSE: Duration = Duration::from_millis(50);

/// Returns whether threads should share the writing of a file of `end` bytes.
pub(super) fn are_worthwhile(end: u64) -> bool {
    end >= LEAST_BYTES && rayon::current_num_threads() >= LEAST_THREADS
}

/// Fills an empty file, which ends after the last section. The file is flushed during and after
/// this, by a separate thread if there is one.
pub(super) fn fill(file: &File, sections: &[Section<'_>], end: u64) -> io::Result<Option<Flusher>> {
    file.set_len(end)?;
    let flusher = Flusher::start(file).ok();
    place(file, sections, end).map(|()| flusher)
}

/// Flushes a file while it is filled, and while its writer has other things to do.
#[derive(Debug)]
pub(super) struct Flusher {
    /// Ends the thread when it is dropped.
    filled: Sender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl Flusher {
    fn start(file: &File) -> io::Result<Self> {
        threads::check_start()?;
        let file = file.try_clone()?;
        let (filled, is_filled) = mpsc::channel::<()>();
        let flush = move || {
            while is_filled.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                // The system reports an error of the disk once, perhaps here.
                file.sync_data()?;
            }
            Ok(())
        };
        let thread = std::thread::Builder::new().spawn(flush)?;
        Ok(Self { filled, thread })
    }

    /// Waits for the thread; returns the first error of the disk.
    pub(super) fn finish(self) -> io::Result<()> {
        drop(self.filled);
        self.thread.join().unwrap_or(Ok(()))
    }
}

/// Places all sections, block by block.
fn place(file: &File, sections: &[Section<'_>], end: u64) -> io::Result<()> {
    let pages = Pages::of(file, end);
    let blocks = sections.par_iter().flat_map(|&(start, bytes)| {
        let blocks = bytes.par_chunks(BLOCK_BYTES).enumerate();
        blocks.map(move |(at, block)| (start + (at * BLOCK_BYTES) as u64, block))
    });
    blocks.try_for_each(|(at, block)| match &pages {
        Some(pages) if pages.copy(at as usize, block) => Ok(()),
        _ => file.write_all_at(block, at),
    })
}

struct Pages {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to no thread, and `copy` is the only access.
unsafe impl Sync for Pages {}

impl Pages {
    /// Maps a file of `bytes` bytes; returns `None` if the system or the address space refuses.
    fn of(file: &File, bytes: u64) -> Option<Self> {
        let bytes = usize::try_from(bytes).ok()?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let file = file.as_raw_fd();
        // SAFETY: the system chooses the place, so no memory in use is mapped over.
        let start =
            unsafe { libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, file, 0) };
        let start = NonNull::new(start.cast()).filter(|_| start != libc::MAP_FAILED)?;
        Some(Self { start, bytes })
    }

    /// Copies bytes to their place in the file; false if the system has no pages for them.
    fn copy(&self, at: usize, bytes: &[u8]) -> bool {
        let first = at - at % PAGE_BYTES;
        let span = at + bytes.len() - first;
        assert!(first + span <= self.bytes, "sections end within the file");
        // SAFETY: `first` starts a page, and the span lies within the mapping. The advice changes
        // no content: the first one makes pages of the file, the second one leaves them there and
        // takes them out of this process's memory. Bytes are copied to pages that the first one
        // made. No other thread copies to the same bytes, as sections do not overlap, and nothing
        // refers to them.
        unsafe {
            let pages = self.start.add(first).as_ptr().cast();
            if libc::madvise(pages, span, libc::MADV_POPULATE_WRITE) != 0 {
                return false;
            }
            let place = self.start.add(at).as_ptr();
            ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len());
            libc::madvise(pages, span, libc::MADV_DONTNEED);
        }
        true
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: maps exactly this, and no reference to it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Output, write_in_order};
    use super::*;

    #[test]
    fn any_number_of_threads_writes_the_bytes_of_one() {
        let words: Vec<u64> = (0..LEAST_BYTES / 8 + 77).collect();
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        // A section ends within a page, and the next one starts there.
        let (head, rest) = bytes.split_at(BLOCK_BYTES + 1000);
        let sections = [
            (0, &bytes[..64]),
            (64, head),
            (head.len() as u64 + 100, rest),
            (head.len() as u64 + 200_000 + rest.len() as u64, &[7; 9]),
        ];
        let mut expected = Vec::new();
        write_in_order(&sections, &mut expected).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sections");
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            let mut output = Output::create(&path).unwrap();
            pool.install(|| output.write_sections(&sections)).unwrap();
            output.finish().unwrap();
            assert!(std::fs::read(&path).unwrap() == expected, "{threads}");
        }
    }

    #[test]
    fn what_is_not_mapped_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = File::create(&path).unwrap();
        let flusher = fill(&file, &[(0, b"ab"), (5, b"cd")], 7).unwrap();
        flusher.map_or(Ok(()), Flusher::finish).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"ab\0\0\0cd");
        let read_only = File::open(&path).unwrap();
        assert!(place(&read_only, &[(0, b"ab")], 7).is_err());
    }
}
