//! How waves of code ran.

use seawall::backend::CodeReport;
use seawall::units::{Nanoseconds, bytes, counted};

/// A line about it: what was compiled and how long that took, or why nothing was.
pub fn described(code: &CodeReport) -> String {
    let waves = counted(u64::from(code.waves), "wave");
    let reason = code.reason.as_deref();
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    if code.compiled == 0 {
        return format!("{waves} interpreted{reason}");
    }
    let time = Nanoseconds(code.compile_ns);
    let size = bytes(code.bytes);
    let rest = match code.waves.saturating_sub(code.compiled) {
        0 => String::new(),
        rest => format!("; {rest} interpreted{reason}"),
    };
    let compiled = match code.compiled == code.waves {
        true => waves,
        false => format!("{} of {waves}", code.compiled),
    };
    let when = if code.is_beside { " beside a run" } else { "" };
    format!("{compiled} compiled in {time}{when}, {size}{rest}")
}
