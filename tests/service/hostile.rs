//! Forbidden requests of a tenant, refused on posting; `tests/loom/poison.rs` has the same of
//! workers.

use super::{reply, start};
use seawall::service::{
    Client, Config, FaultCode, Kind, Metric, Query, Refusal, Reply, Short, ShortOp, Span,
    StartError, SubmitError, Tenant,
};
use std::num::NonZeroUsize;
use std::sync::Arc;

#[track_caller]
fn refusal(client: &Client, query: Query) -> Refusal {
    match client.submit(query) {
        Err(SubmitError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

const WORDS: u32 = 64;

/// Two tenants with a window each.
fn neighbours() -> seawall::service::Service {
    let tenant = Tenant {
        window_words: WORDS,
        ..Tenant::default()
    };
    start(Config {
        tenants: vec![tenant, tenant],
        ..Config::default()
    })
}

/// Every query that names an address, with each of its addresses at `address`.
fn touching(address: u32) -> Vec<Query> {
    let inside = Span {
        address: 0,
        words: 2,
    };
    let outside = Span { address, words: 2 };
    let short = |op| {
        Query::Packed(vec![
            Short::default(),
            Short {
                op,
                address,
                value: 1,
            },
        ])
    };
    vec![
        Query::Load { address },
        Query::Store { address, value: 1 },
        Query::Add { address, value: 1 },
        Query::CompareSwap {
            address,
            expected: 0,
            value: 1,
        },
        Query::Copy {
            from: outside,
            to: 0,
        },
        Query::Copy {
            from: inside,
            to: address,
        },
        Query::Automaton {
            table: address,
            input: inside,
            parent: 0,
        },
        Query::Automaton {
            table: 0,
            input: outside,
            parent: 0,
        },
        Query::Neighbours {
            node: 0,
            to: outside,
        },
        Query::Run {
            program: 0,
            inputs: outside,
            to: inside,
        },
        Query::Run {
            program: 0,
            inputs: inside,
            to: outside,
        },
        short(ShortOp::Load),
        short(ShortOp::Store),
        short(ShortOp::Add),
    ]
}

#[test]
fn no_query_reaches_another_window_the_ring_or_the_control_block() {
    let service = neighbours();
    let (one, other) = (service.client(1).unwrap(), service.client(2).unwrap());
    let untouched: Vec<u32> = (0..WORDS).collect();
    other.write(0, &untouched).unwrap();
    // Behind the window lies the other one; before it, by wrapping, log, slots and
    // control block.
    for address in [WORDS, WORDS + 1, u32::MAX, u32::MAX - 200, 1 << 31] {
        for query in touching(address) {
            let text = format!("{query:?}");
            assert_eq!(refusal(&one, query).code, FaultCode::BadAddress, "{text}");
        }
    }
    let mut found = vec![0; WORDS as usize];
    other.read(0, &mut found).unwrap();
    assert_eq!(found, untouched);
    assert!(one.read(WORDS - 1, &mut [0; 2]).is_err());
    assert!(one.write(WORDS, &[0]).is_err());
}

#[test]
fn a_table_that_leads_out_of_the_window_is_a_fault() {
    let service = neighbours();
    let client = service.client(1).unwrap();
    // A state whose row lies far beyond the window, within what the table claims to hold.
    client
        .write(0, &[u32::MAX, u32::MAX, u32::MAX - 1, 0])
        .unwrap();
    client.write(8, &[0, 0]).unwrap();
    let input = Span {
        address: 8,
        words: 2,
    };
    let refusal = super::fault(
        &client,
        Query::Automaton {
            table: 0,
            input,
            parent: 0,
        },
    );
    assert_eq!(refusal.code, FaultCode::BadAddress);
}

#[test]
fn a_tenant_posts_only_what_its_mask_has() {
    let allowed = [Kind::Nop, Kind::Load];
    let tenants = vec![Tenant::limited_to(&allowed)];
    let service = start(Config {
        tenants,
        ..Config::default()
    });
    let client = service.client(1).unwrap();
    assert_eq!(reply(&client, Query::Nop), Reply::Done);
    assert_eq!(reply(&client, Query::Load { address: 0 }), Reply::Word(0));
    let metric = Metric::Hops;
    for query in [
        Query::Store {
            address: 0,
            value: 1,
        },
        Query::Reach {
            source: 0,
            target: 1,
        },
        Query::Distance {
            source: 0,
            target: 1,
            metric,
        },
        Query::Print(vec![1]),
        Query::User {
            opcode: 8,
            arguments: [0; 11],
        },
    ] {
        assert_eq!(refusal(&client, query).code, FaultCode::NotPermitted);
    }
    let fence = client.batch().unwrap().fence();
    assert!(matches!(fence, Err(SubmitError::Refused(_))), "{fence:?}");
}

#[test]
fn reserved_opcodes_and_the_end_of_the_service_are_refused_to_tenants() {
    let service = start(Config::default());
    let client = service.client(1).unwrap();
    let user = |opcode| Query::User {
        opcode,
        arguments: [0; 11],
    };
    for opcode in [0xFFF4, 0xFFFF, 0x8000_0000, 0xFFFF_FFFE] {
        let unknown = Refusal::new(FaultCode::UnknownOpcode, opcode);
        assert_eq!(refusal(&client, user(opcode)), unknown);
    }
    let end = Refusal::new(FaultCode::NotPermitted, 0xFFFF_FFFF);
    assert_eq!(refusal(&client, user(0xFFFF_FFFF)), end);
    assert!(service.client(0).is_none() && service.client(2).is_none());
}

#[test]
fn an_opcode_without_a_handler_ends_as_a_fault_with_its_number() {
    let service = start(Config::default());
    let client = service.client(1).unwrap();
    let query = Query::User {
        opcode: 0x1_2345,
        arguments: [0; 11],
    };
    let unknown = Refusal::new(FaultCode::UnknownOpcode, 0x1_2345);
    assert_eq!(super::fault(&client, query), unknown);
}

#[test]
fn a_handler_that_panics_faults_and_its_worker_goes_on() {
    let mut config = Config {
        workers: super::workers(1),
        ..Config::default()
    };
    config
        .handlers
        .insert(9, Arc::new(|_| std::panic::resume_unwind(Box::new(()))));
    let service = start(config);
    let client = service.client(1).unwrap();
    for _ in 0..3 {
        let query = Query::User {
            opcode: 9,
            arguments: [0; 11],
        };
        assert_eq!(super::fault(&client, query).code, FaultCode::Handler);
        assert_eq!(reply(&client, Query::Nop), Reply::Done);
    }
}

#[test]
fn a_service_that_cannot_be_is_refused() {
    let graph = || Arc::new(super::loaded("gen:chain:3"));
    let start = |config| seawall::service::Service::start(graph(), config).unwrap_err();
    let none = Config {
        tenants: Vec::new(),
        ..Config::default()
    };
    assert!(matches!(
        start(none),
        StartError::Tenants { tenants: 0, .. }
    ));
    let many = Config {
        tenants: vec![Tenant::default(); 16],
        ..Config::default()
    };
    assert!(matches!(
        start(many),
        StartError::Tenants { tenants: 16, .. }
    ));
    let crowded = Config {
        workers: NonZeroUsize::new(4097),
        ..Config::default()
    };
    assert!(matches!(
        start(crowded),
        StartError::TooManyWorkers { workers: 4097, .. }
    ));
    let idle = Tenant {
        quota: 0,
        ..Tenant::default()
    };
    let idle = Config {
        tenants: vec![idle],
        ..Config::default()
    };
    assert!(matches!(start(idle), StartError::NoQuota { tenant: 1 }));
    let large = Tenant {
        window_words: u32::MAX,
        ..Tenant::default()
    };
    let large = Config {
        tenants: vec![large, large],
        ..Config::default()
    };
    assert!(matches!(start(large), StartError::Layout(_)));
    let mut handlers = Config::default();
    handlers
        .handlers
        .insert(3, Arc::new(|_| seawall::service::Outcome::word(0)));
    assert!(matches!(
        start(handlers),
        StartError::NotAUsersOpcode { opcode: 3 }
    ));
}
