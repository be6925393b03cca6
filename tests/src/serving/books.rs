//! Every posted task ends exactly once: producers and service agree about the sum of the hashes
//! of all tasks, and about all counts.

use super::{LONG, config, start};
use crate::random::Random;
use seawall::graph::Graph;
use seawall::service::{Client, END_TASK, On, Priority, Query, Reply, Span, Ticket};
use seawall_core::protocol::hash_of;
use std::collections::VecDeque;

/// Tickets that a producer has at a time.
const UNDER_WAY: usize = 100;

/// Slots of each priority; fewer than tickets, so that producers wait for room.
const SLOTS: u32 = 24;

/// The tasks as their producers know them.
#[derive(Clone, Copy, Debug, Default)]
struct Books {
    hashes: u32,
    faults: u32,
    added: u32,
    yields: u32,
    tasks: u64,
}

impl Books {
    fn and(self, other: Self) -> Self {
        Self {
            hashes: self.hashes.wrapping_add(other.hashes),
            faults: self.faults.wrapping_add(other.faults),
            added: self.added.wrapping_add(other.added),
            yields: self.yields.wrapping_add(other.yields),
            tasks: self.tasks + other.tasks,
        }
    }
}

/// Posts `slots` random tasks from `producers` threads, and compares all sums.
///
/// # Errors
/// The first sum that differs.
pub fn check(on: On, producers: u32, (seed, slots): (u64, u64)) -> Result<(), String> {
    let edges: Vec<_> = (0..63).map(|node| (node, node + 1)).collect();
    let graph = Graph::from_edges(64, &edges, false).map_err(|error| error.to_string())?;
    let mut config = config(on, 3);
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
                scope.spawn(move || produce(&client, seed, share))
            })
            .collect();
        let parts = threads.into_iter().map(|thread| thread.join());
        parts
            .map(|part| part.unwrap_or_else(|_| Err("a producer panicked".to_owned())))
            .try_fold(Books::default(), |all, part| {
                Ok::<_, String>(all.and(part?))
            })
    })?;
    let mut word = [0];
    let read = client.read(0, &mut word);
    read.map_err(|error| error.to_string())?;
    let stats = service.shut_down();
    // The order to end is a task of its own.
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
        ("requeues", stats.requeues, 0),
        ("waiting", stats.waiting.iter().sum(), 0),
        ("served", tenant.served, all.tasks as u32),
        ("running", tenant.running, 0),
    ] {
        if found != expected {
            return Err(format!("{what}: {found} and not {expected}; {stats:?}"));
        }
    }
    Ok(())
}

fn draw(random: &mut Random, books: &mut Books) -> (Query, Option<Reply>) {
    match random.below(6) {
        0 => {
            let turns = random.below(6);
            books.yields = books.yields.wrapping_add(turns);
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
            books.faults = books.faults.wrapping_add(1);
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
            books.added = books.added.wrapping_add(value);
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

fn produce(client: &Client, seed: u64, tasks: u64) -> Result<Books, String> {
    let mut random = Random::new(seed);
    let mut books = Books::default();
    let mut failed = 0_u32;
    let mut open = VecDeque::new();
    let mut end = |(ticket, expected): (Ticket, Option<Reply>)| {
        let end = ticket.wait(LONG);
        failed = failed.wrapping_add(u32::from(end.is_err()));
        match (end, expected) {
            (Ok(answer), Some(expected)) if answer.reply != expected => {
                Err(format!("{:?} and not {expected:?}", answer.reply))
            }
            (Err(error), Some(_)) => Err(error.to_string()),
            _ => Ok(()),
        }
    };
    for _ in 0..tasks {
        let priority = Priority::ALL[random.below(5) as usize];
        let (query, expected) = draw(&mut random, &mut books);
        let ticket = client.with_priority(priority).submit(query);
        let ticket = ticket.map_err(|error| error.to_string())?;
        books.hashes = books.hashes.wrapping_add(hash_of(ticket.task()));
        open.push_back((ticket, expected));
        if open.len() > UNDER_WAY
            && let Some(first) = open.pop_front()
        {
            end(first)?;
        }
    }
    open.into_iter().try_for_each(&mut end)?;
    books.tasks = tasks;
    if failed != books.faults {
        return Err(format!("{failed} faults and not {}", books.faults));
    }
    Ok(books)
}
