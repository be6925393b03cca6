//! Runs on several devices: the inputs of each.
//!
//! ```text
//! mail | lists | bits | values | shares | control | state | found | ... | edges
//! '------ written by others, the same ----'
//!         offsets on every device
//! ```

use super::BackendError;
use super::Canceller;
use super::threads::join_all;
use bytemuck::{Pod, Zeroable, bytes_of};
use seawall_core::abi::VERSION;
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::multi::{
    DEVICES_MAX, LIST, MAGIC, MAIL_WORDS, MultiKind, MultiRecord, MultiState,
};
use std::borrow::Cow;
use std::mem::offset_of;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Words at multiples of which parts begin: a cache line of a GPU.
const ALIGN: u64 = 64;

const CONTROL_WORDS: u64 = (size_of::<ControlRecord>() / 4) as u64;
const STATE_WORDS: u64 = (size_of::<MultiState>() / 4) as u64;

/// Inputs that all devices of a run share.
#[derive(Clone, Debug)]
pub(crate) struct MultiRun {
    /// The work.
    pub(crate) kind: MultiKind,
    /// Nodes of the graph.
    pub(crate) nodes: u32,
    /// Edges of the graph.
    pub(crate) edges: u64,
    /// First node of each device, and the number of nodes.
    pub(crate) cuts: Vec<u32>,
    /// Most levels or iterations.
    pub(crate) limit: u32,
    /// Damping factor of ranks, and units of shares in 1 as a power of two.
    pub(crate) ranking: (f32, u32),
    /// Mass of nodes without edges at the start, and the change at which ranks have settled.
    pub(crate) masses: [u64; 2],
    /// Width of a bucket of distances, as a word.
    pub(crate) width: u32,
    /// Whether every edge has its mirror image.
    pub(crate) symmetric: bool,
    /// Sources, and the edges that leave them.
    pub(crate) sources: (u32, u64),
    /// Bits of the sources; none if there are none.
    pub(crate) source_bits: Vec<u32>,
    /// Sources of each device.
    pub(crate) source_counts: Vec<u32>,
    /// Shares of all nodes at the start; none if there are none.
    pub(crate) first_shares: Vec<u32>,
    /// Time after which kernels end by themselves, nanoseconds.
    pub(crate) time_ns: u64,
    /// Number of runs.
    pub(crate) repeat: u32,
}

/// The edges of one device.
#[derive(Debug, Default)]
pub(crate) struct DeviceEdges<'g> {
    /// Offsets of the rows of its own nodes, if edges are pulled.
    pub(crate) in_offsets: Vec<u32>,
    /// Nodes from which edges lead there.
    pub(crate) in_sources: Cow<'g, [u32]>,
    /// The own node of each row, where rows are those of slices.
    pub(crate) row_nodes: Vec<u32>,
    /// The node of each place of frequent sources. Sources from the number of nodes on are places.
    pub(crate) frequent: Vec<u32>,
    /// Offsets of the rows of all nodes, if edges are pushed.
    pub(crate) out_offsets: Vec<u32>,
    /// Targets of these edges.
    pub(crate) out_targets: Vec<u32>,
    /// Their weights, if they are read.
    pub(crate) out_weights: Vec<u32>,
    /// Edges that leave each of its own nodes.
    pub(crate) degrees: Vec<u32>,
}

/// First words of the parts. Mail begins at 0; parts before the control block are written by other
/// devices too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) lists: u64,
    pub(crate) bits: u64,
    pub(crate) values: u64,
    pub(crate) shares: u64,
    pub(crate) control: u64,
    state: u64,
    found: u64,
    waiting: u64,
    long_rows: u64,
    sums: u64,
    /// Parts before this one begin as zeros in every run.
    edges: [u64; 8],
    words: u64,
}

/// One device of a run.
#[derive(Debug)]
pub(crate) struct MultiJob<'a> {
    /// The run.
    pub(crate) run: &'a MultiRun,
    /// Number of the device in the run.
    pub(crate) own: u32,
    /// Its edges.
    pub(crate) edges: &'a DeviceEdges<'a>,
}

/// Values and counters of a device.
#[derive(Debug)]
pub(crate) struct DeviceFound {
    /// Values of its own nodes.
    pub(crate) values: Vec<u32>,
    pub(crate) figures: DeviceFigures,
    /// Device time of each run, nanoseconds.
    pub(crate) times_ns: Vec<u64>,
    /// Its name.
    pub(crate) name: String,
}

/// Counters of a device.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct DeviceFigures {
    /// The state at the end of the last run.
    pub(crate) state: MultiState,
    /// The grid barriers that its blocks crossed in the last run.
    pub(crate) barriers: u64,
    /// Time of uploading its edges.
    pub(crate) upload_ns: u64,
    /// Time of reading its values.
    pub(crate) readback_ns: u64,
    /// Bytes of its memory.
    pub(crate) bytes: u64,
    /// Edges of its part.
    pub(crate) edges: u64,
}

impl MultiRun {
    /// Devices.
    pub(crate) fn devices(&self) -> u32 {
        self.cuts.len() as u32 - 1
    }

    pub(crate) fn has_lengths(&self) -> bool {
        matches!(self.kind, MultiKind::Whole | MultiKind::Float)
    }
}

impl MultiJob<'_> {
    /// First own node, and the one after the last.
    pub(crate) fn range(&self) -> [u32; 2] {
        [self.own, self.own + 1].map(|at| self.run.cuts[at as usize])
    }

    /// Edges of its part.
    pub(crate) fn edge_count(&self) -> u64 {
        self.edges
            .in_sources
            .len()
            .max(self.edges.out_targets.len()) as u64
    }

    fn own_nodes(&self) -> u64 {
        let [first, end] = self.range();
        u64::from(end - first)
    }

    /// Words of the shares of a step.
    pub(crate) fn share_words(&self) -> u64 {
        u64::from(self.run.nodes) + self.edges.frequent.len() as u64
    }

    /// Arrays that stay for all runs.
    pub(crate) fn arrays(&self) -> [&[u32]; 8] {
        let edges = self.edges;
        [
            &edges.degrees,
            &edges.in_offsets,
            &edges.in_sources,
            &edges.out_offsets,
            &edges.out_targets,
            &edges.out_weights,
            &edges.row_nodes,
            &edges.frequent,
        ]
    }

    pub(crate) fn layout(&self) -> Layout {
        let mut end = 0_u64;
        let mut take = |words: u64| {
            let start = end;
            end += words.next_multiple_of(ALIGN);
            start
        };
        let (run, own) = (self.run, self.own_nodes());
        let nodes = u64::from(run.nodes);
        let has_shares = matches!(run.kind, MultiKind::Ranks | MultiKind::Components);
        let sums = match run.kind {
            MultiKind::Ranks => 2 * own,
            MultiKind::Cores => own,
            _ => 0,
        };
        let devices = DEVICES_MAX as u64;
        take(devices * 2 * u64::from(MAIL_WORDS));
        let lists = take(devices * 2 * u64::from(LIST));
        let bits = take(2 * nodes.div_ceil(32));
        let values = take(nodes);
        let shares = take(if has_shares {
            2 * self.share_words()
        } else {
            0
        });
        let control = take(CONTROL_WORDS);
        let state = take(STATE_WORDS);
        let found = take(own.div_ceil(32));
        let waiting = take(if run.has_lengths() {
            own.div_ceil(32)
        } else {
            0
        });
        let long_rows = take(nodes);
        let sums = take(sums);
        let edges = self.arrays().map(|array| take(array.len() as u64));
        Layout {
            lists,
            bits,
            values,
            shares,
            control,
            state,
            found,
            waiting,
            long_rows,
            sums,
            edges,
            words: take(0),
        }
    }

    /// Bytes of the device's memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.layout().words * 4
    }

    /// Arrays that stay for all runs, each with its first word.
    pub(crate) fn kept(&self) -> Vec<(u64, &[u32])> {
        self.layout().edges.into_iter().zip(self.arrays()).collect()
    }

    /// Words at the front that begin as zeros in every run, in two parts: before the values and
    /// shares, which the kernel or the host fills, and after them.
    pub(crate) fn zeros(&self) -> [(u64, u64); 2] {
        let layout = self.layout();
        let end = layout.edges[0];
        [(0, layout.values), (layout.control, end - layout.control)]
    }

    /// Words with which every run begins besides zeros.
    pub(crate) fn begins(&self) -> Vec<(u64, Vec<u32>)> {
        let layout = self.layout();
        let mut state = MultiState::zeroed();
        for (part, count) in state.parts.iter_mut().zip(&self.run.source_counts) {
            *part = *count;
        }
        let words: &[u32] = bytemuck::cast_slice(bytes_of(&state));
        vec![
            (layout.state, words.to_vec()),
            (layout.bits, self.run.source_bits.clone()),
            (layout.shares, self.run.first_shares.clone()),
        ]
    }

    /// First word of the values of the own nodes, and their number.
    pub(crate) fn values_at(&self) -> (u64, usize) {
        let [first, _] = self.range();
        (
            self.layout().values + u64::from(first),
            self.own_nodes() as usize,
        )
    }

    /// First word of the control block, of the fault in it, and of the state.
    pub(crate) fn reports_at(&self) -> [u64; 3] {
        let layout = self.layout();
        let fault = layout.control + (offset_of!(ControlRecord, fault) / 4) as u64;
        [layout.control, fault, layout.state]
    }

    /// Record for a kernel with memory at each device's base.
    pub(crate) fn record(&self, bases: &[u64]) -> MultiRecord {
        let (layout, run) = (self.layout(), self.run);
        let base = bases[self.own as usize];
        let at = |word: u64| base + 4 * word;
        let [
            degrees,
            in_offsets,
            in_sources,
            out_offsets,
            out_targets,
            out_weights,
            row_nodes,
            frequent_nodes,
        ] = [0, 1, 2, 3, 4, 5, 6, 7].map(|array| match self.arrays()[array].is_empty() {
            true if array != 2 && array != 4 => 0,
            _ => at(layout.edges[array]),
        });
        let [first, end] = self.range();
        let mut record = MultiRecord {
            magic: MAGIC,
            version: VERSION,
            kind: run.kind as u32,
            nodes: run.nodes,
            devices: run.devices(),
            own: self.own,
            first,
            end,
            limit: run.limit,
            damping: run.ranking.0.to_bits(),
            exponent: run.ranking.1,
            width: run.width,
            symmetric: u32::from(run.symmetric),
            edges: self.edge_count() as u32,
            sources: run.sources.0,
            all_edges: run.edges,
            source_edges: run.sources.1,
            dangling: run.masses[0],
            settled: run.masses[1],
            time_ns: run.time_ns,
            control: at(layout.control),
            state: at(layout.state),
            in_offsets,
            in_sources,
            out_offsets,
            out_targets,
            out_weights,
            rows: self.edges.in_offsets.len().saturating_sub(1) as u32,
            row_nodes,
            frequent_nodes,
            frequent: self.edges.frequent.len() as u32,
            degrees,
            found: at(layout.found),
            waiting: at(layout.waiting),
            long_rows: at(layout.long_rows),
            sums: at(layout.sums),
            values: at(layout.values),
            bits: at(layout.bits),
            lists: at(layout.lists),
            shares: at(layout.shares),
            mail: base,
            ..MultiRecord::zeroed()
        };
        for (to, base) in record.bases.iter_mut().zip(bases) {
            *to = *base;
        }
        record.cuts.fill(run.nodes);
        for (to, cut) in record.cuts.iter_mut().zip(&run.cuts) {
            *to = *cut;
        }
        record
    }
}

/// The meeting point of the threads of a run's devices, with the first error of any.
pub(crate) struct Meeting<'c> {
    devices: u32,
    state: Mutex<MeetingState>,
    changed: Condvar,
    /// Ends the run from another thread.
    pub(crate) canceller: &'c Canceller,
}

#[derive(Debug, Default)]
struct MeetingState {
    /// Devices that wait for the others.
    waiting: u32,
    /// Meetings that are over.
    over: u64,
    failed: Option<BackendError>,
    /// Whether none had failed by the end of the last meeting. A device that goes on may fail before
    /// the others have looked.
    was_well: bool,
    /// Whether a thread has panicked: the others wait for it no longer.
    is_broken: bool,
}

impl<'c> Meeting<'c> {
    pub(crate) fn new(devices: u32, canceller: &'c Canceller) -> Self {
        Self {
            devices,
            state: Mutex::default(),
            changed: Condvar::new(),
            canceller,
        }
    }

    /// Runs `device` for each job, on a thread of its own; returns what all found.
    ///
    /// # Errors
    /// That of the first device that failed, or of one that says more than that another has ended.
    pub(crate) fn run<'j>(
        self,
        jobs: &'j [MultiJob<'j>],
        device: impl Fn(&'j MultiJob<'j>, &Self) -> Option<DeviceFound> + Sync,
    ) -> Result<Vec<DeviceFound>, BackendError> {
        let found = std::thread::scope(|scope| {
            let (meeting, device) = (&self, &device);
            let start = |job| {
                scope.spawn(move || {
                    let _watch = Breaking(meeting);
                    device(job, meeting)
                })
            };
            join_all(jobs.iter().map(start))
        });
        let found: Option<Vec<DeviceFound>> = found.into_iter().collect();
        found.ok_or_else(|| self.lock().failed.take().unwrap_or(BackendError::Cancelled))
    }

    /// Waits for all devices; `None` if any has failed by then, this one with `result` among them.
    /// Every device has to call this as often as the others, until it returns `None`.
    pub(crate) fn all<T>(&self, result: Result<T, BackendError>) -> Option<T> {
        let mut state = self.lock();
        let found = match result {
            Ok(found) => Some(found),
            Err(error) => {
                state.fail(error);
                None
            }
        };
        let meeting = state.over;
        state.waiting += 1;
        if state.waiting == self.devices {
            state.waiting = 0;
            state.over += 1;
            state.was_well = state.failed.is_none();
            self.changed.notify_all();
        }
        let waits = |state: &mut MeetingState| state.over == meeting && !state.is_broken;
        let state = self.changed.wait_while(state, waits);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        found.filter(|_| state.was_well && !state.is_broken)
    }

    fn lock(&self) -> MutexGuard<'_, MeetingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MeetingState {
    /// Records an error: the first, or one that says more than that another device has ended.
    fn fail(&mut self, error: BackendError) {
        if self.failed.as_ref().is_none_or(BackendError::is_echo) {
            self.failed = Some(error);
        }
    }
}

/// Lets the other devices go if this one's thread panics.
struct Breaking<'m, 'c>(&'m Meeting<'c>);

impl Drop for Breaking<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().is_broken = true;
            self.0.changed.notify_all();
        }
    }
}

/// The error of a device that left a fault in `control`.
pub(crate) fn fault(control: &ControlRecord, device: u32) -> BackendError {
    if control.fault.code == super::FaultCode::GivenUp as u32 {
        return BackendError::Cancelled;
    }
    BackendError::Fault {
        record: control.fault,
        wave_name: format!("device {device} of a run on several"),
        missing: control.missing_blocks().take(8).collect(),
        registers: Box::default(),
    }
}

/// Grid barriers and device time of a run, by its control block.
pub(crate) fn counted(control: &ControlRecord, blocks: u32) -> [u64; 2] {
    let time = |words: [u32; 2]| u64::from(words[0]) | u64::from(words[1]) << 32;
    let barriers = u64::from(control.ticket) / u64::from(blocks.max(1));
    let spent = time(control.ended_ns).saturating_sub(time(control.started_ns));
    [barriers, spent]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `device` for three devices of an empty graph.
    fn run(
        device: impl Fn(u32, &Meeting<'_>) -> Option<DeviceFound> + Sync,
    ) -> Result<Vec<DeviceFound>, BackendError> {
        let run = MultiRun {
            kind: MultiKind::Levels,
            nodes: 0,
            edges: 0,
            cuts: vec![0; 4],
            limit: 0,
            ranking: (0.0, 0),
            masses: [0; 2],
            width: 1,
            symmetric: true,
            sources: (0, 0),
            source_bits: Vec::new(),
            source_counts: Vec::new(),
            first_shares: Vec::new(),
            time_ns: 0,
            repeat: 1,
        };
        let edges = DeviceEdges::default();
        let job = |own| MultiJob {
            run: &run,
            own,
            edges: &edges,
        };
        let jobs = [0, 1, 2].map(job);
        let canceller = Canceller::default();
        Meeting::new(3, &canceller).run(&jobs, |job, meeting| device(job.own, meeting))
    }

    #[test]
    fn an_error_after_a_meeting_does_not_undo_it_and_ends_the_next_for_all() {
        for _ in 0..200 {
            let passed = Mutex::new(0);
            let error = run(|own, meeting| {
                meeting.all(Ok(()))?;
                *passed.lock().unwrap() += 1;
                let late = match own {
                    1 => Err(BackendError::NotLoaded),
                    _ => Ok(()),
                };
                meeting.all(late)?;
                unreachable!("a device went on after another had failed")
            });
            assert!(matches!(error, Err(BackendError::NotLoaded)), "{error:?}");
            assert_eq!(passed.into_inner().unwrap(), 3);
        }
    }

    #[test]
    fn a_panic_of_one_device_lets_the_others_go_and_reaches_the_caller() {
        let caught = std::panic::catch_unwind(|| {
            run(|own, meeting| {
                assert_ne!(own, 2, "the last device");
                meeting.all(Ok(()))?;
                None
            })
        });
        let message = caught.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("the last device"), "{message}");
    }
}
