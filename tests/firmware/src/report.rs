//! The whole plan as text, so that two machines can be compared line by line.
//!
//! Every wave of every layer and group, every offset, every decision. Formatting
//! is not part of planning: the images that are measured leave this module out.

use core::fmt;

use seawall_core::plan::{Arena, Execution, Groups, Layers, WaveId};

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
    /// The same in one call.
    pub execution: Execution<'a>,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, waves) in self.layers.iter().enumerate() {
            line(f, "layer", index, waves)?;
        }
        groups(f, &self.groups)?;
        arena(f, &self.arena)?;
        let policies = &self.policies;
        writeln!(f, "{:?}\n{:?}", policies.decision, policies.execution)?;
        writeln!(f, "{:?}\n{:?}", policies.launch, policies.session)?;
        writeln!(f, "{:?}", policies.convergence)?;
        let execution = &self.execution;
        groups(f, &execution.groups)?;
        arena(f, &execution.arena)?;
        writeln!(f, "{:?} {:?}", execution.decision, execution.memory)?;
        let (bytes, pressure) = (execution.required_bytes, execution.pressure_bps);
        writeln!(f, "{bytes} bytes, {pressure} bps, {:?}", execution.launch)
    }
}

fn groups(f: &mut fmt::Formatter<'_>, groups: &Groups<'_>) -> fmt::Result {
    for (index, group) in groups.iter().enumerate() {
        line(f, "group", index, group.waves)?;
    }
    writeln!(f, "{:?}", groups.summary())
}

fn arena(f: &mut fmt::Formatter<'_>, arena: &Arena<'_>) -> fmt::Result {
    for (wave, offsets) in arena.iter().enumerate() {
        writeln!(f, "wave {wave}: {offsets:?}")?;
    }
    let (bytes, bound) = (arena.bytes(), arena.lower_bound());
    writeln!(f, "arena: {bytes} bytes, at least {bound}")
}

fn line(f: &mut fmt::Formatter<'_>, what: &str, index: usize, waves: &[WaveId]) -> fmt::Result {
    write!(f, "{what} {index}:")?;
    for wave in waves {
        write!(f, " {wave}")?;
    }
    writeln!(f)
}
