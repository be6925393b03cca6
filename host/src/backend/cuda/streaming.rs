//! A stream's kernel on a device. Windows are memory of the host, which it reads in place; those
//! that stay are meanwhile copied to the device for later passes.

use super::context::Context;
use super::entry::Entry;
use super::error::no_answer;
use super::mapped::Registered;
use super::memory::DeviceMemory;
use super::module::Module;
use super::resident::lane;
use super::staging::Staging;
use super::stream::{COPY_LIMIT, Event, Stream};
use crate::backend::BackendError;
use crate::backend::streaming::{Keep, Open, StreamJob};
use crate::graph::memory;
use bytemuck::bytes_of;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lanes of a block.
const LANES: u32 = 512;
/// Bytes of the host's buffers for copies.
const COPY_BYTES: usize = 4 << 20;
/// Time between two polls of a kernel that is to end.
const LOOK: Duration = Duration::from_micros(100);
/// Time within which it must end, after finishing its windows.
const END_LIMIT: Duration = Duration::from_secs(20);

/// Runs the kernel on device `device` while `drive` does; returns its result and the values of
/// nodes.
///
/// # Errors
/// As for opening a session; the device's own error if the kernel fails; the error of a silent
/// device if it does not end. Then the board is leaked, since the kernel may still write to it.
pub(crate) fn run<R>(
    streaming: &StreamJob<'_>,
    device: u32,
    drive: impl FnOnce(&Open<'_>) -> R,
) -> Result<(R, Vec<u32>), BackendError> {
    let context = Context::open(device, None)?;
    let found = run_in(&context, streaming, drive);
    if let Err(error) = &found {
        context.note(error);
    }
    found
}

fn run_in<R>(
    context: &Rc<Context>,
    streaming: &StreamJob<'_>,
    drive: impl FnOnce(&Open<'_>) -> R,
) -> Result<(R, Vec<u32>), BackendError> {
    let kernel = Module::load(context)?.kernel(Entry::Stream)?;
    let units = context.limits().info.units;
    // Blocks wait for each other, so all must be resident at once; the first one leads.
    let blocks = kernel
        .blocks_per_unit(LANES, 0)?
        .saturating_mul(units)
        .max(2);
    let (stream, mut staging) = lane(context, COPY_BYTES)?;
    let memory = DeviceMemory::take(context, "the nodes of a stream", streaming.words() * 4)?;
    let board = Registered::of(context, &streaming.board)?;
    let (start, bytes) = streaming.buffers;
    let start = std::ptr::with_exposed_provenance_mut(start);
    // SAFETY: the caller's windows are whole pages, which outlive this call.
    let windows = unsafe { Registered::new(context, start, bytes)? };
    let record = streaming.record(memory.address(), board.address);
    let record_at = DeviceMemory::take(
        context,
        "the record of a stream",
        size_of_val(&record) as u64,
    )?;
    // SAFETY: the memory is as long as the stream says, and so are its parts; the copies are waited
    // for.
    unsafe {
        stream.zero(memory.address(), memory.bytes())?;
        for (at, array) in streaming.arrays() {
            let to = memory.address() + 4 * at;
            staging.upload(&stream, to, bytemuck::cast_slice(array))?;
        }
        for (at, part) in streaming.parts() {
            staging.upload(&stream, memory.address() + 4 * at, &part)?;
        }
        staging.upload(&stream, record_at.address(), bytes_of(&record))?;
    }
    stream.wait("preparing the stream", COPY_LIMIT)?;
    let keep = Kept::of(context, streaming)?;
    // SAFETY: the record is complete, and all that it points to lives until the kernel has ended,
    // or is leaked.
    unsafe { kernel.launch_resident(&stream, blocks, LANES, &record_at)? };
    let ending = Ending {
        streaming,
        stream: &stream,
    };
    let health = || match stream.is_done("streaming")? {
        false => Ok(()),
        true => Err(BackendError::Cancelled),
    };
    let found = drive(&Open {
        buffers: windows.address,
        keep: keep.as_ref().map(|keep| keep as &dyn Keep),
        health: &health,
        name: &context.limits().info.name,
    });
    ending.end()?;
    let values = read(&stream, &mut staging, (&memory, streaming))?;
    Ok((found, values))
}

/// Windows that stay on the device.
struct Kept {
    memory: DeviceMemory,
    /// Bytes of a window's place.
    each: u64,
    /// Copies, beside the kernel's stream.
    stream: Stream,
    /// End events of the copies that are still pending.
    ends: RefCell<HashMap<u32, Event>>,
}

impl Kept {
    /// Memory for the windows of a stream that stay; none if there is too little and the stream may
    /// run without.
    fn of(context: &Rc<Context>, streaming: &StreamJob<'_>) -> Result<Option<Self>, BackendError> {
        let Some((each, must)) = streaming.kept else {
            return Ok(None);
        };
        let bytes = streaming.kept_bytes(each);
        let memory = match DeviceMemory::take(context, "the windows of a stream", bytes) {
            Err(BackendError::OutOfMemory { .. }) if !must => return Ok(None),
            taken => taken?,
        };
        Ok(Some(Self {
            memory,
            each,
            stream: Stream::new(context)?,
            ends: RefCell::default(),
        }))
    }
}

impl Keep for Kept {
    fn copy(&self, window: u32, buffer: &[u8]) -> Result<(), BackendError> {
        let to = self.address(window);
        let space = (self.memory.address() + self.memory.bytes()).saturating_sub(to);
        let bytes = (buffer.len() as u64).min(self.each).min(space);
        // SAFETY: the place is within the memory; the buffer is registered, stays with the caller
        // until the copy has ended, and is not written before.
        unsafe { self.stream.copy_registered(to, &buffer[..bytes as usize])? };
        let end = Event::new(self.stream.context())?;
        end.record(&self.stream)?;
        self.ends.borrow_mut().insert(window, end);
        Ok(())
    }

    fn has(&self, window: u32) -> Result<bool, BackendError> {
        let mut ends = self.ends.borrow_mut();
        let Some(end) = ends.get(&window) else {
            return Ok(true);
        };
        let is_there = end.is_reached("keeping a window")?;
        if is_there {
            ends.remove(&window);
        }
        Ok(is_there)
    }

    fn address(&self, window: u32) -> u64 {
        self.memory.address() + self.each * u64::from(window)
    }
}

impl Drop for Kept {
    /// A failed run may leave pending copies from buffers that are about to be freed.
    fn drop(&mut self) {
        let _ = self.stream.wait("ending copies of windows", COPY_LIMIT);
    }
}

/// A kernel that has to end before its memory is freed.
struct Ending<'a> {
    streaming: &'a StreamJob<'a>,
    stream: &'a Stream,
}

impl Ending<'_> {
    fn end(self) -> Result<(), BackendError> {
        let ended = self.wait();
        std::mem::forget(self);
        ended
    }

    /// Orders the end and waits for it.
    fn wait(&self) -> Result<(), BackendError> {
        self.streaming.end();
        let began = Instant::now();
        while !self.stream.is_done("ending the stream")? {
            if began.elapsed() > END_LIMIT {
                self.stream.context().give_up();
                std::mem::forget(Arc::clone(&self.streaming.board));
                return Err(no_answer("ending the stream", began.elapsed().as_millis()));
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        // Also runs on a panic.
        let _ = self.wait();
    }
}

/// Reads the values of nodes.
fn read(
    stream: &Stream,
    staging: &mut Staging,
    (nodes, streaming): (&DeviceMemory, &StreamJob<'_>),
) -> Result<Vec<u32>, BackendError> {
    let (at, count) = streaming.values_at();
    let mut values: Vec<u32> =
        memory::zeroed(count).map_err(BackendError::short("the values of a stream"))?;
    let copy = bytemuck::cast_slice_mut(&mut values);
    // SAFETY: the values lie in live memory, and the kernel has ended.
    unsafe { staging.download_to(stream, nodes.address() + 4 * at, copy)? };
    Ok(values)
}
