//! The policies of the planner: no input panics, the documented bounds hold, and a cache behaves
//! like a baseline list and never changes an answer.
#![no_main]

mod cache;
mod choose;
mod session;
mod tuning;

use libfuzzer_sys::fuzz_target;
use seawall_fuzz::draw::Draw;

fuzz_target!(|bytes: &[u8]| {
    let mut draw = Draw::new(bytes);
    match draw.byte() % 8 {
        0 => choose::ratios(&mut draw),
        1 => choose::topology(&mut draw),
        2 => choose::launch(&mut draw),
        3 => cache::calls(&mut draw),
        4 => session::session(&mut draw),
        5 => session::convergence(&mut draw),
        6 => tuning::steps(&mut draw),
        _ => tuning::diffusion(&mut draw),
    }
});
