//! Clients, by which tenants post.

use super::error::SubmitError;
use super::in_flight::Flight;
use super::query::{Priority, Query};
use super::stats::Stats;
use super::ticket::{Oneshot, Ticket, Watch};
use super::{END_TASK, Shared};
use seawall_core::abi::ring::{ARGUMENTS, BATCHES, Kind, SlotRecord, TASK};
use seawall_core::protocol::Refusal;
use std::sync::Arc;
use std::time::Duration;

/// Time that a producer waits for space before it checks whether the service has closed.
const LOOK_AFTER: Duration = Duration::from_millis(100);

/// A tenant's access to a service. Clones post for the same tenant, from any number of threads.
#[derive(Debug)]
pub struct Client {
    /// Tickets hold a per-client reference instead of the service's, so that threads with separate
    /// clients do not contend for a reference count.
    #[expect(
        clippy::redundant_allocation,
        reason = "a count of its own is its purpose"
    )]
    pub(super) shared: Arc<Arc<Shared>>,
    pub(super) tenant: u32,
    pub(super) priority: Priority,
}

/// A slot that lacks only the number of its task.
pub(super) struct Post {
    pub(super) kind: Kind,
    pub(super) opcode: u32,
    pub(super) arguments: [u32; ARGUMENTS],
    /// The batch that it belongs to, or 0.
    pub(super) batch: u32,
    /// The batch that it closes.
    pub(super) closes: Option<u32>,
}

/// Reason why a post has no ticket.
pub(super) enum NoTicket {
    Full,
    Closed,
    Refused(Refusal),
}

impl Clone for Client {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::new(Arc::clone(&self.shared)),
            ..*self
        }
    }
}

impl Client {
    /// The same client at another priority.
    #[must_use]
    pub fn with_priority(&self, priority: Priority) -> Self {
        Self {
            priority,
            ..self.clone()
        }
    }

    /// The number of its tenant.
    #[must_use]
    pub const fn tenant(&self) -> u32 {
        self.tenant
    }

    /// Whether no post of the tenant is in flight. Until then, earlier posts may write to its
    /// window, even if their tickets have ended.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.shared.in_flight.is_idle(self.tenant)
    }

    /// Statistics of the service.
    #[must_use]
    pub fn stats(&self) -> Stats {
        super::stats::of(&self.shared)
    }

    /// Posts a query, waiting for a free slot.
    ///
    /// # Errors
    /// [`SubmitError::Refused`] for queries that workers would not run; [`SubmitError::Closed`]
    /// with the query when the service shuts down.
    pub fn submit(&self, query: Query) -> Result<Ticket, SubmitError> {
        self.submit_to(query, 0, true)
    }

    /// Posts a query if a slot is free.
    ///
    /// # Errors
    /// [`SubmitError::Full`] with the query if no slot is free, and as
    /// [`Client::submit`].
    pub fn try_submit(&self, query: Query) -> Result<Ticket, SubmitError> {
        self.submit_to(query, 0, false)
    }

    /// Opens a batch: queries that a fence waits for.
    ///
    /// # Errors
    /// [`SubmitError::Batches`] if too many are open.
    pub fn batch(&self) -> Result<Batch, SubmitError> {
        let number = self.shared.in_flight.take_batch();
        let number = number.ok_or(SubmitError::Batches { open: BATCHES })?;
        self.shared.ring().open_batch(number);
        Ok(Batch {
            client: self.clone(),
            number,
            members: 0,
            is_fenced: false,
        })
    }

    /// Reads words of the tenant's window.
    ///
    /// # Errors
    /// The refusal if they lie outside.
    pub fn read(&self, address: u32, to: &mut [u32]) -> Result<(), Refusal> {
        self.shared.ring().read_window(self.tenant, address, to)
    }

    /// Writes words of the tenant's window.
    ///
    /// # Errors
    /// The refusal if they lie outside.
    pub fn write(&self, address: u32, from: &[u32]) -> Result<(), Refusal> {
        self.shared.ring().write_window(self.tenant, address, from)
    }

    fn submit_to(&self, query: Query, batch: u32, waits: bool) -> Result<Ticket, SubmitError> {
        let post = Post {
            kind: query.kind(),
            opcode: query.opcode(),
            arguments: query.arguments()?,
            batch,
            closes: None,
        };
        self.post(&post, waits).map_err(|held| match held {
            NoTicket::Full => SubmitError::Full(query),
            NoTicket::Closed => SubmitError::Closed(query),
            NoTicket::Refused(refusal) => SubmitError::Refused(refusal),
        })
    }

    /// Posts to a service whose gate is closed to all others.
    pub(super) fn post_last(&self, post: &Post) -> Result<Ticket, NoTicket> {
        self.post_slot(self.slot_of(post), post)
    }

    fn slot_of(&self, post: &Post) -> SlotRecord {
        SlotRecord {
            status: 0,
            opcode: post.opcode,
            tenant: self.tenant,
            priority: self.priority as u32 | post.batch << 8,
            arguments: post.arguments,
        }
    }

    pub(super) fn post(&self, post: &Post, waits: bool) -> Result<Ticket, NoTicket> {
        let slot = self.slot_of(post);
        self.shared.ring().admit(&slot).map_err(NoTicket::Refused)?;
        loop {
            match self.post_now(slot, post) {
                Err(NoTicket::Full) if waits => {
                    let level = self.priority as u32;
                    self.shared.call_collector();
                    self.shared.in_flight.wait_for_slot(level, LOOK_AFTER);
                }
                ended => return ended,
            }
        }
    }

    /// Posts if a slot is free. The gate stays open meanwhile, so that a service that
    /// has closed knows of every post.
    fn post_now(&self, slot: SlotRecord, post: &Post) -> Result<Ticket, NoTicket> {
        let Some(_open) = self.shared.gate.pass() else {
            return Err(NoTicket::Closed);
        };
        self.post_slot(slot, post)
    }

    fn post_slot(&self, mut slot: SlotRecord, post: &Post) -> Result<Ticket, NoTicket> {
        let shared = &self.shared;
        let index = shared.in_flight.take(slot.level()).ok_or(NoTicket::Full)?;
        if !shared.ring().reserve(index) {
            // Slots of the free list have no other writer.
            return Err(NoTicket::Full);
        }
        let task = match post.kind {
            Kind::Shutdown => END_TASK,
            _ => shared.tasks.next(),
        };
        slot.arguments[TASK] = task;
        let oneshot = Arc::new(Oneshot::default());
        let flight = Flight {
            expected: Some((post.kind, Arc::clone(&oneshot))),
            closes: post.closes,
            claimed_since: None,
            tenant: Some(self.tenant),
        };
        shared.in_flight.expect(index, flight);
        let Some(posts) = &shared.posts else {
            shared.ring().publish(index, &slot);
            shared.notify.ring();
            return Ok(Ticket::new(task, oneshot, None));
        };
        shared.ring().mark_posted(index);
        posts.post(index, &slot);
        shared.notify.ring();
        let watch = Watch {
            shared: Arc::clone(shared),
            index,
        };
        Ok(Ticket::new(task, oneshot, Some(watch)))
    }
}

/// Queries that a fence waits for.
#[derive(Debug)]
pub struct Batch {
    client: Client,
    number: u32,
    members: u32,
    is_fenced: bool,
}

impl Batch {
    /// Posts further queries, and the fence, at `priority`.
    pub const fn set_priority(&mut self, priority: Priority) {
        self.client.priority = priority;
    }

    /// Posts a query of the batch, as [`Client::submit`].
    ///
    /// # Errors
    /// As [`Client::submit`]; the batch continues without it.
    pub fn submit(&mut self, query: Query) -> Result<Ticket, SubmitError> {
        let ticket = self.client.submit_to(query, self.number, true)?;
        self.members += 1;
        Ok(ticket)
    }

    /// Posts the fence: its answer comes when every query of the batch has ended, and
    /// names the epoch that it began.
    ///
    /// # Errors
    /// [`SubmitError::Refused`] if the tenant may not post fences, or
    /// [`SubmitError::Closed`].
    pub fn fence(mut self) -> Result<Ticket, SubmitError> {
        let mut arguments = [0; ARGUMENTS];
        arguments[..2].copy_from_slice(&[self.number, self.members]);
        let post = Post {
            kind: Kind::BatchFence,
            opcode: Kind::BatchFence.opcode(),
            arguments,
            batch: 0,
            closes: Some(self.number),
        };
        let posted = self.client.post(&post, true);
        self.is_fenced = posted.is_ok();
        posted.map_err(|held| match held {
            NoTicket::Refused(refusal) => SubmitError::Refused(refusal),
            NoTicket::Full | NoTicket::Closed => SubmitError::Closed(Query::Nop),
        })
    }
}

impl Drop for Batch {
    /// A batch without a fence continues; its number is free again when its queries have ended.
    fn drop(&mut self) {
        if !self.is_fenced {
            self.client
                .shared
                .in_flight
                .orphan(self.number, self.members);
        }
    }
}
