//! Uploads, allocations and waits of a batch: predicted from the sizes of its graphs and programs
//! before it is packed.

use crate::backend::batch::Job;
use crate::backend::{BATCH_ALLOCATIONS, SessionWork};
use seawall_core::abi::batch::BatchRecord;
use seawall_core::abi::program::{GroupRecord, LaunchRecord, Region, RegisterRecord, WaveRecord};
use seawall_core::session::{ReadbackPolicy, SessionProfile};
use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Arc;

pub(super) fn predict(jobs: &[Job<'_>], repeat: NonZeroU32) -> SessionWork {
    let profile = SessionProfile {
        // A batch is resident alone: any hash but 0 names it.
        graph_layout_hash: jobs.len() as u64 | 1 << 63,
        graph_bytes: image_bytes(jobs),
        run_count: u64::from(repeat.get()),
        // Inputs are part of the image.
        per_run_frontier_bytes: 0,
        reusable_scratch_bytes: 0,
        per_run_output_bytes: jobs.iter().map(|job| result_of(job).0).sum(),
        budget_bytes: u64::MAX,
        readback: ReadbackPolicy::FinalOnly,
    };
    profile.plan().map_or_else(
        |_| SessionWork::default(),
        |plan| SessionWork::of(&plan, profile.run_count, BATCH_ALLOCATIONS),
    )
}

/// Bytes that are uploaded: records, tables of each program once and one with the code of all,
/// graphs, inputs and places for results, each part in whole lines.
fn image_bytes(jobs: &[Job<'_>]) -> u64 {
    let records = [
        size_of::<BatchRecord>(),
        jobs.len() * size_of::<LaunchRecord>(),
        jobs.len() * size_of::<u64>(),
    ];
    let mut programs = HashSet::new();
    let distinct = jobs
        .iter()
        .filter(|job| programs.insert((Arc::as_ptr(&job.program), job.result)));
    let records: u64 = records.into_iter().map(|bytes| line(bytes as u64)).sum();
    let (mut tables, mut code) = (0, 0);
    for job in distinct {
        tables += tables_bytes(job);
        code += size_of_val(&job.program.code[..]) as u64;
    }
    let graphs: u64 = jobs.iter().map(graph_bytes).sum();
    records + tables + line(code) + graphs
}

fn tables_bytes(job: &Job<'_>) -> u64 {
    let program = &job.program;
    [
        program.groups.len() * size_of::<GroupRecord>(),
        program.waves.len() * size_of::<WaveRecord>(),
        program.registers.len() * size_of::<RegisterRecord>(),
    ]
    .into_iter()
    .map(|bytes| line(bytes as u64))
    .sum()
}

/// Bytes of a graph's arrays, of its inputs, and of its result if that is no input.
fn graph_bytes(job: &Job<'_>) -> u64 {
    let (graph, needs) = (job.graph, job.program.needs);
    let rows = line(4 * (u64::from(graph.nodes()) + 1));
    let edges = line(4 * u64::from(graph.edges()));
    let directions = if needs.incoming && !graph.is_symmetric() {
        2
    } else {
        1
    };
    let arrays = if needs.incoming_weights && directions == 2 {
        2
    } else {
        1
    };
    let weights = needs.weights.map_or(0, |_| arrays * edges);
    let result = match result_of(job) {
        (_, true) => 0,
        (bytes, false) => line(bytes),
    };
    directions * (rows + edges) + weights + line(job.program.input_bytes) + result
}

/// Bytes of a job's result, and whether it lies among its inputs.
fn result_of(job: &Job<'_>) -> (u64, bool) {
    let register = job.program.registers.get(job.result.number() as usize);
    register.map_or((0, true), |register| {
        let is_input = register.region == Region::Input as u32;
        (4 * u64::from(register.words), is_input)
    })
}

const fn line(bytes: u64) -> u64 {
    bytes.next_multiple_of(256)
}
