//! A device whose company are other processes, which a carrier reaches.
//!
//! The kernel is that of devices of one host. What it writes into the memory of others lies in an
//! outbox of this process. When it has posted its mail there and waits, the courier beside it
//! exchanges the mail and then what the mail announces, puts both where other devices of one host
//! would have written them, and the epoch last.
//!
//! ```text
//! kernel:   finds | mail -> outbox, waits        | goes on
//! courier:        | outbox -> carrier -> memory, epoch |
//! ```
//!
//! An exchange carries `O(found)` words from each rank as a list, `n / 32` as bits, a share of each
//! node of a ranking, and `n` words of components, twice a run.

use super::multi::{Company, give_up};
use super::{Lines, lines};
use crate::backend::multi::{DeviceFound, MultiJob, Shared};
use crate::backend::{BackendError, Canceller};
use crate::multi::{Carrier, CarrierError};
use crate::units::counted;
use bytemuck::{Zeroable, cast_slice, pod_read_unaligned};
use seawall_core::abi::multi::{ENDED, LIST, MAIL_WORDS, Mail, MultiKind, MultiState};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Polls of a courier that only pause, and those that let other threads go first; later ones sleep.
const POLLS: Range<u32> = 64..256;

/// Time that a courier sleeps between two looks: its kernel may compute on the same core meanwhile.
const REST: Duration = Duration::from_micros(20);

/// The other ranks of a run, as one sees them.
pub(crate) struct Ranks<'c> {
    state: Mutex<State<'c>>,
    canceller: &'c Canceller,
}

struct State<'c> {
    carrier: &'c mut dyn Carrier,
    /// Where the kernel writes what it tells others.
    outboxes: Vec<Lines>,
    /// The error of this rank.
    failed: Option<BackendError>,
    /// Whether the carrier takes no further calls.
    is_broken: bool,
}

/// What a rank tells the others at each exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Told {
    /// Its kernel waits for the others.
    Meets = 1,
    /// Its kernel has ended.
    Done = 2,
    /// Its kernel has failed.
    Failed = 3,
}

/// How a rank fares where all meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Fares {
    Well = 0,
    /// Another rank ended it.
    Echo = 1,
    Failed = 2,
}

const MAIL: usize = MAIL_WORDS as usize;

impl<'c> Ranks<'c> {
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

    /// What all ranks found, by what this one found. Called once, after the last meeting.
    ///
    /// # Errors
    /// [`BackendError::RankLost`].
    pub(crate) fn gather(
        &self,
        job: &MultiJob<'_>,
        own: &DeviceFound,
        threads: u32,
    ) -> Result<Vec<DeviceFound>, BackendError> {
        let carrier = &mut self.lock().carrier;
        let ranks = carrier.ranks() as usize;
        let mut figures: Vec<u32> = cast_slice(bytemuck::bytes_of(&own.state)).to_vec();
        let wide = [own.barriers, own.upload_ns, own.readback_ns, own.bytes];
        let wide = wide.into_iter().chain([own.edges, u64::from(threads)]);
        let wide: Vec<u64> = wide.chain(own.times_ns.iter().copied()).collect();
        figures.extend(
            wide.iter()
                .flat_map(|word| [*word as u32, (word >> 32) as u32]),
        );
        let each = carrier
            .all_gather(&figures, &vec![figures.len(); ranks])
            .map_err(lost)?;
        let counts: Vec<usize> = job
            .run
            .cuts
            .windows(2)
            .map(|cut| (cut[1] - cut[0]) as usize)
            .collect();
        let values = carrier.all_gather(&own.values, &counts).map_err(lost)?;
        let mut rest = values.as_slice();
        let found = each
            .chunks(figures.len())
            .zip(&counts)
            .map(|(figures, count)| {
                let (values, after) = rest.split_at(*count);
                rest = after;
                let (state, wide) = figures.split_at(size_of::<MultiState>() / 4);
                let mut wide = wide
                    .chunks(2)
                    .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
                let mut next = || wide.next().unwrap_or(0);
                let (barriers, upload_ns, readback_ns, bytes) = (next(), next(), next(), next());
                let (edges, threads) = (next(), next());
                DeviceFound {
                    values: values.to_vec(),
                    state: pod_read_unaligned(cast_slice(state)),
                    barriers,
                    upload_ns,
                    readback_ns,
                    bytes,
                    edges,
                    times_ns: wide.collect(),
                    name: counted(threads, "thread"),
                }
            });
        Ok(found.collect())
    }
}

/// The error of a rank that is gone.
pub(crate) fn lost(CarrierError { rank, problem }: CarrierError) -> BackendError {
    BackendError::RankLost { rank, problem }
}

impl State<'_> {
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

impl Company for Ranks<'_> {
    fn all<T>(&self, result: Result<T, BackendError>) -> Option<T> {
        let mut state = self.lock();
        let (found, fares) = match result {
            Ok(found) => (Some(found), Fares::Well),
            Err(error) => {
                let fares = if error.is_echo() {
                    Fares::Echo
                } else {
                    Fares::Failed
                };
                if !state.is_broken {
                    state.failed = Some(error);
                }
                (None, fares)
            }
        };
        let ranks = state.carrier.ranks() as usize;
        let all = state.all_gather(&[fares as u32], &vec![1; ranks])?;
        let first = |wanted: Fares| all.iter().position(|fares| *fares == wanted as u32);
        if let Some(rank) = first(Fares::Failed).or_else(|| first(Fares::Echo)) {
            if fares != Fares::Failed {
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
        let bytes = job.shared().words * 4;
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
        let post = Post {
            job,
            bases,
            shared: job.shared(),
        };
        let _watch = EndsKernel(fault);
        let mut epoch = 1;
        while post.round(self, epoch, fault, ended) {
            epoch += 1;
        }
        // The kernel writes no more, and the next run counts from 1 again.
        // A message would be an error of the kernel's.
        let _ = ended.recv();
        post.forget();
    }
}

/// Ends the kernel if the courier panics: nobody else would let it go on.
struct EndsKernel<'f>(&'f AtomicU32);

impl Drop for EndsKernel<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            give_up(self.0);
        }
    }
}

/// The memory of this rank, its outboxes, and the places in both.
struct Post<'a> {
    job: &'a MultiJob<'a>,
    bases: &'a [u64],
    shared: Shared,
}

impl Post<'_> {
    /// A word of the memory at `base`.
    fn word(&self, base: u64, at: u64) -> &AtomicU32 {
        debug_assert!(at < self.shared.words);
        let address = (base + 4 * at) as usize;
        // SAFETY: memory of a rank and outboxes hold these words until the courier has ended, and
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

    /// First word of the mail of a rank at an epoch.
    fn mail_at(rank: u32, epoch: u32) -> u64 {
        u64::from((rank * 2 + (epoch & 1)) * MAIL_WORDS)
    }

    /// First word of the list of a rank after a step.
    fn list_at(&self, rank: u32, step: u32) -> u64 {
        self.shared.lists + u64::from((rank * 2 + (step & 1)) * LIST)
    }

    /// First word of the bits of a rank's nodes after a step.
    fn bits_at(&self, rank: u32, step: u32) -> u64 {
        let words = u64::from(self.job.run.nodes.div_ceil(32));
        let first = self.job.run.cuts[rank as usize] / 32;
        self.shared.bits + u64::from(step & 1) * words + u64::from(first)
    }

    /// First word of the shares of all nodes after a step.
    fn shares_at(&self, step: u32) -> u64 {
        self.shared.shares + u64::from(step & 1) * u64::from(self.job.run.nodes)
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
    ) -> Told {
        let posted = self.word(
            self.outbox(self.job.own as usize),
            Self::mail_at(self.job.own, epoch),
        );
        let mut polls = 0_u32;
        loop {
            // Before the mail, which a kernel that has ended does not write any more.
            let is_over = ended.try_recv() == Err(TryRecvError::Disconnected);
            match posted.load(Ordering::Acquire) {
                ENDED => return Told::Failed,
                seen if seen == epoch && !is_over => return Told::Meets,
                _ if is_over => {
                    let is_well = fault.load(Ordering::Relaxed) == 0;
                    return if is_well { Told::Done } else { Told::Failed };
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
        ranks: &Ranks<'_>,
        epoch: u32,
        fault: &AtomicU32,
        ended: &Receiver<()>,
    ) -> bool {
        let told = self.wait(ranks.canceller, epoch, fault, ended);
        let mut state = ranks.lock();
        let from = Self::mail_at(self.job.own, epoch);
        let mut own = vec![told as u32];
        own.extend(self.read(self.outbox(self.job.own as usize), from, MAIL));
        let count = self.bases.len();
        let Some(all) = state.all_gather(&own, &vec![1 + MAIL; count]) else {
            give_up(fault);
            return false;
        };
        let mail: Vec<&[u32]> = all.chunks(1 + MAIL).collect();
        if mail.iter().any(|words| words[0] != Told::Meets as u32) {
            if told == Told::Meets {
                self.end();
            }
            return false;
        }
        let mail: Vec<Mail> = mail
            .iter()
            .map(|words| pod_read_unaligned(cast_slice(&words[1..])))
            .collect();
        let parcels = mail
            .iter()
            .enumerate()
            .map(|(rank, mail)| self.parcel_words(rank, mail));
        let Some(counts) = parcels.collect::<Option<Vec<usize>>>() else {
            // Each rank sees the same mail, so all end here.
            give_up(fault);
            return false;
        };
        let parcel = self.parcel(epoch, &mail[self.job.own as usize]);
        let Some(all) = state.all_gather(&parcel, &counts) else {
            give_up(fault);
            return false;
        };
        let mut rest = all.as_slice();
        let parcels: Vec<&[u32]> = counts
            .iter()
            .map(|count| {
                let (parcel, after) = rest.split_at(*count);
                rest = after;
                parcel
            })
            .collect();
        for (rank, (mail, parcel)) in (0..).zip(mail.iter().zip(&parcels)) {
            if !self.is_sound(rank, mail, parcel) {
                // Each rank sees the same parcel, so all end here.
                let problem = "it sent nodes that it does not have".to_owned();
                state.failed = Some(BackendError::RankLost { rank, problem });
                give_up(fault);
                return false;
            }
        }
        drop(state);
        for (rank, (mail, parcel)) in (0..).zip(mail.iter().zip(parcels)) {
            if rank != self.job.own {
                self.deliver(rank, epoch, mail, parcel);
            }
        }
        true
    }

    /// Whether a parcel names only nodes that it may: the kernel takes them for indices.
    fn is_sound(&self, rank: u32, mail: &Mail, parcel: &[u32]) -> bool {
        let nodes = self.nodes(rank as usize);
        match self.job.run.kind {
            MultiKind::Components => parcel.iter().all(|root| *root < self.job.run.nodes),
            MultiKind::Ranks => true,
            _ => {
                let (words, is_list) = self.nodes_sent(rank, mail, parcel);
                let mut count = 0;
                let mut found = nodes_of(words, is_list, nodes.start).inspect(|_| count += 1);
                found.all(|node| nodes.contains(&node)) && count == mail.found
            }
        }
    }

    /// The list or bits at the front of a parcel; whether they are a list.
    fn nodes_sent<'p>(&self, rank: u32, mail: &Mail, parcel: &'p [u32]) -> (&'p [u32], bool) {
        let is_list = mail.is_list != 0;
        let count = match mail.found as usize {
            found if is_list || found == 0 => found,
            _ => self.nodes(rank as usize).len().div_ceil(32),
        };
        (&parcel[..count.min(parcel.len())], is_list)
    }

    /// Nodes of a rank.
    fn nodes(&self, rank: usize) -> Range<u32> {
        self.job.run.cuts[rank]..self.job.run.cuts[rank + 1]
    }

    /// Words that follow the mail of a rank; `None` if it announces what it cannot have.
    fn parcel_words(&self, rank: usize, mail: &Mail) -> Option<usize> {
        let own = self.nodes(rank).len();
        let found = mail.found as usize;
        let is_list = mail.is_list != 0;
        if found > own || (is_list && mail.found > LIST) {
            return None;
        }
        Some(match self.job.run.kind {
            MultiKind::Components => self.job.run.nodes as usize,
            MultiKind::Ranks => own,
            _ if found == 0 => 0,
            _ => {
                let nodes = if is_list { found } else { own.div_ceil(32) };
                nodes + if self.job.run.has_lengths() { found } else { 0 }
            }
        })
    }

    /// What this rank sends after its mail.
    fn parcel(&self, epoch: u32, mail: &Mail) -> Vec<u32> {
        let (own, rank) = (self.own(), self.job.own);
        let nodes = self.nodes(rank as usize);
        let step = self.next_step(epoch);
        match self.job.run.kind {
            MultiKind::Components => {
                let shown = self.shares_at(epoch - 1);
                self.read(own, shown, self.job.run.nodes as usize).collect()
            }
            MultiKind::Ranks => {
                let first = self.shares_at(step) + u64::from(nodes.start);
                self.read(own, first, nodes.len()).collect()
            }
            _ if mail.found == 0 => Vec::new(),
            _ => {
                let (at, count) = match mail.is_list {
                    0 => (self.bits_at(rank, step), nodes.len().div_ceil(32)),
                    _ => (self.list_at(rank, step), mail.found as usize),
                };
                let mut words: Vec<u32> = self.read(own, at, count).collect();
                if self.job.run.has_lengths() {
                    let found = nodes_of(&words, mail.is_list != 0, nodes.start);
                    let value = |node: u32| {
                        let at = self.shared.values + u64::from(node);
                        self.word(own, at).load(Ordering::Relaxed)
                    };
                    let values: Vec<u32> = found.map(value).collect();
                    words.extend(values);
                }
                words
            }
        }
    }

    /// Puts what a rank sent where a device of this host would have written it, and its epoch last.
    fn deliver(&self, rank: u32, epoch: u32, mail: &Mail, parcel: &[u32]) {
        let (own, nodes, step) = (self.own(), self.nodes(rank as usize), self.next_step(epoch));
        match self.job.run.kind {
            MultiKind::Components => {
                self.write(
                    self.outbox(rank as usize),
                    self.shares_at(epoch - 1),
                    parcel,
                );
            }
            MultiKind::Ranks => {
                self.write(own, self.shares_at(step) + u64::from(nodes.start), parcel);
            }
            _ if mail.found == 0 => {}
            _ => {
                let (words, is_list) = self.nodes_sent(rank, mail, parcel);
                let values = &parcel[words.len()..];
                let at = if is_list {
                    self.list_at(rank, step)
                } else {
                    self.bits_at(rank, step)
                };
                self.write(own, at, words);
                for (node, value) in nodes_of(words, is_list, nodes.start).zip(values) {
                    self.write(own, self.shared.values + u64::from(node), &[*value]);
                }
            }
        }
        let at = Self::mail_at(rank, epoch);
        let mail: &[u32] = cast_slice(bytemuck::bytes_of(mail));
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
                self.write(self.outbox(rank), at, cast_slice(bytemuck::bytes_of(&none)));
            }
        }
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
