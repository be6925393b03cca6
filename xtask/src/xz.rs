//! Packing by xz, for files that the library embeds.

use std::io::{Read, Write};

use lzma_rust2::{XzOptions, XzReader, XzWriter};

use crate::error::Error;

pub(crate) fn pack(plain: &[u8]) -> Result<Vec<u8>, Error> {
    let pack = || -> std::io::Result<Vec<u8>> {
        let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(9))?;
        writer.write_all(plain)?;
        writer.finish()
    };
    pack().map_err(Error::file("packing", "code"))
}

/// The unpacked bytes; `None` if they are damaged.
pub(crate) fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    XzReader::new(packed, false).read_to_end(&mut plain).ok()?;
    Some(plain)
}
