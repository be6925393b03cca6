//! `io_uring` as long as the kernel accepts calls, and threads from then on.
//!
//! A kernel may refuse calls of a ring that it made: memory is short, or a filter of system calls
//! forbids them. A run then continues, at the pace of threads.

use super::threads::Threads;
use super::uring::Uring;
use super::{Fill, Filled, Reader};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::thread::Scope;

/// A ring, and its replacement.
pub(super) struct Fallback<'s, 'e, 'b, 'f> {
    scope: &'s Scope<'s, 'e>,
    file: &'f File,
    buffers: usize,
    /// Whether several threads copy at a time.
    spreads: bool,
    reader: Now<'b, 'f>,
    /// Buffers that came back before the change, or that cannot be filled.
    done: VecDeque<Filled<'b>>,
}

enum Now<'b, 'f> {
    Ring(Box<Uring<'b, 'f>>),
    Threads(Threads<'b>),
    /// The reason why no threads could be started either.
    Nothing(io::ErrorKind),
}

impl<'s, 'e, 'b: 's, 'f: 's> Fallback<'s, 'e, 'b, 'f> {
    /// Reads through `ring`; `threads` are the number of buffers, and whether several threads copy
    /// at a time if it fails.
    pub(super) fn new(
        ring: Uring<'b, 'f>,
        scope: &'s Scope<'s, 'e>,
        file: &'f File,
        buffers: usize,
        spreads: bool,
    ) -> Self {
        Self {
            scope,
            file,
            buffers,
            spreads,
            reader: Now::Ring(Box::new(ring)),
            done: VecDeque::new(),
        }
    }

    /// Leaves the ring, whose kernel refused a call; threads fill the remaining buffers.
    fn fall_back(&mut self) {
        let threads = Threads::start(self.scope, self.file, self.buffers, self.spreads);
        let next = match threads {
            Ok(threads) => Now::Threads(threads),
            Err(error) => Now::Nothing(error.kind()),
        };
        if let Now::Ring(ring) = std::mem::replace(&mut self.reader, next) {
            let (done, open) = ring.give_up();
            self.done.extend(done);
            open.into_iter().for_each(|fill| self.submit(fill));
        }
    }
}

impl<'s, 'b: 's, 'f: 's> Reader<'b> for Fallback<'s, '_, 'b, 'f> {
    fn submit(&mut self, fill: Fill<'b>) {
        match &mut self.reader {
            Now::Ring(ring) => {
                if ring.submit(fill).is_err() {
                    self.fall_back();
                }
            }
            Now::Threads(threads) => threads.submit(fill),
            Now::Nothing(kind) => {
                let end = Err((*kind).into());
                self.done.push_back(Filled { fill, end });
            }
        }
    }

    fn reap(&mut self) -> Option<Filled<'b>> {
        if let Now::Ring(ring) = &mut self.reader {
            match ring.reap() {
                Ok(filled) => return filled,
                Err(_) => self.fall_back(),
            }
        }
        let filled = self.done.pop_front();
        match &mut self.reader {
            Now::Threads(threads) => filled.or_else(|| threads.reap()),
            Now::Ring(_) | Now::Nothing(_) => filled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::buffer::Buffers;
    use crate::stream::windows::{Part, SECTOR};
    use std::io::Write;

    /// Bytes of a buffer, of which two pieces of a file fill a half each.
    const BUFFER: usize = 2 * HALF;
    const HALF: usize = SECTOR as usize;
    const BUFFERS: usize = 3;
    const WINDOWS: usize = 8;

    fn content() -> Vec<u8> {
        (0..WINDOWS * BUFFER)
            .map(|at| (at * 7 + at / 251) as u8)
            .collect()
    }

    fn part(window: usize, half: usize) -> Part {
        let at = half * HALF;
        Part {
            file_at: (window * BUFFER + at) as u64,
            at,
            len: HALF,
            need: HALF,
            skip: 0,
        }
    }

    /// Reads all windows with a kernel that fails after `calls` calls; returns whether it did.
    fn read_all(file: &File, calls: Option<usize>) -> Option<bool> {
        let expected = content();
        let mut memory = Buffers::new(BUFFERS, BUFFER as u64).unwrap();
        let mut buffers = memory.split();
        std::thread::scope(|scope| {
            // A system without io_uring has nothing to test.
            let ring = Uring::start(file, &mut buffers, false)
                .ok()?
                .failing_after(calls);
            let mut reader = Fallback::new(ring, scope, file, BUFFERS, false);
            let mut free: Vec<_> = buffers.into_iter().enumerate().collect();
            let (mut next, mut read) = (0, 0);
            while read < WINDOWS {
                while next < WINDOWS {
                    let Some((slot, bytes)) = free.pop() else {
                        break;
                    };
                    bytes.fill(0xEE);
                    let parts = [Some(part(next, 0)), Some(part(next, 1))];
                    let window = next;
                    reader.submit(Fill {
                        slot,
                        window,
                        bytes,
                        parts,
                    });
                    next += 1;
                }
                let filled = reader.reap().unwrap();
                filled.end.unwrap();
                let Fill {
                    slot,
                    window,
                    bytes,
                    ..
                } = filled.fill;
                assert!(
                    *bytes == expected[window * BUFFER..][..BUFFER],
                    "window {window}"
                );
                free.push((slot, bytes));
                read += 1;
            }
            assert!(reader.reap().is_none());
            Some(matches!(reader.reader, Now::Threads(_)))
        })
    }

    #[test]
    fn a_kernel_that_refuses_a_call_is_replaced_by_threads_at_any_time() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&content()).unwrap();
        let Some(fell) = read_all(&file, None) else {
            println!("skipped: this system has no io_uring");
            return;
        };
        assert!(!fell);
        let mut fallen = 0;
        for calls in 0..4 * WINDOWS {
            fallen += u32::from(read_all(&file, Some(calls)).unwrap());
        }
        assert!(
            fallen as usize >= WINDOWS / 2,
            "{fallen} of {} runs fell back",
            4 * WINDOWS
        );
    }
}
