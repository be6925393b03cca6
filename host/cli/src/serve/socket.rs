//! Many clients of a Unix socket.

use std::collections::hash_map::RandomState;
use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Place;
use super::session::{Activity, Session};
use super::stop::Stop;
use crate::unix::{LongPath, check_length, connect_within};
use seawall::Cause;

/// Time between two polls for clients and for the end.
const LOOK: Duration = Duration::from_millis(20);

/// Time that a client may take to read an answer before it is dropped.
const PATIENCE: Duration = Duration::from_secs(30);

/// Time within which an existing socket must answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    /// There is a file at its path.
    #[error("{path}: {what} is there already; remove it or name another path")]
    Taken { path: String, what: &'static str },
    /// No client could connect to it.
    #[error(transparent)]
    Path(#[from] LongPath),
    /// Its folder is missing, or is none.
    #[error("{path}: {folder} {what}")]
    Folder {
        path: String,
        folder: String,
        what: &'static str,
    },
    /// The system refused.
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },
}

impl SocketError {
    fn io(path: &Path, source: io::Error) -> Self {
        let path = path.display().to_string();
        Self::Io { path, source }
    }

    /// Whether the request is the cause.
    pub(crate) fn cause(&self) -> Cause {
        match self {
            Self::Taken { .. } | Self::Path(_) | Self::Folder { .. } => Cause::Request,
            Self::Io { source, .. } => Cause::of_io(source),
        }
    }
}

/// Limits of a service's clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) clients: u32,
    /// Time after which a client that neither asks nor waits is closed.
    pub(super) idle: Duration,
}

/// Serves clients, one at each place, until the service is to stop; returns after all have their answers.
pub(super) fn serve(
    path: &Path,
    limits: Limits,
    places: Vec<Place>,
    stop: &Stop,
) -> Result<(), SocketError> {
    let socket = Socket::open(path)?;
    tracing::info!(socket = %path.display(), clients = limits.clients, "listens");
    let free = Mutex::new(places);
    std::thread::scope(|scope| {
        while !stop.is_set() {
            let Ok((stream, _)) = socket.listener.accept() else {
                std::thread::sleep(LOOK);
                continue;
            };
            let taken = free.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(place) = taken else {
                tracing::warn!(
                    clients = limits.clients,
                    "refused a client: all places are taken"
                );
                refuse(&stream, limits);
                continue;
            };
            let give_back = |place| {
                let mut free = free.lock().unwrap_or_else(PoisonError::into_inner);
                free.push(place);
            };
            let spare = place.clone();
            let thread = std::thread::Builder::new().name("seawall-session".to_owned());
            let started = thread.spawn_scoped(scope, move || {
                let _entered = tracing::info_span!("client", tenant = place.number()).entered();
                tracing::info!("connected");
                // A client that leaves or does not read ends its own session alone.
                match attend(&stream, limits.idle, &place, stop) {
                    Ok(()) => tracing::info!("left"),
                    Err(error) => tracing::info!(%error, "lost"),
                }
                let _ = stream.shutdown(Shutdown::Both);
                // Its requests may still write to its window.
                while !place.is_idle() {
                    std::thread::sleep(LOOK);
                }
                give_back(place);
            });
            if started.is_err() {
                tracing::error!("no thread could be started for a client");
                // Its stream is closed with the thread that did not start.
                give_back(spare);
            }
        }
    });
    Ok(())
}

fn attend(stream: &UnixStream, idle: Duration, place: &Place, stop: &Stop) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let look = (idle / 4).clamp(Duration::from_millis(1), Duration::from_secs(1));
    stream.set_read_timeout(Some(look))?;
    let session = Session::new(place.begin());
    let activity = Arc::new(Activity::default());
    let input = Asking {
        stream: stream.try_clone()?,
        activity: Arc::clone(&activity),
        idle,
    };
    let left = session.run(BufReader::new(input), Patient(stream), &activity, stop)?;
    stream.shutdown(Shutdown::Both)?;
    // That thread does not panic, and its stream is closed.
    let _ = left.reader.join();
    left.written
}

/// The input of a client, until it is idle for too long.
struct Asking {
    stream: UnixStream,
    activity: Arc<Activity>,
    idle: Duration,
}

impl Read for Asking {
    /// Fails with [`io::ErrorKind::TimedOut`] once the client has been idle for too long.
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            // This includes incoming bytes without an end of line.
            if self.activity.idle() >= self.idle {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match self.stream.read(to) {
                Err(error) if is_no_data(&error) => {}
                read => return read,
            }
        }
    }
}

fn is_no_data(error: &io::Error) -> bool {
    use io::ErrorKind::{TimedOut, WouldBlock};
    matches!(error.kind(), TimedOut | WouldBlock)
}

/// Answers to a client, with a time limit for reading a whole answer.
struct Patient<'s>(&'s UnixStream);

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let until = Instant::now() + PATIENCE;
        let mut left = bytes;
        while !left.is_empty() {
            let time = until.saturating_duration_since(Instant::now());
            if time.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.0.set_write_timeout(Some(time))?;
            match self.0.write(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn refuse(mut stream: &UnixStream, limits: Limits) {
    let Limits { clients, idle } = limits;
    let message = format!(
        "{clients} clients are connected, which is as many as there may be; one that is idle for \
         {} s is closed",
        idle.as_secs_f64()
    );
    let line = json!({"id": null, "error": {"kind": "busy", "message": message}});
    let _ = stream.set_nonblocking(true);
    let _ = writeln!(stream, "{line}");
}

/// A listening socket, whose file is removed when it is dropped.
struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// The file that this service made.
    file: FileId,
}

/// The identity of a file: its device and its number there.
type FileId = (u64, u64);

fn id_of(file: &Metadata) -> FileId {
    (file.dev(), file.ino())
}

impl Socket {
    /// Opens a socket to which only its owner may connect at any time: it is made in a folder that
    /// only the owner may enter, and moves to its path once its mode is set.
    fn open(path: &Path) -> Result<Self, SocketError> {
        check(path)?;
        clear(path)?;
        let failed = |source| SocketError::io(path, source);
        let draft = Draft::beside(folder_of(path)).map_err(failed)?;
        let listener = draft.bind().map_err(failed)?;
        std::fs::set_permissions(&draft.socket, Permissions::from_mode(0o600)).map_err(failed)?;
        let file = std::fs::symlink_metadata(&draft.socket).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        give_name(&draft.socket, path)?;
        Ok(Self {
            listener,
            path: path.to_owned(),
            file: id_of(&file),
        })
    }
}

/// The folder of a path.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Refuses a path at which there can be no socket, before anything is read.
pub(super) fn check(path: &Path) -> Result<(), SocketError> {
    check_length(path)?;
    let folder = folder_of(path);
    let what = match folder.metadata() {
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => "is no folder",
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => "is missing, and the socket's folder has to be there",
            io::ErrorKind::NotADirectory => "is no folder",
            _ => return Err(SocketError::io(path, error)),
        },
    };
    Err(SocketError::Folder {
        path: path.display().to_string(),
        folder: folder.display().to_string(),
        what,
    })
}

/// Moves the socket `draft` to `path`, which must still be free.
fn give_name(draft: &Path, path: &Path) -> Result<(), SocketError> {
    match std::fs::hard_link(draft, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(SocketError::Taken {
            path: path.display().to_string(),
            what: "a file",
        }),
        // Not all file systems allow hard links to a socket.
        Err(_) => std::fs::rename(draft, path).map_err(|source| SocketError::io(path, source)),
    }
}

impl Drop for Socket {
    /// Removes the socket, unless something else has its path by now.
    fn drop(&mut self) {
        let found = std::fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| id_of(&found) == self.file) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A folder that only its owner may enter, with the socket in it until it is moved.
struct Draft {
    folder: PathBuf,
    socket: PathBuf,
}

impl Draft {
    fn beside(parent: &Path) -> io::Result<Self> {
        // A name that nobody can have taken before.
        let random = RandomState::new().build_hasher().finish();
        let folder = parent.join(format!(".seawall-{random:016x}"));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let socket = folder.join("s");
        Ok(Self { folder, socket })
    }

    /// Binds the socket; by a descriptor of the folder if only its own path is too long.
    fn bind(&self) -> io::Result<UnixListener> {
        if check_length(&self.socket).is_ok() {
            return UnixListener::bind(&self.socket);
        }
        let folder = File::open(&self.folder)?;
        UnixListener::bind(format!("/proc/self/fd/{}/s", folder.as_raw_fd()))
    }
}

impl Drop for Draft {
    /// Removes the folder by names: walking through it takes a descriptor, and a lack of
    /// descriptors may be the cause of the failure.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// Removes a socket that no process has open; refuses anything else.
fn clear(path: &Path) -> Result<(), SocketError> {
    let taken = |what| SocketError::Taken {
        path: path.display().to_string(),
        what,
    };
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(SocketError::io(path, source)),
    };
    if !found.file_type().is_socket() {
        return Err(taken(name_of(&found)));
    }
    match connect_within(path, ANSWERS_WITHIN) {
        // The system's answer if no process has the socket, of any kind.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
        // Its queue is full, as for a hanging service.
        Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(taken("a service")),
        Ok(_) => return Err(taken("a service")),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(taken("a socket of somebody else"));
        }
        // For example a datagram socket.
        Err(_) => return Err(taken("a socket of another kind")),
    }
    let now = std::fs::symlink_metadata(path);
    if now.is_ok_and(|now| id_of(&now) != id_of(&found)) {
        return Err(taken("a service"));
    }
    std::fs::remove_file(path).map_err(|source| SocketError::io(path, source))
}

/// The kind of a file in messages.
fn name_of(file: &Metadata) -> &'static str {
    let kind = file.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_fifo() {
        "a pipe"
    } else {
        "a file"
    }
}
