//! The least budget: exact, the same for every numbering, and never above another plan's need.

use crate::support::*;
use seawall_core::cache::{AnalysisKind, DeviceKey, Identity, Subject};
use seawall_core::plan::execution::{Chooser, Leeway, Request, least_budget};
use seawall_core::plan::{
    ArenaOptions, Budget, Dependency, Execution, ExecutionError, Results, Strategy, Wave, execution,
};
use seawall_core::topology::TopologyPolicy;

fn plan<'a>(
    request: &Request<'a>,
    buffers: &'a mut Buffers,
) -> Result<Execution<'a>, ExecutionError> {
    let mut subject = Subject::new(Identity {
        graph_layout_hash: 1,
        analysis: AnalysisKind::Dataflow,
        device: DeviceKey::default(),
    });
    let chooser = Chooser::plain(&TopologyPolicy::DEFAULT, &mut subject);
    execution(request, chooser, buffers.execution())
}

/// A request with one of the callers' kinds of leeway.
fn request(program: &Program, kind: usize) -> Request<'_> {
    let leeway = Leeway {
        least_alignment_bytes: (kind & 1) as u64,
        early_results: kind & 2 == 2,
        fixed_groups: false,
    };
    Request {
        strategy: if kind & 4 == 4 {
            Strategy::InOrder
        } else {
            Strategy::Packed
        },
        arena: ArenaOptions {
            alignment_bytes: 64,
            ..ArenaOptions::default()
        },
        leeway,
        ..Request::new(program.dag(), Budget::default())
    }
}

fn budgeted<'a>(request: &Request<'a>, budget_bytes: u64) -> Request<'a> {
    Request {
        budget: Budget {
            budget_bytes,
            ..Budget::default()
        },
        ..*request
    }
}

fn least(program: &Program, kind: usize) -> u64 {
    let mut buffers = Buffers::for_program(program);
    least_budget(&request(program, kind), buffers.execution()).unwrap()
}

/// The same program with its waves and dependencies in another order.
fn renumbered(random: &mut Random, program: &Program) -> Program {
    let mut shuffled = |length: usize| {
        let mut list: Vec<usize> = (0..length).collect();
        for at in (1..length).rev() {
            list.swap(at, random.within(0, at as u64) as usize);
        }
        list
    };
    let numbers = shuffled(program.waves.len());
    let mut waves = program.waves.clone();
    for (old, new) in numbers.iter().enumerate() {
        waves[*new] = program.waves[old];
    }
    let records = shuffled(program.dependencies.len());
    let renamed = |record: usize| {
        let Dependency { before, after } = program.dependencies[record];
        Dependency {
            before: numbers[before as usize] as u32,
            after: numbers[after as usize] as u32,
        }
    };
    Program {
        waves,
        dependencies: records.into_iter().map(renamed).collect(),
    }
}

/// Copies of a program side by side.
fn copies(program: &Program, copies: u32) -> Program {
    let waves = program.waves.len() as u32;
    let shifted = |copy: u32| {
        let by = copy * waves;
        program.dependencies.iter().map(move |link| Dependency {
            before: link.before + by,
            after: link.after + by,
        })
    };
    Program {
        waves: program.waves.repeat(copies as usize),
        dependencies: (0..copies).flat_map(shifted).collect(),
    }
}

/// Rings of sources and sinks, each sink after two sources: alike wave by wave, but not as a whole.
fn rings(lengths: &[u32], bytes: u64) -> Program {
    let wave = |output_bytes| Wave {
        output_bytes,
        ..Wave::default()
    };
    let mut program = Program {
        waves: Vec::new(),
        dependencies: Vec::new(),
    };
    for length in lengths {
        let first = program.waves.len() as u32;
        for at in 0..*length {
            program.waves.extend([wave(bytes), wave(0)]);
            for source in [at, (at + 1) % length] {
                program.dependencies.push(Dependency {
                    before: first + 2 * source,
                    after: first + 2 * at + 1,
                });
            }
        }
    }
    program
}

/// Programs of many kinds: random, layered, of few sizes, of copies, of rings.
fn drawn(random: &mut Random, number: usize) -> Program {
    let few_sizes = |mut program: Program, random: &mut Random| {
        for wave in &mut program.waves {
            let [frontier_bytes, scratch_bytes, output_bytes] =
                [0, 0, 1024].map(|most| random.within(0, 2) * most / 2);
            *wave = Wave {
                frontier_bytes,
                scratch_bytes,
                output_bytes,
            };
        }
        program
    };
    match number % 6 {
        0 => {
            let (waves, percent) = (random.within(1, 24), random.within(2, 40));
            random.program(waves, percent, 1000)
        }
        1 => random.layered(5, 5, 1000),
        2 => {
            let program = random.layered(5, 5, 1000);
            few_sizes(program, random)
        }
        3 => {
            let program = random.program(5, 40, 1000);
            copies(&program, random.within(2, 5) as u32)
        }
        4 => {
            let program = random.program(4, 50, 1000);
            let program = few_sizes(program, random);
            copies(&program, random.within(2, 6) as u32)
        }
        _ => rings(&[4, 2, 3][..random.within(1, 3) as usize], 1024),
    }
}

#[test]
fn the_least_budget_is_that_of_every_numbering() {
    let mut random = Random(23);
    for number in 0..144 {
        let program = drawn(&mut random, number);
        let kind = number / 6 % 8;
        let expected = least(&program, kind);
        for _ in 0..3 {
            let renumbered = renumbered(&mut random, &program);
            assert_eq!(least(&renumbered, kind), expected, "{number}: {program:?}");
        }
    }
}

#[test]
fn the_least_budget_works_less_does_not_and_more_does() {
    let mut random = Random(29);
    for number in 0..120 {
        let program = drawn(&mut random, number);
        let request = request(&program, number / 6 % 8);
        let least = least(&program, number / 6 % 8);
        let mut buffers = Buffers::for_program(&program);
        let free = plan(&budgeted(&request, u64::MAX), &mut buffers).unwrap();
        // A budget holds four copies of scratch, whatever the topology takes.
        let free = free
            .required_bytes
            .max(free.groups.summary().peak_group_bytes);
        assert!(least <= free, "{number}: {least} of {free}");
        let fits = plan(&budgeted(&request, least), &mut buffers).unwrap();
        assert!(fits.required_bytes <= least);
        if least > 0 {
            let short = random.within(0, least - 1);
            for budget in [least - 1, short] {
                assert!(plan(&budgeted(&request, budget), &mut buffers).is_err());
            }
        }
        for _ in 0..4 {
            let budget = random.within(least, free.max(least) + 100);
            let planned = plan(&budgeted(&request, budget), &mut buffers);
            assert!(
                planned.is_ok_and(|plan| plan.required_bytes <= budget),
                "{number}: {budget} of {least}"
            );
        }
    }
}

/// Most bytes alive, for the order of waves that keeps least alive.
fn fewest_alive(program: &Program, align: u64) -> u64 {
    let waves = program.waves.len();
    let size = |bytes: u64| bytes.next_multiple_of(align);
    let mut needs = vec![0usize; waves];
    let mut used = vec![0usize; waves];
    for link in &program.dependencies {
        needs[link.after as usize] |= 1 << link.before;
        used[link.before as usize] |= 1 << link.after;
    }
    // Outputs of sinks stay to the end.
    let kept = |wave: usize, done: usize| used[wave] == 0 || used[wave] & !done != 0;
    let mut least = vec![u64::MAX; 1 << waves];
    least[0] = 0;
    for done in 0..1usize << waves {
        if least[done] == u64::MAX {
            continue;
        }
        let alive: u64 = (0..waves)
            .filter(|wave| done >> wave & 1 == 1 && kept(*wave, done))
            .map(|wave| size(program.waves[wave].output_bytes))
            .sum();
        for wave in (0..waves).filter(|wave| done >> wave & 1 == 0) {
            if needs[wave] & !done == 0 {
                let own = program.waves[wave];
                let peak = alive
                    + size(own.frontier_bytes)
                    + size(own.scratch_bytes)
                    + size(own.output_bytes);
                let next = done | 1 << wave;
                least[next] = least[next].min(least[done].max(peak));
            }
        }
    }
    let fused = program.fused().into_iter().max().unwrap_or(0);
    least[(1 << waves) - 1].max(fused)
}

#[test]
fn the_least_budget_is_the_optimum_of_nearly_all_small_programs() {
    let mut random = Random(31);
    let (mut optimal, mut trials) = (0, 0);
    for number in 0..300 {
        let program = match number % 3 {
            0 => random.layered(4, 3, 1000),
            1 => {
                let waves = random.within(2, 11);
                random.program(waves, 25, 1000)
            }
            _ => {
                let program = random.program(3, 50, 1000);
                copies(&program, 3)
            }
        };
        if program.waves.len() > 12 {
            continue;
        }
        let (found, fewest) = (least(&program, 0), fewest_alive(&program, 64));
        assert!(found >= fewest);
        trials += 1;
        optimal += usize::from(found == fewest);
    }
    println!("optimal {optimal} of {trials}");
    assert!(optimal * 100 >= trials * 97, "{optimal} of {trials}");
}

#[test]
fn no_groups_of_a_strategy_have_a_smaller_arena_than_the_least_budget() {
    let mut random = Random(37);
    for number in 0..240 {
        let program = drawn(&mut random, number);
        let budget = random.budget(&program);
        let options = ArenaOptions {
            alignment_bytes: 1,
            results: Results::None,
            ..ArenaOptions::default()
        };
        let least = least(&program, 3);
        for strategy in [Strategy::InOrder, Strategy::Packed] {
            let grouping = plan_groups(&program, &budget, strategy).unwrap();
            let arena = plan_arena(&program, &budget, strategy, &options).unwrap();
            let need = arena.bytes.max(grouping.summary.peak_group_bytes);
            assert!(least <= need, "{number}, {strategy:?}: {least} of {need}");
        }
    }
}

/// Eight chains whose last waves each wait for another small wave.
fn chains_with_inputs(apart: bool) -> Program {
    let wave = |output_bytes| Wave {
        output_bytes,
        ..Wave::default()
    };
    let id = |kind: u32, chain: u32| {
        if apart {
            8 * kind + chain
        } else {
            4 * chain + kind
        }
    };
    let mut waves = vec![Wave::default(); 32];
    let mut dependencies = Vec::new();
    for chain in 0..8 {
        for (kind, bytes) in [(0, 16_384), (1, 16_384), (2, 256), (3, 0)] {
            waves[id(kind, chain) as usize] = wave(bytes);
        }
        for (before, after) in [(0, 1), (1, 3), (2, 3)] {
            dependencies.push(Dependency {
                before: id(before, chain),
                after: id(after, chain),
            });
        }
    }
    Program {
        waves,
        dependencies,
    }
}

#[test]
fn a_wave_that_waits_for_two_follows_both() {
    for apart in [true, false] {
        for kind in 0..8 {
            assert_eq!(least(&chains_with_inputs(apart), kind), 32_768);
        }
    }
}

#[test]
fn a_program_of_many_alike_waves_is_planned_in_bounded_time() {
    let one = Wave {
        output_bytes: 64,
        ..Wave::default()
    };
    let pair = Program {
        waves: vec![one; 2],
        dependencies: vec![Dependency {
            before: 0,
            after: 1,
        }],
    };
    let star = Program {
        waves: vec![one; 20_001],
        dependencies: (1..=20_000)
            .map(|after| Dependency { before: 0, after })
            .collect(),
    };
    for program in [copies(&pair, 10_000), star] {
        // The results of all sinks stay.
        let sinks = program.waves.len() as u64 - program.dependencies.len() as u64;
        let sinks = sinks.max(program.dependencies.len() as u64);
        let fewest = (sinks + 1) * 64;
        let found = least(&program, 0);
        assert!(
            (fewest..=fewest + 64).contains(&found),
            "{found} of {fewest}"
        );
    }
}
