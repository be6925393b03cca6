//! Global allocator that ends the process with a message if memory runs out.
//!
//! The library's large arrays fail as typed errors. Any other failed allocation would abort, or
//! let the system kill some process; here it ends in one message and exit code 1. So an endless
//! input is limited by the available memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seawall::graph::file::try_remove_temporary_files;
use seawall::graph::memory::{Shortage, is_fallible, note_spared, physical};

/// Blocks of at least this size are counted while they live: the system may have promised their
/// pages without providing them yet.
const LARGE_BYTES: usize = 1 << 20;
/// Bytes allocated between two checks of the available memory.
const LOOK_BYTES: u64 = 16 << 20;
/// Bytes kept in reserve: the most that can be taken between two checks.
const RESERVE_BYTES: u64 = LOOK_BYTES;

/// Allocations of this process that went through the allocator.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of allocations so far; it stays 0 in a program with another allocator.
pub(crate) fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// Keeps allocations of all threads in one arena of the C library if the address space is limited.
/// Starting threads would otherwise reserve up to 128 MiB each, and that library ends the process
/// if the next one finds not even a page.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn share_one_arena() {
    if seawall::graph::memory::address_space().is_some() {
        // SAFETY: the call sets a number, before any other thread runs.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
}

/// Does nothing with other C libraries: the setting is glibc's.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) const fn share_one_arena() {}

/// The system's allocator, which never takes the last memory.
#[derive(Debug, Default)]
pub struct Allocator {
    large: AtomicU64,
    since_look: AtomicU64,
}

impl Allocator {
    /// Creates an allocator without live blocks.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            large: AtomicU64::new(0),
            since_look: AtomicU64::new(0),
        }
    }

    /// Returns whether `bytes` more bytes are available. Most calls do not query the system.
    fn has(&self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let before = self.since_look.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) < LOOK_BYTES {
            return true;
        }
        self.since_look.store(0, Ordering::Relaxed);
        let promised = self.large.load(Ordering::Relaxed);
        let unmade = promised.saturating_sub(resident().unwrap_or(promised));
        let kept = unmade.saturating_add(RESERVE_BYTES);
        let Some(left) = physical() else { return true };
        let spared = left.saturating_sub(kept);
        if spared < bytes {
            note_spared(spared);
        }
        spared >= bytes
    }

    fn gain(&self, bytes: usize) {
        if bytes >= LARGE_BYTES {
            self.large.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    fn lose(&self, bytes: usize) {
        if bytes >= LARGE_BYTES {
            self.large.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
    }

    /// Allocates `bytes` bytes by `take`, or ends the process unless the caller tolerates failure.
    fn take(&self, bytes: usize, take: impl FnOnce() -> *mut u8) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        let taken = if self.has(bytes) {
            take()
        } else {
            std::ptr::null_mut()
        };
        if taken.is_null() && !is_fallible() {
            give_up(bytes);
        }
        if !taken.is_null() {
            self.gain(bytes);
        }
        taken
    }
}

// SAFETY: every block comes from the system's allocator by the caller's own layout and goes back to
// it by the same; a null pointer stands for a refusal, as the trait requires.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise about the layout is the callee's.
        self.take(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        self.take(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.lose(layout.size());
        // SAFETY: the block came from `System` with this layout.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let grow = || {
            // SAFETY: the block came from `System` with this layout, and the caller's
            // promise about the new size is the callee's.
            unsafe { System.realloc(block, layout, bytes) }
        };
        if bytes <= layout.size() {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
            self.lose(layout.size());
            self.gain(bytes);
            return grow();
        }
        let moved = self.take(bytes - layout.size(), grow);
        if !moved.is_null() {
            self.lose(bytes - layout.size());
            self.lose(layout.size());
            self.gain(bytes);
        }
        moved
    }
}

/// Bytes of this process for which the system has provided pages.
fn resident() -> Option<u64> {
    use std::io::Read;
    let mut text = [0; 256];
    let length = std::fs::File::open("/proc/self/statm").ok()?;
    let length = { length }.read(&mut text).ok()?;
    let text = std::str::from_utf8(&text[..length]).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    // The smallest page size; larger pages make more of a promise seem unfulfilled.
    Some(pages * 4096)
}

/// Ends the process with one message, without allocating.
fn give_up(bytes: usize) -> ! {
    static GIVEN_UP: AtomicBool = AtomicBool::new(false);
    if GIVEN_UP.swap(true, Ordering::Relaxed) {
        // Another thread is ending the process, or this one allocated while doing so.
        loop {
            std::thread::yield_now();
        }
    }
    let short = Shortage::of(bytes);
    if FOR_SCRIPTS.load(Ordering::Relaxed) {
        let Shortage { needed, available } = short;
        say(std::io::stdout(), |out| {
            write!(
                out,
                "{{\"error\":{{\"kind\":\"memory\",\"needed\":{needed},\"available\":{available},\"message\":\""
            )?;
            message(&short, out)?;
            writeln!(out, "\"}}}}")
        });
    }
    say(std::io::stderr(), |out| {
        write!(out, "error: ")?;
        message(&short, out)?;
        writeln!(out)
    });
    try_remove_temporary_files();
    end()
}

/// Makes a thread that finds no memory at its start end the process like a failed allocation. The
/// standard library panics there, outside of what a caller can catch, and then aborts.
pub(crate) fn end_where_threads_find_no_memory() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map_or("", std::panic::Location::file);
        if is_start_of_thread(place) {
            give_up(SIGNAL_STACK_BYTES);
        }
        others(panic);
    }));
}

/// Bytes of the stack for signals that a thread allocates at its start, with its guard page.
const SIGNAL_STACK_BYTES: usize = 16 << 10;

/// Whether a panic in the file `place` comes from a thread without a stack for signals.
fn is_start_of_thread(place: &str) -> bool {
    place.ends_with("stack_overflow.rs")
}

fn message(short: &Shortage, out: &mut dyn Write) -> io::Result<()> {
    let Shortage { needed, available } = short;
    write!(
        out,
        "out of memory: {needed} bytes more are needed and {available} are available; use a smaller input, or give the process more memory"
    )
}

/// Whether standard output is for scripts, which read there why a command failed.
static FOR_SCRIPTS: AtomicBool = AtomicBool::new(false);

/// Makes the end of the process also print its reason as JSON on standard output.
pub(crate) fn tell_scripts() {
    // Makes the stream's buffer now, as nothing can be allocated at that end.
    let _ = io::stdout();
    FOR_SCRIPTS.store(true, Ordering::Relaxed);
}

/// Writes a line to `to` without allocating, and without the lock of the stream, which another
/// thread may hold for ever.
#[cfg(unix)]
fn say(to: impl AsFd, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut text = [0; 512];
    let mut rest = &mut text[..];
    let _ = fill(&mut rest);
    let unused = rest.len();
    if let Ok(to) = to.as_fd().try_clone_to_owned() {
        let _ = std::fs::File::from(to).write_all(&text[..512 - unused]);
    }
}

#[cfg(not(unix))]
fn say(mut to: impl Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let _ = fill(&mut to);
}

#[cfg(unix)]
fn end() -> ! {
    signal_hook::low_level::exit(1)
}

#[cfg(not(unix))]
fn end() -> ! {
    std::process::exit(1)
}
