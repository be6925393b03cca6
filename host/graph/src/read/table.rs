//! Edge lists as tables: columns between commas, semicolons, tabs or blanks, with or
//! without names, and the attributes that NetworkX writes as a Python dict.
//!
//! The common edge list, numbers between blanks, has a faster path in [`super::body`].

use super::fields::Fields;
use super::parsed::Parsed;
use super::quote::quote;
use crate::LineProblem;

/// Names of the column where edges start, in lower case without punctuation.
const STARTS: &[&str] = &[
    "source",
    "src",
    "from",
    "u",
    "i",
    "tail",
    "row",
    "start",
    "origin",
    "node1",
    "n1",
    "v1",
    "id1",
    "sourceid",
    "srcid",
    "fromid",
    "fromnode",
    "fromnodeid",
    "startnode",
    "startid",
];
/// Names of the column where edges end, each beside its partner in [`STARTS`] or not.
const ENDS: &[&str] = &[
    "target",
    "tgt",
    "to",
    "v",
    "j",
    "head",
    "col",
    "column",
    "end",
    "dst",
    "dest",
    "destination",
    "node2",
    "n2",
    "v2",
    "id2",
    "targetid",
    "dstid",
    "toid",
    "tonode",
    "tonodeid",
    "endnode",
    "endid",
];
/// Names of the column of weights.
const WEIGHTS: &[&str] = &[
    "weight", "weights", "w", "wt", "cost", "length", "distance", "dist", "value", "data",
];
/// The attribute that NetworkX calls an edge's weight.
const ATTRIBUTE: &[u8] = b"weight";

/// Meaning of the columns, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The byte between columns; a blank represents any number of blanks and tabs.
    pub(super) delimiter: u8,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weight: Option<usize>,
    /// Most columns per line; `None` if other columns are skipped.
    pub(super) columns: Option<usize>,
    /// Whether attributes follow the columns.
    pub(super) attributes: Attributes,
}

/// Attributes in braces after the ends of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attributes {
    /// There are none.
    Absent,
    /// They are not needed, or hold no weight.
    Ignored,
    /// They hold no weight although one is wanted; a later one is an error.
    Weightless,
    /// They hold a weight.
    Weighted,
}

/// Kind of the first line of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First {
    /// Names of columns.
    Names(Table),
    /// An edge.
    Edge(Table),
    /// Two or three numbers between blanks, as in any edge list.
    Plain,
}

/// Purpose of reading a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) weights: bool,
    pub(super) skip_columns: bool,
}

/// Detects the byte between columns from the first line.
fn delimiter_of(line: &[u8]) -> u8 {
    let columns = line.split(|&byte| byte == b'{').next().unwrap_or(&[]);
    let has = |byte: &u8| columns.contains(byte);
    let is_named = columns.iter().any(u8::is_ascii_alphabetic);
    match () {
        () if has(&b';') => b';',
        () if has(&b',') => b',',
        () if is_named && has(&b'\t') => b'\t',
        () => b' ',
    }
}

/// Tells whether a line names both ends of edges, so that it starts a table whatever the file is
/// called.
pub(super) fn names_ends(line: &[u8]) -> bool {
    let names = names_of(line, delimiter_of(line));
    position(&names, STARTS).is_some() && position(&names, ENDS).is_some()
}

/// Finds the columns from the first line.
pub(super) fn first(line: &[u8], wish: Wish) -> Result<First, LineProblem> {
    let delimiter = delimiter_of(line);
    let names = names_of(line, delimiter);
    if names.iter().take(2).any(|name| !is_number(name)) {
        return named(&names, delimiter, wish);
    }
    let braces = line.iter().position(|&byte| byte == b'{');
    if delimiter == b' ' && braces.is_none() && (names.len() <= 3 || !wish.skip_columns) {
        let is_quoted = line.contains(&b'"');
        if !is_quoted {
            return Ok(First::Plain);
        }
    }
    let mut table = Table::of_two(delimiter);
    if let Some(start) = braces {
        let is_weighted = attribute(&line[start..]).is_some();
        table.attributes = match (wish.weights, is_weighted) {
            (false, _) => Attributes::Ignored,
            (true, false) => Attributes::Weightless,
            (true, true) => Attributes::Weighted,
        };
        return Ok(First::Edge(table));
    }
    table.weight = (wish.weights && names.len() > 2).then_some(2);
    table.columns = match (wish.skip_columns, wish.weights) {
        (true, _) => None,
        (false, true) => Some(names.len().min(3)),
        (false, false) => Some(3),
    };
    Ok(First::Edge(table))
}

/// Tells whether a column starts like a number; the parser checks that it is one.
fn is_number(column: &str) -> bool {
    let digits = column.trim_start_matches(['-', '+']);
    digits.starts_with(|first: char| first.is_ascii_digit())
}

/// A table whose first line has names, known or not.
fn named(names: &[String], delimiter: u8, wish: Wish) -> Result<First, LineProblem> {
    let ends = position(names, STARTS).zip(position(names, ENDS));
    let is_word = |name: &&String| !is_number(name);
    let is_header = delimiter != b' ' && names.len() >= 2 && names.iter().all(|n| is_word(&n));
    if ends.is_none() && !is_header {
        let word = names.iter().find(is_word).map_or("", String::as_str);
        return Err(LineProblem::NamedNode {
            value: quote(word.as_bytes()),
        });
    }
    let (from, to) = ends.unwrap_or((0, 1));
    let other = |at: &usize| *at != from && *at != to;
    let weight = position(names, WEIGHTS)
        .filter(other)
        .or_else(|| (ends.is_none() && names.len() == 3).then_some(2));
    let extra = (0..names.len()).find(|at| other(at) && Some(*at) != weight);
    if let Some(at) = extra.filter(|_| !wish.skip_columns) {
        return Err(LineProblem::ExtraColumn {
            column: at + 1,
            value: quote(names[at].as_bytes()),
        });
    }
    Ok(First::Names(Table {
        delimiter,
        from,
        to,
        weight: weight.filter(|_| wish.weights),
        columns: (!wish.skip_columns).then_some(names.len()),
        attributes: Attributes::Absent,
    }))
}

fn position(names: &[String], known: &[&str]) -> Option<usize> {
    let is_known = |name: &String| known.contains(&plain_name(name).as_str());
    names.iter().position(is_known)
}

/// Returns a name in lower case, without blanks and punctuation.
fn plain_name(name: &str) -> String {
    let letters = name.chars().filter(|letter| letter.is_ascii_alphanumeric());
    letters.map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Returns the columns of a line as text.
fn names_of(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut columns = Columns::new(line, delimiter);
    let mut names = Vec::new();
    while let Ok(Some(column)) = columns.next() {
        names.push(String::from_utf8_lossy(column).into_owned());
    }
    names
}

impl Table {
    fn of_two(delimiter: u8) -> Self {
        Self {
            delimiter,
            from: 0,
            to: 1,
            weight: None,
            columns: Some(2),
            attributes: Attributes::Absent,
        }
    }

    /// Tells whether every line has a weight that is wanted.
    pub(super) fn is_weighted(&self) -> bool {
        self.weight.is_some() || self.attributes == Attributes::Weighted
    }

    /// Splits a line from its attributes.
    fn split<'l>(&self, line: &'l [u8]) -> (&'l [u8], &'l [u8]) {
        let braces = line.iter().position(|&byte| byte == b'{');
        match braces.filter(|_| self.attributes != Attributes::Absent) {
            Some(start) => {
                let columns = line[..start].trim_ascii_end();
                let delimiter = [self.delimiter];
                (
                    columns.strip_suffix(&delimiter).unwrap_or(columns),
                    &line[start..],
                )
            }
            None => (line, &[]),
        }
    }
}

/// Takes one line.
pub(super) fn line<const N: usize>(
    line: &[u8],
    table: &Table,
    parsed: &mut Parsed<N>,
) -> Result<(), LineProblem> {
    let (text, attributes) = table.split(line);
    let mut columns = Columns::new(text, table.delimiter);
    let (mut ends, mut weight) = ([None; 2], None);
    let mut count = 0;
    while let Some(column) = columns.next()? {
        if table.columns.is_some_and(|most| count >= most) {
            return Err(LineProblem::ExtraColumn {
                column: count + 1,
                value: quote(column),
            });
        }
        match count {
            at if at == table.from => ends[0] = Some(id(column)?),
            at if at == table.to => ends[1] = Some(id(column)?),
            at if Some(at) == table.weight => weight = Some(column),
            _ => {}
        }
        count += 1;
    }
    let missing = |what| LineProblem::MissingField {
        what,
        value: String::new(),
    };
    let [Some(from), Some(to)] = ends else {
        return Err(missing("a node id"));
    };
    match table.attributes {
        Attributes::Weighted => weight = attribute(attributes),
        Attributes::Weightless if attribute(attributes).is_some() => {
            return Err(LineProblem::LateWeight);
        }
        _ => {}
    }
    let mut edge = [0u32; N];
    if N == 3 {
        let text = weight.ok_or_else(|| missing("a weight"))?;
        let mut fields = Fields::new(text);
        let rounded;
        (edge[N - 1], rounded) = parsed.word(fields.weight()?);
        fields.end()?;
        parsed.rounded += u64::from(rounded);
    }
    parsed.free(edge, [from, to]);
    parsed.listed += 1;
    Ok(())
}

fn id(column: &[u8]) -> Result<u64, LineProblem> {
    if column
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
    {
        return Err(LineProblem::NamedNode {
            value: quote(column),
        });
    }
    let mut fields = Fields::new(column);
    let id = fields.number("a node id")?;
    fields.end()?;
    Ok(id)
}

/// The columns of a line, one after the other.
struct Columns<'l> {
    rest: Option<&'l [u8]>,
    delimiter: u8,
}

impl<'l> Columns<'l> {
    fn new(line: &'l [u8], delimiter: u8) -> Self {
        let mut columns = Self {
            rest: None,
            delimiter,
        };
        columns.rest = Some(columns.trimmed(line));
        columns
    }

    /// Skips leading blanks; a tab between columns is not a blank.
    fn trimmed(&self, rest: &'l [u8]) -> &'l [u8] {
        let is_blank = |byte: &&u8| byte.is_ascii_whitespace() && !self.divides(**byte);
        &rest[rest.iter().take_while(is_blank).count()..]
    }

    /// Tells whether a byte that may be a blank separates columns here.
    fn divides(&self, byte: u8) -> bool {
        byte == self.delimiter && byte != b' '
    }

    /// Takes the next column, without blanks and quotation marks around it.
    fn next(&mut self) -> Result<Option<&'l [u8]>, LineProblem> {
        let Some(rest) = self.rest else {
            return Ok(None);
        };
        let start = self.trimmed(rest);
        if let Some(inner) = start.strip_prefix(b"\"") {
            return self.quoted(inner).map(Some);
        }
        let is_end = |byte: &u8| self.is_delimiter(*byte);
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        self.step(&rest[end..]);
        Ok(Some(rest[..end].trim_ascii()))
    }

    fn is_delimiter(&self, byte: u8) -> bool {
        byte == self.delimiter || self.delimiter == b' ' && byte.is_ascii_whitespace()
    }

    /// Takes a quoted column. A doubled quotation mark is an escaped one, which no number has.
    fn quoted(&mut self, inner: &'l [u8]) -> Result<&'l [u8], LineProblem> {
        let bad = || LineProblem::Quotation {
            value: quote(inner),
        };
        let mut end = 0;
        loop {
            match (inner.get(end), inner.get(end + 1)) {
                (None, _) => return Err(bad()),
                (Some(b'"'), Some(b'"')) => end += 2,
                (Some(b'"'), _) => break,
                _ => end += 1,
            }
        }
        let after = self.trimmed(&inner[end + 1..]);
        let is_whole = after.first().is_none_or(|byte| *byte == self.delimiter)
            || inner[end + 1].is_ascii_whitespace() && self.delimiter == b' ';
        if !is_whole {
            return Err(bad());
        }
        self.step(&inner[end + 1..]);
        Ok(inner[..end].trim_ascii())
    }

    /// Continues after the delimiter at which `rest` starts, after optional blanks.
    fn step(&mut self, rest: &'l [u8]) {
        let next = self.trimmed(rest);
        self.rest = match self.delimiter {
            b' ' => Some(next).filter(|next| !next.is_empty()),
            byte => next.strip_prefix(&[byte]),
        };
    }
}

/// Finds the weight among the attributes of an edge, as text.
fn attribute(attributes: &[u8]) -> Option<&[u8]> {
    let mut rest = attributes.strip_prefix(b"{")?;
    loop {
        let (key, after) = item(rest, b':')?;
        let (value, next) = item(after, b',').unwrap_or((after, &[]));
        if unquoted(key.trim_ascii()) == ATTRIBUTE {
            return Some(number_of(value.trim_ascii()));
        }
        rest = next;
    }
}

/// Splits at a byte that is outside of quotation marks and brackets.
fn item(text: &[u8], until: u8) -> Option<(&[u8], &[u8])> {
    let (mut depth, mut quotation, mut escaped) = (0u32, None, false);
    for (at, &byte) in text.iter().enumerate() {
        match (quotation, byte) {
            _ if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(mark), _) if byte == mark => quotation = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quotation = Some(byte),
            (None, b'[' | b'(' | b'{') => depth += 1,
            (None, b']' | b')' | b'}') if depth > 0 => depth -= 1,
            (None, b'}') => return (until == b',').then(|| (&text[..at], &[][..])),
            (None, _) if byte == until && depth == 0 => {
                return Some((&text[..at], &text[at + 1..]));
            }
            (None, _) => {}
        }
    }
    None
}

/// Unwraps a number that NumPy wrote with its type, such as `np.float64(2.5)`.
fn number_of(value: &[u8]) -> &[u8] {
    let inner = value
        .strip_suffix(b")")
        .filter(|_| value.starts_with(b"np."));
    let open = inner.and_then(|inner| inner.iter().position(|&byte| byte == b'('));
    match (inner, open) {
        (Some(inner), Some(open)) => &inner[open + 1..],
        _ => value,
    }
}

fn unquoted(key: &[u8]) -> &[u8] {
    match key {
        [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => inner,
        other => other,
    }
}
