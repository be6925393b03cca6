//! A device whose peers are other processes, which a carrier reaches.
//!
//! The kernel is that of devices of one host. What it writes into the memory of others lies in an
//! outbox of this process. When it has posted its mail there and waits, the proxy thread beside it
//! exchanges the mail with what the mail announces, puts both where other devices of one host
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

use super::multi::{Communicator, give_up};
use super::{Lines, lines};
use crate::backend::multi::{DeviceFound, Layout, MultiJob};
use crate::backend::{BackendError, Canceller};
use crate::multi::{Carrier, gather_alike, lost, split};
use bytemuck::{Zeroable, bytes_of, cast_slice, pod_read_unaligned};
use seawall_core::abi::multi::{ENDED, LIST, MAIL_WORDS, Mail, MultiKind};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
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
    canceller: &'c Canceller,
}

struct State<'c> {
    carrier: &'c mut dyn Carrier,
    /// The memory to which the kernel writes for others.
    outboxes: Vec<Lines>,
    failed: Option<BackendError>,
    /// Whether the carrier takes no further calls.
    is_broken: bool,
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
            outboxes: Vec::new(),
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
        let values = carrier.all_gather(&own.values, &counts).map_err(lost)?;
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
    fn all_gather(&mut self, own: &[u32], counts: &[usize]) -> Option<Vec<u32>> {
        if self.is_broken {
            return None;
        }
        match self.carrier.all_gather(own, counts) {
            Ok(all) => Some(all),
            Err(error) => {
                self.is_broken = true;
                self.failed = Some(lost(error));
                None
            }
        }
    }
}

impl Communicator for Processes<'_> {
    fn all<T>(&self, result: Result<T, BackendError>) -> Option<T> {
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
        let all = state.all_gather(&[status as u32], &vec![1; ranks])?;
        let first = |wanted: Status| all.iter().position(|status| *status == wanted as u32);
        if let Some(rank) = first(Status::Failed).or_else(|| first(Status::Echo)) {
            if status != Status::Failed {
                state.failed = Some(BackendError::RankEnded { rank: rank as u32 });
            }
            return None;
        }
        found
    }

    fn bases(&self, job: &MultiJob<'_>, own: u64) -> Option<Vec<u64>> {
        let ranks = job.run.devices();
        // Components are read from the memory of each; of all else there is one copy, for all.
        let count = if job.run.kind == MultiKind::Components {
            ranks - 1
        } else {
            1
        };
        let bytes = job.layout().control * 4;
        let outboxes = (0..count).map(|_| lines("an outbox for other ranks", bytes));
        let mut outboxes = self.all(outboxes.collect::<Result<Vec<Lines>, _>>())?;
        let addresses: Vec<u64> = outboxes
            .iter_mut()
            .map(|lines| lines.as_mut_ptr().expose_provenance() as u64)
            .collect();
        self.lock().outboxes = outboxes;
        let mut others = addresses.iter().cycle().copied();
        let base = |rank| {
            if rank == job.own {
                own
            } else {
                others.next().unwrap_or(own)
            }
        };
        Some((0..ranks).map(base).collect())
    }

    fn beside(&self, job: &MultiJob<'_>, bases: &[u64], fault: &AtomicU32, ended: &Receiver<()>) {
        let mailbox = Mailbox {
            job,
            bases,
            layout: job.layout(),
        };
        let _watch = EndsKernel(fault);
        let mut epoch = 1;
        while mailbox.round(self, epoch, fault, ended) {
            epoch += 1;
        }
        // The kernel writes no more, and the next run counts from 1 again.
        // A message would be an error of the kernel's.
        let _ = ended.recv();
        mailbox.forget();
    }
}

/// Ends the kernel if the proxy panics: nobody else would let it go on.
struct EndsKernel<'f>(&'f AtomicU32);

impl Drop for EndsKernel<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            give_up(self.0);
        }
    }
}

/// The memory of this rank, its outboxes, and the places in both.
struct Mailbox<'a> {
    job: &'a MultiJob<'a>,
    bases: &'a [u64],
    layout: Layout,
}

impl Mailbox<'_> {
    fn word(&self, base: u64, at: u64) -> &AtomicU32 {
        debug_assert!(at < self.layout.control);
        let address = (base + 4 * at) as usize;
        // SAFETY: memory of a rank and outboxes hold these words until the proxy has ended, and
        // the kernel accesses them by atomic operations.
        unsafe { AtomicU32::from_ptr(std::ptr::with_exposed_provenance_mut(address)) }
    }

    fn own(&self) -> u64 {
        self.bases[self.job.own as usize]
    }

    /// The outbox for a rank; one of them for this one.
    fn outbox(&self, rank: usize) -> u64 {
        let is_other = |rank: &usize| *rank != self.job.own as usize;
        let other = Some(rank)
            .filter(is_other)
            .or_else(|| (0..self.bases.len()).find(is_other));
        other.map_or(self.own(), |rank| self.bases[rank])
    }

    fn read(&self, base: u64, at: u64, count: usize) -> impl Iterator<Item = u32> {
        let words = at..at + count as u64;
        words.map(move |at| self.word(base, at).load(Ordering::Relaxed))
    }

    fn write(&self, base: u64, at: u64, words: &[u32]) {
        for (at, word) in (at..).zip(words) {
            self.word(base, at).store(*word, Ordering::Relaxed);
        }
    }

    fn mail_at(rank: u32, epoch: u32) -> u64 {
        u64::from((rank * 2 + (epoch & 1)) * MAIL_WORDS)
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
        self.layout.shares + u64::from(step & 1) * u64::from(self.job.run.nodes)
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
    fn wait(
        &self,
        canceller: &Canceller,
        epoch: u32,
        fault: &AtomicU32,
        ended: &Receiver<()>,
    ) -> Notice {
        let posted = self.word(
            self.outbox(self.job.own as usize),
            Self::mail_at(self.job.own, epoch),
        );
        let mut polls = 0_u32;
        loop {
            // Before the mail, which a kernel that has ended does not write any more.
            let is_over = ended.try_recv() == Err(TryRecvError::Disconnected);
            match posted.load(Ordering::Acquire) {
                ENDED => return Notice::Failed,
                seen if seen == epoch && !is_over => return Notice::Meets,
                _ if is_over => {
                    let is_well = fault.load(Ordering::Relaxed) == 0;
                    return if is_well {
                        Notice::Done
                    } else {
                        Notice::Failed
                    };
                }
                _ => {}
            }
            if canceller.is_asked() {
                give_up(fault);
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
    fn round(
        &self,
        ranks: &Processes<'_>,
        epoch: u32,
        fault: &AtomicU32,
        ended: &Receiver<()>,
    ) -> bool {
        let notice = self.wait(ranks.canceller, epoch, fault, ended);
        let mut state = ranks.lock();
        match self.exchange(&mut state, notice, epoch) {
            Some(Exchanged::Delivered) => return true,
            Some(Exchanged::Over) if notice == Notice::Meets => self.end(),
            Some(Exchanged::Over) => {}
            None => give_up(fault),
        }
        false
    }

    /// Exchanges mail and payloads, and delivers them if all ranks meet; `None` for a rank that is
    /// lost, whose error is kept.
    fn exchange(&self, state: &mut State<'_>, notice: Notice, epoch: u32) -> Option<Exchanged> {
        let own = self.job.own;
        let posted = self.read(self.outbox(own as usize), Self::mail_at(own, epoch), MAIL);
        let mut message = vec![notice as u32];
        message.extend(posted);
        let payload = match notice {
            Notice::Meets => {
                let mail = pod_read_unaligned(cast_slice(&message[1..]));
                // All ranks refuse, below, what cannot be.
                let sent = self.sent(own, epoch, &mail);
                sent.map_or_else(Vec::new, |sent| self.payload(&sent))
            }
            _ => Vec::new(),
        };
        let all = state.all_gather(&message, &vec![MESSAGE; self.bases.len()])?;
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
        let all = match counts.iter().all(|count| *count == 0) {
            true => Vec::new(),
            false => state.all_gather(&payload, &counts)?,
        };
        let payloads: Vec<&[u32]> = split(&all, &counts).collect();
        for (sent, payload) in sent.iter().zip(&payloads) {
            if !self.is_sound(sent, payload) {
                return state.lose(sent.rank);
            }
        }
        for ((sent, mail), payload) in sent.iter().zip(&mail).zip(payloads) {
            if sent.rank != own {
                self.deliver(sent, epoch, mail, payload);
            }
        }
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

    /// The words of a payload, from the memory of this rank.
    fn payload(&self, sent: &Sent) -> Vec<u32> {
        let mut words: Vec<u32> = self.read(self.own(), sent.at, sent.count).collect();
        if sent.values > 0 {
            let nodes = nodes_of(&words, sent.is_list, self.nodes(sent.rank).start);
            let value = |node: u32| self.word(self.own(), self.value_at(node));
            let values = nodes.map(|node| value(node).load(Ordering::Relaxed));
            let values: Vec<u32> = values.collect();
            words.extend(values);
        }
        words
    }

    /// Whether a payload names only nodes that it may: the kernel takes them for indices.
    fn is_sound(&self, sent: &Sent, payload: &[u32]) -> bool {
        match self.job.run.kind {
            MultiKind::Components => payload.iter().all(|root| *root < self.job.run.nodes),
            MultiKind::Ranks => true,
            _ => {
                let nodes = self.nodes(sent.rank);
                let mut count = 0;
                let mut found = nodes_of(&payload[..sent.count], sent.is_list, nodes.start)
                    .inspect(|_| count += 1);
                found.all(|node| nodes.contains(&node)) && count == sent.found
            }
        }
    }

    /// Puts a payload where a device of this host would have written it, and the mail's epoch last.
    fn deliver(&self, sent: &Sent, epoch: u32, mail: &Mail, payload: &[u32]) {
        let own = self.own();
        let (words, values) = payload.split_at(sent.count);
        // Components are read from the memory of their rank.
        let base = match self.job.run.kind {
            MultiKind::Components => self.outbox(sent.rank as usize),
            _ => own,
        };
        self.write(base, sent.at, words);
        let nodes = nodes_of(words, sent.is_list, self.nodes(sent.rank).start);
        for (node, value) in nodes.zip(values) {
            self.write(own, self.value_at(node), &[*value]);
        }
        let at = Self::mail_at(sent.rank, epoch);
        let mail: &[u32] = cast_slice(bytes_of(mail));
        self.write(own, at + 1, &mail[1..]);
        self.word(own, at).store(epoch, Ordering::Release);
    }

    /// Ends the kernel, which waits for the mail of one rank after another's.
    fn end(&self) {
        for rank in 0..self.job.run.devices() {
            for epoch in 0..2 {
                let at = Self::mail_at(rank, epoch);
                self.word(self.own(), at).store(ENDED, Ordering::Release);
            }
        }
    }

    /// Clears the mail that the kernel posted.
    fn forget(&self) {
        let none = Mail::zeroed();
        for epoch in 0..2 {
            let at = Self::mail_at(self.job.own, epoch);
            for rank in 0..self.bases.len() {
                self.write(self.outbox(rank), at, cast_slice(bytes_of(&none)));
            }
        }
    }
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

/// The nodes of a list, or of bits whose first is that of node `first`.
fn nodes_of(words: &[u32], is_list: bool, first: u32) -> impl Iterator<Item = u32> {
    let listed = words.iter().copied().filter(move |_| is_list);
    let bits = (0..)
        .zip(words)
        .filter(move |_| !is_list)
        .flat_map(move |(at, word)| {
            let is_set = move |bit: &u32| word >> bit & 1 != 0;
            (0..32).filter(is_set).map(move |bit| first + at * 32 + bit)
        });
    listed.chain(bits)
}
