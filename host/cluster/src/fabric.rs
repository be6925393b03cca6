//! Words over MPI, and heartbeats between ranks.
//!
//! MPI is called from the thread that started it alone. That thread sends and receives for the one
//! that works ([`Link`]), and sends each other rank a heartbeat every second, so that a rank that
//! computes for long is not taken for one that is stuck. A rank that stays silent is named, the
//! thread that works gets the error, and the job ends.

use mpi::Threading;
use mpi::environment::{Universe, processor_name};
use mpi::point_to_point::{Destination, Source};
use mpi::request::{CancelGuard, Request, StaticScope, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives};
use seawall::multi::{Carrier, CarrierError, counts_of_all};
use std::mem::take;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two heartbeats.
const PERIOD: Duration = Duration::from_secs(1);

/// Silence after which a rank is lost.
const SILENCE: Duration = Duration::from_secs(6);

/// Time in which the thread that works ends after a rank was lost, and other ranks notice it too.
const GRACE: Duration = Duration::from_secs(3);

/// Time for which a call for words is waited for between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// Polls of messages under way that let other threads go first; later ones sleep. A message moves only
/// when it is polled, so that long ones have one more for as many words.
const POLLS: usize = 1000;
const WORDS_A_POLL: usize = 128;

/// Time that they sleep.
const REST: Duration = Duration::from_micros(20);

/// Words of a message: counts of MPI have 31 bits.
const MESSAGE: usize = 1 << 27;

/// Bytes of a host's name that ranks know.
const NAME: usize = 64;

/// Bytes of the stack of the thread that works.
const STACK: usize = 8 << 20;

const WORDS: mpi::Tag = 1;
const HEARTBEAT: mpi::Tag = 2;

/// A message without words; its arrival is what counts.
static EMPTY: [u32; 0] = [];

/// The ranks of an MPI job.
pub struct Fabric {
    universe: Universe,
    world: SimpleCommunicator,
    hosts: Vec<String>,
    /// Number of this rank among those of its host, and their number.
    local: [u32; 2],
}

impl std::fmt::Debug for Fabric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fabric")
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// The [`Carrier`] of the thread that works.
#[derive(Debug)]
pub struct Link {
    rank: u32,
    ranks: u32,
    calls: Sender<Call>,
    answers: Receiver<Answer>,
    /// Memory for words that are sent.
    spare: Vec<u32>,
}

/// Words to exchange, and memory for those of all.
#[derive(Debug)]
struct Call {
    own: Vec<u32>,
    /// Words of `own` for each rank, one's after another's; all are for all ranks without.
    parts: Option<Vec<usize>>,
    /// Words that each rank sends to this one.
    counts: Vec<usize>,
    all: Vec<u32>,
}

/// The call comes back with the words of all.
type Answer = Result<Call, CarrierError>;

impl Carrier for Link {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn all_gather(
        &mut self,
        own: &[u32],
        counts: &[usize],
        all: &mut Vec<u32>,
    ) -> Result<(), CarrierError> {
        self.call(&[own], None, counts.to_vec(), all)
    }

    fn all_to_all(&mut self, parts: &[Vec<u32>], all: &mut Vec<u32>) -> Result<(), CarrierError> {
        let counts = counts_of_all(self, parts)?;
        let own = self.rank as usize;
        let to_own = counts.chunks(parts.len()).map(|row| row[own]).collect();
        let lengths = parts.iter().map(Vec::len).collect();
        let parts: Vec<&[u32]> = parts.iter().map(Vec::as_slice).collect();
        self.call(&parts, Some(lengths), to_own, all)
    }
}

impl Link {
    /// Has words exchanged, and waits for those of all.
    fn call(
        &mut self,
        own: &[&[u32]],
        parts: Option<Vec<usize>>,
        counts: Vec<usize>,
        all: &mut Vec<u32>,
    ) -> Result<(), CarrierError> {
        let rank = self.rank;
        let gone = || CarrierError::new(rank, "its thread for messages has ended".to_owned());
        let mut call = Call {
            own: take(&mut self.spare),
            parts,
            counts,
            all: take(all),
        };
        call.own.clear();
        own.iter()
            .for_each(|words| call.own.extend_from_slice(words));
        self.calls.send(call).map_err(|_| gone())?;
        let answer = self.answers.recv().map_err(|_| gone())??;
        (self.spare, *all) = (answer.own, answer.all);
        Ok(())
    }
}

/// The thread that works, as the one that carries sees it.
struct Worker {
    calls: Receiver<Call>,
    answers: Sender<Answer>,
    thread: JoinHandle<ExitCode>,
}

/// Which ranks have answered, and when.
struct Heartbeats<'f> {
    fabric: &'f Fabric,
    heard: Vec<Instant>,
    sent: Instant,
    pending: Vec<Request<'static, [u32], StaticScope>>,
}

impl Fabric {
    /// Starts MPI, on the thread that later calls [`Fabric::run`]. Collective over all ranks.
    ///
    /// Returns `None` if MPI was started before, or does not serve a process of several threads.
    #[must_use]
    pub fn start() -> Option<Self> {
        let (universe, threading) = mpi::initialize_with_threading(Threading::Funneled)?;
        if threading < Threading::Funneled {
            return None;
        }
        let world = universe.world();
        let mut own = [0_u8; NAME];
        let name = processor_name().unwrap_or_default();
        let bytes = name.as_bytes();
        let count = bytes.len().min(NAME);
        own[..count].copy_from_slice(&bytes[..count]);
        let mut all = vec![0_u8; NAME * world.size() as usize];
        world.all_gather_into(&own[..], &mut all[..]);
        let text = |name: &[u8]| {
            String::from_utf8_lossy(name)
                .trim_end_matches('\0')
                .to_owned()
        };
        let hosts: Vec<String> = all.chunks(NAME).map(text).collect();
        let rank = world.rank() as usize;
        let own = &hosts[rank];
        let local = [&hosts[..rank], &hosts[..]]
            .map(|hosts| hosts.iter().filter(|host| *host == own).count() as u32);
        Some(Self {
            universe,
            world,
            hosts,
            local,
        })
    }

    /// The number of this rank among those of its host, from 0, and their number; hosts are told apart by
    /// their names.
    #[must_use]
    pub fn local_ranks(&self) -> [u32; 2] {
        self.local
    }

    /// Calls `work` on another thread, carries for it, and returns its exit code. If a rank is lost,
    /// `work` gets the error, and the job ends with exit code 1.
    pub fn run(self, work: impl FnOnce(Link) -> ExitCode + Send + 'static) -> ExitCode {
        let (calls, called) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        let link = Link {
            rank: self.world.rank() as u32,
            ranks: self.world.size() as u32,
            calls,
            answers,
            spare: Vec::new(),
        };
        let thread = thread::Builder::new().stack_size(STACK);
        let thread = match thread.spawn(move || work(link)) {
            Ok(thread) => thread,
            Err(error) => {
                eprintln!(
                    "rank {}: no thread could be started: {error}",
                    self.world.rank()
                );
                self.world.abort(1)
            }
        };
        let worker = Worker {
            calls: called,
            answers: answer,
            thread,
        };
        let code = self.serve(worker);
        drop(self.universe);
        code
    }

    fn serve(&self, worker: Worker) -> ExitCode {
        let mut heartbeats = Heartbeats {
            fabric: self,
            heard: vec![Instant::now(); self.hosts.len()],
            sent: Instant::now(),
            pending: Vec::new(),
        };
        loop {
            match worker.calls.recv_timeout(LOOK) {
                Ok(mut call) => {
                    let mut all = take(&mut call.all);
                    all.resize(call.counts.iter().sum(), 0);
                    if let Err(lost) = self.exchange(&call, &mut all, &mut heartbeats, &worker) {
                        self.give_up(lost, &worker);
                    }
                    call.all = all;
                    // A thread that works no more has ended, and is joined below.
                    let _ = worker.answers.send(Ok(call));
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(lost) = heartbeats.look() {
                        self.give_up(lost, &worker);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // Its panic was printed there.
        let code = worker.thread.join().unwrap_or(ExitCode::FAILURE);
        // Others may still write results, and hear of this rank until all are done.
        let mut all_done = self.world.immediate_barrier();
        loop {
            match all_done.test() {
                Ok(_) => {
                    // Nobody listens any more, and a request has to end before it goes.
                    heartbeats
                        .pending
                        .drain(..)
                        .map(CancelGuard::from)
                        .for_each(drop);
                    return code;
                }
                Err(waits) => all_done = waits,
            }
            if let Err(lost) = heartbeats.look() {
                self.end(&lost);
            }
            thread::sleep(REST);
        }
    }

    /// Sends own words to all other ranks, and receives theirs.
    fn exchange(
        &self,
        call: &Call,
        all: &mut [u32],
        heartbeats: &mut Heartbeats<'_>,
        worker: &Worker,
    ) -> Result<(), CarrierError> {
        let own = self.world.rank();
        scope(|scope| {
            let (mut sends, mut receives) = (Vec::new(), Vec::new());
            let mut rest = all;
            let mut parts = call.parts.as_deref().unwrap_or_default().iter();
            let mut words = &call.own[..];
            for (rank, count) in (0..).zip(&call.counts) {
                let (place, after) = rest.split_at_mut(*count);
                rest = after;
                let sent = match parts.next() {
                    Some(part) => words.split_off(..*part).unwrap_or_default(),
                    None => &call.own,
                };
                if rank == own {
                    place.copy_from_slice(sent);
                    continue;
                }
                let other = self.world.process_at_rank(rank);
                for part in place.chunks_mut(MESSAGE) {
                    receives.push(other.immediate_receive_into_with_tag(scope, part, WORDS));
                }
                for part in sent.chunks(MESSAGE) {
                    sends.push(other.immediate_send_with_tag(scope, part, WORDS));
                }
            }
            let most = POLLS + call.counts.iter().sum::<usize>() / WORDS_A_POLL;
            let mut polls = 0_usize;
            loop {
                sends = sends
                    .into_iter()
                    .filter_map(|send| send.test().err())
                    .collect();
                receives = receives
                    .into_iter()
                    .filter_map(|receive| receive.test().err())
                    .collect();
                if sends.is_empty() && receives.is_empty() {
                    return Ok(());
                }
                if let Err(lost) = heartbeats.look() {
                    // Messages are under way into memory of this scope, so it is not left.
                    self.give_up(lost, worker);
                }
                polls = polls.saturating_add(1);
                if polls < most {
                    thread::yield_now();
                } else {
                    thread::sleep(REST);
                }
            }
        })
    }

    /// Lets the thread that works say that a rank is lost, and ends the job.
    fn give_up(&self, lost: CarrierError, worker: &Worker) -> ! {
        let _ = worker.answers.send(Err(lost.clone()));
        let end = Instant::now() + GRACE;
        while Instant::now() < end {
            // It may ask once more, or compute and not ask at all.
            if worker.calls.try_recv().is_ok() {
                let _ = worker.answers.send(Err(lost.clone()));
            }
            thread::sleep(LOOK);
        }
        if !worker.thread.is_finished() {
            self.end(&lost);
        }
        self.world.abort(1)
    }

    /// Says that a rank is lost, and ends the job.
    fn end(&self, lost: &CarrierError) -> ! {
        eprintln!("rank {}: {lost}", self.world.rank());
        self.world.abort(1)
    }
}

impl Heartbeats<'_> {
    /// Sends heartbeats, takes those of others, and returns an error if one is silent.
    fn look(&mut self) -> Result<(), CarrierError> {
        let world = &self.fabric.world;
        let now = Instant::now();
        while let Some(status) = world.any_process().immediate_probe_with_tag(HEARTBEAT) {
            let from = status.source_rank();
            let mut none: [u32; 0] = [];
            world
                .process_at_rank(from)
                .receive_into_with_tag(&mut none[..], HEARTBEAT);
            self.heard[from as usize] = now;
        }
        if now.duration_since(self.sent) >= PERIOD {
            // This process may have been stopped itself, and heard nobody meanwhile.
            if now.duration_since(self.sent) >= SILENCE {
                self.heard.fill(now);
            }
            self.sent = now;
            let pending = std::mem::take(&mut self.pending);
            self.pending = pending
                .into_iter()
                .filter_map(|sign| sign.test().err())
                .collect();
            for rank in (0..world.size()).filter(|rank| *rank != world.rank()) {
                let other = world.process_at_rank(rank);
                self.pending.push(other.immediate_send_with_tag(
                    StaticScope,
                    &EMPTY[..],
                    HEARTBEAT,
                ));
            }
        }
        let own = world.rank() as usize;
        let is_silent = |(rank, heard): &(usize, &Instant)| {
            *rank != own && now.duration_since(**heard) > SILENCE
        };
        match self.heard.iter().enumerate().find(is_silent) {
            Some((rank, _)) => Err(CarrierError::new(
                rank as u32,
                format!(
                    "nothing was heard of it for {} s; it ran on host {}",
                    SILENCE.as_secs(),
                    self.fabric.hosts[rank]
                ),
            )),
            None => Ok(()),
        }
    }
}
