//! Batches of random programs on random graphs, as machine code or interpreted: equal to the plain
//! interpreter, within their budget.
#![no_main]

use std::num::NonZeroUsize;

use libfuzzer_sys::fuzz_target;
use seawall::backend::batch::cpu::CpuBatch;
use seawall::backend::batch::{BatchError, BatchSession};
use seawall::backend::{BackendError, RunLimits};
use seawall::executor::Jit;
use seawall_fuzz::draw::Draw;
use seawall_fuzz::{limit, pool};
use seawall_oracles::batches::{members, run_scripts};
use seawall_oracles::random::Random;

fuzz_target!(|bytes: &[u8]| {
    pool::start();
    limit::allow(64 << 20, "a batch lies in one block of memory");
    let mut draw = Draw::new(bytes);
    let (count, nodes) = (1 + draw.below(12), 1 + draw.below(120));
    let threads = NonZeroUsize::new(1 + draw.below(3) as usize);
    let budget_bytes = draw
        .flag()
        .then(|| u64::from(draw.word()) >> draw.below(24));
    let jit = Jit::ALL[draw.below(3) as usize];
    let mut random = Random::new(draw.long());
    let members = members(count, nodes, &mut random);
    let mut refused = false;
    let ran = run_scripts(
        |jobs| {
            let asked = (RunLimits::default(), budget_bytes);
            let opened = CpuBatch::open(jobs, threads, asked.0, asked.1);
            refused = match &opened {
                Ok(batch) => {
                    assert!(budget_bytes.is_none_or(|budget| batch.memory_bytes() <= budget));
                    false
                }
                Err(BatchError::Backend(BackendError::OutOfMemory {
                    needed, available, ..
                })) => {
                    assert!(needed > available);
                    true
                }
                Err(BatchError::Size { jobs: 0, .. }) => true,
                Err(error) => panic!("{error}"),
            };
            Ok(Box::new(opened?.with_jit(jit)))
        },
        &members,
        120,
        &mut random,
    );
    if let Err(problem) = ran {
        assert!(refused, "{problem}");
    }
});
