//! File content in messages.

/// Longest quotation of the file in a message.
const QUOTE_BYTES: usize = 40;

/// Returns file content for a message: shortened, and always printable.
pub(super) fn quote(bytes: &[u8]) -> String {
    let short = &bytes[..bytes.len().min(QUOTE_BYTES)];
    let mut text: String = String::from_utf8_lossy(short)
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if bytes.len() > QUOTE_BYTES {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_short_and_printable() {
        assert_eq!(quote(b"a\x1bb"), "a\u{fffd}b");
        assert_eq!(quote(&[b'x'; 100]).chars().count(), QUOTE_BYTES + 1);
    }
}
