//! The part of a text file that belongs to a rank, from the shares that all ranks read.
//!
//! Each rank reads its share of the bytes. Ranks add up what they saw of weights and ids, number the
//! nodes alike, cut them by the edges that lead to each block, and send each edge to the rank that has
//! its end: of an undirected one to both, since lines may list it from either end. A rank receives 8
//! bytes for each of its edges, 12 with a weight, and a bit for each id from every other rank.

use super::carrier::{Carrier, gather_alike, lost};
use super::ranks::meet;
use crate::backend::BackendError;
use crate::graph::{Csr, Graph, TextFacts, TextFile, TextShare, WeightKind};
use crate::run::RunError;
use seawall_core::abi::multi::CUT;
use std::array::from_fn;

/// Words that ranks exchange at a time while they add up those of all.
const WORDS: usize = 1 << 20;

/// Kinds of weights by the number that ranks exchange.
const KINDS: [WeightKind; 4] = [
    WeightKind::Integer,
    WeightKind::Float,
    WeightKind::Signed,
    WeightKind::SignedFloat,
];

/// The part of one rank.
pub(super) struct TextOnRanks {
    pub(super) nodes: Graph,
    pub(super) cuts: Vec<u32>,
    pub(super) rows: Csr,
    pub(super) kind: Option<WeightKind>,
    /// Weights that were rounded to floats.
    pub(super) rounded: u64,
    /// Listed edges that are the reverse of another.
    pub(super) mirrored: u64,
    /// Whether there are neither loops nor parallel edges.
    pub(super) is_simple: bool,
}

/// Reads this rank's share of a text file, and gathers the edges to its own nodes from all ranks. `None`
/// if ids have to be read as a whole: of 2^31 and more, or with large gaps.
pub(super) fn read(
    text: &TextFile,
    carrier: &mut dyn Carrier,
) -> Result<Option<TextOnRanks>, RunError> {
    let (mut share, facts) = read_share(text, carrier)?;
    let mut bits = Vec::new();
    if !text.is_numbered() {
        let Some(words) = text.bit_words(&facts) else {
            return Ok(None);
        };
        let own = text.bits(&share, words).map_err(RunError::from);
        bits = meet(carrier, own)?;
        for words in bits.chunks_mut(WORDS) {
            for other in gather_alike(carrier, words)?.chunks(words.len()) {
                let pairs = words.iter_mut().zip(other);
                pairs.for_each(|(word, other)| *word |= other);
            }
        }
    }
    let nodes = text.number(&mut share, &facts, bits);
    let nodes = meet(carrier, nodes.map_err(RunError::from))?;
    let count = nodes.nodes();
    let own_ends = text.ends_by_block(&share, count, CUT);
    let mut ends = vec![0_u64; own_ends.len()];
    for (sums, own) in ends.chunks_mut(WORDS).zip(own_ends.chunks(WORDS)) {
        for other in gather_alike(carrier, own)?.chunks(own.len()) {
            let pairs = sums.iter_mut().zip(other);
            pairs.for_each(|(sum, other)| *sum += other);
        }
    }
    let cuts = cuts_of_blocks(count, &ends, carrier.ranks());
    let kind = text.has_weights().then_some(share.kind());
    let sent = text.split(share, &cuts).map_err(RunError::from);
    let sent = meet(carrier, sent)?;
    let mut words = Vec::new();
    carrier.all_to_all(&sent, &mut words).map_err(lost)?;
    drop(sent);
    let own = carrier.rank() as usize;
    let part = text.part(words, cuts[own]..cuts[own + 1], count);
    let part = meet(carrier, part.map_err(RunError::from))?;
    let mut sums = [0; 3];
    for counts in gather_alike(carrier, &[part.loops, part.parallel, part.kept])?.chunks(3) {
        let pairs = sums.iter_mut().zip(counts);
        pairs.for_each(|(sum, count)| *sum += count);
    }
    let [loops, parallel, kept] = sums;
    let mirrored = match text.is_symmetric() {
        true => facts.listed.saturating_sub(kept),
        false => 0,
    };
    Ok(Some(TextOnRanks {
        nodes: text.with_counts(nodes, loops, parallel),
        cuts,
        rows: part.rows,
        kind,
        rounded: facts.rounded,
        mirrored,
        is_simple: loops + parallel == 0,
    }))
}

/// Reads this rank's share, with weights of the kind that holds those of all, and returns the facts of
/// all shares.
fn read_share(
    text: &TextFile,
    carrier: &mut dyn Carrier,
) -> Result<(TextShare, TextFacts), RunError> {
    let (own, count) = (carrier.rank(), carrier.ranks());
    let share = text.share(own, count);
    let lines = share.as_ref().map_or(0, |share| share.facts().lines);
    let all = gather_alike(carrier, &[u64::from(share.is_ok()), lines])?;
    let mut share = share.map_err(|error| {
        let before = all.chunks(2).take(own as usize);
        let lines: u64 = before.map(|words| words[1]).sum();
        error.after_lines(text.lines_before() + lines)
    })?;
    if let Some(rank) = all.chunks(2).position(|words| words[0] == 0) {
        let rank = rank as u32;
        return Err(BackendError::RankEnded { rank }.into());
    }
    // Twice where whole weights of one share do not fit beside negative ones of another.
    loop {
        let own = KINDS.iter().position(|kind| *kind == share.kind());
        let kinds = gather_alike(carrier, &[own.unwrap_or(0) as u32])?;
        if kinds.iter().all(|kind| *kind == kinds[0]) {
            break;
        }
        for kind in kinds {
            share.widen(KINDS[kind as usize % KINDS.len()]);
        }
    }
    let own = share.facts().words();
    let mut facts = TextFacts::default();
    for words in gather_alike(carrier, &own)?.chunks(own.len()) {
        facts.add(from_fn(|at| words[at]));
    }
    Ok((share, facts))
}

/// First nodes of the parts of all ranks, and the number of nodes, by the edges that lead to each block
/// of nodes.
fn cuts_of_blocks(nodes: u32, ends: &[u64], ranks: u32) -> Vec<u32> {
    // A node costs about as much as an edge.
    let costs = ends.iter().map(|ends| ends + u64::from(CUT));
    let all: u64 = costs.clone().sum();
    let (mut cuts, mut sum) = (vec![0], 0);
    for (block, cost) in (1_u64..).zip(costs) {
        sum += cost;
        while cuts.len() < ranks as usize && sum >= all / u64::from(ranks) * cuts.len() as u64 {
            // The last block may be cut off, and ranges begin at multiples.
            cuts.push(block.min(u64::from(nodes / CUT)) as u32 * CUT);
        }
    }
    cuts.resize(ranks as usize + 1, nodes);
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_cut_by_their_edges() {
        assert_eq!(cuts_of_blocks(0, &[], 3), [0, 0, 0, 0]);
        assert_eq!(cuts_of_blocks(9, &[5], 2), [0, 0, 9]);
        let even = [0; 8];
        assert_eq!(
            cuts_of_blocks(8 * CUT - 3, &even, 2),
            [0, 4 * CUT, 8 * CUT - 3]
        );
        let one = [0, 0, 1_000_000, 0, 0, 0];
        assert_eq!(
            cuts_of_blocks(6 * CUT, &one, 3),
            [0, 3 * CUT, 3 * CUT, 6 * CUT]
        );
    }
}
