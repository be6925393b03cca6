//! Plans that are stale on a GPU, and in its batches.

use crate::EXECUTORS;
use crate::tally::Tally;
use seawall::backend::cuda::{CudaBatch, CudaOptions, CudaSession};
use seawall::executor::Executor;
use seawall_oracles::stale::{Tried, check_batch, check_session};

/// Runs plans for this GPU, for other machines and for changed graphs.
pub(crate) fn run(tally: &mut Tally) {
    for (executor, name) in EXECUTORS {
        tally.check("plan for another graph or machine", name, "no seed", || {
            check_session(&Tried {
                executor,
                open: &|graph| {
                    let options = CudaOptions::default();
                    Ok(Box::new(CudaSession::open(executor, graph, options)?))
                },
            })
        });
    }
    tally.check("plan for another graph", "batch", "no seed", || {
        check_batch(Executor::Mega, &|jobs| {
            Ok(Box::new(CudaBatch::open(jobs, CudaOptions::default())?))
        })
    });
}
