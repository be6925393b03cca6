//! The nodes or parts that an answer is about: the highest, the farthest, the largest.

use std::io::{self, Write};

use super::head::row;
use seawall::analysis::Highlight;
use seawall::outcome::{Column, RunOutcome};
use seawall::units::counted;

/// Nodes and parts named in the report.
const SHOWN: usize = 5;

/// Farthest nodes named in the report: one is the answer, more show whether it is alone.
const FARTHEST_SHOWN: usize = 3;

/// Writes the rows, if the analysis has any; `label` names a node. Linear in the nodes.
pub(super) fn write(
    outcome: &RunOutcome,
    label: &dyn Fn(u32) -> String,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (name, lines) = match outcome.analysis.facts().highlight {
        Highlight::Highest => ("highest", nodes(&outcome.values, SHOWN, label)),
        Highlight::Farthest => ("farthest", nodes(&outcome.values, FARTHEST_SHOWN, label)),
        Highlight::LargestParts => ("largest", parts(&outcome.values, label)),
        Highlight::None => return Ok(()),
    };
    // One alone is in the sentence above.
    if lines.len() < 2 {
        return Ok(());
    }
    let names = std::iter::once(name).chain(std::iter::repeat(""));
    names
        .zip(&lines)
        .try_for_each(|(name, line)| row(out, name, line))
}

/// The nodes with the highest values, highest first, and of equals the one with the smallest number.
fn nodes(column: &Column, most: usize, label: &dyn Fn(u32) -> String) -> Vec<String> {
    let line = |value: String, node| format!("{value:<14}node {}", label(node));
    match column {
        Column::U32(values) => {
            let known = values.iter().map(|value| known(*value, u32::MAX));
            highest(known, most, |value, node| line(value.to_string(), node))
        }
        Column::U64(values) => {
            let known = values.iter().map(|value| known(*value, u64::MAX));
            highest(known, most, |value, node| line(value.to_string(), node))
        }
        Column::I64(values) => {
            let known = values.iter().map(|value| known(*value, i64::MAX));
            highest(known, most, |value, node| line(value.to_string(), node))
        }
        Column::F32(values) => {
            let known = values
                .iter()
                .map(|value| Some(*value).filter(|value| value.is_finite()));
            highest(known, most, |value, node| line(value.to_string(), node))
        }
        _ => Vec::new(),
    }
}

fn known<T: PartialEq>(value: T, missing: T) -> Option<T> {
    (value != missing).then_some(value)
}

/// The `most` highest values with their places, by `line`.
fn highest<T: PartialOrd + Copy>(
    values: impl Iterator<Item = Option<T>>,
    most: usize,
    line: impl Fn(T, u32) -> String,
) -> Vec<String> {
    let mut kept: Vec<(T, u32)> = Vec::with_capacity(most + 1);
    for (node, value) in (0..).zip(values) {
        let Some(value) = value else { continue };
        let is_full = kept.len() == most;
        if is_full && kept.last().is_some_and(|(least, _)| value <= *least) {
            continue;
        }
        let at = kept.partition_point(|(other, _)| *other >= value);
        kept.insert(at, (value, node));
        kept.truncate(most);
    }
    let kept = kept.into_iter();
    kept.map(|(value, node)| line(value, node)).collect()
}

/// The largest sets of nodes with one value, each with its first node.
fn parts(column: &Column, label: &dyn Fn(u32) -> String) -> Vec<String> {
    let Column::U32(values) = column else {
        return Vec::new();
    };
    // Values are nodes, so each has a place.
    let mut sizes = vec![0_u32; values.len()];
    let mut firsts = vec![u32::MAX; values.len()];
    for (node, value) in (0..).zip(values) {
        if let (Some(size), Some(first)) = (
            sizes.get_mut(*value as usize),
            firsts.get_mut(*value as usize),
        ) {
            *size += 1;
            *first = node.min(*first);
        }
    }
    let known = sizes.iter().map(|size| known(*size, 0));
    highest(known, SHOWN, |size, value| {
        let first = firsts.get(value as usize).copied().unwrap_or(value);
        let size = counted(u64::from(size), "node");
        format!("{size:<14}with node {}", label(first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(node: u32) -> String {
        (node * 10).to_string()
    }

    #[test]
    fn the_highest_values_are_named_and_missing_ones_are_not() {
        let lines = nodes(&Column::U32(vec![3, u32::MAX, 7, 7, 1]), 3, &label);
        assert_eq!(
            lines,
            [
                "7             node 20",
                "7             node 30",
                "3             node 0"
            ]
        );
        let ranks = Column::F32(vec![0.25, f32::INFINITY, 0.5]);
        assert_eq!(
            nodes(&ranks, 5, &label),
            ["0.5           node 20", "0.25          node 0"]
        );
    }

    #[test]
    fn parts_have_their_sizes_and_their_first_nodes() {
        let labels = Column::U32(vec![0, 4, 2, 4, 4, u32::MAX, 0]);
        assert_eq!(
            parts(&labels, &label),
            [
                "3 nodes       with node 10",
                "2 nodes       with node 0",
                "1 node        with node 20"
            ]
        );
    }

    #[test]
    fn more_values_than_are_shown_leave_the_highest() {
        let falling = Column::U32((0..100).rev().collect());
        let rising = Column::U32((0..100).collect());
        assert_eq!(nodes(&falling, 5, &label)[0], "99            node 0");
        assert_eq!(nodes(&rising, 5, &label)[4], "95            node 950");
    }
}
