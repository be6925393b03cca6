//! Programs and scratch of any size for the tests.

use proptest::prelude::{Just, Strategy as _, prop};
use seawall_core::error::{ArenaError, GroupError, LayerError};
use seawall_core::plan::{
    ArenaOptions, Budget, Dag, Dependency, GroupSummary, Offsets, Requirements, Strategy, Wave,
    WaveId, arena, groups, layers,
};
use seawall_core::scratch::{
    ArenaScratchView, ExecutionScratchView, GroupScratchView, ScratchView,
};

/// A program that owns its records.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) waves: Vec<Wave>,
    pub(crate) dependencies: Vec<Dependency>,
}

impl Program {
    pub(crate) fn dag(&self) -> Dag<'_> {
        Dag {
            waves: &self.waves,
            dependencies: &self.dependencies,
        }
    }

    pub(crate) fn fused(&self) -> Vec<u64> {
        self.waves
            .iter()
            .map(|wave| wave.fused_bytes().unwrap())
            .collect()
    }
}

/// Buffers on the heap, by default exactly as large as required.
#[derive(Default)]
pub(crate) struct Buffers {
    pub(crate) layer_words: Vec<u32>,
    pub(crate) dependency_words: Vec<u32>,
    pub(crate) pack_words: Vec<u32>,
    pub(crate) pack_bytes: Vec<u64>,
    pub(crate) arena_words: Vec<u32>,
    pub(crate) arena_offsets: Vec<u64>,
}

impl Buffers {
    pub(crate) fn for_program(program: &Program) -> Self {
        Self::sized(Requirements::for_dag(
            program.waves.len(),
            program.dependencies.len(),
        ))
    }

    /// Filled with a pattern, so that a plan that counts on zeros fails.
    pub(crate) fn sized(needs: Requirements) -> Self {
        Self {
            layer_words: vec![0xAAAA_AAAA; needs.layer_words],
            dependency_words: vec![0xAAAA_AAAA; needs.dependency_words],
            pack_words: vec![0xAAAA_AAAA; needs.pack_words],
            pack_bytes: vec![0xAAAA_AAAA; needs.pack_bytes],
            arena_words: vec![0xAAAA_AAAA; needs.arena_words],
            arena_offsets: vec![0xAAAA_AAAA; needs.arena_offsets],
        }
    }

    pub(crate) fn layers(&mut self) -> ScratchView<'_> {
        ScratchView::new(&mut self.layer_words, &mut self.dependency_words)
    }

    pub(crate) fn groups(&mut self) -> GroupScratchView<'_> {
        self.split().0
    }

    pub(crate) fn split(&mut self) -> (GroupScratchView<'_>, ArenaScratchView<'_>) {
        let layers = ScratchView::new(&mut self.layer_words, &mut self.dependency_words);
        let groups = GroupScratchView::new(layers, &mut self.pack_words, &mut self.pack_bytes);
        (
            groups,
            ArenaScratchView::new(&mut self.arena_words, &mut self.arena_offsets),
        )
    }

    pub(crate) fn execution(&mut self) -> ExecutionScratchView<'_> {
        let (groups, arena) = self.split();
        ExecutionScratchView::new(groups, arena)
    }
}

pub(crate) fn plan_layers(program: &Program) -> Result<Vec<Vec<u32>>, LayerError> {
    let mut buffers = Buffers::for_program(program);
    let layers = layers(&program.dag(), buffers.layers())?;
    Ok(layers.iter().map(ids).collect())
}

pub(crate) fn ids(waves: &[WaveId]) -> Vec<u32> {
    waves.iter().map(|wave| wave.0).collect()
}

/// A grouping without the scratch that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grouping {
    pub(crate) groups: Vec<Vec<u32>>,
    pub(crate) fused_bytes: Vec<u64>,
    pub(crate) summary: GroupSummary,
}

pub(crate) fn plan_groups(
    program: &Program,
    budget: &Budget,
    strategy: Strategy,
) -> Result<Grouping, GroupError> {
    let mut buffers = Buffers::for_program(program);
    let plan = groups(&program.dag(), budget, strategy, buffers.groups())?;
    Ok(Grouping {
        groups: plan.iter().map(|group| ids(group.waves)).collect(),
        fused_bytes: plan.iter().map(|group| group.fused_bytes).collect(),
        summary: *plan.summary(),
    })
}

/// A layout with the lifetimes that it was made for.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) bytes: u64,
    pub(crate) lower_bound: u64,
    pub(crate) offsets: Vec<Offsets>,
    pub(crate) groups: Vec<Vec<u32>>,
}

pub(crate) fn plan_arena(
    program: &Program,
    budget: &Budget,
    strategy: Strategy,
    options: &ArenaOptions<'_>,
) -> Result<Layout, ArenaError> {
    let mut buffers = Buffers::for_program(program);
    let (group_space, arena_space) = buffers.split();
    let dag = program.dag();
    let plan = groups(&dag, budget, strategy, group_space).expect("the program can be planned");
    let arena = arena(&dag, &plan, options, arena_space)?;
    Ok(Layout {
        bytes: arena.bytes(),
        lower_bound: arena.lower_bound(),
        offsets: arena.iter().collect(),
        groups: plan.iter().map(|group| ids(group.waves)).collect(),
    })
}

/// Any list of valid records over up to `most` waves, cycles included.
pub(crate) fn any_shape(
    most: usize,
) -> impl proptest::strategy::Strategy<Value = (usize, Vec<Dependency>)> {
    (1..=most).prop_flat_map(|waves| {
        let record = (0..waves as u32, 0..waves as u32)
            .prop_filter("no self", |(before, after)| before != after)
            .prop_map(|(before, after)| Dependency { before, after });
        let most = if waves == 1 { 0 } else { 3 * waves };
        (Just(waves), prop::collection::vec(record, 0..=most))
    })
}

/// A program without cycles: records in random order, ids in no order.
pub(crate) fn any_program(most: usize) -> impl proptest::strategy::Strategy<Value = Program> {
    let shape = any_shape(most);
    shape.prop_flat_map(|(waves, records)| {
        let order = Just((0..waves as u32).collect::<Vec<_>>()).prop_shuffle();
        let bytes = prop::collection::vec((0u64..600, 0u64..100, 0u64..600), waves);
        (order, bytes, Just(records)).prop_map(|(order, bytes, records)| Program {
            waves: bytes.into_iter().map(wave).collect(),
            dependencies: records
                .into_iter()
                .map(|record| forward(&order, record))
                .collect(),
        })
    })
}

fn wave((frontier_bytes, scratch_bytes, output_bytes): (u64, u64, u64)) -> Wave {
    Wave {
        frontier_bytes,
        scratch_bytes,
        output_bytes,
    }
}

/// The record, turned so that it obeys an order of the ids.
fn forward(order: &[u32], record: Dependency) -> Dependency {
    let (low, high) = (
        record.before.min(record.after),
        record.before.max(record.after),
    );
    Dependency {
        before: order[low as usize],
        after: order[high as usize],
    }
}

/// Repeatable random numbers for counted trials.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    /// A random program: each pair of ids depends with the same chance.
    pub(crate) fn program(&mut self, waves: u64, percent: u64, most_bytes: u64) -> Program {
        let pairs = (0..waves as u32).flat_map(|a| (a + 1..waves as u32).map(move |b| (a, b)));
        let dependencies = pairs
            .filter(|_| self.next() % 100 < percent)
            .map(|(before, after)| Dependency { before, after })
            .collect();
        Program {
            waves: (0..waves).map(|_| self.wave(most_bytes)).collect(),
            dependencies,
        }
    }

    pub(crate) fn wave(&mut self, most: u64) -> Wave {
        wave((
            self.within(0, most),
            self.within(0, most / 4),
            self.within(0, most),
        ))
    }

    /// A program whose waves depend on waves of the layer before only.
    pub(crate) fn layered(&mut self, layers: u64, most_width: u64, most_bytes: u64) -> Program {
        let mut program = Program {
            waves: Vec::new(),
            dependencies: Vec::new(),
        };
        let mut previous = 0..0;
        for _ in 0..layers {
            let start = program.waves.len() as u32;
            for _ in 0..self.within(1, most_width) {
                let after = program.waves.len() as u32;
                program.waves.push(self.wave(most_bytes));
                self.link(&mut program, previous.clone(), after);
            }
            previous = start..program.waves.len() as u32;
        }
        program
    }

    fn link(&mut self, program: &mut Program, previous: std::ops::Range<u32>, after: u32) {
        if previous.is_empty() {
            return;
        }
        let sure = self.within(u64::from(previous.start), u64::from(previous.end) - 1) as u32;
        for before in previous {
            if before == sure || self.next().is_multiple_of(3) {
                program.dependencies.push(Dependency { before, after });
            }
        }
    }

    /// A group budget between the largest wave and all waves.
    pub(crate) fn budget(&mut self, program: &Program) -> Budget {
        let fused = program.fused();
        let largest = fused.iter().copied().max().unwrap_or(0);
        let budget_bytes = self.within(largest, fused.iter().sum::<u64>().max(largest));
        Budget {
            budget_bytes,
            ..Budget::default()
        }
    }
}
