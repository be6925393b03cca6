//! Arenas: nothing alive overlaps, and little is wasted.

use crate::support::*;
use proptest::prelude::*;
use seawall_core::error::ArenaError;
use seawall_core::plan::{
    ArenaOptions, Budget, Dependency, Offsets, Requirements, Results, Strategy as Grouping, Wave,
    WaveId, arena, groups,
};

/// A region by the rules, without calling the planner.
#[derive(Clone, Copy, Debug)]
struct Region {
    start: u64,
    bytes: u64,
    first: usize,
    last: usize,
}

fn regions(program: &Program, layout: &Layout, options: &ArenaOptions<'_>) -> Vec<Region> {
    let group_of = |wave: u32| {
        layout
            .groups
            .iter()
            .position(|group| group.contains(&wave))
            .expect("every wave is planned")
    };
    let last_use = |wave: u32| {
        let users = program.dependencies.iter().filter(|d| d.before == wave);
        users.map(|d| group_of(d.after)).max()
    };
    let mut regions = Vec::new();
    for (id, (wave, offsets)) in (0u32..).zip(program.waves.iter().zip(&layout.offsets)) {
        let first = group_of(id);
        let kept = match options.results {
            Results::None => false,
            Results::Sinks => last_use(id).is_none(),
            Results::All => true,
            Results::Bits(words) => words[id as usize / 32] >> (id % 32) & 1 == 1,
        };
        let last = if kept {
            layout.groups.len() - 1
        } else {
            last_use(id).unwrap_or(first)
        };
        let Offsets {
            frontier,
            scratch,
            output,
        } = *offsets;
        regions.push(Region {
            start: frontier,
            bytes: wave.frontier_bytes,
            first,
            last: first,
        });
        regions.push(Region {
            start: scratch,
            bytes: match wave.scratch_bytes {
                0 => 0,
                bytes => options.topology.scratch_bytes(bytes).unwrap(),
            },
            first,
            last: first,
        });
        regions.push(Region {
            start: output,
            bytes: wave.output_bytes,
            first,
            last,
        });
    }
    regions.retain(|region| region.bytes > 0);
    regions
}

pub(crate) fn assert_sound(program: &Program, layout: &Layout, options: &ArenaOptions<'_>) {
    let regions = regions(program, layout, options);
    for (index, a) in regions.iter().enumerate() {
        assert!(a.start + a.bytes <= layout.bytes, "{a:?} leaves the arena");
        assert_eq!(a.start % options.alignment_bytes, 0);
        for b in regions.iter().skip(index + 1) {
            let together = a.first <= b.last && b.first <= a.last;
            let apart = a.start + a.bytes <= b.start || b.start + b.bytes <= a.start;
            assert!(!together || apart, "{a:?} overlaps {b:?}");
        }
    }
    let aligned = |bytes: u64| bytes.next_multiple_of(options.alignment_bytes);
    let live = |group: usize| -> u64 {
        let alive = regions
            .iter()
            .filter(|r| (r.first..=r.last).contains(&group));
        alive.map(|region| aligned(region.bytes)).sum()
    };
    let largest = (0..layout.groups.len()).map(live).max().unwrap_or(0);
    assert_eq!(layout.lower_bound, largest);
    assert!(layout.bytes >= layout.lower_bound);
}

fn any_results() -> impl Strategy<Value = Option<Vec<u32>>> {
    prop::option::of(prop::collection::vec(any::<u32>(), 2))
}

proptest! {
    #[test]
    fn regions_alive_together_never_overlap(
        program in any_program(40),
        bits in any_results(),
        alignment in 0u32..10,
        share in 0u64..=100,
        packed in any::<bool>(),
        sinks in any::<bool>(),
    ) {
        let fused = program.fused();
        let largest = fused.iter().copied().max().unwrap_or(0);
        let budget_bytes = largest + fused.iter().sum::<u64>() * share / 400;
        let budget = Budget { budget_bytes, ..Budget::default() };
        let results = match &bits {
            Some(words) => Results::Bits(words),
            None if sinks => Results::Sinks,
            None => Results::None,
        };
        let strategy = if packed { Grouping::Packed } else { Grouping::InOrder };
        let options = ArenaOptions { alignment_bytes: 1 << alignment, results, ..ArenaOptions::default() };
        let layout = plan_arena(&program, &budget, strategy, &options).unwrap();
        assert_sound(&program, &layout, &options);
    }
}

struct Quality {
    /// Sizes over lower bounds in thousandths, ascending.
    permille: Vec<u64>,
    exact: usize,
}

impl Quality {
    fn median(&self) -> u64 {
        self.permille[self.permille.len() / 2]
    }
}

fn measure(seed: u64, trials: usize, program: impl Fn(&mut Random) -> Program) -> Quality {
    let mut random = Random(seed);
    let mut quality = Quality {
        permille: Vec::new(),
        exact: 0,
    };
    for trial in 0..trials {
        let program = program(&mut random);
        let budget = random.budget(&program);
        let results = [Results::None, Results::Sinks][trial % 2];
        let strategy = [Grouping::InOrder, Grouping::Packed][trial / 2 % 2];
        let alignment_bytes = [1, 16, 256][trial % 3];
        let options = ArenaOptions {
            alignment_bytes,
            results,
            ..ArenaOptions::default()
        };
        let layout = plan_arena(&program, &budget, strategy, &options).unwrap();
        assert_sound(&program, &layout, &options);
        quality.exact += usize::from(layout.bytes == layout.lower_bound);
        quality
            .permille
            .push(layout.bytes * 1000 / layout.lower_bound.max(1));
    }
    quality.permille.sort_unstable();
    println!(
        "{} of {trials} at the bound, median {}",
        quality.exact,
        quality.median()
    );
    quality
}

#[test]
fn arenas_of_random_programs_are_near_their_lower_bound() {
    let quality = measure(1, 1000, |random| {
        let (waves, percent) = (random.within(4, 60), random.within(3, 40));
        random.program(waves, percent, 100_000)
    });
    assert!(quality.median() <= 1150);
}

#[test]
fn arenas_of_layered_programs_often_meet_their_lower_bound() {
    let quality = measure(4, 1000, |random| {
        let (layers, width) = (random.within(2, 10), random.within(1, 6));
        random.layered(layers, width, 100_000)
    });
    assert!(quality.exact * 2 >= quality.permille.len());
}

#[test]
fn arenas_of_large_programs_are_sound_and_tight() {
    let quality = measure(9, 30, |random| {
        let waves = random.within(200, 400);
        random.program(waves, 2, 100_000)
    });
    assert!(quality.median() <= 1150);
}

#[test]
fn an_alignment_must_be_a_power_of_two() {
    let program = Random(3).program(5, 30, 100);
    let budget = Budget {
        budget_bytes: 100_000,
        ..Budget::default()
    };
    for alignment_bytes in [0, 3, 768, u64::MAX] {
        let options = ArenaOptions {
            alignment_bytes,
            results: Results::None,
            ..ArenaOptions::default()
        };
        let error = plan_arena(&program, &budget, Grouping::InOrder, &options).unwrap_err();
        assert_eq!(error, ArenaError::InvalidAlignment { alignment_bytes });
    }
}

#[test]
fn groups_of_another_program_are_refused() {
    let (program, other) = (Random(3).program(5, 30, 100), Random(4).program(6, 30, 100));
    let budget = Budget {
        budget_bytes: 100_000,
        ..Budget::default()
    };
    let mut buffers = Buffers::for_program(&program);
    let (group_space, arena_space) = buffers.split();
    let plan = groups(&program.dag(), &budget, Grouping::InOrder, group_space).unwrap();
    let error = arena(&other.dag(), &plan, &ArenaOptions::default(), arena_space).unwrap_err();
    assert_eq!(
        error,
        ArenaError::PlanMismatch {
            waves: 6,
            planned: 5
        }
    );
}

#[test]
fn bytes_beyond_64_bits_are_an_error() {
    let huge = Wave {
        frontier_bytes: 0,
        scratch_bytes: 0,
        output_bytes: u64::MAX,
    };
    for (waves, alignment_bytes) in [(vec![huge], 256), (vec![huge; 2], 1)] {
        let order = Dependency {
            before: 0,
            after: 1,
        };
        let dependencies = if waves.len() == 2 {
            vec![order]
        } else {
            vec![]
        };
        let program = Program {
            waves,
            dependencies,
        };
        let budget = Budget {
            budget_bytes: u64::MAX,
            ..Budget::default()
        };
        let options = ArenaOptions {
            alignment_bytes,
            ..ArenaOptions::default()
        };
        let error = plan_arena(&program, &budget, Grouping::InOrder, &options).unwrap_err();
        assert_eq!(
            error,
            ArenaError::Overflow {
                field: "arena bytes"
            }
        );
    }
}

#[test]
fn one_element_too_few_is_refused_before_anything_is_written() {
    let program = Random(5).program(9, 30, 100);
    let budget = Budget {
        budget_bytes: 100_000,
        ..Budget::default()
    };
    for short in ["arena_words", "arena_offsets"] {
        let mut needs = Requirements::for_dag(9, program.dependencies.len());
        match short {
            "arena_words" => needs.arena_words -= 1,
            _ => needs.arena_offsets -= 1,
        }
        let mut buffers = Buffers::sized(needs);
        let (group_space, mut arena_space) = buffers.split();
        let plan = groups(&program.dag(), &budget, Grouping::InOrder, group_space).unwrap();
        let error = arena(
            &program.dag(),
            &plan,
            &ArenaOptions::default(),
            &mut arena_space,
        );
        let Err(ArenaError::ScratchTooSmall(small)) = error else {
            panic!("{error:?}")
        };
        assert_eq!(
            (small.field.name(), small.needed, small.capacity),
            (short, 9, 8)
        );
        assert!(buffers.arena_words.iter().all(|word| *word == 0xAAAA_AAAA));
        assert!(
            buffers
                .arena_offsets
                .iter()
                .all(|word| *word == 0xAAAA_AAAA)
        );
    }
}

#[test]
fn empty_programs_need_no_arena() {
    let program = Program {
        waves: vec![],
        dependencies: vec![],
    };
    let options = ArenaOptions::default();
    let layout = plan_arena(&program, &Budget::default(), Grouping::Packed, &options).unwrap();
    assert_eq!(
        (layout.bytes, layout.lower_bound, layout.offsets.len()),
        (0, 0, 0)
    );
}

#[test]
fn an_unknown_wave_has_no_offsets() {
    let program = Random(6).program(3, 30, 100);
    let budget = Budget {
        budget_bytes: 100_000,
        ..Budget::default()
    };
    let mut buffers = Buffers::for_program(&program);
    let (group_space, arena_space) = buffers.split();
    let plan = groups(&program.dag(), &budget, Grouping::InOrder, group_space).unwrap();
    let layout = arena(&program.dag(), &plan, &ArenaOptions::default(), arena_space).unwrap();
    assert!(layout.get(WaveId(2)).is_some() && layout.get(WaveId(3)).is_none());
}
