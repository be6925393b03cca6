//! The PTX inside this binary, read as text: listing it needs no driver.

use std::io::{self, Write};

use serde::Serialize;

use seawall::backend::cuda::EMBEDDED;
use seawall::units::{bytes, counted};

#[derive(Debug, Serialize)]
pub(super) struct KernelFile {
    file: String,
    target: &'static str,
    ptx_version: &'static str,
    bytes: usize,
    kernels: Vec<&'static str>,
}

/// Every embedded file, oldest target first.
pub(super) fn embedded() -> Vec<KernelFile> {
    EMBEDDED
        .iter()
        .map(|kernels| {
            let file = format!("seawall.{}.ptx", kernels.target());
            KernelFile::of(file, kernels.text())
        })
        .collect()
}

impl KernelFile {
    fn of(file: String, text: &'static str) -> Self {
        let text = text.trim_end_matches('\0');
        Self {
            file,
            target: directive(text, ".target"),
            ptx_version: directive(text, ".version"),
            bytes: text.len(),
            kernels: text.lines().filter_map(entry).collect(),
        }
    }

    pub(super) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "  {} for {} and later, PTX {}, {}, {}:",
            self.file,
            self.target,
            self.ptx_version,
            bytes(self.bytes as u64),
            counted(self.kernels.len() as u64, "kernel"),
        )?;
        self.kernels
            .iter()
            .try_for_each(|name| writeln!(out, "    {name}"))
    }
}

/// Returns the first argument of a directive at the start of a line; empty if it is missing.
fn directive<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines()
        .find_map(|line| {
            line.strip_prefix(name)?
                .split([' ', '\t', ','])
                .find(|word| !word.is_empty())
        })
        .unwrap_or_default()
}

/// Returns the kernel that a line declares.
fn entry(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".entry ")?;
    rest.split('(').next().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_and_entries_are_read() {
        const TEXT: &str = "// note\n.version 7.8\n.target sm_90, debug\n.visible .entry walk(\n)\n.entry stop( .param .u64 p)\n";
        let file = KernelFile::of("a.ptx".to_owned(), TEXT);
        assert_eq!((file.target, file.ptx_version), ("sm_90", "7.8"));
        assert_eq!(file.kernels, ["walk", "stop"]);
    }

    #[test]
    fn every_embedded_file_has_a_target_and_kernels() {
        for file in embedded() {
            assert!(file.target.starts_with("sm_"), "{file:?}");
            assert!(!file.kernels.is_empty(), "{file:?}");
        }
    }
}
