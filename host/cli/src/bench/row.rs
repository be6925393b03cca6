//! One comparison: ours, the baseline, and the floor.

use super::section::Section;
use serde::Serialize;

/// Clock of both times of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Between two events on the device.
    Device,
    /// The host's, from the call to its return.
    Wall,
}

/// Unit of the times of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
}

impl Unit {
    /// Formats a time in this unit, with its name.
    #[must_use]
    pub fn text(self, ns: f64) -> String {
        let name = match self {
            Self::Nanoseconds => "ns",
            Self::Milliseconds => "ms",
        };
        format!("{} {name}", self.number(ns))
    }

    /// Formats a time in this unit, without its name.
    fn number(self, ns: f64) -> String {
        match self {
            Self::Nanoseconds => format!("{ns:.0}"),
            Self::Milliseconds if ns < 1e7 => format!("{:.3}", ns / 1e6),
            Self::Milliseconds => format!("{:.1}", ns / 1e6),
        }
    }
}

/// The median of repeated measurements, with the least and the greatest, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timing {
    /// The median.
    pub median: f64,
    /// The least and the greatest; `None` if there was one measurement.
    pub range: Option<[f64; 2]>,
}

impl Timing {
    /// Returns the spread of `values`, which it sorts; 0 if there are none.
    #[must_use]
    pub fn of(values: &mut [f64]) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let range = match *values {
            [least, .., greatest] => Some([least, greatest]),
            _ => None,
        };
        let median = values.get(values.len() / 2).copied().unwrap_or(0.0);
        Self { median, range }
    }

    /// Returns the median of several medians, with the least and the greatest of all.
    #[must_use]
    pub fn over(parts: &[Self]) -> Self {
        let mut medians: Vec<f64> = parts.iter().map(|part| part.median).collect();
        let ends = |part: &Self| part.range.unwrap_or([part.median; 2]);
        let join = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a.min(c), b.max(d)];
        let joined = parts.iter().map(ends).reduce(join);
        Self {
            range: joined.filter(|[least, greatest]| least < greatest),
            ..Self::of(&mut medians)
        }
    }

    /// Returns the spread of one part of `parts` equal ones.
    #[must_use]
    pub fn share(self, parts: f64) -> Self {
        Self {
            median: self.median / parts,
            range: self.range.map(|range| range.map(|end| end / parts)),
        }
    }
}

impl From<f64> for Timing {
    fn from(median: f64) -> Self {
        Self {
            median,
            range: None,
        }
    }
}

/// A time and its subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The subject.
    pub name: String,
    /// Median time, nanoseconds.
    pub ns: f64,
    /// The least and the greatest of the times of the median, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_ns: Option<[f64; 2]>,
}

impl Figure {
    /// A figure.
    #[must_use]
    pub fn new(name: impl Into<String>, time: impl Into<Timing>) -> Self {
        let Timing { median, range } = time.into();
        Self {
            name: name.into(),
            ns: median,
            range_ns: range,
        }
    }

    /// Formats the time with its range and its subject.
    #[must_use]
    pub fn text(&self, unit: Unit) -> String {
        let Self { name, ns, range_ns } = self;
        match range_ns {
            Some([least, greatest]) => format!(
                "{} ({} – {}) {name}",
                unit.text(*ns),
                unit.number(*least),
                unit.number(*greatest)
            ),
            None => format!("{} {name}", unit.text(*ns)),
        }
    }
}

/// The baseline of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Baseline {
    /// Measured in the same run, by the same clock.
    Measured(Figure),
    /// Could not be measured here.
    Missing {
        /// The subject.
        name: String,
        /// The reason.
        why: String,
    },
}

impl Baseline {
    /// A time, or the reason why there is none.
    pub(super) fn of(name: &str, ns: Result<f64, String>) -> Self {
        match ns {
            Ok(ns) => Self::Measured(Figure::new(name, ns)),
            Err(why) => Self::Missing {
                name: name.to_owned(),
                why,
            },
        }
    }
}

/// The goal of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Floor {
    /// At most this time, nanoseconds.
    Ns(f64),
    /// At most this share of the baseline.
    Ratio(f64),
}

/// Amount of work that a time is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Amount {
    /// Directed edges of the result.
    Edges(u64),
    /// Bytes that are read.
    Bytes(u64),
    /// Nodes and edges, of each round that a limit is for.
    #[serde(rename = "nodes_and_edges")]
    NodesAndEdges(u64),
}

impl Amount {
    /// Formats the amount per second, in millions, or the time of a node and of an edge.
    #[must_use]
    pub fn rate(self, ns: f64) -> String {
        let (count, name) = match self {
            Self::Edges(count) => (count, "M edges/s"),
            Self::Bytes(count) => (count, "MB/s"),
            Self::NodesAndEdges(count) => {
                return format!("{:.1} ns a node and edge", ns / count.max(1) as f64);
            }
        };
        format!("{:.0} {name}", count as f64 * 1e3 / ns)
    }
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Section of the benchmark.
    pub section: Section,
    /// Subject of the comparison.
    pub what: String,
    /// Clock of both times.
    pub clock: Clock,
    /// Unit of the table.
    pub unit: Unit,
    /// Time of Seawall.
    pub ours: Figure,
    /// Time of the baseline.
    pub baseline: Baseline,
    /// Time of the strongest special program, recorded elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Figure>,
    /// Work of one run, where a rate says more than a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<Amount>,
    /// Our time over the baseline's.
    pub ratio: Option<f64>,
    /// The goal, on the machine that floors are stated for.
    pub floor: Option<Floor>,
    /// Whether the goal is met; `None` without a floor, or if its ratio is missing.
    pub met: Option<bool>,
}

impl Row {
    /// Compares `ours` with `baseline` by one clock.
    #[must_use]
    pub fn new(what: impl Into<String>, clock: Clock, ours: Figure, baseline: Baseline) -> Self {
        let ratio = match &baseline {
            Baseline::Measured(other) if other.ns > 0.0 => Some(ours.ns / other.ns),
            _ => None,
        };
        Self {
            section: Section::Barrier,
            what: what.into(),
            clock,
            unit: Unit::Nanoseconds,
            ours,
            baseline,
            recorded: None,
            amount: None,
            ratio,
            floor: None,
            met: None,
        }
    }

    /// Sets the unit.
    #[must_use]
    pub fn shown_in(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// Sets the amount of work.
    #[must_use]
    pub fn of(mut self, amount: Amount) -> Self {
        self.amount = Some(amount);
        self
    }

    /// Sets the floor, if there is one.
    #[must_use]
    pub fn with_floor(mut self, floor: Option<Floor>) -> Self {
        self.floor = floor;
        self.met = match floor {
            Some(Floor::Ns(most)) => Some(self.ours.ns <= most),
            Some(Floor::Ratio(most)) => self.ratio.map(|ratio| ratio <= most),
            None => None,
        };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(baseline: Baseline) -> Row {
        Row::new("x", Clock::Device, Figure::new("ours", 80.0), baseline)
    }

    #[test]
    fn a_ratio_is_ours_over_the_other_and_decides_on_its_floor() {
        let other = Baseline::Measured(Figure::new("other", 100.0));
        let row = row(other).with_floor(Some(Floor::Ratio(0.79)));
        assert_eq!((row.ratio, row.met), (Some(0.8), Some(false)));
        assert_eq!(row.with_floor(Some(Floor::Ns(80.0))).met, Some(true));
    }

    #[test]
    fn a_spread_has_median_and_ends() {
        let spread = Timing::of(&mut [9e6, 1e6, 5e6]);
        assert_eq!((spread.median, spread.range), (5e6, Some([1e6, 9e6])));
        assert_eq!(Timing::of(&mut []), Timing::default());
        assert_eq!(Timing::of(&mut [2.0]), Timing::from(2.0));

        let over = Timing::over(&[spread, Timing::from(10e6), Timing::from(2e6)]);
        assert_eq!((over.median, over.range), (5e6, Some([1e6, 10e6])));
        assert_eq!(Timing::over(&[Timing::from(2.0)]), Timing::from(2.0));

        let text = Figure::new("ours", over.share(2.0)).text(Unit::Milliseconds);
        assert_eq!(text, "2.500 ms (0.500 – 5.000) ours");
    }

    #[test]
    fn a_rate_is_the_amount_per_second_in_millions() {
        assert_eq!(Amount::Edges(31_400_000).rate(1e9), "31 M edges/s");
        assert_eq!(Amount::Bytes(1_000_000_000).rate(5e8), "2000 MB/s");
        let size = Amount::NodesAndEdges(480_000);
        assert_eq!(size.rate(48e6), "100.0 ns a node and edge");
    }

    #[test]
    fn a_missing_baseline_has_no_ratio_and_meets_no_ratio() {
        let missing = Baseline::Missing {
            name: "other".to_owned(),
            why: "no nvcc".to_owned(),
        };
        let row = row(missing).with_floor(Some(Floor::Ratio(2.0)));
        assert_eq!((row.ratio, row.met), (None, None));
    }
}
