//! The cost of a step: bytes of stack by painting, instructions by SysTick.
//!
//! Paint is laid below the stack pointer before a step and searched for after it. QEMU run with
//! `-icount shift=0` lets one instruction take one nanosecond of its clock, which SysTick divides
//! to the machine's 168 MHz; figures are exact to 6 instructions. On silicon the same ticks are
//! processor cycles.

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::register::msp;
use semihosting::eprintln;

/// Bytes painted: more than any step may take.
const PAINTED_BYTES: u32 = 16 * 1024;
/// Bytes left unpainted for the painter's own frame: it may read the stack pointer before it
/// pushes.
const OWN_FRAME_BYTES: u32 = 64;
const PAINT: u32 = 0xa5a5_5a5a;
/// Instructions that QEMU executes while SysTick counts 168.
const INSTRUCTIONS: u32 = 1000;
const TICKS: u32 = 168;
/// SysTick counts down from here.
const RELOAD: u32 = 0x00ff_ffff;

/// Measures steps one after the other.
pub(crate) struct Meter {
    clock: SYST,
}

impl Meter {
    /// Starts SysTick at the processor's clock.
    pub(crate) fn new(mut clock: SYST) -> Self {
        clock.set_clock_source(SystClkSource::Core);
        clock.set_reload(RELOAD);
        clock.clear_current();
        clock.enable_counter();
        Self { clock }
    }

    /// Runs `step` and prints its cost. Steps of 16 million ticks or more wrap around.
    #[inline(always)]
    pub(crate) fn measure<T>(&mut self, name: &str, step: impl FnOnce() -> T) -> T {
        let stack = msp::read();
        let lowest = paint();
        self.clock.clear_current();
        let result = step();
        let ticks = RELOAD.wrapping_sub(SYST::get_current());
        report(name, stack.wrapping_sub(first_unpainted(lowest)), ticks);
        result
    }
}

#[inline(never)]
fn report(name: &str, stack: u32, ticks: u32) {
    let instructions = u64::from(ticks) * u64::from(INSTRUCTIONS) / u64::from(TICKS);
    defmt::info!(
        "{=str}: {=u32} bytes of stack, {=u64} instructions",
        name,
        stack,
        instructions
    );
    eprintln!("measured {name} stack={stack} instructions={instructions}");
}

/// Paints the memory below its own frame; returns the lowest painted address.
#[inline(never)]
fn paint() -> u32 {
    let top = msp::read().wrapping_sub(OWN_FRAME_BYTES);
    let lowest = top.wrapping_sub(PAINTED_BYTES);
    let mut address = lowest;
    while address < top {
        // SAFETY: below the frame of a function that calls none, and no interrupt is enabled, so
        // these words are unused; the board's RAM has 16 KiB free under its stack.
        unsafe { (address as *mut u32).write_volatile(PAINT) };
        address = address.wrapping_add(4);
    }
    lowest
}

/// The lowest address that a step has written to.
#[inline(never)]
fn first_unpainted(lowest: u32) -> u32 {
    let mut address = lowest;
    // SAFETY: the words were painted by `paint`, or were the stack of a step that has returned.
    while unsafe { (address as *const u32).read_volatile() } == PAINT {
        address = address.wrapping_add(4);
    }
    address
}
