//! Reads through `io_uring`: the kernel fills the buffers, without a copy by this process.

use super::{Fill, Filled, cut};
use io_uring::{IoUring, opcode, squeue, types};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Most buffers that are registered with the kernel: it pins them, and with a buffer for each
/// window there are many that are filled only once.
const REGISTERED_MAX: usize = 256;

/// A ring, and the buffers that the kernel fills.
pub(super) struct Uring<'b, 'f> {
    ring: IoUring,
    file: &'f File,
    /// Whether the buffers are registered with the kernel, by their numbers.
    registered: bool,
    /// Whether several kernel threads copy cached data, instead of this thread within the call.
    spreads: bool,
    /// Buffers in flight, by number.
    slots: Vec<Option<Waiting<'b>>>,
    in_kernel: usize,
    /// Reads that could not be handed over yet: buffer and part.
    queued: VecDeque<(usize, usize)>,
    done: VecDeque<Filled<'b>>,
    /// Calls of the kernel that succeed before all fail.
    #[cfg(test)]
    calls_left: Option<usize>,
}

/// Time between two polls of completions if the kernel cannot be asked to wait.
const LOOK: Duration = Duration::from_millis(1);

/// A buffer with reads in progress.
struct Waiting<'b> {
    fill: Fill<'b>,
    /// Bytes received of each part.
    came: [usize; 2],
    /// Parts that are not complete.
    open: usize,
    error: Option<io::Error>,
}

impl<'b, 'f> Uring<'b, 'f> {
    /// Starts a ring. Fails if the system has none, or forbids it.
    pub(super) fn start(
        file: &'f File,
        buffers: &mut [&'b mut [u8]],
        spreads: bool,
    ) -> io::Result<Self> {
        let entries = (2 * buffers.len()).clamp(2, 1024).next_power_of_two();
        let ring = IoUring::new(entries as u32)?;
        let memory: Vec<libc::iovec> = buffers
            .iter_mut()
            .map(|buffer| libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: buffer.len(),
            })
            .collect();
        // SAFETY: the memory outlives the ring: it is borrowed for 'b, which `slots` names, and
        // the kernel writes to it only for reads, which `hand_over` asks for.
        let registered = memory.len() <= REGISTERED_MAX
            && unsafe { ring.submitter().register_buffers(&memory) }.is_ok();
        Ok(Self {
            ring,
            file,
            registered,
            spreads,
            slots: buffers.iter().map(|_| None).collect(),
            in_kernel: 0,
            queued: VecDeque::new(),
            done: VecDeque::new(),
            #[cfg(test)]
            calls_left: None,
        })
    }

    /// The same ring with a kernel that fails after `calls` calls.
    #[cfg(test)]
    pub(super) fn failing_after(self, calls: Option<usize>) -> Self {
        let mut ring = self;
        ring.calls_left = calls;
        ring
    }

    pub(super) fn name(&self) -> &'static str {
        if self.registered {
            "io_uring, registered buffers"
        } else {
            "io_uring"
        }
    }

    /// The read for the missing rest of a part.
    fn entry(&mut self, slot: usize, part: usize) -> Option<squeue::Entry> {
        let waiting = self.slots.get_mut(slot)?.as_mut()?;
        let place = waiting.fill.parts[part]?;
        let came = waiting.came[part];
        let memory_plan = waiting
            .fill
            .bytes
            .get_mut(place.at + came..place.at + place.len)?;
        let (start, len) = (memory_plan.as_mut_ptr(), memory_plan.len() as u32);
        let (fd, at) = (
            types::Fd(self.file.as_raw_fd()),
            place.file_at + came as u64,
        );
        let entry = if self.registered {
            opcode::ReadFixed::new(fd, start, len, slot as u16)
                .offset(at)
                .build()
        } else {
            opcode::Read::new(fd, start, len).offset(at).build()
        };
        let flags = if self.spreads {
            squeue::Flags::ASYNC
        } else {
            squeue::Flags::empty()
        };
        Some(entry.flags(flags).user_data((2 * slot + part) as u64))
    }

    /// Hands queued reads to the kernel, as many as the ring has space for.
    fn hand_over(&mut self) {
        while let Some((slot, part)) = self.queued.pop_front() {
            let Some(entry) = self.entry(slot, part) else {
                self.close(slot, part, Err(io::ErrorKind::InvalidInput.into()));
                continue;
            };
            // SAFETY: the buffer is borrowed for 'b and lies in `slots` until its completion was
            // taken: nothing else touches it, and dropping the reader waits for it.
            let pushed = unsafe { self.ring.submission().push(&entry) };
            if pushed.is_err() {
                self.queued.push_front((slot, part));
                return;
            }
            self.in_kernel += 1;
        }
    }

    /// Hands over and waits for `want` completions. An interruption is no failure.
    ///
    /// # Errors
    /// The kernel's error, after which it takes no further call: [`Uring::give_up`] follows.
    fn enter(&mut self, want: usize) -> io::Result<()> {
        self.hand_over();
        loop {
            match self.call(want) {
                Ok(_) => return Ok(()),
                Err(error) if is_passing(&error) => {
                    if want == 0 || !self.ring.completion().is_empty() {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn call(&mut self, want: usize) -> io::Result<usize> {
        #[cfg(test)]
        match &mut self.calls_left {
            Some(0) => return Err(io::Error::from_raw_os_error(libc::EBADF)),
            Some(left) => *left -= 1,
            None => {}
        }
        self.ring.submit_and_wait(want)
    }

    /// Ends without another call of the kernel; returns filled buffers and the others.
    ///
    /// Waits until the kernel has ended the reads that it took, since it writes to their buffers
    /// until then; completions come without a call. Reads that it did not take are dropped.
    pub(super) fn give_up(mut self) -> (VecDeque<Filled<'b>>, Vec<Fill<'b>>) {
        self.settle();
        self.queued.clear();
        let open = self.slots.iter_mut().filter_map(Option::take);
        let fills = open.map(|waiting| waiting.fill).collect();
        (std::mem::take(&mut self.done), fills)
    }

    fn settle(&mut self) {
        let forgotten = self.ring.submission().len();
        self.in_kernel = self.in_kernel.saturating_sub(forgotten);
        while self.in_kernel > 0 {
            self.take();
            if self.in_kernel > 0 {
                std::thread::sleep(LOOK);
            }
        }
    }

    /// Takes the available completions.
    fn take(&mut self) {
        let ended: Vec<(u64, i32)> = self
            .ring
            .completion()
            .map(|entry| (entry.user_data(), entry.result()))
            .collect();
        for (data, result) in ended {
            self.in_kernel = self.in_kernel.saturating_sub(1);
            let (slot, part) = (data as usize / 2, data as usize % 2);
            self.ended(slot, part, result);
        }
    }

    /// Counts the bytes of a read; requests the rest, if more is needed.
    fn ended(&mut self, slot: usize, part: usize, result: i32) {
        let Some(Some(waiting)) = self.slots.get_mut(slot) else {
            return;
        };
        let need = waiting.fill.parts[part].map_or(0, |part| part.need);
        let end = match result {
            0 => Err(cut()),
            1.. => {
                waiting.came[part] += result as usize;
                Ok(())
            }
            _ => Err(io::Error::from_raw_os_error(result.saturating_neg())),
        };
        match end {
            Ok(()) if waiting.came[part] >= need => self.close(slot, part, Ok(())),
            Ok(()) => self.queued.push_back((slot, part)),
            Err(error) if is_passing(&error) => self.queued.push_back((slot, part)),
            Err(error) => self.close(slot, part, Err(error)),
        }
    }

    /// Ends a part, and with the last one the buffer.
    fn close(&mut self, slot: usize, _part: usize, end: io::Result<()>) {
        let Some(place) = self.slots.get_mut(slot) else {
            return;
        };
        if let Some(waiting) = place {
            waiting.open -= 1;
            if let Err(error) = end {
                waiting.error.get_or_insert(error);
            }
        }
        if let Some(waiting) = place.take_if(|waiting| waiting.open == 0) {
            let end = waiting.error.map_or(Ok(()), Err);
            let fill = waiting.fill;
            self.done.push_back(Filled { fill, end });
        }
    }
}

/// Returns whether the same call may succeed later.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, ResourceBusy, WouldBlock};
    matches!(error.kind(), Interrupted | ResourceBusy | WouldBlock)
}

impl<'b> Uring<'b, '_> {
    pub(super) fn submit(&mut self, fill: Fill<'b>) -> io::Result<()> {
        let slot = fill.slot;
        let open: Vec<usize> = (0..2).filter(|part| fill.parts[*part].is_some()).collect();
        let Some(place) = self.slots.get_mut(slot) else {
            return Ok(());
        };
        *place = Some(Waiting {
            fill,
            came: [0; 2],
            open: open.len(),
            error: None,
        });
        self.queued
            .extend(open.into_iter().map(|part| (slot, part)));
        self.enter(0)
    }

    /// Waits until a buffer is filled. `None` if none is in flight.
    pub(super) fn reap(&mut self) -> io::Result<Option<Filled<'b>>> {
        loop {
            self.take();
            if let Some(filled) = self.done.pop_front() {
                return Ok(Some(filled));
            }
            self.hand_over();
            if self.in_kernel == 0 {
                return Ok(None);
            }
            self.enter(1)?;
        }
    }
}

impl Drop for Uring<'_, '_> {
    /// Waits for the kernel, which writes to the buffers until then.
    fn drop(&mut self) {
        while self.in_kernel > 0 {
            self.queued.clear();
            if self.enter(1).is_err() {
                return self.settle();
            }
            for _ in self.ring.completion() {
                self.in_kernel = self.in_kernel.saturating_sub(1);
            }
        }
    }
}
