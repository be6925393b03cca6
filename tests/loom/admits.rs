//! Inputs that host and worker both refuse, with their codes, and inputs just within the limits.

use super::poison::{Plain, WINDOW, layout, memory, post, slot, work};
use seawall_core::abi::ring::{
    BATCHES, ControlBlock, FaultCode, Kind, LevelRecord, PRINT_WORDS, PrintRecord, SlotRecord,
    Status, TENANTS, TenantRecord,
};
use seawall_core::protocol::{Outcome, Refusal, Ring, Worker};
use std::cell::Cell;
use std::mem::offset_of;

/// A tenant without rights.
const NOBODY: u32 = 3;
/// A tenant that may only read words.
const READER: u32 = 4;
/// A tenant whose window would reach beyond all windows.
const BEYOND: u32 = 5;

const ALL: u32 = u32::MAX;

/// First word of a tenant's record.
fn record(tenant: u32) -> usize {
    let tenants = offset_of!(ControlBlock, tenants) / 4;
    tenants + tenant as usize * (size_of::<TenantRecord>() / 4)
}

/// A ring with those tenants.
fn ring_memory() -> Plain {
    let memory = memory();
    let (mask, words) = (
        offset_of!(TenantRecord, mask) / 4,
        offset_of!(TenantRecord, window_words) / 4,
    );
    memory.0[record(NOBODY) + mask].set(0);
    memory.0[record(READER) + mask].set(Kind::Load.bit());
    memory.0[record(BEYOND) + words].set(WINDOW * TENANTS);
    memory
}

fn raw(opcode: u32, tenant: u32, priority: u32) -> SlotRecord {
    SlotRecord {
        opcode,
        tenant,
        priority,
        ..slot(Kind::Nop, 1, 2, &[])
    }
}

/// A slot of tenant 1.
fn one(kind: Kind, arguments: &[u32]) -> SlotRecord {
    slot(kind, 1, 2, arguments)
}

fn bad() -> Vec<(SlotRecord, FaultCode, u32)> {
    use FaultCode::{
        BadAddress, BadArgument, BadBatch, BadPriority, BadTenant, NotPermitted, UnknownOpcode,
    };
    let nop = Kind::Nop.opcode();
    let shutdown = Kind::Shutdown.opcode();
    let beyond_batches = 2 | (BATCHES + 1) << 8;
    vec![
        (raw(nop, TENANTS, 2), BadTenant, TENANTS),
        (raw(nop, ALL, 2), BadTenant, ALL),
        (raw(nop, NOBODY, 2), BadTenant, NOBODY),
        (raw(nop, 1, 5), BadPriority, 5),
        (raw(nop, 1, 0xFF), BadPriority, 0xFF),
        (raw(nop, 1, beyond_batches), BadBatch, BATCHES + 1),
        (raw(nop, 1, 0xFFFF_FF02), BadBatch, 0xFF_FFFF),
        (raw(0x8000_0002, 1, 2), UnknownOpcode, 0x8000_0002),
        (raw(0xFFFF, 1, 2), UnknownOpcode, 0xFFFF),
        (raw(shutdown, 1, 2), NotPermitted, shutdown),
        (raw(nop, 0, 2), NotPermitted, nop),
        (
            slot(Kind::Store, READER, 2, &[0, 1]),
            NotPermitted,
            Kind::Store.opcode(),
        ),
        (slot(Kind::Load, BEYOND, 2, &[0]), BadAddress, 0),
        (one(Kind::Store, &[WINDOW, 1]), BadAddress, WINDOW),
        (one(Kind::Add, &[ALL, 1]), BadAddress, ALL),
        (one(Kind::Load, &[WINDOW]), BadAddress, WINDOW),
        (one(Kind::CompareSwap, &[WINDOW]), BadAddress, WINDOW),
        (one(Kind::Copy, &[1, 0, WINDOW]), BadAddress, 1),
        (one(Kind::Copy, &[0, 1, WINDOW]), BadAddress, 1),
        (one(Kind::Copy, &[2, 0, ALL]), BadAddress, 2),
        (
            one(Kind::DfaStep, &[WINDOW - 1, 0, 0]),
            BadAddress,
            WINDOW - 1,
        ),
        (one(Kind::DfaStep, &[0, 2, WINDOW]), BadAddress, 2),
        (one(Kind::DfaStep, &[0, 9, ALL - 4]), BadAddress, 9),
        (one(Kind::BatchFence, &[0, 0]), BadBatch, 0),
        (
            one(Kind::BatchFence, &[BATCHES + 1, 0]),
            BadBatch,
            BATCHES + 1,
        ),
        (one(Kind::RunProgram, &[0, 1, WINDOW, 0, 0]), BadAddress, 1),
        (one(Kind::RunProgram, &[0, 0, 0, 3, WINDOW]), BadAddress, 3),
        (one(Kind::Distance, &[0, 0, 2]), BadArgument, 2),
        (one(Kind::Neighbours, &[0, 4, WINDOW]), BadAddress, 4),
        (one(Kind::Packed, &[5, 0]), BadArgument, 5),
        (one(Kind::Packed, &[1, 4, 0, 0]), BadArgument, 4),
        // An operation beyond the count.
        (one(Kind::Packed, &[1, 0x0101, 0, 0, 0, 0]), BadArgument, 1),
        (one(Kind::Packed, &[1, 3, WINDOW, 0]), BadAddress, WINDOW),
        (
            one(Kind::Packed, &[2, 0x0103, 0, 0, ALL, 7]),
            BadAddress,
            ALL,
        ),
        (
            one(Kind::Print, &[PRINT_WORDS as u32 + 1]),
            BadArgument,
            PRINT_WORDS as u32 + 1,
        ),
    ]
}

#[test]
fn a_host_refuses_each_bad_slot_with_its_code() {
    let memory = ring_memory();
    let ring = Ring::new(&memory, layout());
    for (slot, code, detail) in bad() {
        let refusal = Refusal::new(code, detail);
        assert_eq!(ring.admit(&slot), Err(refusal), "{slot:?}");
    }
}

#[test]
fn a_worker_refuses_each_bad_slot_with_the_code_of_the_host() {
    for (bad, code, detail) in bad() {
        let memory = ring_memory();
        let ring = Ring::new(&memory, layout());
        post(ring, &[one(Kind::Nop, &[])]);
        let index = ring.slots_of(2).start;
        // The worker finds other words than the host checked.
        let words: [u32; 16] = bytemuck::cast(bad);
        for (at, word) in (layout().slot(index) + 1..).zip(&words[1..]) {
            memory.0[at as usize].set(*word);
        }
        let outside = |at: u32| memory.0[at as usize].get();
        let windows = || layout().windows()..layout().words();
        let before: Vec<u32> = windows().map(outside).collect();
        let _ = work(ring);
        assert_eq!(ring.poll(index), Some(Status::Fault), "{bad:?}");
        let record = ring.completion(index);
        let found = (FaultCode::from_word(record.fault), record.results[0]);
        assert_eq!(found, (code, detail), "{bad:?}");
        assert_eq!(windows().map(outside).collect::<Vec<u32>>(), before);
    }
}

#[test]
fn slots_just_inside_all_bounds_are_admitted() {
    let memory = ring_memory();
    let ring = Ring::new(&memory, layout());
    let last = WINDOW - 1;
    let good = [
        raw(Kind::Nop.opcode(), TENANTS - 1, 4),
        raw(Kind::Nop.opcode(), 1, 2 | BATCHES << 8),
        raw(Kind::Shutdown.opcode(), 0, 2),
        slot(Kind::Load, READER, 2, &[last]),
        one(Kind::Store, &[last, 1]),
        one(Kind::Copy, &[0, 0, WINDOW]),
        one(Kind::Copy, &[WINDOW, WINDOW, 0]),
        one(Kind::DfaStep, &[WINDOW - 2, 0, WINDOW]),
        one(Kind::BatchFence, &[BATCHES, 0]),
        one(Kind::RunProgram, &[0, 0, WINDOW, 0, WINDOW]),
        one(Kind::Distance, &[0, 0, 1]),
        one(Kind::Neighbours, &[0, 0, WINDOW]),
        one(Kind::Packed, &[4, 0x0302_0100, ALL, 0, last, 1, 0, 1, 0, 0]),
        one(Kind::Print, &[PRINT_WORDS as u32]),
    ];
    for slot in good {
        let kind = Kind::of(slot.opcode).unwrap();
        assert_eq!(ring.admit(&slot), Ok(kind), "{slot:?}");
    }
}

#[test]
fn numbers_beyond_the_ring_name_no_tenant_no_slot_and_no_batch() {
    let memory = ring_memory();
    let ring = Ring::new(&memory, layout());
    // Words after the tenants that would be rights if they were a tenant's.
    memory.0[record(TENANTS) + offset_of!(TenantRecord, mask) / 4].set(Kind::TENANT_MASK);
    let refusal = Refusal::new(FaultCode::BadTenant, TENANTS);
    assert_eq!(
        ring.admit(&raw(Kind::Nop.opcode(), TENANTS, 2)),
        Err(refusal)
    );
    assert_eq!(ring.tenant(TENANTS), TenantRecord::default());
    // Words after the slots are completions, whose first word is 0 like that of an empty slot.
    assert!(!ring.reserve(layout().slots()));
    let words = || memory.0.iter().map(Cell::get).collect::<Vec<u32>>();
    memory.0.iter().for_each(|word| word.set(7));
    for batch in [0, BATCHES + 1] {
        ring.open_batch(batch);
    }
    assert!(words().iter().all(|word| *word == 7));
    ring.open_batch(BATCHES);
    assert!(words().contains(&0));
}

#[test]
fn a_worker_claims_no_slot_beyond_the_ring() {
    let memory = ring_memory();
    let ring = Ring::new(&memory, layout());
    post(ring, &[one(Kind::Nop, &[])]);
    // The record of the priority names words after the slots, which look like a posted one.
    let level = offset_of!(ControlBlock, levels) + 2 * size_of::<LevelRecord>();
    memory.0[(level + offset_of!(LevelRecord, first)) / 4].set(layout().slots());
    let beyond: [u32; 16] = bytemuck::cast(SlotRecord {
        status: Status::Published as u32,
        ..one(Kind::Nop, &[])
    });
    for (at, word) in (layout().slot(layout().slots())..).zip(beyond) {
        memory.0[at as usize].set(word);
    }
    assert!(Worker::new(ring, None).claim().is_none());
}

#[test]
fn a_slot_among_those_of_another_priority_is_a_fault() {
    let memory = ring_memory();
    let ring = Ring::new(&memory, layout());
    post(ring, &[one(Kind::Nop, &[])]);
    let index = ring.slots_of(2).start;
    let priority = (offset_of!(SlotRecord, priority) / 4) as u32;
    memory.0[(layout().slot(index) + priority) as usize].set(1);
    let _ = work(ring);
    let record = ring.completion(index);
    let found = (FaultCode::from_word(record.fault), record.results[0]);
    assert_eq!(found, (FaultCode::BadPriority, 1));
}

#[test]
fn a_printed_record_of_an_impossible_length_is_not_read() {
    let memory = ring_memory();
    let ring = Ring::new(&memory, layout());
    post(ring, &[one(Kind::Print, &[2, 5, 6])]);
    let _ = work(ring);
    let record = ring.print_at(0).unwrap();
    assert_eq!((record.words, record.text[..2].to_vec()), (2, vec![5, 6]));
    let words = layout().print(0) as usize + offset_of!(PrintRecord, words) / 4;
    memory.0[words].set(PRINT_WORDS as u32 + 1);
    assert_eq!(ring.print_at(0), None);
}

#[test]
fn a_worker_leaves_the_ring_of_another_version() {
    for at in [
        offset_of!(ControlBlock, magic),
        offset_of!(ControlBlock, version),
    ] {
        let memory = ring_memory();
        let ring = Ring::new(&memory, layout());
        assert!(!Worker::new(ring, None).should_end());
        memory.0[at / 4].set(9);
        assert!(Worker::new(ring, None).should_end());
    }
}

#[test]
fn a_tenant_has_no_more_slots_at_once_than_its_quota() {
    let memory = ring_memory();
    let ring = Ring::new(&memory, layout());
    memory.0[record(READER) + offset_of!(TenantRecord, quota) / 4].set(1);
    let load = slot(Kind::Load, READER, 2, &[0]);
    post(ring, &[load, load]);
    let mut workers = [Worker::new(ring, None), Worker::new(ring, None)];
    let first = workers[0].claim().unwrap();
    assert!(workers[1].claim().is_none());
    workers[0].answer(first, Outcome::word(0));
    assert!(workers[1].claim().is_some());
}
