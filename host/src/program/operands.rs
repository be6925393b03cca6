//! Requirements of operations on their operands, checked when a builder takes a wave.
//!
//! Kernels check lengths once more, for tables that no builder made. Only kernels know lengths that
//! depend on the edges of a graph.

use super::error::ProgramError;
use super::wave::{Does, RegisterSpec, Slot, WaveSpec};
use seawall_core::abi::facts::{Facts, Length, Operand};
use seawall_core::abi::hubs::{HUBS_LEAST, HubLayout};
use seawall_core::abi::program::Opcode;
use seawall_core::abi::rank::TOTALS_WORDS;
use seawall_core::abi::search::{FrontierLayout, bitset_words};
use seawall_core::abi::sequential::{Algorithm, Lengths, SequentialRecord};
use seawall_core::abi::slices::{SliceLayout, map_words};
use seawall_core::abi::sweep::{SWEEP_TOTALS, SweepLayout};
use seawall_core::abi::work::WorkLayout;

/// Sizes of slices of edges, as powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceShape {
    /// Nodes of a slice, at most 2^31: their contributions take four bytes each, and should fit the
    /// cache of the machine.
    pub width_log2: u32,
    /// Rows that are counted together, from 2^5 to 2^20. Any number makes the same slices; one of
    /// about 2^13 keeps both the scan of the parts and each part short.
    pub part_log2: u32,
}

impl SliceShape {
    /// Rows in slices of a graph of `nodes` nodes; `None` for invalid sizes, and for more rows than
    /// words can count.
    #[must_use]
    pub fn rows(self, nodes: u32) -> Option<u32> {
        self.layout(nodes).map(SliceLayout::rows)
    }

    pub(super) fn layout(self, nodes: u32) -> Option<SliceLayout> {
        SliceLayout::new(nodes, [self.width_log2, self.part_log2])
    }
}

/// Fewest words of the destination and of each source.
#[derive(Clone, Copy, Default)]
struct Fewest {
    destination: u64,
    sources: [u64; 4],
}

/// The registers of a builder and the nodes that it counts.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) registers: &'a [RegisterSpec],
    pub(super) nodes: u32,
}

/// Refuses registers that are too short and parameters without a meaning.
pub(super) fn check(around: Around<'_>, wave: &WaveSpec) -> Result<(), ProgramError> {
    let fewest = fewest(around, wave);
    around.is_long_enough(wave, wave.destination, fewest.destination)?;
    for (source, words) in wave.sources.into_iter().zip(fewest.sources) {
        around.is_long_enough(wave, source, words)?;
    }
    check_parameters(around, wave)
}

impl Around<'_> {
    fn spec(&self, slot: Option<Slot>) -> Option<&RegisterSpec> {
        self.registers.get(slot?.0 as usize)
    }

    /// Words of a register; 0 for none.
    fn words(&self, slot: Option<Slot>) -> u64 {
        self.spec(slot).map_or(0, |spec| u64::from(spec.words))
    }

    fn least(self, wave: &WaveSpec, length: Length) -> u64 {
        let nodes = u64::from(self.nodes);
        match length {
            Length::Any => 0,
            Length::Words(words) => words.into(),
            Length::Nodes(words) => nodes.saturating_mul(words.into()),
            Length::NodesOf(parameter) => {
                let words = wave.parameters[usize::from(parameter)].max(1);
                nodes.saturating_mul(words.into())
            }
            Length::AsTo => self.words(wave.destination),
            Length::Bits => bitset_words(self.nodes).into(),
            Length::Frontier => FrontierLayout::new(self.nodes).words(),
            Length::Work => WorkLayout::new(self.nodes).words(),
            Length::Hubs => HubLayout::new(self.nodes, HUBS_LEAST).map_or(0, HubLayout::words),
        }
    }

    fn is_long_enough(
        &self,
        wave: &WaveSpec,
        slot: Option<Slot>,
        needed: u64,
    ) -> Result<(), ProgramError> {
        match self.spec(slot) {
            Some(spec) if u64::from(spec.words) < needed => Err(ProgramError::RegisterTooShort {
                wave: wave.name.clone(),
                register: spec.name.to_string(),
                words: spec.words,
                needed,
            }),
            _ => Ok(()),
        }
    }
}

/// The least lengths that `wave` needs.
fn fewest(around: Around<'_>, wave: &WaveSpec) -> Fewest {
    let opcode = match wave.does {
        Does::Ready(opcode) => opcode,
        Does::Own { facts, .. } => return fewest_of_own(&facts, around.words(wave.destination)),
    };
    let Some(least) = opcode.least() else {
        return computed(around, wave, opcode);
    };
    let words = |at: usize| {
        let length = least.get(at).copied().unwrap_or(Length::Any);
        around.least(wave, length)
    };
    Fewest {
        destination: words(Operand::To as usize),
        sources: [words(1), words(2), words(3), words(4)],
    }
}

/// The least lengths that follow from several parameters.
fn computed(around: Around<'_>, wave: &WaveSpec, opcode: Opcode) -> Fewest {
    let nodes = u64::from(around.nodes);
    let (destination, sources) = match opcode {
        // Whether it has sums, or one word per node.
        Opcode::SeedRanks => {
            let per_node = if wave.parameters[0] == 0 { 2 } else { 1 };
            (nodes, [nodes, per_node * nodes, TOTALS_WORDS.into(), nodes])
        }
        Opcode::ResetHubs => {
            let layout = HubLayout::new(around.nodes, wave.parameters[0]);
            (layout.map_or(0, HubLayout::words), [0; 4])
        }
        Opcode::SeedSweep | Opcode::Sweep | Opcode::SweepBack => {
            fewest_of_sweep(around, wave, opcode == Opcode::SeedSweep)
        }
        Opcode::SettleSweep => {
            let list = around.words(wave.sources[1]);
            (nodes, [list * u64::from(SWEEP_TOTALS), 0, 0, 0])
        }
        Opcode::Sequential => fewest_of_sequential(around, wave),
        _ => fewest_of_slices(around, wave, opcode),
    };
    Fewest {
        destination,
        sources,
    }
}

/// The least lengths that a wave of a sweep needs; the wave that `seeds` needs one copy of the
/// sets.
fn fewest_of_sweep(around: Around<'_>, wave: &WaveSpec, seeds: bool) -> (u64, [u64; 4]) {
    let words = u64::from(wave.parameters[0].max(1));
    let sets = u64::from(around.nodes).saturating_mul(words);
    let state = u64::from(SweepLayout::new(around.nodes).words());
    let odd = if seeds { 0 } else { sets };
    (sets, [state, 32 * words * u64::from(SWEEP_TOTALS), odd, 0])
}

/// The least lengths that a sequential wave needs; none for invalid parameters, which it refuses.
fn fewest_of_sequential(around: Around<'_>, wave: &WaveSpec) -> (u64, [u64; 4]) {
    let Some(record) = SequentialRecord::from_parameters(wave.parameters) else {
        return (0, [0; 4]);
    };
    let nodes = u64::from(around.nodes);
    let to = match record.algorithm {
        Algorithm::Eccentricity if record.lengths == Lengths::Whole => 2 * nodes,
        Algorithm::Forest | Algorithm::WidePaths => 2 * nodes,
        Algorithm::Betweenness => 0,
        _ => nodes,
    };
    (to, [record.scratch_words(around.nodes, 0), 0, 0, 0])
}

/// The least lengths that a wave of slices needs.
fn fewest_of_slices(around: Around<'_>, wave: &WaveSpec, opcode: Opcode) -> (u64, [u64; 4]) {
    let nodes = u64::from(around.nodes);
    let (starts, parts) = slice_words(around, wave);
    let map = map_words(around.nodes).into();
    match opcode {
        Opcode::CountSlices => (starts, [parts, 0, 0, 0]),
        Opcode::ScanSlices => (parts, [0; 4]),
        Opcode::PlaceSlices => (starts, [parts, 2, 0, 0]),
        Opcode::CopySlices => (0, [starts, map, 0, 0]),
        Opcode::PickFrequent => (map, [0, 1, 0, 0]),
        Opcode::CopyFrequent => (nodes + around.words(wave.sources[0]), [0; 4]),
        _ => (2 * nodes, [nodes, 0, 2, 0]),
    }
}

/// Words of the row offsets and of the parts of slices by the parameters of `wave`; 0 for
/// parameters that [`check_parameters`] refuses.
fn slice_words(around: Around<'_>, wave: &WaveSpec) -> (u64, u64) {
    let [width_log2, part_log2, ..] = wave.parameters;
    let layout = SliceLayout::new(around.nodes, [width_log2, part_log2]);
    layout.map_or((0, 0), |layout| {
        (layout.start_words().into(), layout.part_words().into())
    })
}

/// The destination of `wave`, if it is longer than the words that the wave writes.
pub(super) fn filled_in_part(around: Around<'_>, wave: &WaveSpec) -> Option<Slot> {
    const WRITE_FEWEST: [Opcode; 7] = [
        Opcode::Parents,
        Opcode::Majority,
        Opcode::Visited,
        Opcode::SeedPeel,
        Opcode::SeedRanks,
        Opcode::CountSlices,
        Opcode::HookReached,
    ];
    let writes_fewest = WRITE_FEWEST.into_iter().any(|opcode| wave.does.is(opcode));
    let needed = fewest(around, wave).destination;
    let is_longer = |slot: &Slot| {
        let spec = around.spec(Some(*slot));
        spec.is_some_and(|spec| u64::from(spec.words) > needed)
    };
    wave.destination.filter(|_| writes_fewest).filter(is_longer)
}

/// Requirements of a wave of another crate: it checks its indices itself, but lanes take its words
/// through joined groups by their number.
fn fewest_of_own(facts: &Facts, to: u64) -> Fewest {
    let to = if facts.word_wise { to } else { 0 };
    Fewest {
        destination: 0,
        sources: [to, to, to, 0],
    }
}

fn check_parameters(around: Around<'_>, wave: &WaveSpec) -> Result<(), ProgramError> {
    let word = wave.parameters[0];
    let Does::Ready(opcode) = wave.does else {
        return Ok(());
    };
    match opcode {
        Opcode::SeedPaths
        | Opcode::StepPaths
        | Opcode::StepPathsFloat
        | Opcode::SeedPathsWide
        | Opcode::StepPathsWide
            if word == 0 =>
        {
            Err(ProgramError::NoWidth {
                wave: wave.name.clone(),
            })
        }
        Opcode::ResetHubs if HubLayout::new(0, word).is_none() => Err(ProgramError::HubSpace {
            user: wave.name.clone(),
            space: word,
        }),
        Opcode::CountSlices | Opcode::ScanSlices | Opcode::PlaceSlices | Opcode::CopySlices => {
            let [width_log2, part_log2, ..] = wave.parameters;
            let shape = SliceShape {
                width_log2,
                part_log2,
            };
            match shape.rows(around.nodes) {
                Some(_) => Ok(()),
                None => Err(shape_error(&wave.name, shape)),
            }
        }
        Opcode::ApplyRanks => check_damping(f32::from_bits(word)),
        Opcode::StepRanks => check_damping(f32::from_bits(word))
            .and_then(|()| check_tolerance(f32::from_bits(wave.parameters[1]))),
        Opcode::SettleRanks => check_tolerance(f32::from_bits(word)),
        _ => Ok(()),
    }
}

/// Refuses a damping that no ranking supports.
///
/// # Errors
/// [`ProgramError::Damping`] outside 0 to below 1.
pub fn check_damping(damping: f32) -> Result<(), ProgramError> {
    if (0.0..1.0).contains(&damping) {
        return Ok(());
    }
    Err(ProgramError::Damping { damping })
}

/// Refuses a total change at which no ranking ends.
///
/// # Errors
/// [`ProgramError::Tolerance`] outside 0 to below 1.
pub fn check_tolerance(tolerance: f32) -> Result<(), ProgramError> {
    if (0.0..1.0).contains(&tolerance) {
        return Ok(());
    }
    Err(ProgramError::Tolerance { tolerance })
}

/// Refuses an invalid shape of slices.
pub(super) fn shape_error(user: &str, shape: SliceShape) -> ProgramError {
    ProgramError::SliceShape {
        user: user.to_owned(),
        width_log2: shape.width_log2,
        part_log2: shape.part_log2,
    }
}
