//! Comparison with an earlier report: `bench --against FILE`.
//!
//! Rows match if section, subject and the name of our figure are equal. A row is slower if both
//! its median and its least time are: one unlucky run moves the median of five, and one lucky run
//! the least. Times of other devices or of small graphs say nothing about a change, so such
//! reports are refused.

use super::{BenchReport, Row};
use serde::Deserialize;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Share by which a row may be slower than before.
const SLOWER: f64 = 0.05;

/// Largest file, bytes.
const FILE_MAX: u64 = 64 << 20;

/// The report is not comparable.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    /// The file could not be read.
    #[error("--against {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The file is not a report of `bench --json`.
    #[error("--against {}: {problem}; write it by `seawall bench --json`", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// The report is of another setting.
    #[error(
        "--against {}: it is of {theirs}, and this is {ours}; times compare on one setting only",
        path.display()
    )]
    OtherSetting {
        /// The file.
        path: PathBuf,
        /// The setting of the file.
        theirs: String,
        /// The setting of this run.
        ours: String,
    },
}

/// The parts of an earlier report that are compared.
#[derive(Debug, Deserialize)]
pub struct Earlier {
    version: String,
    device: Option<String>,
    threads: usize,
    quick: bool,
    rows: Vec<EarlierRow>,
}

#[derive(Debug, Deserialize)]
struct EarlierRow {
    section: String,
    what: String,
    ours: EarlierFigure,
}

#[derive(Debug, Deserialize)]
struct EarlierFigure {
    name: String,
    ns: f64,
    range_ns: Option<[f64; 2]>,
}

/// A row that is in both reports.
struct Pair<'r> {
    row: &'r Row,
    before_ns: f64,
    /// Our least time over the earlier one, where both are known.
    least_ratio: Option<f64>,
}

impl Pair<'_> {
    fn has_slower_median(&self) -> bool {
        self.row.ours.ns > self.before_ns * (1.0 + SLOWER)
    }

    fn is_slower(&self) -> bool {
        self.has_slower_median() && self.least_ratio.is_none_or(|ratio| ratio > 1.0 + SLOWER)
    }

    fn text(&self) -> String {
        let (row, before_ns) = (self.row, self.before_ns);
        format!(
            "SLOWER: {}, {}: {}, {} before, {:.2} times",
            row.what,
            row.ours.name,
            row.unit.text(row.ours.ns),
            row.unit.text(before_ns),
            row.ours.ns / before_ns
        )
    }
}

impl Earlier {
    /// Reads a report that `bench --json` wrote.
    ///
    /// # Errors
    /// [`AgainstError::Io`] and [`AgainstError::Foreign`].
    pub fn read(path: &Path) -> Result<Self, AgainstError> {
        let io = |source| AgainstError::Io {
            path: path.to_owned(),
            source,
        };
        let foreign = |problem| AgainstError::Foreign {
            path: path.to_owned(),
            problem,
        };
        let file = std::fs::File::open(path).map_err(io)?;
        let mut text = Vec::new();
        file.take(FILE_MAX + 1).read_to_end(&mut text).map_err(io)?;
        if text.len() as u64 > FILE_MAX {
            return Err(foreign(format!("it is larger than {FILE_MAX} bytes")));
        }
        serde_json::from_slice(&text).map_err(|error| foreign(error.to_string()))
    }

    /// Compares `report` with this one: adds a note for each row that is slower by more than a
    /// twentieth, and a summary. Returns whether there is no such row.
    ///
    /// # Errors
    /// [`AgainstError::OtherSetting`].
    pub fn judge(&self, report: &mut BenchReport, path: &Path) -> Result<bool, AgainstError> {
        let ours = setting(report.device.as_deref(), report.threads, report.quick);
        let theirs = setting(self.device.as_deref(), self.threads, self.quick);
        if ours != theirs {
            return Err(AgainstError::OtherSetting {
                path: path.to_owned(),
                theirs,
                ours,
            });
        }
        let common = report.rows.iter().filter_map(|row| self.pair(row));
        let common: Vec<Pair<'_>> = common.collect();
        let slower: Vec<String> = common
            .iter()
            .filter(|pair| pair.is_slower())
            .map(Pair::text)
            .collect();
        let unsure = common
            .iter()
            .filter(|pair| pair.has_slower_median() && !pair.is_slower());
        let unsure = unsure.count();
        let summary = format!(
            "against version {}: {} of {} rows are in both, {} slower by more than {:.0} %, \
             {unsure} by the median alone",
            self.version,
            common.len(),
            report.rows.len(),
            slower.len(),
            SLOWER * 100.0
        );
        let passed = slower.is_empty();
        report.notes.extend(slower);
        report.notes.push(summary);
        Ok(passed)
    }

    /// `row` beside the earlier one, if that was measured.
    fn pair<'r>(&self, row: &'r Row) -> Option<Pair<'r>> {
        let section = row.section.name();
        let mut earlier = self.rows.iter().filter(|earlier| {
            (earlier.section.as_str(), &earlier.what, &earlier.ours.name)
                == (section.as_str(), &row.what, &row.ours.name)
        });
        let before = &earlier.next()?.ours;
        let least = row.ours.range_ns.zip(before.range_ns);
        let least = least.filter(|(_, [before, _])| *before > 0.0);
        (before.ns > 0.0).then_some(Pair {
            row,
            before_ns: before.ns,
            least_ratio: least.map(|([ours, _], [before, _])| ours / before),
        })
    }
}

fn setting(device: Option<&str>, threads: usize, quick: bool) -> String {
    let device = device.unwrap_or("no GPU");
    let sizes = if quick { "small" } else { "full" };
    format!("{device}, {threads} CPU threads and {sizes} graphs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Baseline, Clock, Figure, write_json};

    fn report(times: &[f64]) -> BenchReport {
        let row = |(place, ns): (usize, &f64)| {
            let missing = Baseline::Missing {
                name: "none".to_owned(),
                why: "a test".to_owned(),
            };
            let ours = Figure::new("mega", *ns);
            Row::new(format!("row {place}"), Clock::Device, ours, missing)
        };
        BenchReport {
            version: "1",
            device: None,
            driver: None,
            threads: 2,
            quick: false,
            rows: times.iter().enumerate().map(row).collect(),
            notes: Vec::new(),
            wrong: Vec::new(),
        }
    }

    /// `report` as it is read back from its JSON.
    fn earlier(report: &BenchReport) -> Earlier {
        let mut text = Vec::new();
        write_json(report, &mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    #[test]
    fn a_row_slower_by_more_than_a_twentieth_fails() {
        let before = earlier(&report(&[100.0, 100.0, 100.0]));
        let mut now = report(&[104.9, 105.1, 40.0, 7.0]);
        assert!(!before.judge(&mut now, Path::new("f")).unwrap());
        let [slow, summary] = now.notes.as_slice() else {
            panic!("{:?}", now.notes);
        };
        assert!(
            slow.contains("row 1, mega: 105 ns, 100 ns before"),
            "{slow}"
        );
        assert!(
            summary.contains("3 of 4 rows are in both, 1 slower"),
            "{summary}"
        );
        assert!(before.judge(&mut report(&[99.0]), Path::new("f")).unwrap());
    }

    #[test]
    fn a_row_is_slower_by_its_median_and_its_least_time() {
        let with = |median: f64, range: [f64; 2]| {
            let mut one = report(&[median]);
            one.rows[0].ours.range_ns = Some(range);
            one
        };
        let before = earlier(&with(100.0, [90.0, 120.0]));
        let mut unlucky = with(118.0, [91.0, 300.0]);
        assert!(before.judge(&mut unlucky, Path::new("f")).unwrap());
        let note = unlucky.notes.concat();
        assert!(
            note.contains("0 slower by more than 5 %, 1 by the median alone"),
            "{note}"
        );
        let mut slow = with(106.0, [99.0, 110.0]);
        assert!(!before.judge(&mut slow, Path::new("f")).unwrap());
        // Without a range the median decides.
        assert!(!before.judge(&mut report(&[118.0]), Path::new("f")).unwrap());
    }

    #[test]
    fn other_settings_are_refused() {
        let before = earlier(&report(&[1.0]));
        let mut other = report(&[1.0]);
        other.threads = 3;
        let error = before.judge(&mut other, Path::new("f")).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("2 CPU threads") && text.contains("3 CPU threads"),
            "{text}"
        );
    }
}
