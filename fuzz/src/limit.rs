//! A global allocator that ends the process at a single request that is too large.
//!
//! libFuzzer checks resident memory once a second and sees no untouched page, so a buffer sized by
//! a number in a file would go unnoticed. Here the request itself is the finding.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest request in bytes, unless a target sets another.
const DEFAULT_BYTES: usize = 16 << 20;

static MOST_BYTES: AtomicUsize = AtomicUsize::new(DEFAULT_BYTES);

struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

/// Sets the largest request, in bytes, with its reason.
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
