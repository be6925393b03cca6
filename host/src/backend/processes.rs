//! A device whose peers are other processes, which a carrier reaches.
//!
//! The kernel, on threads or on a GPU, is that of devices of one host. What it writes into the memory of
//! others lies in an outbox of this process. When it has posted its mail there and waits, the proxy
//! beside it exchanges the mail with what the mail announces, puts both where other devices of one host
//! would have written them, and the epoch last.
//!
//! ```text
//! kernel:  finds | mail -> outbox, waits               | goes on
//! proxy:         | outbox -> carrier -> memory, epoch  |
//! ```
//!
//! An exchange carries `O(found)` words from each rank as a list, `n / 32` as bits, a share of each
//! node of a ranking, and `n` words of components, twice a run: after the mail, whose lengths are
//! known, and not at all if nobody has found anything.

use super::multi::{DeviceFound, Layout, MultiJob};
use super::{BackendError, Canceller};
use crate::multi::{Carrier, gather, gather_alike, lost, split};
use bytemuck::{Zeroable, bytes_of, cast_slice, pod_read_unaligned};
use seawall_core::abi::multi::{ENDED, LIST, MAIL_WORDS, Mail, MultiKind};
use std::iter::from_fn;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Polls of a proxy that only pause, and those that let other threads go first; later ones sleep.
const POLLS: Range<u32> = 64..256;

/// Time that a proxy sleeps between two looks: its kernel may compute on the same core meanwhile.
const REST: Duration = Duration::from_micros(20);

/// Words of the message of each rank: its notice, and its mail.
const MESSAGE: usize = 1 + MAIL;

/// The other ranks of a run, as one sees them.
pub(crate) struct Processes<'c> {
    state: Mutex<State<'c>>,
    /// Ends the run from another thread.
    pub(crate) canceller: &'c Canceller,
}

struct State<'c> {
    carrier: &'c mut dyn Carrier,
    failed: Option<BackendError>,
    /// Whether the carrier takes no further calls.
    is_broken: bool,
}

/// The kernel of this rank and its memory, as the proxy beside it reaches them. Places are words of its
/// memory.
pub(crate) trait RankKernel {
    /// Adds words to `to` that the kernel does not write meanwhile.
    fn read(&self, at: u64, count: usize, to: &mut Vec<u32>) -> Result<(), BackendError>;

    /// Writes words that lie side by side.
    fn write(&self, at: u64, words: &[u32]) -> Result<(), BackendError>;

    /// Writes single words, all of nodes of one rank.
    fn scatter(&self, words: Vec<(u64, u32)>) -> Result<(), BackendError>;

    /// Writes a word that the kernel acquires, after all that was written before.
    fn release(&self, at: u64, word: u32) -> Result<(), BackendError>;

    /// Whether it has ended.
    fn is_over(&self) -> bool;

    /// Whether it has ended without a fault.
    fn is_well(&self) -> bool;

    /// Ends it early.
    fn give_up(&self);
}

/// The word with which a message begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Notice {
    /// Its kernel waits for the others.
    Meets = 1,
    /// Its kernel has ended.
    Done = 2,
    Failed = 3,
}

/// The state of a rank where all meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Status {
    Well = 0,
    /// Another rank ended it.
    Echo = 1,
    Failed = 2,
}

const MAIL: usize = MAIL_WORDS as usize;

impl<'c> Processes<'c> {
    pub(crate) fn new(carrier: &'c mut dyn Carrier, canceller: &'c Canceller) -> Self {
        let state = Mutex::new(State {
            carrier,
            failed: None,
            is_broken: false,
        });
        Self { state, canceller }
    }

    fn lock(&self) -> MutexGuard<'_, State<'c>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error of this rank; that of a cancelled run if it has none.
    pub(crate) fn into_error(self) -> BackendError {
        let state = self.state.into_inner();
        let failed = state.unwrap_or_else(PoisonError::into_inner).failed;
        failed.unwrap_or(BackendError::Cancelled)
    }

    /// Waits for all ranks; `None` if any has failed by then, this one with `result` among them.
    pub(crate) fn all<T>(&self, result: Result<T, BackendError>) -> Option<T> {
        let mut state = self.lock();
        let (found, status) = match result {
            Ok(found) => (Some(found), Status::Well),
            Err(error) => {
                let status = if error.is_echo() {
                    Status::Echo
                } else {
                    Status::Failed
                };
                state.failed.get_or_insert(error);
                (None, status)
            }
        };
        let ranks = state.carrier.ranks() as usize;
        let mut all = Vec::new();
        state.all_gather(&[status as u32], &vec![1; ranks], &mut all)?;
        let first = |wanted: Status| all.iter().position(|status| *status == wanted as u32);
        if let Some(rank) = first(Status::Failed).or_else(|| first(Status::Echo)) {
            if status != Status::Failed {
                state.failed = Some(BackendError::RankEnded { rank: rank as u32 });
            }
            return None;
        }
        found
    }

    /// Exchanges what the kernel and those of other ranks send each other, until it has ended or is about
    /// to. It writes for others into `outboxes`, as many as [`outboxes`] says.
    pub(crate) fn serve(
        &self,
        job: &MultiJob<'_>,
        outboxes: &[SharedWords],
        kernel: &impl RankKernel,
    ) {
        let mailbox = Mailbox {
            job,
            outboxes,
            layout: job.layout(),
            kernel,
        };
        let _watch = EndsKernel(kernel);
        let mut payloads = Payloads::default();
        let mut epoch = 1;
        while mailbox.round(self, epoch, &mut payloads) {
            epoch += 1;
        }
    }

    /// The findings of all ranks, given those of this one. Called once, after the last meeting.
    pub(crate) fn gather(
        &self,
        job: &MultiJob<'_>,
        own: DeviceFound,
    ) -> Result<Vec<DeviceFound>, BackendError> {
        let carrier = &mut *self.lock().carrier;
        let figures = gather_alike(carrier, &[own.figures])?;
        let times = gather_alike(carrier, &own.times_ns)?;
        let ranges = job.run.cuts.windows(2);
        let counts: Vec<usize> = ranges.map(|cut| (cut[1] - cut[0]) as usize).collect();
        let values = gather(carrier, &own.values, &counts)?;
        let times = times.chunks(own.times_ns.len());
        let found = figures.into_iter().zip(times).zip(split(&values, &counts));
        let found = found.map(|((figures, times), values)| DeviceFound {
            values: values.to_vec(),
            figures,
            times_ns: times.to_vec(),
            name: own.name.clone(),
        });
        Ok(found.collect())
    }
}

impl State<'_> {
    /// Keeps the error of a rank that says what cannot be. Each rank hears the same, so all end.
    fn lose<T>(&mut self, rank: u32) -> Option<T> {
        let problem = "it sent nodes that it does not have".to_owned();
        self.failed = Some(BackendError::RankLost { rank, problem });
        None
    }

    /// Exchanges words; `None` if the carrier is broken, and the error is kept.
    fn all_gather(&mut self, own: &[u32], counts: &[usize], all: &mut Vec<u32>) -> Option<()> {
        if self.is_broken {
            return None;
        }
        match self.carrier.all_gather(own, counts, all) {
            Ok(()) => Some(()),
            Err(error) => {
                self.is_broken = true;
                self.failed = Some(lost(error));
                None
            }
        }
    }
}

/// Memory of this process that a kernel and the proxy access, word by word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedWords {
    base: u64,
}

impl SharedWords {
    /// The memory that begins at `base`.
    ///
    /// # Safety
    /// It must hold all words that others write ([`outboxes`]), stay until kernel and proxy have ended,
    /// and be accessed by atomic operations alone meanwhile.
    pub(crate) const unsafe fn at(base: u64) -> Self {
        Self { base }
    }

    fn word(&self, at: u64) -> &AtomicU32 {
        let address = (self.base + 4 * at) as usize;
        // SAFETY: `at` promises such words.
        unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address)) }
    }

    pub(crate) fn read(&self, at: u64, count: usize) -> impl Iterator<Item = u32> {
        let words = at..at + count as u64;
        words.map(move |at| self.word(at).load(Ordering::Relaxed))
    }

    pub(crate) fn write(&self, at: u64, words: &[u32]) {
        for (at, word) in (at..).zip(words) {
            self.word(at).store(*word, Ordering::Relaxed);
        }
    }

    /// Writes a word after all others.
    pub(crate) fn release(&self, at: u64, word: u32) {
        self.word(at).store(word, Ordering::Release);
    }
}

/// The number of outboxes of a rank, each of as many words as the second number says.
pub(crate) fn outboxes(job: &MultiJob<'_>) -> (usize, u64) {
    // Components are read from the memory of each; of all else there is one copy, for all.
    let count = match job.run.kind {
        MultiKind::Components => (job.run.devices() as usize - 1).max(1),
        _ => 1,
    };
    (count, job.layout().control)
}

/// The memory of each rank for the kernel of this one, given its own and its outboxes.
pub(crate) fn bases(job: &MultiJob<'_>, own: u64, outboxes: &[SharedWords]) -> Vec<u64> {
    let mut others = outboxes.iter().cycle().map(|outbox| outbox.base);
    let base = |rank| match rank == job.own {
        true => own,
        false => others.next().unwrap_or(own),
    };
    (0..job.run.devices()).map(base).collect()
}

/// Clears the mail that a kernel posted, once it has ended: the next one counts from 1 again.
pub(crate) fn forget(job: &MultiJob<'_>, outboxes: &[SharedWords]) {
    for outbox in outboxes {
        for epoch in 0..2 {
            let at = mail_at(job.own, epoch);
            outbox.write(at, cast_slice(bytes_of(&Mail::zeroed())));
        }
    }
}

fn mail_at(rank: u32, epoch: u32) -> u64 {
    u64::from((rank * 2 + (epoch & 1)) * MAIL_WORDS)
}

/// Ends the kernel if the proxy panics: nobody else would let it go on.
struct EndsKernel<'k, K: RankKernel>(&'k K);

impl<K: RankKernel> Drop for EndsKernel<'_, K> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.give_up();
        }
    }
}

/// The kernel of this rank, its outboxes, and the places in both.
struct Mailbox<'a, K> {
    job: &'a MultiJob<'a>,
    outboxes: &'a [SharedWords],
    layout: Layout,
    kernel: &'a K,
}

impl<K: RankKernel> Mailbox<'_, K> {
    /// The outbox for a rank; one of them for this one.
    fn outbox(&self, rank: u32) -> SharedWords {
        let other = (rank - u32::from(rank > self.job.own)) as usize;
        self.outboxes[if other < self.outboxes.len() {
            other
        } else {
            0
        }]
    }

    /// First word of the list of a rank after a step.
    fn list_at(&self, rank: u32, step: u32) -> u64 {
        self.layout.lists + u64::from((rank * 2 + (step & 1)) * LIST)
    }

    /// First word of the bits of a rank's nodes after a step.
    fn bits_at(&self, rank: u32, step: u32) -> u64 {
        let words = u64::from(self.job.run.nodes.div_ceil(32));
        let first = self.job.run.cuts[rank as usize] / 32;
        self.layout.bits + u64::from(step & 1) * words + u64::from(first)
    }

    /// First word of the shares of all nodes after a step.
    fn shares_at(&self, step: u32) -> u64 {
        self.layout.shares + u64::from(step & 1) * self.job.share_words()
    }

    /// The word of a node's value.
    fn value_at(&self, node: u32) -> u64 {
        self.layout.values + u64::from(node)
    }

    /// The step after the one that ends at this epoch. Distances have a meeting before the first.
    fn next_step(&self, epoch: u32) -> u32 {
        epoch - u32::from(self.job.run.has_lengths())
    }

    /// Waits until the kernel meets the others or ends.
    fn wait(&self, canceller: &Canceller, epoch: u32) -> Notice {
        let own = self.job.own;
        let outbox = self.outbox(own);
        let posted = outbox.word(mail_at(own, epoch));
        let mut polls = 0_u32;
        loop {
            // Before the mail, which a kernel that has ended does not write any more.
            let is_over = self.kernel.is_over();
            match posted.load(Ordering::Acquire) {
                ENDED => return Notice::Failed,
                seen if seen == epoch && !is_over => return Notice::Meets,
                _ if is_over && self.kernel.is_well() => return Notice::Done,
                _ if is_over => return Notice::Failed,
                _ => {}
            }
            if canceller.is_asked() {
                self.kernel.give_up();
            }
            polls = polls.saturating_add(1);
            match polls {
                _ if polls < POLLS.start => std::hint::spin_loop(),
                _ if polls < POLLS.end => std::thread::yield_now(),
                _ => std::thread::sleep(REST),
            }
        }
    }

    /// One meeting; returns whether the kernel goes on to the next.
    fn round(&self, ranks: &Processes<'_>, epoch: u32, payloads: &mut Payloads) -> bool {
        let notice = self.wait(ranks.canceller, epoch);
        let mut state = ranks.lock();
        match self.exchange(&mut state, notice, epoch, payloads) {
            Some(Exchanged::Delivered) => return true,
            Some(Exchanged::Over) if notice == Notice::Meets => self.end(&mut state),
            Some(Exchanged::Over) => {}
            None => self.kernel.give_up(),
        }
        false
    }

    /// Keeps an error of this rank's kernel or its memory, which ends the kernel; the others hear of it
    /// from the next message.
    fn keep<T>(&self, state: &mut State<'_>, found: Result<T, BackendError>) -> Option<T> {
        let keep = |error| {
            state.failed.get_or_insert(error);
            self.kernel.give_up();
        };
        found.map_err(keep).ok()
    }

    /// Exchanges mail and payloads, and delivers them if all ranks meet; `None` for a rank that is
    /// lost, whose error is kept.
    fn exchange(
        &self,
        state: &mut State<'_>,
        notice: Notice,
        epoch: u32,
        payloads: &mut Payloads,
    ) -> Option<Exchanged> {
        let own = self.job.own;
        let mut message = vec![notice as u32];
        message.extend(self.outbox(own).read(mail_at(own, epoch), MAIL));
        payloads.own.clear();
        if notice == Notice::Meets {
            let mail = pod_read_unaligned(cast_slice(&message[1..]));
            // All ranks refuse, below, what cannot be.
            if let Some(sent) = self.sent(own, epoch, &mail)
                && self
                    .keep(state, self.payload(&sent, &mut payloads.own))
                    .is_none()
            {
                message[0] = Notice::Failed as u32;
            }
        }
        let ranks = self.job.run.devices() as usize;
        let mut all = Vec::new();
        state.all_gather(&message, &vec![MESSAGE; ranks], &mut all)?;
        let messages = || all.chunks(MESSAGE);
        if messages().any(|words| words[0] != Notice::Meets as u32) {
            return Some(Exchanged::Over);
        }
        let mail = messages().map(|words| pod_read_unaligned(cast_slice(&words[1..])));
        let mail: Vec<Mail> = mail.collect();
        let sent = (0..)
            .zip(&mail)
            .map(|(rank, mail)| self.sent(rank, epoch, mail).or_else(|| state.lose(rank)));
        let sent: Vec<Sent> = sent.collect::<Option<_>>()?;
        let counts: Vec<usize> = sent.iter().map(Sent::len).collect();
        if counts.iter().any(|count| *count > 0) {
            state.all_gather(&payloads.own, &counts, &mut payloads.all)?;
        }
        let parts: Vec<&[u32]> = split(&payloads.all, &counts).collect();
        for (sent, payload) in sent.iter().zip(&parts) {
            if !self.is_sound(sent, payload) {
                return state.lose(sent.rank);
            }
        }
        let mut received = sent.iter().zip(&mail).zip(parts);
        let delivered = received
            .try_for_each(|((sent, mail), payload)| self.deliver(sent, epoch, mail, payload));
        // A kernel that has to end says so in the next round.
        self.keep(state, delivered);
        Some(Exchanged::Delivered)
    }

    fn nodes(&self, rank: u32) -> Range<u32> {
        let rank = rank as usize;
        self.job.run.cuts[rank]..self.job.run.cuts[rank + 1]
    }

    /// The words that a rank's mail announces; `None` if it announces what it cannot have.
    fn sent(&self, rank: u32, epoch: u32, mail: &Mail) -> Option<Sent> {
        let (nodes, step) = (self.nodes(rank), self.next_step(epoch));
        let found = mail.found as usize;
        let is_list = mail.is_list != 0;
        if found > nodes.len() || (is_list && mail.found > LIST) {
            return None;
        }
        let (at, count) = match self.job.run.kind {
            MultiKind::Components => (self.shares_at(epoch - 1), self.job.run.nodes as usize),
            MultiKind::Ranks => (self.shares_at(step) + u64::from(nodes.start), nodes.len()),
            _ if found == 0 => (0, 0),
            _ if is_list => (self.list_at(rank, step), found),
            _ => (self.bits_at(rank, step), nodes.len().div_ceil(32)),
        };
        Some(Sent {
            rank,
            at,
            count,
            found,
            is_list,
            values: if self.job.run.has_lengths() { found } else { 0 },
        })
    }

    /// Puts the words of this rank's payload into `words`, which are empty.
    fn payload(&self, sent: &Sent, words: &mut Vec<u32>) -> Result<(), BackendError> {
        let outbox = self.outbox(sent.rank);
        // Components are read from the memory of each, and so were not written for others.
        if self.job.run.kind == MultiKind::Components {
            return self.kernel.read(sent.at, sent.count, words);
        }
        words.extend(outbox.read(sent.at, sent.count));
        if sent.values > 0 {
            let nodes = nodes_of(words, sent.is_list, self.nodes(sent.rank).start);
            let value = |node: u32| outbox.word(self.value_at(node)).load(Ordering::Relaxed);
            let values: Vec<u32> = nodes.map(value).collect();
            words.extend(values);
        }
        Ok(())
    }

    /// Whether a payload names only nodes that it may: the kernel takes them for indices.
    fn is_sound(&self, sent: &Sent, payload: &[u32]) -> bool {
        match self.job.run.kind {
            MultiKind::Components => payload.iter().all(|root| *root < self.job.run.nodes),
            MultiKind::Ranks => true,
            _ if sent.is_list => {
                let nodes = self.nodes(sent.rank);
                payload[..sent.found]
                    .iter()
                    .all(|node| nodes.contains(node))
            }
            _ => {
                let nodes = self.nodes(sent.rank).len();
                are_bits(&payload[..sent.count], nodes, sent.found)
            }
        }
    }

    /// Puts the payload of another rank where a device of this host would have written it, and the mail's
    /// epoch last.
    fn deliver(
        &self,
        sent: &Sent,
        epoch: u32,
        mail: &Mail,
        payload: &[u32],
    ) -> Result<(), BackendError> {
        if sent.rank == self.job.own {
            return Ok(());
        }
        let (words, values) = payload.split_at(sent.count);
        match self.job.run.kind {
            // Components are read from the memory of their rank.
            MultiKind::Components => self.outbox(sent.rank).write(sent.at, words),
            _ => self.kernel.write(sent.at, words)?,
        }
        if sent.values > 0 {
            let nodes = nodes_of(words, sent.is_list, self.nodes(sent.rank).start);
            let places = nodes.map(|node| self.value_at(node));
            let places = places.zip(values.iter().copied());
            self.kernel.scatter(places.collect())?;
        }
        let at = mail_at(sent.rank, epoch);
        let mail: &[u32] = cast_slice(bytes_of(mail));
        self.kernel.write(at + 1, &mail[1..])?;
        self.kernel.release(at, epoch)
    }

    /// Ends the kernel, which waits for the mail of one rank after another's.
    fn end(&self, state: &mut State<'_>) {
        let others = (0..self.job.run.devices()).filter(|rank| *rank != self.job.own);
        let mut places = others.flat_map(|rank| [0, 1].map(|epoch| mail_at(rank, epoch)));
        let ended = places.try_for_each(|at| self.kernel.release(at, ENDED));
        self.keep(state, ended);
    }
}

/// Words that follow mail. Their memory is used again: new memory takes longer than the words.
#[derive(Default)]
struct Payloads {
    own: Vec<u32>,
    all: Vec<u32>,
}

/// The outcome of an exchange.
enum Exchanged {
    /// All ranks meet, and the kernel goes on.
    Delivered,
    /// A kernel has ended.
    Over,
}

/// The words that follow a rank's mail: some that lie side by side, then a value for each node that
/// they name.
struct Sent {
    rank: u32,
    /// First word in the memory of each rank.
    at: u64,
    count: usize,
    values: usize,
    /// Nodes found, and whether the words are a list of them.
    found: usize,
    is_list: bool,
}

impl Sent {
    fn len(&self) -> usize {
        self.count + self.values
    }
}

/// Whether words have a bit for each of `nodes` nodes and none beyond, and `found` of these are set. By
/// words: there are many, and most have no bit.
fn are_bits(words: &[u32], nodes: usize, found: usize) -> bool {
    // No words are sent for no nodes.
    let beyond = (words.len() * 32).saturating_sub(nodes) as u32;
    let count: u32 = words.iter().map(|word| word.count_ones()).sum();
    let is_within = words
        .last()
        .is_none_or(|last| last.leading_zeros() >= beyond);
    is_within && count as usize == found
}

/// The nodes of a list, or of bits whose first is that of node `first`.
fn nodes_of(words: &[u32], is_list: bool, first: u32) -> impl Iterator<Item = u32> {
    let listed = words.iter().copied().filter(move |_| is_list);
    let bits = (0..)
        .zip(words)
        .filter(move |_| !is_list)
        .flat_map(move |(at, word)| {
            let mut rest = *word;
            from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(first + at * 32 + bit)
            })
        });
    listed.chain(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_beyond_the_nodes_and_wrong_counts_are_refused() {
        assert!(are_bits(&[0b101, 1 << 2], 35, 3));
        assert!(!are_bits(&[0b101, 1 << 3], 35, 3));
        assert!(!are_bits(&[0b101, 1 << 2], 35, 2));
        assert!(are_bits(&[u32::MAX], 32, 32));
        assert!(are_bits(&[0; 3], 70, 0) && are_bits(&[], 35, 0));
        assert!(!are_bits(&[], 35, 1));
        let nodes: Vec<u32> = nodes_of(&[0, 0x8000_0001, 0], false, 64).collect();
        assert_eq!(nodes, [96, 127]);
        let listed: Vec<u32> = nodes_of(&[5, 3], true, 64).collect();
        assert_eq!(listed, [5, 3]);
    }
}
