//! Files of sources, against a plain reader of their lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall_cli::{Sources, SourcesError};

/// Longest line that is an id or a comment, with its end.
const LINE_MAX: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    let found = Sources::from_reader("a file", bytes);
    match (found, plain(bytes)) {
        (Ok(found), Ok(labels)) => assert!(found.labels().eq(labels)),
        (Err(error), Err(line)) => {
            let SourcesError::Line { line: reported, .. } = &error else {
                panic!("{error}");
            };
            assert_eq!(*reported, line);
            assert!(error.to_string().starts_with(&format!("a file:{line}: ")));
        }
        (found, plain) => panic!("{found:?} instead of {plain:?}"),
    }
});

/// Returns the labels of all lines, or the number of the first line that is too long.
fn plain(bytes: &[u8]) -> Result<Vec<String>, u64> {
    let mut labels = Vec::new();
    for (line, number) in bytes.split_inclusive(|byte| *byte == b'\n').zip(1..) {
        let is_short = line.len() < LINE_MAX || (line.len() == LINE_MAX && line.ends_with(b"\n"));
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        match () {
            () if !is_short => return Err(number),
            () if text.is_empty() || text.starts_with('#') => {}
            () => labels.push(text.to_owned()),
        }
    }
    Ok(labels)
}
