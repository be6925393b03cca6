//! Reads GraphML: one graph whose nodes and edges are elements.
//!
//! The weight of an edge is its attribute `weight`, or the one that the caller names. Ids of nodes
//! are names, unless all are plain numbers. Nested graphs and edges of more than two ends are
//! refused. Entities are not expanded beyond those of XML itself, elements nest a few levels, and
//! one element is at most as long as a line of text: memory follows the file.

use std::io::{self, BufRead, BufReader, Read};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::chunks::LINE_BYTES;
use super::listed::{Listed, Problem, name_of};
use super::quote::quote;
use super::source::Source;
use crate::load::{ColumnRef, LoadOptions, Loaded};
use crate::{Format, GraphError, LineProblem};

/// Most levels of elements.
const DEPTH_MAX: usize = 32;
/// The attribute that is an edge's weight.
const WEIGHT: &str = "weight";

/// Whether a file with these first bytes is of this format.
pub(super) fn starts(head: &[u8]) -> bool {
    let has = |word: &[u8]| head.windows(word.len()).any(|part| part == word);
    head.trim_ascii_start().starts_with(b"<") && has(b"<graphml")
}

/// Loads a file or stream of this format.
pub(super) fn load_graphml(
    mut source: Source,
    options: &LoadOptions,
) -> Result<Loaded, GraphError> {
    let mut listed = Listed::new(&source.name, options)?;
    let name = source.name.clone();
    let (undirected, line) = {
        let mut reader = Reader::from_reader(Lines::of(&mut source));
        let mut document = Document {
            listed: &mut listed,
            weight_name: weight_name(options),
            weight_keys: Vec::new(),
            weight_default: None,
            undirected: None,
            graphs: 0,
            kinds: Kinds::None,
            mentions: Vec::new(),
            edge: None,
            text: Text::Ignored,
            depth: 0,
        };
        let read = document.read(&mut reader);
        let line = reader.get_ref().line;
        let undirected = document.kinds == Kinds::Undirected
            || document.kinds == Kinds::None && document.undirected == Some(true);
        match read {
            Ok(()) => (undirected, line),
            Err(Problem::Graph(error)) => return Err(error),
            Err(Problem::Line(problem)) => {
                return Err(reader.into_inner().failed(name, problem));
            }
        }
    };
    if listed.nodes() == 0 && line == 0 {
        return Err(GraphError::Empty { file: name });
    }
    listed.finish(&source, Format::GraphMl, undirected)
}

fn weight_name(options: &LoadOptions) -> &str {
    match &options.columns.weight {
        Some(ColumnRef::Name(name)) => name,
        _ => WEIGHT,
    }
}

fn xml(error: &impl std::fmt::Display) -> Problem {
    Problem::Line(LineProblem::Xml {
        reason: error.to_string(),
    })
}

/// Bytes of the source, with a count of lines and a limit on the length of an element.
struct Lines<'a> {
    stream: BufReader<Bytes<'a>>,
    /// Line of the next byte, from 1; 0 before the first byte.
    line: u64,
    /// Bytes that the current element may still take.
    left: usize,
    error: Option<GraphError>,
}

struct Bytes<'a>(&'a mut Source);

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.fill(buffer).map_err(io::Error::other)
    }
}

impl<'a> Lines<'a> {
    fn of(source: &'a mut Source) -> Self {
        Self {
            stream: BufReader::new(Bytes(source)),
            line: 0,
            left: LINE_BYTES,
            error: None,
        }
    }

    /// The error for a problem of the current line, or that of the source under it.
    fn failed(self, file: String, problem: LineProblem) -> GraphError {
        let too_long = LineProblem::TooLong { limit: LINE_BYTES };
        self.error.unwrap_or(GraphError::Line {
            file,
            line: self.line.max(1),
            problem: if self.left == 0 { too_long } else { problem },
        })
    }
}

impl Read for Lines<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Lines<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left == 0 {
            return Err(io::Error::other("an element is too long"));
        }
        match self.stream.fill_buf() {
            Ok(bytes) => Ok(&bytes[..bytes.len().min(self.left)]),
            Err(error) => Err(match error.downcast::<GraphError>() {
                Ok(error) => {
                    self.error = Some(error);
                    io::Error::other("reading failed")
                }
                Err(error) => error,
            }),
        }
    }

    fn consume(&mut self, count: usize) {
        let taken = self.stream.buffer().get(..count).unwrap_or_default();
        let lines = taken.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.line = self.line.max(1) + lines;
        self.left -= count.min(self.left);
        self.stream.consume(count);
    }
}

/// Directions of the edges so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinds {
    None,
    Undirected,
    /// Some or all are directed; for the others the mirror image is added.
    Directed,
}

/// An edge whose element is open.
struct Edge {
    ends: [u32; 2],
    undirected: bool,
    weight: Option<String>,
}

/// Meaning of the text between elements.
enum Text {
    Ignored,
    /// The weight of the open edge.
    Weight(String),
    /// None yet: the open key may have a default.
    Key,
    /// The weight of edges without one.
    Default(String),
}

/// State of a document that is being read.
struct Document<'d, 'o> {
    listed: &'d mut Listed<'o>,
    weight_name: &'d str,
    /// Keys of the weight's attribute: writers have one for each type of its values.
    weight_keys: Vec<String>,
    weight_default: Option<String>,
    /// Whether edges are undirected unless they say otherwise, from the start of the graph on.
    undirected: Option<bool>,
    graphs: u32,
    kinds: Kinds,
    /// For each label the line of an edge that names it, or 0 once the node is declared.
    mentions: Vec<u64>,
    edge: Option<Edge>,
    text: Text,
    depth: usize,
}

impl Document<'_, '_> {
    fn read(&mut self, reader: &mut Reader<Lines<'_>>) -> Result<(), Problem> {
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            reader.get_mut().left = LINE_BYTES;
            let event = reader.read_event_into(&mut buffer);
            match event.map_err(|error| xml(&error))? {
                Event::Start(element) => {
                    let line = reader.get_ref().line;
                    self.start(&element, line)?;
                    self.depth += 1;
                    if self.depth > DEPTH_MAX {
                        return Err(xml(&format!("elements nest more than {DEPTH_MAX} levels")));
                    }
                }
                Event::Empty(element) => {
                    let line = reader.get_ref().line;
                    self.start(&element, line)?;
                    self.end(element.local_name().as_ref())?;
                }
                Event::End(element) => {
                    self.depth = self.depth.saturating_sub(1);
                    self.end(element.local_name().as_ref())?;
                }
                Event::Text(text) => self.take_text(&text.into_inner()),
                Event::CData(text) => self.take_text(&text.into_inner()),
                Event::GeneralRef(_) => self.take_text("&"),
                Event::Eof if self.depth > 0 => {
                    return Err(xml(&"the file ends within an element"));
                }
                Event::Eof => return self.check_end(),
                _ => {}
            }
        }
    }

    fn check_end(&mut self) -> Result<(), Problem> {
        if self.graphs == 0 {
            return Err(xml(&"there is no element <graph>"));
        }
        let mentions = (0..).zip(&self.mentions);
        match mentions.into_iter().find(|(_, line)| **line > 0) {
            Some((label, line)) => Err(Problem::Line(LineProblem::UndeclaredNode {
                line: *line,
                value: quote(self.listed.name(label).as_bytes()),
            })),
            None => Ok(()),
        }
    }

    fn start(&mut self, element: &BytesStart<'_>, line: u64) -> Result<(), Problem> {
        match element.local_name().as_ref() {
            "graph" => self.graph(element),
            "key" => self.key(element),
            "default" if matches!(self.text, Text::Key) => {
                self.text = Text::Default(String::new());
                Ok(())
            }
            "node" => self.node(element),
            "edge" => self.open_edge(element, line),
            "data" => self.data(element),
            "hyperedge" => Err(Problem::Line(LineProblem::Unsupported {
                what: "an edge of more than two ends",
                value: "<hyperedge>".to_owned(),
                remedy: "write an edge for each pair",
            })),
            _ => Ok(()),
        }
    }

    fn graph(&mut self, element: &BytesStart<'_>) -> Result<(), Problem> {
        self.graphs += 1;
        if self.graphs > 1 {
            return Err(Problem::Line(LineProblem::Unsupported {
                what: "a second or nested graph in one file",
                value: "<graph>".to_owned(),
                remedy: "write one graph a file",
            }));
        }
        self.undirected = Some(match &*required(element, "edgedefault")? {
            "directed" => false,
            "undirected" => true,
            other => {
                return Err(Problem::Line(LineProblem::Unsupported {
                    what: "this edgedefault",
                    value: quote(other.as_bytes()),
                    remedy: "use directed or undirected",
                }));
            }
        });
        Ok(())
    }

    fn key(&mut self, element: &BytesStart<'_>) -> Result<(), Problem> {
        let is_of_edges = match attribute(element, "for")?.as_deref() {
            None => true,
            Some(kind) => matches!(kind, "edge" | "all"),
        };
        let name = attribute(element, "attr.name")?;
        if is_of_edges && name.as_deref() == Some(self.weight_name) {
            self.weight_keys.push(required(element, "id")?);
            self.text = Text::Key;
        }
        Ok(())
    }

    fn node(&mut self, element: &BytesStart<'_>) -> Result<(), Problem> {
        let id = required(element, "id")?;
        let label = self.listed.node(name_of(id.as_bytes())?)?;
        match self.mentions.get_mut(label as usize) {
            Some(0) => Err(Problem::Line(LineProblem::DuplicateNode {
                value: quote(id.as_bytes()),
            })),
            Some(mention) => {
                *mention = 0;
                Ok(())
            }
            None => {
                self.mentions.push(0);
                Ok(())
            }
        }
    }

    fn open_edge(&mut self, element: &BytesStart<'_>, line: u64) -> Result<(), Problem> {
        let Some(default) = self.undirected else {
            return Err(xml(&"an element <edge> before <graph>"));
        };
        let mut ends = [0; 2];
        for (end, name) in ends.iter_mut().zip(["source", "target"]) {
            let id = required(element, name)?;
            *end = self.listed.node(name_of(id.as_bytes())?)?;
            if *end as usize >= self.mentions.len() {
                self.mentions.push(line.max(1));
            }
        }
        let undirected = match attribute(element, "directed")?.as_deref() {
            None => default,
            Some("true" | "1") => false,
            Some("false" | "0") => true,
            Some(other) => {
                return Err(Problem::Line(LineProblem::Unsupported {
                    what: "this direction of an edge",
                    value: quote(other.as_bytes()),
                    remedy: "use true or false",
                }));
            }
        };
        self.edge = Some(Edge {
            ends,
            undirected,
            weight: None,
        });
        Ok(())
    }

    fn data(&mut self, element: &BytesStart<'_>) -> Result<(), Problem> {
        if self.edge.is_some() && !self.weight_keys.is_empty() {
            let key = required(element, "key")?;
            if self.weight_keys.contains(&key) {
                self.text = Text::Weight(String::new());
            }
        }
        Ok(())
    }

    fn take_text(&mut self, text: &str) {
        match &mut self.text {
            Text::Weight(all) | Text::Default(all) => all.push_str(text),
            Text::Ignored | Text::Key => {}
        }
    }

    fn end(&mut self, name: &str) -> Result<(), Problem> {
        match name {
            "edge" => match self.edge.take() {
                Some(edge) => self.close_edge(edge),
                None => Ok(()),
            },
            "data" | "default" | "key" => {
                match std::mem::replace(&mut self.text, Text::Ignored) {
                    Text::Weight(text) => {
                        if let Some(edge) = &mut self.edge {
                            edge.weight = Some(text);
                        }
                    }
                    Text::Default(text) if !text.trim().is_empty() => {
                        self.weight_default = Some(text);
                    }
                    _ => {}
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn close_edge(&mut self, edge: Edge) -> Result<(), Problem> {
        let text = edge.weight.as_ref().or(self.weight_default.as_ref());
        let text = text.map(|text| text.trim().as_bytes());
        let weight = self.listed.value(text, b"<edge>")?;
        match (self.kinds, edge.undirected) {
            (Kinds::None, true) => self.kinds = Kinds::Undirected,
            (Kinds::None, false) => self.kinds = Kinds::Directed,
            (Kinds::Undirected, false) => {
                self.listed.mirror()?;
                self.kinds = Kinds::Directed;
            }
            _ => {}
        }
        let [from, to] = edge.ends;
        self.listed.edge([from, to], weight, true)?;
        if edge.undirected && self.kinds == Kinds::Directed && from != to {
            self.listed.edge([to, from], weight, false)?;
        }
        Ok(())
    }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, Problem> {
    let found = element
        .try_get_attribute(name)
        .map_err(|error| xml(&error))?;
    match found {
        None => Ok(None),
        Some(found) => {
            let value = found
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| xml(&error))?;
            Ok(Some(value.into_owned()))
        }
    }
}

fn required(element: &BytesStart<'_>, name: &'static str) -> Result<String, Problem> {
    let missing = || {
        Problem::Line(LineProblem::MissingAttribute {
            element: quote(element.local_name().as_ref().as_bytes()),
            attribute: name,
        })
    };
    attribute(element, name)?.ok_or_else(missing)
}
