//! Costs of launches, waits and barriers on the present device.
//!
//! The planner and the tables of `seawall info` and `seawall bench` use these numbers instead of a
//! model's data sheet. Each is the median or the best of several tries, since a host interrupts.

use super::GridShape;
use super::context::Context;
use super::entry::Entry;
use super::error::check;
use super::graph::Executable;
use super::launch::{Grid, Residency};
use super::memory::{DeviceMemory, Pinned};
use super::module::Module;
use super::resident::lane;
use super::shape::RequestedShape;
use super::stream::{COPY_LIMIT, Event, Stream};
use crate::backend::BackendError;
use crate::backend::record::GraphAddresses;
use crate::backend::tables::{self, Placement};
use crate::program::EncodedProgram;
use cudarc::driver::sys;
use std::rc::Rc;
use std::time::Instant;

/// Tries of a single measurement.
const TRIES: usize = 101;
/// Tries of a measurement that is already a mean.
const ROUNDS: usize = 5;
/// Launches or barriers in one mean.
const REPEATS: u32 = 1000;
/// Largest block copied to measure the memory's speed, bytes.
const COPY_BYTES_MAX: u64 = 1 << 30;
/// Bytes uploaded to measure the link's speed.
const UPLOAD_BYTES: usize = 64 << 20;
/// Time budget of a measuring kernel, nanoseconds.
const BUDGET_NS: u64 = 10_000_000_000;

/// Measures one device.
#[derive(Debug)]
pub struct Meter {
    empty: Grid,
    tables: DeviceMemory,
    flag: Pinned,
    clock: [Event; 2],
    stream: Stream,
    module: Rc<Module>,
    context: Rc<Context>,
}

impl Meter {
    /// Opens device `ordinal` and loads the embedded kernels.
    ///
    /// # Errors
    /// As for [`super::CudaSession::open`], with no graph.
    pub fn open(ordinal: u32) -> Result<Self, BackendError> {
        let context = Context::open(ordinal, None)?;
        let module = Module::load(&context)?;
        let (stream, mut staging) = lane(&context, 0)?;
        let image = |tables| bare(tables).image(&EncodedProgram::default());
        let tables = DeviceMemory::take(&context, "the measuring tables", image(0).len() as u64)?;
        // SAFETY: the block is as long as any image without a program.
        unsafe { staging.upload(&stream, tables.address(), &image(tables.address()))? };
        stream.wait("preparing to measure", COPY_LIMIT)?;
        Ok(Self {
            empty: Grid::single(module.kernel(Entry::Barriers)?),
            tables,
            flag: Pinned::take(&context, 4)?,
            clock: [Event::new(&context)?, Event::new(&context)?],
            stream,
            module,
            context,
        })
    }

    /// Returns the time of one grid barrier in this shape (`None`: the default one), nanoseconds,
    /// and the shape.
    ///
    /// # Errors
    /// [`BackendError::NotCoResident`] for a grid that does not fit.
    pub fn barrier_ns(
        &mut self,
        lanes: Option<u32>,
        blocks: Option<u32>,
    ) -> Result<(f64, GridShape), BackendError> {
        self.context.bind()?;
        let asked = RequestedShape {
            blocks,
            lanes,
            ..RequestedShape::default()
        };
        let grid = Grid::new(
            self.module.kernel(Entry::Barriers)?,
            asked,
            Residency::Cooperative,
        )?;
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let without = self.barriers(&grid, 0)?;
            let with = self.barriers(&grid, REPEATS)?;
            best = best.min(with.saturating_sub(without) as f64 / f64::from(REPEATS));
        }
        Ok((best, grid.shape()))
    }

    fn barriers(&mut self, grid: &Grid, count: u32) -> Result<u64, BackendError> {
        let [start, end] = &self.clock;
        // SAFETY: the tables hold a complete record and belong to `self`.
        unsafe {
            self.stream.zero(
                self.control(),
                size_of::<seawall_core::abi::control::ControlRecord>() as u64,
            )?
        };
        start.record(&self.stream)?;
        // SAFETY: as above.
        unsafe { grid.launch(&self.stream, self.tables.address(), &[count])? };
        end.record(&self.stream)?;
        self.stream.wait("measuring barriers", COPY_LIMIT)?;
        start.ns_until(end)
    }

    fn control(&self) -> u64 {
        self.tables.address() + tables::CONTROL_OFFSET
    }

    /// Returns the time of a launch among many queued back to back, nanoseconds.
    ///
    /// # Errors
    /// The device's own error.
    pub fn launch_ns(&mut self) -> Result<f64, BackendError> {
        self.context.bind()?;
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            for _ in 0..REPEATS {
                self.launch_empty()?;
            }
            self.stream.wait("measuring launches", COPY_LIMIT)?;
            best = best.min(started.elapsed().as_nanos() as f64 / f64::from(REPEATS));
        }
        Ok(best)
    }

    /// Returns the time of an empty kernel node among many in a row of one CUDA graph, nanoseconds
    /// of device time.
    ///
    /// # Errors
    /// The device's own error.
    pub fn graph_node_ns(&mut self) -> Result<f64, BackendError> {
        self.context.bind()?;
        let chain = Executable::capture(&self.stream, || {
            (0..REPEATS).try_for_each(|_| self.launch_empty())
        })?;
        self.stream
            .wait("uploading the measured graph", COPY_LIMIT)?;
        let [start, end] = &self.clock;
        let mut best = u64::MAX;
        for _ in 0..=ROUNDS {
            start.record(&self.stream)?;
            // SAFETY: the nodes name the tables, which belong to `self`.
            unsafe { chain.submit(&self.stream)? };
            end.record(&self.stream)?;
            self.stream.wait("measuring a CUDA graph", COPY_LIMIT)?;
            best = best.min(start.ns_until(end)?);
        }
        Ok(best as f64 / f64::from(REPEATS))
    }

    /// The measured device.
    #[must_use]
    pub fn device(&self) -> &super::DeviceLimits {
        self.context.limits()
    }

    /// Returns the time of a launch and a wait for it, nanoseconds.
    ///
    /// # Errors
    /// The device's own error.
    pub fn launch_sync_ns(&mut self) -> Result<f64, BackendError> {
        self.median(|meter| {
            meter.launch_empty()?;
            meter.stream.wait("measuring a launch", COPY_LIMIT)
        })
    }

    /// Returns the time of a launch, a readback of four bytes and a wait for both, nanoseconds:
    /// the cost of an iteration whose end the host decides.
    ///
    /// # Errors
    /// The device's own error.
    pub fn readback_ns(&mut self) -> Result<f64, BackendError> {
        self.median(|meter| {
            meter.launch_empty()?;
            // SAFETY: the control block and the word belong to the meter; the
            // wait follows.
            unsafe { meter.stream.copy_out(&meter.flag, meter.control(), 4)? };
            meter.stream.wait("measuring a readback", COPY_LIMIT)
        })
    }

    /// Returns the bytes per second that the device's memory moves, reads and writes counted, in
    /// copies within it.
    ///
    /// Takes up to 2 GiB of device memory, at most half of the free memory.
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] if even that is no longer free.
    pub fn memory_bytes_per_s(&mut self) -> Result<f64, BackendError> {
        self.context.bind()?;
        let bytes = COPY_BYTES_MAX
            .min(self.context.free_bytes()? / 4)
            .max(1 << 20);
        let from = DeviceMemory::take(&self.context, "the memory test", bytes)?;
        let to = DeviceMemory::take(&self.context, "the memory test", bytes)?;
        // SAFETY: the block belongs to `from`, whose drop waits.
        unsafe { self.stream.zero(from.address(), bytes)? };
        let mut best = u64::MAX;
        for _ in 0..ROUNDS {
            best = best.min(self.copy_within(&to, &from)?.max(1));
        }
        Ok(2.0 * bytes as f64 / (best as f64 * 1e-9))
    }

    /// Returns the bytes per second of an upload, from ordinary memory through pinned buffers, as
    /// graphs are uploaded.
    ///
    /// Takes 64 MiB of memory on both sides.
    ///
    /// # Errors
    /// [`BackendError::OutOfMemory`] if the device has less free memory.
    pub fn upload_bytes_per_s(&mut self) -> Result<f64, BackendError> {
        self.context.bind()?;
        let host = vec![1u8; UPLOAD_BYTES];
        let (stream, mut staging) = lane(&self.context, UPLOAD_BYTES)?;
        let to = DeviceMemory::take(&self.context, "the upload test", UPLOAD_BYTES as u64)?;
        let mut best = u128::MAX;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            // SAFETY: the block is as long as `host`, and the wait follows.
            unsafe { staging.upload(&stream, to.address(), &host)? };
            stream.wait("measuring uploads", COPY_LIMIT)?;
            best = best.min(started.elapsed().as_nanos().max(1));
        }
        Ok(UPLOAD_BYTES as f64 / (best as f64 * 1e-9))
    }

    fn copy_within(&self, to: &DeviceMemory, from: &DeviceMemory) -> Result<u64, BackendError> {
        let [start, end] = &self.clock;
        let bytes = usize::try_from(to.bytes().min(from.bytes())).unwrap_or(0);
        start.record(&self.stream)?;
        // SAFETY: both blocks live, are at least this long and do not overlap.
        let answer = unsafe {
            sys::cuMemcpyDtoDAsync_v2(to.address(), from.address(), bytes, self.stream.raw())
        };
        check("copying within the device", answer)?;
        end.record(&self.stream)?;
        self.stream.wait("measuring the memory", COPY_LIMIT)?;
        start.ns_until(end)
    }

    fn launch_empty(&self) -> Result<(), BackendError> {
        // SAFETY: the tables hold a complete record and belong to `self`; a
        // launch that crosses no barrier needs no cooperation.
        unsafe { self.empty.launch(&self.stream, self.tables.address(), &[0]) }
    }

    /// Returns the median time of `act`, after one try that does not count.
    fn median(
        &mut self,
        act: impl Fn(&Self) -> Result<(), BackendError>,
    ) -> Result<f64, BackendError> {
        self.context.bind()?;
        act(self)?;
        let mut times = [0u128; TRIES];
        for time in &mut times {
            let started = Instant::now();
            act(self)?;
            *time = started.elapsed().as_nanos();
        }
        Ok(middle(&mut times) as f64)
    }
}

/// The place of a block that holds no program.
fn bare(tables: u64) -> Placement {
    Placement {
        tables,
        arena: tables,
        inputs: tables,
        graph: GraphAddresses::default(),
        nodes: 0,
        edges: 0,
        trace: 0,
        memory_pressure_bps: 0,
        time_budget_ns: BUDGET_NS,
    }
}

/// Returns the median of the sorted times.
fn middle(times: &mut [u128; TRIES]) -> u128 {
    times.sort_unstable();
    times[TRIES / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_ignores_outliers() {
        let mut times = std::array::from_fn(|at| 100 - at as u128 % 101);
        times[3] = u128::MAX;
        assert_eq!(middle(&mut times), 50);
    }

    #[test]
    fn a_meter_opens_or_reports_the_reason() {
        if let Err(error) = Meter::open(u32::MAX) {
            assert!(matches!(error, BackendError::Unavailable { .. }), "{error}");
        } else {
            panic!("there is no such device");
        }
    }
}
