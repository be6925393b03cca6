//! Parents of a search by its levels, in one pass: the smallest node on the previous level with an
//! edge to a node.

use super::checks::target;
use super::consumer::Kernel;
use super::marks::Marks;
use super::view::View;
use crate::graph::BinaryProblem;
use crate::graph::memory::{Shortage, reserve_exact};
use std::sync::atomic::{AtomicU32, Ordering};

/// Level and parent of a node without them.
const NONE: u32 = u32::MAX;

pub(super) struct Parents<'a> {
    levels: &'a [u32],
    parents: Vec<AtomicU32>,
    marks: Marks<'a>,
}

impl<'a> Parents<'a> {
    pub(super) fn new(levels: &'a [u32], marks: Marks<'a>) -> Result<Self, Shortage> {
        let mut parents = Vec::new();
        reserve_exact(&mut parents, levels.len())?;
        let own = |(node, level): (u32, &u32)| if *level == 0 { node } else { NONE };
        parents.extend((0..).zip(levels).map(own).map(AtomicU32::new));
        let reached = (0..).zip(levels).filter(|(_, level)| **level != NONE);
        reached.for_each(|(node, _)| marks.add(node));
        Ok(Self {
            levels,
            parents,
            marks,
        })
    }

    pub(super) fn into_parents(self) -> Vec<u32> {
        self.parents
            .into_iter()
            .map(AtomicU32::into_inner)
            .collect()
    }
}

impl Kernel for Parents<'_> {
    fn wants(&self, window: usize) -> bool {
        self.marks.is_active(window)
    }

    fn take(&self, view: &View<'_>, is_over: &dyn Fn() -> bool) -> Result<(), BinaryProblem> {
        self.marks.take(view, is_over, |row, edges| {
            let next = self.levels[row as usize].wrapping_add(1);
            for at in edges {
                let to = view.targets[at];
                match self.levels.get(to as usize) {
                    Some(level) if *level == next => {
                        self.parents[to as usize].fetch_min(row, Ordering::Relaxed);
                    }
                    Some(_) => {}
                    None => return Err(target(view, at, self.levels.len() as u32)),
                }
            }
            Ok(())
        })
    }
}
