//! The watchdog: a thread that ends overlong work and steers the workers.

use super::Shared;
use seawall_core::abi::ring::{ControlBlock, Kind};
use seawall_core::launch::{AdapterLimits, LaunchPolicy, LaunchRequest, RequeueAccount};
use seawall_core::protocol::AGEING_AFTER;
use std::time::Duration;

/// Time between two polls while there is work.
const TICK: Duration = Duration::from_millis(10);

/// Time between two polls of an idle service.
const IDLE_TICK: Duration = Duration::from_millis(500);

/// Claims above Low before a scan starts from below while old work waits.
const AGEING_SOONER: u32 = 4;

/// Counters at the last poll.
pub(super) struct Seen {
    control: ControlBlock,
    /// Runs of each program.
    runs: Vec<u32>,
}

/// The watchdog's thread.
pub(super) fn run(shared: &Shared) {
    let mut seen = Seen::of(shared);
    while !shared.has_ended() {
        let changes = shared.notify.changes();
        seen.tick(shared);
        if shared.is_busy() {
            std::thread::sleep(TICK);
        } else {
            shared.notify.wait(changes, IDLE_TICK);
        }
    }
}

impl Seen {
    pub(super) fn of(shared: &Shared) -> Self {
        Self {
            control: shared.ring().control(),
            runs: runs(shared),
        }
    }

    /// One poll.
    pub(super) fn tick(&mut self, shared: &Shared) {
        shared
            .in_flight
            .end_overrun(shared.ring(), shared.slot_budget);
        shared.in_flight.adopt(shared);
        self.steer(shared);
    }

    /// Sizes and steers the workers by the changes since the last poll.
    fn steer(&mut self, shared: &Shared) {
        let now = shared.ring().control();
        let before = std::mem::replace(&mut self.control, now);
        let account = RequeueAccount {
            requeues: u64::from(now.requeues.wrapping_sub(before.requeues)),
            max_age: if now.requeues == before.requeues {
                0
            } else {
                now.oldest_age
            },
            ..RequeueAccount::default()
        };
        // Dispatchers, if there are queues of posts, answer short work, and workers the rest.
        let works_on = |kind: &Kind| shared.posts.is_none() || !kind.is_short();
        let hot = hottest([&before, &now], works_on);
        let waiting = shared.ring().waiting().iter().sum::<u32>();
        let running = now.tenants.iter().map(|tenant| tenant.running).sum::<u32>();
        // A worker whose handler does not return counts, so that another one polls for work.
        let queue_len = waiting.saturating_add(running);
        let request = LaunchRequest {
            queue_len: queue_len.clamp(1, shared.layout.slots()),
            requested_worker_groups: shared.workers,
            limits: AdapterLimits {
                max_workgroup_size_x: 1,
                max_compute_workgroups_per_dimension: shared.workers,
                max_compute_invocations_per_workgroup: 1,
            },
            hot_opcode_count: hot.map_or(0, |(_, ends)| ends),
            ..LaunchRequest::default()
        };
        let plan = LaunchPolicy::STANDARD.plan(&account.apply(request), None);
        let Ok(plan) = plan else {
            return;
        };
        let promoted = hot.filter(|_| plan.promote_hot_opcodes);
        self.promote(shared, promoted.map(|(kind, _)| kind));
        let favourite = promoted.filter(|_| shared.workers > 1);
        let favourite = favourite.map_or(0, |(kind, _)| kind as u32 + 1);
        let ageing = if plan.age_priority_work {
            AGEING_SOONER
        } else {
            AGEING_AFTER
        };
        // Blocks that rest take as much of a device as those that poll.
        let workers = match shared.posts {
            Some(_) => shared.workers,
            None => plan.grid_groups,
        };
        shared.ring().steer(workers, favourite, ageing);
        if workers > now.workers {
            shared.notify.ring();
        }
    }

    /// Has the program compiled that ran most often since the last poll, if `hot` is work of
    /// programs.
    fn promote(&mut self, shared: &Shared, hot: Option<Kind>) {
        let before = std::mem::replace(&mut self.runs, runs(shared));
        if !matches!(hot, Some(Kind::RunProgram | Kind::User)) {
            return;
        }
        let since = self.runs.iter().zip(before);
        let since = since.map(|(now, before)| now.wrapping_sub(before));
        let codes = shared.codes.iter().zip(since);
        if let Some((code, 1..)) = codes.max_by_key(|(_, runs)| *runs) {
            code.promote();
        }
    }
}

/// Runs of each program so far.
fn runs(shared: &Shared) -> Vec<u32> {
    shared.codes.iter().map(|code| code.runs()).collect()
}

/// Kind that made up more than half of the workers' work between two polls, and how often it ended.
fn hottest(
    [before, now]: [&ControlBlock; 2],
    works_on: impl Fn(&Kind) -> bool,
) -> Option<(Kind, u32)> {
    let kinds = || Kind::ALL.into_iter().filter(&works_on);
    let ends = |control: &ControlBlock, kind: Kind| {
        let record = control.kinds[kind as usize];
        record.done.wrapping_add(record.faults)
    };
    let since = |kind: Kind| ends(now, kind).wrapping_sub(ends(before, kind));
    let hottest = kinds().max_by_key(|kind| since(*kind))?;
    let all: u64 = kinds().map(|kind| u64::from(since(kind))).sum();
    let share = u64::from(since(hottest)) * 2 > all;
    share.then(|| (hottest, since(hottest)))
}
