//! Writes `.egr`: counts, row starts, targets and weights as 32-bit signed words.

use std::io::{self, Write};

use super::sink::Sink;
use crate::Graph;

/// Largest number of a signed word.
pub(super) const WORD_MAX: u32 = i32::MAX as u32;

/// Writes a graph whose counts and weights fit signed words.
pub(super) fn write(graph: &Graph, sink: &mut Sink) -> io::Result<()> {
    let counts = [graph.nodes(), graph.edges()];
    let arrays = [&counts[..], graph.offsets(), graph.targets()];
    for words in arrays.into_iter().chain(graph.weights()) {
        sink.write_all(bytemuck::cast_slice(words))?;
    }
    Ok(())
}
