//! Parsers of the output of LLVM's tools.
//!
//! Each function takes text and returns records; none starts a program. Other lines are skipped,
//! since headings differ between versions.

/// Name and bytes of each section, from `llvm-size -A`.
pub(super) fn sections(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?.parse().ok()?))
    })
}

/// Bytes of all symbols whose name contains `part`, from `llvm-nm --print-size`.
pub(super) fn symbol_bytes(text: &str, part: &str) -> u64 {
    let symbols = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let bytes = u64::from_str_radix(words.next()?, 16).ok()?;
        words.nth(1)?.contains(part).then_some(bytes)
    });
    symbols.sum()
}

/// Name and bytes of stack of each function, from `llvm-readobj --stack-sizes`.
pub(super) fn frames(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let (bytes, name) = line.trim().split_once(char::is_whitespace)?;
        Some((name.trim(), bytes.parse().ok()?))
    })
}

/// A line of a disassembly that matters to a call graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// The code of a function begins.
    Function(&'a str),
    /// A branch or call to the start of a function or into it.
    Branch(&'a str),
    /// A branch or call to an address in a register.
    Indirect(&'a str),
}

/// Functions and branches, from `llvm-objdump -d --no-show-raw-insn` of ARM code.
pub(super) fn items(text: &str) -> impl Iterator<Item = Item<'_>> {
    text.lines().filter_map(|line| {
        if let Some(name) = line.strip_suffix(">:") {
            return Some(Item::Function(name.split_once('<')?.1));
        }
        let (_, code) = line.split_once('\t')?;
        branch(code)
    })
}

fn branch(code: &str) -> Option<Item<'_>> {
    let (mnemonic, operands) = code.split_once('\t')?;
    let mnemonic = mnemonic.trim();
    if mnemonic.starts_with("blx") || mnemonic.starts_with("bx") {
        let is_return = operands.trim() == "lr";
        return (!is_return).then_some(Item::Indirect(code));
    }
    let jumps = mnemonic.starts_with('b') || mnemonic.starts_with("cb");
    let (_, target) = operands.split_once('<').filter(|_| jumps)?;
    let name = target.split(['>', '+']).next()?;
    Some(Item::Branch(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_summed_by_a_part_of_their_name() {
        let text = "00010bf8 000001d8 r _R3aPROGRAM\n00010278 00000600 r _R3aWAVES\n\
                    000238c6 000008b4 t _R3bsweep\n         U a_panic_path_remains\n";
        assert_eq!(symbol_bytes(text, "_R3a"), 0x7d8);
        assert_eq!(symbol_bytes(text, "_R3c"), 0);
    }

    #[test]
    fn frames_have_a_size_and_a_name() {
        let text = "Stack Sizes:\n         Size     Functions\n          376     _start\n";
        assert_eq!(frames(text).collect::<Vec<_>>(), [("_start", 376)]);
    }

    #[test]
    fn a_disassembly_tells_functions_branches_and_what_cannot_be_followed() {
        let text = "00020dfc <_start>:\n   20dfc:      \tpush\t{r4, lr}\n\
                    20e00:      \tbl\t0x2000 <work> @ imm = #4\n\
                    20e04:      \tbne\t0x20dfe <_start+0x2> @ imm = #-8\n\
                    20e06:      \tcbz\tr0, 0x2010 <work+0x10> @ imm = #2\n\
                    20e08:      \tbic\tr0, r1, #3\n\
                    20e0a:      \tblx\tr3\n20e0c:      \tbx\tlr\n";
        let found: Vec<_> = items(text).collect();
        let expected = [
            Item::Function("_start"),
            Item::Branch("work"),
            Item::Branch("_start"),
            Item::Branch("work"),
            Item::Indirect("blx\tr3"),
        ];
        assert_eq!(found, expected);
    }
}
