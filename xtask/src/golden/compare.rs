//! Tolerances within which a kernel may become costlier without a decision.
//!
//! Instruction and register counts vary a little with every compiler and edit, so they have a
//! tolerance. Memory spills, calls and panic sites have none. A cheaper kernel never fails.

use crate::golden::table::{Row, Table};

/// The changes, as lines for the user.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) losses: Vec<String>,
    pub(crate) gains: Vec<String>,
}

/// One figure, before and after.
struct Figure {
    name: &'static str,
    golden: u32,
    current: u32,
    space: u32,
}

/// Compares kernel by kernel; a kernel on one side only is a loss, since the table
/// then no longer describes the files.
pub(crate) fn compare(golden: &Table, current: &Table) -> Difference {
    let same_ptxas = golden.ptxas.is_some() && golden.ptxas == current.ptxas;
    let mut difference = Difference::default();
    for row in &current.rows {
        match find(golden, row) {
            Some(before) => difference.row(before, row, same_ptxas),
            None => difference
                .losses
                .push(format!("{}: not in the table", label(row))),
        }
    }
    let gone = golden
        .rows
        .iter()
        .filter(|row| find(current, row).is_none());
    let gone = gone.map(|row| format!("{}: in the table alone", label(row)));
    difference.losses.extend(gone);
    difference
}

fn find<'a>(table: &'a Table, row: &Row) -> Option<&'a Row> {
    let same = |other: &&Row| other.machine == row.machine && other.kernel == row.kernel;
    table.rows.iter().find(same)
}

fn label(row: &Row) -> String {
    format!("{} {}", row.machine, row.kernel)
}

impl Difference {
    fn row(&mut self, golden: &Row, current: &Row, same_ptxas: bool) {
        for figure in counted(golden, current) {
            self.figure(current, &figure);
        }
        if same_ptxas {
            for figure in assembled(golden, current) {
                self.figure(current, &figure);
            }
        }
    }

    fn figure(&mut self, row: &Row, figure: &Figure) {
        let Figure {
            name,
            golden,
            current,
            space,
        } = *figure;
        let line = format!("{}: {name} {golden} -> {current}", label(row));
        if current > golden.saturating_add(space) {
            self.losses
                .push(format!("{line} (at most {})", golden.saturating_add(space)));
        } else if current < golden.saturating_sub(space) {
            self.gains.push(line);
        }
    }
}

fn counted(golden: &Row, current: &Row) -> [Figure; 6] {
    let (before, after) = (golden.counts, current.counts);
    [
        roomy("instructions", before.instructions, after.instructions),
        roomy("virtual registers", before.registers, after.registers),
        exact("local bytes", before.local_bytes, after.local_bytes),
        exact("shared bytes", before.shared_bytes, after.shared_bytes),
        exact("calls", before.calls, after.calls),
        exact("traps", before.traps, after.traps),
    ]
}

/// Figures that both sides have. Spills in loops cost on every iteration, so they are counted
/// separately.
fn assembled(golden: &Row, current: &Row) -> Vec<Figure> {
    let (Some(before), Some(after)) = (golden.assembled, current.assembled) else {
        return Vec::new();
    };
    let mut figures = vec![
        exact("stack bytes", before.stack_bytes, after.stack_bytes),
        exact("spill stores", before.spill_stores, after.spill_stores),
        exact("spill loads", before.spill_loads, after.spill_loads),
    ];
    let optional = [
        (
            "ptxas registers",
            before.registers,
            after.registers,
            Some(4),
        ),
        (
            "spills in loops",
            before.loop_spills,
            after.loop_spills,
            Some(0),
        ),
        (
            "ptxas shared bytes",
            before.shared_bytes,
            after.shared_bytes,
            Some(0),
        ),
        ("code bytes", before.code_bytes, after.code_bytes, None),
    ];
    for (name, before, after, space) in optional {
        if let (Some(golden), Some(current)) = (before, after) {
            figures.push(Figure {
                name,
                golden,
                current,
                space: space.unwrap_or((golden / 10).saturating_add(1024)),
            });
        }
    }
    figures
}

fn roomy(name: &'static str, golden: u32, current: u32) -> Figure {
    Figure {
        name,
        golden,
        current,
        space: (golden / 10).saturating_add(16),
    }
}

fn exact(name: &'static str, golden: u32, current: u32) -> Figure {
    Figure {
        name,
        golden,
        current,
        space: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::table::tests::row;

    fn table(rows: Vec<Row>) -> Table {
        Table {
            ptxas: Some("12.9".to_owned()),
            rows,
        }
    }

    fn after(change: impl FnOnce(&mut Row)) -> Difference {
        let mut changed = row();
        change(&mut changed);
        compare(&table(vec![row()]), &table(vec![changed]))
    }

    #[test]
    fn the_same_table_differs_nowhere() {
        assert_eq!(after(|_| {}), Difference::default());
    }

    #[test]
    fn instructions_have_a_tenth_and_sixteen_of_room() {
        assert!(after(|row| row.counts.instructions = 126).losses.is_empty());
        assert_eq!(after(|row| row.counts.instructions = 127).losses.len(), 1);
    }

    #[test]
    fn one_more_spilled_byte_or_trap_is_a_loss() {
        assert_eq!(after(|row| row.counts.local_bytes += 1).losses.len(), 1);
        assert_eq!(after(|row| row.counts.traps += 1).losses.len(), 1);
        let spill = |row: &mut Row| row.assembled.iter_mut().for_each(|a| a.spill_loads += 1);
        assert_eq!(after(spill).losses.len(), 1);
    }

    #[test]
    fn a_spill_in_a_loop_is_a_loss_where_both_sides_looked() {
        let set = |value| {
            move |row: &mut Row| {
                row.assembled
                    .iter_mut()
                    .for_each(|it| it.loop_spills = value);
            }
        };
        assert_eq!(after(set(Some(4))).losses.len(), 1);
        assert_eq!(after(set(Some(3))), Difference::default());
        assert_eq!(after(set(None)), Difference::default());
    }

    #[test]
    fn code_has_a_tenth_and_a_kibibyte_of_room() {
        let grow = |bytes| {
            move |row: &mut Row| {
                row.assembled
                    .iter_mut()
                    .for_each(|it| it.code_bytes = Some(bytes));
            }
        };
        assert!(after(grow(2224)).losses.is_empty());
        assert_eq!(after(grow(2225)).losses.len(), 1);
    }

    #[test]
    fn fewer_traps_are_a_gain() {
        let difference = after(|row| row.counts.traps = 0);
        assert_eq!((difference.losses.len(), difference.gains.len()), (0, 1));
    }

    #[test]
    fn another_assembler_is_not_compared() {
        let mut current = table(vec![row()]);
        current.ptxas = Some("13.1".to_owned());
        current.rows[0].assembled.as_mut().unwrap().registers = Some(200);
        assert_eq!(
            compare(&table(vec![row()]), &current),
            Difference::default()
        );
    }

    #[test]
    fn a_kernel_on_one_side_only_is_a_loss() {
        assert_eq!(compare(&table(vec![row()]), &table(vec![])).losses.len(), 1);
        assert_eq!(compare(&table(vec![]), &table(vec![row()])).losses.len(), 1);
    }
}
