//! Threads that read at positions, for systems without `io_uring`.

use super::{Fill, Filled, Reader, cut};
use crate::stream::windows::Part;
use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

/// Reads in progress at a time.
const READERS: usize = 2;
/// The same if a run waits for copies from the page cache.
const SPREAD_READERS: usize = 8;

/// The threads, and the buffers between them.
pub(super) struct Threads<'b> {
    /// `None` once no more buffers come.
    to: Sender<Fill<'b>>,
    from: Receiver<Filled<'b>>,
    on_their_way: usize,
}

impl<'b> Threads<'b> {
    /// Starts threads that end when the reader is dropped.
    pub(super) fn start<'s>(
        scope: &'s Scope<'s, '_>,
        file: &'s File,
        buffers: usize,
        spreads: bool,
    ) -> io::Result<Self>
    where
        'b: 's,
    {
        let (to, asked) = channel::<Fill<'b>>();
        let (filled, from) = channel();
        let asked = Arc::new(Mutex::new(asked));
        let readers = if spreads { SPREAD_READERS } else { READERS };
        for _ in 0..readers.min(buffers.max(1)) {
            let (asked, filled) = (Arc::clone(&asked), filled.clone());
            let name = Builder::new().name("seawall-read".to_owned());
            name.spawn_scoped(scope, move || {
                loop {
                    let next = asked.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(mut fill) = next else { return };
                    let end = fill_all(file, &mut fill);
                    if filled.send(Filled { fill, end }).is_err() {
                        return;
                    }
                }
            })?;
        }
        Ok(Self {
            to,
            from,
            on_their_way: 0,
        })
    }
}

impl<'b> Reader<'b> for Threads<'b> {
    fn submit(&mut self, fill: Fill<'b>) {
        if self.to.send(fill).is_ok() {
            self.on_their_way += 1;
        }
    }

    fn reap(&mut self) -> Option<Filled<'b>> {
        if self.on_their_way == 0 {
            return None;
        }
        self.on_their_way -= 1;
        self.from.recv().ok()
    }
}

fn fill_all(file: &File, fill: &mut Fill<'_>) -> io::Result<()> {
    let bytes = &mut *fill.bytes;
    fill.parts
        .iter()
        .flatten()
        .try_for_each(|part| fill_part(file, bytes, part))
}

/// Reads until the bytes that are needed have come.
fn fill_part(file: &File, bytes: &mut [u8], part: &Part) -> io::Result<()> {
    let mut done = 0;
    let memory_plan = bytes.get_mut(part.at..part.at + part.len);
    let memory_plan = memory_plan.ok_or(io::ErrorKind::InvalidInput)?;
    while done < part.need {
        match read_at(file, &mut memory_plan[done..], part.file_at + done as u64) {
            Ok(0) => return Err(cut()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}
