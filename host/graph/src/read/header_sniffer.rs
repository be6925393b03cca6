//! Recognises a text format by its first lines.
//!
//! Lines go in one at a time until the format, its counts and its columns are known. Content
//! decides; the suffix decides only where content is ambiguous, or where a wrong banner would
//! otherwise be taken for something else.

use super::body::is_head;
use super::fields::{Fields, line_of};
use super::layout::{Header, Layout, Problem, Values};
use super::matrix::{self, Matrix};
use super::quote::quote;
use super::rows::Rows;
use super::table::{self, First, IdKind, NamedEnds, Table, Wish};
use crate::build::{MAX_EDGES, MAX_NODES};
use crate::notes::Notes;
use crate::{Format, LineProblem};

const MATRIX_BANNER: &[u8] = b"%%MatrixMarket";
const CHALLENGE_EXPECTED: &str =
    "a comment \"c ...\" or a header: \"p sp N M\", \"p max\", \"p edge\", \"p col\" or \"p tw\"";

/// Role of a line.
#[derive(Debug)]
pub(super) enum Step {
    /// Part of the file's first bytes.
    Taken,
    /// End of the file's first bytes.
    Done(Layout),
    Edge(Layout),
    /// Sign of an unknown format.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    Matrix(Matrix),
    Metis,
    Challenge,
    EdgeList {
        hinted_nodes: Option<u64>,
    },
    /// A table whose columns have names; the first edge shows which ids it has.
    Table(Option<u64>, Table),
}

/// The lines before the first edge.
pub(super) struct HeaderSniffer<'a> {
    /// The format that the caller or the file's name states.
    named: Option<Format>,
    /// Whether the caller states it.
    is_asked: bool,
    wish: Wish<'a>,
    state: State,
    notes: Notes,
    named_ends: Option<NamedEnds>,
    lines: u64,
}

impl<'a> HeaderSniffer<'a> {
    /// Starts at the first line. `asked` is the format that the caller states, `named` that format
    /// or the one of the file's name.
    pub(super) fn new(asked: Option<Format>, named: Option<Format>, wish: Wish<'a>) -> Self {
        Self {
            named,
            is_asked: asked.is_some(),
            wish,
            state: State::Start,
            notes: Notes::default(),
            named_ends: None,
            lines: 0,
        }
    }

    /// The notes among the comments so far.
    pub(super) fn take_notes(&mut self) -> Notes {
        std::mem::take(&mut self.notes)
    }

    /// The names of both ends, if a line of them may just as well be the first edge.
    pub(super) fn take_named_ends(&mut self) -> Option<NamedEnds> {
        self.named_ends.take()
    }

    pub(super) fn line(&mut self, bytes: &[u8]) -> Result<Step, LineProblem> {
        let line = line_of(bytes);
        self.lines += 1;
        if line.contains(&0) {
            return Err(LineProblem::Nul);
        }
        if let State::Start = self.state {
            match self.recognise(line)? {
                Some(state) => self.state = state,
                None if line.is_empty() => return Ok(Step::Taken),
                None => return Ok(Step::Unknown),
            }
            if let State::Matrix(_) = self.state {
                return Ok(Step::Taken);
            }
        }
        let sign = self.signs();
        if let Some((first, comment)) = line.split_first()
            && sign.contains(first)
            && self.notes.take(comment)?
        {
            self.notes.line = self.lines;
            self.wish.names |= self.notes.has_names;
            return Ok(Step::Taken);
        }
        match self.state {
            State::Matrix(matrix) => {
                Ok(matrix::size(line, matrix)?.map_or(Step::Taken, Step::Done))
            }
            State::Metis => metis(line),
            State::EdgeList { .. } => self.edge_list(line, raw_line(bytes)),
            State::Table(hinted_nodes, table) => {
                self.first_edge(hinted_nodes, table, line, raw_line(bytes))
            }
            State::Challenge | State::Start => challenge(line, self.notes.is_unweighted),
        }
    }

    const fn signs(&self) -> &'static [u8] {
        match self.state {
            State::Matrix(_) | State::Metis => b"%",
            State::EdgeList { .. } | State::Table(..) => b"#%",
            State::Challenge | State::Start => b"c",
        }
    }

    fn first_edge(
        &self,
        hinted_nodes: Option<u64>,
        table: Table,
        line: &[u8],
        raw: &[u8],
    ) -> Result<Step, LineProblem> {
        if let Some(comment) = line.strip_prefix(b"#").or(line.strip_prefix(b"%")) {
            let ids = table::kind_of_ids(comment, &table);
            return match table::is_like_an_edge(line, &Table { ids, ..table }) {
                true => Err(LineProblem::CommentedName { value: quote(line) }),
                false => Ok(Step::Taken),
            };
        }
        if line.is_empty() {
            return Ok(Step::Taken);
        }
        let ids = if self.wish.names {
            IdKind::Names
        } else {
            table::kind_of_ids(raw, &table)
        };
        Ok(Step::Edge(self.table(hinted_nodes, Table { ids, ..table })))
    }

    fn table(&self, hinted_nodes: Option<u64>, table: Table) -> Layout {
        Layout {
            heads: !self.is_asked,
            ..Layout::table(hinted_nodes, table)
        }
    }

    fn recognise(&self, line: &[u8]) -> Result<Option<State>, LineProblem> {
        let edge_list = State::EdgeList { hinted_nodes: None };
        if line
            .get(..MATRIX_BANNER.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(MATRIX_BANNER))
        {
            return matrix::banner(line, self.wish.weights)
                .map(|matrix| Some(State::Matrix(matrix)));
        }
        Ok(match (self.named, line.first()) {
            (Some(Format::MatrixMarket), _) => return Err(matrix::wrong_banner(line)),
            (_, None) | (Some(Format::Ecl), _) => None,
            (Some(Format::Dimacs | Format::Pace), _) => Some(State::Challenge),
            (Some(Format::Metis), _) => Some(State::Metis),
            (Some(Format::EdgeList | Format::Csv), _) => Some(edge_list),
            (_, Some(first)) => match first {
                _ if table::names_ends(line) => Some(edge_list),
                _ if self.wish.names || self.wish.columns.is_some() => Some(edge_list),
                b'c' | b'p' => Some(State::Challenge),
                b'#' | b'%' | b'-' | b'0'..=b'9' => Some(edge_list),
                _ => None,
            },
        })
    }

    fn edge_list(&mut self, line: &[u8], raw: &[u8]) -> Result<Step, LineProblem> {
        let hinted_nodes = self.hint();
        match line.first() {
            None => return Ok(Step::Taken),
            Some(b'#') if !self.is_asked && is_head(&line[1..]) => {
                return Err(LineProblem::Head { value: quote(line) });
            }
            Some(b'#' | b'%') => {
                let hinted_nodes = nodes_in_comment(line).or(hinted_nodes);
                self.state = State::EdgeList { hinted_nodes };
                return Ok(Step::Taken);
            }
            Some(_) => {}
        }
        Ok(match table::first(raw, self.wish)? {
            First::Header(table) => {
                // A graph that this program wrote has such a line above its first edge.
                if !self.notes.has_names {
                    self.named_ends = table.named_ends(raw, self.lines, self.wish);
                }
                self.state = State::Table(hinted_nodes, table);
                Step::Taken
            }
            First::NumbersBelow(table) => Step::Done(self.table(hinted_nodes, table)),
            First::Edge(table) => Step::Edge(self.table(hinted_nodes, table)),
            First::Plain => Step::Edge(Layout {
                heads: !self.is_asked,
                ..Layout::edge_list(hinted_nodes, plain_values(line))
            }),
        })
    }

    fn hint(&self) -> Option<u64> {
        match self.state {
            State::EdgeList { hinted_nodes } => hinted_nodes,
            _ => None,
        }
    }

    /// Returns the layout if the file ends here: an edge list that only states its number of nodes
    /// has one; an empty file is `Ok(None)`.
    pub(super) fn end(&self) -> Result<Option<Layout>, LineProblem> {
        let missing = |what| {
            Err(LineProblem::MissingField {
                what,
                value: String::new(),
            })
        };
        match self.state {
            State::Start => Ok(None),
            State::Matrix(_) => missing("the size line \"ROWS COLUMNS ENTRIES\""),
            State::Metis => missing("the header \"NODES EDGES\""),
            State::Challenge => missing("the header \"p sp N M\" or \"p tw N M\""),
            State::EdgeList { hinted_nodes } => {
                let has_nodes = hinted_nodes.is_some() || self.notes.line > 0;
                Ok(has_nodes.then(|| Layout::edge_list(hinted_nodes, Values::Absent)))
            }
            State::Table(hinted_nodes, table) => Ok(Some(self.table(hinted_nodes, table))),
        }
    }
}

/// The values of an edge list by its first edge. All edges have as many columns.
fn plain_values(line: &[u8]) -> Values {
    let fields = line.split(u8::is_ascii_whitespace);
    match fields.filter(|field| !field.is_empty()).count() {
        0..=2 => Values::Absent,
        _ => Values::Required,
    }
}

/// The header of a METIS file: `NODES EDGES [FORMAT [WEIGHTS]]`.
fn metis(line: &[u8]) -> Result<Step, LineProblem> {
    if line.is_empty() || line.starts_with(b"%") {
        return Ok(Step::Taken);
    }
    let mut fields = Fields::new(line);
    let nodes = fields.count("the node count", MAX_NODES)?;
    let edges = fields.count("the edge count", MAX_EDGES / 2)?;
    let format = fields.word();
    let [sizes, weights, edge_weights] = metis_flags(format)?;
    let each = match fields.peek() {
        Some(_) => fields.count("the number of weights a node", MAX_EDGES)?,
        None => 1,
    };
    fields.end()?;
    let rows = Rows {
        nodes,
        skipped: u64::from(sizes) + if weights { each } else { 0 },
        weighted: edge_weights,
    };
    Ok(Step::Done(Layout::metis(rows, edges)))
}

/// Returns whether nodes have sizes, nodes have weights, and edges have weights.
fn metis_flags(format: &[u8]) -> Result<[bool; 3], LineProblem> {
    let mut flags = [false; 3];
    let is_known = format.len() <= 3 && format.iter().all(|digit| matches!(digit, b'0' | b'1'));
    if !is_known {
        return Err(LineProblem::Unsupported {
            what: "this METIS format",
            value: quote(format),
            remedy: "use three digits, each 0 or 1: sizes, weights of nodes, weights of edges",
        });
    }
    for (flag, digit) in flags.iter_mut().rev().zip(format.iter().rev()) {
        *flag = *digit == b'1';
    }
    Ok(flags)
}

/// The line without its end, with its blanks.
fn raw_line(bytes: &[u8]) -> &[u8] {
    Fields::new(bytes).take_line()
}

fn challenge(line: &[u8], is_unweighted: bool) -> Result<Step, LineProblem> {
    match line.first() {
        None | Some(b'c') => return Ok(Step::Taken),
        Some(b'p') => {}
        Some(_) => {
            return Err(LineProblem::Banner {
                value: quote(line),
                expected: CHALLENGE_EXPECTED,
            });
        }
    }
    let mut fields = Fields::new(line);
    if fields.word() != b"p" {
        return Err(LineProblem::Banner {
            value: quote(line),
            expected: CHALLENGE_EXPECTED,
        });
    }
    let problem = match fields.word() {
        b"sp" => Problem::Arcs,
        b"max" => Problem::Flow,
        b"edge" | b"col" => Problem::Edges,
        b"tw" => Problem::TreeWidth,
        other => {
            return Err(LineProblem::Unsupported {
                what: "this problem type",
                value: quote(other),
                remedy: "files of \"p sp\", \"p max\", \"p edge\", \"p col\" and \"p tw\" are read",
            });
        }
    };
    let nodes = fields.count("the node count", MAX_NODES)?;
    let edges = fields.count("the edge count", MAX_EDGES)?;
    fields.end()?;
    let layout = Layout::challenge(Header { nodes, edges }, problem);
    let values = match layout.values {
        Values::Required if is_unweighted => Values::Unused,
        values => values,
    };
    Ok(Step::Done(Layout { values, ..layout }))
}

/// Returns `N` of a comment such as `# Nodes: N Edges: M` in SNAP files.
fn nodes_in_comment(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    let after = text.split_once("Nodes:")?.1;
    after.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, WeightChoice};

    fn step(named: Option<Format>, lines: &[&str]) -> Result<Step, LineProblem> {
        let options = LoadOptions {
            weights: WeightChoice::Given,
            ..LoadOptions::default()
        };
        let mut header_sniffer = HeaderSniffer::new(None, named, Wish::of(&options));
        let mut last = Ok(Step::Taken);
        for line in lines {
            last = header_sniffer.line(line.as_bytes());
        }
        last
    }

    fn message(named: Option<Format>, lines: &[&str]) -> String {
        step(named, lines).unwrap_err().to_string()
    }

    #[test]
    fn content_decides_without_a_suffix() {
        let done = |lines: &[&str]| match step(None, lines).unwrap() {
            Step::Done(layout) | Step::Edge(layout) => layout.format,
            other => panic!("{other:?}"),
        };
        let banner = "%%MatrixMarket matrix coordinate pattern symmetric";
        assert_eq!(done(&[banner, "% c", "", "3 3 1"]), Format::MatrixMarket);
        assert_eq!(done(&["c x", "p sp 4 5"]), Format::Dimacs);
        assert_eq!(done(&["p tw 4 5"]), Format::Pace);
        assert_eq!(done(&["# x", "1\t2"]), Format::EdgeList);
        assert!(matches!(step(None, &["<html>"]), Ok(Step::Unknown)));
    }

    #[test]
    fn bad_headers_name_their_fault() {
        let mtx = "%%MatrixMarket matrix coordinate real general";
        assert!(
            message(Some(Format::MatrixMarket), &["1 2 3"]).starts_with("wrong banner (\"1 2 3\")")
        );
        assert!(
            message(None, &["%%MatrixMarket matrix array pattern general"]).contains("(pattern)")
        );
        assert!(
            message(None, &["%%MatrixMarket matrix coordinate complex general"])
                .contains("(complex)")
        );
        assert!(
            message(
                None,
                &["%%MatrixMarket matrix coordinate real skew-symmetric"]
            )
            .contains("(skew-symmetric)")
        );
        assert!(message(None, &["%%MatrixMarket matrix"]).contains("wrong banner"));
        assert_eq!(
            message(None, &[mtx, "3 -3 1"]),
            "the column count is negative (-3)"
        );
        assert!(
            message(None, &[mtx, "3 3 1000000000000000000"])
                .contains("the entry count is too large")
        );
        assert!(message(None, &[mtx, "3 4 1"]).contains("not square (3 x 4)"));
        assert!(message(None, &[mtx, "3 3"]).contains("ends before the entry count"));
        assert!(message(Some(Format::Dimacs), &["p cnf 3 3"]).contains("(cnf)"));
        assert!(message(Some(Format::Dimacs), &["1 2"]).contains("wrong banner"));
        assert!(message(Some(Format::Dimacs), &["p sp 3 3 3"]).contains("unexpected field"));
    }

    #[test]
    fn the_node_count_of_a_comment_is_a_hint() {
        let Step::Edge(layout) =
            step(Some(Format::EdgeList), &["# Nodes: 7 Edges: 3", "1 2"]).unwrap()
        else {
            panic!("no edge")
        };
        assert_eq!(layout.hinted_nodes, Some(7));
        assert_eq!(nodes_in_comment(b"# Nodes: many"), None);
    }
}
