//! Runs whose edges stream from a `.swg` file: conditions and methods of reading.

use clap::{Args, ValueEnum};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Instant;

use super::RunArgs;
use crate::CliError;
use crate::numbers::size;
use crate::progress::ProgressLine;
use crate::sources::Sources;
use seawall::graph::disk::SwgFile;
use seawall::graph::{Format, Graph, WeightChoice};
use seawall::outcome::RunOutcome;
use seawall::run::RunError;
use seawall::stream::{
    Caching, Keeping, ReaderChoice, StreamOptions, Streamed, check_streams, least_resident,
    reason_after_load, reason_after_run, reason_to_stream,
};
use seawall::units::elapsed_ns;

#[derive(Debug, Args)]
#[command(next_help_heading = "Streaming from a .swg file")]
pub(super) struct StreamArgs {
    /// Whether the edges of a .swg file stay there and stream through a few buffers, with bfs,
    /// reach, cc, sssp and pagerank on cpu and mega; auto streams what does not fit the budget.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_short_help = true
    )]
    stream: When,
    /// Bytes of the windows in which edges stream, such as 1MiB [default: what the budget leaves,
    /// at most 4MiB].
    #[arg(long, value_name = "SIZE", value_parser = size, hide_short_help = true)]
    stream_window: Option<u64>,
    /// Reader of streamed edges.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "NAME",
        hide_short_help = true
    )]
    stream_reader: ReaderChoice,
    /// Whether streamed edges are read around the page cache.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        hide_short_help = true
    )]
    stream_caching: Caching,
    /// Whether windows stay in memory once they were read, so that later passes find them there;
    /// auto keeps those of graphs with more than 2^32 edges, if all fit.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_short_help = true
    )]
    stream_keep: Keeping,
}

/// Condition under which edges stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum When {
    /// If the resident graph exceeds the budget or the memory.
    #[default]
    Auto,
    /// Always, or the command fails.
    Always,
    /// Never.
    Never,
}

pub(super) struct Streaming {
    file: SwgFile,
    /// Reason, if it was not requested.
    pub(super) reason: Option<String>,
}

impl StreamArgs {
    /// Refuses options by which edges are to stream in any case, for `what`, which takes graphs as
    /// a whole.
    pub(super) fn check_whole(&self, what: &'static str) -> Result<(), CliError> {
        let option = match (self.stream, self.stream_keep) {
            (When::Always, _) => "--stream always",
            (_, Keeping::Always) => "--stream-keep always",
            _ => return Ok(()),
        };
        Err(CliError::NeverStreams { option, what })
    }

    fn options(&self, weights: WeightChoice) -> StreamOptions {
        let mut options = StreamOptions::default();
        options.window_bytes = self.stream_window;
        options.reader = self.stream_reader;
        options.caching = self.stream_caching;
        options.keeping = self.stream_keep;
        options.unit_weights = weights == WeightChoice::Unit;
        options
    }
}

/// The bytes that a run needs which was refused for its budget.
fn needed(failed: &CliError) -> Option<u64> {
    match failed {
        CliError::Run(
            RunError::OverBudget { needed_bytes, .. }
            | RunError::StreamOverBudget { needed_bytes, .. },
        ) => Some(*needed_bytes),
        _ => None,
    }
}

/// Of two refusals, of streamed edges and of the resident graph, the one that names the lesser budget.
pub(super) fn lesser(streamed: CliError, resident: CliError) -> CliError {
    match (needed(&streamed), needed(&resident)) {
        (Some(most), Some(least)) if least < most => resident,
        _ => streamed,
    }
}

impl RunArgs {
    /// Returns the run on the edges of `name` if they must stream or were requested to.
    pub(super) fn streaming(&self, name: &OsStr) -> Result<Option<Streaming>, CliError> {
        let reason = |file: &SwgFile| reason_to_stream(file, &self.request(Vec::new()));
        Ok(match self.stream.stream {
            When::Never => None,
            When::Always => {
                check_streams(&self.request(Vec::new()))?;
                let file = self.streamed_file(name)?.ok_or_else(|| self.cannot(name))?;
                let reason = None;
                Some(Streaming { file, reason })
            }
            When::Auto => self.streamed_file(name)?.and_then(|file| {
                let reason = Some(reason(&file)?);
                Some(Streaming { file, reason })
            }),
        })
    }

    /// Bytes of the resident graph's arrays.
    pub(super) fn least_resident(&self, streaming: &Streaming) -> u64 {
        least_resident(&streaming.file, &self.request(Vec::new()))
    }

    /// Returns the run on streamed edges after the resident graph was refused as too large.
    pub(super) fn streaming_instead(
        &self,
        name: &OsStr,
        failed: &CliError,
    ) -> Result<Option<Streaming>, CliError> {
        let reason = match failed {
            CliError::Run(error) => reason_after_run(error),
            CliError::Graph(error) => reason_after_load(error),
            _ => None,
        };
        if reason.is_none()
            || self.stream.stream == When::Never
            || check_streams(&self.request(Vec::new())).is_err()
        {
            return Ok(None);
        }
        let file = self.streamed_file(name)?;
        Ok(file.map(|file| Streaming { file, reason }))
    }

    /// Whether the resident graph may run with less than a streamed run that failed for its budget,
    /// where edges stream only if they have to. `least` has the bytes of its arrays.
    pub(super) fn may_be_resident(&self, failed: &CliError, least: u64) -> bool {
        self.stream.stream == When::Auto && needed(failed).is_some_and(|needed| least < needed)
    }

    /// Opens the graph if it is a plain `.swg` file whose edges are taken as they are.
    pub(super) fn streamed_file(&self, name: &OsStr) -> Result<Option<SwgFile>, CliError> {
        let is_other = self.reading.is_other_than(Format::Binary);
        let weights = self.weights.choice_for(&self.request(Vec::new()));
        if is_other || matches!(weights, WeightChoice::Scaled(_)) {
            return Ok(None);
        }
        let file = SwgFile::open(Path::new(name))?;
        Ok(file.filter(|file| !self.undirected || file.is_symmetric()))
    }

    /// The error for edges that cannot stream as requested.
    fn cannot(&self, name: &OsStr) -> CliError {
        let name = name.to_string_lossy();
        let what = match (
            self.undirected,
            self.weights.choice_for(&self.request(Vec::new())),
        ) {
            (_, WeightChoice::Scaled(_)) => {
                format!("weights of {name} would be scaled; convert it with --scale-weights")
            }
            (true, _) => format!(
                "{name} is no .swg file with all edges in both directions; convert it with --undirected"
            ),
            _ => format!("{name} is no uncompressed .swg file; convert it"),
        };
        let analysis = self.analysis();
        RunError::CannotStream { analysis, what }.into()
    }

    /// Runs on streamed edges; returns the outcome and the nodes with their ids.
    pub(super) fn run_streamed(
        &self,
        streaming: Streaming,
        name: &OsStr,
        sources: &Sources,
        line: &ProgressLine,
    ) -> Result<(RunOutcome, Graph), CliError> {
        let name = &*name.to_string_lossy();
        line.say(format!("reading the nodes of {name}"));
        let started = Instant::now();
        let may_reach_more = streaming.file.edges() > 0 && !streaming.file.is_symmetric();
        let streamed = Streamed::of(streaming.file)?;
        let load_ns = elapsed_ns(started);
        let request = self.request_on(streamed.nodes(), name, sources)?;
        let mut options = self.stream.options(self.weights.choice());
        options.undirected = self.undirected;
        let mut outcome =
            streamed.run_with_progress(&request, options, &mut |phase| line.phase(phase))?;
        outcome.times.load = load_ns;
        outcome.taken.undirected_reaches_more = may_reach_more && outcome.reached_little();
        outcome.backend_reason = match (streaming.reason, outcome.backend_reason) {
            (Some(streams), Some(backend)) => Some(format!("{streams}; {backend}")),
            (streams, backend) => streams.or(backend),
        };
        Ok((outcome, streamed.into_nodes()))
    }
}
