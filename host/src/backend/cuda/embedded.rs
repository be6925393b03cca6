//! The PTX inside the library, packed.
//!
//! `cargo xtask build-ptx` writes it: a line with the hash of the kernels' sources, then the texts
//! for all machines by xz, with a zero byte between them. Most runs take machine code made in
//! advance and never unpack it.

use crate::own::SOURCES;
use lzma_rust2::XzReader;
use std::io::Read;
use std::sync::OnceLock;

/// Largest unpacked texts together, bytes.
const TEXT_MAX: u64 = 64 << 20;

/// The packed texts, oldest machine first.
static FILE: &[u8] = include_bytes!("../../../ptx/seawall.ptx.packed");

/// Kernels for a machine and later ones.
#[derive(Debug)]
pub struct Embedded {
    target: &'static str,
    number: usize,
}

/// Kernels for every device since Volta.
pub(super) static BASELINE: Embedded = Embedded {
    target: "sm_70",
    number: 0,
};
/// Kernels for Hopper and later.
pub(super) static HOPPER: Embedded = Embedded {
    target: "sm_90",
    number: 1,
};

/// The embedded kernels, oldest machine first.
pub static EMBEDDED: [&Embedded; 2] = [&BASELINE, &HOPPER];

impl Embedded {
    /// The oldest machine: `sm_70`.
    #[must_use]
    pub const fn target(&self) -> &'static str {
        self.target
    }

    /// The hash of the kernels' sources.
    #[must_use]
    pub fn sources(&self) -> &'static str {
        let (head, _) = parts();
        head.strip_prefix(SOURCES).unwrap_or_default()
    }

    /// The PTX, zero-terminated. The first call unpacks all texts in some 100 ms.
    #[must_use]
    pub fn text(&self) -> &str {
        // A damaged file would be a driver's error about an empty text; a test reads both.
        texts().get(self.number).map_or("\0", String::as_str)
    }
}

fn texts() -> &'static [String] {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let mut all = String::new();
        let mut reader = XzReader::new(parts().1, false).take(TEXT_MAX);
        if reader.read_to_string(&mut all).is_err() {
            all.clear();
        }
        all.split('\0').map(|text| format!("{text}\0")).collect()
    })
}

/// Splits the file into the first line and the packed texts.
fn parts() -> (&'static str, &'static [u8]) {
    let end = FILE.iter().position(|byte| *byte == b'\n');
    let (head, rest) = FILE.split_at(end.unwrap_or(FILE.len()));
    let head = std::str::from_utf8(head).unwrap_or_default();
    (head, rest.get(1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own::sources_of;

    #[test]
    fn embedded_texts_end_in_one_zero_and_name_their_sources() {
        for kernels in EMBEDDED {
            let text = kernels.text();
            let zero = text.bytes().position(|byte| byte == 0);
            assert!(text.len() > 100_000, "{}", kernels.target());
            assert_eq!(zero, Some(text.len() - 1));
            assert_eq!(sources_of(text), Some(kernels.sources()));
            assert!(text.contains(&format!(".target {}", kernels.target())));
        }
    }
}
