//! Names of graphs: text, or on Unix any bytes.

use std::ffi::{OsStr, OsString};

/// Prefix of an argument that names a list.
const LIST: &str = "@";

/// Returns the list that an argument such as `@graphs.txt` names.
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

/// Returns the name in a line of a list; `None` if names must be UTF-8 and it is not.
#[cfg(unix)]
pub(super) fn of_bytes(bytes: &[u8]) -> Option<OsString> {
    use std::os::unix::ffi::OsStrExt;
    Some(OsStr::from_bytes(bytes).to_owned())
}

/// Returns the name in a line of a list; `None` if names must be UTF-8 and it is not.
#[cfg(not(unix))]
pub(super) fn of_bytes(bytes: &[u8]) -> Option<OsString> {
    std::str::from_utf8(bytes).ok().map(OsString::from)
}

pub(super) fn shown(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}
