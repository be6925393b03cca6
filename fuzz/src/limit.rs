//! A global allocator that ends the process at one request that is too large.
//!
//! libFuzzer looks at resident memory once a second and sees no untouched page,
//! so a buffer sized by a number in a file would pass unseen. Here the request
//! itself is the finding.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that one request may ask for, unless a target says otherwise.
const DEFAULT_BYTES: usize = 16 << 20;

static MOST_BYTES: AtomicUsize = AtomicUsize::new(DEFAULT_BYTES);

struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// Sets the largest request, in bytes, and names what justifies it.
pub fn allow(bytes: usize, _because: &str) {
    MOST_BYTES.store(bytes, Ordering::Relaxed);
}

fn check(bytes: usize) {
    let most = MOST_BYTES.load(Ordering::Relaxed);
    if bytes > most {
        eprintln!("one allocation of {bytes} bytes, the limit is {most}");
        std::process::abort();
    }
}

// SAFETY: everything is passed on to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        check(bytes);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(pointer, layout, bytes) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}
