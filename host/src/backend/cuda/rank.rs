//! A GPU as one rank of a run of several processes.
//!
//! The kernel writes for the others into pinned memory of the host, from which the proxy sends it. What
//! arrives is put there too, at the places of the ranks that sent it, and copied from there by a stream
//! beside the kernel. Copies of a stream end in their order, so mail that has arrived says that what it
//! announces has, too.
//!
//! A rank pays one way over the link between host and device for each word that it sends or receives,
//! beside what the carrier takes. Single distances are copied with what lies between near ones.

use super::error::check;
use super::memory::Pinned;
use super::multi::{Others, Part, limit, on_device};
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::BackendError;
use crate::backend::multi::{DeviceFound, MultiJob};
use crate::backend::processes::{Processes, RankKernel, SharedWords, bases, forget, outboxes};
use cudarc::driver::sys;
use std::cell::Cell;
use std::time::Instant;

/// Words between two that are copied along: a copy costs as much time as some 50 KB.
const GAP: u64 = 1 << 13;

/// Runs this rank's part of a run on a GPU; `None` if any rank fails.
pub(crate) fn run(job: &MultiJob<'_>, device: u32, ranks: &Processes<'_>) -> Option<DeviceFound> {
    on_device(job, device, ranks)
}

/// Memory of the host for what goes to the others and comes from them.
pub(super) struct Way {
    pinned: Vec<Pinned>,
    outboxes: Vec<SharedWords>,
    copies: Stream,
}

impl Way {
    fn open(part: &Part, job: &MultiJob<'_>) -> Result<Self, BackendError> {
        let (count, words) = outboxes(job);
        let bytes = usize::try_from(4 * words).unwrap_or(usize::MAX);
        let pinned = (0..count).map(|_| Pinned::take(&part.context, bytes));
        let pinned: Vec<Pinned> = pinned.collect::<Result<_, _>>()?;
        let shared = pinned.iter().map(|pinned| {
            let base = pinned.pointer().expose_provenance() as u64;
            if device_address(pinned)? != base {
                return Err(BackendError::Unsupported {
                    device: part.context.limits().info.name.clone(),
                    reason: "it has other addresses for memory of the host".to_owned(),
                });
            }
            // SAFETY: as many words, which live as long as the way.
            Ok(unsafe { SharedWords::at(base) })
        });
        Ok(Self {
            outboxes: shared.collect::<Result<_, BackendError>>()?,
            pinned,
            copies: Stream::new(&part.context)?,
        })
    }
}

fn device_address(pinned: &Pinned) -> Result<u64, BackendError> {
    let mut address = 0;
    // SAFETY: one valid address to write to; the memory is pinned.
    check("mapping memory of the host", unsafe {
        sys::cuMemHostGetDevicePointer_v2(&raw mut address, pinned.pointer().cast(), 0)
    })?;
    Ok(address)
}

impl Others for Processes<'_> {
    type Way = Way;

    fn all<T>(&self, result: Result<T, BackendError>) -> Option<T> {
        Self::all(self, result)
    }

    fn reach(&self, part: &mut Part, job: &MultiJob<'_>) -> Option<Way> {
        let way = Way::open(part, job).and_then(|way| {
            let bases = bases(job, part.memory.address(), &way.outboxes);
            part.put_record(job, &bases)?;
            Ok(way)
        });
        Self::all(self, way)
    }

    fn run(&self, part: &Part, job: &MultiJob<'_>, way: &Way) -> Result<(), BackendError> {
        part.launch()?;
        let kernel = GpuKernel {
            part,
            job,
            way,
            started: Instant::now(),
            has_values: Cell::new(false),
            is_given_up: Cell::new(false),
        };
        self.serve(job, &way.outboxes, &kernel);
        let ended = part.wait(job, self.canceller);
        let copied = way.copies.wait("copying from other ranks", COPY_LIMIT);
        forget(job, &way.outboxes);
        ended.and(copied)
    }
}

/// A kernel on a GPU.
struct GpuKernel<'k> {
    part: &'k Part,
    job: &'k MultiJob<'k>,
    way: &'k Way,
    started: Instant,
    /// Whether the outbox has the values of the nodes of other ranks.
    has_values: Cell<bool>,
    is_given_up: Cell<bool>,
}

impl GpuKernel<'_> {
    fn outbox(&self) -> (&Pinned, SharedWords) {
        (&self.way.pinned[0], self.way.outboxes[0])
    }

    /// Where a word is, on the device and on the host.
    fn places(&self, at: u64) -> (u64, *mut u8) {
        let (pinned, _) = self.outbox();
        debug_assert!(4 * at < pinned.bytes() as u64);
        let host = pinned.pointer().wrapping_add(4 * at as usize);
        (self.part.memory.address() + 4 * at, host)
    }

    /// Queues a copy of words of the outbox to the device.
    fn copy_in(&self, at: u64, count: u64) -> Result<(), BackendError> {
        let (device, host) = self.places(at);
        let (host, bytes) = (host.cast(), 4 * count as usize);
        // SAFETY: both hold the words that others write, and the outbox keeps them until this stream is
        // waited for: a rank sends the next words to a place when the kernel has read the last ones.
        check("copying from another rank", unsafe {
            sys::cuMemcpyHtoDAsync_v2(device, host, bytes, self.way.copies.raw())
        })
    }

    /// Queues a copy of words of the device to the outbox.
    fn copy_out(&self, at: u64, count: u64) -> Result<(), BackendError> {
        let (device, host) = self.places(at);
        let (host, bytes) = (host.cast(), 4 * count as usize);
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: as for `copy_in`; nobody else writes there meanwhile.
        check("copying for other ranks", unsafe {
            sys::cuMemcpyDtoHAsync_v2(host, device, bytes, self.way.copies.raw())
        })
    }

    fn wait(&self) -> Result<(), BackendError> {
        let copies = &self.way.copies;
        copies.wait("copying for other ranks", COPY_LIMIT)
    }

    /// Copies the values of other ranks' nodes to the outbox, once: what lies between new ones goes back
    /// with them.
    fn take_values(&self) -> Result<(), BackendError> {
        if self.has_values.replace(true) {
            return Ok(());
        }
        let values = self.job.layout().values;
        let [first, end] = self.job.range().map(u64::from);
        let nodes = u64::from(self.job.run.nodes);
        self.copy_out(values, first)?;
        self.copy_out(values + end, nodes - end)?;
        self.wait()
    }
}

impl RankKernel for GpuKernel<'_> {
    fn read(&self, at: u64, count: usize, to: &mut Vec<u32>) -> Result<(), BackendError> {
        self.copy_out(at, count as u64)?;
        self.wait()?;
        to.extend(self.outbox().1.read(at, count));
        Ok(())
    }

    fn write(&self, at: u64, words: &[u32]) -> Result<(), BackendError> {
        if words.is_empty() {
            return Ok(());
        }
        self.outbox().1.write(at, words);
        self.copy_in(at, words.len() as u64)
    }

    fn scatter(&self, mut words: Vec<(u64, u32)>) -> Result<(), BackendError> {
        self.take_values()?;
        words.sort_unstable();
        for (at, word) in &words {
            self.outbox().1.write(*at, &[*word]);
        }
        let mut near = words.chunk_by(|one, next| next.0 - one.0 <= GAP);
        near.try_for_each(|near| {
            let (first, last) = (near[0].0, near[near.len() - 1].0);
            self.copy_in(first, last - first + 1)
        })
    }

    fn release(&self, at: u64, word: u32) -> Result<(), BackendError> {
        self.write(at, &[word])
    }

    fn is_over(&self) -> bool {
        // An error shows when the end is waited for.
        let is_done = self.part.stream.is_done("waiting for a device");
        is_done.unwrap_or(true) || self.started.elapsed() > limit(self.job)
    }

    fn is_well(&self) -> bool {
        let is_done = self.part.stream.is_done("waiting for a device");
        let [_, fault_at, _] = self.job.reports_at();
        let from = self.part.memory.address() + 4 * fault_at;
        let mut fault = 0_u32;
        // SAFETY: the kernel has ended; one word is copied before the call returns.
        let copied = is_done.unwrap_or(false)
            && unsafe { sys::cuMemcpyDtoH_v2((&raw mut fault).cast(), from, 4) }
                == sys::cudaError_enum::CUDA_SUCCESS;
        copied && fault == 0
    }

    fn give_up(&self) {
        if !self.is_given_up.replace(true) {
            // Without it the run ends at its time budget.
            let _ = self.part.abort.pull(&[self.part.fault_word(self.job)]);
        }
    }
}
