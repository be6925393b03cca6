//! Progress line of long work, shown only on a terminal.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::logging;
use seawall::run::Phase;

/// Interval at which the line moves if nothing is reported.
const TICK: Duration = Duration::from_millis(120);

/// Multiple of its forecast after which a run is late.
const LATE: f64 = 10.0;

/// Shortest time after which a run is late.
const LEAST: Duration = Duration::from_secs(1);

/// The progress line of one command; cleared when dropped.
pub(super) struct ProgressLine {
    bar: ProgressBar,
    /// Number of messages so far, by which a waiting thread detects that its own was replaced.
    messages: Arc<AtomicU64>,
}

impl ProgressLine {
    /// Creates a line on standard error if that is a terminal without a log, and `quiet` is false;
    /// otherwise one that draws nothing.
    pub(super) fn new(quiet: bool) -> Self {
        if quiet || logging::is_on() || !std::io::stderr().is_terminal() {
            return Self {
                bar: ProgressBar::hidden(),
                messages: Arc::default(),
            };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // Until a length is known, there is no bar to draw.
        bar.set_style(ProgressStyle::default_spinner());
        Self {
            bar,
            messages: Arc::default(),
        }
    }

    /// Returns whether the line is visible.
    pub(super) fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Warns above the line, with a remedy, if the current step takes ten times the forecast of a
    /// run. A thread waits for that; without one there is no warning.
    pub(super) fn warn_if_late(&self, forecast_ns: f64) {
        let (bar, messages) = (self.bar.clone(), Arc::clone(&self.messages));
        let message = messages.load(Ordering::Relaxed);
        let wait = Duration::try_from_secs_f64(forecast_ns * LATE / 1e9);
        let wait = wait.unwrap_or(Duration::MAX).max(LEAST);
        let waiting = std::thread::Builder::new().spawn(move || {
            std::thread::sleep(wait);
            if messages.load(Ordering::Relaxed) == message {
                bar.println(late_text(forecast_ns));
            }
        });
        drop(waiting);
    }

    /// Shows the current step of the command.
    pub(super) fn say(&self, text: String) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bar.set_style(ProgressStyle::default_spinner());
        self.bar.set_message(text);
        self.move_itself();
    }

    /// Moves the line from time to time from the first step on. A separate thread moves it; it does
    /// not move if the thread cannot be started.
    fn move_itself(&self) {
        let is_first = self.messages.load(Ordering::Relaxed) == 1;
        if is_first && self.is_shown() && std::thread::Builder::new().spawn(|| ()).is_ok() {
            self.bar.enable_steady_tick(TICK);
        }
    }

    /// Shows how many bytes of a file were read. Nothing read is no bar yet.
    pub(super) fn bytes(&self, done: u64, total: Option<u64>) {
        if done == 0 {
            return;
        }
        if let Some(total) = total
            && self.bar.length() != Some(total)
        {
            self.bar.set_length(total);
            self.bar.set_style(bytes_style());
        }
        self.bar.set_position(done);
    }

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

/// The warning about a run with this forecast.
fn late_text(forecast_ns: f64) -> String {
    format!(
        "note: this run takes over ten times its forecast of {:.1} ms. Ctrl-C ends it, --time-budget \
         SECONDS would; --backend and --threads choose another machine, and `seawall info \
         --calibrate` measures this one for later forecasts",
        forecast_ns / 1e6
    )
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }
}

fn bytes_style() -> ProgressStyle {
    ProgressStyle::with_template("{msg} [{bar:32}] {bytes} of {total_bytes}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("#>.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_run_names_its_forecast_and_what_helps() {
        let text = late_text(2_500_000.0);
        for part in ["2.5 ms", "Ctrl-C", "--time-budget", "info --calibrate"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_line_that_nobody_sees_is_not_shown() {
        assert!(!ProgressLine::new(true).is_shown());
    }
}
