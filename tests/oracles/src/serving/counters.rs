//! Every posted task ends exactly once: producers and service agree about the sum of the hashes
//! of all tasks, and about all counts.

use super::{LONG, config, start};
use crate::random::Random;
use seawall::graph::Graph;
use seawall::service::{Client, END_TASK, On, Priority, Query, Reply, Span, SubmitError, Ticket};
use seawall_core::protocol::hash_of;
use std::collections::VecDeque;

/// Tickets that a producer has at a time.
const UNDER_WAY: usize = 100;

/// Slots of each priority; fewer than tickets, so that producers wait for space.
const SLOTS: u32 = 24;

/// One task of this many is a batch with its fence, whose turns depend on others.
const BATCHES: u32 = 64;

/// Number of workers; one automaton of this many reads more than one symbol. Windows of a GPU's
/// service lie across a bus, where each symbol takes microseconds.
const fn scale_of(on: On) -> (usize, u32) {
    match on {
        On::Gpu { .. } => (64, 1024),
        _ => (3, 1),
    }
}

/// The producers' counts of tasks.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    hashes: u32,
    faults: u32,
    added: u32,
    yields: u32,
    fences: u32,
    tasks: u64,
}

impl Counters {
    fn and(self, other: Self) -> Self {
        Self {
            hashes: self.hashes.wrapping_add(other.hashes),
            faults: self.faults.wrapping_add(other.faults),
            added: self.added.wrapping_add(other.added),
            yields: self.yields.wrapping_add(other.yields),
            fences: self.fences.wrapping_add(other.fences),
            tasks: self.tasks + other.tasks,
        }
    }
}

/// Posts `slots` random tasks from `producers` threads, and compares all sums; returns the posted
/// tasks.
///
/// # Errors
/// The first sum that differs.
pub fn check(on: On, producers: u32, seed: u64, slots: u64) -> Result<String, String> {
    let edges: Vec<_> = (0..63).map(|node| (node, node + 1)).collect();
    let graph = Graph::from_edges(64, &edges, false).map_err(|error| error.to_string())?;
    let (workers, rarity) = scale_of(on);
    let mut config = config(on, workers);
    config.slots = [SLOTS; 5];
    let service = start(graph, config)?;
    let client = super::client(&service)?;
    // An automaton of one state, for tasks of several turns.
    let written = client.write(100, &[1, 1, 0]);
    written.map_err(|error| error.to_string())?;
    let share = slots.div_ceil(u64::from(producers));
    let all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..producers)
            .map(|number| {
                let client = client.clone();
                let seed = seed.wrapping_mul(64).wrapping_add(u64::from(number));
                scope.spawn(move || produce(&client, seed, rarity, share))
            })
            .collect();
        let parts = threads.into_iter().map(|thread| thread.join());
        parts
            .map(|part| part.unwrap_or_else(|_| Err("a producer panicked".to_owned())))
            .try_fold(Counters::default(), |all, part| {
                Ok::<_, String>(all.and(part?))
            })
    })?;
    let mut word = [0];
    let read = client.read(0, &mut word);
    read.map_err(|error| error.to_string())?;
    let stats = service.shut_down();
    // The order to end is a separate task.
    let end = hash_of(END_TASK);
    let posted = all.tasks as u32 + 1;
    let tenant = stats.tenants.first().copied().unwrap_or_default();
    for (what, found, expected) in [
        ("additions", word[0], all.added),
        ("hashes", stats.checksum, all.hashes.wrapping_add(end)),
        ("ends", stats.ended, posted),
        ("posts", stats.submitted as u32, posted),
        ("answers", stats.delivered as u32, posted),
        ("faults", stats.faults, all.faults),
        ("yields", stats.yields, all.yields),
        ("epochs", stats.epoch, all.fences),
        ("waiting", stats.waiting.iter().sum(), 0),
        ("served", tenant.served, all.tasks as u32),
        ("running", tenant.running, 0),
    ] {
        if found != expected {
            return Err(format!("{what}: {found} and not {expected}; {stats:?}"));
        }
    }
    Ok(format!(
        "{} tasks: {} yields, {} requeues, {} faults, {} fences",
        all.tasks, stats.yields, stats.requeues, stats.faults, stats.epoch
    ))
}

fn draw(random: &mut Random, rarity: u32, counters: &mut Counters) -> (Query, Option<Reply>) {
    match random.below(6) {
        0 => {
            let turns = random.below(6) * u32::from(random.below(rarity) == 0);
            counters.yields = counters.yields.wrapping_add(turns);
            let input = Span {
                address: 200,
                words: turns * 256 + 1,
            };
            let query = Query::Automaton {
                table: 100,
                input,
                parent: 0,
            };
            (query, Some(Reply::Word(0)))
        }
        1 => {
            counters.faults = counters.faults.wrapping_add(1);
            let arguments = [0; 11];
            (
                Query::User {
                    opcode: 51,
                    arguments,
                },
                None,
            )
        }
        2 => {
            let value = random.below(1000);
            counters.added = counters.added.wrapping_add(value);
            (Query::Add { address: 0, value }, None)
        }
        3 => {
            let (source, target) = (random.below(64), random.below(64));
            let reached = Reply::Reached(source <= target);
            (Query::Reach { source, target }, Some(reached))
        }
        _ => (Query::Nop, Some(Reply::Done)),
    }
}

/// A ticket and its expected reply, without the number of an epoch; `None` for a fault.
type Open = (Ticket, Option<Reply>);

/// Posts a batch of up to three tasks and its fence; does nothing if too many are open.
fn post_batch(client: &Client, random: &mut Random) -> Result<Vec<Open>, String> {
    let priority = Priority::ALL[random.below(5) as usize];
    let mut batch = match client.with_priority(priority).batch() {
        Ok(batch) => batch,
        Err(SubmitError::Batches { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let mut posted = Vec::new();
    for _ in 0..random.below(4) {
        batch.set_priority(Priority::ALL[random.below(5) as usize]);
        // A search takes longer than its fence, which polls until then.
        let target = random.below(64);
        let query = Query::Reach { source: 0, target };
        let ticket = batch.submit(query).map_err(|error| error.to_string())?;
        posted.push((ticket, Some(Reply::Reached(true))));
    }
    let fence = batch.fence().map_err(|error| error.to_string())?;
    posted.push((fence, Some(Reply::Epoch(0))));
    Ok(posted)
}

fn produce(client: &Client, seed: u64, rarity: u32, tasks: u64) -> Result<Counters, String> {
    let mut random = Random::new(seed);
    let mut counters = Counters::default();
    let mut failed = 0_u32;
    let mut open = VecDeque::new();
    let mut end = |(ticket, expected): Open| {
        let end = ticket.wait(LONG);
        failed = failed.wrapping_add(u32::from(end.is_err()));
        match (end, expected) {
            (Ok(answer), Some(Reply::Epoch(_))) if matches!(answer.reply, Reply::Epoch(1..)) => {
                Ok(())
            }
            (Ok(answer), Some(expected)) if answer.reply != expected => {
                Err(format!("{:?} and not {expected:?}", answer.reply))
            }
            (Err(error), Some(_)) => Err(error.to_string()),
            _ => Ok(()),
        }
    };
    while counters.tasks < tasks {
        let posted = if random.below(BATCHES) == 0 {
            post_batch(client, &mut random)?
        } else {
            let priority = Priority::ALL[random.below(5) as usize];
            let (query, expected) = draw(&mut random, rarity, &mut counters);
            let ticket = client.with_priority(priority).submit(query);
            vec![(ticket.map_err(|error| error.to_string())?, expected)]
        };
        for (ticket, expected) in posted {
            counters.hashes = counters.hashes.wrapping_add(hash_of(ticket.task()));
            counters.tasks += 1;
            counters.fences += u32::from(matches!(expected, Some(Reply::Epoch(_))));
            open.push_back((ticket, expected));
        }
        while open.len() > UNDER_WAY
            && let Some(first) = open.pop_front()
        {
            end(first)?;
        }
    }
    open.into_iter().try_for_each(&mut end)?;
    if failed != counters.faults {
        return Err(format!("{failed} faults and not {}", counters.faults));
    }
    Ok(counters)
}
