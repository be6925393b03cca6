//! Latencies of queries: numbers and a picture.

use std::io::{self, Write};

use serde_json::{Value, json};

use seawall::units::{Count, Nanoseconds};
use seawall_report::canvas::{Anchor, Area, Canvas, PictureFormat};

/// Times of all queries, sorted.
#[derive(Debug)]
pub(super) struct Latencies {
    times_ns: Vec<u64>,
    failed: u64,
    run_ns: u64,
}

/// Shares of the queries, in parts of ten thousand, and their names.
const SHARES: [(u64, &str); 4] = [
    (5_000, "p50"),
    (9_000, "p90"),
    (9_900, "p99"),
    (9_990, "p99.9"),
];

impl Latencies {
    pub(super) fn new(mut times_ns: Vec<u64>, failed: u64, run_ns: u64) -> Self {
        times_ns.sort_unstable();
        Self {
            times_ns,
            failed,
            run_ns,
        }
    }

    /// The quantile of the times for a share of the queries; 0 if there were none.
    fn at(&self, share: u64) -> u64 {
        let rank = (self.times_ns.len() as u64 * share).div_ceil(10_000);
        let index = rank.saturating_sub(1) as usize;
        self.times_ns.get(index).copied().unwrap_or(0)
    }

    fn longest(&self) -> u64 {
        self.times_ns.last().copied().unwrap_or(0)
    }

    fn per_second(&self) -> f64 {
        self.times_ns.len() as f64 * 1e9 / self.run_ns.max(1) as f64
    }

    pub(super) fn json(&self) -> Value {
        let shares: serde_json::Map<_, _> = SHARES
            .into_iter()
            .map(|(share, name)| (name.to_owned(), self.at(share).into()))
            .collect();
        json!({
            "queries": self.times_ns.len(), "failed": self.failed, "run_ns": self.run_ns,
            "per_second": self.per_second(), "time_ns": shares, "max_ns": self.longest()
        })
    }

    pub(super) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let queries = Count(self.times_ns.len() as u64);
        let rate = Count(self.per_second() as u64);
        writeln!(
            out,
            "{queries} queries in {}, {rate} a second",
            Nanoseconds(self.run_ns)
        )?;
        if self.failed > 0 {
            writeln!(out, "{} failed", Count(self.failed))?;
        }
        for (share, name) in SHARES {
            writeln!(out, "{name:<6}{}", Nanoseconds(self.at(share)))?;
        }
        writeln!(out, "{:<6}{}", "max", Nanoseconds(self.longest()))
    }

    /// Queries by time, from each power of two to the next.
    fn bars(&self) -> Vec<(u32, u64)> {
        let power = |time: &u64| time.max(&1).ilog2();
        let chunks = self
            .times_ns
            .chunk_by(|one, other| power(one) == power(other));
        chunks
            .map(|chunk| (power(&chunk[0]), chunk.len() as u64))
            .collect()
    }
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 360.0;
const FLOOR: f64 = 310.0;
const TOP: f64 = 60.0;
const LEFT: f64 = 40.0;

/// Draws the distribution of the times.
pub(super) fn plot(
    latencies: &Latencies,
    format: PictureFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut canvas = Canvas::begin(out, format, (WIDTH, HEIGHT))?;
    let title = format!(
        "Answers by time: p50 {}, p99 {}, p99.9 {}",
        Nanoseconds(latencies.at(5_000)),
        Nanoseconds(latencies.at(9_900)),
        Nanoseconds(latencies.at(9_990))
    );
    canvas.text("title", (LEFT, 28.0), Anchor::Start, &title)?;
    canvas.line("axis", (LEFT, FLOOR), (WIDTH - 20.0, FLOOR))?;
    let bars = latencies.bars();
    let first = bars.first().map_or(0, |bar| bar.0);
    let last = bars.last().map_or(0, |bar| bar.0);
    let pitch = (WIDTH - LEFT - 20.0) / f64::from(last - first + 1);
    let highest = bars.iter().map(|bar| bar.1).max().unwrap_or(1);
    for (power, queries) in bars {
        let height = ((FLOOR - TOP) * queries as f64 / highest as f64).max(1.0);
        let x = LEFT + pitch * f64::from(power - first);
        let from = Nanoseconds(1 << power);
        let area = Area {
            x: x + 1.0,
            y: FLOOR - height,
            width: (pitch - 2.0).max(1.0),
            height,
        };
        canvas.area("bar", area, &format!("{} from {from} on", Count(queries)))?;
        canvas.label(
            "faint",
            (x, FLOOR + 18.0),
            pitch,
            Anchor::Start,
            &from.to_string(),
        )?;
    }
    canvas.text(
        "faint",
        (WIDTH / 2.0, HEIGHT - 8.0),
        Anchor::Middle,
        "time of an answer, by powers of two",
    )?;
    canvas.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_sorted_times() {
        let latencies = Latencies::new((1..=1000).rev().collect(), 0, 1);
        let at = SHARES.map(|(share, _)| latencies.at(share));
        assert_eq!((at, latencies.longest()), ([500, 900, 990, 999], 1000));
        assert_eq!(Latencies::new(Vec::new(), 0, 0).at(5_000), 0);
    }
}
