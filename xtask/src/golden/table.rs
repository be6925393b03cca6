//! The table as text: one line per kernel and machine, columns by white space.

use std::fmt::Write as _;

use crate::error::Error;
use crate::ptx::measure::Counts;
use crate::ptx::ptxas::Assembled;

const HEAD: &str = "\
# What each kernel costs, written by `cargo xtask golden --bless`.
# Counted in the PTX: instructions, virtual registers (32-bit words), bytes of local
# and of static shared memory, calls that were not inlined, panic sites left as traps.
# Of ptxas: registers a lane, bytes of stack, bytes of spilling stores and loads (of a
# function in several kernels the dearest copy), bytes of shared memory and of code of
# a whole kernel. Of nvdisasm: spilling instructions within hot loops (innermost
# ones that access memory of the device and call nothing).
# KERNEL@LANES: the kernel compiled for such blocks, spills of its functions added up.
# May grow: instructions and virtual registers by a tenth plus 16, ptxas registers
# by 4, code by a tenth plus 1024. May not grow at all: everything else.
";
const PTXAS: &str = "# ptxas: ";
const COLUMNS: [&str; 15] = [
    "machine", "instr", "virtual", "local", "shared", "calls", "traps", "regs", "stack", "stores",
    "loads", "in-loop", "smem", "code", "kernel",
];

/// Columns in front of the kernel's name.
const FIGURES: usize = COLUMNS.len() - 1;

/// All rows, and the assembler that the columns after the traps came from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) ptxas: Option<String>,
    pub(crate) rows: Vec<Row>,
}

/// One kernel on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) machine: String,
    pub(crate) kernel: String,
    pub(crate) counts: Counts,
    pub(crate) assembled: Option<Assembled>,
}

impl Table {
    pub(crate) fn to_text(&self) -> String {
        let release = self.ptxas.as_deref().unwrap_or("none");
        let mut text = format!("{HEAD}{PTXAS}{release}\n");
        write_line(&mut text, &COLUMNS.map(str::to_owned));
        for row in &self.rows {
            write_line(&mut text, &row.columns());
        }
        text
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let release = text.lines().find_map(|line| line.strip_prefix(PTXAS));
        let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        let rows: Result<Vec<Row>, Error> = lines
            .map(|line| {
                Row::parse(line).ok_or_else(|| {
                    Error::output(
                        "host/ptx/golden.txt",
                        format!("line `{line}` has not the columns {}", COLUMNS.join(" ")),
                    )
                })
            })
            .collect();
        Ok(Self {
            ptxas: release.filter(|name| *name != "none").map(str::to_owned),
            rows: rows?,
        })
    }
}

impl Row {
    fn columns(&self) -> [String; COLUMNS.len()] {
        let Counts {
            instructions,
            registers,
            local_bytes,
            shared_bytes,
            calls,
            traps,
        } = self.counts;
        let of_ptxas = |read: fn(&Assembled) -> Option<u32>| {
            let value = self.assembled.as_ref().and_then(read);
            value.map_or_else(|| "-".to_owned(), |value| value.to_string())
        };
        [
            self.machine.clone(),
            instructions.to_string(),
            registers.to_string(),
            local_bytes.to_string(),
            shared_bytes.to_string(),
            calls.to_string(),
            traps.to_string(),
            of_ptxas(|it| it.registers),
            of_ptxas(|it| Some(it.stack_bytes)),
            of_ptxas(|it| Some(it.spill_stores)),
            of_ptxas(|it| Some(it.spill_loads)),
            of_ptxas(|it| it.loop_spills),
            of_ptxas(|it| it.shared_bytes),
            of_ptxas(|it| it.code_bytes),
            self.kernel.clone(),
        ]
    }

    fn parse(line: &str) -> Option<Self> {
        let mut columns = line.split_whitespace();
        let machine = columns.next()?.to_owned();
        let mut number = || columns.next()?.parse().ok();
        let counts = Counts {
            instructions: number()?,
            registers: number()?,
            local_bytes: number()?,
            shared_bytes: number()?,
            calls: number()?,
            traps: number()?,
        };
        let mut figures = [None; 7];
        for figure in &mut figures {
            *figure = optional(columns.next()?)?;
        }
        Some(Self {
            machine,
            kernel: columns.next()?.to_owned(),
            counts,
            assembled: assembled(figures),
        })
    }
}

/// Outer `None`: not the table's form. Inner `None`: a dash.
fn optional(text: &str) -> Option<Option<u32>> {
    if text == "-" {
        return Some(None);
    }
    text.parse().ok().map(Some)
}

/// The assembler's figures; `None` if it did not report the function.
fn assembled(figures: [Option<u32>; 7]) -> Option<Assembled> {
    let [
        registers,
        stack,
        stores,
        loads,
        loop_spills,
        shared_bytes,
        code_bytes,
    ] = figures;
    Some(Assembled {
        registers,
        stack_bytes: stack?,
        spill_stores: stores?,
        spill_loads: loads?,
        loop_spills,
        shared_bytes,
        code_bytes,
    })
}

fn write_line(text: &mut String, columns: &[String; COLUMNS.len()]) {
    for column in &columns[..FIGURES] {
        let _ = write!(text, "{column:>8}");
    }
    let _ = writeln!(text, "  {}", columns[FIGURES]);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row whose columns all differ.
    pub(crate) fn row() -> Row {
        Row {
            machine: "sm_90".to_owned(),
            kernel: "walk".to_owned(),
            counts: Counts {
                instructions: 100,
                registers: 50,
                local_bytes: 8,
                shared_bytes: 16,
                calls: 1,
                traps: 2,
            },
            assembled: Some(Assembled {
                registers: Some(40),
                stack_bytes: 24,
                spill_stores: 12,
                spill_loads: 20,
                loop_spills: Some(3),
                shared_bytes: Some(64),
                code_bytes: Some(1091),
            }),
        }
    }

    #[test]
    fn a_table_survives_its_text() {
        let mut bare = row();
        bare.assembled = None;
        let mut called = row();
        called.assembled = called.assembled.map(|it| Assembled {
            registers: None,
            code_bytes: None,
            ..it
        });
        let table = Table {
            ptxas: Some("12.9".to_owned()),
            rows: vec![row(), bare, called],
        };
        assert_eq!(Table::parse(&table.to_text()).unwrap(), table);
    }

    #[test]
    fn a_broken_line_is_shown() {
        let error = Table::parse("head\nsm_90 1 2\n").unwrap_err();
        assert!(error.to_string().contains("sm_90 1 2"));
    }
}
