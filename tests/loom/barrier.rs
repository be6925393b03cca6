//! The barrier of a grid, as in kernels, with one lane per block.

use super::lane::{Lane, Model, Word};
use super::words::{Owned, Weakened};
use loom::sync::Arc;
use loom::sync::atomic::AtomicU32 as Modelled;
use seawall_core::abi::control::{ControlRecord, FaultCode, FaultRecord};
use seawall_core::protocol::{Read, Site, Write};
use seawall_device::collectives::team::Team;
use seawall_device::machine::dealer::{Publishes, confer};
use seawall_device::machine::shared::EPOCH;
use seawall_device::tables::control::{Control, ProgramPoint, Stop};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};

const TICKET: usize = offset_of!(ControlRecord, ticket) / 4;
const ARRIVALS: usize = offset_of!(ControlRecord, arrivals) / 4;
const FAULT: usize = (offset_of!(ControlRecord, fault) + offset_of!(FaultRecord, code)) / 4;
const WORDS: usize = size_of::<ControlRecord>() / 4;

/// Words that a block keeps for itself.
const OWN: usize = 64;

/// The memory of a run. The ticket, the arrivals at the end of a launch and the code of the fault
/// are modelled; no code relies on the order of other words.
struct Memory {
    ticket: Modelled,
    arrivals: Modelled,
    /// Barriers that all blocks passed before.
    passed: u32,
    fault: Modelled,
    record: Vec<AtomicU32>,
    own: Vec<Vec<AtomicU32>>,
    weakened: Weakened,
    /// The time of every block.
    now_ns: u64,
}

/// The time at which a run's budget is over.
const DEADLINE_NS: u64 = 100;

impl Memory {
    fn new(blocks: u32, passed: u32, weakened: Option<Site>, now_ns: u64) -> Self {
        let words = |count: usize| (0..count).map(|_| AtomicU32::new(0)).collect();
        Self {
            ticket: Modelled::new(passed.wrapping_mul(blocks)),
            arrivals: Modelled::new(0),
            passed,
            fault: Modelled::new(0),
            record: words(WORDS),
            own: (0..blocks).map(|_| words(OWN)).collect(),
            weakened: Weakened(weakened),
            now_ns,
        }
    }

    /// A word that is modelled.
    fn modelled(&self, word: *const u32) -> Option<&Modelled> {
        match self.place(word) {
            TICKET => Some(&self.ticket),
            ARRIVALS => Some(&self.arrivals),
            FAULT => Some(&self.fault),
            _ => None,
        }
    }

    fn place(&self, word: *const u32) -> usize {
        (word as usize - self.record.as_ptr() as usize) / 4
    }

    fn team(&self, block: u32) -> Team<Lane<'_, Self>> {
        let grid = Lane { model: self, block };
        // SAFETY: the record is valid as long as this memory, and only reached through `Lane`.
        let control = unsafe { Control::at(self.record.as_ptr() as u64) };
        let team = Team::whole(grid, control, DEADLINE_NS);
        EPOCH.store(grid, self.passed);
        team
    }
}

impl Model for Memory {
    fn blocks(&self) -> u32 {
        self.own.len() as u32
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn weakened(&self) -> Weakened {
        self.weakened
    }

    fn shared(&self, block: u32, at: u32) -> &AtomicU32 {
        &self.own[block as usize][at as usize]
    }

    fn word(&self, word: *const u32) -> Word<'_> {
        let plain = Word::Plain(&self.record[self.place(word)]);
        self.modelled(word).map_or(plain, Word::Modelled)
    }
}

/// Number of blocks. With three, the checker lets two wait for each other's turn for ever.
const BLOCKS: u32 = 2;

/// Runs `block` for each block of a memory, with separate words.
fn blocks(
    memory: impl Fn() -> Memory + Send + Sync + 'static,
    words: u32,
    block: impl Fn(&Memory, &[Owned], u32) + Copy + Send + Sync + 'static,
) {
    loom::model(move || {
        let words: Vec<Owned> = (0..words).map(|_| Owned::new(0)).collect();
        let run = Arc::new((memory(), words));
        let same = Arc::clone(&run);
        let other = loom::thread::spawn(move || block(&same.0, &same.1, 1));
        block(&run.0, &run.1, 0);
        other.join().unwrap();
    });
}

/// After `passed` barriers, each block writes a word before each of some more, and reads those of all
/// after it.
fn meet_again(passed: u32, barriers: u32, weakened: Option<Site>) {
    let memory = move || Memory::new(BLOCKS, passed, weakened, 0);
    blocks(memory, BLOCKS * barriers, move |memory, words, block| {
        let team = memory.team(block);
        for barrier in 0..barriers {
            let row = &words[(barrier * BLOCKS) as usize..][..BLOCKS as usize];
            row[block as usize].set(barrier + 1);
            assert!(team.barrier(ProgramPoint::default).is_ok(), "nobody stops");
            for other in row {
                assert_eq!(other.get(), barrier + 1, "barrier {barrier}");
            }
        }
    });
}

/// A barrier.
pub(crate) fn meets(weakened: Option<Site>) {
    meet_again(0, 1, weakened);
}

/// The block that leaves a launch last sees the writes of the others.
pub(crate) fn last(weakened: Option<Site>) {
    let memory = move || Memory::new(BLOCKS, 0, weakened, 0);
    blocks(memory, BLOCKS, |memory, words, block| {
        let team = memory.team(block);
        words[block as usize].set(1);
        if team.control.leave(team.grid) {
            assert!(words.iter().all(|word| word.get() == 1), "last");
        }
    });
}

/// A thread's seat in a thread group; its words alternate between it and the threads that receive
/// them.
struct Seat {
    turn: Modelled,
    words: [Owned; 2],
    weakened: Weakened,
}

impl Publishes for Seat {
    fn turn(&self, order: Read) -> u32 {
        self.turn.load(self.weakened.read(order))
    }
    fn set_turn(&self, turn: u32, order: Write) {
        self.turn.store(turn, self.weakened.write(order));
    }
    fn word(&self, place: usize) -> u64 {
        self.words[place].get().into()
    }
    fn set_word(&self, place: usize, word: u64) {
        self.words[place].set(word as u32);
    }
}

/// Two threads exchange words for three turns, in which each place is used again.
pub(crate) fn group(weakened: Option<Site>) {
    let published = |turn: u64, seat: u32| turn << 8 | u64::from(seat);
    let confers = move |seats: &[Seat], seat: u32| {
        for turn in 0..3 {
            let wait = |_| {
                loom::thread::yield_now();
                true
            };
            let heard = confer(seats, seat, published(turn, seat), wait).unwrap();
            assert_eq!(
                heard.words[..2],
                [published(turn, 0), published(turn, 1)],
                "thread group"
            );
        }
    };
    loom::model(move || {
        let seat = || Seat {
            turn: Modelled::new(0),
            words: [Owned::new(0), Owned::new(0)],
            weakened: Weakened(weakened),
        };
        let seats = Arc::new([seat(), seat()]);
        let same = Arc::clone(&seats);
        let other = loom::thread::spawn(move || confers(&*same, 1));
        confers(&*seats, 0);
        other.join().unwrap();
    });
}

/// One block reports a fault and never arrives: the other one ends too, and the report stays the first.
fn ends(now_ns: u64, expected: FaultCode) {
    loom::model(move || {
        let memory = Arc::new(Memory::new(BLOCKS, 0, None, now_ns));
        let faulty = Arc::clone(&memory);
        let other = loom::thread::spawn(move || {
            if now_ns == 0 {
                let team = faulty.team(1);
                let point = ProgramPoint::default();
                let Stop = team.control.fault(team.grid, FaultCode::BadIndex, point);
            }
        });
        assert!(memory.team(0).barrier(ProgramPoint::default).is_err());
        other.join().unwrap();
        let code = memory.fault.load(Ordering::Relaxed);
        assert_eq!(code, expected as u32);
    });
}

#[test]
fn blocks_see_what_each_wrote_before_each_barrier() {
    meet_again(0, 3, None);
}

#[test]
fn the_ticket_may_overflow() {
    meet_again(u32::MAX / BLOCKS, 2, None);
}

#[test]
fn a_fault_ends_the_blocks_that_wait() {
    ends(0, FaultCode::BadIndex);
}

#[test]
fn a_block_that_waits_in_vain_ends_when_its_time_is_over() {
    ends(DEADLINE_NS, FaultCode::Watchdog);
}
