//! Promises of a plan, checked word by word.
//!
//! Layers are recomputed by relaxation; groups and arenas are checked against the definitions of
//! their figures in 128-bit sums. This is quadratic or worse, which is fine for 40 waves.

use seawall_core::error::{ArenaError, GroupError, LayerError, ScratchField, ScratchTooSmall};
use seawall_core::plan::{
    Arena, ArenaOptions, Budget, Dag, Groups, Layers, Offsets, Requirements, Results, Strategy,
    Wave,
};
use seawall_core::scratch::{
    ArenaScratchView, DEVICES_WORDS, DevicesScratchView, ExecutionScratchView, GroupScratchView,
    ScratchView,
};

use crate::draw::{Program, fused};

/// Working memory on the heap, full of a pattern that no planner may rely on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffers {
    layer_words: Vec<u32>,
    dependency_words: Vec<u32>,
    pack_words: Vec<u32>,
    pack_bytes: Vec<u64>,
    arena_words: Vec<u32>,
    arena_offsets: Vec<u64>,
}

impl Buffers {
    /// Allocates exactly the requirements, with each byte `pattern`.
    #[must_use]
    pub fn new(needs: Requirements, pattern: u8) -> Self {
        let word = u32::from_ne_bytes([pattern; 4]);
        let long = u64::from_ne_bytes([pattern; 8]);
        Self {
            layer_words: vec![word; needs.layer_words],
            dependency_words: vec![word; needs.dependency_words],
            pack_words: vec![word; needs.pack_words],
            pack_bytes: vec![long; needs.pack_bytes],
            arena_words: vec![word; needs.arena_words],
            arena_offsets: vec![long; needs.arena_offsets],
        }
    }

    /// Requirements for a program with one buffer an entry short, and that buffer, if possible.
    #[must_use]
    pub fn short(program: &Program, which: u8) -> Option<(Requirements, ScratchField)> {
        let (waves, dependencies) = (program.waves.len(), program.dependencies.len());
        let needs = Requirements::for_dag(waves, dependencies);
        let less = Requirements::for_dag(waves.checked_sub(1)?, dependencies);
        let layer_words = less.layer_words;
        let pack_words = less.pack_words;
        Some(match which % 6 {
            0 => (
                Requirements {
                    layer_words,
                    ..needs
                },
                ScratchField::Waves,
            ),
            1 => {
                let dependency_words = dependencies.checked_sub(1)?;
                (
                    Requirements {
                        dependency_words,
                        ..needs
                    },
                    ScratchField::Dependencies,
                )
            }
            2 => (
                Requirements {
                    pack_words,
                    ..needs
                },
                ScratchField::PackWords,
            ),
            3 => (
                Requirements {
                    pack_bytes: less.pack_bytes,
                    ..needs
                },
                ScratchField::PackBytes,
            ),
            4 => (
                Requirements {
                    arena_words: less.arena_words,
                    ..needs
                },
                ScratchField::ArenaWords,
            ),
            _ => {
                let arena_offsets = less.arena_offsets;
                (
                    Requirements {
                        arena_offsets,
                        ..needs
                    },
                    ScratchField::ArenaOffsets,
                )
            }
        })
    }

    /// The layers' part.
    pub fn layers(&mut self) -> ScratchView<'_> {
        ScratchView::new(&mut self.layer_words, &mut self.dependency_words)
    }

    /// The groups' part and the arena's.
    pub fn split(&mut self) -> (GroupScratchView<'_>, ArenaScratchView<'_>) {
        let layers = ScratchView::new(&mut self.layer_words, &mut self.dependency_words);
        let groups = GroupScratchView::new(layers, &mut self.pack_words, &mut self.pack_bytes);
        let arena = ArenaScratchView::new(&mut self.arena_words, &mut self.arena_offsets);
        (groups, arena)
    }

    /// Both, as an execution takes them.
    pub fn execution(&mut self) -> ExecutionScratchView<'_> {
        let (groups, arena) = self.split();
        ExecutionScratchView::new(groups, arena)
    }
}

/// Working memory beside them for a plan of several devices, full of a pattern.
#[derive(Clone, Debug)]
pub struct Devices {
    waves: Vec<Wave>,
    words: Vec<u32>,
    bytes: Vec<u64>,
    dependencies: Vec<u32>,
}

impl Devices {
    /// Allocates exactly what `dag` needs.
    #[must_use]
    pub fn of(dag: &Dag<'_>) -> Self {
        let count = dag.waves.len();
        let wave = Wave {
            frontier_bytes: u64::MAX,
            scratch_bytes: u64::MAX,
            output_bytes: u64::MAX,
        };
        Self {
            waves: vec![wave; count],
            words: vec![u32::MAX; DEVICES_WORDS * count],
            bytes: vec![u64::MAX; count],
            dependencies: vec![u32::MAX; dag.dependencies.len()],
        }
    }

    /// Their space.
    pub fn view(&mut self) -> DevicesScratchView<'_> {
        DevicesScratchView::new(
            &mut self.waves,
            &mut self.words,
            &mut self.bytes,
            &mut self.dependencies,
        )
    }
}

/// The layer of each wave by plain relaxation, or the error that must be reported; of a cycle only
/// the number of waves that can never start is predicted.
///
/// # Errors
/// The expected answer of the planner.
pub fn baseline_layers(program: &Program) -> Result<Vec<usize>, LayerError> {
    let waves = program.waves.len() as u64;
    for dependency in &program.dependencies {
        let (before, after) = (u64::from(dependency.before), u64::from(dependency.after));
        if before >= waves || after >= waves {
            return Err(LayerError::InvalidWave {
                waves,
                before,
                after,
            });
        }
        if before == after {
            return Err(LayerError::SelfDependency { wave: before });
        }
    }
    let mut layer = vec![0; program.waves.len()];
    for _ in 0..=program.waves.len() {
        let mut changed = false;
        for dependency in &program.dependencies {
            let least = layer[dependency.before as usize] + 1;
            let after = &mut layer[dependency.after as usize];
            changed |= *after < least;
            *after = least.max(*after);
        }
        if !changed {
            return Ok(layer);
        }
    }
    let stuck = (0..program.waves.len()).filter(|wave| is_stuck(program, *wave));
    let unscheduled = stuck.count() as u64;
    let wave = seawall_core::plan::WaveId(u32::MAX);
    Err(LayerError::Cycle { unscheduled, wave })
}

/// Waves from which `wave` can be reached over at least one dependency.
fn ancestors(program: &Program, wave: usize) -> Vec<bool> {
    let mut found = vec![false; program.waves.len()];
    loop {
        let mut grew = false;
        for dependency in &program.dependencies {
            let (before, after) = (dependency.before as usize, dependency.after as usize);
            if (after == wave || found[after]) && !found[before] {
                found[before] = true;
                grew = true;
            }
        }
        if !grew {
            return found;
        }
    }
}

fn is_on_cycle(program: &Program, wave: usize) -> bool {
    ancestors(program, wave)[wave]
}

fn is_stuck(program: &Program, wave: usize) -> bool {
    let before = ancestors(program, wave);
    let mut all = (0..program.waves.len()).filter(|other| before[*other] || *other == wave);
    all.any(|other| is_on_cycle(program, other))
}

/// Compares an answer with the oracle's.
pub fn check_layers(program: &Program, found: Result<Layers<'_>, LayerError>) {
    match (baseline_layers(program), found) {
        (Ok(depth), Ok(layers)) => {
            let count = depth.iter().max().map_or(0, |deepest| deepest + 1);
            assert_eq!(layers.len(), count);
            for (index, layer) in layers.iter().enumerate() {
                let expected = (0u32..).zip(&depth).filter(|(_, depth)| **depth == index);
                assert!(layer.iter().map(|id| id.0).eq(expected.map(|(id, _)| id)));
            }
        }
        (
            Err(LayerError::Cycle { unscheduled, .. }),
            Err(LayerError::Cycle {
                unscheduled: reported,
                wave,
            }),
        ) => {
            assert_eq!(reported, unscheduled);
            assert!(is_on_cycle(program, wave.index()), "{wave} is on no circle");
        }
        (Err(expected), Err(found)) => assert_eq!(found, expected),
        (expected, found) => panic!("{found:?} instead of {expected:?}"),
    }
}

/// Checks groups, or the reason why there are none, against the program.
pub fn check_groups(
    program: &Program,
    budget: &Budget,
    strategy: Strategy,
    found: &Result<Groups<'_>, GroupError>,
) {
    let depth = match baseline_layers(program) {
        Ok(depth) => depth,
        Err(expected) => {
            let Err(GroupError::Layers(error)) = found else {
                panic!("{found:?} instead of {expected}");
            };
            assert_eq!(error.kind(), expected.kind());
            return;
        }
    };
    let Some(space) = budget.budget_bytes.checked_sub(budget.resident_bytes) else {
        assert!(matches!(found, Err(GroupError::ResidentOverBudget { .. })));
        return;
    };
    let mut order: Vec<usize> = (0..program.waves.len()).collect();
    order.sort_by_key(|wave| (depth[*wave], *wave));
    for wave in order {
        let bytes = fused(&program.waves[wave]);
        if bytes > u128::from(u64::MAX) {
            assert!(
                matches!(found, Err(GroupError::Overflow { .. })),
                "{found:?}"
            );
            return;
        }
        if bytes > u128::from(space) {
            let Err(GroupError::WaveOverBudget { wave: reported, .. }) = found else {
                panic!("{found:?}, but wave {wave} is too large");
            };
            assert_eq!(reported.index(), wave);
            return;
        }
    }
    let groups = found.as_ref().expect("nothing is in the way of a plan");
    check_packing(program, space, groups);
    check_figures(program, budget, strategy, groups, &depth);
}

/// Each wave once, dependencies between groups, every group within its budget.
fn check_packing(program: &Program, space: u64, groups: &Groups<'_>) {
    let mut of = vec![usize::MAX; program.waves.len()];
    for (index, group) in groups.iter().enumerate() {
        assert!(!group.waves.is_empty());
        assert!(group.waves.is_sorted_by(|a, b| a < b));
        let sum: u128 = group
            .waves
            .iter()
            .map(|id| fused(&program.waves[id.index()]))
            .sum();
        assert!(sum <= u128::from(space));
        assert_eq!(u128::from(group.fused_bytes), sum);
        for id in group.waves {
            assert_eq!(of[id.index()], usize::MAX, "wave {id} is there twice");
            of[id.index()] = index;
        }
    }
    assert!(!of.contains(&usize::MAX), "a wave is missing");
    for dependency in &program.dependencies {
        assert!(of[dependency.before as usize] < of[dependency.after as usize]);
    }
}

fn check_figures(
    program: &Program,
    budget: &Budget,
    strategy: Strategy,
    groups: &Groups<'_>,
    depth: &[usize],
) {
    let summary = groups.summary();
    let layers = depth.iter().max().map_or(0, |deepest| deepest + 1);
    assert_eq!(groups.layers(), layers);
    let space = u128::from(budget.budget_bytes - budget.resident_bytes);
    let all: u128 = program.waves.iter().map(fused).sum();
    let by_bytes = if all == 0 { 0 } else { all.div_ceil(space) };
    assert_eq!(
        u128::from(summary.lower_bound),
        by_bytes.max(layers as u128)
    );
    assert!(summary.lower_bound <= groups.len() as u64, "{strategy:?}");
    assert_eq!(
        summary.global_barriers,
        (groups.len() as u64).saturating_sub(1)
    );
    let peak = |of: fn(&seawall_core::plan::Group<'_>) -> u64| {
        groups.iter().map(|group| of(&group)).max().unwrap_or(0)
    };
    assert_eq!(
        summary.peak_frontier_bytes,
        peak(|group| group.frontier_bytes)
    );
    assert_eq!(
        summary.peak_scratch_bytes,
        peak(|group| group.scratch_bytes)
    );
    assert_eq!(summary.peak_output_bytes, peak(|group| group.output_bytes));
    assert_eq!(summary.peak_group_bytes, peak(|group| group.fused_bytes));
    assert_eq!(
        summary.max_group_width,
        peak(|group| group.waves.len() as u64)
    );
    let readback = budget.readback_bytes.max(summary.peak_output_bytes);
    assert_eq!(summary.amortized_readback_bytes, readback);
}

/// A region with its lifetime in groups.
struct Region {
    start: u64,
    bytes: u128,
    first: usize,
    last: usize,
}

/// Checks an arena, or the reason why there is none, against the groups.
pub fn check_arena(
    program: &Program,
    groups: &Groups<'_>,
    options: &ArenaOptions<'_>,
    found: &Result<Arena<'_>, ArenaError>,
) {
    if !options.alignment_bytes.is_power_of_two() {
        assert!(matches!(found, Err(ArenaError::InvalidAlignment { .. })));
        return;
    }
    let regions = regions(program, groups, options, found.as_ref().ok());
    let all: u128 = regions.iter().map(|region| region.bytes).sum();
    if all > u128::from(u64::MAX) {
        assert!(
            matches!(found, Err(ArenaError::Overflow { .. })),
            "{found:?}"
        );
        return;
    }
    let arena = found.as_ref().expect("nothing is in the way of an arena");
    let live = |group| {
        regions
            .iter()
            .filter(move |r| r.first <= group && group <= r.last)
    };
    let most = (0..groups.len()).map(|group| live(group).map(|r| r.bytes).sum::<u128>());
    assert_eq!(u128::from(arena.lower_bound()), most.max().unwrap_or(0));
    assert!(arena.bytes() >= arena.lower_bound());
    for (index, a) in regions.iter().enumerate().filter(|(_, a)| a.bytes > 0) {
        assert_eq!(a.start % options.alignment_bytes, 0);
        assert!(u128::from(a.start) + a.bytes <= u128::from(arena.bytes()));
        for b in regions.iter().skip(index + 1).filter(|b| b.bytes > 0) {
            let together = a.first <= b.last && b.first <= a.last;
            let apart = u128::from(a.start) + a.bytes <= u128::from(b.start)
                || u128::from(b.start) + b.bytes <= u128::from(a.start);
            assert!(!together || apart, "two live regions overlap");
        }
    }
}

fn regions(
    program: &Program,
    groups: &Groups<'_>,
    options: &ArenaOptions<'_>,
    arena: Option<&Arena<'_>>,
) -> Vec<Region> {
    let mut of = vec![0; program.waves.len()];
    for (index, group) in groups.iter().enumerate() {
        group.waves.iter().for_each(|id| of[id.index()] = index);
    }
    let aligned = |bytes: u64| u128::from(bytes).next_multiple_of(options.alignment_bytes.into());
    let mut regions = Vec::new();
    for ((id, wave), &first) in (0u32..).zip(&program.waves).zip(&of) {
        let users = program.dependencies.iter().filter(|d| d.before == id);
        let last_use = users.map(|d| of[d.after as usize]).max();
        let kept = match options.results {
            Results::None => false,
            Results::Sinks => last_use.is_none(),
            Results::All => true,
            Results::Bits(words) => {
                let word = words.get(id as usize / 32).copied().unwrap_or(0);
                word >> (id % 32) & 1 == 1
            }
        };
        let last = if kept {
            groups.len() - 1
        } else {
            last_use.unwrap_or(first)
        };
        let at = arena.and_then(|arena| arena.get(seawall_core::plan::WaveId(id)));
        let Offsets {
            frontier,
            scratch,
            output,
        } = at.unwrap_or_default();
        for (start, bytes, last) in [
            (frontier, wave.frontier_bytes, first),
            (scratch, wave.scratch_bytes, first),
            (output, wave.output_bytes, last),
        ] {
            regions.push(Region {
                start,
                bytes: aligned(bytes),
                first,
                last,
            });
        }
    }
    regions
}

/// Returns whether an error is exactly "this buffer is one entry short".
pub fn check_short(error: ScratchTooSmall, field: ScratchField, program: &Program) {
    let needed = match field {
        ScratchField::Dependencies => program.dependencies.len(),
        _ => program.waves.len(),
    } as u64;
    let expected = ScratchTooSmall {
        field,
        needed,
        capacity: needed - 1,
    };
    assert_eq!(error, expected);
}
