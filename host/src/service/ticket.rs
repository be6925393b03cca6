//! Tickets, at which the answer to a post arrives once.

use super::Shared;
use super::error::TicketError;
use super::reply::Answer;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The end of a query.
pub(super) type End = Result<Answer, TicketError>;

/// Oneshot of an answer.
#[derive(Debug, Default)]
pub(super) struct Oneshot {
    inside: Mutex<Inside>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Inside {
    end: Option<End>,
    waker: Option<Waker>,
    /// Whether a thread sleeps until the end comes; waking costs a system call.
    is_awaited: bool,
}

impl Oneshot {
    /// Whether the end has come.
    fn has_ended(&self) -> bool {
        let inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.end.is_some()
    }

    /// Delivers the end; a later one changes nothing.
    pub(super) fn deliver(&self, end: End) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.end.get_or_insert(end);
        let waker = inside.waker.take();
        let is_awaited = inside.is_awaited;
        drop(inside);
        if is_awaited {
            self.arrived.notify_all();
        }
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A slot whose answer comes from another machine, which does not deliver it.
#[derive(Debug)]
pub(super) struct Watch {
    #[expect(
        clippy::redundant_allocation,
        reason = "a count of its own is its purpose"
    )]
    pub(super) shared: Arc<Arc<Shared>>,
    pub(super) index: u32,
}

impl Watch {
    /// Delivers the answer if it has come.
    fn look(&self) {
        let ring = self.shared.ring();
        if ring.may_have_ended(self.index) {
            self.shared.in_flight.harvest(ring, self.index);
        }
    }
}

/// Time for which a waiting thread polls for an answer of another machine before it sleeps.
const SPIN: Duration = Duration::from_micros(200);

/// A claim to the answer to one query: wait for it, await it, or drop it.
#[derive(Debug)]
pub struct Ticket {
    task: u32,
    oneshot: Arc<Oneshot>,
    watch: Option<Watch>,
}

impl Ticket {
    pub(super) const fn new(task: u32, oneshot: Arc<Oneshot>, watch: Option<Watch>) -> Self {
        Self {
            task,
            oneshot,
            watch,
        }
    }

    /// Polls for the answer for a while.
    fn spin(&self, timeout: Option<Duration>) {
        let Some(watch) = &self.watch else {
            return;
        };
        let most = timeout.unwrap_or(SPIN).min(SPIN);
        let began = Instant::now();
        loop {
            for _ in 0..32 {
                watch.look();
                if self.oneshot.has_ended() {
                    return;
                }
                std::hint::spin_loop();
            }
            if began.elapsed() >= most {
                return;
            }
        }
    }

    /// Tells the collector that this ticket's holder polls no more.
    fn call_collector(&self) {
        if let Some(watch) = &self.watch {
            watch.shared.call_collector();
        }
    }

    /// The number of its task, which wraps.
    #[must_use]
    pub const fn task(&self) -> u32 {
        self.task
    }

    /// Waits for the answer, without a `timeout` for as long as it takes. Later calls return the
    /// same answer.
    ///
    /// # Errors
    /// [`TicketError::TimedOut`] when `timeout` ends first; the query then continues.
    /// [`TicketError::Fault`] and [`TicketError::Ended`] when it failed.
    pub fn wait(&self, timeout: Option<Duration>) -> End {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.spin(timeout);
        self.call_collector();
        let lock = self.oneshot.inside.lock();
        let mut inside = lock.unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(end) = inside.end.clone() {
                return end;
            }
            inside.is_awaited = true;
            let Some(deadline) = deadline else {
                let woken = self.oneshot.arrived.wait(inside);
                inside = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(TicketError::TimedOut(timeout.unwrap_or_default()));
            }
            let woken = self.oneshot.arrived.wait_timeout(inside, left);
            inside = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Future for Ticket {
    type Output = End;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<End> {
        let lock = self.oneshot.inside.lock();
        let mut inside = lock.unwrap_or_else(PoisonError::into_inner);
        if let Some(end) = inside.end.clone() {
            return Poll::Ready(end);
        }
        inside.waker = Some(context.waker().clone());
        drop(inside);
        self.call_collector();
        Poll::Pending
    }
}
