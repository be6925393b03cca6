//! The log of printed records.

use super::Shared;
use seawall_core::abi::ring::ControlBlock;
use std::sync::Arc;

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The tenant that printed it.
    pub tenant: u32,
    /// Its task.
    pub task: u32,
    text: [u32; 8],
    words: u32,
}

impl Line {
    /// Its words.
    #[must_use]
    pub fn text(&self) -> &[u32] {
        let words = (self.words as usize).min(self.text.len());
        &self.text[..words]
    }
}

/// A reader of the log. A reader that is slower than the writers loses lines, and counts them.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    next: u32,
    lost: u64,
}

impl Log {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let next = shared.ring().control().prints;
        Self {
            shared,
            next,
            lost: 0,
        }
    }

    /// Lines that were overwritten or dropped before this reader read them.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// The next line; `None` if none is written yet.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let ControlBlock { prints, .. } = self.shared.ring().control();
            let ahead = prints.wrapping_sub(self.next);
            if ahead == 0 {
                return None;
            }
            let kept = self.shared.layout.prints();
            let overwritten = ahead.saturating_sub(kept);
            self.lost += u64::from(overwritten);
            self.next = self.next.wrapping_add(overwritten);
            let record = self.shared.ring().print_at(self.next);
            // A missing record is being written, unless later ones exist.
            if record.is_none() && ahead == 1 {
                return None;
            }
            self.next = self.next.wrapping_add(1);
            let Some(record) = record else {
                self.lost += 1;
                continue;
            };
            return Some(Line {
                tenant: record.tenant,
                task: record.task,
                text: record.text,
                words: record.words,
            });
        }
    }
}
