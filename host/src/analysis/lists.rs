//! Lists of nodes that programs fill and scan in rounds.

use crate::program::{Kind, Over, ProgramBuilder, ProgramError, RegisterId};

/// A list of nodes and its length.
pub(super) type List = (RegisterId, RegisterId);

/// An empty list with space for every node.
pub(super) fn list(
    program: &mut ProgramBuilder,
    [list, count]: [&'static str; 2],
) -> Result<List, ProgramError> {
    let space = u64::from(program.nodes);
    short_list(program, [list, count], space)
}

/// An empty list with space for `space` nodes.
pub(super) fn short_list(
    program: &mut ProgramBuilder,
    [list, count]: [&'static str; 2],
    space: u64,
) -> Result<List, ProgramError> {
    let made = (
        program.values(list, Kind::U32, space)?,
        program.values(count, Kind::U32, 1)?,
    );
    // Only entries that were appended are read.
    program.fill_by_appends(made.0);
    program.fill(count, made.1, 0);
    Ok(made)
}

/// The nodes of a list.
pub(super) const fn over((list, count): List) -> Over {
    Over::List { list, count }
}

/// The lists of a round: the current one, the next one, which it fills, and the one after that,
/// which it empties. With three lists in turn, a round takes one barrier.
pub(super) fn of_turn(lists: [List; 3], turn: usize) -> [List; 3] {
    [0, 1, 2].map(|after| lists[(turn + after) % 3])
}
