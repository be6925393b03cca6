//! Exchanges of devices that share a program, after a group of waves.
//!
//! Each device has all registers. In a wave of code it runs some of the items, so it alone has what
//! they store, and what they scatter lies in its copy alone. After the group, all copies are made
//! equal again.

use seawall_core::abi::code::Joined;
use seawall_device::multi::joined_copies;
use std::ops::Range;

/// A register that devices wrote parts of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// Items stored their own values: each device has those from its offset to the next one.
    Own {
        register: u32,
        /// Offset of each device's first word, and the end of the last one's.
        offsets: Vec<usize>,
    },
    /// Items joined values to the first `words` words, in any order.
    Joined {
        register: u32,
        joined: Joined,
        words: usize,
    },
}

impl Exchange {
    pub(crate) const fn register(&self) -> u32 {
        match self {
            Self::Own { register, .. } | Self::Joined { register, .. } => *register,
        }
    }

    /// Words from before the group that [`Self::joined`] has to know.
    pub(crate) const fn known_words(&self) -> usize {
        match self {
            Self::Joined { joined, words, .. } if joined.needs_before() => *words,
            _ => 0,
        }
    }

    /// The words that a device sends to the others, of its copy after the group.
    pub(crate) fn sent(&self, device: usize) -> Range<usize> {
        match self {
            Self::Own { offsets, .. } => offsets[device]..offsets[device + 1],
            Self::Joined { words, .. } => 0..*words,
        }
    }

    /// Bytes that all of `count` devices receive. Where they join by themselves, each reads a part of all
    /// other copies and writes it back.
    pub(crate) fn bytes(&self, count: usize, by_themselves: bool) -> u64 {
        let words = match self {
            Self::Joined { words, .. } if by_themselves => 2 * words,
            _ => (0..count).map(|device| self.sent(device).len()).sum(),
        };
        4 * (count as u64 - 1) * words as u64
    }

    /// The words with which all copies begin after the exchange. `sent` is what devices sent, one
    /// after another; `before` are the [known](Self::known_words) words.
    pub(crate) fn joined(&self, mut sent: Vec<u32>, before: &[u32]) -> Vec<u32> {
        if let Self::Joined { joined, words, .. } = self {
            let (first, rest) = sent.split_at_mut(*words);
            for other in rest.chunks_exact((*words).max(1)) {
                join_all(*joined, first, other, before);
            }
            sent.truncate(*words);
        }
        sent
    }
}

/// Joins the values in `from` to those in `to`; both began as `before`, where that is known.
fn join_all(joined: Joined, to: &mut [u32], from: &[u32], before: &[u32]) {
    let width = joined.kind.words() as usize;
    let value = |words: &[u32]| match *words {
        [low, high] => u64::from(high) << 32 | u64::from(low),
        [low] => u64::from(low),
        _ => 0,
    };
    let values = to.chunks_exact_mut(width).zip(from.chunks_exact(width));
    for (at, (to, from)) in values.enumerate() {
        let known = before.get(at * width..(at + 1) * width).unwrap_or(&[]);
        let all = joined_copies(joined, value(to), value(from), value(known));
        to[0] = all as u32;
        if let Some(high) = to.get_mut(1) {
            *high = (all >> 32) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seawall_core::abi::code::{Join, Kind};

    /// Values before, in two copies after, and the expected one.
    fn joined(how: Join, kind: Kind, before: &[u32], copies: [&[u32]; 2]) -> Vec<u32> {
        let exchange = Exchange::Joined {
            register: 0,
            joined: Joined { how, kind },
            words: before.len(),
        };
        let sent: Vec<&[u32]> = copies
            .iter()
            .enumerate()
            .map(|(device, copy)| &copy[exchange.sent(device)])
            .collect();
        exchange.joined(sent.concat(), &before[..exchange.known_words()])
    }

    #[test]
    fn joins_of_both_copies_are_those_of_one() {
        let minus = |value: i32| value as u32;
        assert_eq!(joined(Join::Sum, Kind::U32, &[5], [&[7], &[5 + 9]]), [16]);
        let wrapped = joined(Join::Sum, Kind::I32, &[0], [&[minus(-3)], &[1]]);
        assert_eq!(wrapped, [minus(-2)]);
        let carried = joined(Join::Sum, Kind::U64, &[u32::MAX, 0], [&[0, 1], &[1, 1]]);
        assert_eq!(carried, [2, 1]);
        assert_eq!(
            joined(Join::Min, Kind::U32, &[9], [&[minus(-1)], &[4]]),
            [4]
        );
        let least = joined(Join::Min, Kind::I32, &[9], [&[minus(-1)], &[4]]);
        assert_eq!(least, [minus(-1)]);
        let floats = [(-2.0_f32).to_bits(), 1.5_f32.to_bits()];
        let copies: [&[u32]; 2] = [&floats[..1], &floats[1..]];
        assert_eq!(joined(Join::Min, Kind::F32, &[0], copies), floats[..1]);
        assert_eq!(joined(Join::Max, Kind::F32, &[0], copies), floats[1..]);
        assert_eq!(
            joined(Join::Max, Kind::U64, &[0, 0], [&[9, 0], &[0, 1]]),
            [0, 1]
        );
        assert_eq!(joined(Join::Or, Kind::U32, &[1], [&[3], &[5]]), [7]);
        assert_eq!(joined(Join::And, Kind::U32, &[15], [&[11], &[13]]), [9]);
        for copies in [[&[7][..], &[1]], [&[1], &[7]]] {
            assert_eq!(joined(Join::Any, Kind::U32, &[7], copies), [1]);
        }
        assert_eq!(joined(Join::Any, Kind::U32, &[7], [&[7], &[7]]), [7]);
    }

    #[test]
    fn own_words_are_put_together() {
        let own = Exchange::Own {
            register: 3,
            offsets: vec![0, 2, 2, 5],
        };
        let copies = [[1, 1, 0, 0, 0, 9], [2; 6], [0, 0, 3, 3, 3, 9]];
        let sent: Vec<&[u32]> = (0..3).map(|at| &copies[at][own.sent(at)]).collect();
        assert_eq!(own.joined(sent.concat(), &[]), [1, 1, 3, 3, 3]);
    }
}
