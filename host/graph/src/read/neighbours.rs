//! Lists of neighbours: a node and its neighbours in each line, or a line for each.
//!
//! The first is NetworkX's adjacency list (`.adjlist`), the second the format of Large Graph Layout
//! (`.lgl`): `# NODE`, then a line `NEIGHBOUR [WEIGHT]` for each. Neither has a sign that an edge
//! list does not have, so the name of the file or the caller states them.

use super::chunks::{LINE_BYTES, Piece, next_piece};
use super::listed::{Listed, Problem, name_of};
use super::quote::quote;
use super::source::Source;
use crate::load::{LoadOptions, Loaded};
use crate::{Format, GraphError, LineProblem};

/// Loads a file of either format.
pub(super) fn load(
    mut source: Source,
    options: &LoadOptions,
    format: Format,
) -> Result<Loaded, GraphError> {
    let mut listed = Listed::new(&source.name, options)?;
    let mut head = None;
    let (mut rest, mut lines) = (Vec::new(), 0);
    while let Some(piece) = next_piece(&mut source, &mut rest) {
        let at = |line, problem| GraphError::Line {
            file: source.name.clone(),
            line,
            problem,
        };
        let bytes = match piece {
            Piece::Lines(bytes) => bytes,
            Piece::TooLong => {
                return Err(at(lines + 1, LineProblem::TooLong { limit: LINE_BYTES }));
            }
            Piece::Failed(error) => return Err(error),
        };
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        for line in bytes.split(|byte| *byte == b'\n') {
            lines += 1;
            let line = line.trim_ascii();
            let taken = if line.contains(&0) {
                Err(Problem::Line(LineProblem::Nul))
            } else if format == Format::Lgl {
                lgl(line, &mut head, &mut listed)
            } else {
                adjacency(line, &mut listed)
            };
            taken.map_err(|problem| match problem {
                Problem::Line(problem) => at(lines, problem),
                Problem::Graph(error) => error,
            })?;
        }
    }
    if listed.nodes() == 0 {
        return Err(GraphError::Empty { file: source.name });
    }
    listed.finish(&source, format, format == Format::Lgl)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

fn adjacency(line: &[u8], listed: &mut Listed<'_>) -> Result<(), Problem> {
    if line.starts_with(b"#") {
        return Ok(());
    }
    if line.contains(&b'{') {
        return Err(Problem::Line(LineProblem::Unsupported {
            what: "an adjacency list with attributes",
            value: quote(line),
            remedy: "write an edge list or GraphML",
        }));
    }
    let mut words = words(line);
    let Some(node) = words.next() else {
        return Ok(());
    };
    let node = listed.node(name_of(node)?)?;
    for word in words {
        let neighbour = listed.node(name_of(word)?)?;
        listed.edge([node, neighbour], 0, true)?;
    }
    Ok(())
}

/// Takes a line of LGL: the head of a list, or a neighbour of the node that it names.
fn lgl(line: &[u8], head: &mut Option<u32>, listed: &mut Listed<'_>) -> Result<(), Problem> {
    let extra = |word: Option<&[u8]>| match word {
        Some(word) => Err(LineProblem::ExtraField { value: quote(word) }),
        None => Ok(()),
    };
    if let Some(node) = line.strip_prefix(b"#") {
        let mut words = words(node);
        let node = listed.node(name_of(words.next().unwrap_or(b""))?)?;
        *head = Some(node);
        return Ok(extra(words.next())?);
    }
    let mut words = words(line);
    let Some(word) = words.next() else {
        return Ok(());
    };
    let Some(node) = *head else {
        return Err(Problem::Line(LineProblem::UnknownLine {
            value: quote(word),
            expected: "\"# NODE\" before its neighbours",
        }));
    };
    let neighbour = listed.node(name_of(word)?)?;
    let weight = words.next();
    extra(words.next())?;
    let weight = listed.value(weight, line)?;
    listed.edge([node, neighbour], weight, true)?;
    Ok(())
}
