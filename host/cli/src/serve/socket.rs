//! Many clients of a Unix socket.

use std::fs::Permissions;
use std::io::{self, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::session::Session;
use super::stop::Stop;
use super::{CLIENTS, Served, WINDOW};
use seawall::Cause;
use seawall::service::{Client, Service};

/// Time between two looks for clients and for the end.
const LOOK: Duration = Duration::from_millis(20);

/// Time that a client may take to read an answer before it is dropped.
const PATIENCE: Duration = Duration::from_secs(30);

/// A socket could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    /// There is something at its path.
    #[error("{path}: {what} is there already; remove it or name another path")]
    Taken {
        /// The path.
        path: String,
        /// The file that is there.
        what: &'static str,
    },
    /// The system refused.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: String,
        /// The error of the system.
        source: io::Error,
    },
}

impl SocketError {
    /// Whether another request would help.
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Taken { .. } => Cause::Request,
            Self::Io { source, .. } => Cause::of_io(source),
        }
    }
}

/// Serves clients until the service is to stop; all of them have their answers then.
pub(super) fn serve(
    path: &Path,
    service: &Service,
    served: &Arc<Served>,
    stop: &Stop,
) -> Result<(), SocketError> {
    let socket = Socket::open(path)?;
    let free: Mutex<Vec<Client>> = Mutex::new(
        (1..=CLIENTS as u32)
            .rev()
            .filter_map(|tenant| service.client(tenant))
            .collect(),
    );
    std::thread::scope(|scope| {
        while !stop.is_set() {
            let Ok((stream, _)) = socket.listener.accept() else {
                std::thread::sleep(LOOK);
                continue;
            };
            let taken = free.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(client) = taken else {
                refuse(&stream);
                continue;
            };
            let give_back = |client| {
                let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
                free.push(client);
            };
            let spare = client.clone();
            let thread = std::thread::Builder::new().name("seawall-session".to_owned());
            let started = thread.spawn_scoped(scope, move || {
                // A client that leaves or does not read ends its own session alone.
                let _ = attend(&stream, &client, served, stop);
                let _ = stream.shutdown(Shutdown::Both);
                // Its requests may still write to its window.
                while !client.is_idle() {
                    std::thread::sleep(LOOK);
                }
                give_back(client);
            });
            if started.is_err() {
                // Its stream is closed with the thread that did not start.
                give_back(spare);
            }
        }
    });
    Ok(())
}

fn attend(
    stream: &UnixStream,
    client: &Client,
    served: &Arc<Served>,
    stop: &Stop,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // Nothing of the client before is left.
    let _ = client.write(0, &vec![0; WINDOW as usize]);
    let session = Session::new(client.clone(), Arc::clone(served));
    let left = session.run(BufReader::new(stream.try_clone()?), stream, stop)?;
    stream.shutdown(Shutdown::Both)?;
    // Nothing panics on that thread, and its stream is closed.
    let _ = left.reader.join();
    left.written
}

fn refuse(mut stream: &UnixStream) {
    let message = format!("{CLIENTS} clients are connected, which is as many as there may be");
    let line = serde_json::json!({"id": null, "error": {"kind": "busy", "message": message}});
    let _ = stream.set_nonblocking(true);
    let _ = writeln!(stream, "{line}");
}

/// A listening socket whose file goes when it does.
struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

impl Socket {
    /// Opens a socket that its owner alone may connect to, at no time anybody else: it is
    /// made in a folder that only the owner may enter, and moved when its mode is set.
    fn open(path: &Path) -> Result<Self, SocketError> {
        clear(path)?;
        let failed = |source| SocketError::Io {
            path: path.display().to_string(),
            source,
        };
        let beside = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let draft = Draft::beside(beside).map_err(failed)?;
        let listener = UnixListener::bind(&draft.socket).map_err(failed)?;
        std::fs::set_permissions(&draft.socket, Permissions::from_mode(0o600)).map_err(failed)?;
        std::fs::rename(&draft.socket, path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
        })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A folder that its owner alone may enter, with the socket in it until it is moved.
struct Draft {
    folder: PathBuf,
    socket: PathBuf,
}

impl Draft {
    fn beside(parent: &Path) -> io::Result<Self> {
        let folder = tempfile::tempdir_in(parent)?.keep();
        let socket = folder.join("s");
        Ok(Self { folder, socket })
    }
}

impl Drop for Draft {
    /// Removes the folder by names alone: walking through it takes a descriptor, and a lack of
    /// those may be the reason of a failure.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// Removes a socket that nobody listens to; refuses anything else.
fn clear(path: &Path) -> Result<(), SocketError> {
    let taken = |what| SocketError::Taken {
        path: path.display().to_string(),
        what,
    };
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !found.file_type().is_socket() {
        return Err(taken("a file"));
    }
    if UnixStream::connect(path).is_ok() {
        return Err(taken("a service"));
    }
    std::fs::remove_file(path).map_err(|source| SocketError::Io {
        path: path.display().to_string(),
        source,
    })
}
