//! Every posted task ends exactly once: producers and service agree about the sum of the hashes of
//! all tasks, and about all counts.
//!
//! `SLOTS=100000000 cargo test -p seawall-tests --test service conserved` posts a hundred million
//! slots.

use super::{LONG, start, workers};
use seawall::service::{Client, Config, END_TASK, Outcome, Priority, Query, Service, Ticket};
use seawall_core::protocol::hash_of;
use seawall_oracles::random::Random;
use std::collections::VecDeque;

/// Slots of each priority.
const SLOTS: u32 = 8;
/// Threads that post.
const PRODUCERS: u32 = 4;
/// Tickets that a producer has at a time: more than there are slots, so that it waits for space.
const UNDER_WAY: usize = 100;
/// Opcode of tasks of several turns.
const TURNS: u32 = 50;
/// Opcode without a handler.
const UNKNOWN: u32 = 51;

/// Sums of the tasks that producers posted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    hashes: u32,
    faults: u32,
    added: u32,
    turns: u64,
}

/// A service with a handler that yields and requeues as often as its first argument says.
fn with_turns() -> Service {
    let mut config = Config {
        workers: workers(3),
        slots: [SLOTS; 5],
        ..Config::default()
    };
    config.handlers.insert(
        TURNS,
        std::sync::Arc::new(|call| {
            let mut task = call.continuation();
            task.data += 1;
            match task.data {
                turn if turn > call.arguments()[0] => Outcome::word(turn),
                turn if turn % 2 == 0 => Outcome::Requeue(task),
                _ => Outcome::Yield(task),
            }
        }),
    );
    start(config)
}

fn draw(random: &mut Random, counters: &mut Counters) -> Query {
    let mut arguments = [0; 11];
    match random.below(4) {
        0 => {
            arguments[0] = random.below(6);
            counters.turns += u64::from(arguments[0]);
            let opcode = TURNS;
            Query::User { opcode, arguments }
        }
        1 => {
            counters.faults += 1;
            let opcode = UNKNOWN;
            Query::User { opcode, arguments }
        }
        2 => {
            let value = random.below(1000);
            counters.added = counters.added.wrapping_add(value);
            Query::Add { address: 0, value }
        }
        _ => Query::Nop,
    }
}

/// Posts `tasks` tasks, and waits for all of them.
fn produce(client: &Client, seed: u64, tasks: u64) -> Counters {
    let mut random = Random::new(seed);
    let mut counters = Counters::default();
    let mut failed = 0;
    let mut open = VecDeque::new();
    let mut end = |ticket: Ticket| failed += u32::from(ticket.wait(LONG).is_err());
    for _ in 0..tasks {
        let priority = Priority::ALL[random.below(5) as usize];
        let query = draw(&mut random, &mut counters);
        let ticket = client.with_priority(priority).submit(query).unwrap();
        counters.hashes = counters.hashes.wrapping_add(hash_of(ticket.task()));
        open.push_back(ticket);
        if open.len() > UNDER_WAY {
            open.pop_front().into_iter().for_each(&mut end);
        }
    }
    open.into_iter().for_each(end);
    assert_eq!(failed, counters.faults);
    counters
}

/// Posts at least `slots` random tasks, and checks all sums.
fn conserves(slots: u64) {
    let tasks = slots.div_ceil(u64::from(PRODUCERS));
    let service = with_turns();
    let all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..PRODUCERS)
            .map(|seed| {
                let client = service.client(1).unwrap();
                scope.spawn(move || produce(&client, seed.into(), tasks))
            })
            .collect();
        let counters = threads.into_iter().map(|thread| thread.join().unwrap());
        counters.fold(Counters::default(), |all, one| Counters {
            hashes: all.hashes.wrapping_add(one.hashes),
            faults: all.faults + one.faults,
            added: all.added.wrapping_add(one.added),
            turns: all.turns + one.turns,
        })
    });
    let mut word = [0];
    service.client(1).unwrap().read(0, &mut word).unwrap();
    assert_eq!(word, [all.added]);
    let stats = service.shut_down();
    // The order to end is a separate task.
    let posted = tasks * u64::from(PRODUCERS);
    let end = hash_of(END_TASK);
    assert_eq!(stats.checksum, all.hashes.wrapping_add(end));
    assert_eq!((stats.submitted, stats.delivered), (posted + 1, posted + 1));
    assert_eq!(u64::from(stats.ended), posted + 1);
    assert_eq!(stats.faults, all.faults);
    let turns = u64::from(stats.yields) + u64::from(stats.requeues);
    assert_eq!(turns, all.turns);
    assert_eq!(stats.waiting, [0; 5]);
    assert_eq!(u64::from(stats.tenants[0].served), posted);
    assert_eq!(stats.tenants[0].running, 0);
}

#[test]
fn random_work_of_many_producers_is_conserved() {
    let asked = std::env::var("SLOTS").ok();
    conserves(asked.map_or(12_000, |text| text.parse().expect("SLOTS: a number")));
}
