//! Connections to Unix sockets within a time.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

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
