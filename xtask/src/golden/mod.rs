//! `cargo xtask golden`: the cost of each kernel, against a committed table.
//!
//! The table is `host/ptx/golden.txt`. It is made from the committed PTX, so it needs no compiler.
//! The assembler's columns hold `-` if it was written without `ptxas` or with a release that no
//! longer supports the machine, and are only compared with the release that the table names. The
//! column of spills in loops also needs `nvdisasm`.

mod compare;
mod table;

use std::path::PathBuf;

use clap::Args;

use crate::error::{Error, refuse_any};
use crate::golden::compare::compare;
use crate::golden::table::{Row, Table};
use crate::ptx::measure::measure;
use crate::ptx::packed;
use crate::ptx::ptxas::{Assembled, Ptxas, whole};
use crate::ptx::sass::Disassembler;
use crate::ptx::targets::{PERSISTENT, SMALLER_BLOCKS, Target};
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
    /// The disassembler to ask [default: $NVDISASM, the search path, /usr/local/cuda].
    #[arg(long, value_name = "FILE")]
    nvdisasm: Option<PathBuf>,
}

/// The available programs of a CUDA toolkit.
struct Tools {
    ptxas: Option<Ptxas>,
    disassembler: Option<Disassembler>,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let tools = Tools {
        ptxas: Ptxas::find(options.ptxas.as_deref()),
        disassembler: Disassembler::find(options.nvdisasm.as_deref()),
    };
    match &tools.ptxas {
        Some(found) => println!("ptxas: release {}", found.release),
        None => println!("ptxas: not found, its columns are left out"),
    }
    if tools.disassembler.is_none() {
        println!("nvdisasm: not found, spills in loops are left out");
    }
    let current = current(&tools)?;
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
    refuse_any(
        "kernels cost more than host/ptx/golden.txt allows",
        difference.losses,
        "make them cheaper, or state why and run `cargo xtask golden --bless`",
    )?;
    println!("{} kernels within their bounds", current.rows.len());
    Ok(())
}

fn current(tools: &Tools) -> Result<Table, Error> {
    let mut table = Table {
        ptxas: tools.ptxas.as_ref().map(|ptxas| ptxas.release.clone()),
        rows: Vec::new(),
    };
    // The assembler takes one core for each.
    let texts = packed::texts()?;
    let found = std::thread::scope(|scope| {
        let each = texts
            .iter()
            .map(|(target, text)| scope.spawn(|| rows(target, text, tools)));
        let each: Vec<_> = each.collect();
        each.into_iter().map(|one| one.join()).collect::<Vec<_>>()
    });
    for rows in found {
        match rows {
            Ok(rows) => table.rows.extend(rows?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(table)
}

fn rows(target: &Target, text: &str, tools: &Tools) -> Result<Vec<Row>, Error> {
    let counts = measure(text);
    let assembled = match &tools.ptxas {
        Some(ptxas) => {
            let file = text_file(text)?;
            ptxas
                .measure(
                    file.path(),
                    &target.cpu(),
                    None,
                    tools.disassembler.as_ref(),
                )?
                .unwrap_or_default()
        }
        None => Default::default(),
    };
    let mut rows = Vec::new();
    for (kernel, counts) in counts {
        let persistent = PERSISTENT.contains(&kernel.as_str());
        let row = Row {
            assembled: assembled.get(&kernel).copied(),
            machine: target.cpu(),
            kernel,
            counts,
        };
        if persistent {
            rows.extend(smaller(&row, text, tools)?);
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The cost of the kernel of `row`, compiled for smaller blocks.
fn smaller(row: &Row, text: &str, tools: &Tools) -> Result<Vec<Row>, Error> {
    let one = |lanes| {
        Ok(Row {
            kernel: format!("{}@{lanes}", row.kernel),
            assembled: assembled_for(row, text, lanes, tools)?,
            ..row.clone()
        })
    };
    SMALLER_BLOCKS.into_iter().map(one).collect()
}

fn assembled_for(
    row: &Row,
    text: &str,
    lanes: u32,
    tools: &Tools,
) -> Result<Option<Assembled>, Error> {
    let Some(ptxas) = &tools.ptxas else {
        return Ok(None);
    };
    let file = text_file(&text.replace(".maxntid 1024,", &format!(".maxntid {lanes},")))?;
    let disassembler = tools.disassembler.as_ref();
    let found = ptxas.measure(file.path(), &row.machine, Some(&row.kernel), disassembler)?;
    Ok(found.and_then(|found| whole(&row.kernel, &found)))
}

fn text_file(text: &str) -> Result<tempfile::NamedTempFile, Error> {
    let file =
        tempfile::NamedTempFile::new().map_err(Error::file("making", std::env::temp_dir()))?;
    workspace::write(file.path(), text)?;
    Ok(file)
}
