//! All text formats through the reader, found by content or by a name that may lie.
//!
//! What is read must be a sound graph; written in a format that keeps everything and
//! read again it must be the same one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall::graph::{Format, Loaded};
use seawall_fuzz::graph::{NAMES, OPTIONS, promises_much, read};
use seawall_fuzz::pool;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else {
        return;
    };
    if promises_much(text) {
        return;
    }
    pool::start();
    let name = NAMES[usize::from(choice) % NAMES.len()];
    let options = OPTIONS[usize::from(choice >> 3) % OPTIONS.len()];
    if let Ok(Loaded { graph, stats }) = read(name, text, &options) {
        assert_ne!(stats.format, Format::Generated);
        let directed = u64::from(graph.edges()) + stats.duplicates;
        let listed = stats.listed_edges - stats.self_loops;
        let undirected = graph.is_symmetric();
        // Of an undirected edge a duplicate counts once, and what stays counts twice.
        assert!(if undirected {
            directed <= 2 * listed
        } else {
            directed == listed
        });
    }
});
