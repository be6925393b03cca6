//! Counts and prints passed and failed checks.

use std::time::{Duration, Instant};

/// One kind of check on one executor.
#[derive(Debug)]
struct Row {
    check: &'static str,
    executor: &'static str,
    passed: u32,
    failed: u32,
    time: Duration,
}

/// All checks so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    rows: Vec<Row>,
}

/// Failures of one kind that are printed in full.
const PRINTED: u32 = 5;

impl Tally {
    /// Runs and counts one check; prints its failure with the command that repeats it.
    pub(crate) fn check(
        &mut self,
        check: &'static str,
        executor: &'static str,
        repeat: impl std::fmt::Display,
        job: impl FnOnce() -> Result<(), String>,
    ) {
        let start = Instant::now();
        let result = job();
        let row = self.row(check, executor);
        row.time += start.elapsed();
        match result {
            Ok(()) => row.passed += 1,
            Err(problem) => {
                row.failed += 1;
                if row.failed <= PRINTED {
                    println!("FAILED {executor} {check} ({repeat}): {problem}");
                }
            }
        }
    }

    fn row(&mut self, check: &'static str, executor: &'static str) -> &mut Row {
        let is_it = |row: &Row| row.check == check && row.executor == executor;
        let at = self.rows.iter().position(is_it).unwrap_or(self.rows.len());
        if at == self.rows.len() {
            self.rows.push(Row {
                check,
                executor,
                passed: 0,
                failed: 0,
                time: Duration::ZERO,
            });
        }
        &mut self.rows[at]
    }

    /// Number of failed checks.
    pub(crate) fn failed(&self) -> u32 {
        self.rows.iter().map(|row| row.failed).sum()
    }

    /// Prints a table and, last, the sums.
    pub(crate) fn print(&self) {
        println!(
            "{:<10} {:<34} {:>7} {:>7} {:>9}",
            "executor", "check", "passed", "failed", "seconds"
        );
        for row in &self.rows {
            let seconds = row.time.as_secs_f64();
            println!(
                "{:<10} {:<34} {:>7} {:>7} {seconds:>9.2}",
                row.executor, row.check, row.passed, row.failed
            );
        }
        let passed: u32 = self.rows.iter().map(|row| row.passed).sum();
        println!("{passed} passed, {} failed", self.failed());
    }
}
