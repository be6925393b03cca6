//! A consumer that is a kernel on a machine: windows go to it by tickets, and come back when
//! finished.
//!
//! No thread of the host touches the edges. The kernel checks the edges of a window at its first
//! use; the host reads a window again only to name its error.

use super::checks::Checked;
use super::consumer::{Done, Kernel, Setup, WindowConsumer};
use super::read::Fill;
use super::view::View;
use super::windows::{Part, Windows};
use crate::backend::pages::Pages;
use crate::backend::streaming::{Open, StreamJob, post_at, window_at};
use crate::graph::BinaryProblem;
use crate::run::RunError;
use bytemuck::cast_slice;
use seawall_core::abi::stream::{BETWEEN, StreamBoard, StreamOrder, StreamPost};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Time that a wait spins before it sleeps, and the longest time of a wait.
const SPIN: Duration = Duration::from_micros(50);
const LONGEST: Duration = Duration::from_millis(1);
/// Time between two polls of a wait.
const NAP: Duration = Duration::from_micros(20);

macro_rules! word {
    ($field:ident) => {
        (offset_of!(StreamBoard, $field) / 4) as u32
    };
}

/// The kernel's words: windows that have work, and results of steps.
pub(super) struct Said<'m> {
    board: &'m Pages,
    posts: u32,
    step: AtomicU32,
}

impl Said<'_> {
    fn word(&self, at: u32) -> u32 {
        let word = self.board.get(at);
        word.map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// Whether the last step found work.
    pub(super) fn is_busy(&self) -> bool {
        self.word(word!(busy)) == self.step.load(Ordering::Relaxed)
    }

    /// Whether a value was too large for a word.
    pub(super) fn has_overflowed(&self) -> bool {
        self.word(word!(overflow)) != 0
    }

    /// The sum of all changes of ranks in the last step, in units of a total.
    pub(super) fn change(&self) -> u64 {
        self.wide(word!(change))
    }

    /// Whether all edges of the first pass have mirror images.
    pub(super) fn has_mirrors(&self) -> bool {
        self.wide(word!(balance)) == 0
    }

    fn wide(&self, at: u32) -> u64 {
        u64::from(self.word(at)) | u64::from(self.word(at + 1)) << 32
    }
}

/// Whether a window has work, by the kernel.
pub(super) struct Wanted<'m> {
    pub(super) said: &'m Said<'m>,
    /// Whether all windows have work.
    pub(super) all: bool,
}

impl Kernel for Wanted<'_> {
    fn wants(&self, window: usize) -> bool {
        let at = window_at(window as u32, self.said.posts);
        self.all || self.said.word(at) == self.said.step.load(Ordering::Relaxed)
    }

    fn take(&self, _: &View<'_>, _: &dyn Fn() -> bool) -> Result<(), BinaryProblem> {
        Ok(())
    }
}

pub(super) struct Machine<'m> {
    pub(super) said: &'m Said<'m>,
    open: &'m Open<'m>,
    /// Address of the memory for windows in this process.
    buffers: usize,
    ticket: Cell<u32>,
    /// Windows that were used before.
    seen: RefCell<Vec<bool>>,
    /// Windows that the machine has in its own memory.
    held: RefCell<Vec<bool>>,
    /// Whether the next ticket waits for all earlier ones.
    waits: Cell<bool>,
}

impl<'m> Said<'m> {
    pub(super) fn of(streaming: &'m StreamJob<'_>) -> Self {
        Self {
            board: &streaming.board,
            posts: streaming.posts,
            step: AtomicU32::new(0),
        }
    }
}

impl<'m> Machine<'m> {
    pub(super) fn new(said: &'m Said<'m>, open: &'m Open<'m>, streaming: &StreamJob<'_>) -> Self {
        Self {
            said,
            open,
            buffers: streaming.buffers.0,
            ticket: Cell::new(0),
            seen: RefCell::new(vec![false; streaming.windows as usize]),
            held: RefCell::new(vec![false; streaming.windows as usize]),
            waits: Cell::new(true),
        }
    }

    pub(super) fn consumer<'b, 's>(&'s self, setup: &'s Setup<'s>) -> MachineConsumer<'b, 's> {
        MachineConsumer {
            machine: self,
            setup,
            flight: VecDeque::new(),
        }
    }

    /// Whether windows stay in the machine's memory.
    pub(super) fn keeps(&self) -> bool {
        self.open.keep.is_some()
    }

    /// Posts an order; returns its ticket.
    fn post(&self, post: StreamPost) -> u32 {
        let ticket = self.ticket.get() + 1;
        self.ticket.set(ticket);
        let posts = [StreamPost {
            ticket: 0,
            waits: u32::from(self.waits.replace(false)),
            ..post
        }];
        let words: &[u32] = cast_slice(&posts);
        let first = post_at(ticket, self.said.posts);
        for (at, word) in (first..).zip(words).skip(1) {
            if let Some(place) = self.said.board.get(at) {
                place.store(*word, Ordering::Relaxed);
            }
        }
        if let Some(place) = self.said.board.get(first) {
            place.store(ticket, Ordering::Release);
        }
        ticket
    }

    /// Whether the kernel has finished a ticket.
    fn is_done(&self, ticket: u32) -> bool {
        self.said.word(word!(consumed)) >= ticket
    }

    /// Waits until the kernel has finished a ticket, or some time is over.
    fn wait(&self, ticket: u32) -> Result<bool, RunError> {
        let began = Instant::now();
        loop {
            if self.is_done(ticket) {
                return Ok(true);
            }
            let waited = began.elapsed();
            if waited > LONGEST {
                (self.open.health)()?;
                return Ok(false);
            }
            if waited > SPIN {
                std::thread::sleep(NAP);
            } else {
                std::hint::spin_loop();
            }
        }
    }

    fn address(&self, words: &[u32]) -> u64 {
        let own = words.as_ptr().expose_provenance();
        let offset = own.wrapping_sub(self.buffers) as u64;
        self.open.buffers.wrapping_add(offset)
    }
}

pub(super) struct MachineConsumer<'b, 's> {
    machine: &'s Machine<'s>,
    setup: &'s Setup<'s>,
    /// In the order of their tickets.
    flight: VecDeque<Flying<'b>>,
}

struct Flying<'b> {
    /// `None` if it was not posted.
    ticket: Option<u32>,
    /// `None` if it is in the machine's own memory.
    fill: Option<Fill<'b>>,
}

impl<'b> MachineConsumer<'b, '_> {
    /// Posts a window. `None` if the buffer has another number of edges.
    fn post(&self, fill: &Fill<'b>) -> Option<u32> {
        let Setup { windows, rows, .. } = self.setup;
        let view = View::of(windows, rows, fill.window, fill.bytes)?;
        let is_first = {
            let mut seen = self.machine.seen.borrow_mut();
            let seen = seen.get_mut(fill.window)?;
            !std::mem::replace(seen, true)
        };
        Some(self.machine.post(StreamPost {
            order: StreamOrder::Window as u32,
            number: fill.window as u32,
            edges: view.targets.len() as u32,
            first_edge: view.edges.start,
            first_row: view.rows.start,
            end_row: view.rows.end,
            targets: self.machine.address(view.targets),
            weights: view.weights.map_or(0, |words| self.machine.address(words)),
            checks: u32::from(is_first),
            ..StreamPost::default()
        }))
    }

    /// Posts a window that lies at `address` in the machine's memory.
    fn post_held(&self, window: usize, address: u64) -> u32 {
        let Setup { windows, rows, .. } = self.setup;
        let edges = windows.edges(window);
        let within = windows.rows(window);
        let place =
            |part: Option<Part>| part.map_or(0, |part| address + (part.at + part.skip) as u64);
        let [targets, weights] = windows.parts(window).map(place);
        self.machine.post(StreamPost {
            order: StreamOrder::Window as u32,
            number: window as u32,
            edges: (edges.end - edges.start) as u32,
            first_edge: edges.start,
            first_row: within.start,
            end_row: within.end.min(rows.len()),
            targets,
            weights,
            ..StreamPost::default()
        })
    }

    /// Whether the machine has finished its copy of a window, if it makes one; it reads the buffer
    /// until then.
    fn is_kept(&self, flying: &Flying<'b>) -> Result<bool, RunError> {
        let (Some(keep), Some(fill), Some(_)) =
            (self.machine.open.keep, &flying.fill, flying.ticket)
        else {
            return Ok(true);
        };
        let is_kept = keep.has(fill.window as u32)?;
        if let Some(held) = self.machine.held.borrow_mut().get_mut(fill.window) {
            *held = is_kept;
        }
        Ok(is_kept)
    }

    /// The problem of a window that the kernel refused.
    fn problem(&self, fill: &Fill<'b>) -> Result<(), BinaryProblem> {
        let fault = self.machine.said.word(word!(fault));
        if fault & BETWEEN != 0 || fault != fill.window as u32 + 1 {
            return Ok(());
        }
        let Setup { windows, rows, .. } = self.setup;
        let Some(view) = View::of(windows, rows, fill.window, fill.bytes) else {
            return Ok(());
        };
        Checked::new(windows.len(), self.setup.file).check(&view)?;
        // The buffer has changed since, or the machine misread it.
        let node = u64::from(view.rows.start);
        Err(BinaryProblem::Order { node })
    }
}

impl<'b> WindowConsumer<'b> for MachineConsumer<'b, '_> {
    fn computing(&self) -> usize {
        self.flight.len()
    }

    fn send(&mut self, fill: Fill<'b>) -> Result<(), RunError> {
        let ticket = self.post(&fill);
        if let (Some(keep), Some(_)) = (self.machine.open.keep, ticket) {
            keep.copy(fill.window as u32, fill.bytes)?;
        }
        let fill = Some(fill);
        self.flight.push_back(Flying { ticket, fill });
        Ok(())
    }

    fn again(&mut self, window: usize) -> bool {
        let Some(keep) = self.machine.open.keep else {
            return false;
        };
        if self.machine.held.borrow().get(window) != Some(&true) {
            return false;
        }
        let ticket = Some(self.post_held(window, keep.address(window as u32)));
        self.flight.push_back(Flying { ticket, fill: None });
        true
    }

    fn take(&mut self, waits: bool) -> Result<Option<Done<'b>>, RunError> {
        let Some(first) = self.flight.front() else {
            return Ok(None);
        };
        let is_done = match first.ticket {
            None => true,
            Some(ticket) if waits => self.machine.wait(ticket)?,
            Some(ticket) => self.machine.is_done(ticket),
        };
        if !is_done || !self.is_kept(first)? {
            return Ok(None);
        }
        let done = self.flight.pop_front();
        Ok(done.map(|Flying { fill, .. }| Done {
            end: fill.as_ref().map_or(Ok(()), |fill| self.problem(fill)),
            buffer: fill.map(|fill| (fill.slot, fill.bytes)),
        }))
    }

    fn step(&mut self, passes: u64) -> Result<(), RunError> {
        let step = self.machine.said.step.load(Ordering::Relaxed) + 1;
        self.machine.said.step.store(step, Ordering::Relaxed);
        self.machine.waits.set(true);
        let ticket = self.machine.post(StreamPost {
            order: StreamOrder::Step as u32,
            number: step,
            ..StreamPost::default()
        });
        self.machine.waits.set(true);
        while !self.machine.wait(ticket)? {
            self.setup.limits.check(passes)?;
        }
        let fault = self.machine.said.word(word!(fault));
        if fault & BETWEEN == 0 {
            return Ok(());
        }
        let window = (fault & !BETWEEN) as usize;
        Err(self.setup.file.bad(self.between(window)).into())
    }
}

impl MachineConsumer<'_, '_> {
    /// The problem of a row that continues in `window` and does not ascend there.
    fn between(&self, window: usize) -> BinaryProblem {
        let windows: &Windows = self.setup.windows;
        let last = windows.len().saturating_sub(1);
        let edge = windows.edges(window.min(last)).start;
        let node = u64::from(self.setup.rows.row_of(edge));
        BinaryProblem::Order { node }
    }
}
