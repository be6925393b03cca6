//! Words whose stores arrive late and out of order, and actors that take turns at them.
//!
//! Each word keeps the values that it had. A relaxed load returns any value that is not older than
//! the actor's view of the word; a release carries its actor's view, and an acquire merges it. This
//! is the memory model of C++ without load buffering, run from a seed instead of exhaustively, so
//! that it reaches rings of any size.
//!
//! Actors are threads of which one runs at a time: after an access, the seed decides which actor is
//! next, stalls or dies. A run is the same on every machine.

use seawall_core::protocol::{Read, Scope, Swap, Update, Words, Write};
use seawall_oracles::random::Random;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Values that a word keeps.
const KEPT: usize = 6;
/// Once in this many accesses another actor continues.
const SWITCH: u32 = 3;
/// Once in this many turns an actor stalls, and for at most this many accesses of the others.
const STALL: (u32, u32) = (40, 3_000);
/// Accesses after which a run counts as hanging.
const ENDLESS: u64 = 3_000_000;

/// No actor's turn.
const NOBODY: usize = usize::MAX;

/// An order that a mutation removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    ReleasingStore,
    AcquiringLoad,
    AcquiringUpdate,
    ReleasingUpdate,
}

/// The side of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Host,
    Worker,
}

/// The view of an actor: for each word, the number of the newest value that it has seen.
type View = Vec<u32>;

struct Value {
    word: u32,
    /// The view of the actor that released it.
    view: Option<Arc<View>>,
}

/// The values of a word, oldest first, and the number of the first one kept.
struct History {
    first: u32,
    values: VecDeque<Value>,
    adder: Option<Side>,
}

impl History {
    fn last(&self) -> u32 {
        self.first + self.values.len() as u32 - 1
    }

    fn push(&mut self, value: Value) {
        self.values.push_back(value);
        if self.values.len() > KEPT {
            self.values.pop_front();
            self.first += 1;
        }
    }
}

struct Actor {
    side: Side,
    view: View,
    /// Accesses left until it dies.
    dies_in: Option<u32>,
    stalled_until: u64,
    is_gone: bool,
}

struct State {
    words: Vec<History>,
    actors: Vec<Actor>,
    random: Random,
    now: u64,
    current: usize,
    weakened: Option<Order>,
    problem: Option<String>,
}

/// Shared words of a seeded run.
pub(crate) struct Memory {
    state: Mutex<State>,
    turn: Condvar,
}

/// Ends an actor whose time has come, or whose run has failed.
struct Gone;

impl Memory {
    /// `words` words, all 0.
    pub(crate) fn new(words: u32, seed: u64, weakened: Option<Order>) -> Self {
        let history = || History {
            first: 0,
            values: VecDeque::from([Value {
                word: 0,
                view: None,
            }]),
            adder: None,
        };
        let state = State {
            words: (0..words).map(|_| history()).collect(),
            actors: Vec::new(),
            random: Random::new(seed),
            now: 0,
            current: NOBODY,
            weakened,
            problem: None,
        };
        Self {
            state: Mutex::new(state),
            turn: Condvar::new(),
        }
    }

    /// Adds an actor, which has seen everything so far; it dies after `dies_in` accesses.
    pub(crate) fn actor(&self, side: Side, dies_in: Option<u32>) -> Seen<'_> {
        let mut state = self.lock();
        let view = state.words.iter().map(History::last).collect();
        state.actors.push(Actor {
            side,
            view,
            dies_in,
            stalled_until: 0,
            is_gone: false,
        });
        let actor = state.actors.len() - 1;
        if state.current == NOBODY {
            state.current = actor;
        }
        Seen {
            memory: self,
            actor,
        }
    }

    /// The first failure.
    pub(crate) fn problem(&self) -> Option<String> {
        self.lock().problem.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Picks the next actor.
    fn pass(&mut self) {
        let now = self.now;
        if self.random.once_in(STALL.0) {
            let until = now + u64::from(self.random.below(STALL.1));
            let current = self.current;
            self.actors[current].stalled_until = until;
        }
        let ready = |actor: &Actor| !actor.is_gone && actor.stalled_until <= now;
        let awake: Vec<usize> = (0..self.actors.len())
            .filter(|at| ready(&self.actors[*at]))
            .collect();
        let sleeping = (0..self.actors.len()).filter(|at| !self.actors[*at].is_gone);
        self.current = match awake.as_slice() {
            [] => sleeping
                .min_by_key(|at| self.actors[*at].stalled_until)
                .unwrap_or(NOBODY),
            awake => awake[self.random.below(awake.len() as u32) as usize],
        };
    }

    fn keeps(&self, order: Order) -> bool {
        self.weakened != Some(order)
    }

    /// The view that a release carries.
    fn released(&self, actor: usize, releases: bool) -> Option<Arc<View>> {
        releases.then(|| Arc::new(self.actors[actor].view.clone()))
    }

    /// Takes over what was seen before the value `number` of word `at`, if it `acquires`.
    fn see(&mut self, actor: usize, at: usize, number: u32, acquires: bool) -> u32 {
        let history = &self.words[at];
        let value = &history.values[(number - history.first) as usize];
        let view = &mut self.actors[actor].view;
        if let Some(released) = value.view.as_ref().filter(|_| acquires) {
            for (mine, theirs) in view.iter_mut().zip(released.iter()) {
                *mine = (*mine).max(*theirs);
            }
        }
        view[at] = view[at].max(number);
        value.word
    }

    fn load(&mut self, actor: usize, at: usize, acquires: bool) -> u32 {
        let history = &self.words[at];
        let (oldest, last) = (
            self.actors[actor].view[at].max(history.first),
            history.last(),
        );
        let number = if self.random.once_in(2) {
            last
        } else {
            oldest + self.random.below(last - oldest + 1)
        };
        self.see(actor, at, number, acquires)
    }

    fn store(&mut self, actor: usize, at: usize, word: u32, releases: bool) {
        let number = self.words[at].last() + 1;
        self.actors[actor].view[at] = number;
        let view = self.released(actor, releases);
        self.words[at].push(Value { word, view });
    }

    /// Replaces the newest value; the new one continues its release sequence.
    fn update(
        &mut self,
        actor: usize,
        at: usize,
        order: Update,
        change: impl FnOnce(u32) -> Option<u32>,
    ) -> u32 {
        let acquires = matches!(order, Update::Acquire(_)) && self.keeps(Order::AcquiringUpdate);
        let releases = matches!(order, Update::Release(_)) && self.keeps(Order::ReleasingUpdate);
        let last = self.words[at].last();
        let before = self.see(actor, at, last, acquires);
        let Some(word) = change(before) else {
            return before;
        };
        let earlier = self.words[at]
            .values
            .back()
            .and_then(|value| value.view.clone());
        self.actors[actor].view[at] = last + 1;
        let view = match (earlier, self.released(actor, releases)) {
            (Some(earlier), Some(mine)) => {
                let both = earlier.iter().zip(mine.iter());
                Some(Arc::new(both.map(|(a, b)| *a.max(b)).collect()))
            }
            (earlier, mine) => mine.or(earlier),
        };
        self.words[at].push(Value { word, view });
        before
    }
}

/// The words as an actor sees them.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'m> {
    memory: &'m Memory,
    actor: usize,
}

impl Seen<'_> {
    /// Runs the actor until its end; returns whether it survived.
    pub(crate) fn play(&self, part: impl FnOnce()) -> bool {
        let ended = catch_unwind(AssertUnwindSafe(part));
        let mut state = self.memory.lock();
        if let Err(payload) = &ended
            && !payload.is::<Gone>()
        {
            state.problem.get_or_insert("an actor panicked".to_owned());
        }
        state.actors[self.actor].is_gone = true;
        if state.current == self.actor {
            state.pass();
        }
        self.memory.turn.notify_all();
        ended.is_ok()
    }

    /// Records a failure and ends the actor.
    pub(crate) fn fail(&self, problem: String) -> ! {
        self.memory.lock().problem.get_or_insert(problem);
        resume_unwind(Box::new(Gone))
    }

    /// Makes one access, when it is this actor's turn.
    fn access<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.memory.lock();
        while state.current != self.actor {
            let woken = self.memory.turn.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.now += 1;
        if state.now > ENDLESS {
            state
                .problem
                .get_or_insert("the run does not end".to_owned());
        }
        let dies = match &mut state.actors[self.actor].dies_in {
            Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        };
        if dies || state.problem.is_some() {
            drop(state);
            resume_unwind(Box::new(Gone));
        }
        let result = body(&mut state);
        if state.random.once_in(SWITCH) {
            state.pass();
            self.memory.turn.notify_all();
        }
        result
    }
}

impl Words for Seen<'_> {
    fn load(&self, at: u32, order: Read, _: Scope) -> u32 {
        self.access(|state| {
            let acquires = matches!(order, Read::Acquire(_)) && state.keeps(Order::AcquiringLoad);
            state.load(self.actor, at as usize, acquires)
        })
    }

    fn store(&self, at: u32, value: u32, order: Write, _: Scope) {
        self.access(|state| {
            let releases = matches!(order, Write::Release(_)) && state.keeps(Order::ReleasingStore);
            state.store(self.actor, at as usize, value, releases);
        });
    }

    fn swap_if(&self, at: u32, swap: Swap, order: Update, _: Scope) -> u32 {
        self.access(|state| {
            let swapped = |word| (word == swap.expected).then_some(swap.value);
            state.update(self.actor, at as usize, order, swapped)
        })
    }

    fn add(&self, at: u32, value: u32, order: Update, _: Scope) -> u32 {
        self.access(|state| {
            let side = state.actors[self.actor].side;
            let adder = *state.words[at as usize].adder.get_or_insert(side);
            if adder != side {
                let problem = format!("both sides add to word {at}");
                state.problem.get_or_insert(problem);
            }
            let added = |word: u32| Some(word.wrapping_add(value));
            state.update(self.actor, at as usize, order, added)
        })
    }
}
