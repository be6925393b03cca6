//! Word by word operations: fill, copy and the bit operations.

use crate::collectives::context::{Context, ContextRef};
use crate::collectives::team::Team;
use crate::machine::Grid;
use crate::machine::memory::{Proven, none_missed};
use crate::tables::Wave;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::program::Opcode;

/// Runs an opcode of this family.
///
/// # Errors
/// [`FaultCode::BadRegister`] if a register is missing or too short,
/// [`FaultCode::BadIndex`] if a gathered index is out of range.
#[inline(never)]
pub fn run_words<G: Grid>(cx: ContextRef<G>, opcode: Opcode, wave: Wave) -> Result<(), FaultCode> {
    match opcode {
        Opcode::Scatter => scatter(cx, wave),
        Opcode::Gather => gather(cx, wave),
        _ => operate(cx, wave),
    }
}

#[inline(never)]
fn operate<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let found = Operation::new(&cx.context(), wave)?;
    perform(
        cx,
        found.what,
        found.value,
        found.to,
        found.left,
        found.right,
    );
    Ok(())
}

/// Codegen rules `OWN_FUNCTION` and `BY_VALUE`.
#[inline(never)]
fn perform<G: Grid>(
    cx: ContextRef<G>,
    what: u32,
    value: u32,
    to: Proven,
    left: Proven,
    right: Proven,
) {
    let operation = Operation {
        what,
        to,
        left,
        right,
        value,
    };
    operation.apply(&cx.context().team);
}

/// An operation on every word of a register, with its registers found.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// [`FILL`], [`IOTA`] or the bits of a join: `a` and `b` become `a & LEFT ^ b & RIGHT
    /// ^ a & b & BOTH`, so one loop does them all.
    pub what: u32,
    /// The register that it writes.
    pub to: Proven,
    /// `a`, at least as long; `to` if it reads nothing.
    pub left: Proven,
    /// `b`; `left` if it reads one register.
    pub right: Proven,
    /// The word that [`FILL`] stores.
    pub value: u32,
}

/// Bit of a join that has `a`.
const LEFT: u32 = 1;
/// Bit of a join that has `b`.
const RIGHT: u32 = 2;
/// Bit of a join that has `a & b`.
const BOTH: u32 = 4;
/// The join `a & !b`.
const AND_NOT: u32 = LEFT | BOTH;
/// The join `a ^ b`.
const XOR: u32 = LEFT | RIGHT;
/// Stores a value.
pub const FILL: u32 = 8;
/// Stores each word's number.
pub const IOTA: u32 = 16;

/// Words that a lane takes at once: the widest access.
pub const QUAD: u32 = 4;

/// The kind of an operation by its opcode; `None` for other opcodes.
#[inline(always)]
const fn what(opcode: u32) -> Option<u32> {
    const OPCODES: [(Opcode, u32); 7] = [
        (Opcode::Fill, FILL),
        (Opcode::Iota, IOTA),
        (Opcode::Copy, LEFT),
        (Opcode::And, BOTH),
        (Opcode::Or, LEFT | RIGHT | BOTH),
        (Opcode::AndNot, AND_NOT),
        (Opcode::Xor, XOR),
    ];
    /// A byte for each of the first eight opcodes, 0 for other opcodes: codegen rule
    /// `NO_TABLES`.
    const PACKED: u64 = {
        let (mut packed, mut at) = (0, 0);
        while at < OPCODES.len() {
            assert!((OPCODES[at].0 as u32) < 8 && OPCODES[at].1 < 256);
            packed |= (OPCODES[at].1 as u64) << (8 * OPCODES[at].0 as u32);
            at += 1;
        }
        packed
    };
    if opcode >= 8 {
        return None;
    }
    match (PACKED >> (8 * opcode)) as u32 & 0xff {
        0 => None,
        what => Some(what),
    }
}

impl Operation {
    /// The operation of a wave of this family other than [`Opcode::Scatter`].
    ///
    /// # Errors
    /// [`FaultCode::UnknownOpcode`] for a wave that is none, [`FaultCode::BadRegister`]
    /// if a register is missing or too short.
    #[inline(always)]
    pub fn new<G: Grid>(context: &Context<G>, wave: Wave) -> Result<Self, FaultCode> {
        let (tables, grid) = (context.tables, context.team.grid);
        let what = what(wave.opcode(grid)).ok_or(FaultCode::UnknownOpcode)?;
        // SAFETY: indices are words of `to`, and sources have as many.
        let to = unsafe { tables.proven_of(grid, wave.destination(grid), 0)? };
        let source = |which| {
            // SAFETY: as above.
            unsafe { tables.proven_of(grid, wave.source(grid, which), to.len()) }
        };
        let left = if what < FILL { source(0)? } else { to };
        let right = if reads_right(what) { source(1)? } else { left };
        Ok(Self {
            what,
            to,
            left,
            right,
            value: wave.parameter(grid, 0),
        })
    }

    /// Whether it reads a register.
    #[inline(always)]
    #[must_use]
    pub fn reads_left(&self) -> bool {
        self.what < FILL
    }

    /// Whether it reads a second one.
    #[inline(always)]
    #[must_use]
    pub fn reads_right(&self) -> bool {
        reads_right(self.what)
    }

    /// The new word `at`.
    #[inline(always)]
    #[must_use]
    pub fn word(&self, at: u32, a: u32, b: u32) -> u32 {
        // Joined in any case, without a branch.
        let joined = self.join(a, b);
        match self.what {
            FILL => self.value,
            IOTA => at,
            _ => joined,
        }
    }

    /// The join of `a` and `b`.
    #[inline(always)]
    fn join(&self, a: u32, b: u32) -> u32 {
        let mask = |bit: u32| {
            if self.what & bit != 0 { u32::MAX } else { 0 }
        };
        (a & (mask(LEFT) ^ (b & mask(BOTH)))) ^ (b & mask(RIGHT))
    }

    /// The four new words from `at` on.
    #[inline(always)]
    #[must_use]
    pub fn quad(&self, at: u32, [a, b, c, d]: [u32; 4], [e, f, g, h]: [u32; 4]) -> [u32; 4] {
        [
            self.word(at, a, e),
            self.word(at + 1, b, f),
            self.word(at + 2, c, g),
            self.word(at + 3, d, h),
        ]
    }

    /// Applies the operation to this lane's share.
    #[inline(always)]
    pub fn apply<G: Grid>(self, team: &Team<G>) {
        let grid = team.grid;
        if G::WARP == 1 {
            return self.apply_by_word(team);
        }
        if self.reads_left() {
            self.apply_join(team);
        } else {
            self.apply_made(team);
        }
        team.each(self.to.len() % QUAD, |rest| self.apply_last(grid, rest));
    }

    /// Applies an operation that reads registers, four words at a time.
    #[inline(always)]
    fn apply_join<G: Grid>(self, team: &Team<G>) {
        let grid = team.grid;
        let (two, quads) = (self.reads_right(), self.to.len() / QUAD);
        team.each_of::<2>(quads, |some| {
            let mut words = [([0; 4], [0; 4]); 2];
            for ((left, right), quad) in words.iter_mut().zip(some) {
                if *quad < quads {
                    *left = self.left.load_weak4(grid, quad * QUAD);
                }
                if *quad < quads && two {
                    *right = self.right.load_weak4(grid, quad * QUAD);
                }
            }
            for ((left, right), quad) in words.iter().zip(some) {
                if *quad < quads {
                    let mut words = [0; 4];
                    for (word, (a, b)) in words.iter_mut().zip(left.iter().zip(right)) {
                        *word = self.join(*a, *b);
                    }
                    self.to.store_weak4(grid, *quad * QUAD, words);
                }
            }
        });
    }

    /// Applies an operation that reads none, four words at a time.
    #[inline(always)]
    fn apply_made<G: Grid>(self, team: &Team<G>) {
        let quads = self.to.len() / QUAD;
        let (value, step) = if self.what == FILL {
            (self.value, 0)
        } else {
            (0, 1)
        };
        team.each_of::<2>(quads, |some| {
            for quad in some {
                if *quad < quads {
                    let at = *quad * QUAD;
                    let words = [0, 1, 2, 3].map(|k| value.wrapping_add(step * (at + k)));
                    self.to.store_weak4(team.grid, at, words);
                }
            }
        });
    }

    /// Applies this lane's share if a lane is a thread: one loop per kind, so no word
    /// needs a decision.
    #[inline(always)]
    fn apply_by_word<G: Grid>(self, team: &Team<G>) {
        let a = |at: u32| self.left.load_weak(team.grid, at);
        let b = |at: u32| self.right.load_weak(team.grid, at);
        match self.what {
            FILL => self.each_word(team, |_| self.value),
            IOTA => self.each_word(team, |at| at),
            LEFT => self.each_word(team, a),
            BOTH => self.each_word(team, |at| a(at) & b(at)),
            AND_NOT => self.each_word(team, |at| a(at) & !b(at)),
            XOR => self.each_word(team, |at| a(at) ^ b(at)),
            _ => self.each_word(team, |at| a(at) | b(at)),
        }
    }

    #[inline(always)]
    fn each_word<G: Grid>(self, team: &Team<G>, word: impl Fn(u32) -> u32) {
        team.each_of::<1>(self.to.len(), |[at]| {
            self.to.store_weak(team.grid, *at, word(*at));
        });
    }

    /// Applies the operation to the `rest`th word from the end, which no group of four
    /// has.
    #[inline(always)]
    pub fn apply_last<G: Grid>(self, grid: G, rest: u32) {
        let at = self.to.len() - 1 - rest;
        let load = |from: Proven, reads: bool| {
            if reads { from.load_weak(grid, at) } else { 0 }
        };
        let (a, b) = (
            load(self.left, self.reads_left()),
            load(self.right, self.reads_right()),
        );
        self.to.store_weak(grid, at, self.word(at, a, b));
    }
}

/// Whether an operation reads a second register.
#[inline(always)]
const fn reads_right(what: u32) -> bool {
    what < FILL && what & !LEFT != 0
}

/// Stores the parameter at the listed nodes; every lane scans the whole, short list for the words
/// of its own share, so that clearing and storing need no barrier between them.
#[inline(never)]
fn scatter<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (team, grid) = (&context.team, context.team.grid);
    let to = context.tables.register(grid, wave.destination(grid))?;
    let list = context.tables.register(grid, wave.source(grid, 0))?;
    team.each(to.len(), |at| {
        let mut word = 0;
        for index in 0..list.len() {
            if list.load_weak(grid, index) == at {
                word = wave.parameter(grid, 0);
            }
        }
        to.store_weak(grid, at, word);
    });
    Ok(())
}

/// Stores the words that the indices name.
#[inline(never)]
fn gather<G: Grid>(cx: ContextRef<G>, wave: Wave) -> Result<(), FaultCode> {
    let context = &cx.context();
    let (tables, grid) = (context.tables, context.team.grid);
    let to = tables.register(grid, wave.destination(grid))?;
    let from = tables.register(grid, wave.source(grid, 0))?;
    let indices = tables.register_of(grid, wave.source(grid, 1), to.len())?;
    context.team.each(to.len(), |at| {
        let index = indices.load_weak(grid, at);
        to.store_weak(grid, at, from.load_weak(grid, index));
    });
    none_missed(grid)
}
