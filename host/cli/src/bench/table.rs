//! The report as a table for people and as JSON for scripts.

use super::BenchReport;
use super::row::{Baseline, Clock, Floor, Row};
use std::io::{self, Write};

/// Headings of the columns.
const HEAD: [&str; 7] = [
    "what",
    "ours",
    "beside it",
    "ratio",
    "floor",
    "recorded elsewhere",
    "clock",
];

/// Writes one JSON object and a line end. Times are nanoseconds.
///
/// # Errors
/// If `out` fails.
pub fn write_json(report: &BenchReport, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, report)?;
    writeln!(out)
}

/// Writes a table for each section, then the missing rows and the wrong results.
///
/// # Errors
/// If `out` fails.
pub fn write_text(report: &BenchReport, out: &mut dyn Write) -> io::Result<()> {
    let device = report.device.as_deref().unwrap_or("no GPU");
    let driver = match &report.driver {
        Some(driver) => format!(", CUDA {driver}"),
        None => String::new(),
    };
    let quick = if report.quick {
        "; quick: small graphs, one run, no measurement to quote"
    } else {
        ""
    };
    writeln!(
        out,
        "seawall {} on {device}{driver}, {} CPU threads{quick}",
        report.version, report.threads
    )?;
    for rows in report.rows.chunk_by(|a, b| a.section == b.section) {
        section(rows, out)?;
    }
    if !report.notes.is_empty() {
        writeln!(out)?;
    }
    for note in &report.notes {
        writeln!(out, "note: {note}")?;
    }
    match report.wrong.as_slice() {
        [] => writeln!(out, "\nEvery result that was compared agrees."),
        wrong => {
            writeln!(out)?;
            wrong
                .iter()
                .try_for_each(|text| writeln!(out, "DIFFERS: {text}"))
        }
    }
}

fn section(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = rows.first() else {
        return Ok(());
    };
    writeln!(out, "\n{}", first.section.title())?;
    let mut lines = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: [usize; 7] = std::array::from_fn(width);
    for line in &lines {
        let mut text = String::from(" ");
        for (cell, width) in line.iter().zip(widths) {
            text.push_str(&format!(" {cell:<width$} "));
        }
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

fn cells(row: &Row) -> [String; 7] {
    let beside = match &row.baseline {
        Baseline::Measured(other) => other.text(row.unit),
        Baseline::Missing { name, why } => format!("{name}: {why}"),
    };
    let floor = row.floor.map_or_else(String::new, |floor| {
        let most = match floor {
            Floor::Ns(ns) => row.unit.text(ns),
            Floor::Ratio(ratio) => format!("{ratio:.2}"),
        };
        let verdict = match row.met {
            Some(true) => ", met",
            Some(false) => ", MISSED",
            None => "",
        };
        format!("<= {most}{verdict}")
    });
    let clock = match row.clock {
        Clock::Device => "device",
        Clock::Wall => "wall",
    };
    [
        row.what.clone(),
        match row.amount {
            Some(amount) => {
                let rate = amount.rate(row.ours.ns);
                format!("{}, {rate}", row.ours.text(row.unit))
            }
            None => row.ours.text(row.unit),
        },
        beside,
        row.ratio
            .map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}")),
        floor,
        row.recorded
            .as_ref()
            .map_or_else(String::new, |peer| peer.text(row.unit)),
        clock.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Figure, Section, Unit};

    fn report() -> BenchReport {
        let measured = Baseline::Measured(Figure::new("graph", 2e6));
        let missing = Baseline::Missing {
            name: "cooperative groups".to_owned(),
            why: "no nvcc".to_owned(),
        };
        let row = |baseline| Row::new("a chain", Clock::Device, Figure::new("mega", 1e6), baseline);
        let first = row(measured)
            .shown_in(Unit::Milliseconds)
            .with_floor(Some(Floor::Ratio(0.4)));
        BenchReport {
            version: "1.2.3",
            device: None,
            driver: None,
            threads: 4,
            quick: true,
            rows: vec![
                first,
                Row {
                    section: Section::Wide,
                    ..row(missing)
                },
            ],
            notes: vec!["rows of a GPU are left out: none".to_owned()],
            wrong: Vec::new(),
        }
    }

    fn text(report: &BenchReport) -> String {
        let mut bytes = Vec::new();
        write_text(report, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_table_shows_times_ratios_floors_and_missing_rows() {
        let text = text(&report());
        for part in [
            "seawall 1.2.3 on no GPU, 4 CPU threads; quick",
            "1.000 ms mega",
            "2.000 ms graph",
            "0.500",
            "<= 0.40, MISSED",
            "cooperative groups: no nvcc",
            "note: rows of a GPU are left out",
            "Every result that was compared agrees.",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
    }

    #[test]
    fn a_difference_is_reported() {
        let report = BenchReport {
            wrong: vec!["bfs: mega and launches differ".to_owned()],
            ..report()
        };
        let text = text(&report);
        assert!(text.contains("DIFFERS: bfs"), "{text}");
        assert!(!text.contains("agrees"), "{text}");
    }

    #[test]
    fn json_names_clock_unit_and_nanoseconds() {
        let mut bytes = Vec::new();
        write_json(&report(), &mut bytes).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let row = &value["rows"][0];
        assert_eq!(row["clock"], "device");
        assert_eq!(row["unit"], "ms");
        assert_eq!(row["ours"]["ns"], 1e6);
        assert_eq!(row["baseline"]["measured"]["name"], "graph");
        assert_eq!(value["rows"][1]["baseline"]["missing"]["why"], "no nvcc");
    }
}
