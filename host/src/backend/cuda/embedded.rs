//! The PTX inside the library, packed.
//!
//! `cargo xtask build-ptx` writes one file per machine beside the text that it packs: a line with
//! the hash of the kernels' sources, then the text by xz, a twelfth of its size. Most runs take
//! machine code made in advance and never unpack it.

use crate::own::SOURCES;
use lzma_rust2::XzReader;
use std::io::Read;
use std::sync::OnceLock;

/// Largest unpacked text, bytes.
const TEXT_MAX: u64 = 64 << 20;

/// Kernels for a machine and later ones.
#[derive(Debug)]
pub struct Embedded {
    target: &'static str,
    file: &'static [u8],
    text: OnceLock<String>,
}

/// Kernels for every device since Volta.
pub(super) static BASELINE: Embedded = Embedded::of(
    "sm_70",
    include_bytes!("../../../ptx/seawall.sm_70.ptx.packed"),
);
/// Kernels for Hopper and later.
pub(super) static HOPPER: Embedded = Embedded::of(
    "sm_90",
    include_bytes!("../../../ptx/seawall.sm_90.ptx.packed"),
);

/// The embedded kernels, oldest machine first.
pub static EMBEDDED: [&Embedded; 2] = [&BASELINE, &HOPPER];

impl Embedded {
    const fn of(target: &'static str, file: &'static [u8]) -> Self {
        Self {
            target,
            file,
            text: OnceLock::new(),
        }
    }

    /// The oldest machine: `sm_70`.
    #[must_use]
    pub const fn target(&self) -> &'static str {
        self.target
    }

    /// The hash of the kernels' sources.
    #[must_use]
    pub fn sources(&self) -> &'static str {
        let (head, _) = self.parts();
        head.strip_prefix(SOURCES).unwrap_or_default()
    }

    /// The PTX, zero-terminated, unpacked on the first call in some 50 ms.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| {
            let mut text = String::new();
            let mut reader = XzReader::new(self.parts().1, false).take(TEXT_MAX);
            // A damaged file would be a driver's error about an empty text; a test reads both.
            if reader.read_to_string(&mut text).is_err() {
                text.clear();
            }
            text.push('\0');
            text
        })
    }

    /// The first line, and the packed text.
    fn parts(&self) -> (&'static str, &'static [u8]) {
        let end = self.file.iter().position(|byte| *byte == b'\n');
        let (head, rest) = self.file.split_at(end.unwrap_or(self.file.len()));
        let head = std::str::from_utf8(head).unwrap_or_default();
        (head, rest.get(1..).unwrap_or_default())
    }
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
