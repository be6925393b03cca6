//! Registers of the program for betweenness.

use crate::program::{Kind, ProgramBuilder, ProgramError, RegisterId};

/// The registers of the program: a value per node, or a single value for counts.
#[derive(Clone, Copy)]
pub(super) struct Registers {
    pub(super) sources: RegisterId,
    /// Sources done, and whether there are more.
    pub(super) turn: RegisterId,
    pub(super) goes_on: RegisterId,
    pub(super) levels: RegisterId,
    pub(super) paths: RegisterId,
    /// Shares of the paths from the source that lead through or to each node; and the sum over
    /// sources of those that lead through it.
    pub(super) shares: RegisterId,
    pub(super) scores: RegisterId,
    /// 1 for sources.
    pub(super) marks: RegisterId,
    /// Nodes in the order of their levels, and their number.
    pub(super) order: RegisterId,
    pub(super) found: RegisterId,
    /// Start of each level in that order.
    pub(super) begins: RegisterId,
    /// The numbers of all nodes: a list of them by their number.
    pub(super) numbers: RegisterId,
    /// The nodes of the present level, their number, and their place in the order.
    pub(super) level: RegisterId,
    pub(super) length: RegisterId,
    pub(super) first: RegisterId,
    /// Number of the next level.
    pub(super) depth: RegisterId,
}

impl Registers {
    /// The registers for paths from `sources` nodes.
    pub(super) fn new(program: &mut ProgramBuilder, sources: u64) -> Result<Self, ProgramError> {
        Ok(Self {
            sources: program.input("sources", sources)?,
            turn: program.values("turn", Kind::U32, 1)?,
            goes_on: program.values("goes on", Kind::U32, 1)?,
            levels: program.per_node("levels", Kind::U32)?,
            paths: program.per_node("paths", Kind::U64)?,
            shares: program.per_node("shares", Kind::F32)?,
            scores: program.per_node("scores", Kind::F32)?,
            marks: program.per_node("marks", Kind::U32)?,
            order: program.per_node("order", Kind::U32)?,
            found: program.values("found", Kind::U32, 1)?,
            begins: program.per_node("begins", Kind::U32)?,
            numbers: program.per_node("numbers", Kind::U32)?,
            level: program.per_node("level", Kind::U32)?,
            length: program.values("length", Kind::U32, 1)?,
            first: program.values("first", Kind::U32, 1)?,
            depth: program.values("depth", Kind::U32, 1)?,
        })
    }
}
