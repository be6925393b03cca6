//! Signals that end the process: no draft stays, and the caller sees the signal.

/// Watches from now on.
///
/// A thread waits for the signals, removes what is unfinished, and ends the process as if
/// nobody had watched. Without that thread, when the system starts no more, a signal ends
/// the process at once.
#[cfg(unix)]
pub(super) fn watch() {
    use signal_hook::consts::signal::SIGXFSZ;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    // With a handler, a write past the limit of file sizes is an error and no end.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let _ = std::thread::Builder::new()
        .name("seawall-signals".to_owned())
        .spawn(wait);
}

#[cfg(not(unix))]
pub(super) fn watch() {}

#[cfg(unix)]
fn wait() {
    use seawall::graph::file::abandon_drafts;
    use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    let ignored = ignored();
    let ends = [SIGHUP, SIGINT, SIGTERM].into_iter();
    let taken = ends.filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(taken) else {
        return;
    };
    if let Some(signal) = signals.forever().next() {
        abandon_drafts();
        let _ = emulate_default_handler(signal);
    }
}

/// The signals that the caller had us ignore, such as `nohup` does, a bit each from 1 on.
/// None where the system does not tell.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
