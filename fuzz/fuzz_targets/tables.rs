//! Tables of ready analyses, changed by hand, that pass the check and run on a small graph
//! on the CPU backend: to a result, a fault or a refusal, never to a crash or a hang.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall_fuzz::draw::Draw;
use seawall_oracles::hostile::{ANALYSES, CHANGES, Case, Change};

fuzz_target!(|bytes: &[u8]| {
    let mut draw = Draw::new(bytes);
    let case = Case {
        analysis: draw.below(ANALYSES),
        shape: draw.below(12),
        nodes: draw.below(80),
        seed: draw.below(1 << 16).into(),
        threads: draw.below(3),
        warps: false,
        tame_inputs: draw.flag(),
        then: draw.flag().then(|| draw.below(ANALYSES)),
        changes: draw.list(9, change),
    };
    let _ = case.run();
});

/// A change, mostly to entries that exist.
fn change(draw: &mut Draw<'_>) -> Change {
    let kind = draw.below(CHANGES);
    let mut number = || {
        if draw.byte() < 0xF0 {
            draw.below(64)
        } else {
            draw.word()
        }
    };
    Change::of([kind, number(), number(), number()])
}
