//! Edge lists as tables: columns between commas, semicolons, tabs or blanks, with or
//! without names, and the attributes that NetworkX writes as a Python dict.
//!
//! The common edge list, numbers between blanks, has a faster path in [`super::body`]. Nothing is
//! taken by its position where a first line has names: it names both ends, or the caller chooses.

use std::borrow::Cow;

use super::fields::Fields;
use super::parsed::Parsed;
use super::quote::quote;
use crate::load::{ColumnChoice, ColumnRef};
use crate::{LineProblem, LoadOptions};

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
    pub(super) ids: IdKind,
}

/// Meaning of the ends of edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdKind {
    Numbers,
    /// Names, since the first end is one; a plain number among them is an error, because the first
    /// line may have been one of other names.
    Words,
    Names,
}

/// Attributes in braces after the ends of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attributes {
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
    /// Names of columns. The first edge decides the kind of the ids.
    Header(Table),
    Edge(Table),
    /// Names of columns, above edges whose ids are numbers.
    NumbersBelow(Table),
    /// Two or three numbers between blanks, as in any edge list.
    Plain,
}

/// A line that was taken as the names of columns and has the form of an edge between names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NamedEnds {
    /// From 1.
    pub(super) line: u64,
    pub(super) names: [String; 2],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Wish<'a> {
    pub(super) weights: bool,
    pub(super) skip_columns: bool,
    pub(super) columns: &'a ColumnChoice,
    pub(super) names: bool,
}

impl<'a> Wish<'a> {
    pub(super) fn of(options: &'a LoadOptions) -> Self {
        Self {
            weights: options.weights.are_read(),
            skip_columns: options.skip_columns,
            columns: &options.columns,
            names: options.names,
        }
    }
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

/// Returns whether a line names both ends of edges, so that it starts a table whatever the file is
/// called.
pub(crate) fn names_ends(line: &[u8]) -> bool {
    let names = names_of(line, delimiter_of(line));
    position(&names, STARTS).is_some() && position(&names, ENDS).is_some()
}

/// Most columns of a first line that are looked at: a name takes many times the bytes of a short
/// column.
const COLUMNS_MOST: usize = 1 << 16;

/// Finds the columns from the first line.
pub(super) fn first(line: &[u8], wish: Wish<'_>) -> Result<First, LineProblem> {
    let delimiter = delimiter_of(line);
    let names = names_of(line, delimiter);
    let ends = position(&names, STARTS).zip(position(&names, ENDS));
    if wish.columns.is_some() {
        return chosen(line, &names, delimiter, wish);
    }
    if let Some(ends) = ends {
        return header(&names, delimiter, ends.0, ends.1, wish);
    }
    let is_named = names.iter().take(2).any(|name| !is_number(name));
    if is_named && !wish.names && (matches!(delimiter, b',' | b';') || !has_edge(&names, line)) {
        return Err(LineProblem::UnnamedColumns { value: quote(line) });
    }
    let ids = match (wish.names, is_named) {
        (true, _) => IdKind::Names,
        (false, true) => IdKind::Words,
        (false, false) => IdKind::Numbers,
    };
    let braces = line.iter().position(|&byte| byte == b'{');
    let is_plain = ids == IdKind::Numbers && delimiter == b' ' && !line.contains(&b'"');
    if is_plain && braces.is_none() && !wish.skip_columns {
        return Ok(First::Plain);
    }
    let mut table = Table {
        ids,
        ..Table::of_two(delimiter)
    };
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
    table.columns = (!wish.skip_columns).then_some(names.len().min(3));
    Ok(First::Edge(table))
}

/// Returns whether a column starts like a number; the parser checks that it is one.
fn is_number(column: &str) -> bool {
    let digits = column.trim_start_matches(['-', '+']);
    digits.starts_with(|first: char| first.is_ascii_digit())
}

/// Returns whether a line without numbers at its start may be an edge between names: two columns, a
/// weight or attributes.
fn has_edge(names: &[String], line: &[u8]) -> bool {
    match names {
        [_, _] => true,
        [_, _, weight] => is_number(weight) || line.contains(&b'{'),
        _ => line.contains(&b'{'),
    }
}

/// A table whose first line names both ends.
fn header(
    names: &[String],
    delimiter: u8,
    from: usize,
    to: usize,
    wish: Wish<'_>,
) -> Result<First, LineProblem> {
    let other = |at: &usize| *at != from && *at != to;
    let weight = position(names, WEIGHTS).filter(other);
    let extra = (0..names.len()).find(|at| other(at) && Some(*at) != weight);
    if let Some(at) = extra.filter(|_| !wish.skip_columns) {
        return Err(extra_column(at, names[at].as_bytes()));
    }
    Ok(First::Header(Table {
        from,
        to,
        weight: weight.filter(|_| wish.weights),
        columns: (!wish.skip_columns).then_some(names.len()),
        ..Table::of_two(delimiter)
    }))
}

fn extra_column(at: usize, content: &[u8]) -> LineProblem {
    let value = quote(content);
    let column = at + 1;
    if at == 0 && (content.is_empty() || content.starts_with(b"Unnamed")) {
        return LineProblem::IndexColumn { value };
    }
    LineProblem::ExtraColumn { column, value }
}

/// A table whose columns the caller chose; all others are skipped.
fn chosen(
    line: &[u8],
    names: &[String],
    delimiter: u8,
    wish: Wish<'_>,
) -> Result<First, LineProblem> {
    let ColumnChoice {
        source,
        target,
        weight,
    } = wish.columns;
    let find = |column: &Option<ColumnRef>| match column {
        None => Ok(None),
        Some(column) => column_of(column, names, line).map(Some),
    };
    let (source, target, weight) = (find(source)?, find(target)?, find(weight)?);
    let known = (position(names, STARTS), position(names, ENDS));
    let is_found = (source.or(known.0)).is_some() && (target.or(known.1)).is_some();
    let has_known = known.0.is_some() || known.1.is_some();
    let is_named = wish.columns.has_names() || is_found && has_known;
    let defaults = if is_named { known } else { (Some(0), Some(1)) };
    let ends = source.or(defaults.0).zip(target.or(defaults.1));
    let (from, to) = ends.ok_or_else(|| LineProblem::UnnamedColumns { value: quote(line) })?;
    let other = |at: &usize| *at != from && *at != to;
    if from == to || weight.is_some_and(|weight| !other(&weight)) {
        return Err(LineProblem::SharedColumn {
            column: if from == to {
                from + 1
            } else {
                weight.unwrap_or(0) + 1
            },
        });
    }
    let number_at = |at: usize| names.get(at).is_some_and(|name| is_number(name));
    let is_edge = !is_named && (wish.names || number_at(from) && number_at(to));
    if !is_named && !is_edge && (source.is_none() || target.is_none()) {
        return Err(LineProblem::UnnamedColumns { value: quote(line) });
    }
    let known = match is_edge {
        true => third_of(names, from, to),
        false => position(names, WEIGHTS),
    };
    let table = Table {
        from,
        to,
        weight: weight.or(known.filter(other)).filter(|_| wish.weights),
        columns: None,
        ids: if wish.names {
            IdKind::Names
        } else {
            IdKind::Numbers
        },
        ..Table::of_two(delimiter)
    };
    match () {
        () if is_named => Ok(First::Header(table)),
        () if is_edge => Ok(First::Edge(table)),
        // If it were an edge, its ids would be names, and the ids of other edges numbers.
        () => Ok(First::NumbersBelow(table)),
    }
}

/// The one other column of three.
fn third_of(names: &[String], from: usize, to: usize) -> Option<usize> {
    let is_third = names.len() == 3 && from < 3 && to < 3;
    is_third.then(|| 3 - from - to)
}

fn column_of(column: &ColumnRef, names: &[String], line: &[u8]) -> Result<usize, LineProblem> {
    let found = match column {
        ColumnRef::Number(number) => number.checked_sub(1).filter(|at| *at < names.len()),
        ColumnRef::Name(asked) => {
            let exact = names.iter().position(|name| name == asked);
            let alike = || {
                names
                    .iter()
                    .position(|name| plain_name(name) == plain_name(asked))
            };
            exact.or_else(|| alike().filter(|_| !plain_name(asked).is_empty()))
        }
    };
    found.ok_or_else(|| LineProblem::NoSuchColumn {
        column: column.to_string(),
        value: quote(line),
    })
}

/// Whether the ids of a table are names, by its first edge.
pub(super) fn kind_of_ids(line: &[u8], table: &Table) -> IdKind {
    let names = names_of(line, table.delimiter);
    let ends = [table.from, table.to].map(|at| names.get(at));
    let is_word = |end: &Option<&String>| end.is_some_and(|end| starts_like_a_name(end));
    if ends.iter().any(is_word) {
        IdKind::Names
    } else {
        table.ids
    }
}

/// Returns whether a column starts as no number does, wrong or not.
pub(crate) fn starts_like_a_name(column: &str) -> bool {
    let is_sign =
        |first: char| first.is_ascii_punctuation() && first != '_' || first.is_ascii_digit();
    !column.is_empty() && !column.starts_with(is_sign)
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

/// Returns the first [`COLUMNS_MOST`] columns of a line as text.
fn names_of(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut columns = Columns::new(line, delimiter);
    let mut names = Vec::new();
    while names.len() < COLUMNS_MOST
        && let Ok(Some(column)) = columns.next()
    {
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
            ids: IdKind::Numbers,
        }
    }

    /// The names of both ends in a header that an edge of the same list could look like. Where columns
    /// are chosen, or a file without a header would be refused, a first line is never an edge.
    pub(super) fn named_ends(&self, header: &[u8], line: u64, wish: Wish<'_>) -> Option<NamedEnds> {
        let needs_header = matches!(self.delimiter, b',' | b';') && !wish.names;
        if needs_header || wish.columns.is_some() {
            return None;
        }
        let names = names_of(header, self.delimiter);
        let names = [self.from, self.to].map(|at| names[at].clone());
        Some(NamedEnds { line, names })
    }

    /// Returns whether every line has a weight that is wanted.
    pub(super) fn is_weighted(&self) -> bool {
        self.weight.is_some() || self.attributes == Attributes::Weighted
    }

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
            return Err(extra_column(count, column));
        }
        match count {
            at if at == table.from => ends[0] = Some(columns.end(column)),
            at if at == table.to => ends[1] = Some(columns.end(column)),
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
    // A column that only some lines have is no column of this table.
    if table.columns.is_some_and(|most| count < most) {
        let what = if table.weight.is_some() {
            "a weight"
        } else {
            "its last column"
        };
        return Err(missing(what));
    }
    let mut edge = [0u32; N];
    if N == 3 {
        let text = weight.ok_or_else(|| missing("a weight"))?;
        let mut fields = Fields::new(text);
        let rounded;
        (edge[N - 1], rounded) = parsed.weight(&mut fields)?;
        fields.end()?;
        parsed.rounded += u64::from(rounded);
    }
    match table.ids {
        IdKind::Numbers => parsed.free(edge, [id(from.column)?, id(to.column)?]),
        kind => parsed.named(edge, [&*name(from, kind)?, &*name(to, kind)?])?,
    }
    parsed.listed += 1;
    Ok(())
}

/// Returns whether a comment has as many columns as an edge: the sign may start a name.
pub(super) fn is_like_an_edge(line: &[u8], table: &Table) -> bool {
    let columns = names_of(line, table.delimiter).len();
    table.ids != IdKind::Numbers && table.delimiter != b' ' && table.columns == Some(columns)
}

fn id(column: &[u8]) -> Result<u64, LineProblem> {
    let column = column.trim_ascii();
    if String::from_utf8_lossy(column)
        .starts_with(|first: char| first.is_alphabetic() || first == '_')
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

fn name(end: EdgeEnd<'_>, kind: IdKind) -> Result<Cow<'_, str>, LineProblem> {
    let EdgeEnd { column, is_quoted } = end;
    let text = std::str::from_utf8(column).map_err(|_| LineProblem::NotUtf8 {
        value: quote(column),
    })?;
    let text = match is_quoted && text.contains("\"\"") {
        true => Cow::Owned(text.replace("\"\"", "\"")),
        false => Cow::Borrowed(text),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match &*text {
        "" => Err(LineProblem::EmptyNode),
        digits if kind == IdKind::Words && !is_quoted && is_digits(digits) => {
            Err(LineProblem::NumberedNode {
                value: quote(column),
            })
        }
        text if text.chars().any(char::is_control) => Err(LineProblem::ControlInName {
            value: quote(column),
        }),
        _ => Ok(text),
    }
}

/// The column of an end of an edge.
#[derive(Clone, Copy)]
struct EdgeEnd<'l> {
    /// Its content, without blanks and quotation marks around it.
    column: &'l [u8],
    /// Whether it was between quotation marks.
    is_quoted: bool,
}

/// The columns of a line, one after the other.
struct Columns<'l> {
    rest: Option<&'l [u8]>,
    delimiter: u8,
    /// Whether the last column was between quotation marks.
    is_quoted: bool,
}

impl<'l> Columns<'l> {
    fn new(line: &'l [u8], delimiter: u8) -> Self {
        let mut columns = Self {
            rest: None,
            delimiter,
            is_quoted: false,
        };
        columns.rest = Some(columns.trimmed(line));
        columns
    }

    /// Skips leading blanks; a tab between columns is not a blank.
    fn trimmed(&self, rest: &'l [u8]) -> &'l [u8] {
        let is_blank = |byte: &&u8| byte.is_ascii_whitespace() && !self.divides(**byte);
        &rest[rest.iter().take_while(is_blank).count()..]
    }

    /// Returns whether a byte that may be a blank separates columns here.
    fn divides(&self, byte: u8) -> bool {
        byte == self.delimiter && byte != b' '
    }

    /// Takes the next column, without blanks and quotation marks around it.
    fn next(&mut self) -> Result<Option<&'l [u8]>, LineProblem> {
        let Some(rest) = self.rest else {
            return Ok(None);
        };
        let start = self.trimmed(rest);
        self.is_quoted = start.starts_with(b"\"");
        if let Some(inner) = start.strip_prefix(b"\"") {
            return self.quoted(inner).map(Some);
        }
        let is_end = |byte: &u8| self.is_delimiter(*byte);
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        self.step(&rest[end..]);
        Ok(Some(rest[..end].trim_ascii()))
    }

    fn end(&self, column: &'l [u8]) -> EdgeEnd<'l> {
        EdgeEnd {
            column,
            is_quoted: self.is_quoted,
        }
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
        Ok(&inner[..end])
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
