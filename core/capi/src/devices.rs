//! A plan for several devices for C.

use core::mem::{align_of, size_of};
use core::ptr;

use seawall_core::plan::DevicesError;
use seawall_core::plan::devices::{self, Prices, WaveCut};
use seawall_core::plan::execution::Chooser;
use seawall_core::scratch::{DEVICES_WORDS, DevicesScratchView};
use seawall_core::topology::TopologyPolicy;

use crate::buffers::{Buffers, exclusive, record, shared, writable};
use crate::entry::{as_offsets, finish, refusal};
use crate::execution::{Execution, ExecutionRequest, as_record, subject, translated};
use crate::records::{Offsets, Wave};
use crate::status::{Failure, Problem, Status};

/// How the memory of a wave lies on several devices: any of these, added up. With 0 it follows
/// edges, and leaves something for each node.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveFlag {
    /// It reads what its predecessors left for its own nodes, and nothing of other devices.
    OwnNodes = 1,
    /// Its output is one for all nodes, to which each device adds.
    Total = 2,
}

/// The devices of a plan, and its working memory beside the buffers of an execution.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Devices {
    /// Their number, 1 to 65 536.
    pub count: u32,
    /// Flags of each wave, of `SeawallWaveFlag`; one element a wave.
    pub cuts: *const u32,
    /// Result: the waves of one device; one element a wave.
    pub waves: *mut Wave,
    /// Result: the exchanges, first to last; one element a wave, of which as many are written as the
    /// summary says.
    pub exchanges: *mut Exchange,
    /// Working memory: four elements a wave.
    pub words: *mut u32,
    /// Working memory: one element a wave.
    pub bytes: *mut u64,
    /// Working memory: one element a dependency.
    pub targets: *mut u32,
}

impl Devices {
    /// The space of a plan.
    ///
    /// # Safety
    ///
    /// The tables hold as many elements as they say, and are no one else's for `'a`.
    unsafe fn scratch<'a>(
        &self,
        waves: usize,
        dependencies: usize,
    ) -> Result<DevicesScratchView<'a>, Status> {
        // SAFETY: passed on to the caller; waves have the planner's layout.
        unsafe {
            Ok(DevicesScratchView::new(
                exclusive(self.waves.cast(), waves)?,
                exclusive(self.words, waves.saturating_mul(DEVICES_WORDS))?,
                exclusive(self.bytes, waves)?,
                exclusive(self.targets, dependencies)?,
            ))
        }
    }
}

const _: () = {
    assert!(size_of::<u32>() == size_of::<WaveCut>());
    assert!(align_of::<u32>() == align_of::<WaveCut>());
};

/// One exchange between devices, and the barrier of all that ends it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Bytes that each device receives from all others together, at most.
    pub received_bytes: u64,
    /// The group after which it takes place, from 0.
    pub after_group: u32,
}

/// Figures of the exchanges of a plan, and of what several devices buy.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DevicesSummary {
    /// Exchanges; for these groups there are no fewer.
    pub exchange_count: u64,
    /// No grouping has fewer.
    pub exchanges_lower_bound: u64,
    /// Bytes that each device receives in all.
    pub received_bytes: u64,
    /// Predicted time on one device, nanoseconds.
    pub one_ns: u64,
    /// Predicted time on all devices, nanoseconds.
    pub all_ns: u64,
}

/// Plans a program for several devices, each with the budget of the request and a part of the
/// nodes; the plan is that of each.
///
/// `offsets` takes one record per wave; `problem` may be null. A refused budget is that of a device.
///
/// # Safety
///
/// As for `seawall_plan_execution`; the tables of `devices` hold as many elements as they say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seawall_plan_devices(
    request: *const ExecutionRequest,
    devices: *const Devices,
    buffers: *const Buffers,
    execution: *mut Execution,
    offsets: *mut Offsets,
    summary: *mut DevicesSummary,
    problem: *mut Problem,
) -> Status {
    let results = Results {
        execution,
        offsets,
        summary,
    };
    // SAFETY: the caller vouches for all pointers.
    let outcome = unsafe { plan_devices(request, devices, buffers, results) };
    // SAFETY: as above.
    unsafe { finish(outcome, problem) }
}

/// The caller's records for results.
struct Results {
    execution: *mut Execution,
    offsets: *mut Offsets,
    summary: *mut DevicesSummary,
}

/// # Safety
///
/// As for [`seawall_plan_devices`].
unsafe fn plan_devices(
    request: *const ExecutionRequest,
    asked: *const Devices,
    buffers: *const Buffers,
    results: Results,
) -> Result<(), Failure> {
    writable(results.execution)?;
    writable(results.summary)?;
    // SAFETY: the caller vouches for the records.
    let (wanted, asked) = unsafe { (record(request)?, record(asked)?) };
    // SAFETY: the caller vouches for the program, the words and the launch.
    let request = unsafe { translated(&wanted) }?;
    let waves = request.dag.waves.len();
    if waves > 0 {
        writable(results.offsets)?;
        writable(asked.exchanges)?;
    }
    // SAFETY: the caller vouches for the table.
    let cuts = unsafe { shared(asked.cuts.cast::<WaveCut>(), waves) }?;
    // SAFETY: the caller vouches for the record.
    let buffers = unsafe { record(buffers) }?;
    let dependencies = request.dag.dependencies.len();
    let mut subject = subject(&wanted);
    let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
    // SAFETY: the caller vouches for the buffers and tables, which do not overlap.
    let (scratch, more) = unsafe { (buffers.execution()?, asked.scratch(waves, dependencies)?) };
    let plan = match devices::devices(&request, asked.count, cuts, chooser, scratch, more) {
        Ok(plan) => plan,
        Err(DevicesError::Execution(error)) => {
            return Err(refusal(error, request.budget.budget_bytes, || {
                // SAFETY: as above; their first use has ended.
                let (scratch, more) =
                    unsafe { (buffers.execution()?, asked.scratch(waves, dependencies)?) };
                let least = devices::least_budget(&request, asked.count, cuts, scratch, more);
                Ok(least?)
            }));
        }
        Err(error) => return Err(error.into()),
    };
    let resident_bytes = request.budget.resident_bytes;
    let predicted = plan.predict(request.dag.waves, resident_bytes, &Prices::default());
    // SAFETY: checked above; the caller vouches for the space, one record of each kind per wave.
    unsafe {
        for (wave, at) in plan.execution.arena.iter().enumerate() {
            ptr::write(results.offsets.wrapping_add(wave), as_offsets(at));
        }
        for (number, exchange) in plan.exchanges.iter().enumerate() {
            let found = Exchange {
                received_bytes: exchange.received_bytes,
                after_group: exchange.after_group,
            };
            ptr::write(asked.exchanges.wrapping_add(number), found);
        }
        results.summary.write(DevicesSummary {
            exchange_count: plan.exchanges.len() as u64,
            exchanges_lower_bound: plan.exchanges.lower_bound(),
            received_bytes: plan.exchanges.received_bytes(),
            one_ns: predicted.one_ns,
            all_ns: predicted.all_ns,
        });
        results.execution.write(as_record(&plan.execution));
    }
    Ok(())
}
