//! Signals that end a service.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Called once when the service is to end.
type Hook = Box<dyn FnOnce() + Send>;

/// Whether to end, and the callbacks to notify.
#[derive(Clone, Default)]
pub(super) struct Stop {
    is_set: Arc<AtomicBool>,
    hooks: Arc<Mutex<Hooks>>,
}

/// The callbacks to notify, by number.
#[derive(Default)]
struct Hooks {
    next: u64,
    waiting: HashMap<u64, Hook>,
}

/// A registered callback, which is removed when dropped.
pub(super) struct Wish<'s> {
    stop: &'s Stop,
    number: u64,
}

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        drop(self.stop.hooks().waiting.remove(&self.number));
    }
}

impl Stop {
    /// Ends at SIGTERM, SIGINT and SIGHUP from now on, except ignored ones; a second signal ends
    /// the process.
    pub(super) fn watch() -> Self {
        let stop = Self::default();
        #[cfg(unix)]
        {
            let stop = stop.clone();
            // Without this thread a signal ends the process at once.
            let _ = std::thread::Builder::new()
                .name("seawall-signals".to_owned())
                .spawn(move || wait(&stop));
        }
        stop
    }

    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    fn hooks(&self) -> MutexGuard<'_, Hooks> {
        self.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `hook` when the service is to end, at once if it already is.
    pub(super) fn register(&self, hook: Hook) -> Wish<'_> {
        let mut hooks = self.hooks();
        let number = hooks.next;
        hooks.next += 1;
        if self.is_set() {
            drop(hooks);
            hook();
        } else {
            hooks.waiting.insert(number, hook);
        }
        Wish { stop: self, number }
    }

    #[cfg(unix)]
    fn set(&self) {
        let mut hooks = self.hooks();
        self.is_set.store(true, Ordering::Release);
        for (_, hook) in hooks.waiting.drain() {
            hook();
        }
    }
}

#[cfg(unix)]
fn wait(stop: &Stop) {
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    let Ok(mut signals) = Signals::new(crate::signals::ends()) else {
        return;
    };
    let mut forever = signals.forever();
    if forever.next().is_some() {
        stop.set();
    }
    if let Some(signal) = forever.next() {
        let _ = emulate_default_handler(signal);
    }
}
