//! The whole plan as text, so that two machines can be compared line by line.
//!
//! Every wave of every layer and group, every offset, every decision. Formatting
//! is not part of planning: the images that are measured leave this module out.

use core::fmt;

use seawall_core::plan::{Arena, Groups, Layers, WaveId};

use crate::steps::Policies;

/// A finished plan.
pub struct Report<'a> {
    /// Its layers.
    pub layers: Layers<'a>,
    /// Its groups.
    pub groups: Groups<'a>,
    /// Its arena.
    pub arena: Arena<'a>,
    /// Its policies.
    pub policies: Policies,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, waves) in self.layers.iter().enumerate() {
            line(f, "layer", index, waves)?;
        }
        for (index, group) in self.groups.iter().enumerate() {
            line(f, "group", index, group.waves)?;
        }
        writeln!(f, "{:?}", self.groups.summary())?;
        for (wave, offsets) in self.arena.iter().enumerate() {
            writeln!(f, "wave {wave}: {offsets:?}")?;
        }
        let (bytes, bound) = (self.arena.bytes(), self.arena.lower_bound());
        writeln!(f, "arena: {bytes} bytes, at least {bound}")?;
        let policies = &self.policies;
        writeln!(f, "{:?}\n{:?}", policies.decision, policies.execution)?;
        writeln!(f, "{:?}\n{:?}", policies.launch, policies.session)?;
        writeln!(f, "{:?}", policies.convergence)
    }
}

fn line(f: &mut fmt::Formatter<'_>, what: &str, index: usize, waves: &[WaveId]) -> fmt::Result {
    write!(f, "{what} {index}:")?;
    for wave in waves {
        write!(f, " {wave}")?;
    }
    writeln!(f)
}
