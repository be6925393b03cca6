//! The cost of each kernel, counted in its PTX.
//!
//! Virtual registers and instructions here are not the machine's: the assembler
//! merges and reorders them. They repeat exactly on any machine, though, and they
//! grow when the code does. `ptxas` reports the machine's own figures where it is installed.

use crate::ptx::listing::{Function, functions};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) instructions: u32,
    /// Declared virtual registers, in 32-bit words, predicates left out.
    pub(crate) registers: u32,
    /// Bytes of local memory per lane: arrays that did not fit registers.
    pub(crate) local_bytes: u32,
    /// Bytes of statically sized shared memory that the function names.
    pub(crate) shared_bytes: u32,
    pub(crate) calls: u32,
    /// Panic sites that the compiler could not prove away.
    pub(crate) traps: u32,
}

/// Every function of `ptx` by name, in order.
pub(crate) fn measure(ptx: &str) -> Vec<(String, Counts)> {
    let shared = shared_arrays(ptx);
    let each = functions(ptx).into_iter();
    each.map(|function| (function.name.to_owned(), count(&function, &shared)))
        .collect()
}

fn count(function: &Function<'_>, shared: &[(&str, u32)]) -> Counts {
    let mut counts = Counts::default();
    for instruction in function.instructions() {
        counts.instructions += 1;
        counts.calls += u32::from(instruction.starts_with("call"));
        counts.traps += u32::from(instruction == "trap");
    }
    for line in &function.body {
        counts.registers = counts.registers.saturating_add(register_words(line));
        if line.starts_with(".local") {
            counts.local_bytes = counts.local_bytes.saturating_add(array_bytes(line));
        }
    }
    let named = shared.iter().filter(|(name, _)| mentions(function, name));
    counts.shared_bytes = named.fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes));
    counts
}

/// `.reg .b64 %rd<9>;` declares `%rd1` to `%rd8` (and `%rd0`, which LLVM leaves idle).
fn register_words(line: &str) -> u32 {
    let Some(rest) = line.strip_prefix(".reg .") else {
        return 0;
    };
    let width = match rest.get(1..3) {
        Some("64") => 2,
        Some("12") => 4,
        Some("re") => 0,
        _ => 1,
    };
    let number = rest
        .split('<')
        .nth(1)
        .and_then(|text| text.split('>').next());
    let declared: u32 = number.and_then(|text| text.parse().ok()).unwrap_or(1);
    width * declared.saturating_sub(1)
}

/// Size in `.local .align 8 .b8 name[32];`; `None` for the open `name[]`.
fn array_bytes(line: &str) -> u32 {
    let size = line
        .split('[')
        .nth(1)
        .and_then(|text| text.split(']').next());
    size.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn shared_arrays(ptx: &str) -> Vec<(&str, u32)> {
    let lines = ptx.lines().filter(|line| {
        let line = line.trim_start();
        line.contains(".shared ") && line.starts_with('.') && line.contains('[')
    });
    lines
        .filter_map(|line| Some((array_name(line)?, array_bytes(line))))
        .collect()
}

fn array_name(line: &str) -> Option<&str> {
    line.split('[').next()?.split_whitespace().last()
}

fn mentions(function: &Function<'_>, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut words = function
        .body
        .iter()
        .flat_map(|line| line.split(|c| !is_word(c)));
    words.any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_counted() {
        let ptx = "\
.extern .shared .align 16 .b8 OPEN[];
.shared .align 4 .b8 TILE[128];
.visible .entry walk()
{
\t.local .align 8 .b8 \t__local_depot0[32];
\t.reg .pred \t%p<3>;
\t.reg .b32 \t%r<5>;
\t.reg .b64 \t%rd<9>;
\tmov.u64 \t%rd1, TILE;
\tmov.u64 \t%rd2, OPEN;
\tcall.uni (r), cold, (p);
\ttrap; exit;
}
";
        let expected = Counts {
            instructions: 5,
            registers: 4 + 16,
            local_bytes: 32,
            shared_bytes: 128,
            calls: 1,
            traps: 1,
        };
        assert_eq!(measure(ptx), [("walk".to_owned(), expected)]);
    }
}
