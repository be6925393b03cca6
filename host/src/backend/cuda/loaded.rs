//! A program in device memory, with the pinned words of its runs.
//!
//! All memory of a run is allocated here, so that a run itself allocates nothing.

use super::abort::FaultWords;
use super::context::Context;
use super::memory::{DeviceMemory, Pinned};
use super::resident::Uploader;
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::fit::Ids;
use crate::backend::overflow::Overflowing;
use crate::backend::record::GraphAddresses;
use crate::backend::tables::{CONTROL_OFFSET, Layout, Placement};
use crate::backend::trace::{Trace, TraceMemory};
use crate::backend::walk::{Stage, groups_of_stages, stages};
use crate::backend::{BackendError, NamedWaves};
use crate::graph::Graph;
use crate::program::encoded::{EncodedProgram, RegisterId};
use seawall_core::abi::control::{ControlRecord, FaultRecord};
use seawall_core::abi::program::{Opcode, Region, RegisterRecord, WaveRecord};
use std::mem::offset_of;
use std::ops::Range;
use std::rc::Rc;

/// The words of the control block that decide whether a loop continues: from the fault record to
/// the loop's state, in one copy of 72 bytes. A copy of four bytes costs the same and would spin on
/// a faulted loop until its time budget ends.
pub(super) const STATE_OFFSET: u64 = offset_of!(ControlRecord, fault) as u64;
/// Length of those words in bytes.
pub(super) const STATE_BYTES: usize = crate::backend::STATE_BYTES as usize;

/// The session's part of a loaded program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'g> {
    /// The graph on the host.
    pub(super) graph: &'g Graph,
    /// The graph on the device.
    pub(super) addresses: GraphAddresses,
    /// Blocks of runs that write a trace; `None` if they do not.
    pub(super) traced_blocks: Option<u32>,
    /// Time budget of a run, nanoseconds.
    pub(super) time_budget_ns: u64,
}

/// A loaded program.
#[derive(Debug)]
pub(super) struct Loaded {
    tables: DeviceMemory,
    arena: DeviceMemory,
    inputs: DeviceMemory,
    trace: Option<DeviceTrace>,
    layout: Layout,
    input_bytes: usize,
    ids: Ids,
    pub(super) outgrowing: Overflowing,
    registers: Vec<RegisterRecord>,
    waves: NamedWaves,
    stages: Vec<Stage>,
    stage_groups: Vec<u32>,
    /// Waves of the table that later runs skip.
    once: Vec<u32>,
    pub(super) staged_inputs: Pinned,
    pub(super) control: Pinned,
    pub(super) state: Pinned,
}

/// A trace on the device, and its copy on the host.
#[derive(Debug)]
struct DeviceTrace {
    device: DeviceMemory,
    host: TraceMemory,
}

impl DeviceTrace {
    fn new(
        context: &Rc<Context>,
        program: &EncodedProgram,
        blocks: u32,
    ) -> Result<Self, BackendError> {
        let mut host = TraceMemory::new(program.groups.len(), blocks)?;
        let bytes = host.bytes_mut().len() as u64;
        let device = DeviceMemory::take(context, "the trace of a run", bytes)?;
        Ok(Self { device, host })
    }

    fn clear(&mut self, uploader: &mut Uploader<'_>) -> Result<(), BackendError> {
        self.host.clear();
        let (stream, bytes) = (uploader.stream, self.host.bytes_mut());
        // SAFETY: the trace on the device is as long as its copy, and no run uses it.
        unsafe {
            let staging = &mut uploader.staging;
            staging.upload(stream, self.device.address(), bytes)?;
        }
        stream.wait("clearing the trace", COPY_LIMIT)
    }

    fn read(
        &mut self,
        control: &ControlRecord,
        uploader: &mut Uploader<'_>,
    ) -> Result<Trace, BackendError> {
        let (stream, address) = (uploader.stream, self.device.address());
        let copy = self.host.bytes_mut();
        // SAFETY: the trace on the device is as long as its copy, and the run has ended.
        unsafe { uploader.staging.download_to(stream, address, copy)? };
        Ok(self.host.read(control))
    }
}

/// Location of a register in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceSpan {
    /// Address of its first word.
    pub(super) address: u64,
    /// Its length in bytes.
    pub(super) bytes: usize,
}

impl Loaded {
    /// Checks `program`, allocates its memory and uploads its tables.
    ///
    /// # Errors
    /// [`BackendError::BadProgram`] for tables that contradict each other,
    /// [`BackendError::OutOfMemory`] if the arena does not fit.
    pub(super) fn load(
        program: &EncodedProgram,
        around: Surroundings<'_>,
        mut uploader: Uploader<'_>,
    ) -> Result<Self, BackendError> {
        let stages = stages(program)?;
        let layout = Layout::of(program);
        let context = uploader.stream.context();
        let input_bytes = usize::try_from(program.input_bytes).unwrap_or(usize::MAX);
        let trace = around.traced_blocks;
        let trace = trace.map(|blocks| DeviceTrace::new(context, program, blocks));
        let loaded = Self {
            outgrowing: Overflowing::of(program, around.graph)?,
            arena: DeviceMemory::take(context, "the program's arena", program.arena_bytes)?,
            inputs: DeviceMemory::take(context, "the program's inputs", program.input_bytes)?,
            tables: DeviceMemory::take(context, "the program's tables", layout.bytes)?,
            trace: trace.transpose()?,
            layout,
            input_bytes,
            ids: Ids::of(program),
            registers: program.registers.clone(),
            waves: NamedWaves::of(program),
            stage_groups: groups_of_stages(program),
            stages,
            once: program.once.clone(),
            staged_inputs: Pinned::take(context, input_bytes)?,
            control: Pinned::take(context, size_of::<ControlRecord>())?,
            state: Pinned::take(context, STATE_BYTES)?,
        };
        loaded.fill(program, around, &mut uploader)?;
        Ok(loaded)
    }

    /// Uploads the tables and zeroes arena and inputs, so that a first run finds the same memory
    /// on every machine.
    fn fill(
        &self,
        program: &EncodedProgram,
        around: Surroundings<'_>,
        uploader: &mut Uploader<'_>,
    ) -> Result<(), BackendError> {
        let stream = uploader.stream;
        let placement = Placement {
            // Everything of the run is allocated by now.
            memory_pressure_bps: stream.context().memory_pressure_bps()?,
            ..self.placement(around)
        };
        let image = placement.image(program);
        // SAFETY: all three blocks belong to `self`; freeing them waits for
        // the device, and the tables are as long as their image.
        unsafe {
            uploader
                .staging
                .upload(stream, self.tables.address(), &image)?;
            stream.zero(self.arena.address(), self.arena.bytes())?;
            stream.zero(self.inputs.address(), self.inputs.bytes())?;
        }
        stream.wait("loading the program", COPY_LIMIT)
    }

    fn placement(&self, around: Surroundings<'_>) -> Placement {
        Placement {
            tables: self.tables.address(),
            arena: self.arena.address(),
            inputs: self.inputs.address(),
            graph: around.addresses,
            nodes: around.graph.nodes(),
            edges: around.graph.edges(),
            trace: self
                .trace
                .as_ref()
                .map_or(0, |trace| trace.device.address()),
            memory_pressure_bps: 0,
            time_budget_ns: around.time_budget_ns,
        }
    }

    /// Makes later runs skip the waves whose results depend only on the graph, once a run has
    /// succeeded.
    pub(super) fn leave_out_what_ran_once(&mut self, stream: &Stream) -> Result<(), BackendError> {
        const { assert!(Opcode::Nop as u32 == 0) };
        for wave in std::mem::take(&mut self.once) {
            let at = self.layout.wave(wave) + offset_of!(WaveRecord, opcode) as u64;
            let bytes = size_of::<u32>() as u64;
            if at + bytes <= self.tables.bytes() {
                // SAFETY: the words lie in the tables, and no run uses them.
                unsafe { stream.zero(self.tables.address() + at, bytes)? };
            }
        }
        Ok(())
    }

    /// Bytes of the trace on the device.
    pub(super) fn trace_bytes(&self) -> u64 {
        self.trace.as_ref().map_or(0, |trace| trace.device.bytes())
    }

    /// Empties the trace, if there is one.
    pub(super) fn clear_trace(&mut self, uploader: &mut Uploader<'_>) -> Result<(), BackendError> {
        match &mut self.trace {
            Some(trace) => trace.clear(uploader),
            None => Ok(()),
        }
    }

    /// Returns the trace of the run that left `control`, if there is one.
    pub(super) fn read_trace(
        &mut self,
        control: &ControlRecord,
        uploader: &mut Uploader<'_>,
    ) -> Result<Option<Trace>, BackendError> {
        let trace = self.trace.as_mut();
        trace.map(|trace| trace.read(control, uploader)).transpose()
    }

    /// Device address of the launch record.
    pub(super) fn record(&self) -> u64 {
        self.tables.address() + self.layout.launch
    }

    /// Device address of the control block.
    pub(super) fn control_address(&self) -> u64 {
        self.tables.address() + CONTROL_OFFSET
    }

    /// The fault word of the control block.
    pub(super) fn fault_words(&self) -> FaultWords {
        FaultWords::one(self.control_address() + offset_of!(ControlRecord, fault) as u64)
    }

    /// Device address of the input region.
    pub(super) const fn inputs_address(&self) -> u64 {
        self.inputs.address()
    }

    /// Length of the input region in bytes.
    pub(super) const fn input_bytes(&self) -> usize {
        self.input_bytes
    }

    /// Device address and length of the arena.
    pub(super) fn arena(&self) -> (u64, usize) {
        let bytes = usize::try_from(self.arena.bytes()).unwrap_or(usize::MAX);
        (self.arena.address(), bytes)
    }

    /// The launches of the host, in order.
    pub(super) fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The top-level group of each of these stages.
    pub(super) fn stage_groups(&self) -> &[u32] {
        &self.stage_groups
    }

    /// Returns the location of a register.
    ///
    /// # Errors
    /// [`BackendError::NoSuchRegister`], [`BackendError::ForeignRegister`].
    pub(super) fn place(&self, register: RegisterId) -> Result<DeviceSpan, BackendError> {
        Ok(self.span(self.registers[self.ids.number_of(register)?]))
    }

    /// Address of some words of register `number`.
    ///
    /// # Errors
    /// [`BackendError::NotLoaded`] if it has no such words.
    pub(super) fn words_at(&self, number: u32, words: &Range<usize>) -> Result<u64, BackendError> {
        let register = self.registers.get(number as usize);
        let held = register.filter(|register| words.end <= register.words as usize);
        let span = self.span(*held.ok_or(BackendError::NotLoaded)?);
        Ok(span.address + 4 * words.start as u64)
    }

    fn span(&self, register: RegisterRecord) -> DeviceSpan {
        let base = if register.region == Region::Input as u32 {
            &self.inputs
        } else {
            &self.arena
        };
        let bytes = usize::try_from(u64::from(register.words) * 4).unwrap_or(usize::MAX);
        DeviceSpan {
            address: base.address() + register.offset_bytes,
            bytes,
        }
    }

    /// Returns the error for the fault of a control block, with the wave's name.
    pub(super) fn fault(&self, control: &ControlRecord) -> BackendError {
        crate::backend::fault(&self.waves, control)
    }

    /// Returns the error for a loop that the host ended.
    pub(super) fn host_fault(&self, record: FaultRecord) -> BackendError {
        crate::backend::host_fault(&self.waves, record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_words_span_from_the_fault_to_the_loops_state() {
        assert_eq!(STATE_OFFSET, 256);
        assert_eq!(STATE_BYTES, 72);
    }
}
