//! Comparison with an earlier report: `bench --against FILE`.
//!
//! Rows match if section, subject and the name of our figure are equal. Times of other devices or
//! of small graphs say nothing about a change, so such reports are refused.

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
        let common: Vec<(&Row, f64)> = common.collect();
        let slower: Vec<String> = common
            .iter()
            .filter(|(row, before_ns)| row.ours.ns > before_ns * (1.0 + SLOWER))
            .map(|(row, before_ns)| slower(row, *before_ns))
            .collect();
        let summary = format!(
            "against version {}: {} of {} rows are in both, {} slower by more than {:.0} %",
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

    /// `row` with its earlier time, if it was measured.
    fn pair<'r>(&self, row: &'r Row) -> Option<(&'r Row, f64)> {
        let section = row.section.name();
        let mut earlier = self.rows.iter().filter(|earlier| {
            (earlier.section.as_str(), &earlier.what, &earlier.ours.name)
                == (section.as_str(), &row.what, &row.ours.name)
        });
        let before_ns = earlier.next()?.ours.ns;
        (before_ns > 0.0).then_some((row, before_ns))
    }
}

fn setting(device: Option<&str>, threads: usize, quick: bool) -> String {
    let device = device.unwrap_or("no GPU");
    let sizes = if quick { "small" } else { "full" };
    format!("{device}, {threads} CPU threads and {sizes} graphs")
}

fn slower(row: &Row, before_ns: f64) -> String {
    format!(
        "SLOWER: {}, {}: {}, {} before, {:.2} times",
        row.what,
        row.ours.name,
        row.unit.text(row.ours.ns),
        row.unit.text(before_ns),
        row.ours.ns / before_ns
    )
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
