//! Writes `.swg`; [`crate::binary`] describes the bytes.

use std::io::{self, Write};

use super::sink::Sink;
use crate::Graph;
use crate::WeightKind;
use crate::binary::{ALIGN, FLOATS, HEADER_BYTES, Header, SYMMETRIC, TABLE, WEIGHTS};
use crate::ids::Ids;

/// Writes header and sections.
pub(super) fn write(graph: &Graph, sink: &mut Sink) -> io::Result<()> {
    let (first_id, table) = match graph.ids() {
        Ids::Offset(base) => (*base, None),
        Ids::Table(ids) => (0, Some(ids)),
    };
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    let flags = flag(graph.is_symmetric(), SYMMETRIC)
        | flag(graph.weights().is_some(), WEIGHTS)
        | flag(graph.weight_kind() == Some(WeightKind::Float), FLOATS)
        | flag(table.is_some(), TABLE);
    let header = Header::new(graph.nodes(), graph.edges(), flags, first_id);
    sink.write_all(bytemuck::bytes_of(&header))?;
    let mut at = HEADER_BYTES as u64;
    let words = [
        Some(graph.offsets()),
        Some(graph.targets()),
        graph.weights(),
    ];
    for section in words.into_iter().flatten() {
        write_section(bytemuck::cast_slice(section), &mut at, sink)?;
    }
    match table {
        Some(ids) => write_section(bytemuck::cast_slice(ids), &mut at, sink),
        None => Ok(()),
    }
}

fn write_section(bytes: &[u8], at: &mut u64, sink: &mut Sink) -> io::Result<()> {
    let start = at.next_multiple_of(ALIGN);
    sink.write_all(&[0; ALIGN as usize][..(start - *at) as usize])?;
    sink.write_all(bytes)?;
    *at = start + bytes.len() as u64;
    Ok(())
}
