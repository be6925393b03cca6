//! Layers against the fixed point, for any order of the records.

use crate::oracle::{cycles, longest_path};
use crate::support::*;
use proptest::prelude::*;
use seawall_core::error::{LayerError, ScratchField};
use seawall_core::plan::{
    Dependency, Requirements, Shape, Wave, WaveId, check_records, layers, layers_of,
};
use seawall_core::scratch::{Scratch, ScratchView};

fn dependency((before, after): (u32, u32)) -> Dependency {
    Dependency { before, after }
}

fn plan_shape(waves: usize, dependencies: &[Dependency]) -> Result<Vec<Vec<u32>>, LayerError> {
    let mut buffers = Buffers::sized(Requirements::for_dag(waves, dependencies.len()));
    let shape = Shape {
        waves: waves as u64,
        dependencies,
    };
    Ok(layers_of(shape, buffers.layers())?
        .iter()
        .map(ids)
        .collect())
}

proptest! {
    #[test]
    fn layers_are_the_longest_paths(program in any_program(60)) {
        let expected = longest_path::layers(program.waves.len(), &program.dependencies);
        prop_assert_eq!(plan_layers(&program).ok(), expected);
    }

    #[test]
    fn the_order_of_records_changes_nothing(program in any_program(40), by_before in any::<bool>()) {
        let expected = plan_layers(&program);
        let mut sorted = program.clone();
        sorted.dependencies.sort_by_key(|d| if by_before { (d.before, d.after) } else { (d.after, d.before) });
        prop_assert_eq!(plan_layers(&sorted), expected);
    }

    #[test]
    fn ids_about_the_number_of_waves_are_judged_alike(
        waves in 0_u32..6,
        mut records in proptest::collection::vec((0_u32..8, 0_u32..8), 0..12),
        in_order in any::<bool>(),
    ) {
        if in_order {
            records.sort_by_key(|(_, after)| *after);
            records.iter_mut().for_each(|(before, after)| *before = (*before).min(after.saturating_sub(1)));
        }
        let dependencies: Vec<_> = records.iter().copied().map(dependency).collect();
        let wide = records.iter().map(|(before, after)| (u64::from(*before), u64::from(*after)));
        let planned = plan_shape(waves as usize, &dependencies);
        match check_records(u64::from(waves), wide) {
            Err(problem) => prop_assert_eq!(planned, Err(problem)),
            Ok(()) => prop_assert_eq!(planned.ok(), longest_path::layers(waves as usize, &dependencies)),
        }
    }

    #[test]
    fn programs_in_program_order_take_the_same_layers(program in any_program(40), by_before in any::<bool>()) {
        // Renamed so that ids ascend along every dependency: the streaming pass applies.
        let depths = longest_path::depths(program.waves.len(), &program.dependencies).unwrap();
        let mut order: Vec<usize> = (0..depths.len()).collect();
        order.sort_by_key(|wave| depths[*wave]);
        let mut name = vec![0u32; order.len()];
        for (new, old) in order.iter().enumerate() {
            name[*old] = new as u32;
        }
        let renamed = |d: &Dependency| dependency((name[d.before as usize], name[d.after as usize]));
        let mut records: Vec<_> = program.dependencies.iter().map(renamed).collect();
        records.sort_by_key(|d| if by_before { d.before } else { d.after });
        let expected = longest_path::layers(depths.len(), &records);
        prop_assert_eq!(plan_shape(depths.len(), &records).ok(), expected.clone());
        records.reverse();
        prop_assert_eq!(plan_shape(depths.len(), &records).ok(), expected);
    }

    #[test]
    fn duplicates_change_nothing(program in any_program(30)) {
        let mut doubled = program.clone();
        doubled.dependencies.extend_from_within(..);
        prop_assert_eq!(plan_layers(&doubled), plan_layers(&program));
    }

    #[test]
    fn cycles_are_counted_and_named((waves, records) in any_shape(20)) {
        match plan_shape(waves, &records) {
            Ok(found) => prop_assert_eq!(Some(found), longest_path::layers(waves, &records)),
            Err(LayerError::Cycle { unscheduled, wave }) => {
                prop_assert_eq!(unscheduled as usize, cycles::unscheduled(waves, &records));
                prop_assert!(cycles::is_on_cycle(waves, &records, wave.0));
                let reversed: Vec<_> = records.iter().rev().copied().collect();
                prop_assert_eq!(
                    plan_shape(waves, &reversed).unwrap_err(),
                    LayerError::Cycle { unscheduled, wave }
                );
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn a_scratch_is_reusable_after_any_error(
        program in any_program(20),
        (waves, records) in any_shape(20),
    ) {
        let needs = Requirements::for_dag(20, 60);
        let mut buffers = Buffers::sized(needs);
        let shape = Shape { waves: waves as u64, dependencies: &records };
        let mut view = buffers.layers();
        let _first = layers_of(shape, &mut view).is_ok();
        let again = layers(&program.dag(), &mut view).unwrap();
        let found: Vec<_> = again.iter().map(ids).collect();
        prop_assert_eq!(Ok(found), plan_layers(&program));
    }

    #[test]
    fn one_element_too_few_is_refused_before_anything_is_written(
        program in any_program(20),
        waves_short in any::<bool>(),
    ) {
        let mut needs = Requirements::for_dag(program.waves.len(), program.dependencies.len());
        let waves_short = waves_short || program.dependencies.is_empty();
        if waves_short { needs.layer_words -= 1 } else { needs.dependency_words -= 1 }
        let mut buffers = Buffers::sized(needs);
        let error = layers(&program.dag(), buffers.layers()).unwrap_err();
        let LayerError::ScratchTooSmall(small) = error else { panic!("{error}") };
        let field = if waves_short { ScratchField::Waves } else { ScratchField::Dependencies };
        prop_assert_eq!((small.field, small.capacity), (field, small.needed - 1));
        prop_assert!(buffers.layer_words.iter().all(|word| *word == 0xAAAA_AAAA));
        prop_assert!(buffers.dependency_words.iter().all(|word| *word == 0xAAAA_AAAA));
    }
}

#[test]
fn every_list_of_three_records_over_four_waves_is_planned() {
    let pairs: Vec<_> = (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).collect();
    let pairs: Vec<_> = pairs
        .into_iter()
        .filter(|(a, b)| a != b)
        .map(dependency)
        .collect();
    for a in &pairs {
        for b in &pairs {
            for c in &pairs {
                let records = [*a, *b, *c];
                assert_eq!(
                    plan_shape(4, &records).ok(),
                    longest_path::layers(4, &records)
                );
            }
        }
    }
}

#[test]
fn records_are_validated_before_capacity_and_cycles() {
    let mut scratch = Scratch::<1, 0>::new();
    let records = [(0, 1), (1, 0), (2, 2)].map(dependency);
    let shape = Shape {
        waves: 3,
        dependencies: &records,
    };
    let error = layers_of(shape, &mut scratch).unwrap_err();
    assert_eq!(error, LayerError::SelfDependency { wave: 2 });
    let error = layers_of(
        Shape {
            dependencies: &records[..2],
            ..shape
        },
        &mut scratch,
    )
    .unwrap_err();
    assert_eq!(error.kind(), "scratch_too_small");
}

#[test]
fn more_waves_than_ids_are_refused() {
    let mut scratch = Scratch::<4, 4>::new();
    let shape = Shape {
        waves: 1 << 40,
        dependencies: &[],
    };
    let error = layers_of(shape, &mut scratch).unwrap_err();
    assert_eq!(error.kind(), "scratch_too_small");
    assert!(error.to_string().contains("Requirements::for_dag"));
}

#[test]
fn wide_records_are_checked_like_narrow_ones() {
    let error = check_records(3, [(0, 1), (7, 7), (1, 1)]).unwrap_err();
    assert_eq!(
        error,
        LayerError::InvalidWave {
            waves: 3,
            before: 7,
            after: 7
        }
    );
    assert_eq!(
        check_records(u64::MAX, [(5, 5)]).unwrap_err().kind(),
        "self_dependency"
    );
}

#[test]
fn a_scratch_in_a_static_plans() {
    static ROOM: std::sync::Mutex<Scratch<64, 128>> = std::sync::Mutex::new(Scratch::new());
    let records: Vec<_> = (0..63).map(|wave| dependency((wave + 1, wave))).collect();
    let mut space = ROOM.lock().unwrap();
    let plan = layers_of(
        Shape {
            waves: 64,
            dependencies: &records,
        },
        &mut *space,
    )
    .unwrap();
    assert_eq!((plan.len(), plan.global_barriers()), (64, 63));
    assert_eq!(plan.get(0), Some(&[WaveId(63)][..]));
    assert_eq!(plan.get(64), None);
}

#[test]
fn an_empty_program_is_an_empty_plan() {
    let mut scratch = Scratch::<0, 0>::new();
    let plan = layers_of(
        Shape {
            waves: 0,
            dependencies: &[],
        },
        &mut scratch,
    )
    .unwrap();
    assert!(plan.is_empty() && plan.order().is_empty() && plan.iter().len() == 0);
    assert_eq!(plan.global_barriers(), 0);
}

#[test]
fn scratch_takes_sixteen_bytes_a_wave_and_four_a_dependency() {
    for (waves, dependencies) in [(1, 0), (64, 128), (1_000_000, 4_000_000)] {
        let bytes = Requirements::for_dag(waves, dependencies).layers_bytes();
        assert!(bytes <= 16 * waves + 4 * dependencies);
    }
    let most = Requirements::for_dag(usize::MAX, usize::MAX);
    assert_eq!(
        (most.layer_words, most.layers_bytes()),
        (usize::MAX, usize::MAX)
    );
}

#[test]
fn a_million_waves_in_a_ring_are_refused_without_recursion() {
    let count = 1_000_000u32;
    let records: Vec<_> = (0..count)
        .map(|wave| dependency((wave, (wave + 1) % count)))
        .collect();
    let error = plan_shape(count as usize, &records).unwrap_err();
    assert_eq!(
        error,
        LayerError::Cycle {
            unscheduled: 1_000_000,
            wave: WaveId(0)
        }
    );
}

#[test]
fn more_records_than_caches_hold_change_nothing() {
    // Duplicates are legal, so the same program makes a list of any length.
    let once: Vec<_> = (0..1_000u32)
        .map(|step| dependency((step * 7 % 1_001, step * 7 % 1_001 / 2 + 1_001)))
        .chain((1_001..1_501).map(|wave| dependency((wave + 1, wave))))
        .collect();
    let mut often = once.repeat(400);
    let expected = plan_shape(1_502, &once);
    assert!(expected.as_ref().is_ok_and(|layers| layers.len() > 100));
    assert_eq!(plan_shape(1_502, &often), expected);
    often.extend([dependency((3, 3)), dependency((2_000, 3))]);
    let error = plan_shape(1_502, &often).unwrap_err();
    assert_eq!(error, LayerError::SelfDependency { wave: 3 });
}

/// Records whose ids ascend, in random order, as many as the sorting pass requires.
fn ascending_shape() -> impl Strategy<Value = (usize, Vec<Dependency>)> {
    (2_u32..400, 4_096_usize..5_000).prop_flat_map(|(waves, records)| {
        let record = (1..waves).prop_flat_map(|after| (0..after, Just(after)));
        let records = proptest::collection::vec(record.prop_map(dependency), records);
        (Just(waves as usize), records)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn ascending_ids_in_any_order_take_the_same_layers((waves, records) in ascending_shape()) {
        let expected = longest_path::layers(waves, &records);
        prop_assert_eq!(plan_shape(waves, &records).ok(), expected);
    }

    #[test]
    fn one_bad_record_among_ascending_ones_is_named(
        (waves, mut records) in ascending_shape(),
        place in 0_usize..4_096,
        bad in (0_u32..500, 0_u32..500),
    ) {
        records[place] = dependency(bad);
        let wide = records.iter().map(|d| (u64::from(d.before), u64::from(d.after)));
        match (plan_shape(waves, &records), check_records(waves as u64, wide)) {
            (found, Err(problem)) => prop_assert_eq!(found, Err(problem)),
            (Err(LayerError::Cycle { wave, .. }), Ok(())) => {
                prop_assert!(cycles::is_on_cycle(waves, &records, wave.0));
            }
            (found, Ok(())) => {
                prop_assert_eq!(found.ok(), longest_path::layers(waves, &records));
            }
        }
    }
}

#[test]
fn records_that_outgrow_lists_change_nothing() {
    // Ids descend, four records per wave: the general path with contiguous successors.
    let waves = 30_000_u32;
    let records: Vec<_> = (0..waves - 3)
        .flat_map(|wave| [1, 2, 3, 3].map(|step| dependency((wave + step, wave))))
        .collect();
    assert!(records.len() > 1 << 16);
    let layers = plan_shape(waves as usize, &records).unwrap();
    assert_eq!(layers.len(), waves as usize - 2);
    assert_eq!(layers[0], [waves - 3, waves - 2, waves - 1]);
    assert_eq!(layers[1], [waves - 4]);
}

#[test]
fn odd_buffers_leave_their_rest_unused() {
    let (mut waves, mut dependencies) = (vec![0; 11], vec![0; 3]);
    let view = ScratchView::new(&mut waves, &mut dependencies);
    assert_eq!((view.waves(), view.dependencies()), (2, 3));
    let wave = Wave {
        frontier_bytes: u64::MAX,
        scratch_bytes: 1,
        output_bytes: 0,
    };
    assert_eq!(wave.fused_bytes(), None);
}
