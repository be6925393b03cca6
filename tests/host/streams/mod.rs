//! Runs whose edges stream from a file: the columns of resident runs, whatever the windows.

mod alike;
mod hostile;
mod kept;
mod limits;
mod machine;
mod wide;

use seawall::graph::{Graph, save};
use seawall::outcome::RunOutcome;
use seawall::run::{AnalysisKind, Machine, RunError, RunRequest};
use seawall::stream::{Caching, ReaderChoice, StreamOptions, Streamed};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use tempfile::TempDir;

/// The analyses that stream.
const STREAMING: [AnalysisKind; 5] = [
    AnalysisKind::Bfs,
    AnalysisKind::Reach,
    AnalysisKind::Cc,
    AnalysisKind::Sssp,
    AnalysisKind::Pagerank,
];

/// A graph in a separate file.
struct Kept {
    _folder: TempDir,
    path: PathBuf,
}

impl Kept {
    fn of(graph: &Graph) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.swg");
        save(graph, &path, None).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    /// A file with this content.
    fn with(content: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("graph.swg");
        std::fs::write(&path, content).unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    fn open(&self) -> Streamed {
        Streamed::open(&self.path).unwrap().unwrap()
    }

    fn run(&self, request: &RunRequest, options: StreamOptions) -> Result<RunOutcome, RunError> {
        self.open().run(request, options)
    }
}

/// Options with windows of a number of bytes.
fn windows(bytes: u64) -> StreamOptions {
    let mut options = StreamOptions::default();
    options.window_bytes = Some(bytes);
    options
}

fn reading(reader: ReaderChoice, caching: Caching, bytes: u64) -> StreamOptions {
    let mut options = windows(bytes);
    (options.reader, options.caching) = (reader, caching);
    options
}

fn on(kind: AnalysisKind, sources: &[u32], threads: usize) -> RunRequest {
    let machine = Machine::cpu(NonZeroUsize::new(threads));
    let mut request = RunRequest::new(kind, sources.to_vec()).on(machine);
    // Weights of rankings do not stream.
    request.weighted = false;
    request
}
