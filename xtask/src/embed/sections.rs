//! The size of an image, and the share of the program that it plans.
//!
//! The example's wave table is data of the caller, not of the planner; it is counted separately by
//! its symbols.

use super::firmware::Firmware;
use super::listing;
use crate::error::Error;

/// Symbols of this module are the caller's.
const CALLER: &str = "16seawall_firmware7program";

/// Bytes of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sections {
    pub(super) text: u64,
    /// Constants and unwinding marks, the caller's tables among them.
    pub(super) rodata: u64,
    /// Initialised variables: flash and RAM.
    pub(super) data: u64,
    /// Zeroed variables: RAM.
    pub(super) bss: u64,
    /// The caller's tables.
    pub(super) caller: u64,
}

impl Sections {
    pub(super) fn of(firmware: &Firmware<'_>, target: &str, name: &str) -> Result<Self, Error> {
        let image = firmware.image(target, name);
        let sizes = firmware.ask("size", &["-A"], &image)?;
        let symbols = firmware.ask("nm", &["--print-size"], &image)?;
        let mut sections = Self::from_sizes(&sizes);
        sections.caller = listing::symbol_bytes(&symbols, CALLER);
        Ok(sections)
    }

    fn from_sizes(text: &str) -> Self {
        let mut sections = Self::default();
        for (name, bytes) in listing::sections(text) {
            match name {
                ".text" => sections.text += bytes,
                ".rodata" | ".ARM.exidx" | ".vector_table" => sections.rodata += bytes,
                ".data" => sections.data += bytes,
                ".bss" => sections.bss += bytes,
                _ => {}
            }
        }
        sections
    }

    /// Everything that the image puts into flash.
    pub(super) fn flash(&self) -> u64 {
        self.text + self.rodata + self.data
    }

    /// The same without the caller's tables.
    pub(super) fn planner(&self) -> u64 {
        self.flash().saturating_sub(self.caller)
    }

    /// Everything in RAM except the stack.
    pub(super) fn ram(&self) -> u64 {
        self.data + self.bss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flash_is_code_and_constants_and_initial_values() {
        let text = "everything  :\nsection  size  addr\n.ARM.exidx 16 65780\n.rodata 3000 65800\n\
                    .text 20000 134796\n.data 8 200\n.bss 9552 221640\n.comment 101 0\nTotal 1\n";
        let mut sections = Sections::from_sizes(text);
        sections.caller = 2_900;
        assert_eq!(sections.flash(), 23_024);
        assert_eq!(sections.planner(), 20_124);
        assert_eq!(sections.ram(), 9_560);
    }
}
