//! Random programs as machine code on the CPU backend and in the interpreter of kernels, both against
//! a plain interpreter; and their waves as PTX on simulated lanes, against the machine code.
#![no_main]

use libfuzzer_sys::fuzz_target;
use seawall::backend::{RunLimits, cpu::CpuSession};
use seawall::executor::Jit;
use seawall_fuzz::case::Case;
use seawall_fuzz::draw::Draw;
use seawall_oracles::harness::run_script;
use seawall_oracles::ptx::SessionWithPtx;

fuzz_target!(|bytes: &[u8]| {
    let drawn =
        |_: &mut Draw<'_>, limits, random: &mut _| seawall_oracles::draw::draw(limits, random);
    let Case {
        list,
        script,
        threads,
    } = Case::draw(&mut Draw::new(bytes), drawn);
    let graph = list.graph().expect("drawn edges end inside the graph");
    let mut session = SessionWithPtx::open(&graph);
    if let Err(problem) = run_script(&mut session, &list, &script, 1) {
        panic!("beside PTX: {problem}\n{script:?}");
    }
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
