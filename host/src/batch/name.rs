//! Names of graphs: text, or on Unix any bytes.

use std::ffi::{OsStr, OsString};

/// What an argument that names a list starts with.
const LIST: &str = "@";

/// The file that an argument such as `@graphs.txt` names as a list.
#[must_use]
pub fn list_of(argument: &OsStr) -> Option<OsString> {
    match argument.to_str() {
        Some(text) => text.strip_prefix(LIST).map(OsString::from),
        None => list_of_bytes(argument),
    }
}

#[cfg(unix)]
fn list_of_bytes(argument: &OsStr) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    let path = argument.as_bytes().strip_prefix(LIST.as_bytes())?;
    Some(OsStr::from_bytes(path).to_owned())
}

#[cfg(not(unix))]
fn list_of_bytes(_: &OsStr) -> Option<OsString> {
    None
}

/// The name that a line of a list holds; nothing where names must be text and it is none.
#[cfg(unix)]
pub(super) fn of_bytes(bytes: &[u8]) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    Some(OsStr::from_bytes(bytes).to_owned())
}

/// The name that a line of a list holds; nothing where names must be text and it is none.
#[cfg(not(unix))]
pub(super) fn of_bytes(bytes: &[u8]) -> Option<OsString> {
    std::str::from_utf8(bytes).ok().map(OsString::from)
}

/// A name as messages show it.
pub(super) fn shown(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}
