//! The barrier of all devices, as in kernels: devices of one block of one lane, each a thread of the
//! checker.

use super::lane::{Lane, Model, Word};
use super::words::{Owned, Weakened};
use loom::sync::Arc;
use loom::sync::atomic::AtomicU32 as Modelled;
use seawall_core::abi::VERSION;
use seawall_core::abi::control::{ControlRecord, FaultCode, FaultRecord};
use seawall_core::abi::multi::{
    DEVICES_MAX, ENDED, MAGIC, MAIL_WORDS, Mail, MultiKind, MultiRecord, MultiState,
};
use seawall_core::protocol::Site;
use seawall_device::multi::{Multi, multi};
use std::mem::{offset_of, size_of};
use std::sync::atomic::{AtomicU32, Ordering};

/// Devices of a test. With three, the checker lets two wait for each other's turn for ever.
const DEVICES: usize = 2;

const MAIL: usize = DEVICES_MAX * 2 * MAIL_WORDS as usize;
const CONTROL: usize = MAIL;
const STATE: usize = CONTROL + size_of::<ControlRecord>() / 4;
const RECORD: usize = STATE + size_of::<MultiState>() / 4;
const WORDS: usize = RECORD + size_of::<MultiRecord>() / 4;

const FAULT: usize =
    CONTROL + (offset_of!(ControlRecord, fault) + offset_of!(FaultRecord, code)) / 4;

/// Words of mail that another device writes: its epoch, and what it says.
const SAID: usize = offset_of!(Mail, rest) / 4;

/// Words that a block keeps for itself.
const OWN: usize = 64;

/// The memory of a device. Epochs of the other's mail are modelled, what it says belongs to one
/// device at a time, and no other word is reached by both.
struct Device {
    words: Vec<AtomicU32>,
    epochs: [Modelled; 2],
    said: [Vec<Owned>; 2],
    /// The other device.
    sender: usize,
}

struct Run {
    devices: Vec<Device>,
    own: Vec<AtomicU32>,
    weakened: Weakened,
    /// The device that looks.
    now_ns: u64,
}

/// The time of a run, nanoseconds.
const BUDGET_NS: u64 = 100;

impl Device {
    fn new(device: usize) -> Self {
        let said = || (0..SAID).map(|_| Owned::new(0)).collect();
        Self {
            words: (0..WORDS).map(|_| AtomicU32::new(0)).collect(),
            epochs: [Modelled::new(0), Modelled::new(0)],
            said: [said(), said()],
            sender: 1 - device,
        }
    }

    fn base(&self) -> u64 {
        self.words.as_ptr() as u64
    }

    fn word(&self, at: usize) -> Word<'_> {
        let from = at / MAIL_WORDS as usize;
        let place = at % MAIL_WORDS as usize;
        match at < MAIL && from / 2 == self.sender && place < SAID {
            true if place == 0 => Word::Modelled(&self.epochs[from % 2]),
            true => Word::Owned(&self.said[from % 2][place]),
            false => Word::Plain(&self.words[at]),
        }
    }
}

impl Run {
    fn new(meetings: u32, weakened: Option<Site>, now_ns: u64) -> Self {
        let run = Self {
            devices: (0..DEVICES).map(Device::new).collect(),
            own: (0..OWN * DEVICES).map(|_| AtomicU32::new(0)).collect(),
            weakened: Weakened(weakened),
            now_ns,
        };
        for (own, device) in run.devices.iter().enumerate() {
            let at = |word: usize| device.base() + 4 * word as u64;
            let mut record = MultiRecord {
                magic: MAGIC,
                version: VERSION,
                kind: MultiKind::Barriers as u32,
                devices: DEVICES as u32,
                own: own as u32,
                limit: meetings,
                time_ns: BUDGET_NS,
                control: at(CONTROL),
                state: at(STATE),
                mail: at(0),
                ..MultiRecord::default()
            };
            for (base, device) in record.bases.iter_mut().zip(&run.devices) {
                *base = device.base();
            }
            let words: &[u32] = bytemuck::cast_slice(bytemuck::bytes_of(&record));
            for (to, from) in device.words[RECORD..].iter().zip(words) {
                to.store(*from, Ordering::Relaxed);
            }
        }
        run
    }

    /// Runs the kernel of a device; returns the code of its fault.
    fn run(&self, device: u32) -> u32 {
        let words = &self.devices[device as usize].words;
        // SAFETY: the record and the memory of all devices live as long as this, and are reached
        // through `Lane` alone.
        let part = unsafe { Multi::new(words[RECORD..].as_ptr().cast()) };
        let view = View { run: self, device };
        multi(
            Lane {
                model: &view,
                block: 0,
            },
            part,
        );
        words[FAULT].load(Ordering::Relaxed)
    }

    fn state(&self, device: usize, at: usize) -> u32 {
        self.devices[device].words[STATE + at / 4].load(Ordering::Relaxed)
    }
}

/// A run as one device sees it.
struct View<'r> {
    run: &'r Run,
    device: u32,
}

impl Model for View<'_> {
    fn blocks(&self) -> u32 {
        1
    }

    fn now_ns(&self) -> u64 {
        self.run.now_ns
    }

    fn weakened(&self) -> Weakened {
        self.run.weakened
    }

    fn shared(&self, _: u32, at: u32) -> &AtomicU32 {
        &self.run.own[self.device as usize * OWN + at as usize]
    }

    fn word(&self, word: *const u32) -> Word<'_> {
        let address = word as u64;
        let holds =
            |device: &&Device| (device.base()..device.base() + 4 * WORDS as u64).contains(&address);
        let device = self.run.devices.iter().find(holds);
        let device = device.expect("an address in the memory of a device");
        device.word((address - device.base()) as usize / 4)
    }
}

/// Devices meet three times: each place of mail is used again by the third.
pub(crate) fn devices(weakened: Option<Site>) {
    loom::model(move || {
        let run = Arc::new(Run::new(3, weakened, 0));
        let same = Arc::clone(&run);
        let other = loom::thread::spawn(move || same.run(1));
        assert_eq!(run.run(0), 0, "devices meet");
        assert_eq!(other.join().unwrap(), 0, "devices meet");
        for device in 0..DEVICES {
            let meetings = run.state(device, offset_of!(MultiState, meetings));
            assert_eq!(meetings, 3, "devices meet");
        }
    });
}

/// A device that has ended early ends the one that waits.
#[test]
fn a_device_that_ends_lets_the_other_go() {
    loom::model(|| {
        let run = Arc::new(Run::new(2, None, 0));
        let same = Arc::clone(&run);
        let other = loom::thread::spawn(move || {
            // As a device that fails before its first barrier.
            for epoch in &same.devices[0].epochs {
                epoch.store(ENDED, Ordering::Release);
            }
        });
        assert_eq!(run.run(0), FaultCode::DeviceEnded as u32);
        other.join().unwrap();
    });
}
