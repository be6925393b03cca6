//! The text of a function, its registers and its labels.

use std::fmt::{self, Arguments, Write as _};

/// A register of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reg {
    /// 32 bits.
    Word(u32),
    /// 64 bits.
    Pair(u32),
    /// A condition.
    Flag(u32),
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(number) => write!(f, "%r{number}"),
            Self::Pair(number) => write!(f, "%d{number}"),
            Self::Flag(number) => write!(f, "%p{number}"),
        }
    }
}

/// A place in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$L{}", self.0)
    }
}

/// A function so far.
#[derive(Debug, Default)]
pub(super) struct Writer {
    head: String,
    body: String,
    words: u32,
    pairs: u32,
    flags: u32,
    labels: u32,
}

impl Writer {
    /// A new register of 32 bits.
    pub(super) fn word(&mut self) -> Reg {
        self.words += 1;
        Reg::Word(self.words - 1)
    }

    /// A new register of 64 bits.
    pub(super) fn pair(&mut self) -> Reg {
        self.pairs += 1;
        Reg::Pair(self.pairs - 1)
    }

    /// A new condition.
    pub(super) fn flag(&mut self) -> Reg {
        self.flags += 1;
        Reg::Flag(self.flags - 1)
    }

    /// A new label, which [`Writer::mark`] puts somewhere.
    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Puts a label here.
    pub(super) fn mark(&mut self, label: Label) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{label}:");
    }

    /// Writes an instruction of the head, which runs before all others.
    pub(super) fn head(&mut self, text: Arguments<'_>) {
        let _ = writeln!(self.head, "\t{text};");
    }

    /// Writes an instruction.
    pub(super) fn line(&mut self, text: Arguments<'_>) {
        let _ = writeln!(self.body, "\t{text};");
    }

    /// The whole text, with the declarations of registers.
    pub(super) fn finish(&self) -> String {
        format!(
            "\t.reg .b32 %r<{}>;\n\t.reg .b64 %d<{}>;\n\t.reg .pred %p<{}>;\n{}{}",
            self.words, self.pairs, self.flags, self.head, self.body
        )
    }
}

/// Writes an instruction.
macro_rules! put {
    ($writer:expr, $($text:tt)*) => {
        $writer.line(format_args!($($text)*))
    };
}
pub(super) use put;
