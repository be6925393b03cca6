//! Order of work: priorities, waiting, fences.

use super::{LONG, reply, start, workers};
use seawall::service::{
    Config, Continuation, FaultCode, On, Outcome, Priority, Query, Refusal, Reply, SubmitError,
    Tenant, TicketError,
};
use seawall_oracles::serving::windows;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Opcode of a handler that records its first argument.
const NOTE: u32 = 60;
/// Opcode of a handler that waits until it is released.
const GATE: u32 = 61;

struct Stage {
    config: Config,
    noted: Arc<Mutex<Vec<u32>>>,
    open: Arc<AtomicBool>,
}

/// A service whose single worker can be stopped, so that posts wait meanwhile.
fn stage(count: usize) -> Stage {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let open = Arc::new(AtomicBool::new(false));
    let mut config = Config {
        workers: workers(count),
        ..Config::default()
    };
    let notes = Arc::clone(&noted);
    config.handlers.insert(
        NOTE,
        Arc::new(move |call| {
            notes.lock().unwrap().push(call.arguments()[0]);
            Outcome::word(0)
        }),
    );
    let seen = Arc::clone(&open);
    config.handlers.insert(
        GATE,
        Arc::new(move |call| {
            while !seen.load(Ordering::Acquire) && !call.is_over() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Outcome::word(0)
        }),
    );
    Stage {
        config,
        noted,
        open,
    }
}

fn user(opcode: u32, argument: u32) -> Query {
    let mut arguments = [0; 11];
    arguments[0] = argument;
    Query::User { opcode, arguments }
}

#[test]
fn urgent_work_goes_first_and_one_claim_in_17_goes_to_what_waits_below() {
    let Stage {
        config,
        noted,
        open,
    } = stage(1);
    let service = start(config);
    let client = service.client(1).unwrap();
    let gate = client
        .with_priority(Priority::Idle)
        .submit(user(GATE, 0))
        .unwrap();
    while service.stats().tenants[0].running == 0 {
        std::thread::yield_now();
    }
    let post = |priority: Priority| {
        let query = user(NOTE, priority as u32);
        client.with_priority(priority).submit(query).unwrap()
    };
    let mut tickets: Vec<_> = (0..2).map(|_| post(Priority::Idle)).collect();
    tickets.extend((0..50).map(|_| post(Priority::Critical)));
    open.store(true, Ordering::Release);
    assert!(gate.wait(LONG).is_ok());
    assert!(tickets.iter().all(|ticket| ticket.wait(LONG).is_ok()));
    let noted = noted.lock().unwrap();
    let idle: Vec<usize> = (0..noted.len()).filter(|at| noted[*at] == 4).collect();
    // One scan in 17 begins below, the first at Idle, the second at Low and upwards.
    assert_eq!(idle[0], 16);
    assert!(idle[1] > 16 && idle[1] <= 16 + 4 * 17, "{idle:?}");
    assert!(service.stats().scans_from_below >= 2);
}

#[test]
fn an_idle_query_ends_under_endless_critical_work() {
    let service = start(Config {
        workers: workers(1),
        ..Config::default()
    });
    let client = service.client(1).unwrap();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let urgent = client.with_priority(Priority::Critical);
            let ended = &ended;
            scope.spawn(move || {
                while !ended.load(Ordering::Acquire) {
                    drop(urgent.submit(Query::Nop).unwrap());
                }
            });
        }
        let idle = client.with_priority(Priority::Idle);
        for _ in 0..20 {
            let end = idle.submit(Query::Nop).unwrap().wait(LONG);
            if end.is_err() {
                ended.store(true, Ordering::Release);
            }
            assert!(end.is_ok());
        }
        ended.store(true, Ordering::Release);
    });
}

#[test]
fn a_tenant_over_its_quota_waits_while_others_go_on() {
    let Stage {
        mut config, open, ..
    } = stage(3);
    let frugal = Tenant {
        quota: 1,
        ..Tenant::default()
    };
    config.tenants = vec![frugal, Tenant::default()];
    let service = start(config);
    let (one, other) = (service.client(1).unwrap(), service.client(2).unwrap());
    let held: Vec<_> = (0..3).map(|_| one.submit(user(GATE, 0)).unwrap()).collect();
    let began = Instant::now();
    while service.stats().tenants[0].passed_over == 0 {
        assert!(began.elapsed() < Duration::from_secs(30));
        assert_eq!(reply(&other, Query::Nop), Reply::Done);
    }
    // A worker may have skipped the others before the loop began.
    assert_eq!(reply(&other, Query::Nop), Reply::Done);
    let stats = service.stats();
    assert_eq!(stats.tenants[0].running, 1);
    assert_eq!(stats.tenants[0].served, 0);
    assert!(stats.tenants[1].served > 0);
    open.store(true, Ordering::Release);
    assert!(held.iter().all(|ticket| ticket.wait(LONG).is_ok()));
    assert_eq!(service.stats().tenants[0].served, 3);
}

#[test]
fn a_fence_ends_after_all_of_its_batch_and_begins_an_epoch() {
    let Stage {
        config,
        open,
        noted,
    } = stage(2);
    let service = start(config);
    let client = service.client(1).unwrap();
    let mut batch = client.batch().unwrap();
    let gate = batch.submit(user(GATE, 0)).unwrap();
    for number in 0..5 {
        drop(batch.submit(user(NOTE, number)).unwrap());
    }
    let failing = batch.submit(user(0xFF, 0)).unwrap();
    let fence = batch.fence().unwrap();
    let soon = Duration::from_millis(50);
    assert_eq!(fence.wait(Some(soon)), Err(TicketError::TimedOut(soon)));
    open.store(true, Ordering::Release);
    let answer = fence.wait(LONG).unwrap();
    assert_eq!(answer.reply, Reply::Epoch(1));
    assert!(answer.turns > 1);
    assert!(gate.wait(Some(Duration::ZERO)).is_ok());
    let unknown = TicketError::Fault(Refusal::new(FaultCode::UnknownOpcode, 0xFF));
    assert_eq!(failing.wait(Some(Duration::ZERO)), Err(unknown));
    assert_eq!(noted.lock().unwrap().len(), 5);
    assert_eq!(service.stats().epoch, 1);
}

#[test]
fn batches_come_back_with_their_fences_and_without() {
    let service = start(Config {
        workers: workers(2),
        ..Config::default()
    });
    let client = service.client(1).unwrap();
    for round in 0..100 {
        let mut batch = client.batch().unwrap();
        drop(batch.submit(Query::Nop).unwrap());
        assert!(batch.fence().unwrap().wait(LONG).is_ok(), "{round}");
    }
    let open: Vec<_> = (0..32).map(|_| client.batch().unwrap()).collect();
    assert!(matches!(
        client.batch(),
        Err(SubmitError::Batches { open: 32 })
    ));
    drop(open);
    let began = Instant::now();
    while client.batch().is_err() {
        assert!(began.elapsed() < Duration::from_secs(30));
        let _ = client.submit(Query::Nop).unwrap().wait(LONG);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_task_may_wait_for_an_epoch() {
    let turns = Arc::new(AtomicU32::new(0));
    let mut config = Config {
        workers: workers(1),
        ..Config::default()
    };
    let seen = Arc::clone(&turns);
    config.handlers.insert(
        70,
        Arc::new(move |call| {
            seen.fetch_add(1, Ordering::Relaxed);
            let task = call.continuation();
            if task.yields > 0 {
                return Outcome::word(call.epoch());
            }
            Outcome::Yield(Continuation {
                flags: Continuation::AT_EPOCH,
                resume_epoch: call.epoch() + 2,
                ..task
            })
        }),
    );
    let service = start(config);
    let client = service.client(1).unwrap();
    let waiting = client.submit(user(70, 0)).unwrap();
    for epoch in 1..=2 {
        assert_eq!(reply(&client, Query::Nop), Reply::Done);
        assert_eq!(turns.load(Ordering::Relaxed), 1);
        let fence = client.batch().unwrap().fence().unwrap();
        assert_eq!(fence.wait(LONG).unwrap().reply, Reply::Epoch(epoch));
    }
    let answer = waiting.wait(LONG).unwrap();
    assert_eq!(answer.turns, 2);
    assert!(matches!(answer.reply, Reply::User([2, ..])), "{answer:?}");
}

#[test]
fn flags_of_a_task_that_mean_nothing_are_a_fault() {
    let mut config = Config::default();
    let flags = 6;
    config.handlers.insert(
        70,
        Arc::new(move |call| {
            Outcome::Yield(Continuation {
                flags,
                ..call.continuation()
            })
        }),
    );
    let service = start(config);
    let client = service.client(1).unwrap();
    let unknown = Refusal::new(FaultCode::BadContinuation, flags);
    assert_eq!(super::fault(&client, user(70, 0)), unknown);
}

#[test]
fn a_kind_that_makes_up_most_of_the_work_gets_an_entry_with_the_same_answers() {
    for on in [On::Threads, On::Blocks] {
        windows::promotes(on, 2).unwrap();
    }
}
