//! One comparison: ours, what stands beside it, and the floor.

use super::section::Section;
use serde::Serialize;

/// Which clock both times of a row are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// Between two events on the device.
    Device,
    /// The host's, from the call to its return.
    Wall,
}

/// How times of a row are shown.
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
    /// A time in this unit, with its name.
    #[must_use]
    pub fn text(self, ns: f64) -> String {
        match self {
            Self::Nanoseconds => format!("{ns:.0} ns"),
            Self::Milliseconds if ns < 1e7 => format!("{:.3} ms", ns / 1e6),
            Self::Milliseconds => format!("{:.1} ms", ns / 1e6),
        }
    }
}

/// A time and what took it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// Median time, nanoseconds.
    pub ns: f64,
}

impl Figure {
    /// A figure.
    #[must_use]
    pub fn new(name: impl Into<String>, ns: f64) -> Self {
        Self {
            name: name.into(),
            ns,
        }
    }
}

/// What stands beside ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Baseline {
    /// It was measured in the same run, by the same clock.
    Measured(Figure),
    /// It could not be measured here.
    Missing {
        /// What would have been.
        name: String,
        /// Why not.
        why: String,
    },
}

/// What a row should reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Floor {
    /// At most this time, nanoseconds.
    Ns(f64),
    /// At most this share of the baseline.
    Ratio(f64),
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Part of the benchmark.
    pub section: Section,
    /// What is compared.
    pub what: String,
    /// Clock of both times.
    pub clock: Clock,
    /// Unit of the table.
    pub unit: Unit,
    /// Seawall's.
    pub ours: Figure,
    /// The other.
    pub baseline: Baseline,
    /// Ours over the other.
    pub ratio: Option<f64>,
    /// What should be reached, on the machine that floors are stated for.
    pub floor: Option<Floor>,
    /// Whether it is; nothing without a floor, or where its ratio is missing.
    pub met: Option<bool>,
}

impl Row {
    /// A comparison of `ours` with `baseline` by one clock.
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
            ratio,
            floor: None,
            met: None,
        }
    }

    /// The same in `unit`.
    #[must_use]
    pub fn shown_in(mut self, unit: Unit) -> Self {
        self.unit = unit;
        self
    }

    /// The same with a floor, if there is one.
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
    fn a_ratio_is_ours_over_the_other_and_decides_about_its_floor() {
        let other = Baseline::Measured(Figure::new("other", 100.0));
        let row = row(other).with_floor(Some(Floor::Ratio(0.79)));
        assert_eq!((row.ratio, row.met), (Some(0.8), Some(false)));
        assert_eq!(row.with_floor(Some(Floor::Ns(80.0))).met, Some(true));
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
