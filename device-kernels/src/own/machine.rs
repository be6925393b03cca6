//! The machine that a wave runs on, and its recorder.

use crate::machine::Grid;
use core::marker::PhantomData;
use seawall_core::abi::facts::{Facts, Operand};

/// A machine that runs waves: a GPU or CPU threads. Waves are generic over it.
pub trait Machine: sealed::Sealed + Copy {
    /// The grid of lanes.
    #[doc(hidden)]
    type Grid: Grid;
    /// Receiver of a note about each access.
    #[doc(hidden)]
    type Recorder: Recorder;
}

/// The machine of a grid whose accesses `R` records.
#[derive(Debug)]
pub struct On<G, R>(PhantomData<(G, R)>);

impl<G, R> Clone for On<G, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G, R> Copy for On<G, R> {}

impl<G: Grid, R: Recorder> Machine for On<G, R> {
    type Grid = G;
    type Recorder = R;
}

mod sealed {
    pub trait Sealed {}
    impl<G, R> Sealed for super::On<G, R> {}
}

/// Records the accesses of waves, to compare them with their facts.
pub trait Recorder: 'static {
    /// Whether it records anything.
    const RECORDS: bool = true;

    /// A wave begins on this thread.
    fn begin(wave: Started) {
        let _ = wave;
    }

    /// It accesses a word.
    fn note(access: Access) {
        let _ = access;
    }

    /// It ended, successfully or by a fault.
    fn end(is_well: bool) {
        let _ = is_well;
    }
}

/// A recorder that ignores everything.
#[derive(Debug)]
pub struct Nobody;

impl Recorder for Nobody {
    const RECORDS: bool = false;
}

/// A wave that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its number in its set.
    pub number: u32,
    /// Its number in the program.
    pub wave: u32,
    /// Words of each operand, in the order of [`Operand::ALL`]; 0 where there is none.
    pub words: [u32; 4],
    /// The facts about it.
    pub facts: Facts,
}

/// An access of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The operand, or `None` for the graph.
    pub operand: Option<Operand>,
    /// The word, within its register.
    pub at: u32,
    /// The item that accesses it; `None` for the wave as a whole.
    pub item: Option<u32>,
    /// Kind of the access.
    pub how: How,
}

/// Kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Read of the word as it was before the wave.
    Load,
    /// Read of the current word.
    Latest,
    /// Store of the word.
    Store,
    /// Atomic read and store.
    Change,
}
