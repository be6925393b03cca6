//! Source nodes given on the command line.
//!
//! A file of sources is read before the graph, so that a typing error in it costs no load. The
//! sources are matched to the nodes of the graph afterwards.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use seawall::Cause;
use seawall::graph::{Graph, did_you_mean};

/// Longest line of a file of sources in bytes.
const LINE_MAX: u64 = 4096;

#[derive(Debug, Args)]
#[command(next_help_heading = "Analysis")]
pub(super) struct SourceArgs {
    /// Node to start from, by its id or its name in the file; repeatable.
    ///
    /// Analyses that start everywhere ignore it. With ppr, NODE=W gives it the start weight W, such
    /// as 3=0.5; the others have 1.
    #[arg(long = "source", value_name = "NODE", value_parser = node)]
    sources: Vec<String>,
    /// More nodes to start from: a file with one id or name per line, with ppr also NODE=W; blank lines
    /// and lines that start with # do not count.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    sources_file: Option<PathBuf>,
}

/// A node's id or name; a negative number is a mistake, and names that look like one come in files.
fn node(text: &str) -> Result<String, String> {
    let is_negative =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if text.is_empty() || text.strip_prefix('-').is_some_and(is_negative) {
        return Err("expected an id, a whole number from 0, or a name".to_owned());
    }
    Ok(text.to_owned())
}

/// A file of sources could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourcesError {
    /// The operating system refused an action.
    #[error("{file}: cannot read: {source}")]
    Io {
        /// The file as the caller named it.
        file: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A line that is too long for an id or a name.
    #[error("{file}:{line}: {value:?} is too long for a node; write one id or name a line")]
    Line {
        /// The file as the caller named it.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Its content, shortened.
        value: String,
    },
}

impl SourcesError {
    pub(super) fn cause(&self) -> Cause {
        match self {
            Self::Io { source, .. } => Cause::of_io(source),
            Self::Line { .. } => Cause::Request,
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{given}: {graph} has no such node{meant}; {range}")]
pub(super) struct NoSuchSource {
    /// The id and its origin.
    pub(super) given: String,
    pub(super) graph: String,
    /// The existing ids.
    pub(super) range: IdRange,
    /// The question whether another name was meant.
    meant: String,
}

/// The ids of a graph's nodes, for messages.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub(super) enum IdRange {
    /// The graph has no nodes.
    Empty,
    /// Smallest and largest id.
    Span {
        first: u64,
        last: u64,
        /// Whether there are gaps between them.
        gaps: bool,
    },
    Names {
        first: String,
        last: String,
    },
}

impl std::fmt::Display for IdRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("it has no nodes at all"),
            Self::Span {
                first,
                last,
                gaps: false,
            } => write!(f, "its ids go from {first} to {last}"),
            Self::Span {
                first,
                last,
                gaps: true,
            } => {
                write!(f, "its ids go from {first} to {last}, with gaps")
            }
            Self::Names { first, last } => {
                write!(f, "its nodes have names, from {first:?} to {last:?}")
            }
        }
    }
}

/// A source and its origin.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    /// Its id or its name.
    label: String,
    /// Line of the file, from 1; `None` for an option.
    line: Option<u64>,
}

/// All sources of the command line.
#[derive(Debug)]
pub struct Sources {
    file: String,
    named: Vec<Named>,
}

impl SourceArgs {
    pub(super) fn file(&self) -> Option<&Path> {
        self.sources_file.as_deref()
    }

    /// Returns all sources: those of `--source` first, then those of the file.
    pub(super) fn read(&self) -> Result<Sources, SourcesError> {
        let option = |label: &String| Named {
            label: label.clone(),
            line: None,
        };
        let mut sources = Sources {
            file: String::new(),
            named: self.sources.iter().map(option).collect(),
        };
        if let Some(path) = &self.sources_file {
            let file = path.display().to_string();
            let opened = File::open(path).map_err(|source| SourcesError::Io {
                file: file.clone(),
                source,
            })?;
            let of_file = Sources::from_reader(&file, BufReader::new(opened))?;
            sources.file = file;
            sources.named.extend(of_file.named);
        }
        Ok(sources)
    }
}

impl Sources {
    /// The ids and names, in the order given.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|named| named.label.as_str())
    }

    pub(super) fn len(&self) -> usize {
        self.named.len()
    }

    /// Parses `lines`, the content of the file that messages call `file`.
    ///
    /// # Errors
    /// [`SourcesError`] for the first line that is too long.
    pub fn from_reader(file: &str, mut lines: impl BufRead) -> Result<Self, SourcesError> {
        let failed = |source| SourcesError::Io {
            file: file.to_owned(),
            source,
        };
        let mut sources = Self {
            file: file.to_owned(),
            named: Vec::new(),
        };
        let (mut bytes, mut line) = (Vec::new(), 0);
        loop {
            bytes.clear();
            line += 1;
            let piece = (&mut lines).take(LINE_MAX).read_until(b'\n', &mut bytes);
            if piece.map_err(failed)? == 0 {
                return Ok(sources);
            }
            let text = String::from_utf8_lossy(&bytes);
            // Some editors write a byte order mark first.
            let text = match line {
                1 => text.trim_start_matches('\u{feff}').trim(),
                _ => text.trim(),
            };
            let is_whole = bytes.ends_with(b"\n") || (bytes.len() as u64) < LINE_MAX;
            if is_whole && (text.is_empty() || text.starts_with('#')) {
                continue;
            }
            if !is_whole {
                return Err(SourcesError::Line {
                    file: file.to_owned(),
                    line,
                    value: text.chars().take(40).collect(),
                });
            }
            sources.named.push(Named {
                label: text.to_owned(),
                line: Some(line),
            });
        }
    }

    /// Returns the start weight of each source in `graph`; none if all are alike.
    pub(super) fn weights(&self, graph: &Graph) -> Vec<f64> {
        let found = self.named.iter().map(|named| start(graph, &named.label));
        let weights = found.map(|found| found.and_then(|(_, weight)| weight));
        let weights: Vec<_> = weights.collect();
        if weights.iter().all(Option::is_none) {
            return Vec::new();
        }
        let weights = weights.into_iter();
        weights.map(|weight| weight.unwrap_or(1.0)).collect()
    }

    /// Returns the number of the node that `label` is the id or name of in `graph`, which the
    /// caller named `name`.
    pub(super) fn target(graph: &Graph, name: &str, label: &str) -> Result<u32, NoSuchSource> {
        graph.find(label).ok_or_else(|| NoSuchSource {
            given: format!("--target {label}"),
            graph: name.to_owned(),
            range: id_range(graph),
            meant: meant(graph, label),
        })
    }

    /// Returns the node numbers of the sources in `graph`, which the caller named `name`.
    pub(super) fn nodes(&self, graph: &Graph, name: &str) -> Result<Vec<u32>, NoSuchSource> {
        let node = |named: &Named| {
            let found = start(graph, &named.label).map(|(node, _)| node);
            found.ok_or_else(|| NoSuchSource {
                given: self.given(named),
                graph: name.to_owned(),
                range: id_range(graph),
                meant: meant(graph, &named.label),
            })
        };
        self.named.iter().map(node).collect()
    }

    fn given(&self, named: &Named) -> String {
        match named.line {
            Some(line) => format!("{}:{line}: {}", self.file, named.label),
            None => format!("--source {}", named.label),
        }
    }
}

/// The node of `graph` that `text` names, and its start weight if there is one: `NODE` or
/// `NODE=WEIGHT`. A name that contains the sign takes precedence.
fn start(graph: &Graph, text: &str) -> Option<(u32, Option<f64>)> {
    if let Some(node) = graph.find(text) {
        return Some((node, None));
    }
    let (label, weight) = text.rsplit_once('=')?;
    let weight = weight.trim().parse().ok()?;
    Some((graph.find(label.trim())?, Some(weight)))
}

/// Names that are compared with a wrong one.
const COMPARED: u32 = 1 << 20;

/// The question whether a name of `graph` was meant by `label`.
fn meant(graph: &Graph, label: &str) -> String {
    let nodes = 0..graph.nodes().min(COMPARED);
    did_you_mean(label, nodes.filter_map(|node| graph.name_of(node)))
}

fn id_range(graph: &Graph) -> IdRange {
    let Some(highest) = graph.nodes().checked_sub(1) else {
        return IdRange::Empty;
    };
    if let (Some(first), Some(last)) = (graph.name_of(0), graph.name_of(highest)) {
        return IdRange::Names {
            first: first.to_owned(),
            last: last.to_owned(),
        };
    }
    let (first, last) = (graph.original_id(0), graph.original_id(highest));
    IdRange::Span {
        first,
        last,
        gaps: last.saturating_sub(first) != u64::from(highest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8]) -> Result<Vec<(String, Option<u64>)>, SourcesError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids");
        std::fs::write(&path, content).unwrap();
        let arguments = SourceArgs {
            sources: vec!["7".to_owned()],
            sources_file: Some(path),
        };
        let sources = arguments.read()?;
        let named = sources.named.into_iter();
        Ok(named.map(|named| (named.label, named.line)).collect())
    }

    #[test]
    fn start_weights_follow_the_labels() {
        let graph = Graph::from_edges(4, &[(0, 1), (2, 3)], false).unwrap();
        let of = |text| start(&graph, text);
        assert_eq!(of("3"), Some((3, None)));
        assert_eq!(of("3=0.5"), Some((3, Some(0.5))));
        assert_eq!(of("3 = -2"), Some((3, Some(-2.0))));
        for wrong in ["", "=", "3=", "=1", "3=1=2", "x=1", "4=1"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        let sources = |text: &str| Sources::from_reader("ids", text.as_bytes()).unwrap();
        assert_eq!(sources("1\n2=0.25\n").weights(&graph), [1.0, 0.25]);
        assert!(sources("1\n2\n").weights(&graph).is_empty());
    }

    #[test]
    fn ids_and_names_follow_the_options_with_their_lines() {
        let labels = read(b"\xef\xbb\xbf# roots\r\n\n 3 \r\nNew York").unwrap();
        let labels: Vec<_> = labels
            .iter()
            .map(|(label, line)| (label.as_str(), *line))
            .collect();
        assert_eq!(labels, [("7", None), ("3", Some(3)), ("New York", Some(4))]);
        assert_eq!(read(b"").unwrap().len(), 1);
        let long = [b'#'; 2 * LINE_MAX as usize];
        assert!(read(&long).unwrap_err().to_string().contains("ids:1: "));
    }

    #[test]
    fn labels_of_no_node_are_named_with_their_lines() {
        let numbers = Graph::from_edges(3, &[(0, 1)], false).unwrap();
        for label in ["3", "-2", "1 2", "18446744073709551616", "x"] {
            let sources = Sources::from_reader("ids", format!("1\n{label}\n").as_bytes()).unwrap();
            let error = sources.nodes(&numbers, "g").unwrap_err().to_string();
            let expected = format!("ids:2: {label}: g has no such node; its ids go from 0 to 2");
            assert_eq!(error, expected);
        }
    }
}
