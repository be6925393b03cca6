//! Comment lines for facts that a text format cannot express: nodes without edges, ids and names.
//!
//! They start with `seawall:` after the format's sign of a comment, stand before the first edge,
//! and are written only where a file without them would be read as another graph:
//!
//! | line | in a list of edges | in a format with numbered nodes |
//! | --- | --- | --- |
//! | `seawall: ids 3 to 9` | nodes are all ids from 3 to 9 | these are the ids of the nodes |
//! | `seawall: nodes 4 8` | there are nodes 4 and 8 | ids of the next two nodes |
//! | `seawall: name New York` | there is a node of this name | name of the next node |
//! | `seawall: names` | ids are names, digits or not | |
//! | `seawall: no weights` | | the weights of 1 are not the graph's |

use std::io::{self, Write};
use std::ops::RangeInclusive;

use super::LineProblem;
use super::ids::{Ids, NameTable};

/// Start of a note, after the sign of a comment.
const PREFIX: &str = "seawall:";
/// Most ids in a line of a note.
const IDS_A_LINE: usize = 16;
const EXPECTED: &str = "\"ids FIRST to LAST\", \"nodes ID ...\", \"name TEXT\", \"names\" or \
                        \"no weights\", as seawall writes them";

#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    pub(super) range: Option<RangeInclusive<u64>>,
    pub(super) nodes: Vec<u64>,
    pub(super) names: Vec<String>,
    pub(super) has_names: bool,
    pub(super) is_unweighted: bool,
    pub(super) line: u64,
}

impl Notes {
    /// Takes a comment without its sign; false if it is no note.
    pub(super) fn take(&mut self, comment: &[u8]) -> Result<bool, LineProblem> {
        let Some(note) = comment.trim_ascii().strip_prefix(PREFIX.as_bytes()) else {
            return Ok(false);
        };
        let text = std::str::from_utf8(note).ok();
        match text.and_then(|text| self.note(text.trim_ascii())) {
            Some(()) => Ok(true),
            None => Err(LineProblem::UnknownLine {
                value: String::from_utf8_lossy(&note[..note.len().min(40)]).into_owned(),
                expected: EXPECTED,
            }),
        }
    }

    fn note(&mut self, text: &str) -> Option<()> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match (word, rest) {
            ("ids", rest) => {
                let (first, last) = rest.split_once(" to ")?;
                let (first, last) = (first.parse().ok()?, last.parse().ok()?);
                (first <= last).then_some(())?;
                self.range = Some(first..=last);
            }
            ("nodes", rest) => {
                for id in rest.split_ascii_whitespace() {
                    self.nodes.push(id.parse().ok()?);
                }
            }
            ("name", name) => {
                (!name.is_empty()).then_some(())?;
                self.names.push(name.to_owned());
                self.has_names = true;
            }
            ("names", "") => self.has_names = true,
            ("no", "weights") => self.is_unweighted = true,
            _ => return None,
        }
        Some(())
    }

    /// The ids of numbered nodes, which start at 1 without notes. `Err` holds the number of ids
    /// that the notes list, where that is not the number of nodes or they do not ascend.
    pub(super) fn ids(self, nodes: u64) -> Result<Ids, u64> {
        let count = |found: usize| {
            if found as u64 == nodes {
                Ok(())
            } else {
                Err(found as u64)
            }
        };
        if let Some(range) = self.range {
            let found = (range.end() - range.start()).saturating_add(1);
            return if found == nodes {
                Ok(Ids::Offset(*range.start()))
            } else {
                Err(found)
            };
        }
        if self.has_names {
            count(self.names.len())?;
            let ascend = self.names.windows(2).all(|pair| pair[0] < pair[1]);
            let names = NameTable::of(self.names.iter().map(String::as_str));
            return if ascend {
                Ok(Ids::Names(names))
            } else {
                Err(nodes)
            };
        }
        if self.nodes.is_empty() {
            return Ok(Ids::Offset(1));
        }
        count(self.nodes.len())?;
        let ascend = self.nodes.windows(2).all(|pair| pair[0] < pair[1]);
        if ascend {
            Ok(Ids::Table(self.nodes))
        } else {
            Err(nodes)
        }
    }
}

/// Writes the note of a range of ids.
pub(super) fn write_range(
    out: &mut dyn Write,
    sign: &str,
    first: u64,
    nodes: u32,
) -> io::Result<()> {
    match nodes.checked_sub(1) {
        Some(more) => {
            writeln!(
                out,
                "{sign} {PREFIX} ids {first} to {}",
                first.saturating_add(more.into())
            )
        }
        None => Ok(()),
    }
}

/// Writes notes of ids.
pub(super) fn write_nodes(
    out: &mut dyn Write,
    sign: &str,
    ids: impl Iterator<Item = u64>,
) -> io::Result<()> {
    let mut ids = ids.peekable();
    while ids.peek().is_some() {
        write!(out, "{sign} {PREFIX} nodes")?;
        for id in ids.by_ref().take(IDS_A_LINE) {
            write!(out, " {id}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

pub(super) fn write_names<'n>(
    out: &mut dyn Write,
    sign: &str,
    names: impl Iterator<Item = &'n str>,
) -> io::Result<()> {
    for name in names {
        writeln!(out, "{sign} {PREFIX} name {name}")?;
    }
    Ok(())
}

/// Writes the note that ids are names.
pub(super) fn write_has_names(out: &mut dyn Write, sign: &str) -> io::Result<()> {
    writeln!(out, "{sign} {PREFIX} names")
}

/// Writes the note that weights are not the graph's.
pub(super) fn write_unweighted(out: &mut dyn Write, sign: &str) -> io::Result<()> {
    writeln!(out, "{sign} {PREFIX} no weights")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(lines: &[&str]) -> Notes {
        let mut notes = Notes::default();
        for line in lines {
            assert!(notes.take(line.as_bytes()).unwrap(), "{line}");
        }
        notes
    }

    #[test]
    fn notes_that_are_written_are_understood() {
        let mut text = Vec::new();
        write_range(&mut text, "#", 3, 4).unwrap();
        write_nodes(&mut text, "#", 1..=40).unwrap();
        write_names(&mut text, "#", ["New York", "ß"].into_iter()).unwrap();
        write_unweighted(&mut text, "#").unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<_> = text.lines().map(|line| &line[1..]).collect();
        let notes = notes(&lines);
        assert_eq!(notes.range, Some(3..=6));
        assert_eq!(notes.nodes, (1..=40).collect::<Vec<u64>>());
        assert_eq!(notes.names, ["New York", "ß"]);
        assert!(notes.has_names && notes.is_unweighted);
    }

    #[test]
    fn other_comments_are_no_notes_and_broken_notes_are_errors() {
        let mut all = Notes::default();
        assert!(!all.take(b" a seawall: ids 1 to 2").unwrap());
        for bad in [
            "ids 5 to 3",
            "ids x",
            "nodes 1 x",
            "name ",
            "name",
            "what",
            "no edges",
        ] {
            assert!(
                all.take(format!("seawall: {bad}").as_bytes()).is_err(),
                "{bad}"
            );
        }
        assert!(all.take(b"seawall: name \xff").is_err());
    }

    #[test]
    fn ids_are_as_many_as_nodes_and_ascend() {
        assert!(matches!(notes(&[]).ids(7), Ok(Ids::Offset(1))));
        assert!(matches!(
            notes(&["seawall: ids 0 to 6"]).ids(7),
            Ok(Ids::Offset(0))
        ));
        assert!(matches!(notes(&["seawall: ids 0 to 6"]).ids(8), Err(7)));
        assert!(
            notes(&["seawall: ids 0 to 18446744073709551615"])
                .ids(8)
                .is_err()
        );
        assert!(matches!(
            notes(&["seawall: nodes 4 9"]).ids(2),
            Ok(Ids::Table(_))
        ));
        assert!(notes(&["seawall: nodes 9 4"]).ids(2).is_err());
        assert!(
            notes(&["seawall: name b", "seawall: name a"])
                .ids(2)
                .is_err()
        );
    }
}
