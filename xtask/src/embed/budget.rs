//! Table of the flash that the planner takes, checked against its budget.

use super::images::Image;
use super::sections::Sections;
use crate::error::{Error, refuse_any};

/// One line of the table.
pub(super) struct Row {
    pub(super) target: &'static str,
    pub(super) image: &'static Image,
    pub(super) sections: Sections,
}

pub(super) fn print(rows: &[Row]) {
    println!(
        "\n{:<30} {:<14} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "target", "image", "planner", "budget", "text", "flash", "RAM"
    );
    for row in rows {
        let sections = &row.sections;
        println!(
            "{:<30} {:<14} {:>7} {:>7} {:>7} {:>7} {:>7}",
            row.target,
            row.image.name,
            sections.planner(),
            row.image.flash_max,
            sections.text,
            sections.flash(),
            sections.ram()
        );
    }
    println!("bytes; planner: flash less the program's own tables; RAM: without stack");
}

/// Refuses images whose planner is larger than its budget.
pub(super) fn check(rows: &[Row]) -> Result<(), Error> {
    let findings: Vec<String> = rows.iter().filter_map(finding).collect();
    refuse_any(
        "the planner takes more flash than promised",
        findings,
        "look for what grew with llvm-nm --size-sort; wide divisions and copies of \
                 generic code are the usual reasons",
    )
}

fn finding(row: &Row) -> Option<String> {
    let (taken, most) = (row.sections.planner(), row.image.flash_max);
    (taken > most).then(|| {
        format!(
            "{} on {}: {taken} of {most} bytes",
            row.image.name, row.target
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::images::IMAGES;

    fn row(text: u64) -> Row {
        Row {
            target: "any",
            image: &IMAGES[0],
            sections: Sections {
                text,
                caller: 100,
                rodata: 100,
                ..Sections::default()
            },
        }
    }

    #[test]
    fn the_last_byte_of_the_budget_may_be_used() {
        assert!(check(&[row(7_680)]).is_ok());
        let refused = check(&[row(7_681)]).unwrap_err().to_string();
        assert!(refused.contains("7681 of 7680 bytes"), "{refused}");
    }
}
