//! Groups: every plan obeys the order and the budget, and states its cost.

use crate::oracle::longest_path;
use crate::support::*;
use proptest::prelude::*;
use seawall_core::error::{GroupError, ScratchField};
use seawall_core::plan::{Budget, Requirements, Strategy as Grouping, Wave, WaveId, groups};
use seawall_core::scratch::{GroupScratch, Scratch};

/// A budget between the largest wave alone and all waves at once.
fn budget_for(program: &Program, share: u64) -> Budget {
    let fused = program.fused();
    let largest = fused.iter().copied().max().unwrap_or(0);
    let group = largest + (fused.iter().sum::<u64>() - largest) * share / 100;
    Budget {
        resident_bytes: 77,
        budget_bytes: group + 77,
        readback_bytes: 500,
    }
}

/// Next-fit inside layers, by the rules.
fn in_order(program: &Program, space: u64) -> Vec<Vec<u32>> {
    let layers = longest_path::layers(program.waves.len(), &program.dependencies).unwrap();
    let fused = program.fused();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for layer in layers {
        let mut held = None;
        for wave in layer {
            let bytes = fused[wave as usize];
            match held {
                Some(sum) if sum + bytes <= space => {
                    groups.last_mut().unwrap().push(wave);
                    held = Some(sum + bytes);
                }
                _ => {
                    groups.push(vec![wave]);
                    held = Some(bytes);
                }
            }
        }
    }
    groups
}

fn assert_sound(program: &Program, budget: &Budget, plan: &crate::support::Grouping) {
    let space = budget.budget_bytes - budget.resident_bytes;
    let fused = program.fused();
    let mut group_of = vec![usize::MAX; program.waves.len()];
    for (index, group) in plan.groups.iter().enumerate() {
        assert!(!group.is_empty() && group.is_sorted());
        assert!(plan.fused_bytes[index] <= space);
        assert_eq!(
            plan.fused_bytes[index],
            group.iter().map(|w| fused[*w as usize]).sum::<u64>()
        );
        for wave in group {
            assert_eq!(
                group_of[*wave as usize],
                usize::MAX,
                "wave {wave} is planned twice"
            );
            group_of[*wave as usize] = index;
        }
    }
    assert!(group_of.iter().all(|group| *group != usize::MAX));
    for d in &program.dependencies {
        assert!(group_of[d.before as usize] < group_of[d.after as usize]);
    }
    assert_summary(program, budget, plan);
}

fn assert_summary(program: &Program, budget: &Budget, plan: &crate::support::Grouping) {
    let peak = |bytes: &dyn Fn(&Wave) -> u64| {
        let sum = |group: &Vec<u32>| {
            group
                .iter()
                .map(|w| bytes(&program.waves[*w as usize]))
                .sum()
        };
        plan.groups.iter().map(sum).max().unwrap_or(0u64)
    };
    let summary = &plan.summary;
    assert_eq!(
        summary.peak_frontier_bytes,
        peak(&|wave| wave.frontier_bytes)
    );
    assert_eq!(summary.peak_scratch_bytes, peak(&|wave| wave.scratch_bytes));
    assert_eq!(summary.peak_output_bytes, peak(&|wave| wave.output_bytes));
    assert_eq!(
        summary.peak_group_bytes,
        peak(&|wave| wave.fused_bytes().unwrap())
    );
    let widest = plan.groups.iter().map(Vec::len).max().unwrap_or(0);
    assert_eq!(summary.max_group_width, widest as u64);
    assert_eq!(
        summary.global_barriers,
        (plan.groups.len() as u64).saturating_sub(1)
    );
    let readback = budget.readback_bytes.max(summary.peak_output_bytes);
    assert_eq!(summary.amortized_readback_bytes, readback);
    let space = (budget.budget_bytes - budget.resident_bytes).max(1);
    let layers = longest_path::layers(program.waves.len(), &program.dependencies)
        .unwrap()
        .len();
    let by_bytes = program.fused().iter().sum::<u64>().div_ceil(space);
    assert_eq!(summary.lower_bound, by_bytes.max(layers as u64));
}

proptest! {
    #[test]
    fn in_order_is_next_fit_inside_layers(program in any_program(40), share in 0u64..=100) {
        let budget = budget_for(&program, share);
        let plan = plan_groups(&program, &budget, Grouping::InOrder).unwrap();
        assert_sound(&program, &budget, &plan);
        let space = budget.budget_bytes - budget.resident_bytes;
        prop_assert_eq!(plan.groups, in_order(&program, space));
    }

    #[test]
    fn packed_is_sound_and_never_worse(program in any_program(60), share in 0u64..=100) {
        let budget = budget_for(&program, share);
        let packed = plan_groups(&program, &budget, Grouping::Packed).unwrap();
        let plain = plan_groups(&program, &budget, Grouping::InOrder).unwrap();
        assert_sound(&program, &budget, &packed);
        prop_assert!(packed.groups.len() <= plain.groups.len());
        prop_assert!(packed.groups.len() as u64 >= packed.summary.lower_bound);
    }

    #[test]
    fn plans_repeat(program in any_program(30), share in 0u64..=30) {
        let budget = budget_for(&program, share);
        let plan = || plan_groups(&program, &budget, Grouping::Packed);
        prop_assert_eq!(plan(), plan());
    }

    #[test]
    fn one_element_too_few_is_refused_before_anything_is_written(
        program in any_program(20),
        short in 0usize..4,
    ) {
        let mut needs = Requirements::for_dag(program.waves.len(), program.dependencies.len());
        let short = if program.dependencies.is_empty() { short % 3 } else { short };
        let (buffer, field) = match short {
            0 => (&mut needs.layer_words, ScratchField::Waves),
            1 => (&mut needs.pack_words, ScratchField::PackWords),
            2 => (&mut needs.pack_bytes, ScratchField::PackBytes),
            _ => (&mut needs.dependency_words, ScratchField::Dependencies),
        };
        *buffer -= 1;
        let mut buffers = Buffers::sized(needs);
        let budget = budget_for(&program, 50);
        let error = groups(&program.dag(), &budget, Grouping::Packed, buffers.groups()).unwrap_err();
        let GroupError::ScratchTooSmall(small) = error else { panic!("{error}") };
        prop_assert_eq!((small.field, small.capacity), (field, small.needed - 1));
        prop_assert!(buffers.layer_words.iter().all(|word| *word == 0xAAAA_AAAA));
        prop_assert!(buffers.pack_words.iter().all(|word| *word == 0xAAAA_AAAA));
        prop_assert!(buffers.pack_bytes.iter().all(|word| *word == 0xAAAA_AAAA));
    }

    #[test]
    fn a_scratch_is_reusable_after_any_error(program in any_program(20), share in 0u64..=30) {
        let mut buffers = Buffers::for_program(&program);
        let mut view = buffers.groups();
        let tight = Budget { resident_bytes: 1, ..Budget::default() };
        let error = groups(&program.dag(), &tight, Grouping::Packed, &mut view).unwrap_err();
        prop_assert_eq!(error.kind(), "resident_over_budget");
        let budget = budget_for(&program, share);
        let plan = groups(&program.dag(), &budget, Grouping::Packed, &mut view).unwrap();
        let found: Vec<_> = plan.iter().map(|group| ids(group.waves)).collect();
        prop_assert_eq!(Ok(found), plan_groups(&program, &budget, Grouping::Packed).map(|p| p.groups));
    }
}

#[test]
fn larger_programs_are_packed_soundly() {
    let mut random = Random(21);
    for trial in 0..20 {
        let program = random.program(400 + trial, 1, 1000);
        let budget = budget_for(&program, 1 + trial % 3);
        let packed = plan_groups(&program, &budget, Grouping::Packed).unwrap();
        let plain = plan_groups(&program, &budget, Grouping::InOrder).unwrap();
        assert_sound(&program, &budget, &packed);
        assert!(packed.groups.len() < plain.groups.len());
    }
}

#[test]
fn groups_in_order_need_layer_scratch_only() {
    let mut scratch = Scratch::<4, 4>::new();
    let program = Random(2).program(4, 40, 10);
    let budget = Budget {
        budget_bytes: 1000,
        ..Budget::default()
    };
    assert!(groups(&program.dag(), &budget, Grouping::InOrder, &mut scratch).is_ok());
    let error = groups(&program.dag(), &budget, Grouping::Packed, &mut scratch).unwrap_err();
    assert_eq!(error.kind(), "scratch_too_small");
}

#[test]
fn waves_of_all_bytes_there_are_take_a_group_each() {
    let huge = Wave {
        frontier_bytes: u64::MAX,
        scratch_bytes: 0,
        output_bytes: 0,
    };
    let program = Program {
        waves: vec![huge, huge, Wave::default()],
        dependencies: vec![],
    };
    let budget = Budget {
        budget_bytes: u64::MAX,
        ..Budget::default()
    };
    let plan = plan_groups(&program, &budget, Grouping::Packed).unwrap();
    assert_sound_sizes(&plan, 2);
}

fn assert_sound_sizes(plan: &crate::support::Grouping, count: usize) {
    assert_eq!(plan.groups.len(), count);
    assert_eq!(plan.summary.peak_group_bytes, u64::MAX);
}

#[test]
fn a_budget_of_nothing_holds_waves_of_nothing() {
    let program = Program {
        waves: vec![Wave::default(); 3],
        dependencies: vec![],
    };
    let plan = plan_groups(&program, &Budget::default(), Grouping::Packed).unwrap();
    assert_eq!((plan.groups.len(), plan.summary.lower_bound), (1, 1));
}

#[test]
fn errors_name_the_wave_the_numbers_and_a_remedy() {
    let wave = Wave {
        frontier_bytes: 90,
        scratch_bytes: 10,
        output_bytes: 0,
    };
    let program = Program {
        waves: vec![Wave::default(), wave],
        dependencies: vec![],
    };
    let budget = Budget {
        resident_bytes: 20,
        budget_bytes: 149,
        readback_bytes: 0,
    };
    let error = plan_groups(&program, &budget, Grouping::Packed).unwrap_err();
    let expected = GroupError::WaveOverBudget {
        wave: WaveId(1),
        required_bytes: 130,
        budget_bytes: 129,
    };
    assert_eq!(error, expected);
    assert_eq!(
        error.to_string(),
        "wave 1 alone takes 130 bytes, and the budget leaves 129 beside resident data; split the \
         wave or raise the budget"
    );
}

#[test]
fn a_group_scratch_in_a_static_plans() {
    static ROOM: std::sync::Mutex<GroupScratch<16, 64>> =
        std::sync::Mutex::new(GroupScratch::new());
    let program = Random(8).program(16, 20, 100);
    let budget = budget_for(&program, 10);
    let mut space = ROOM.lock().unwrap();
    let plan = groups(&program.dag(), &budget, Grouping::Packed, &mut *space).unwrap();
    assert_eq!(plan.order().len(), 16);
    assert_eq!(
        size_of_val(&*space),
        Requirements::for_dag(16, 64).groups_bytes(Grouping::Packed)
    );
}
