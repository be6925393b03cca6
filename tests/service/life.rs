//! Every ticket ends exactly once, however the service ends.

use super::{LONG, reply, start, workers};
use seawall::service::{
    Config, FaultCode, Outcome, Priority, Query, Refusal, Reply, Service, SubmitError, TicketError,
};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// Opcode of a handler that waits until it is released, or cancelled.
const GATE: u32 = 100;

fn gated(workers_count: usize, slots: u32) -> (Config, Arc<AtomicBool>) {
    let open = Arc::new(AtomicBool::new(false));
    let mut config = Config {
        workers: workers(workers_count),
        slots: [slots; 5],
        ..Config::default()
    };
    let seen = Arc::clone(&open);
    config.handlers.insert(
        GATE,
        Arc::new(move |call| {
            while !seen.load(Ordering::Acquire) {
                if call.is_over() {
                    return Outcome::fault(FaultCode::TimeBudget, 0);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Outcome::word(1)
        }),
    );
    (config, open)
}

const fn gate() -> Query {
    Query::User {
        opcode: GATE,
        arguments: [0; 11],
    }
}

#[test]
fn a_graceful_end_answers_all_that_was_posted_and_takes_no_more() {
    let (config, open) = gated(1, 64);
    let service = start(config);
    let client = service.client(1).unwrap();
    let first = client.submit(gate()).unwrap();
    let rest: Vec<_> = (0..50)
        .map(|_| client.submit(Query::Nop).unwrap())
        .collect();
    let ending = std::thread::spawn(move || service.shut_down());
    let refused = loop {
        match client.submit(Query::Nop) {
            Err(SubmitError::Closed(query)) => break query,
            other => drop(other),
        }
    };
    assert_eq!(refused, Query::Nop);
    open.store(true, Ordering::Release);
    let stats = ending.join().unwrap();
    assert_eq!(stats.submitted, stats.delivered);
    assert!(first.wait(LONG).is_ok());
    assert!(rest.iter().all(|ticket| ticket.wait(LONG).is_ok()));
}

#[test]
fn a_forced_end_ends_every_ticket_at_once() {
    let (mut config, _never) = gated(1, 64);
    let entered = Arc::new(AtomicBool::new(false));
    let (seen, gate_of) = (Arc::clone(&entered), Arc::clone(&config.handlers[&GATE]));
    config.handlers.insert(
        GATE,
        Arc::new(move |call| {
            seen.store(true, Ordering::Release);
            gate_of(call)
        }),
    );
    let service = start(config);
    let client = service.client(1).unwrap();
    let first = client.submit(gate()).unwrap();
    // The worker could take the others first.
    while !entered.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let rest: Vec<_> = (0..50)
        .map(|_| client.submit(Query::Nop).unwrap())
        .collect();
    let began = Instant::now();
    drop(service);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(first.wait(LONG).is_err());
    for ticket in rest {
        assert_eq!(ticket.wait(LONG), Err(TicketError::Ended));
    }
    assert!(matches!(
        client.submit(Query::Nop),
        Err(SubmitError::Closed(_))
    ));
}

#[test]
fn a_handler_that_never_ends_is_a_fault_and_keeps_nobody_else_waiting() {
    let mut config = Config {
        workers: workers(2),
        slot_budget: Duration::from_millis(50),
        ..Config::default()
    };
    let release = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&release);
    config.handlers.insert(
        GATE,
        Arc::new(move |_| {
            while !seen.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(1));
            }
            Outcome::word(1)
        }),
    );
    let service = start(config);
    let client = service.client(1).unwrap();
    let stuck = client.submit(gate()).unwrap();
    let late = Err(TicketError::Fault(Refusal::new(FaultCode::TimeBudget, 0)));
    assert_eq!(stuck.wait(LONG), late);
    assert_eq!(reply(&client, Query::Nop), Reply::Done);
    assert_eq!(service.stats().overrun, 1);
    // The service ends although the handler does not.
    drop(service);
    assert_eq!(stuck.wait(LONG), late);
    release.store(true, Ordering::Release);
}

#[test]
fn a_full_ring_hands_the_query_back_or_waits() {
    let (config, open) = gated(1, 2);
    let service = start(config);
    let client = service.client(1).unwrap();
    let blocked = [
        client.submit(gate()).unwrap(),
        client.submit(Query::Nop).unwrap(),
    ];
    let query = Query::Load { address: 5 };
    match client.try_submit(query.clone()) {
        Err(SubmitError::Full(back)) => assert_eq!(back, query),
        other => panic!("{other:?}"),
    }
    // Other priorities have separate space.
    let urgent = client.with_priority(Priority::Critical);
    let urgent = urgent.try_submit(Query::Nop).unwrap();
    let waiting = std::thread::spawn(move || client.submit(query));
    open.store(true, Ordering::Release);
    assert!(waiting.join().unwrap().unwrap().wait(LONG).is_ok());
    assert!(urgent.wait(LONG).is_ok() && blocked.iter().all(|ticket| ticket.wait(LONG).is_ok()));
}

#[test]
fn a_wait_ends_in_time_and_may_be_repeated() {
    let (config, open) = gated(1, 8);
    let service = start(config);
    let ticket = service.submit(gate()).unwrap();
    let soon = Duration::from_millis(10);
    assert_eq!(ticket.wait(Some(soon)), Err(TicketError::TimedOut(soon)));
    assert_eq!(
        ticket.wait(Some(Duration::ZERO)),
        Err(TicketError::TimedOut(Duration::ZERO))
    );
    open.store(true, Ordering::Release);
    assert_eq!(ticket.wait(LONG), ticket.wait(None));
}

#[test]
fn dropped_tickets_leak_no_slots() {
    let service = start(Config {
        slots: [1; 5],
        workers: workers(1),
        ..Config::default()
    });
    for _ in 0..1000 {
        drop(service.submit(Query::Nop).unwrap());
    }
    let stats = service.shut_down();
    assert_eq!((stats.submitted, stats.delivered), (1001, 1001));
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_ticket_is_a_future_that_wakes_its_task() {
    let (config, open) = gated(1, 8);
    let service = start(config);
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    let waker = Waker::from(Arc::clone(&flag));
    let mut context = Context::from_waker(&waker);
    let mut ticket = pin!(service.submit(gate()).unwrap());
    assert!(ticket.as_mut().poll(&mut context).is_pending());
    open.store(true, Ordering::Release);
    let began = Instant::now();
    while !flag.0.load(Ordering::Acquire) {
        assert!(began.elapsed() < Duration::from_secs(30));
        std::thread::yield_now();
    }
    let Poll::Ready(end) = ticket.as_mut().poll(&mut context) else {
        panic!("woken too early");
    };
    assert!(end.is_ok());
}

#[test]
fn an_idle_service_looks_at_its_ring_a_few_times_a_second() {
    let service: Service = start(Config {
        workers: workers(2),
        ..Config::default()
    });
    let _ = service.submit(Query::Nop).unwrap().wait(LONG);
    std::thread::sleep(Duration::from_millis(50));
    let before = service.stats().heartbeat;
    std::thread::sleep(Duration::from_millis(500));
    let looks = service.stats().heartbeat.wrapping_sub(before);
    assert!(looks <= 20, "{looks}");
}
