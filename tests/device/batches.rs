//! Random batches on the batch kernels, and batches that must fail.

use crate::tally::Tally;
use seawall::backend::BackendError;
use seawall::backend::RunLimits;
use seawall::backend::batch::{BatchError, BatchSession, Job};
use seawall::backend::cuda::{CudaBatch, CudaOptions};
use seawall::graph::Graph;
use seawall::program::EncodedProgram;
use seawall::run::AnalysisKind;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::search::SearchPolicy;
use seawall_core::topology::Topology;
use seawall_oracles::batches::{
    ANALYSES, BatchOptions, Member, members, run_batch, run_scripts, short_frontier,
};
use seawall_oracles::faulty;
use seawall_oracles::random::Random;
use std::sync::Arc;

const NAME: &str = "batch";

/// One drawn batch and its number of blocks.
struct Case {
    repeat: String,
    members: Vec<Member>,
    options: CudaOptions,
    /// Whether sweeps over every node per level stay short.
    is_light: bool,
}

impl Case {
    fn draw(seed: u64, quick: bool) -> Self {
        let mut random = Random::new(seed ^ 0xBA7C);
        let (counts, sizes): (&[u32], &[u32]) = if quick {
            (&[1, 3, 12], &[60, 200])
        } else {
            (&[1, 7, 200, 3000], &[50, 900, 6000])
        };
        let count = random.pick(counts).unwrap_or(1);
        // Thousands of large graphs test no more than hundreds.
        let size = random.pick(sizes).unwrap_or(1);
        let size = if count > 200 { size.min(900) } else { size };
        let members = members(count, size, &mut random);
        let mut options = CudaOptions {
            limits: RunLimits {
                time_budget_ns: 30_000_000_000,
            },
            ..CudaOptions::default()
        };
        if quick || random.once_in(2) {
            options.lanes = random.pick(&[32, 64, 96, 128, 160, 512]);
            options.blocks = random.pick(if count > 200 { &[64] } else { &[1, 2, 5] });
        }
        let CudaOptions { blocks, lanes, .. } = options;
        Self {
            repeat: format!(
                "SEED={seed}{} {count} graphs up to {size} nodes, blocks {blocks:?}, lanes {lanes:?}",
                if quick { " --quick" } else { "" }
            ),
            is_light: size <= 900 && count <= 200,
            members,
            options,
        }
    }

    fn run(&self, asked: &BatchOptions, times: u32) -> Result<(), String> {
        run_batch(|jobs| self.open(jobs), &self.members, asked, times)
    }

    fn open<'g>(&self, jobs: &[Job<'g>]) -> Result<Box<dyn BatchSession + 'g>, BatchError> {
        Ok(Box::new(CudaBatch::open(jobs, self.options)?))
    }
}

/// Draws the batch of a seed and runs every analysis and every shape of search
/// on it.
pub(crate) fn run(seed: u64, quick: bool, tally: &mut Tally) {
    let case = Case::draw(seed, quick);
    for analysis in ANALYSES {
        tally.check("batches, three runs each", NAME, &case.repeat, || {
            case.run(&BatchOptions::new(analysis), 3)
        });
    }
    let sweeps = [Topology::Hybrid, Topology::Dense, Topology::BlockDense];
    for topology in Topology::ALL {
        if sweeps.contains(&topology) && !case.is_light {
            continue;
        }
        let asked = BatchOptions {
            policy: SearchPolicy {
                forced: topology as u32,
                ..SearchPolicy::default()
            },
            ..BatchOptions::new(AnalysisKind::Bfs)
        };
        let repeat = format!("topology {topology}, {}", case.repeat);
        tally.check("batches, forced topologies", NAME, repeat, || {
            case.run(&asked, 1)
        });
    }
    scripts(&case, seed, tally);
    for max_iterations in [1, 2, 5] {
        let asked = BatchOptions {
            max_iterations,
            ..BatchOptions::new(AnalysisKind::Reach)
        };
        let repeat = format!("{max_iterations} levels, {}", case.repeat);
        tally.check("batches, level limits", NAME, repeat, || {
            case.run(&asked, 1)
        });
    }
}

/// Runs random programs on the batch of a seed, if the interpreter that checks them is fast
/// enough.
fn scripts(case: &Case, seed: u64, tally: &mut Tally) {
    if !case.is_light {
        return;
    }
    let mut random = Random::new(seed);
    tally.check("batches of programs", NAME, &case.repeat, || {
        run_scripts(|jobs| case.open(jobs), &case.members, 3000, &mut random)
    });
}

/// Runs batches in which one graph faults, and batches that must not open.
pub(crate) fn faults(quick: bool, tally: &mut Tally) {
    let milliseconds = if quick { 1000 } else { 200 };
    let options = CudaOptions {
        limits: RunLimits {
            time_budget_ns: milliseconds * 1_000_000,
        },
        ..CudaOptions::default()
    };
    tally.check("batch with a graph that faults", NAME, "no seed", || {
        faulting(options)
    });
    tally.check("batch with a search that faults", NAME, "no seed", || {
        faulting_search(options)
    });
    tally.check("batch larger than its budget", NAME, "no seed", || {
        over_budget(options)
    });
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn jobs<'g>(graph: &'g Graph, programs: &[EncodedProgram]) -> Vec<Job<'g>> {
    let job = |program: &EncodedProgram| Job {
        graph,
        program: Arc::new(program.clone()),
        inputs: Vec::new(),
        result: program
            .register(2)
            .expect("the program has three registers"),
    };
    programs.iter().map(job).collect()
}

fn faulting(options: CudaOptions) -> Result<(), String> {
    let graph = Graph::from_edges(faulty::NODES, &[], false).map_err(text)?;
    let plain = faulty::plain().map_err(text)?;
    for (bad, code, name) in [
        (faulty::endless(), FaultCode::TimeBudget, faulty::ENDLESS),
        (
            faulty::broken(Some(9_999), None),
            FaultCode::UnknownOpcode,
            faulty::COPY,
        ),
        (
            faulty::broken(None, Some(77)),
            FaultCode::BadRegister,
            faulty::COPY,
        ),
    ] {
        let mut programs = vec![plain.clone(); 9];
        programs[4] = bad.map_err(text)?;
        let batch_jobs = jobs(&graph, &programs);
        let mut batch = CudaBatch::open(&batch_jobs, options).map_err(text)?;
        let error = batch.run().map(|_| ());
        let Err(BatchError::Job {
            index: 4,
            source: BackendError::Fault {
                record, wave_name, ..
            },
        }) = error
        else {
            return Err(format!("expected a fault of graph 4, got {error:?}"));
        };
        if FaultCode::from_word(record.code) != code || wave_name != name {
            return Err(format!("{wave_name}: {record:?}"));
        }
        drop(batch);
        let batch_jobs = jobs(&graph, &programs[..4]);
        let mut batch = CudaBatch::open(&batch_jobs, options).map_err(text)?;
        batch.run().map_err(text)?;
        let words = batch.read().map_err(text)?;
        if words != vec![vec![faulty::SUM]; 4] {
            return Err(format!("the batch after the fault gave {words:?}"));
        }
    }
    Ok(())
}

/// A fault in the kernel for programs that only search.
fn faulting_search(options: CudaOptions) -> Result<(), String> {
    let graph = Graph::from_edges(faulty::NODES, &[], false).map_err(text)?;
    let jobs = [short_frontier(&graph)?];
    let mut batch = CudaBatch::open(&jobs, options).map_err(text)?;
    match batch.run() {
        Err(BatchError::Job {
            index: 0,
            source: BackendError::Fault { record, .. },
        }) if FaultCode::from_word(record.code) == FaultCode::BadRegister => Ok(()),
        other => Err(format!("{:?}", other.map(|stats| stats.run_ns))),
    }
}

fn over_budget(options: CudaOptions) -> Result<(), String> {
    let graph = Graph::from_edges(faulty::NODES, &[], false).map_err(text)?;
    let plain = faulty::plain().map_err(text)?;
    let asked = CudaOptions {
        budget_bytes: Some(1000),
        ..options
    };
    match CudaBatch::open(&jobs(&graph, &[plain]), asked) {
        Err(BatchError::Backend(BackendError::OutOfMemory { .. })) => Ok(()),
        other => Err(format!("{:?}", other.map(|batch| batch.shape()))),
    }
}
