//! Time that taint questions take on a resident module.
//!
//! ```text
//! cargo run --release -p seawall-modules --example ask_module -- module.wasm [QUESTIONS]
//! ```
//!
//! Sources and sinks are drawn from all names that a question may give: results, parameters and
//! memory of imports, exports and named functions. First, each question is asked of the session
//! as earlier questions left it; then all are asked again, when their sources have been followed.

use seawall::executor::Machine;
use seawall_modules::calls::Calls;
use seawall_modules::flow::On;
use seawall_modules::model::Program;
use seawall_modules::taint::{Port, Spec, TaintQuestion, TaintSession, TaintWork};
use std::borrow::Cow;
use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Instant;

/// Names of functions with their parts, for sources or for sinks.
fn specs(program: &Program, is_sink: bool) -> Vec<Spec> {
    let mut specs = Vec::new();
    for function in &program.functions {
        let name = match (&function.import, function.exports.first(), &function.name) {
            (Some((module, field)), ..) => format!("{module}.{field}"),
            (None, Some(name), _) | (None, None, Some(name)) => name.clone(),
            (None, None, None) => continue,
        };
        let all = if is_sink {
            function.parameters
        } else {
            function.results
        };
        let mut ports = vec![Port::Memory];
        ports.extend((all > 0).then_some(Port::All));
        ports.extend((0..function.parameters).map(Port::Parameter));
        specs.extend(ports.into_iter().map(|port| Spec {
            name: name.clone(),
            port,
        }));
    }
    specs
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((word ^ (word >> 31)) % end as u64) as usize
    }
}

fn report(what: &str, mut works: Vec<TaintWork>) {
    works.sort_unstable_by_key(|work| work.ns);
    let at = |share: usize| works[(works.len() * share / 1000).min(works.len() - 1)];
    let us = |work: TaintWork| work.ns as f64 / 1e3;
    let of =
        |value: fn(&TaintWork) -> u64| works.iter().map(value).sum::<u64>() / works.len() as u64;
    println!(
        "{what:<28} median {:8.2} us, 99 % {:9.2}, most {:10.2}; mean {} values, {} arguments",
        us(at(500)),
        us(at(990)),
        us(at(1000)),
        of(|work| work.values),
        of(|work| work.arguments as u64),
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("no module")?;
    let count: usize = arguments.next().map_or(Ok(1000), |text| text.parse())?;
    let clock = Instant::now();
    let mut program = Program::default();
    seawall_modules::read(&mut program, &path, std::fs::read(&path)?)?;
    let (sources, sinks) = (specs(&program, false), specs(&program, true));
    let calls = Calls::of(&program);
    let mut machine = Machine::cpu(NonZeroUsize::new(1));
    machine.time_budget_ns = 3_600_000_000_000;
    let on = On::new(machine);
    let session = TaintSession::open(Cow::Owned(program), Cow::Owned(calls), on)?;
    println!(
        "{path}: open in {:.1} s; {} values, {} calls, {} sources, {} sinks",
        clock.elapsed().as_secs_f64(),
        session.values(),
        session.sites(),
        sources.len(),
        sinks.len(),
    );
    let mut random = Random(1);
    let pairs: Vec<(usize, usize)> = (0..count)
        .map(|_| (random.below(sources.len()), random.below(sinks.len())))
        .collect();
    for (what, limit, ways, most) in [
        ("whether, sources new", 0, 0, count),
        ("whether, sources known", 0, 0, count),
        ("16 findings", 16, 0, count),
        ("16 findings, sources known", 16, 0, count),
        ("1 finding with its way", 1, 1, count.min(100)),
    ] {
        let mut works = Vec::new();
        let mut reached = 0;
        for (source, sink) in pairs.iter().take(most) {
            let answer = session.ask(&TaintQuestion {
                sources: std::slice::from_ref(&sources[*source]),
                sinks: std::slice::from_ref(&sinks[*sink]),
                limit,
                ways,
            })?;
            reached += usize::from(answer.is_reached);
            works.push(answer.work);
        }
        report(what, works);
        println!(
            "{reached} of {most} reach; {} searches kept",
            session.kept()
        );
    }
    Ok(())
}
