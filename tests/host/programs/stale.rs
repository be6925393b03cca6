//! Plans that are stale on the CPU backend and its batches.

use seawall::backend::batch::cpu::CpuBatch;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, open_baseline};
use seawall::executor::{Executor, Machine};
use seawall_oracles::stale::{Tried, check_batch, check_session};
use std::num::NonZeroUsize;

#[test]
fn a_plan_for_another_graph_or_machine_is_refused_by_the_kernel() {
    for threads in 1..4 {
        let threads = NonZeroUsize::new(threads);
        let executor = Executor::Cpu;
        check_session(&Tried {
            executor,
            open: &|graph| {
                let session = CpuSession::open(graph, threads, RunLimits::default())?;
                Ok(Box::new(session))
            },
        })
        .unwrap();
        check_session(&Tried {
            executor,
            open: &|graph| open_baseline(graph, &Machine::cpu(threads)),
        })
        .unwrap();
    }
}

#[test]
fn a_stale_plan_in_a_batch_is_named() {
    for threads in 1..4 {
        let threads = NonZeroUsize::new(threads);
        check_batch(Executor::Cpu, &|jobs| {
            let limits = (RunLimits::default(), None);
            Ok(Box::new(CpuBatch::open(jobs, threads, limits.0, limits.1)?))
        })
        .unwrap();
    }
}
