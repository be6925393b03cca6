//! Names of private functions, without the parts that change from build to build.
//!
//! rustc writes a hash of the crate's build into each mangled name. It depends on the versions of
//! rustc and Cargo, so it would make equal code seem different. Only exported kernels have stable
//! names, which are not mangled.

/// `text` with the crate hashes of mangled names cut out.
///
/// A crate is mangled as `Cs`, a hash in base 62, `_` and its name with its length in front (Rust
/// RFC 2603); the rest is `C` and the name.
pub(crate) fn without_hashes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for (index, piece) in text.split("_R").enumerate() {
        if index == 0 {
            kept.push_str(piece);
            continue;
        }
        let end = piece.find(|c: char| !is_symbol(c)).unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        kept.push_str("_R");
        kept.push_str(&shorten(name));
        kept.push_str(rest);
    }
    kept
}

fn is_symbol(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

fn shorten(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some((before, after)) = rest.split_once("Cs") {
        kept.push_str(before);
        rest = match after_hash(after) {
            Some(krate) => {
                kept.push('C');
                krate
            }
            None => {
                kept.push_str("Cs");
                after
            }
        };
    }
    kept + rest
}

/// The rest after a hash and its `_`, if it is the length and name of a crate.
fn after_hash(text: &str) -> Option<&str> {
    let (hash, krate) = text.split_once('_')?;
    let is_hash = hash.len() >= 8 && hash.chars().all(|c| c.is_ascii_alphanumeric());
    (is_hash && krate.starts_with(|c: char| c.is_ascii_digit())).then_some(krate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_crates_go_and_the_rest_stays() {
        let text = "call.uni (r), _RNvNtCs575RXrtrYNO_14seawall_device4cold3far, (p);";
        assert_eq!(
            without_hashes(text),
            "call.uni (r), _RNvNtC14seawall_device4cold3far, (p);"
        );
    }

    #[test]
    fn each_crate_of_a_generic_name_is_shortened() {
        let text = "_RINvCs575RXrtrYNO_1a1fNtCs5aaaaaaaaNO_1b1TE_R _Rx";
        assert_eq!(without_hashes(text), "_RINvC1a1fNtC1b1TE_R _Rx");
    }

    #[test]
    fn other_text_is_untouched() {
        for text in ["", "%r1, Cs575RXrtrYNO_1a", "_RNvCs_1a", "_R", "a_R_R"] {
            assert_eq!(without_hashes(text), text);
        }
    }
}
