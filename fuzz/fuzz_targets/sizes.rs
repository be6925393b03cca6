//! Sizes such as `8GiB`: plain digits are exact, units multiply, anything else is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

const UNITS: [(&str, u128); 9] = [
    ("B", 1),
    ("KB", 1000),
    ("MB", 1000_000),
    ("GB", 1000_000_000),
    ("TB", 1000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let found = seawall_cli::size(text);
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        assert!(found.is_err(), "{found:?}");
    }
    let factor = UNITS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let factor = if unit.is_empty() {
        Some(1)
    } else {
        factor.map(|(_, factor)| *factor)
    };
    if let (true, Some(factor), Ok(count)) = (is_plain, factor, digits.parse::<u64>()) {
        let exact = u64::try_from(u128::from(count) * factor).ok();
        assert_eq!(found.ok(), exact, "{text}");
    }
});
