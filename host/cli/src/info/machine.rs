//! The CPU that the `cpu` backend runs on.

use std::fmt;
use std::fs;

use serde::Serialize;

use seawall::units::{bytes, counted};

/// Facts about the processor; `None` for those that the system does not report.
#[derive(Debug, Serialize)]
pub(super) struct Cpu {
    name: Option<String>,
    threads: usize,
    memory_bytes: Option<u64>,
}

impl Cpu {
    pub(super) fn gather() -> Self {
        let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        Self {
            name: field(&facts, "model name").map(str::to_owned),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: field(&memory, "MemTotal").and_then(kibibytes),
        }
    }
}

/// Returns the value of the first `key : value` line.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

fn kibibytes(value: &str) -> Option<u64> {
    value
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or("unnamed processor");
        write!(f, "{name}, {}", counted(self.threads as u64, "thread"))?;
        match self.memory_bytes {
            Some(memory) => write!(f, ", {} of memory", bytes(memory)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_by_their_whole_key() {
        let text = "model\t\t: 17\nmodel name\t: Some CPU @ 2 GHz\nMemTotal:  2048 kB\n";
        assert_eq!(field(text, "model name"), Some("Some CPU @ 2 GHz"));
        assert_eq!(field(text, "MemTotal").and_then(kibibytes), Some(2 << 20));
        assert_eq!(field(text, "flags"), None);
        assert_eq!(kibibytes("99999999999999999999 kB"), None);
    }
}
