//! Operations on the words of a window, against a local copy; and refusals.

use super::{LONG, client, config, expect, expect_fault, reply, start};
use crate::random::Random;
use seawall::graph::Graph;
use seawall::service::{
    Client, Config, Kind, On, Priority, Query, Reply, Short, ShortOp, Span, SubmitError, Tenant,
};
use std::time::Instant;

/// Words of the window that the orders use.
const WORDS: u32 = 64;

fn service(on: On) -> Result<seawall::service::Service, String> {
    let graph = Graph::from_edges(3, &[(0, 1), (1, 2)], false);
    let graph = graph.map_err(|error| error.to_string())?;
    let mut config = config(on, 2);
    let narrow = Tenant {
        window_words: 8,
        quota: 1,
        ..Tenant::limited_to(&[Kind::Nop, Kind::Store, Kind::Load])
    };
    config.tenants = vec![Tenant::default(), narrow];
    start(graph, config)
}

/// Draws orders of one tenant and compares each answer, and the window at the end.
///
/// # Errors
/// The first answer that differs.
pub fn check(on: On, seed: u64, orders: u32) -> Result<(), String> {
    let service = service(on)?;
    let client = client(&service)?;
    let mut random = Random::new(seed);
    let mut words = vec![0_u32; WORDS as usize];
    for _ in 0..orders {
        let (query, expected) = draw(&mut random, &mut words);
        let at = Priority::ALL[random.below(5) as usize];
        expect(&client.with_priority(at), query, expected)?;
    }
    let mut found = vec![0; WORDS as usize];
    let read = client.read(0, &mut found);
    read.map_err(|error| error.to_string())?;
    if found != words {
        return Err(format!("the window holds {found:?} and not {words:?}"));
    }
    automaton(&client)?;
    fences(&client)?;
    prints(&service, &client)
}

fn draw(random: &mut Random, words: &mut [u32]) -> (Query, Reply) {
    let (address, value) = (random.below(WORDS), random.word());
    let word = &mut words[address as usize];
    match random.below(6) {
        0 => {
            *word = value;
            (Query::Store { address, value }, Reply::Done)
        }
        1 => {
            let before = std::mem::replace(word, word.wrapping_add(value));
            (Query::Add { address, value }, Reply::Word(before))
        }
        2 => (Query::Load { address }, Reply::Word(*word)),
        3 => {
            let before = *word;
            let expected = if random.once_in(2) { before } else { value };
            if expected == before {
                *word = value;
            }
            let query = Query::CompareSwap {
                address,
                expected,
                value,
            };
            (query, Reply::Word(before))
        }
        4 => {
            let to = random.below(WORDS);
            let most = WORDS - address.max(to);
            let from = Span {
                address,
                words: random.below(most + 1),
            };
            let end = (address + from.words) as usize;
            words.copy_within(address as usize..end, to as usize);
            (Query::Copy { from, to }, Reply::Done)
        }
        _ => {
            let before = std::mem::replace(word, value);
            let short = |op| Short { op, address, value };
            let shorts = [ShortOp::Load, ShortOp::Store, ShortOp::Nop].map(short);
            (
                Query::Packed(shorts.to_vec()),
                Reply::Packed([before, 0, 0, 0]),
            )
        }
    }
}

/// An automaton that counts ones modulo 3, over a text of several turns.
fn automaton(client: &Client) -> Result<(), String> {
    let to_text = |error: seawall::service::Refusal| error.to_string();
    let table = [3, 2, 0, 1, 1, 2, 2, 0];
    client.write(100, &table).map_err(to_text)?;
    let text: Vec<u32> = (0..1000).map(|at| u32::from(at % 7 < 3)).collect();
    client.write(200, &text).map_err(to_text)?;
    let ones: u32 = text.iter().sum();
    let query = Query::Automaton {
        table: 100,
        input: Span {
            address: 200,
            words: 1000,
        },
        parent: 77,
    };
    let ticket = client.submit(query).map_err(|error| error.to_string())?;
    let answer = ticket.wait(LONG).map_err(|error| error.to_string())?;
    let is_right =
        answer.reply == Reply::Word(ones % 3) && answer.parent == 77 && answer.turns == 4;
    if is_right {
        return Ok(());
    }
    Err(format!("the automaton ended with {answer:?}"))
}

/// A fence answers after all of its batch.
fn fences(client: &Client) -> Result<(), String> {
    for round in 0..20 {
        let mut batch = client.batch().map_err(|error| error.to_string())?;
        for _ in 0..round {
            let add = Query::Add {
                address: 90,
                value: 1,
            };
            batch.submit(add).map_err(|error| error.to_string())?;
        }
        let fence = batch.fence().map_err(|error| error.to_string())?;
        let answer = fence.wait(LONG).map_err(|error| error.to_string())?;
        if answer.reply != Reply::Epoch(round + 1) {
            return Err(format!("fence {round} ended with {answer:?}"));
        }
        let sum: u32 = (0..=round).sum();
        expect(client, Query::Load { address: 90 }, Reply::Word(sum))?;
    }
    Ok(())
}

fn prints(service: &seawall::service::Service, client: &Client) -> Result<(), String> {
    let mut log = service.log();
    for number in 0..5 {
        expect(client, Query::Print(vec![number, 7]), Reply::Done)?;
    }
    let mut seen = 0;
    for _ in 0..1000 {
        while let Some(line) = log.next_line() {
            if line.text() != [seen, 7] || line.tenant != 1 {
                return Err(format!("line {seen}: {line:?}"));
            }
            seen += 1;
        }
        if seen == 5 {
            return Ok(());
        }
        // The number of lines is a counter, which comes a moment later.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    Err(format!("{seen} of 5 lines"))
}

/// Queries that must be refused or end in a fault, and a tenant that keeps to its window.
///
/// # Errors
/// The first that is not.
pub fn refusals(on: On) -> Result<(), String> {
    let service = service(on)?;
    let owner = client(&service)?;
    let narrow = service.client(2).ok_or("no tenant 2")?;
    expect(
        &owner,
        Query::Store {
            address: 0,
            value: 5,
        },
        Reply::Done,
    )?;
    expect(&narrow, Query::Load { address: 0 }, Reply::Word(0))?;
    expect(
        &narrow,
        Query::Store {
            address: 7,
            value: 9,
        },
        Reply::Done,
    )?;
    expect(&owner, Query::Load { address: 0 }, Reply::Word(5))?;
    for (query, part) in [
        (Query::Load { address: 8 }, "outside the window"),
        (Query::Load { address: u32::MAX }, "outside the window"),
        (
            Query::Add {
                address: 0,
                value: 1,
            },
            "may not post",
        ),
        (
            Query::Reach {
                source: 0,
                target: 1,
            },
            "may not post",
        ),
    ] {
        match narrow.submit(query) {
            Err(SubmitError::Refused(refusal)) if refusal.to_string().contains(part) => {}
            other => return Err(format!("{other:?} and no refusal with '{part}'")),
        }
    }
    let user = Query::User {
        opcode: 51,
        arguments: [0; 11],
    };
    expect_fault(&owner, user, "opcode 0x33")?;
    let weights = Query::Distance {
        source: 0,
        target: 1,
        metric: seawall::service::Metric::Weights,
    };
    expect_fault(&owner, weights, "argument 1")?;
    let stats = reply(&owner, Query::Nop).map(|_| service.shut_down())?;
    if stats.faults != 2 || stats.submitted != stats.delivered {
        return Err(format!("{stats:?}"));
    }
    Ok(())
}

/// A kind that makes up most of the workers' work gets a specialised entry, with the same answers,
/// also among twice as many short slots.
///
/// # Errors
/// If it does not within [`LONG`].
pub fn promotes(on: On, workers: usize) -> Result<(), String> {
    let pairs: Vec<_> = (1..200).map(|node| (node - 1, node)).collect();
    let graph = Graph::from_edges(200, &pairs, false).map_err(|error| error.to_string())?;
    let service = start(graph, config(on, workers))?;
    let client = client(&service)?;
    let began = Instant::now();
    let mut entries = [0_u32; 2];
    while entries.contains(&0) {
        if Some(began.elapsed()) > LONG {
            return Err(format!("{entries:?}"));
        }
        let query = |target| {
            let ticket = client.submit(Query::Reach { source: 50, target });
            ticket.map_err(|error| error.to_string())
        };
        let tickets = (0..200).map(query).collect::<Result<Vec<_>, _>>()?;
        for (target, ticket) in (0..).zip(tickets) {
            if on != On::Threads {
                reply(&client, Query::Nop)?;
                reply(&client, Query::Nop)?;
            }
            let answer = ticket.wait(LONG).map_err(|error| error.to_string())?;
            if answer.reply != Reply::Reached(target >= 50) {
                return Err(format!("{target}: {answer:?}"));
            }
            entries[usize::from(answer.entry == Some(Kind::Reach))] += 1;
        }
    }
    let counted = service.shut_down().answered_by_one;
    // A specialised entry may also have taken the order to end.
    if !(entries[1]..=entries[1] + 1).contains(&counted) {
        return Err(format!("{counted} counted, {entries:?}"));
    }
    Ok(())
}

/// A configuration that cannot run there does not start.
///
/// # Errors
/// If it does.
pub fn needs_threads(on: On) -> Result<(), String> {
    let graph = Graph::from_edges(1, &[], false).map_err(|error| error.to_string())?;
    let mut config: Config = config(on, 1);
    let handler = |_: &seawall::service::Call<'_>| seawall::service::Outcome::word(1);
    config.handlers.insert(50, std::sync::Arc::new(handler));
    match start(graph, config) {
        Err(text) if text.contains("need workers on threads") => Ok(()),
        other => Err(format!("{other:?}")),
    }
}
