//! Custom waves: heat that spreads along the edges of a graph.
//!
//! This file is the device code, the same for CPU threads and GPUs. `tests/cpu.rs` runs it
//! on threads, `examples/heat.rs` on any machine, and `docs/own-waves.md` explains both.
#![no_std]

use seawall_device::own::{Array, Facts, Fault, Machine, Operand, Reduction, Running, Wave};

/// `to[v]` = the mean of `first` over the nodes with an edge to `v`, and `first[v]` if there is
/// none.
pub struct Spread;

impl Wave for Spread {
    const NAME: &'static str = "Spread";
    const FACTS: Facts = Facts::of(&[Operand::First], &[Operand::To]).reading(&[Array::Incoming]);

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let (from, to) = (wave.read(Operand::First)?, wave.write(Operand::To)?);
        let rows = wave.incoming()?;
        wave.each_node(|node| {
            let own = node.index();
            let edges = node.edges(rows, own);
            let count = edges.end - edges.start;
            let mut sum = 0_u64;
            for edge in edges {
                sum += u64::from(node.load(from, node.neighbour(rows, edge)));
            }
            let mean = sum.checked_div(u64::from(count));
            let heat = mean.map_or_else(|| node.load(from, own), |mean| mean as u32);
            node.store(to, own, heat);
        });
        Ok(())
    }
}

/// `to[i] = first[i] - first[i] / 2^p`, where `p` is the first parameter: the remainder after
/// losing a part.
pub struct Cool;

impl Wave for Cool {
    const NAME: &'static str = "Cool";
    const FACTS: Facts = Facts::of(&[Operand::First], &[Operand::To]).word_wise();

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let (from, to) = (wave.read(Operand::First)?, wave.write(Operand::To)?);
        let [part, ..] = wave.parameters();
        wave.each(to.len(), |item| {
            let heat = item.load(from, item.index());
            let lost = heat.checked_shr(part).unwrap_or(0);
            item.store(to, item.index(), heat - lost);
        });
        Ok(())
    }
}

/// Raises word 0 of `to` to the largest difference of `first` and `second`, and continues the
/// fixpoint around it while any is above the first parameter.
pub struct Differ;

impl Wave for Differ {
    const NAME: &'static str = "Differ";
    const FACTS: Facts = Facts::of(
        &[Operand::To, Operand::First, Operand::Second],
        &[Operand::To],
    )
    .per_word_of(Operand::First);

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let most = wave.update(Operand::To)?;
        let (one, other) = (wave.read(Operand::First)?, wave.read(Operand::Second)?);
        let [tolerance, ..] = wave.parameters();
        wave.fold(most, Reduction::Max, one.len(), |item| {
            let at = item.index();
            let differ = item.load(one, at).abs_diff(item.load(other, at));
            if differ > tolerance {
                item.changed();
            }
            differ
        });
        Ok(())
    }
}

/// Lowers every word of `to` to the least word of the nodes that it has edges to, as far as those
/// are known, and continues the fixpoint around it if any fell.
pub struct Lower;

impl Wave for Lower {
    const NAME: &'static str = "Lower";
    const FACTS: Facts = Facts::of(&[Operand::To], &[Operand::To]);

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let (labels, rows) = (wave.update(Operand::To)?, wave.outgoing());
        wave.each_node(|node| {
            let (own, before) = (node.index(), node.latest(labels, node.index()));
            let mut least = before;
            for edge in node.edges(rows, own) {
                least = least.min(node.latest(labels, node.neighbour(rows, edge)));
            }
            if least < before {
                node.min(labels, own, least);
                node.changed();
            }
        });
        Ok(())
    }
}

/// The waves of this crate, by number.
pub type Heat = (Spread, Cool, Differ, Lower);

seawall_device::kernels!(Heat);
