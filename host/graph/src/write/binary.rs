//! Writes `.swg`; [`crate::binary`] describes the bytes.

use std::io;

use super::sink::Sink;
use crate::Graph;
use crate::WeightKind;
use crate::binary::{FLOATS, Header, NAMES, SYMMETRIC, TABLE, WEIGHTS};
use crate::file::Section;
use crate::ids::Ids;

/// Writes header and sections.
pub(super) fn write(graph: &Graph, sink: &mut Sink) -> io::Result<()> {
    let (first_id, table, names) = match graph.ids() {
        Ids::Offset(base) => (*base, None, None),
        Ids::Table(ids) => (0, Some(ids), None),
        Ids::Names(names) => {
            let (text, ends) = names.parts();
            (text.len() as u64, None, Some((text, ends)))
        }
    };
    let flag = |set: bool, flag: u32| if set { flag } else { 0 };
    let flags = flag(graph.is_symmetric(), SYMMETRIC)
        | flag(graph.weights().is_some(), WEIGHTS)
        | flag(graph.weight_kind() == Some(WeightKind::Float), FLOATS)
        | flag(table.is_some(), TABLE)
        | flag(names.is_some(), NAMES);
    let counts = (graph.nodes(), graph.edges());
    let more = [graph.loops(), graph.parallel_edges()];
    let header = Header::with_loops(counts.0, counts.1, flags, first_id, more);
    let places = header.sections();
    let mut sections: Vec<Section<'_>> = vec![
        (0, bytemuck::bytes_of(&header)),
        (places.offsets.start, bytemuck::cast_slice(graph.offsets())),
        (places.targets.start, bytemuck::cast_slice(graph.targets())),
    ];
    if let (Some(place), Some(weights)) = (places.weights, graph.weights()) {
        sections.push((place.start, bytemuck::cast_slice(weights)));
    }
    if let (Some(place), Some(ids)) = (places.ids, table) {
        sections.push((place.start, bytemuck::cast_slice(ids)));
    }
    if let (Some(end_place), Some(text_place), Some((text, ends))) =
        (places.name_ends, places.name_text, names)
    {
        sections.push((end_place.start, bytemuck::cast_slice(ends)));
        sections.push((text_place.start, text.as_bytes()));
    }
    sink.write_sections(&sections)
}
