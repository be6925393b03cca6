//! A service's kernel on a device.
//!
//! The ring that hosts see and the queues of posts are ordinary memory of the host, registered
//! while the kernel runs. The kernel stays until the service orders its end. If it does not end
//! then, the context is abandoned, and all memory that it may still touch is leaked.

use super::bound::Bound;
use super::context::Context;
use super::entry::Entry;
use super::error::no_answer;
use super::linked::{BESIDE_CODE, LinkedCode, LinkedKernels, Programs, run_code_alone};
use super::mapped::Registered;
use super::memory::DeviceMemory;
use super::module::{Kernel, Module};
use super::resident::{ResidentGraph, Uploader, lane, largest_array};
use super::staging::Staging;
use super::stream::{COPY_LIMIT, Stream};
use crate::backend::code::interpreted;
use crate::backend::pages::Pages;
use crate::backend::serve::{ServeAddresses, Serving, Started};
use crate::backend::served::{Around, Space};
use crate::backend::{BackendError, CodeReport};
use crate::graph::WeightKind;
use crate::program::encoded::GraphNeeds;
use bytemuck::{Zeroable, bytes_of};
use seawall_core::abi::ring::ControlBlock;
use seawall_device::resident::serve::scratch_words;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Lanes of a block.
const LANES: u32 = 512;
/// Time between two polls of the kernel.
const LOOK: Duration = Duration::from_millis(5);
/// Share of the free memory that searches of workers may take.
const SCRATCH_SHARE: u64 = 4;

/// Runs the kernel, and returns when the service ends, which `is_over` says. After that the
/// kernel has `most` to end.
///
/// # Errors
/// As for opening a session; the device's own error if the kernel fails; the error of a silent
/// device if it does not end. Then it may still use the serving's memory, which must never be
/// freed.
pub(crate) fn run(
    serving: &Serving<'_>,
    device: u32,
    started: impl FnOnce(Started) + Send,
    (is_over, most): (impl Fn() -> bool, Duration),
) -> Result<(), BackendError> {
    let context = Context::open(device, None)?;
    let served = serve(&context, (serving, device), started, (is_over, most));
    if let Err(error) = &served {
        context.note(error);
    }
    served
}

fn serve(
    context: &Rc<Context>,
    (serving, device): (&Serving<'_>, u32),
    started: impl FnOnce(Started) + Send,
    (is_over, most): (impl Fn() -> bool, Duration),
) -> Result<(), BackendError> {
    let resident = Resident::prepare(context, serving, device)?;
    resident.launch()?;
    started(Started {
        name: context.limits().info.name.clone(),
        workers: resident.workers,
        code: resident.code.clone(),
    });
    resident.watch(is_over, most)
}

/// All that the kernel uses. Fields are dropped in order.
struct Resident<'a> {
    record: DeviceMemory,
    /// Memory that the record points to.
    _held: (ResidentGraph<'a>, DeviceMemory, [DeviceMemory; 3]),
    _mapped: [Registered<'a>; 2],
    kernel: Kernel,
    code: Option<CodeReport>,
    stream: Stream,
    blocks: u32,
    workers: u32,
}

impl<'a> Resident<'a> {
    /// Takes and fills the memory of a service.
    fn prepare(
        context: &Rc<Context>,
        serving: &Serving<'a>,
        device: u32,
    ) -> Result<Self, BackendError> {
        let space = Space::new(serving.programs, serving.graph)?;
        let Chosen {
            kernel,
            code,
            is_linked,
        } = Chosen::of(context, &space, serving)?;
        let (stream, mut staging) = lane(context, largest_array(serving.graph))?;
        let graph = upload(serving, device, &space, &stream, &mut staging)?;
        let mapped = [
            Registered::of(context, serving.ring)?,
            Registered::of(context, serving.posts)?,
        ];
        let own = DeviceMemory::take(context, "the ring", u64::from(serving.own_words()) * 4)?;
        let stride = (scratch_words(serving.graph.nodes()) * 4).next_multiple_of(256);
        let workers = workers(&kernel, serving, stride + space.stride())?;
        let take = |what, each: u64| DeviceMemory::take(context, what, each * u64::from(workers));
        let scratch = take("the searches of a service", stride)?;
        let addresses = graph.addresses();
        let around = Around {
            graph: serving.graph,
            addresses,
            time_budget_ns: serving.slot_budget_ns,
            is_linked,
        };
        let mut uploader = Uploader {
            stream: &stream,
            staging: &mut staging,
        };
        let [programs, table] = programs(&space, &around, workers, &mut uploader)?;
        let record = serving.record(&ServeAddresses {
            host: mapped[0].address,
            posts: mapped[1].address,
            device: own.address(),
            scratch: scratch.address(),
            scratch_stride: stride,
            programs: table.address(),
            graph: addresses,
        });
        // SAFETY: both are live memory of these lengths; the ring begins with a control block. The
        // copies are waited for below.
        unsafe {
            stream.zero(own.address(), own.bytes())?;
            stream.zero(scratch.address(), scratch.bytes())?;
            let control = control_of(serving.ring);
            staging.upload(&stream, own.address(), bytes_of(&control))?;
        }
        let mut uploader = Uploader {
            stream: &stream,
            staging: &mut staging,
        };
        let record = uploader.put("the record of a service", bytes_of(&record))?;
        stream.wait("preparing the service", COPY_LIMIT)?;
        Ok(Self {
            record,
            _held: (graph, own, [scratch, programs, table]),
            _mapped: mapped,
            kernel,
            code,
            stream,
            blocks: serving.dispatchers + 1 + workers,
            workers,
        })
    }

    fn launch(&self) -> Result<(), BackendError> {
        // SAFETY: the kernel takes the address of a serve record, which is complete; all that it
        // points to lives until the kernel has ended, or is leaked with the context.
        unsafe {
            self.kernel
                .launch_resident(&self.stream, self.blocks, LANES, &self.record)
        }
    }

    /// Waits until the kernel has ended.
    fn watch(&self, is_over: impl Fn() -> bool, most: Duration) -> Result<(), BackendError> {
        let mut ordered: Option<Instant> = None;
        while !self.stream.is_done("serving")? {
            if is_over() {
                let since = ordered.get_or_insert_with(Instant::now).elapsed();
                if since > most {
                    self.stream.context().give_up();
                    return Err(no_answer("ending the service", since.as_millis()));
                }
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// The kernel of a service.
struct Chosen {
    kernel: Kernel,
    /// How waves of code run.
    code: Option<CodeReport>,
    /// Whether the kernel has machine code of them.
    is_linked: bool,
}

impl Chosen {
    /// The kernel that runs these programs, or the small one if there are none. It stays until the
    /// service ends, so that machine code is made now or never.
    fn of(
        context: &Rc<Context>,
        space: &Space<'_>,
        serving: &Serving<'_>,
    ) -> Result<Self, BackendError> {
        let module = Module::load(context)?;
        let programs = || space.programs().map(|(program, _)| program);
        let own = space.own().map(|own| module.own_text(own)).transpose()?;
        let mut code = (own.is_none() && run_code_alone(programs())).then(|| {
            let programs = Programs::of_service(space.programs(), serving.graph);
            let kernels = LinkedKernels::service(LANES);
            LinkedCode::of(programs, serving.jit, kernels)
        });
        let linked = code.as_mut().and_then(|code| code.grid(&module));
        let entry = match own {
            Some(_) => Entry::OwnServe,
            None if space.is_empty() => Entry::Serve,
            None => Entry::ServeAll,
        };
        Ok(Self {
            is_linked: linked.is_some(),
            kernel: match linked {
                Some(grid) => grid.kernel().clone(),
                None => module.kernel_within(entry, Bound::ANY, own)?,
            },
            code: match code {
                Some(code) => Some(code.report()),
                None => interpreted(programs(), BESIDE_CODE),
            },
        })
    }
}

/// Uploads all arrays of the graph that searches read.
fn upload<'a>(
    serving: &Serving<'a>,
    device: u32,
    space: &Space<'_>,
    stream: &Stream,
    staging: &mut Staging,
) -> Result<ResidentGraph<'a>, BackendError> {
    let needs = GraphNeeds {
        weights: if serving.is_weighted() {
            Some(WeightKind::Integer)
        } else {
            space.needs().weights
        },
        incoming: true,
        incoming_weights: space.needs().incoming_weights,
        tiles: false,
    };
    let uploader = Uploader { stream, staging };
    let mut graph = ResidentGraph::upload(serving.graph, device, uploader)?;
    graph.complete(needs, Uploader { stream, staging })?;
    Ok(graph)
}

/// The programs of all workers, and the table of them. The copies are not waited for.
fn programs(
    space: &Space<'_>,
    around: &Around<'_>,
    workers: u32,
    uploader: &mut Uploader<'_>,
) -> Result<[DeviceMemory; 2], BackendError> {
    let bytes = space.stride() * u64::from(workers);
    let context = uploader.stream.context();
    let programs = DeviceMemory::take(context, "the programs of a service", bytes)?;
    let Uploader { stream, staging } = uploader;
    // SAFETY: the memory holds an image of each worker, and freeing it waits for the copies.
    unsafe {
        stream.zero(programs.address(), programs.bytes())?;
        for worker in 0..u64::from(workers) {
            let base = programs.address() + worker * space.stride();
            staging.upload(stream, base, &space.image(base, around))?;
        }
    }
    let table = space.table(programs.address(), workers);
    let table = uploader.put("the table of programs", bytemuck::cast_slice(&table))?;
    Ok([programs, table])
}

/// Number of workers: as many as requested, if they are resident at once and memory holds their
/// searches.
fn workers(kernel: &Kernel, serving: &Serving<'_>, stride: u64) -> Result<u32, BackendError> {
    let context = kernel.context();
    let per_unit = kernel.blocks_per_unit(LANES, 0)?;
    let resident = per_unit.saturating_mul(context.limits().info.units);
    let beside = resident.saturating_sub(serving.dispatchers + 1);
    let space = context.free_bytes()? / SCRATCH_SHARE / stride;
    let space = u32::try_from(space).unwrap_or(u32::MAX);
    Ok(serving.workers.min(beside).min(space).max(1))
}

/// The control block that hosts wrote.
fn control_of(ring: &Pages) -> ControlBlock {
    let mut control = [ControlBlock::zeroed()];
    let words: &mut [u32] = bytemuck::cast_slice_mut(&mut control);
    for (at, word) in (0..).zip(words) {
        *word = ring.get(at).map_or(0, |word| word.load(Ordering::Relaxed));
    }
    let [control] = control;
    control
}
