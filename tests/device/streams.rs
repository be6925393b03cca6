//! Streams through a kernel that stays on the GPU: the columns of resident runs, and times compared
//! with a bare upload.

use crate::tally::Tally;
use seawall::backend::cuda::measure::Meter;
use seawall::graph::{Graph, LoadOptions, load, save};
use seawall::outcome::RunOutcome;
use seawall::run::{AnalysisKind, Executor, Machine, RunRequest, execute};
use seawall::stream::{Keeping, StreamOptions, Streamed};
use seawall_oracles::graphs::{SHAPES, draw};
use seawall_oracles::random::Random;
use std::num::NonZeroU32;
use std::path::Path;

/// The analyses that stream.
const KINDS: [AnalysisKind; 5] = [
    AnalysisKind::Bfs,
    AnalysisKind::Reach,
    AnalysisKind::Cc,
    AnalysisKind::Sssp,
    AnalysisKind::Pagerank,
];

/// Drawn graphs, and a generated one in windows of several sizes.
pub(crate) fn run(seed: u64, quick: bool, tally: &mut Tally) {
    let shapes = if quick { 3 } else { SHAPES.len() as u64 };
    for case in seed..seed + shapes {
        tally.check("streams", "mega", format!("SEED={case}"), || {
            let mut random = Random::new(case);
            let shape = SHAPES[case as usize % SHAPES.len()];
            let list = draw(shape, 2_000, case.is_multiple_of(2), &mut random);
            let graph = list.graph().map_err(text)?.with_drawn_weights(case);
            agree(&graph.map_err(text)?, [64, 256, 8192][case as usize % 3])
        });
    }
    if quick {
        return;
    }
    for window in [1 << 16, 1 << 20, 1 << 22] {
        tally.check(
            "streams of rmat16",
            "mega",
            format!("{window} bytes"),
            || {
                let options = LoadOptions::default();
                let graph = load("gen:rmat:16:16", &options, None).map_err(text)?.graph;
                agree(&graph.with_drawn_weights(1).map_err(text)?, window)
            },
        );
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn request(kind: AnalysisKind) -> RunRequest {
    let mut request = RunRequest::new(kind, vec![0]).on(Machine::gpu(Executor::Mega, 0));
    // Weights of rankings do not stream.
    request.weighted = false;
    request
}

fn agree(graph: &Graph, window: u64) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(text)?;
    let path = folder.path().join("graph.swg");
    save(graph, &path, None).map_err(text)?;
    for kind in KINDS {
        let resident = execute(graph, &request(kind)).map_err(text)?;
        for keeping in [Keeping::Never, Keeping::Always] {
            let streamed = streamed(&path, &request(kind), Some(window), keeping)?;
            if streamed.values != resident.values {
                return Err(format!(
                    "{kind} in windows of {window} bytes, {keeping:?} kept, differs"
                ));
            }
            let report = streamed.stream.ok_or("no stream")?;
            let keeps = keeping == Keeping::Always;
            if keeps != report.keeps || keeps && report.streamed_bytes > report.edge_bytes {
                return Err(format!("{kind}, {keeping:?} kept, reads {report:?}"));
            }
        }
    }
    Ok(())
}

fn streamed(
    path: &Path,
    request: &RunRequest,
    window: Option<u64>,
    keeping: Keeping,
) -> Result<RunOutcome, String> {
    let mut options = StreamOptions::default();
    (options.window_bytes, options.keeping) = (window, keeping);
    let streamed = Streamed::open(path).map_err(text)?.ok_or("no .swg file")?;
    streamed.run(request, options).map_err(text)
}

/// Prints the times of streams of a `.swg` file and of a bare upload of pinned memory.
pub(crate) fn measure(path: &str) -> Result<(), String> {
    let rate = Meter::open(0).map_err(text)?.upload_bytes_per_s();
    let rate = rate.map_err(text)?;
    println!("bare upload of pinned memory: {:.1} GB/s", rate / 1e9);
    for (kind, keeping) in KINDS
        .iter()
        .flat_map(|kind| [(*kind, Keeping::Never), (*kind, Keeping::Always)])
    {
        let mut request = request(kind);
        if kind == AnalysisKind::Pagerank {
            request.max_iterations = NonZeroU32::new(10);
        }
        let outcome = match streamed(path.as_ref(), &request, None, keeping) {
            Ok(outcome) => outcome,
            Err(problem) => {
                println!("{kind}: {problem}");
                continue;
            }
        };
        let report = outcome.stream.as_ref().ok_or("no report")?;
        // The first pass waits for a file that is not in the page cache.
        let later = report.pass_list.iter().skip(1);
        let (bytes, ns) = later.fold((0, 0), |(bytes, ns), pass| {
            let bytes = bytes + pass.read_bytes + pass.kept_bytes;
            (bytes, ns + pass.duration_ns)
        });
        let speed = bytes as f64 / (ns.max(1) as f64 / 1e9);
        println!(
            "{kind}, {keeping:?} kept: {:.1} ms, {} passes, {:.2} GB read, {:.2} GB in memory, first pass {:.1} ms, later passes {:.1} GB/s, {:.0} % of the upload, by {}, checksum {}",
            outcome.times.run as f64 / 1e6,
            report.passes,
            report.streamed_bytes as f64 / 1e9,
            report.kept_bytes as f64 / 1e9,
            report.pass_list.first().map_or(0, |pass| pass.duration_ns) as f64 / 1e6,
            speed / 1e9,
            100.0 * speed / rate,
            report.reader,
            outcome.values.checksum(),
        );
    }
    Ok(())
}
