//! gzip and xz around a graph: damaged streams, headers with repaired checksums so that their
//! sizes are believed, and intact streams that must change nothing.
#![no_main]

use std::io::Write;

use flate2::{Compression, Crc, write::GzEncoder};
use libfuzzer_sys::fuzz_target;
use seawall_fuzz::graph::{OPTIONS, check_same, chosen, is_compressed, promises_much, read};
use seawall_fuzz::{limit, pool};

fuzz_target!(|bytes: &[u8]| {
    let [choice, kind, rest @ ..] = bytes else {
        return;
    };
    pool::start();
    limit::allow(
        260 << 20,
        "an xz header may ask for a dictionary of 256 MiB",
    );
    let (name, options) = chosen(*choice);
    let options = &OPTIONS[options];
    match kind % 4 {
        0 => drop(read(name, rest, options)),
        1 => drop(read(name, &mended_xz(rest), options)),
        2 => drop(read(
            name,
            &[&b"\x1f\x8b\x08\0\0\0\0\0\0\xff"[..], rest].concat(),
            options,
        )),
        _ if promises_much(rest) => {}
        // Only one wrapper is removed: a second one contains arbitrary bytes.
        _ if is_compressed(rest) => {}
        _ => {
            let plain = read(name, rest, options);
            let packed = gzip(rest);
            match (plain, read(name, &packed, options)) {
                (Ok(plain), Ok(packed)) => check_same(&plain.graph, &packed.graph),
                (Err(_), Err(_)) => {}
                (plain, packed) => panic!("plain {plain:?}, packed {packed:?}"),
            }
        }
    }
});

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

/// Magic and right checksums around the stream flags and the first block header.
fn mended_xz(rest: &[u8]) -> Vec<u8> {
    let mut bytes = [&b"\xfd7zXZ\0\0"[..], rest].concat();
    put_checksum(&mut bytes, 6, 8);
    if let Some(&words) = bytes.get(12) {
        put_checksum(&mut bytes, 12, 12 + 4 * usize::from(words));
    }
    bytes
}

/// Writes the checksum of `from..to` after it, if there is space.
fn put_checksum(bytes: &mut [u8], from: usize, to: usize) {
    let mut sum = Crc::new();
    if let Some(part) = bytes.get(from..to) {
        sum.update(part);
    }
    if let Some(place) = bytes.get_mut(to..to + 4) {
        place.copy_from_slice(&sum.sum().to_le_bytes());
    }
}
