//! The barrier of all devices: a barrier of each device's blocks, mail from each device to each,
//! and another barrier of its blocks.
//!
//! A device sends its mail for an epoch after all its blocks have arrived, and none passes before
//! it has the mail of all. So mail for the epoch after the next is sent only when that of this one
//! was read: two places for each sender suffice.

use super::record::Multi;
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Proven, word_of};
use crate::tables::control::{ProgramPoint, Stop};
use seawall_core::abi::control::{FaultCode, FaultRecord};
use seawall_core::abi::multi::{ENDED, MAIL_WORDS, Mail, MultiKind, MultiState, StepCounters};
use seawall_core::protocol::{Read, Scope, Site, Write};

/// Polls between two reads of the clock and of the fault word.
const POLLS_PER_LOOK: u32 = 32;

/// Bit of a device's part for nodes in its list.
pub(super) const LISTED: u32 = 1 << 31;

/// Nodes that all devices found in a step, and the edges that leave them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) nodes: u64,
    pub(super) edges: u64,
}

/// One device's part of a run, as a lane sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<G> {
    pub(super) team: Team<G>,
    pub(super) multi: Multi,
    /// Barriers of all devices so far.
    pub(super) meetings: u32,
    /// Steps so far; counters of a step have one of three places.
    pub(super) step: u32,
}

impl<G: Grid> Part<G> {
    #[inline(always)]
    pub(super) fn new(team: Team<G>, multi: Multi) -> Self {
        Self {
            team,
            multi,
            meetings: 0,
            step: 0,
        }
    }

    #[inline(always)]
    pub(super) fn grid(&self) -> G {
        self.team.grid
    }

    #[inline(always)]
    pub(super) fn kind(&self) -> u32 {
        self.multi.kind(self.grid())
    }

    /// The number of the running step.
    #[inline(always)]
    pub(super) fn step(&self) -> u32 {
        self.step
    }

    /// The counters of the running step.
    #[inline(always)]
    pub(super) fn counters(&self) -> Proven {
        self.multi.counters(self.grid(), self.step)
    }

    /// A word of the state.
    #[inline(always)]
    pub(super) fn state(&self, at: u32) -> u32 {
        self.multi.state(self.grid()).load(self.grid(), at)
    }

    /// Two words of the state.
    #[inline(always)]
    pub(super) fn state_wide(&self, at: u32) -> u64 {
        self.multi.state(self.grid()).load_wide(self.grid(), at)
    }

    /// The point of the run, for reports.
    #[inline(always)]
    pub(super) fn point(&self) -> ProgramPoint {
        ProgramPoint {
            wave: 0,
            opcode: self.kind(),
            iteration: self.step,
        }
    }

    /// The barrier of this device's blocks.
    ///
    /// # Errors
    /// As [`Team::barrier`].
    #[inline(never)]
    pub(super) fn barrier(self) -> Result<(), Stop> {
        self.team.barrier(|| self.point())
    }

    /// Ends a step: meets the other devices, and begins the next step with the sums of all. `is_list`
    /// says whether this device's nodes are in its list.
    ///
    /// # Errors
    /// If a block or a device reported a fault, or the time budget ended.
    #[inline(always)]
    pub(super) fn meet(&mut self, is_list: bool) -> Result<(), Stop> {
        meet(*self, is_list, true)?;
        self.meetings += 1;
        self.step += 1;
        Ok(())
    }

    /// Counts `own` among the words of which [`Part::least`] is the least, [`u32::MAX`] for none. A
    /// warp operation.
    #[inline(always)]
    pub(super) fn add_least(&self, own: u32) {
        let grid = self.grid();
        let least = grid.warp_min(own);
        if grid.warp_lane() == 0 && least != u32::MAX {
            self.counters()
                .max(grid, word_of!(StepCounters, least), !least);
        }
    }

    /// The least word of all lanes of all devices in the last step.
    #[inline(always)]
    pub(super) fn least(&self) -> u32 {
        self.state(word_of!(MultiState, least))
    }

    /// Meets the other devices within a step, so that none writes into this one's memory before
    /// that is made.
    ///
    /// # Errors
    /// As [`Part::meet`].
    #[inline(always)]
    pub(super) fn begin_together(&mut self) -> Result<(), Stop> {
        meet(*self, true, false)?;
        self.meetings += 1;
        Ok(())
    }

    /// The nodes that all devices found in the last step.
    #[inline(always)]
    pub(super) fn found(&self) -> Found {
        Found {
            nodes: self.state_wide(word_of!(MultiState, found)),
            edges: self.state_wide(word_of!(MultiState, edges)),
        }
    }

    /// Tells the other devices that this one has ended early. Every lane may call this.
    #[cold]
    pub(super) fn leave(self) {
        let grid = self.grid();
        if !self.team.is_leader() {
            return;
        }
        let own = self.multi.own(grid);
        for device in 0..self.multi.devices(grid) {
            if device == own {
                continue;
            }
            for epoch in 0..2 {
                let mail = self.multi.mail(grid, own, epoch);
                let mail = self.multi.of_device(grid, mail, device);
                send(grid, mail, word_of!(Mail, epoch), ENDED);
            }
        }
    }

    /// Reports a fault of devices.
    #[cold]
    fn report(self, code: FaultCode, device: u32, arrived: u32) {
        let grid = self.grid();
        let record = FaultRecord {
            code: code as u32,
            wave: 0,
            opcode: 0,
            block: device,
            epoch: self.meetings,
            arrived,
            expected: self.multi.devices(grid),
            iteration: self.step,
        };
        self.team.control.report(grid, &record);
    }
}

/// Writes a word of mail for another device, with release for the epoch.
#[inline(always)]
pub(super) fn send<G: Grid>(grid: G, mail: Proven, at: u32, value: u32) {
    let order = if at == word_of!(Mail, epoch) {
        Write::Release(Site::Mail)
    } else {
        Write::Relaxed
    };
    let word = mail.address() + u64::from(at) * 4;
    // SAFETY: the word is in the array.
    unsafe { grid.store_word(word as *mut u32, value, order, Scope::System) };
}

/// Reads a word of mail.
#[inline(always)]
pub(super) fn read<G: Grid>(grid: G, mail: Proven, at: u32, order: Read) -> u32 {
    let word = mail.address() + u64::from(at) * 4;
    // SAFETY: the word is in the array.
    unsafe { grid.load_word(word as *const u32, order, Scope::System) }
}

#[inline(never)]
fn meet<G: Grid>(part: Part<G>, is_list: bool, adds_up: bool) -> Result<(), Stop> {
    part.barrier()?;
    if part.team.is_first() {
        let grid = part.grid();
        // Block operations: all lanes of the block are here.
        send_own(part, is_list);
        grid.block_barrier();
        exchange(part);
        grid.block_barrier();
        if part.team.is_out_of_time(|| part.point()) {
            return Err(Stop);
        }
        if adds_up {
            add_up(part);
        }
    }
    part.barrier()
}

/// Words of mail with its epoch.
const CONTENT: u32 = word_of!(Mail, rest);

// The words of mail from `edges` on are those of the counters.
const _: () = {
    assert!(word_of!(Mail, edges) == word_of!(StepCounters, edges));
    assert!(word_of!(Mail, dangling) == word_of!(StepCounters, dangling));
    assert!(word_of!(Mail, change) == word_of!(StepCounters, change));
    assert!(CONTENT == word_of!(StepCounters, examined));
};

/// Writes this device's mail for all devices, a word a lane, and clears the counters of the next
/// step. All lanes of the first block call this.
#[inline(always)]
fn send_own<G: Grid>(part: Part<G>, is_list: bool) {
    let (grid, multi) = (part.grid(), part.multi);
    let counters = part.counters();
    let mail = multi.mail(grid, multi.own(grid), part.meetings + 1);
    let (state, next) = (multi.state(grid), multi.counters(grid, part.step + 1));
    let mut at = grid.lane();
    while at < next.len() {
        if at > word_of!(Mail, epoch) && at < CONTENT {
            let word = if at == word_of!(Mail, found) {
                counters.load(grid, word_of!(StepCounters, found))
            } else if at == word_of!(Mail, is_list) {
                u32::from(is_list)
            } else if at == word_of!(Mail, least) {
                !counters.load(grid, word_of!(StepCounters, least))
            } else {
                counters.load(grid, at)
            };
            for device in 0..multi.devices(grid) {
                send(grid, multi.of_device(grid, mail, device), at, word);
            }
            // The epoch follows from another lane, after a block barrier.
            grid.fence_system();
        } else if at == word_of!(Mail, epoch) {
            let found = counters.load(grid, word_of!(StepCounters, found));
            let sent = word_of!(MultiState, sent);
            state.add_wide(grid, sent, sent_bytes(part, found, is_list));
        } else if at == word_of!(StepCounters, examined) {
            let examined = counters.load_wide(grid, at);
            state.add_wide(grid, word_of!(MultiState, examined), examined);
        } else {
            let lists = word_of!(MultiState, lists);
            state.add(grid, lists, u32::from(is_list));
        }
        next.store(grid, at, 0);
        at += grid.lanes();
    }
}

/// Bytes that this device has written for the others in a step, or reads after it.
#[inline(always)]
fn sent_bytes<G: Grid>(part: Part<G>, found: u32, is_list: bool) -> u64 {
    let (grid, multi, kind) = (part.grid(), part.multi, part.kind());
    let mut words = if is_list {
        u64::from(found)
    } else {
        u64::from(multi.own_words(grid))
    };
    if kind == MultiKind::Whole as u32 || kind == MultiKind::Float as u32 {
        words += u64::from(found);
    } else if kind == MultiKind::Ranks as u32 {
        words += u64::from(multi.own_nodes(grid));
    } else if kind == MultiKind::Components as u32 {
        words += u64::from(multi.nodes(grid));
    }
    (words + u64::from(word_of!(Mail, rest))) * 4 * u64::from(multi.devices(grid) - 1)
}

/// Sends mail to all other devices, and waits for theirs: a lane for each.
#[inline(always)]
fn exchange<G: Grid>(part: Part<G>) {
    let (grid, multi) = (part.grid(), part.multi);
    let (own, devices) = (multi.own(grid), multi.devices(grid));
    let epoch = part.meetings + 1;
    let mail = multi.mail(grid, own, epoch);
    let mut device = grid.lane();
    while device < devices {
        if device != own {
            let there = multi.of_device(grid, mail, device);
            grid.fence_system();
            send(grid, there, word_of!(Mail, epoch), epoch);
        }
        device += grid.lanes();
    }
    device = grid.lane();
    while device < devices {
        if device != own && !wait(part, device, epoch) {
            return;
        }
        device += grid.lanes();
    }
}

/// Waits for the mail of a device; `false` ends the run.
#[inline(always)]
pub(super) fn wait<G: Grid>(part: Part<G>, device: u32, epoch: u32) -> bool {
    let grid = part.grid();
    let mail = part.multi.mail(grid, device, epoch);
    let mut polls = 0_u32;
    loop {
        let seen = read(
            grid,
            mail,
            word_of!(Mail, epoch),
            Read::Acquire(Site::MailPoll),
        );
        if seen == epoch {
            return true;
        }
        if seen == ENDED {
            part.report(FaultCode::DeviceEnded, device, 0);
            return false;
        }
        polls = polls.wrapping_add(1);
        grid.pause(polls);
        if !polls.is_multiple_of(POLLS_PER_LOOK) {
            continue;
        }
        if part.team.control.is_stopped(grid) {
            return false;
        }
        if part.team.is_late() {
            part.report(FaultCode::DeviceMissing, device, arrived(part, epoch));
            return false;
        }
    }
}

/// Devices that have arrived at a barrier, with this one.
#[cold]
fn arrived<G: Grid>(part: Part<G>, epoch: u32) -> u32 {
    let (grid, multi) = (part.grid(), part.multi);
    let mut count = 1;
    for device in 0..multi.devices(grid) {
        let mail = multi.mail(grid, device, epoch);
        let seen = read(grid, mail, word_of!(Mail, epoch), Read::Relaxed);
        count += u32::from(device != multi.own(grid) && seen == epoch);
    }
    count
}

/// Adds up the mail of all devices, in their order, a sum a lane. All lanes of the first block call
/// this.
#[inline(always)]
fn add_up<G: Grid>(part: Part<G>) {
    const SUMS: [(u32, u32); 3] = [
        (word_of!(Mail, edges), word_of!(MultiState, edges)),
        (word_of!(Mail, dangling), word_of!(MultiState, dangling)),
        (word_of!(Mail, change), word_of!(MultiState, change)),
    ];
    let (grid, multi) = (part.grid(), part.multi);
    let (state, devices) = (multi.state(grid), multi.devices(grid));
    let word = |device, at| {
        let mail = multi.mail(grid, device, part.meetings + 1);
        read(grid, mail, at, Read::Relaxed)
    };
    let store = |at: u32, sum: u64| {
        state.store(grid, at, sum as u32);
        state.store(grid, at + 1, (sum >> 32) as u32);
    };
    let mut lane = grid.lane();
    while lane < 5 {
        if lane == 0 {
            let mut found = 0_u64;
            for device in 0..devices {
                let count = word(device, word_of!(Mail, found));
                let is_list = word(device, word_of!(Mail, is_list)) != 0;
                let form = if is_list { LISTED } else { 0 };
                state.store(grid, word_of!(MultiState, parts) + device, count | form);
                found += u64::from(count);
            }
            store(word_of!(MultiState, found), found);
        } else if lane == 1 {
            let mut least = u32::MAX;
            for device in 0..devices {
                least = least.min(word(device, word_of!(Mail, least)));
            }
            state.store(grid, word_of!(MultiState, least), least);
            state.store(grid, word_of!(MultiState, meetings), part.meetings + 1);
        } else {
            // Codegen rule `NO_INDEXED_ARRAYS`.
            let (from, to) = match lane {
                2 => SUMS[0],
                3 => SUMS[1],
                _ => SUMS[2],
            };
            let mut sum = 0_u64;
            for device in 0..devices {
                let [low, high] = [from, from + 1].map(|at| u64::from(word(device, at)));
                sum = sum.wrapping_add(low | high << 32);
            }
            store(to, sum);
            if to == word_of!(MultiState, edges) {
                let before = state.load_wide(grid, word_of!(MultiState, explored));
                store(word_of!(MultiState, explored), before.wrapping_add(sum));
            }
        }
        lane += grid.lanes();
    }
}

const _: () = assert!(size_of::<Mail>() as u32 == 4 * MAIL_WORDS);

/// Crosses barriers of all devices, as many as the limit says.
///
/// # Errors
/// As [`Part::meet`].
pub(super) fn barriers<G: Grid>(part: &mut Part<G>) -> Result<(), Stop> {
    for _ in 0..part.multi.limit(part.grid()) {
        part.meet(true)?;
    }
    Ok(())
}
