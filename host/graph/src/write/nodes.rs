//! Ids and names of nodes in written files.
//!
//! Text formats carry facts that they cannot express in comments, see [`crate::notes`]; binary
//! formats that cannot hold ids refuse graphs with ids other than 0, 1, 2, ….

use std::io;

use super::Obstacle;
use super::sink::Sink;
use crate::ids::Ids;
use crate::read::{names_ends, starts_like_a_name};
use crate::{Format, Graph, memory, notes};

const RENUMBER: &str = "number nodes from 0 (--renumber), or write .swg, .csv, .mtx or .el";

/// Ids or names that the format cannot hold.
pub(super) fn obstacle(graph: &Graph, format: Format) -> Option<Obstacle> {
    match (graph.ids(), format) {
        (Ids::Names(_), Format::Npz | Format::Ecl | Format::Gbbs) => {
            Some(("names of nodes", RENUMBER))
        }
        (Ids::Offset(0), _) | (Ids::Names(_), Format::Binary) => None,
        (_, Format::Ecl | Format::Gbbs) => Some(("ids of nodes other than 0, 1, 2, …", RENUMBER)),
        (Ids::Names(names), _) => names
            .iter()
            .find_map(|name| obstacle_of(name, format))
            .or_else(|| {
                let is_header =
                    format == Format::EdgeList && names_ends(first_edge(graph).as_bytes());
                is_header.then_some((
                    "a first edge that looks like names of columns",
                    "write .csv",
                ))
            }),
        _ => None,
    }
}

fn obstacle_of(name: &str, format: Format) -> Option<Obstacle> {
    let is_list = format == Format::EdgeList;
    if name.trim_ascii() != name {
        return Some((
            "names that start or end with a blank",
            "number nodes from 0 (--renumber), or write .swg",
        ));
    }
    let is_special = |byte: u8| byte.is_ascii_whitespace() || b",;\"{".contains(&byte);
    let is_broken = name.starts_with(['#', '%']) || name.bytes().any(is_special);
    let remedy = "write .csv, or number nodes from 0 (--renumber)";
    (is_list && is_broken).then_some((
        "names with blanks, commas, quotation marks or braces",
        remedy,
    ))
}

/// The names of the first edge, as a line.
fn first_edge(graph: &Graph) -> String {
    let ends = ends_of_first_edge(graph);
    ends.map(|[from, to]| format!("{from} {to}"))
        .unwrap_or_default()
}

fn ends_of_first_edge(graph: &Graph) -> Option<[&str; 2]> {
    let from = (0..graph.nodes()).find(|node| !graph.neighbours(*node).is_empty())?;
    let to = *graph.neighbours(from).first()?;
    Some([graph.name_of(from)?, graph.name_of(to)?])
}

/// Writes the ids of nodes, if they differ from the format's numbers from 1.
pub(super) fn write_numbered(graph: &Graph, sign: &str, sink: &mut Sink) -> io::Result<()> {
    match graph.ids() {
        Ids::Offset(1) => Ok(()),
        Ids::Offset(first) => notes::write_range(sink, sign, *first, graph.nodes()),
        Ids::Table(ids) => notes::write_nodes(sink, sign, ids.iter().copied()),
        Ids::Names(names) => notes::write_names(sink, sign, names.iter()),
    }
}

/// Writes the facts that a list of edges lacks: nodes without edges, and that ids are names.
pub(super) fn write_listed(graph: &Graph, format: Format, sink: &mut Sink) -> io::Result<()> {
    const SIGN: &str = "#";
    if let Ids::Names(_) = graph.ids() {
        let ends = ends_of_first_edge(graph);
        let is_seen = ends.is_some_and(|ends| ends.into_iter().any(starts_like_a_name));
        if format != Format::Csv || !is_seen {
            notes::write_has_names(sink, SIGN)?;
        }
    }
    let isolated = isolated(graph)?;
    let isolated = || {
        (0..graph.nodes())
            .zip(&isolated)
            .filter(|(_, is)| **is)
            .map(|(node, _)| node)
    };
    if isolated().next().is_none() {
        return Ok(());
    }
    match graph.ids() {
        // The count of nodes before this has the same effect.
        Ids::Offset(0) if format == Format::EdgeList => Ok(()),
        Ids::Offset(first) => notes::write_range(sink, SIGN, *first, graph.nodes()),
        Ids::Table(_) => {
            notes::write_nodes(sink, SIGN, isolated().map(|node| graph.original_id(node)))
        }
        Ids::Names(names) => {
            notes::write_names(sink, SIGN, isolated().filter_map(|node| names.get(node)))
        }
    }
}

/// Whether each node is an end of no edge.
fn isolated(graph: &Graph) -> io::Result<Vec<bool>> {
    let nodes = graph.nodes() as usize;
    let flags = memory::zeroed::<u8>(nodes).map_err(|short| {
        io::Error::new(
            io::ErrorKind::OutOfMemory,
            format!("{} bytes are missing", short.needed),
        )
    })?;
    let mut isolated: Vec<bool> = flags.into_iter().map(|_| true).collect();
    for (node, flag) in (0..).zip(&mut isolated) {
        *flag = graph.neighbours(node).is_empty();
    }
    if !graph.is_symmetric() {
        for &target in graph.targets() {
            isolated[target as usize] = false;
        }
    }
    Ok(isolated)
}

/// Appends a name, between quotation marks where a table needs them.
pub(super) fn push_name(text: &mut Vec<u8>, name: &str) {
    let is_special = |byte: u8| b",;\"".contains(&byte);
    if name.starts_with(['#', '%', ' ', '{']) || name.ends_with(' ') || name.bytes().any(is_special)
    {
        text.push(b'"');
        text.extend_from_slice(name.replace('"', "\"\"").as_bytes());
        text.push(b'"');
    } else {
        text.extend_from_slice(name.as_bytes());
    }
}
