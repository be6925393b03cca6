//! Decides whether bytes are a valid `.swg` file, from the layout only.

use std::collections::BTreeMap;

const HEADER_BYTES: usize = 64;
const SYMMETRIC: u32 = 1;
const WEIGHTS: u32 = 2;
const TABLE: u32 = 4;
const FLOATS: u32 = 8;
const WIDE: u32 = 16;
const MULTI: u32 = 32;
const NAMES: u32 = 64;

/// A cursor over sections, each at a multiple of 64 bytes.
struct Sections<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Sections<'a> {
    fn take(&mut self, bytes: u64) -> Option<&'a [u8]> {
        let start = self.at.next_multiple_of(64);
        self.at = start.checked_add(usize::try_from(bytes).ok()?)?;
        self.bytes.get(start..self.at)
    }

    fn words(&mut self, count: u64) -> Option<Vec<u32>> {
        let section = self.take(count.checked_mul(4)?)?;
        let words = section.chunks_exact(4);
        Some(words.map(|word| word_at(word, 0)).collect())
    }

    fn longs(&mut self, count: u64) -> Option<Vec<u64>> {
        let section = self.take(count.checked_mul(8)?)?;
        let longs = section.chunks_exact(8);
        Some(longs.map(|long| long_at(long, 0)).collect())
    }
}

fn word_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn long_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Whether a reader that wants weights, or none, must take `bytes`, whose checksum is
/// right.
#[must_use]
pub fn is_sound(bytes: &[u8], weights: bool) -> bool {
    bytes.len() >= HEADER_BYTES && body(bytes, weights) == Some(true)
}

/// `None` if a section ends beyond the file.
fn body(bytes: &[u8], wanted: bool) -> Option<bool> {
    let (flags, nodes, edges) = (word_at(bytes, 12), long_at(bytes, 16), long_at(bytes, 24));
    let (loops, parallel) = (long_at(bytes, 40), long_at(bytes, 48));
    let is_simple = flags & MULTI == 0;
    let names_alone = flags & NAMES == 0 || flags & TABLE == 0;
    let known = flags < 128 && names_alone && (flags & FLOATS == 0 || flags & WEIGHTS != 0);
    let ids_fit = long_at(bytes, 32).checked_add(nodes).is_some();
    if word_at(bytes, 8) != 1 || !known || is_simple != (loops == 0 && parallel == 0) || !ids_fit {
        return Some(false);
    }
    let mut sections = Sections {
        bytes,
        at: HEADER_BYTES,
    };
    let ends = nodes.checked_add(1)?;
    let offsets = match flags & WIDE {
        0 => sections.words(ends)?.into_iter().map(u64::from).collect(),
        _ => sections.longs(ends)?,
    };
    let targets = sections.words(edges)?;
    let weights = match flags & WEIGHTS {
        0 => None,
        _ => Some(sections.words(edges)?),
    };
    let table = match flags & TABLE {
        0 => Vec::new(),
        _ => sections.longs(nodes)?,
    };
    let names = match flags & NAMES {
        0 => Vec::new(),
        _ => {
            let ends = sections.longs(nodes)?;
            match names(&ends, sections.take(long_at(bytes, 32))?) {
                Some(names) => names,
                None => return Some(false),
            }
        }
    };
    let weights = weights.filter(|_| wanted);
    let floats = flags & FLOATS != 0;
    let weigh = |word: &u32| !floats || *word < f32::INFINITY.to_bits();
    Some(
        sections.at == bytes.len()
            && offsets[0] == 0
            && offsets.is_sorted()
            && offsets.last() == Some(&edges)
            && table.is_sorted_by(|a, b| a < b)
            && names.is_sorted_by(|a, b| a < b)
            && weights.iter().flatten().all(weigh)
            && are_rows(&offsets, &targets) == Some((loops, parallel))
            && (flags & SYMMETRIC == 0 || is_mirrored(&offsets, &targets, weights.as_deref())),
    )
}

/// The names that end at these places of the text, all of it.
fn names<'t>(ends: &[u64], text: &'t [u8]) -> Option<Vec<&'t str>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut start = 0;
    let mut names = Vec::new();
    for end in ends {
        let end = usize::try_from(*end).ok()?;
        names.push(text.get(start..end)?);
        start = end;
    }
    (start == text.len()).then_some(names)
}

/// Loops and parallel edges of rows that ascend within the graph.
fn are_rows(offsets: &[u64], targets: &[u32]) -> Option<(u64, u64)> {
    let nodes = offsets.len() - 1;
    let (mut loops, mut parallel) = (0, 0);
    for (node, row) in (0..).zip(offsets.windows(2)) {
        let row = &targets[row[0] as usize..row[1] as usize];
        if !row.is_sorted() || row.iter().any(|to| *to as usize >= nodes) {
            return None;
        }
        loops += row.iter().filter(|to| **to == node).count() as u64;
        parallel += row.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
    }
    Some((loops, parallel))
}

fn is_mirrored(offsets: &[u64], targets: &[u32], weights: Option<&[u32]>) -> bool {
    let mut edges: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (from, row) in (0_u32..).zip(offsets.windows(2)) {
        for edge in row[0] as usize..row[1] as usize {
            let weight = weights.map(|words| words[edge]);
            edges.entry((from, targets[edge])).or_default().push(weight);
        }
    }
    edges
        .values_mut()
        .for_each(|weights| weights.sort_unstable());
    let mut all = edges.iter();
    all.all(|((from, to), weights)| edges.get(&(*to, *from)) == Some(weights))
}
