//! Statistics of a service.

use super::Shared;
use crate::backend::CodeReport;
use seawall_core::abi::ring::{Kind, TenantRecord};
use serde::Serialize;
use std::sync::atomic::Ordering;

/// Counts of a service; those of 32 bits wrap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Stats {
    /// The machine that serves: a GPU by its name, or threads.
    pub machine: String,
    /// Queries posted.
    pub submitted: u64,
    /// Tickets that have their answer or their error.
    pub delivered: u64,
    /// Queries that ended in a fault for taking too long, although their handlers continued.
    pub overrun: u64,
    /// Slots that workers ended.
    pub ended: u32,
    /// Slots among them that ended in a fault.
    pub faults: u32,
    /// Slots that wait for a worker, by priority.
    pub waiting: [u32; 5],
    /// Batches that ended.
    pub epoch: u32,
    /// Polls of the ring by workers.
    pub heartbeat: u32,
    /// Turns after which a slot could not start yet.
    pub requeues: u32,
    /// Turns after which a slot continues later.
    pub yields: u32,
    /// Most turns that a slot waited between two of its turns.
    pub oldest_age: u32,
    /// Scans that began below the highest priority.
    pub scans_from_below: u32,
    /// Slots answered by an entry for only one kind.
    pub answered_by_one: u32,
    /// Workers that poll for work now.
    pub workers: u32,
    /// Records printed.
    pub prints: u32,
    /// Records dropped in favour of slower writers.
    pub prints_dropped: u32,
    /// Sum of the hashes of all ended tasks.
    pub checksum: u32,
    /// Ends of each kind: done, and in a fault.
    pub kinds: [[u32; 2]; Kind::COUNT],
    /// Counters of each tenant, from number 1 on.
    pub tenants: Vec<TenantStats>,
    /// How waves of code of all programs run now; `None` without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeReport>,
}

/// Counters of a tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TenantStats {
    /// Slots that run.
    pub running: u32,
    /// Polls that skipped one of its slots because of the quota.
    pub passed_over: u32,
    /// Slots that ended.
    pub served: u32,
    /// Slots that ended in a fault.
    pub faults: u32,
}

impl From<&TenantRecord> for TenantStats {
    fn from(record: &TenantRecord) -> Self {
        Self {
            running: record.running,
            passed_over: record.passed_over,
            served: record.served,
            faults: record.faults,
        }
    }
}

/// The machine that serves: a GPU by its name, or threads.
pub(super) fn machine(shared: &Shared) -> &str {
    let started = shared.machine.get();
    started.map_or("threads", |machine| &machine.name)
}

pub(super) fn of(shared: &Shared) -> Stats {
    let control = shared.ring().control();
    let tenants = control.tenants.iter().skip(1);
    let tenants = tenants.take(shared.tenants as usize);
    Stats {
        machine: machine(shared).to_owned(),
        submitted: shared.in_flight.submitted.sum(),
        delivered: shared.in_flight.delivered.sum(),
        overrun: shared.in_flight.overrun.load(Ordering::Relaxed),
        ended: control.done,
        faults: control.faults,
        waiting: shared.ring().waiting(),
        epoch: control.epoch,
        heartbeat: control.heartbeat,
        requeues: control.requeues,
        yields: control.yields,
        oldest_age: control.oldest_age,
        scans_from_below: control.scans_from_below,
        answered_by_one: control.answered_by_one,
        workers: control.workers,
        prints: control.prints,
        prints_dropped: control.prints_dropped,
        checksum: control.checksum,
        kinds: control.kinds.map(|kind| [kind.done, kind.faults]),
        tenants: tenants.map(TenantStats::from).collect(),
        code: code(shared),
    }
}

/// How waves of code run.
fn code(shared: &Shared) -> Option<CodeReport> {
    if shared.posts.is_some() {
        return shared.machine.get()?.code.clone();
    }
    let reports = shared.codes.iter().map(|code| code.report(shared.jit));
    let report = reports.reduce(CodeReport::and)?;
    Some(report).filter(|report| report.waves > 0)
}
