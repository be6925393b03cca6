//! A resident service: persistent workers, and queries about one graph that are posted to them
//! instead of being launched.
//!
//! Hosts and workers meet in the ring of [`seawall_core::protocol`]. Here the workers are CPU
//! threads; any number of threads may post. Every ticket gets exactly one answer: the result, a
//! fault, or that the service ended. `docs/ring.md` has the rules.
//!
//! ```
//! use seawall::graph::Graph;
//! use seawall::service::{Config, Query, Reply, Service};
//! use std::sync::Arc;
//!
//! let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)], false)?;
//! let service = Service::start(Arc::new(graph), Config::default())?;
//! let ticket = service.submit(Query::Reach { source: 0, target: 3 })?;
//! assert_eq!(ticket.wait(None)?.reply, Reply::Reached(true));
//! let stats = service.shut_down();
//! assert_eq!(stats.submitted, stats.delivered);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod notify;
mod client;
mod config;
mod deadline;
mod in_flight;
mod encode;
mod error;
mod watchdog;
mod log;
mod machine;
mod memory;
mod programs;
mod posts;
mod query;
mod reply;
mod free_slots;
mod search;
mod sharded_counter;
mod stats;
mod ticket;
mod worker;

pub use client::{Batch, Client};
pub use config::{BLOCKS, Config, Handler, On, Program, Tenant};
pub use error::{StartError, SubmitError, TicketError};
pub use log::{Line, Log};
pub use memory::SharedWords;
pub use query::{Metric, Priority, Query, Span};
pub use reply::{Answer, ProgramFault, Reply};
pub use seawall_core::abi::ring::{Continuation, FaultCode, Kind};
pub use seawall_core::protocol::{Outcome, Refusal, Short, ShortOp};
pub use stats::{Stats, TenantStats};
pub use ticket::Ticket;
pub use worker::Call;

use crate::backend::NamedWaves;
use crate::backend::cpu::ProgramCode;
use crate::backend::serve::Started;
use crate::executor::Jit;
use crate::graph::Graph;
use client::Post;
use in_flight::InFlight;
use notify::Notify;
use posts::Posts;
use seawall_core::abi::ring::{ARGUMENTS, OWNER, Shutdown};
use seawall_core::protocol::{AGEING_AFTER, Layout, Ring, Setup};
use sharded_counter::{Gate, Numbers};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The ring of a service.
type SharedRing<'s> = Ring<'s, SharedWords>;

/// The number of the task that orders the end; no other task has it before numbers wrap.
pub const END_TASK: u32 = u32::MAX;

/// Time beyond its budget in which a handler must notice the end of the service.
const GRACE: Duration = Duration::from_millis(500);

/// Time between two polls by a service that drains.
const DRAIN_LOOK: Duration = Duration::from_millis(20);

/// State that workers, clients and watchdog share.
struct Shared {
    words: SharedWords,
    layout: Layout,
    in_flight: InFlight,
    /// Queues of posts, if workers do not share this memory.
    posts: Option<Posts>,
    /// The machine that serves, once it has started.
    machine: OnceLock<Started>,
    notify: Notify,
    graph: Arc<Graph>,
    programs: Vec<Program>,
    /// Machine code of each program, for one thread.
    codes: Vec<Arc<ProgramCode>>,
    jit: Jit,
    handlers: HashMap<u32, Arc<Handler>>,
    slot_budget: Duration,
    workers: u32,
    tenants: u32,
    tasks: Numbers,
    /// Whether a thread has begun to sleep for an answer or for space.
    calls_collector: AtomicBool,
    /// Whether the service takes no more posts.
    gate: Gate,
    /// Whether handlers should end.
    is_forced: AtomicBool,
    /// Whether no worker answers any more.
    is_over: AtomicBool,
    /// Workers whose threads have not ended.
    alive: AtomicU32,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("layout", &self.layout)
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn new(graph: Arc<Graph>, config: Config) -> Result<Self, StartError> {
        config.check_opcodes()?;
        config.check_machine()?;
        check_programs(&graph, &config.programs)?;
        let (tenants, window_words) = config.tenant_records()?;
        let layout = Layout::new(config.slots, config.print_records, window_words)?;
        let words = SharedWords::new(layout.words())?;
        let ring = Ring::new(&words, layout);
        let workers = config.worker_count()?;
        ring.format(&Setup {
            tenants: &tenants,
            workers: if config.on == On::Threads { 1 } else { workers },
            ageing_after: AGEING_AFTER,
        });
        let programs = config.programs.iter();
        let waves = programs.map(|served| NamedWaves::of(&served.program));
        let in_flight = InFlight::new(ring, waves.collect());
        let posts = match config.on {
            On::Threads => None,
            On::Gpu { .. } | On::Blocks => Some(Posts::new(layout.slots())?),
        };
        let programs = config.programs.iter();
        let code = |served: &Program| ProgramCode::of(&served.program, [&*graph], 1);
        let codes = programs.map(|served| Arc::new(code(served))).collect();
        Ok(Self {
            words,
            layout,
            in_flight,
            posts,
            machine: OnceLock::new(),
            notify: Notify::default(),
            graph,
            programs: config.programs,
            codes,
            jit: config.jit,
            handlers: config.handlers,
            slot_budget: config.slot_budget,
            workers,
            tenants: config.tenants.len() as u32,
            tasks: Numbers::default(),
            calls_collector: AtomicBool::new(false),
            gate: Gate::default(),
            is_forced: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            alive: AtomicU32::new(0),
        })
    }

    fn ring(&self) -> SharedRing<'_> {
        Ring::new(&self.words, self.layout)
    }

    /// Whether some ticket waits for its answer.
    fn is_busy(&self) -> bool {
        let delivered = self.in_flight.delivered.sum();
        self.in_flight.submitted.sum() != delivered
    }

    /// Has the collector poll for answers often for a while.
    fn call_collector(&self) {
        self.calls_collector.store(true, Ordering::Relaxed);
    }

    fn has_ended(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn close(&self) {
        self.gate.close();
        self.in_flight.wake_all();
    }
}

fn check_programs(graph: &Graph, programs: &[Program]) -> Result<(), StartError> {
    for (number, program) in programs.iter().enumerate() {
        crate::backend::check_answer(&program.program, graph, program.result).map_err(
            |source| StartError::Program {
                program: number,
                source,
            },
        )?;
    }
    Ok(())
}

/// A running service. Dropping it ends it by force.
#[derive(Debug)]
pub struct Service {
    shared: Arc<Shared>,
    has_ended: bool,
    threads: Vec<JoinHandle<()>>,
}

impl Service {
    /// Starts workers on `graph`.
    ///
    /// # Errors
    /// As [`StartError`] says; no thread is left then.
    pub fn start(graph: Arc<Graph>, config: Config) -> Result<Self, StartError> {
        let service = Self::start_workers(graph, config);
        match &service {
            Ok(Self { shared, .. }) => tracing::info!(
                machine = stats::machine(shared),
                nodes = shared.graph.nodes(),
                edges = shared.graph.edges(),
                workers = shared.workers,
                tenants = shared.tenants,
                slots = shared.layout.slots(),
                "the service answers"
            ),
            Err(error) => tracing::error!(%error, "the service did not start"),
        }
        service
    }

    fn start_workers(graph: Arc<Graph>, config: Config) -> Result<Self, StartError> {
        let on = config.on;
        let shared = Arc::new(Shared::new(graph, config)?);
        let mut service = Self {
            shared,
            has_ended: false,
            threads: Vec::new(),
        };
        if on != On::Threads {
            service.start_machine(on)?;
            return Ok(service);
        }
        for number in 0..service.shared.workers {
            service.shared.alive.fetch_add(1, Ordering::Relaxed);
            service.spawn(number, move |shared| {
                worker::run(shared, number);
                shared.alive.fetch_sub(1, Ordering::Release);
            })?;
        }
        service.spawn(service.shared.workers, |shared| watchdog::run(shared))?;
        Ok(service)
    }

    /// Starts the kernel of a service, and the thread that collects its answers.
    fn start_machine(&mut self, on: On) -> Result<(), StartError> {
        let (notice, outcome) = std::sync::mpsc::channel();
        self.shared.alive.fetch_add(1, Ordering::Relaxed);
        self.spawn(0, move |shared| machine::run(shared, on, &notice))?;
        // The thread that would notify always does before it ends.
        if let Ok(Err(error)) = outcome.recv() {
            return Err(StartError::Machine(error));
        }
        self.spawn(1, machine::collect)
    }

    fn spawn(
        &mut self,
        number: u32,
        body: impl FnOnce(&Arc<Shared>) + Send + 'static,
    ) -> Result<(), StartError> {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name(format!("seawall-service-{number}"));
        let thread = thread.spawn(move || body(&shared));
        let thread = thread.map_err(|error| {
            self.shared.alive.fetch_sub(1, Ordering::Relaxed);
            StartError::Threads {
                worker: number as usize,
                workers: self.shared.workers as usize,
                reason: error.to_string(),
            }
        })?;
        self.threads.push(thread);
        Ok(())
    }

    /// The client of a tenant, from 1 on, at normal priority; `None` if there is no such
    /// tenant.
    #[must_use]
    pub fn client(&self, tenant: u32) -> Option<Client> {
        (1..=self.shared.tenants)
            .contains(&tenant)
            .then(|| self.tenant(tenant, Priority::default()))
    }

    /// Posts a query for tenant 1, as [`Client::submit`].
    ///
    /// # Errors
    /// As [`Client::submit`].
    pub fn submit(&self, query: Query) -> Result<Ticket, SubmitError> {
        self.tenant(1, Priority::default()).submit(query)
    }

    /// Statistics of the service.
    #[must_use]
    pub fn stats(&self) -> Stats {
        stats::of(&self.shared)
    }

    /// Printed records, from now on.
    #[must_use]
    pub fn log(&self) -> Log {
        Log::new(Arc::clone(&self.shared))
    }

    /// Accepts no more queries, waits until all posted ones have ended, and ends.
    #[must_use = "the statistics are the last ones"]
    pub fn shut_down(mut self) -> Stats {
        self.shared.close();
        let post = Post {
            kind: Kind::Shutdown,
            opcode: Kind::Shutdown.opcode(),
            arguments: [0; ARGUMENTS],
            batch: 0,
            closes: None,
        };
        // The order to end is posted like all work, after earlier posts.
        if self.tenant(OWNER, Priority::Idle).post_last(&post).is_err() {
            self.shared.ring().shut_down(Shutdown::Drain);
            self.shared.notify.ring();
        }
        self.wait_for_ends();
        self.end();
        stats::of(&self.shared)
    }

    /// Waits until no ticket waits, or nothing has ended for longer than a slot may take: the
    /// remaining slots wait for work that will never come.
    fn wait_for_ends(&self) {
        let shared = &self.shared;
        let most = shared.slot_budget.saturating_add(GRACE);
        let ends = || shared.in_flight.delivered.sum();
        let (mut seen, mut since) = (ends(), Instant::now());
        while shared.is_busy() && since.elapsed() < most {
            let changes = shared.notify.changes();
            if ends() != seen {
                (seen, since) = (ends(), Instant::now());
            }
            shared.notify.wait(changes, DRAIN_LOOK);
        }
    }

    /// Ends after the queries that run; all others end with an error.
    #[must_use = "the statistics are the last ones"]
    pub fn abort(mut self) -> Stats {
        self.end();
        stats::of(&self.shared)
    }

    fn tenant(&self, tenant: u32, priority: Priority) -> Client {
        Client {
            shared: Arc::new(Arc::clone(&self.shared)),
            tenant,
            priority,
        }
    }

    /// Ends workers and watchdog, and every ticket without an answer. A worker whose handler does
    /// not return is abandoned: its memory stays until it does.
    fn end(&mut self) {
        let shared = &self.shared;
        shared.close();
        shared.is_forced.store(true, Ordering::Relaxed);
        shared.ring().shut_down(Shutdown::Now);
        shared.notify.ring();
        let began = Instant::now();
        let most = shared.slot_budget.saturating_add(GRACE);
        while shared.alive.load(Ordering::Acquire) > 0 && began.elapsed() < most {
            let changes = shared.notify.changes();
            shared.notify.wait(changes, Duration::from_millis(1));
        }
        shared.is_over.store(true, Ordering::Relaxed);
        shared.notify.ring();
        for thread in self.threads.drain(..) {
            if shared.alive.load(Ordering::Acquire) == 0 {
                // Handlers are guarded, so these threads do not panic.
                let _ = thread.join();
            }
        }
        shared.in_flight.end_all();
        if !std::mem::replace(&mut self.has_ended, true) {
            let stats = stats::of(shared);
            tracing::info!(
                submitted = stats.submitted,
                faults = stats.faults,
                overrun = stats.overrun,
                "the service has ended"
            );
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end();
    }
}
