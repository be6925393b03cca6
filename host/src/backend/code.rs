//! The waves of code of a program, for compilers of CPU threads and of GPUs.

use crate::backend::CodeReport;
use crate::graph::Graph;
use crate::program::EncodedProgram;
use seawall_core::abi::code::{Instruction, Op};
use seawall_core::abi::program::{EachRecord, NO_REGISTER, Opcode, RegisterRecord, WaveRecord};

/// Iterations of a loop that are expected.
const ROUNDS: u64 = 4;

/// Over how many waves all nodes and edges are expected to be dealt where waves are over lists: the
/// lists of rounds get shorter, and rows end early.
const LISTS: u64 = 4;

/// The reason of a build without a compiler.
#[cfg(not(feature = "jit"))]
pub(super) const NO_COMPILER: &str = "this build has no compiler, the feature jit";

/// The tables that threads run, and whether one runs them alone.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "jit"),
    expect(dead_code, reason = "only compilers read them")
)]
pub(super) struct CodeTables<'t> {
    pub(super) program: &'t EncodedProgram,
    /// Those of the program, or with other places.
    pub(super) registers: &'t [RegisterRecord],
    pub(super) is_alone: bool,
}

impl<'t> CodeTables<'t> {
    pub(super) fn of(program: &'t EncodedProgram, is_alone: bool) -> Self {
        let registers = &program.registers;
        Self {
            program,
            registers,
            is_alone,
        }
    }

    #[cfg(feature = "jit")]
    pub(super) fn for_compiler(&self) -> seawall_jit::Tables<'t> {
        seawall_jit::Tables {
            nodes: self.program.nodes,
            registers: self.registers,
            code: &self.program.code,
            is_alone: self.is_alone,
        }
    }
}

#[cfg(feature = "jit")]
pub(super) fn asked(wave: &WaveRecord) -> seawall_jit::CodeWave {
    seawall_jit::CodeWave {
        record: EachRecord::from_parameters(wave.parameters),
        is_listed: wave.sources[0] != NO_REGISTER,
    }
}

/// The function of a GPU's kernel that runs the waves of code of programs, each with the number of
/// its first instruction in the kernel's table; or the reason for which there is none.
#[cfg(feature = "jit")]
pub(super) fn ptx<'t>(
    programs: impl IntoIterator<Item = (CodeTables<'t>, u32)>,
) -> Result<String, String> {
    let mut linked = seawall_jit::ptx::Linked::default();
    for (tables, first_code) in programs {
        let waves = code_waves(tables.program);
        let waves: Vec<_> = waves.iter().map(|(_, wave)| asked(wave)).collect();
        let added = linked.add(&tables.for_compiler(), first_code, &waves);
        added.map_err(|error| error.to_string())?;
    }
    Ok(linked.finish())
}

/// [`ptx`] without a compiler.
#[cfg(not(feature = "jit"))]
pub(super) fn ptx<'t>(
    _: impl IntoIterator<Item = (CodeTables<'t>, u32)>,
) -> Result<String, String> {
    Err(NO_COMPILER.to_owned())
}

/// The waves that run some code, with their places in the table.
pub(super) fn code_waves(program: &EncodedProgram) -> Vec<(usize, WaveRecord)> {
    let waves = program.waves.iter().copied().enumerate();
    let runs_code = |wave: &WaveRecord| {
        let record = EachRecord::from_parameters(wave.parameters);
        wave.opcode == Opcode::Each as u32 && record.instructions > 0
    };
    waves.filter(|(_, wave)| runs_code(wave)).collect()
}

/// Waves of a program, with their code from instruction `first` of the table on.
pub(super) fn with_code_from(first: u32, waves: &[WaveRecord]) -> Vec<WaveRecord> {
    let moved = |wave: &WaveRecord| {
        let mut wave = *wave;
        if wave.opcode == Opcode::Each as u32 {
            let record = EachRecord::from_parameters(wave.parameters);
            let record = EachRecord {
                first: record.first.saturating_add(first),
                ..record
            };
            wave.parameters = record.to_parameters();
        }
        wave
    };
    waves.iter().map(moved).collect()
}

/// The report of programs whose code is interpreted, for this reason; `None` if they have none.
pub(super) fn interpreted<'p>(
    programs: impl IntoIterator<Item = &'p EncodedProgram>,
    reason: impl ToString,
) -> Option<CodeReport> {
    let waves: usize = programs.into_iter().map(|one| code_waves(one).len()).sum();
    let report = CodeReport {
        waves: u32::try_from(waves).unwrap_or(u32::MAX),
        ..CodeReport::interpreted(reason)
    };
    (waves > 0).then_some(report)
}

/// Instructions that a run of `program` on `graph` is expected to take.
pub(super) fn steps(program: &EncodedProgram, graph: &Graph) -> u64 {
    let waves = code_waves(program);
    waves.iter().fold(0_u64, |sum, (place, wave)| {
        sum.saturating_add(steps_of(program, graph, *place, wave))
    })
}

/// Instructions that a run is expected to take in a wave: all items, and all edges where it has a
/// part for them, in some iterations if it is in a loop; a share of them if its items are a list.
fn steps_of(program: &EncodedProgram, graph: &Graph, place: usize, wave: &WaveRecord) -> u64 {
    let record = EachRecord::from_parameters(wave.parameters);
    let first = record.first as usize;
    let code = program
        .code
        .get(first..first.saturating_add(record.instructions as usize));
    let code = code.unwrap_or_default();
    let of_edges =
        |at: &Instruction| (at.op == Op::Edges as u32).then_some(u64::from(at.second) + 1);
    let of_edges: u64 = code.iter().filter_map(of_edges).sum();
    let of_items = (code.len() as u64).saturating_sub(of_edges);
    let mut top = program.groups.iter().take(program.top_groups as usize);
    let is_top = top.any(|group| {
        let first = group.first_wave as usize;
        (first..first.saturating_add(group.waves as usize)).contains(&place)
    });
    let items = u64::from(record.items).saturating_mul(of_items);
    let edges = u64::from(graph.edges()).saturating_mul(of_edges);
    let all = items.saturating_add(edges);
    match (wave.sources[0] == NO_REGISTER, is_top) {
        (true, true) => all,
        (true, false) => all.saturating_mul(ROUNDS),
        (false, _) => all / LISTS,
    }
}
