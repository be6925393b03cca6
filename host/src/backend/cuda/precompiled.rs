//! Machine code of kernels, compiled in advance for common machines.
//!
//! `cargo xtask precompile` writes the file: a line that names the format, the hash of the
//! kernels' sources, and one line per piece with machine, kernel, lanes of a block, packed bytes
//! and bytes; an empty line ends the list. The pieces follow in that order, each packed by xz.
//! Code of other sources than the embedded PTX is never used.

use super::bound::Bound;
use super::entry::Entry;
use lzma_rust2::XzReader;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

const FILE: &[u8] = include_bytes!("../../../ptx/precompiled.bin");

/// First line of the file.
const FORMAT: &str = "seawall precompiled kernels 1";

/// Largest unpacked piece, bytes.
const CODE_MAX: usize = 16 << 20;

/// Code that sessions of this process unpacked, by its place in the file: unpacking the batch
/// kernel takes milliseconds.
static UNPACKED: Mutex<BTreeMap<usize, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// Returns the machine code of `entry` within `bound` for a device of `capability`, if there is
/// code of these `sources`.
pub(super) fn code(
    sources: &str,
    capability: (u32, u32),
    (entry, bound): (Entry, Bound),
) -> Option<Arc<[u8]>> {
    let kernel = entry.name().to_str().ok()?;
    let pieces = pieces(FILE, sources);
    let fitting = pieces.filter(|piece| {
        piece.kernel == kernel
            && piece.lanes == bound.lanes()
            && piece.serves(capability.0, capability.1)
    });
    let piece = fitting.max_by_key(|piece| piece.capability)?;
    let mut unpacked = UNPACKED.lock().unwrap_or_else(PoisonError::into_inner);
    let place = piece.packed.as_ptr().addr();
    if let Some(code) = unpacked.get(&place) {
        return Some(Arc::clone(code));
    }
    let code: Arc<[u8]> = piece.unpacked()?.into();
    unpacked.insert(place, Arc::clone(&code));
    Some(code)
}

/// Returns the machines with code of these `sources`: `sm_90`.
pub(super) fn machines(sources: &str) -> Vec<String> {
    let found = pieces(FILE, sources);
    let mut found: Vec<u32> = found.map(|piece| piece.capability).collect();
    found.dedup();
    found.iter().map(|number| format!("sm_{number}")).collect()
}

/// A kernel's code in the file.
#[derive(Debug, PartialEq, Eq)]
struct Piece<'f> {
    /// Compute capability times ten.
    capability: u32,
    kernel: &'f str,
    lanes: u32,
    bytes: usize,
    packed: &'f [u8],
}

/// Returns the pieces of `file` up to the first damage; none if it is of other sources.
fn pieces<'f>(file: &'f [u8], sources: &str) -> impl Iterator<Item = Piece<'f>> {
    let end = file.windows(2).position(|pair| pair == b"\n\n");
    let end = end.unwrap_or(file.len());
    let index = std::str::from_utf8(&file[..end]).unwrap_or_default();
    let mut code = file.get(end + 2..).unwrap_or_default();
    let mut lines = index.lines();
    let is_ours = lines.next() == Some(FORMAT) && lines.next() == Some(sources);
    let lines = is_ours.then_some(lines).into_iter().flatten();
    lines.map_while(move |line| Piece::next(line, &mut code))
}

impl<'f> Piece<'f> {
    fn next(line: &'f str, code: &mut &'f [u8]) -> Option<Self> {
        let mut words = line.split(' ');
        let capability = words.next()?.strip_prefix("sm_")?.parse().ok()?;
        let kernel = words.next()?;
        let lanes = words.next()?.parse().ok()?;
        let (packed, rest) = code.split_at_checked(words.next()?.parse().ok()?)?;
        *code = rest;
        let bytes = words.next()?.parse().ok()?;
        Some(Self {
            capability,
            kernel,
            lanes,
            bytes,
            packed,
        })
    }

    /// Code runs on later machines of its major version.
    fn serves(&self, major: u32, minor: u32) -> bool {
        self.capability / 10 == major && self.capability % 10 <= minor
    }

    fn unpacked(&self) -> Option<Vec<u8>> {
        let mut code = Vec::new();
        code.try_reserve_exact(self.bytes.min(CODE_MAX)).ok()?;
        let mut reader = XzReader::new(self.packed, false).take(CODE_MAX as u64);
        reader.read_to_end(&mut code).ok()?;
        (code.len() == self.bytes).then_some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cuda::EMBEDDED;

    fn file() -> Vec<u8> {
        let lines = "sm_80 a 256 2 9\nsm_86 a 256 1 9\nsm_90 b 1024 3 9\n";
        let mut file = format!("{FORMAT}\nhash\n{lines}\n").into_bytes();
        file.extend([1, 2, 3, 4, 5, 6]);
        file
    }

    #[test]
    fn pieces_follow_each_other() {
        let file = file();
        let all: Vec<Piece<'_>> = pieces(&file, "hash").collect();
        let packed: Vec<&[u8]> = all.iter().map(|piece| piece.packed).collect();
        assert_eq!(packed, [&[1, 2][..], &[3], &[4, 5, 6]]);
        assert_eq!((all[2].kernel, all[2].lanes, all[2].bytes), ("b", 1024, 9));
    }

    #[test]
    fn code_of_other_sources_and_damaged_files_are_ignored() {
        let file = file();
        assert_eq!(pieces(&file, "other").count(), 0);
        for end in 0..file.len() {
            assert!(pieces(&file[..end], "hash").count() < 3, "{end}");
        }
        let nonsense = format!("{FORMAT}\nhash\nsm_80 a 256 99999999999999999999 1\n\n");
        assert_eq!(pieces(nonsense.as_bytes(), "hash").count(), 0);
    }

    #[test]
    fn code_serves_later_machines_of_its_major_version() {
        let file = file();
        let ampere = pieces(&file, "hash").next().unwrap();
        let served =
            [(8, 0), (8, 9), (7, 5), (9, 0)].map(|machine| ampere.serves(machine.0, machine.1));
        assert_eq!(served, [true, true, false, false]);
    }

    #[test]
    fn the_embedded_code_is_machine_code() {
        const ELF: &[u8] = b"\x7fELF";
        for kernels in EMBEDDED {
            let (target, sources) = (kernels.target(), kernels.sources());
            // There is no code between a change of the kernels and the next `precompile`.
            for machine in machines(sources) {
                let number: u32 = machine[3..].parse().unwrap();
                let capability = (number / 10, number % 10);
                for lanes in [256, 640, 1024] {
                    let wanted = (Entry::MegaSearch, Bound::of(lanes, true));
                    let code = code(sources, capability, wanted).unwrap();
                    assert!(code.starts_with(ELF), "{target}, {machine}, {lanes}");
                }
            }
        }
    }
}
