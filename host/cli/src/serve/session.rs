//! One client: lines in, answers out, in the order in which queries end.
//!
//! A thread reads and posts; this thread writes. A client has a bounded number of open queries: its
//! reader waits for the writer, so that a client that does not read its answers is no longer read
//! from, without effect on others.

use std::collections::HashMap;
use std::future::Future;
use std::io::{self, BufRead, Read, Write};
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::JoinHandle;
#[cfg(unix)]
use std::time::Duration;
use std::time::Instant;

use serde_json::{Value, json};

use super::answer::Form;
use super::fields::{Id, Line};
use super::modules::Modules;
use super::post::Poster;
use super::stop::Stop;
use super::{LINE_MAX, OPEN};
use seawall::service::Ticket;

pub(super) enum Event {
    Posted {
        space: usize,
        since: Instant,
        form: Form,
        ticket: Ticket,
    },
    /// An answer that needed no query.
    Said {
        space: usize,
        id: Id,
        answer: Value,
    },
    Ended {
        space: usize,
    },
    /// No further query comes.
    Over,
    /// The client neither asked nor waited for too long.
    Idle,
}

impl Event {
    /// The answer of a line that is refused.
    pub(super) fn refused(space: usize, id: Id, error: &Value) -> Self {
        let answer = json!({"error": error});
        Self::Said { space, id, answer }
    }
}

/// Time of a client's last activity.
#[derive(Debug)]
pub(super) struct Activity {
    inside: Mutex<Active>,
}

#[derive(Debug)]
struct Active {
    /// Queries whose answers are not written yet.
    open: usize,
    /// The last line or answer.
    last: Instant,
}

impl Default for Activity {
    fn default() -> Self {
        let last = Instant::now();
        Self {
            inside: Mutex::new(Active { open: 0, last }),
        }
    }
}

impl Activity {
    /// The time for which the client has neither sent a line nor waited for an answer.
    #[cfg(unix)]
    pub(super) fn idle(&self) -> Duration {
        let inside = self.inside();
        if inside.open > 0 {
            return Duration::ZERO;
        }
        inside.last.elapsed()
    }

    fn asked(&self) {
        let mut inside = self.inside();
        inside.open += 1;
        inside.last = Instant::now();
    }

    fn answered(&self) {
        let mut inside = self.inside();
        inside.open = inside.open.saturating_sub(1);
        inside.last = Instant::now();
    }

    fn inside(&self) -> MutexGuard<'_, Active> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client's side of the service.
pub(super) struct Session(Answerer);

/// Wakes the writer of a client when a query ends.
struct Ended {
    space: usize,
    events: Sender<Event>,
}

impl Wake for Ended {
    fn wake(self: Arc<Self>) {
        // A client that has left needs no answer.
        let _ = self.events.send(Event::Ended { space: self.space });
    }
}

impl Session {
    pub(super) const fn new(answerer: Answerer) -> Self {
        Self(answerer)
    }

    /// Serves `input` until it ends or the service is to stop, and writes the answers to earlier
    /// queries. Returns the thread that reads, which may hang in a read for ever. An input that
    /// fails with [`io::ErrorKind::TimedOut`] is that of an idle client, which gets an error.
    pub(super) fn run(
        self,
        input: impl BufRead + Send + 'static,
        output: impl Write,
        activity: &Arc<Activity>,
        stop: &Stop,
    ) -> io::Result<Left> {
        let (events, happened) = channel();
        let (spaces, free) = sync_channel(OPEN);
        for space in 0..OPEN {
            // The channel has space for all of them.
            let _ = spaces.send(space);
        }
        let over = events.clone();
        let _registered = stop.register(Box::new(move || drop(over.send(Event::Over))));
        let reader = Reader {
            answerer: self.0,
            events: events.clone(),
            free,
            activity: Arc::clone(activity),
        };
        let reader = std::thread::Builder::new()
            .name("seawall-client".to_owned())
            .spawn(move || reader.run(input))?;
        let mut writer = Writer {
            open: HashMap::new(),
            events,
            spaces,
            output,
            activity,
        };
        let written = writer.run(&happened);
        Ok(Left { reader, written })
    }
}

pub(super) struct Left {
    /// The thread that reads.
    #[cfg_attr(
        not(unix),
        expect(dead_code, reason = "clients of a socket wait for it")
    )]
    pub(super) reader: JoinHandle<()>,
    /// Whether all answers could be written.
    pub(super) written: io::Result<()>,
}

/// The side that answers a client's lines.
pub(super) enum Answerer {
    Graph(Poster),
    Modules(Arc<Modules>),
}

/// Reads lines and has them answered.
struct Reader {
    answerer: Answerer,
    events: Sender<Event>,
    free: Receiver<usize>,
    activity: Arc<Activity>,
}

impl Reader {
    fn run(mut self, mut input: impl BufRead) {
        let mut line = Vec::new();
        let end = loop {
            match next_line(&mut input, &mut line) {
                Ok(true) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => break Event::Idle,
                Ok(false) | Err(_) => break Event::Over,
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let Ok(space) = self.free.recv() else {
                break Event::Over;
            };
            self.activity.asked();
            let event = self.event(space, &line);
            if self.events.send(event).is_err() {
                break Event::Over;
            }
        };
        let _ = self.events.send(end);
    }

    fn event(&mut self, space: usize, line: &[u8]) -> Event {
        if line.strip_suffix(b"\n").unwrap_or(line).len() > LINE_MAX {
            let message = format!("a line of more than {LINE_MAX} bytes");
            let error = json!({"kind": "long_line", "message": message});
            return Event::refused(space, Id::default(), &error);
        }
        match &mut self.answerer {
            Answerer::Graph(poster) => poster.event(space, line),
            Answerer::Modules(modules) => {
                let (id, answer) = modules.answer(line);
                Event::Said { space, id, answer }
            }
        }
    }
}

/// Reads a line, of which at most a byte more than a line may have is kept; false at the
/// end of the input. The rest of a long line is skipped.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    // With the end of the line.
    let most = LINE_MAX as u64 + 1;
    let read = input.by_ref().take(most).read_until(b'\n', line)?;
    if line.last() != Some(&b'\n') && line.len() > LINE_MAX {
        input.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

/// A query without an answer.
struct Open {
    form: Form,
    ticket: Ticket,
    since: Instant,
}

/// Writes answers.
struct Writer<'s, W> {
    open: HashMap<usize, Open>,
    events: Sender<Event>,
    spaces: SyncSender<usize>,
    output: W,
    activity: &'s Activity,
}

impl<W: Write> Writer<'_, W> {
    fn run(&mut self, happened: &Receiver<Event>) -> io::Result<()> {
        let mut is_over = false;
        while !(is_over && self.open.is_empty()) {
            let Ok(event) = happened.recv() else { break };
            match event {
                Event::Over => is_over = true,
                Event::Idle => {
                    tracing::info!("idle for too long");
                    let message = "nothing was asked for too long; connect again";
                    let error = json!({"kind": "idle", "message": message});
                    self.say(&Id::default(), &json!({"error": error}))?;
                    is_over = true;
                }
                Event::Said { space, id, answer } => {
                    if let Some(error) = answer.get("error") {
                        tracing::debug!(%error, "refused");
                    }
                    self.write(space, &id, &answer)?;
                }
                Event::Ended { space } => self.look(space)?,
                Event::Posted {
                    space,
                    since,
                    form,
                    ticket,
                } => {
                    self.open.insert(
                        space,
                        Open {
                            form,
                            ticket,
                            since,
                        },
                    );
                    self.look(space)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the answer of a query if it has one; otherwise it is checked again when it does.
    fn look(&mut self, space: usize) -> io::Result<()> {
        let Some(Open {
            form,
            ticket,
            since,
        }) = self.open.get_mut(&space)
        else {
            return Ok(());
        };
        let events = self.events.clone();
        let waker = Waker::from(Arc::new(Ended { space, events }));
        let mut context = Context::from_waker(&waker);
        let Poll::Ready(end) = Pin::new(ticket).poll(&mut context) else {
            return Ok(());
        };
        let is_fence = form.is_fence;
        let answer = form.answer(end);
        let us = since.elapsed().as_micros() as u64;
        tracing::debug!(us, failed = answer.get("error").is_some(), "answered");
        let id = std::mem::take(&mut form.id);
        self.open.remove(&space);
        if is_fence {
            self.look_at_queries()?;
        }
        self.write(space, &id, &answer)
    }

    /// Writes the answers of all queries that have ended. Queries before a fence have ended, but
    /// may not be notified yet.
    fn look_at_queries(&mut self) -> io::Result<()> {
        let open = self.open.iter().filter(|(_, open)| !open.form.is_fence);
        let spaces: Vec<usize> = open.map(|(space, _)| *space).collect();
        spaces.into_iter().try_for_each(|space| self.look(space))
    }

    fn write(&mut self, space: usize, id: &Id, answer: &Value) -> io::Result<()> {
        self.say(id, answer)?;
        self.activity.answered();
        // A reader that has left is ignored.
        let _ = self.spaces.try_send(space);
        Ok(())
    }

    fn say(&mut self, id: &Id, answer: &Value) -> io::Result<()> {
        let mut text = serde_json::to_string(&Line { id, answer })?;
        text.push('\n');
        self.output.write_all(text.as_bytes())?;
        self.output.flush()
    }
}
