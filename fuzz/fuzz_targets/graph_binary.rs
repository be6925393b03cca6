//! `.swg` files, whose header gets a valid checksum so that its content is believed.
//!
//! Accepted files must follow the layout, and the paths of a stream and of a file must agree, down
//! to the message of an error.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use seawall::graph::load;
use seawall_fuzz::graph::{OPTIONS, PLAIN_OPTIONS, check_same, is_compressed, read};
use seawall_fuzz::{limit, pool, swg};

const MAGIC: &[u8] = b"SEAWALLG";
const CHECKED_BYTES: usize = 56;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("seawall-fuzz-{}.swg", std::process::id());
    std::env::temp_dir().join(name)
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, rest)) = bytes.split_first() else {
        return;
    };
    if is_compressed(rest) {
        return;
    }
    pool::start();
    limit::allow(4 << 20, "arrays grow by a megabyte as bytes arrive");
    let options = &OPTIONS[usize::from(choice) % PLAIN_OPTIONS];
    let is_mended = choice & 4 == 0;
    let bytes = if is_mended {
        mended(rest)
    } else {
        rest.to_vec()
    };
    let name = FILE.to_str().expect("temporary folders have plain names");
    let streamed = read(name, &bytes, options);
    if bytes.starts_with(MAGIC) && is_mended {
        let sound = swg::is_sound(&bytes, options.weights.are_read());
        assert_eq!(streamed.is_ok(), sound, "{streamed:?}");
    }
    if choice & 8 == 0 {
        return;
    }
    std::fs::write(&*FILE, &bytes).expect("the temporary folder takes a file");
    match (streamed, load(name, options, None)) {
        (Ok(streamed), Ok(filed)) => check_same(&streamed.graph, &filed.graph),
        (Err(streamed), Err(filed)) => check_messages(&streamed.to_string(), &filed.to_string()),
        (streamed, filed) => panic!("streamed {streamed:?}, from a file {filed:?}"),
    }
});

/// Panics unless both results are equal. A stream knows only the length at which it ended.
fn check_messages(streamed: &str, filed: &str) {
    let of_length = |message: &str| message.contains("bytes, the header promises");
    if of_length(streamed) || of_length(filed) {
        return;
    }
    assert_eq!(streamed, filed);
}

/// The bytes after the magic, with the checksum that the header requires.
fn mended(rest: &[u8]) -> Vec<u8> {
    let mut bytes = [MAGIC, rest].concat();
    if bytes.len() >= CHECKED_BYTES + 8 {
        let hash = bytes[..CHECKED_BYTES]
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        bytes[CHECKED_BYTES..CHECKED_BYTES + 8].copy_from_slice(&hash.to_le_bytes());
    }
    bytes
}
