//! `cargo xtask golden`: what each kernel costs, against a committed table.
//!
//! The table is `host/ptx/golden.txt`. It is taken from the committed PTX, so it
//! needs no compiler. The assembler's columns hold `-` where it was written
//! without `ptxas` or with a release that no longer knows the machine, and are
//! compared only by a machine that has the release which the table names.

mod compare;
mod table;

use std::path::PathBuf;

use clap::Args;

use crate::error::Error;
use crate::golden::compare::compare;
use crate::golden::table::{Row, Table};
use crate::ptx::measure::measure;
use crate::ptx::ptxas::Ptxas;
use crate::ptx::targets::{TARGETS, Target};
use crate::workspace;

/// Options of `golden`; without one, the table is printed.
#[derive(Args)]
pub(crate) struct Options {
    /// Fail where a kernel became costlier than the committed table allows.
    #[arg(long, conflicts_with = "bless")]
    check: bool,
    /// Write the table anew.
    #[arg(long)]
    bless: bool,
    /// The assembler to ask [default: $PTXAS, the search path, /usr/local/cuda].
    #[arg(long, value_name = "FILE")]
    ptxas: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let ptxas = Ptxas::find(options.ptxas.as_deref());
    match &ptxas {
        Some(found) => println!("ptxas: release {}", found.release),
        None => println!("ptxas: not found, its columns are left out"),
    }
    let current = current(ptxas.as_ref())?;
    let path = workspace::root().join("host/ptx/golden.txt");
    if options.bless {
        println!("wrote host/ptx/golden.txt");
        return workspace::write(&path, &current.to_text());
    }
    if !options.check {
        print!("{}", current.to_text());
        return Ok(());
    }
    let golden = Table::parse(&workspace::read(&path)?)?;
    let difference = compare(&golden, &current);
    for gain in &difference.gains {
        println!("gain: {gain}");
    }
    if difference.losses.is_empty() {
        println!("{} kernels within their bounds", current.rows.len());
        return Ok(());
    }
    Err(Error::Refused {
        what: "kernels cost more than host/ptx/golden.txt allows",
        findings: difference.losses,
        remedy: "make them cheaper, or state why and run `cargo xtask golden --bless`",
    })
}

fn current(ptxas: Option<&Ptxas>) -> Result<Table, Error> {
    let mut table = Table {
        ptxas: ptxas.map(|ptxas| ptxas.release.clone()),
        rows: Vec::new(),
    };
    for target in TARGETS {
        table.rows.extend(rows(target, ptxas)?);
    }
    Ok(table)
}

fn rows(target: &Target, ptxas: Option<&Ptxas>) -> Result<Vec<Row>, Error> {
    let path = target.path();
    let counts = measure(&workspace::read(&path)?);
    let assembled = match ptxas {
        Some(ptxas) => ptxas.measure(&path, &target.cpu())?.unwrap_or_default(),
        None => Default::default(),
    };
    let row = |(kernel, counts): (String, _)| Row {
        assembled: assembled.get(&kernel).copied(),
        machine: target.cpu(),
        kernel,
        counts,
    };
    Ok(counts.into_iter().map(row).collect())
}
