//! The sets of waves that kernels are built for.
//!
//! A kernel pays in registers for every wave that it supports, so each is built for a set. Sets are
//! types, so waves outside of a kernel's set are not compiled.

use crate::algorithms::family;
use crate::collectives::context::ContextRef;
use crate::machine::Grid;
use crate::own::{Nobody, Recorder, Waves};
use crate::tables::Wave;
use core::marker::PhantomData;
use seawall_core::abi::control::FaultCode;

/// The waves that a kernel knows.
pub trait WaveSet: 'static {
    /// Families of built-in opcodes, see [`family`].
    const FAMILIES: u32;

    /// Waves of a separate crate.
    const OWN: u32 = 0;

    /// Whether waves of code run machine code that the host links to the kernel.
    const LINKED: bool = false;

    /// Runs this lane's share of custom wave `number`.
    ///
    /// # Errors
    /// The fault that ends the run.
    fn run_own<G: Grid>(cx: ContextRef<G>, number: u32, wave: Wave) -> Result<(), FaultCode> {
        let _ = (cx, number, wave);
        Err(FaultCode::UnknownOpcode)
    }

    /// Whether custom wave `number` works word by word.
    #[must_use]
    fn is_word_wise(number: u32) -> bool {
        let _ = number;
        false
    }
}

/// No wave at all: for services that run no programs.
#[derive(Debug)]
pub struct Nothing;

impl WaveSet for Nothing {
    const FAMILIES: u32 = 0;
}

/// Searches and operations on words.
#[derive(Debug)]
pub struct Searches;

impl WaveSet for Searches {
    const FAMILIES: u32 = family::SEARCH | family::WORDS;
}

/// Shortest paths, core numbers and sets of sources, and operations on words.
#[derive(Debug)]
pub struct Rounds;

impl WaveSet for Rounds {
    const FAMILIES: u32 = family::ROUNDS;
}

/// Every built-in wave except code.
#[derive(Debug)]
pub struct Ready;

impl WaveSet for Ready {
    const FAMILIES: u32 = family::READY;
}

/// Code, and the other waves of programs that only run code.
#[derive(Debug)]
pub struct CodeAlone;

impl WaveSet for CodeAlone {
    const FAMILIES: u32 = family::CODE_ALONE;
}

/// The same, with code that the host links to the kernel instead of an interpreter.
#[derive(Debug)]
pub struct Linked;

impl WaveSet for Linked {
    const FAMILIES: u32 = family::CODE_ALONE;
    const LINKED: bool = true;
}

/// Every built-in wave.
#[derive(Debug)]
pub struct All;

impl WaveSet for All {
    const FAMILIES: u32 = family::ALL;
}

/// Every built-in wave and those of `W`, whose accesses `R` records.
#[derive(Debug)]
pub struct With<W, R = Nobody>(PhantomData<(W, R)>);

impl<W: Waves, R: Recorder> WaveSet for With<W, R> {
    const FAMILIES: u32 = family::ALL;
    const OWN: u32 = W::LIST.len() as u32;

    #[inline(always)]
    fn run_own<G: Grid>(cx: ContextRef<G>, number: u32, wave: Wave) -> Result<(), FaultCode> {
        W::run::<G, R>(cx, number, wave)
    }

    #[inline(always)]
    fn is_word_wise(number: u32) -> bool {
        W::is_word_wise(number)
    }
}
