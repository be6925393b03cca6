//! A request whose devices are processes: ranks, as in MPI, of one host or of several.
//!
//! Each rank loads the graph, and its kernel has the edges that lead to the nodes of its own range.
//! Before anything runs, ranks compare what they have; after it, each has the whole result.

use super::Devices;
use super::carrier::{Carrier, gather_alike, name_of_ranks};
use super::execute::Split;
use super::ranges::{Cut, check_budget, slices};
use super::way::{Way, Whole, check, way_on};
use crate::analysis::End;
use crate::backend::cpu::multi::on_ranks;
use crate::backend::multi::DeviceEdges;
use crate::backend::processes::Processes;
use crate::backend::{BackendError, Canceller, cuda};
use crate::executor::Machine;
use crate::graph::Graph;
use crate::job::{Job, drive};
use crate::outcome::RunOutcome;
use crate::program::EncodedProgram;
use crate::run::{Phase, RunError, RunRequest};
use crate::spans;
use crate::units::counted;
use seawall_core::abi::VERSION;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Words with which a rank says before a run whether it is ready, and with what.
pub(super) const GREETING: usize = 7;

/// Differences of two greetings, by their first word.
const DIFFERENCES: [(usize, &str); 3] = [
    (1, "another version of the program"),
    (3, "another graph"),
    (5, "another request"),
];

/// Runs `request` on the ranks that `carrier` joins, of which this one has `threads` threads, or the GPU of
/// the request's machine if the executor there is one of a GPU. Every rank calls this with the same graph
/// and request, or [`refuse_on_ranks`], and each returns the whole outcome; a check is made by rank 0
/// alone. Ranks may have different machines.
///
/// Analyses and values are those of [`execute`](super::execute). An exchange costs a message to each
/// other rank, of what this one found.
///
/// # Errors
/// As [`execute`](super::execute); [`RunError::RankDiffers`] if a rank has another graph, request or
/// version; [`BackendError::RankEnded`] if another rank could not go on, and
/// [`BackendError::RankLost`] if one is gone.
pub fn execute_on_ranks(
    graph: &Graph,
    request: &RunRequest,
    carrier: &mut dyn Carrier,
    threads: u32,
    canceller: &Canceller,
    progress: &mut dyn FnMut(Phase),
) -> Result<RunOutcome, RunError> {
    let span = spans::run("ranks", graph, request);
    drive_on_ranks(
        span,
        request,
        carrier,
        canceller,
        progress,
        |job, carrier| prepare(graph, job, carrier, threads, canceller),
    )
}

/// Takes a request that `prepare` plans for the ranks of `carrier` to its outcome. A check is made by
/// rank 0 alone.
pub(super) fn drive_on_ranks<'a>(
    span: tracing::Span,
    request: &RunRequest,
    carrier: &'a mut dyn Carrier,
    canceller: &Canceller,
    progress: &mut dyn FnMut(Phase),
    prepare: impl FnOnce(&mut Job<'_>, &'a mut dyn Carrier) -> Result<Split<'a>, RunError>,
) -> Result<RunOutcome, RunError> {
    let asked = RunRequest {
        check: request.check && carrier.rank() == 0,
        ..request.clone()
    };
    let mut outcome = drive(span, &asked, progress, |job| prepare(job, carrier));
    canceller.settle()?;
    if let Ok(Some(report)) = outcome.as_mut().map(|outcome| outcome.devices.as_mut()) {
        // Each host counts its own.
        report.numbers.clear();
    }
    outcome
}

/// Cuts the graph or shares the work out otherwise, and compares that with the other ranks.
fn prepare<'a>(
    graph: &'a Graph,
    job: &mut Job<'_>,
    carrier: &'a mut dyn Carrier,
    threads: u32,
    canceller: &'a Canceller,
) -> Result<Split<'a>, RunError> {
    let (own, count) = (carrier.rank(), carrier.ranks());
    let devices = Devices::of_ranks(count, &job.request.machine, threads);
    let start = job.now();
    job.phase(Phase::Plan);
    let ready = ready(graph, job.request, &devices, own);
    let asked = |hasher: &mut DefaultHasher| hash_request(job.request, hasher);
    let words = ready.as_ref().map(|_| greeting(&of_graph(graph), &asked));
    greet_with(carrier, words.unwrap_or([0; GREETING]))?;
    let plan_ns = job.since(start);
    let whole = match ready? {
        Ready::Cut(cut, edges) => {
            let run = run_cut(*cut, edges, carrier, devices, canceller, plan_ns);
            return Ok(Split::of(graph, run));
        }
        Ready::Whole(whole) => whole,
    };
    let run =
        move |job: &mut Job<'_>| whole.run(graph, job, &devices, Some(&mut *carrier), canceller);
    Ok(Split::of(graph, run))
}

/// Runs this rank's part of a cut, and gathers the outcome of all.
pub(super) fn run_cut<'a>(
    cut: Cut<'a>,
    edges: DeviceEdges<'a>,
    carrier: &'a mut dyn Carrier,
    devices: Devices,
    canceller: &'a Canceller,
    plan_ns: u64,
) -> impl FnMut(&mut Job<'_>) -> Result<(RunOutcome, End), RunError> + use<'a> {
    let (own, count) = (carrier.rank(), carrier.ranks());
    move |job: &mut Job<'_>| {
        job.phase(Phase::Upload);
        let work = cut.job(own, &edges);
        let ranks = Processes::new(&mut *carrier, canceller);
        let found = match &devices {
            Devices::Gpus(_) => cuda::rank::run(&work, job.request.machine.device, &ranks),
            Devices::Simulated { threads, .. } => on_ranks(&work, *threads, &ranks),
        };
        let Some(found) = found else {
            return Err(ranks.into_error().into());
        };
        let one = match &devices {
            Devices::Gpus(_) => found.name.clone(),
            Devices::Simulated { threads, .. } => counted((*threads).into(), "CPU thread"),
        };
        let device = name_of_ranks(count, &one);
        let found = ranks.gather(&work, found)?;
        cut.outcome(job, &devices, device, &found, plan_ns)
    }
}

/// Tells the other ranks that this one cannot run the request or the program, in the place of
/// [`execute_on_ranks`] or of loading one by [`open_on_ranks`](super::open_on_ranks). Returns whether no rank before this one refuses too: then its message is
/// the one to show.
///
/// # Errors
/// [`BackendError::RankLost`].
pub fn refuse_on_ranks(carrier: &mut dyn Carrier) -> Result<bool, RunError> {
    let own = carrier.rank() as usize;
    let all = gather_alike(carrier, &[0_u32; GREETING])?;
    Ok(all.chunks(GREETING).take(own).all(|words| words[0] != 0))
}

/// A request as one rank runs it.
enum Ready<'g> {
    /// It has a part of the nodes.
    Cut(Box<Cut<'g>>, DeviceEdges<'g>),
    /// It has the whole graph.
    Whole(Whole),
}

fn ready<'g>(
    graph: &'g Graph,
    request: &RunRequest,
    devices: &Devices,
    own: u32,
) -> Result<Ready<'g>, RunError> {
    let way = way_on(graph, request, devices)?;
    check(graph, request)?;
    let work = match way {
        Way::Cut(work) => work,
        Way::Whole(whole) => return Ok(Ready::Whole(whole)),
    };
    let cut = Cut::of(graph, request, work, devices.count())?;
    let edges = cut.part(own, slices(cut.sizes(), work, devices))?;
    check_budget(request, &cut.job(own, &edges))?;
    Ok(Ready::Cut(Box::new(cut), edges))
}

/// The version, the graph and what is asked of it, two words each, of a rank that is ready.
pub(super) fn greeting(
    graph: &dyn Fn(&mut DefaultHasher),
    asked: &dyn Fn(&mut DefaultHasher),
) -> [u32; GREETING] {
    let digest = |hash: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        hash(&mut hasher);
        hasher.finish()
    };
    let version = digest(&|hasher| (env!("CARGO_PKG_VERSION"), VERSION).hash(hasher));
    let mut words = [1; GREETING];
    for (pair, wide) in words[1..]
        .chunks_mut(2)
        .zip([version, digest(graph), digest(asked)])
    {
        pair.copy_from_slice(&[wide as u32, (wide >> 32) as u32]);
    }
    words
}

/// Hashes a graph.
fn of_graph(graph: &Graph) -> impl Fn(&mut DefaultHasher) {
    |hasher| graph.layout_hash().hash(hasher)
}

/// Hashes a request, but for what ranks may have of their own.
pub(super) fn hash_request(request: &RunRequest, hasher: &mut DefaultHasher) {
    let asked = RunRequest {
        machine: Machine::default(),
        // Rank 0 alone checks and explains.
        check: false,
        explain: false,
        ..request.clone()
    };
    format!("{asked:?}").hash(hasher);
    request.machine.time_budget_ns.hash(hasher);
}

/// Compares the graph and the program with those of the other ranks.
///
/// # Errors
/// [`BackendError::NotShared`] if a rank has others, [`BackendError::RankEnded`],
/// [`BackendError::RankLost`].
pub(crate) fn greet_with_program(
    carrier: &mut dyn Carrier,
    graph: &Graph,
    program: &EncodedProgram,
    is_ready: bool,
) -> Result<(), BackendError> {
    let asked = |hasher: &mut DefaultHasher| {
        let tables = (&program.groups, &program.waves, &program.registers);
        format!("{tables:?}{:?}{}", program.code, program.arena_bytes).hash(hasher);
    };
    let words = match is_ready {
        true => greeting(&of_graph(graph), &asked),
        false => [0; GREETING],
    };
    match greet(carrier, words)? {
        None => Ok(()),
        Some(Difference { rank, what }) => Err(BackendError::NotShared {
            reason: format!("rank {rank} has {what} than rank 0"),
        }),
    }
}

/// Compares the inputs of a run with those of the other ranks.
///
/// # Errors
/// [`BackendError::NotShared`] if a rank has others, [`BackendError::RankLost`].
pub(crate) fn compare_inputs(
    carrier: &mut dyn Carrier,
    inputs: &[u32],
) -> Result<(), BackendError> {
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    let all = gather_alike(carrier, &[hasher.finish()])?;
    match all.iter().position(|digest| *digest != all[0]) {
        None => Ok(()),
        Some(rank) => Err(BackendError::NotShared {
            reason: format!("rank {rank} has other inputs than rank 0"),
        }),
    }
}

/// Compares greetings.
///
/// # Errors
/// [`RunError::RankDiffers`], [`BackendError::RankEnded`], [`BackendError::RankLost`].
pub(super) fn greet_with(carrier: &mut dyn Carrier, own: [u32; GREETING]) -> Result<(), RunError> {
    match greet(carrier, own)? {
        None => Ok(()),
        Some(Difference { rank, what }) => Err(RunError::RankDiffers { rank, what }),
    }
}

/// Waits for all ranks, and returns what this one found; its own error says more than that another
/// rank has ended.
pub(super) fn meet<T>(
    carrier: &mut dyn Carrier,
    found: Result<T, RunError>,
) -> Result<T, RunError> {
    let status = gather_alike(carrier, &[u32::from(found.is_ok())])?;
    let found = found?;
    match status.iter().position(|is_well| *is_well == 0) {
        Some(rank) => Err(BackendError::RankEnded { rank: rank as u32 }.into()),
        None => Ok(found),
    }
}

/// A rank that has something else than the first.
struct Difference {
    rank: u32,
    what: &'static str,
}

/// Compares greetings; an error if another rank is not ready. A rank that is not ready itself has
/// its own error.
fn greet(
    carrier: &mut dyn Carrier,
    own: [u32; GREETING],
) -> Result<Option<Difference>, BackendError> {
    let all = gather_alike(carrier, &own)?;
    if own[0] == 0 {
        return Ok(None);
    }
    let all: Vec<&[u32]> = all.chunks(GREETING).collect();
    if let Some(rank) = all.iter().position(|words| words[0] == 0) {
        let rank = rank as u32;
        return Err(BackendError::RankEnded { rank });
    }
    let different = DIFFERENCES.iter().find_map(|(at, what)| {
        let differs = |words: &&[u32]| words[*at..at + 2] != all[0][*at..at + 2];
        let rank = all.iter().position(differs)? as u32;
        Some(Difference { rank, what })
    });
    Ok(different)
}
