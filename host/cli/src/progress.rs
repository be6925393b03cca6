//! Progress line of long work, shown only on a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use seawall::run::Phase;

/// Interval at which the line moves if nothing is reported.
const TICK: Duration = Duration::from_millis(120);

/// The progress line of one command; cleared when dropped.
pub(super) struct ProgressLine {
    bar: ProgressBar,
}

impl ProgressLine {
    /// Creates a line on standard error if that is a terminal and `quiet` is false; otherwise one
    /// that draws nothing.
    pub(super) fn new(quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self {
                bar: ProgressBar::hidden(),
            };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // A separate thread moves the line; it does not move if the thread cannot be started.
        if std::thread::Builder::new().spawn(|| ()).is_ok() {
            bar.enable_steady_tick(TICK);
        }
        Self { bar }
    }

    /// Shows the current step of the command.
    pub(super) fn say(&self, text: String) {
        self.bar.set_style(ProgressStyle::default_spinner());
        self.bar.set_message(text);
    }

    /// Shows how many bytes of a file were read.
    pub(super) fn bytes(&self, done: u64, total: Option<u64>) {
        if let Some(total) = total
            && self.bar.length() != Some(total)
        {
            self.bar.set_length(total);
            self.bar.set_style(bytes_style());
        }
        self.bar.set_position(done);
    }

    /// Shows the phase of a run.
    pub(super) fn phase(&self, phase: Phase) {
        self.say(match phase {
            Phase::Plan => "planning".to_owned(),
            Phase::Upload => "uploading the graph".to_owned(),
            Phase::Run {
                repetition: _,
                of: 0 | 1,
            } => "running".to_owned(),
            Phase::Run { repetition, of } => format!("running, {repetition} of {of}"),
            Phase::Readback => "reading the result".to_owned(),
            Phase::Check => "checking against a sequential implementation".to_owned(),
            _ => "working".to_owned(),
        });
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn bytes_style() -> ProgressStyle {
    ProgressStyle::with_template("{msg} [{bar:32}] {bytes} of {total_bytes}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("#>.")
}
