//! Random programs as machine code on the CPU backend and in the interpreter of kernels, both against
//! a plain interpreter.
#![no_main]

use std::num::NonZeroUsize;

use libfuzzer_sys::fuzz_target;
use seawall::backend::{RunLimits, cpu::CpuSession};
use seawall::executor::Jit;
use seawall_fuzz::draw::Draw;
use seawall_tests::draw::Limits;
use seawall_tests::graphs::{self, SHAPES};
use seawall_tests::harness::run_script;
use seawall_tests::random::Random;

fuzz_target!(|bytes: &[u8]| {
    let mut draw = Draw::new(bytes);
    let shape = SHAPES[draw.below(SHAPES.len() as u32) as usize];
    let nodes = draw.below(80);
    let waves = 1 + draw.below(12);
    let words = 1 + draw.below(300);
    let threads = NonZeroUsize::new(1 + draw.below(3) as usize);
    let undirected = draw.flag();
    let mut random = Random::new(draw.long());
    let list = graphs::draw(shape, nodes, undirected, &mut random);
    let limits = Limits {
        nodes: list.nodes,
        waves,
        words,
    };
    let script = seawall_tests::draw::draw(limits, &mut random);
    let graph = list.graph().expect("drawn edges end inside the graph");
    for jit in [Jit::Always, Jit::Never] {
        let limits = RunLimits {
            time_budget_ns: 20_000_000_000,
        };
        let session = CpuSession::open(&graph, threads, limits).expect("few threads");
        let mut session = session.with_jit(jit);
        if let Err(problem) = run_script(&mut session, &list, &script, 2) {
            panic!("{jit:?}: {problem}\n{script:?}");
        }
        let code = session.code_report().expect("a program is loaded");
        assert!(jit == Jit::Never || code.compiled == code.waves, "{code:?}");
    }
});
