//! Connections to Unix sockets within a time.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Most bytes of a socket's path, one less than the system's address has for it.
const PATH_MAX: usize = if cfg!(any(target_os = "linux", target_os = "android")) {
    107
} else {
    103
};

/// A path that no socket can have.
#[derive(Debug, thiserror::Error)]
#[error(
    "{path}: a socket's path has at most {PATH_MAX} bytes, and this one has {bytes}; name a shorter one, such as one from the working folder"
)]
pub(crate) struct LongPath {
    path: String,
    bytes: usize,
}

/// Refuses a path that fits no address of a socket.
pub(crate) fn check_length(path: &Path) -> Result<(), LongPath> {
    match path.as_os_str().len() {
        ..=PATH_MAX => Ok(()),
        bytes => Err(LongPath {
            path: path.display().to_string(),
            bytes,
        }),
    }
}

/// Connects within `most`.
///
/// A connection to a service that accepts none waits in the kernel without end once the service's
/// queue is full, and the standard library has no limit for it. So a thread waits, which ends with
/// the process if the service never accepts.
pub(crate) fn connect_within(path: &Path, most: Duration) -> io::Result<UnixStream> {
    let (connected, connection) = channel();
    let path = path.to_owned();
    let thread = std::thread::Builder::new().name("seawall-connect".to_owned());
    thread.spawn(move || {
        // A connection that comes too late is closed with the channel.
        let _ = connected.send(UnixStream::connect(path));
    })?;
    match connection.recv_timeout(most) {
        Ok(connected) => connected,
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            Err(io::ErrorKind::TimedOut.into())
        }
    }
}
