//! Handling of signals that end the process: temporary files are removed, and the caller sees the
//! signal.

/// Installs the handling.
///
/// A thread waits for the signals, removes unfinished files, and ends the process as the signal
/// would have. It waits already when this returns, so no file is started before. If the system
/// starts no more threads, a signal ends the process at once.
#[cfg(unix)]
pub(super) fn watch() {
    use signal_hook::consts::signal::SIGXFSZ;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;
    // With a handler, a write past the file size limit is an error instead of a signal.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let (ready, registered) = mpsc::channel();
    let _ = std::thread::Builder::new()
        .name("seawall-signals".to_owned())
        .spawn(move || wait(ready));
    // Fails at once where no thread started, or it could not register.
    let _ = registered.recv();
}

#[cfg(not(unix))]
pub(super) fn watch() {}

#[cfg(unix)]
fn wait(ready: std::sync::mpsc::Sender<()>) {
    use seawall::graph::file::remove_temporary_files;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    let Ok(mut signals) = Signals::new(ends()) else {
        return;
    };
    let _ = ready.send(());
    if let Some(signal) = signals.forever().next() {
        remove_temporary_files();
        let _ = emulate_default_handler(signal);
    }
}

/// The signals that end the process, except those that the caller ignores.
#[cfg(unix)]
pub(super) fn ends() -> impl Iterator<Item = i32> {
    use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored();
    let ends = [SIGHUP, SIGINT, SIGTERM].into_iter();
    ends.filter(move |signal| ignored >> (signal - 1) & 1 == 0)
}

/// Returns the signals that the caller ignores, as with `nohup`, one bit each from 1 on; `None` if
/// the system does not report them.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
