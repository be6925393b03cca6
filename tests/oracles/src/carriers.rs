//! Ranks that are threads of one process.

use seawall::multi::{Carrier, CarrierError};
use seawall_core::abi::multi::MAIL_WORDS;
use std::sync::{Arc, Condvar, Mutex};

/// Joins ranks that are threads.
#[derive(Debug)]
pub struct Threads {
    /// The number of this rank.
    pub rank: u32,
    board: Arc<Board>,
    /// Calls after which this rank is lost.
    pub calls_left: u32,
    /// Whether this rank names a node that no graph has.
    pub lies: bool,
    /// Whether the last words were mail, which others follow.
    after_mail: bool,
}

#[derive(Debug)]
struct Board {
    ranks: u32,
    state: Mutex<Exchange>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Exchange {
    given: Vec<Option<Vec<u32>>>,
    counts: Option<Vec<usize>>,
    joined: Arc<Vec<u32>>,
    over: u64,
    lost: Option<u32>,
}

impl Threads {
    /// As many ranks.
    pub fn all(ranks: u32) -> Vec<Self> {
        let state = Exchange {
            given: vec![None; ranks as usize],
            ..Exchange::default()
        };
        let board = Arc::new(Board {
            ranks,
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let one = |rank| Self {
            rank,
            board: board.clone(),
            calls_left: u32::MAX,
            lies: false,
            after_mail: false,
        };
        (0..ranks).map(one).collect()
    }
}

impl Carrier for Threads {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn ranks(&self) -> u32 {
        self.board.ranks
    }

    fn all_gather(
        &mut self,
        own: &[u32],
        counts: &[usize],
        all: &mut Vec<u32>,
    ) -> Result<(), CarrierError> {
        let mut state = self.board.state.lock().unwrap();
        if self.calls_left == 0 {
            state.lost = Some(self.rank);
            self.board.changed.notify_all();
            return Err(CarrierError::new(self.rank, "it has left".to_owned()));
        }
        self.calls_left = self.calls_left.saturating_sub(1);
        assert_eq!(own.len(), counts[self.rank as usize]);
        let known = state.counts.get_or_insert_with(|| counts.to_vec());
        assert_eq!(known, counts, "ranks agree on counts");
        let mut words = own.to_vec();
        let is_mail = own.len() == 1 + MAIL_WORDS as usize;
        if self.lies && self.after_mail && !is_mail && !words.is_empty() {
            words[0] = u32::MAX - 7;
        }
        self.after_mail = is_mail;
        state.given[self.rank as usize] = Some(words);
        let turn = state.over;
        if state.given.iter().all(Option::is_some) {
            let given = state.given.iter_mut().map(|words| words.take().unwrap());
            state.joined = Arc::new(given.collect::<Vec<_>>().concat());
            state.counts = None;
            state.over += 1;
            self.board.changed.notify_all();
        }
        let waits = |state: &mut Exchange| state.over == turn && state.lost.is_none();
        let state = self.board.changed.wait_while(state, waits).unwrap();
        match state.lost {
            Some(rank) if state.over == turn => {
                Err(CarrierError::new(rank, "it has left".to_owned()))
            }
            _ => {
                all.clone_from(&state.joined);
                Ok(())
            }
        }
    }
}

/// Calls `work` on a thread for each rank.
pub fn each<T: Send>(ranks: Vec<Threads>, work: impl Fn(&mut Threads) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let start = |mut rank| scope.spawn(move || work(&mut rank));
        let threads: Vec<_> = ranks.into_iter().map(start).collect();
        let found = threads.into_iter().map(|thread| thread.join().unwrap());
        found.collect()
    })
}
