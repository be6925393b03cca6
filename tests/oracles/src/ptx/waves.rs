//! Waves of code as PTX, run on simulated lanes beside machine code for the CPU, and assembled where
//! there is an assembler.

use super::{Call, Memory, Ptx};
use crate::random::Random;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{
    BackendError, Canceller, DeviceInfo, RunLimits, RunStats, Session, SessionMemory, SessionWork,
};
use seawall::graph::Graph;
use seawall::program::{EncodedProgram, RegisterId};
use seawall_core::abi::code::{Instruction, Kind, NOTHING, Op};
use seawall_core::abi::compiled::EachCall;
use seawall_core::abi::program::{EachRecord, NO_REGISTER, Opcode, Region};
use seawall_jit::ptx::Linked;
use seawall_jit::{CodeWave, Compiled, Tables};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A session of the CPU that also runs each wave of code alone, on drawn memory, by simulated lanes
/// and by machine code. With an assembler in `PTXAS`, it assembles the PTX of each program too.
#[derive(Debug)]
pub struct SessionWithPtx<'g> {
    session: CpuSession<'g>,
    graph: &'g Graph,
    ptxas: Option<PathBuf>,
    random: Random,
    /// The program that was compared last.
    before: Option<EncodedProgram>,
}

impl<'g> SessionWithPtx<'g> {
    /// Opens a session with `graph`, on all threads.
    ///
    /// # Panics
    /// If the machine has no memory for it.
    #[must_use]
    pub fn open(graph: &'g Graph) -> Self {
        Self {
            session: CpuSession::open(graph, None, RunLimits::default()).unwrap(),
            graph,
            ptxas: std::env::var_os("PTXAS").map(PathBuf::from),
            random: Random::new(u64::from(graph.nodes()) << 32 | u64::from(graph.edges())),
            before: None,
        }
    }

    /// Runs every wave of code alone, on drawn memory, by simulated lanes and by machine code for
    /// the CPU. The lanes' text has the program that was compared before too, whose code comes first
    /// in the table, as that of a batch has.
    ///
    /// # Panics
    /// If they differ, or lanes use memory outside of all arrays or do not meet.
    pub fn compare(&mut self, program: &EncodedProgram) {
        let before = self.before.replace(program.clone());
        let first_code = before.as_ref().map_or(0, |before| before.code.len() as u32);
        let mut linked = Linked::default();
        for (program, first) in before
            .iter()
            .map(|before| (before, 0))
            .chain([(program, first_code)])
        {
            let waves: Vec<_> = waves(program, 0).map(|wave| wave.for_compiler()).collect();
            linked.add(&tables(program), first, &waves).unwrap();
        }
        let text = linked.finish();
        let ptx = Ptx::read(&text).unwrap();
        for wave in waves(program, first_code) {
            for launch in [(2, 64, true), (1, 32, false), (1, 128, false)] {
                self.compare_wave(program, &ptx, &wave, launch);
            }
        }
    }

    fn compare_wave(
        &mut self,
        program: &EncodedProgram,
        ptx: &Ptx,
        wave: &Wave,
        (blocks, lanes, is_known): (u32, u32, bool),
    ) {
        let nodes = program.nodes;
        let arrays = Arrays::draw(self.graph, &mut self.random);
        let words = |bytes: u64| (bytes as usize).div_ceil(4) + 4;
        let arena = draw_words(words(program.arena_bytes), nodes, &mut self.random);
        let inputs = draw_words(words(program.input_bytes), nodes, &mut self.random);
        let register = |number: u32| program.registers[number as usize];
        let region = |number: u32| {
            if register(number).region == Region::Input as u32 {
                &inputs
            } else {
                &arena
            }
        };
        let mut items = wave.record.items;
        if let Some((list, count)) = wave.list {
            let count = region(count)[register(count).offset_bytes as usize / 4];
            items = items.min(count).min(register(list).words);
        }
        if items == 0 {
            return;
        }
        // A device that shares the program leaves out the first items.
        let before = match self.random.once_in(2) {
            true => self.random.below(items),
            false => 0,
        };
        let mut memory = Memory::default();
        let mut call = EachCall {
            arena: memory.add(&arena),
            inputs: memory.add(&inputs),
            offsets: memory.add(&arrays.offsets),
            targets: memory.add(&arrays.targets),
            weights: memory.add(&arrays.weights),
            incoming_offsets: memory.add(&arrays.incoming_offsets),
            incoming_targets: memory.add(&arrays.incoming_targets),
            incoming_weights: memory.add(&arrays.weights),
            ..EachCall::default()
        };
        call.list = wave.list_address(program, &call);
        let launch = Call {
            first: wave.first,
            blocks,
            lanes,
            before,
            items: items - before,
            longest_row: if is_known { arrays.longest } else { 0 },
        };
        let reports = ptx.run("seawall_each", &mut memory, &words_of(&call), launch);
        let reports = reports.unwrap_or_else(|error| {
            panic!(
                "{error}\n{:#?}\n{}",
                wave.code(program),
                seawall::backend::ptx(program).unwrap()
            )
        });
        let reports: Vec<EachCall> = reports.iter().map(|words| call_of(words)).collect();
        let (expected, mut left) =
            wave.machine_code(program, &arrays, (&arena, &inputs), before..items);
        if wave.is_in_any_order(program) {
            return;
        }
        let has_missed = reports.iter().any(|report| report.misses != 0);
        assert_eq!(
            has_missed,
            expected.misses != 0,
            "{:#?}",
            wave.code(program)
        );
        if has_missed {
            return;
        }
        let raised = reports.iter().any(|report| report.raised != 0);
        assert_eq!(raised, expected.raised != 0, "{:#?}", wave.code(program));
        let mut found = memory.words(call.arena).to_vec();
        for at in wave
            .code(program)
            .iter()
            .filter(|at| at.op == Op::Append as u32)
        {
            for words in [&mut found, &mut left] {
                let list = register(at.first);
                let first = list.offset_bytes as usize / 4;
                words[first..first + list.words as usize].sort_unstable();
            }
        }
        let differing = found.iter().zip(&left).position(|(a, b)| a != b);
        assert_eq!(
            differing,
            None,
            "{} lanes, items {before} to {items}, {:#?}\n{:#?}",
            blocks * lanes,
            wave.code(program),
            program.registers
        );
    }

    fn assemble(ptxas: &Path, program: &EncodedProgram) {
        let text = seawall::backend::ptx(program).unwrap();
        for (machine, version) in [("sm_70", "7.0"), ("sm_90", "8.0")] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("code.ptx");
            let whole = format!(
                ".version {version}\n.target {machine}\n.address_size 64\n{text}\
                 .visible .entry kernel(.param .u64 p)\n{{\n\t.reg .b64 %d; .reg .b32 %r;\n\
                 \tld.param.u64 %d, [p];\n\tld.global.u32 %r, [%d];\n\
                 \t{{ .param .b64 a0; .param .b32 a1; st.param.b64 [a0], %d; st.param.b32 [a1], %r;\n\
                 \tcall.uni seawall_each, (a0, a1, a1, a1, a1, a1, a1, a1); }}\n\tret;\n}}\n"
            );
            std::fs::write(&file, &whole).unwrap();
            let ran = Command::new(ptxas)
                .args(["-arch", machine, "-o"])
                .arg(folder.path().join("code.cubin"))
                .arg(&file)
                .output()
                .unwrap();
            assert!(
                ran.status.success(),
                "{}",
                String::from_utf8_lossy(&ran.stderr)
            );
        }
    }
}

fn tables(program: &EncodedProgram) -> Tables<'_> {
    Tables {
        nodes: program.nodes,
        registers: &program.registers,
        code: &program.code,
        is_alone: true,
    }
}

/// The waves of code of a program whose first instruction has this number.
fn waves(program: &EncodedProgram, first_code: u32) -> impl Iterator<Item = Wave> {
    program.waves.iter().filter_map(move |wave| {
        let record = EachRecord::from_parameters(wave.parameters);
        let runs_code = wave.opcode == Opcode::Each as u32 && record.instructions > 0;
        let [list, count, ..] = wave.sources;
        runs_code.then(|| Wave {
            first: first_code + record.first,
            record,
            list: (list != NO_REGISTER).then_some((list, count)),
        })
    })
}

/// A wave of code.
struct Wave {
    /// The number of its first instruction for kernels.
    first: u32,
    record: EachRecord,
    list: Option<(u32, u32)>,
}

impl Wave {
    fn for_compiler(&self) -> CodeWave {
        CodeWave {
            record: self.record,
            is_listed: self.list.is_some(),
        }
    }

    fn code<'p>(&self, program: &'p EncodedProgram) -> &'p [Instruction] {
        let first = self.record.first as usize;
        &program.code[first..first + self.record.instructions as usize]
    }

    /// The address of its list; 0 without.
    fn list_address(&self, program: &EncodedProgram, call: &EachCall) -> u64 {
        self.list.map_or(0, |(list, _)| {
            let list = program.registers[list as usize];
            let is_input = list.region == Region::Input as u32;
            list.offset_bytes + if is_input { call.inputs } else { call.arena }
        })
    }

    /// Whether what it leaves depends on the order of its items or edges, which here may begin with
    /// any values: it looks at what others write meanwhile, or joins floats.
    fn is_in_any_order(&self, program: &EncodedProgram) -> bool {
        self.code(program).iter().any(|at| {
            let op = Op::from_word(at.op);
            let joins = [Op::Scatter, Op::Reduce, Op::Fold].map(Some).contains(&op);
            let of_floats = || at.joined().is_some_and(|joined| joined.kind == Kind::F32);
            matches!(op, Some(Op::Latest | Op::LatestWide))
                || op == Some(Op::Scatter) && at.temps[0] != NOTHING
                || joins && of_floats()
        })
    }

    /// Runs it by machine code for one thread; returns what that reports, and the arena.
    fn machine_code(
        &self,
        program: &EncodedProgram,
        arrays: &Arrays,
        (arena, inputs): (&[u32], &[u32]),
        items: Range<u32>,
    ) -> (EachCall, Vec<u32>) {
        let compiled = Compiled::of(&tables(program), &[self.for_compiler()]).unwrap();
        // Pairs need twice the alignment of words.
        let pairs = |words: &[u32]| -> Vec<u64> {
            let mut words = words.to_vec();
            words.resize(words.len().next_multiple_of(2), 0);
            words
                .chunks(2)
                .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
                .collect()
        };
        let (mut changed, inputs) = (pairs(arena), pairs(inputs));
        let mut call = EachCall {
            arena: changed.as_mut_ptr() as u64,
            inputs: inputs.as_ptr() as u64,
            offsets: arrays.offsets.as_ptr() as u64,
            targets: arrays.targets.as_ptr() as u64,
            weights: arrays.weights.as_ptr() as u64,
            incoming_offsets: arrays.incoming_offsets.as_ptr() as u64,
            incoming_targets: arrays.incoming_targets.as_ptr() as u64,
            incoming_weights: arrays.weights.as_ptr() as u64,
            ..EachCall::default()
        };
        call.list = self.list_address(program, &call);
        let code = compiled.waves()[0].code;
        // SAFETY: the arrays have the lengths that the tables state.
        unsafe { code(&raw mut call, items.start, items.end) };
        let left: &[u32] = bytemuck::cast_slice(&changed);
        (call, left[..arena.len()].to_vec())
    }
}

/// The words of a call.
fn words_of(call: &EachCall) -> Vec<u32> {
    let addresses = [
        call.arena,
        call.inputs,
        call.offsets,
        call.targets,
        call.weights,
        call.incoming_offsets,
        call.incoming_targets,
        call.incoming_weights,
        call.list,
    ];
    let halves = addresses.map(|address| [address as u32, (address >> 32) as u32]);
    [halves.as_flattened(), &[0; 4]].concat()
}

/// The words of a call as a lane left them.
fn call_of(words: &[u32]) -> EachCall {
    let last: [u32; 4] = words[words.len() - 4..].try_into().unwrap();
    let [misses, missed, missed_len, raised] = last;
    EachCall {
        misses,
        missed,
        missed_len,
        raised,
        ..EachCall::default()
    }
}

/// The arrays of a graph.
struct Arrays {
    offsets: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<u32>,
    incoming_offsets: Vec<u32>,
    incoming_targets: Vec<u32>,
    longest: u32,
}

impl Arrays {
    fn draw(graph: &Graph, random: &mut Random) -> Self {
        let mut rows: Vec<Vec<u32>> = (0..graph.nodes())
            .map(|node| graph.neighbours(node).to_vec())
            .collect();
        // Many rows are too long for a lane, so that groups of a warp visit several at a time; a few for
        // a small group, and for a warp of small blocks.
        for row in &mut rows {
            if random.once_in(3) {
                let more = 9 + random.below(115);
                row.extend((0..more).map(|_| random.below(graph.nodes())));
            }
        }
        for length in [30, 150, 700] {
            if !rows.is_empty() && random.once_in(2) {
                let node = random.below(graph.nodes()) as usize;
                rows[node] = (0..length).map(|_| random.below(graph.nodes())).collect();
            }
        }
        let mut incoming = vec![Vec::new(); rows.len()];
        for (node, row) in (0..).zip(&rows) {
            for target in row {
                incoming[*target as usize].push(node);
            }
        }
        let longest = rows.iter().chain(&incoming).map(Vec::len).max();
        let offsets = |rows: &[Vec<u32>]| {
            let mut sum = 0;
            let ends = rows.iter().map(|row| {
                sum += row.len() as u32;
                sum
            });
            std::iter::once(0).chain(ends).collect::<Vec<u32>>()
        };
        let edges: usize = rows.iter().map(Vec::len).sum();
        Self {
            offsets: offsets(&rows),
            incoming_offsets: offsets(&incoming),
            targets: rows.concat(),
            incoming_targets: incoming.concat(),
            weights: (0..edges).map(|_| random.below(50)).collect(),
            longest: longest.unwrap_or(0) as u32,
        }
    }
}

/// Words of which most are numbers of nodes.
fn draw_words(count: usize, nodes: u32, random: &mut Random) -> Vec<u32> {
    let word = |_| match random.below(10) {
        0 => random.below(u32::MAX),
        1..=3 => random.below(2),
        _ => random.below(nodes.max(1)),
    };
    (0..count).map(word).collect()
}

impl Session for SessionWithPtx<'_> {
    fn device(&self) -> &DeviceInfo {
        self.session.device()
    }

    fn upload_ns(&self) -> u64 {
        self.session.upload_ns()
    }

    fn cancel_by(&mut self, canceller: Canceller) {
        self.session.cancel_by(canceller);
    }

    fn trace_runs(&mut self, trace: bool) {
        self.session.trace_runs(trace);
    }

    fn load(&mut self, program: &EncodedProgram) -> Result<(), BackendError> {
        if let Some(ptxas) = &self.ptxas {
            Self::assemble(ptxas, program);
        }
        self.compare(program);
        self.session.load(program)
    }

    fn run(&mut self, inputs: &[u32]) -> Result<RunStats, BackendError> {
        self.session.run(inputs)
    }

    fn work(&self) -> SessionWork {
        self.session.work()
    }

    fn memory(&self) -> SessionMemory {
        self.session.memory()
    }

    fn read(&mut self, register: RegisterId, words: &mut Vec<u32>) -> Result<(), BackendError> {
        self.session.read(register, words)
    }
}
