//! Parsing of edge lines: the hot loop of every text format.
//!
//! It works on one piece of whole lines at a time and shares nothing, so that pieces parse in
//! parallel. Facts across pieces (line numbers, ids beyond 31 bits) are counted or set aside here
//! and settled by [`super::gather`].

use super::fields::{Fields, line_of};
use super::layout::{Layout, Shape, Values};
use super::parsed::Parsed;
use super::quote::quote;
use super::{dense, rows, table};
use crate::notes::Notes;
use crate::{Format, LineProblem};

/// Name of an id field, for messages.
pub(super) const NODE_ID: &str = "a node id";
/// Bytes of a short edge line, for the first allocation.
const BYTES_AN_EDGE: usize = 10;

/// Parses lines up to the end, the first bad one, or more than `limit` edges.
pub(super) fn parse<const N: usize>(bytes: &[u8], layout: &Layout, limit: u64) -> Parsed<N> {
    let mut parsed = Parsed {
        edges: Vec::with_capacity(bytes.len() / BYTES_AN_EDGE),
        ..Parsed::new(layout.factor, layout.signed)
    };
    let mut fields = Fields::new(bytes);
    while !fields.is_done() && parsed.listed <= limit {
        parsed.lines += 1;
        let start = fields.position();
        if let Err(problem) = line(&mut fields, layout, &mut parsed) {
            let problem = explained(problem, layout, &bytes[start..]);
            parsed.problem = Some((parsed.lines, problem));
            break;
        }
    }
    parsed
}

/// A missing field is reported with its line, and a name in an edge list with a remedy.
#[cold]
fn explained(problem: LineProblem, layout: &Layout, bytes: &[u8]) -> LineProblem {
    let is_list = layout.header.is_none();
    if line_of(bytes).contains(&0) {
        return LineProblem::Nul;
    }
    match problem {
        LineProblem::NotANumber {
            what: NODE_ID,
            value,
        } if is_list && value.starts_with(|first: char| first.is_alphabetic() || first == '_') => {
            LineProblem::NamedNode { value }
        }
        LineProblem::ExtraField { value } if is_list && layout.shape == Shape::Edge => {
            LineProblem::ExtraColumn {
                column: if layout.values == Values::Absent {
                    3
                } else {
                    4
                },
                value,
            }
        }
        LineProblem::MissingField { what, .. } => LineProblem::MissingField {
            what,
            value: quote(line_of(bytes)),
        },
        other => other,
    }
}

#[inline]
fn line<const N: usize>(
    fields: &mut Fields<'_>,
    layout: &Layout,
    parsed: &mut Parsed<N>,
) -> Result<(), LineProblem> {
    match fields.peek() {
        None => {
            // In a format with one line per node, a blank line is a node without edges.
            if let Shape::Rows(format) = &layout.shape {
                return rows::line(fields, format, parsed);
            }
            fields.next_line();
            return Ok(());
        }
        Some(first) if layout.comments.contains(&first) => {
            return comment(fields.take_line(), layout);
        }
        _ if layout.shape != Shape::Edge => return shaped(fields, layout, parsed),
        Some(first) if !first.is_ascii_digit() => {
            prefix(fields, layout, first)?;
        }
        Some(_) if layout.letter.is_some() => return Err(unknown(fields, layout)),
        Some(_) => {}
    }
    let from = fields.number(NODE_ID)?;
    let to = fields.number(NODE_ID)?;
    let mut edge = [0u32; N];
    let (kept, mut rounded) = (parsed.edges.len(), false);
    match layout.values {
        Values::Absent => {}
        Values::Required if N == 3 => (edge[N - 1], rounded) = parsed.weight(fields)?,
        Values::Required | Values::Unused => fields.skip_value()?,
        Values::Pair => {
            fields.skip_value()?;
            fields.skip_value()?;
        }
    }
    fields.end()?;
    parsed.listed += 1;
    match layout.header {
        Some(header) => parsed.in_range(edge, [from, to], header.nodes)?,
        None => parsed.free(edge, [from, to]),
    }
    parsed.rounded += u64::from(rounded && parsed.edges.len() > kept);
    Ok(())
}

/// Steps over a comment, if there is one.
#[cold]
fn comment(line: &[u8], layout: &Layout) -> Result<(), LineProblem> {
    let line = line.trim_ascii();
    let (sign, text) = line.split_at(1);
    if Notes::default().take(text)? {
        return Err(LineProblem::LateNote { value: quote(line) });
    }
    match &layout.shape {
        Shape::Edge | Shape::Table(_) if sign == b"#" && layout.heads && is_head(text) => {
            Err(LineProblem::Head { value: quote(line) })
        }
        Shape::Table(table) if table::is_like_an_edge(line, table) => {
            Err(LineProblem::CommentedName { value: quote(line) })
        }
        _ => Ok(()),
    }
}

/// Returns whether a comment is a single number, which names a node in lists of neighbours (LGL).
pub(super) fn is_head(comment: &[u8]) -> bool {
    let number = comment.trim_ascii();
    !number.is_empty() && number.iter().all(u8::is_ascii_digit)
}

/// Parses a line that is not one edge between blanks.
fn shaped<const N: usize>(
    fields: &mut Fields<'_>,
    layout: &Layout,
    parsed: &mut Parsed<N>,
) -> Result<(), LineProblem> {
    match &layout.shape {
        Shape::Edge => Ok(()),
        Shape::Dense(dense) => dense::line(fields, dense, parsed),
        Shape::Rows(format) => rows::line(fields, format, parsed),
        Shape::Table(columns) => table::line(fields.take_line(), columns, parsed),
    }
}

/// Steps over the letter that starts an arc line. Any other start is an error, unless it is a
/// signed number, for which the number parser has a better message.
#[cold]
fn reject(fields: &Fields<'_>, layout: &Layout, first: u8) -> Result<(), LineProblem> {
    match (layout.format, first) {
        (Format::Dimacs | Format::Pace, b'p') => Err(LineProblem::SecondHeader {
            value: quote(fields.upcoming()),
        }),
        _ if layout.letter.is_some() => Err(unknown(fields, layout)),
        _ => Ok(()),
    }
}

#[inline]
fn prefix(fields: &mut Fields<'_>, layout: &Layout, first: u8) -> Result<(), LineProblem> {
    if layout.letter == Some(first) {
        let before = *fields;
        return if fields.word() == [first] {
            Ok(())
        } else {
            Err(unknown(&before, layout))
        };
    }
    reject(fields, layout, first)
}

#[cold]
fn unknown(fields: &Fields<'_>, layout: &Layout) -> LineProblem {
    let expected = match layout.letter {
        Some(b'e') => "\"e U V\" or \"c ...\"",
        Some(_) => "\"a U V W\" or \"c ...\"",
        None => "\"U V\"",
    };
    LineProblem::UnknownLine {
        value: quote(fields.upcoming()),
        expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WeightKind;
    use crate::read::layout::{Header, Problem};

    const DIMACS: Header = Header {
        nodes: 9,
        edges: 99,
    };

    fn dimacs(text: &str) -> Parsed<3> {
        parse(
            text.as_bytes(),
            &Layout::challenge(DIMACS, Problem::Arcs),
            u64::MAX,
        )
    }

    #[test]
    fn arcs_become_zero_based_edges_with_weights() {
        let parsed = dimacs("c hi\na 1 2 7\n\r\na 9\t3 0\r\na 4 4 1");
        assert_eq!(parsed.edges, [[0, 1, 7], [8, 2, 0], [3, 3, 1]]);
        assert_eq!((parsed.listed, parsed.lines), (3, 5));
        assert!(parsed.problem.is_none());
    }

    #[test]
    fn the_first_bad_line_is_named() {
        let cases = [
            (
                "a 1 2 3\na 0 2 3\n",
                2,
                "node id out of range (0); the header allows 1 to 9",
            ),
            (
                "a 1 10 3\n",
                1,
                "node id out of range (10); the header allows 1 to 9",
            ),
            (
                "c\n\na 1 2\n",
                3,
                "the line ends before a weight (\"a 1 2\")",
            ),
            ("a 1 x 3", 1, "expected a node id, found \"x\""),
            ("a 1 2 -3", 1, "a weight is negative (-3)"),
            (
                "a 1 2 3 4",
                1,
                "unexpected field after the last one (\"4\")",
            ),
            (
                "1 2 3",
                1,
                "unknown line (\"1\"); expected \"a U V W\" or \"c ...\"",
            ),
            (
                "ab 1 2 3",
                1,
                "unknown line (\"ab\"); expected \"a U V W\" or \"c ...\"",
            ),
            ("p sp 1 1", 1, "second header line (\"p\")"),
            ("a\n", 1, "the line ends before a node id (\"a\")"),
        ];
        for (text, line, message) in cases {
            let (at, problem) = dimacs(text).problem.unwrap();
            assert_eq!(
                (at, problem.to_string().as_str()),
                (line, message),
                "{text:?}"
            );
        }
    }

    #[test]
    fn far_ids_are_set_aside() {
        let layout = Layout::edge_list(None, Values::Required);
        let parsed: Parsed<2> = parse(
            b"1 18446744073709551615 -4.5\n2147483648 3 x\n",
            &layout,
            u64::MAX,
        );
        assert!(parsed.problem.is_none());
        let far: Vec<_> = parsed.far.iter().map(|f| (f.edge, f.end, f.id)).collect();
        assert_eq!(far, [(0, 1, u64::MAX), (1, 0, 1 << 31)]);
    }

    #[test]
    fn one_fraction_makes_all_weights_floats() {
        let parsed = dimacs("a 1 2 16777217\na 3 3 0.1\na 1 3 3\na 1 4 0.1\na 1 5 33554433\n");
        let floats = [16_777_216.0, 0.1, 3.0, 0.1, 33_554_432.0f32];
        assert_eq!(parsed.kind, WeightKind::Float);
        let words: Vec<u32> = parsed.edges.iter().map(|edge| edge[2]).collect();
        assert_eq!(words, floats.map(f32::to_bits));
        assert_eq!(parsed.rounded, 4);
    }

    #[test]
    fn parsing_stops_after_the_limit() {
        let layout = Layout::edge_list(None, Values::Required);
        let parsed: Parsed<2> = parse(b"1 2 x\n#\n2 3 x\n3 4 x\n", &layout, 1);
        assert_eq!((parsed.listed, parsed.lines), (2, 3));
    }
}
