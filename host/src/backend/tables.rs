//! One block of device memory for everything small: the launch record, the
//! control block and the tables.
//!
//! The image is built on the host with its final addresses, and uploaded in one copy.

use crate::backend::footprint::GPU_BYTES_MIN;
use crate::backend::record::{Addresses, GraphAddresses, GraphSize, TableAddresses, launch_record};
use crate::program::encoded::EncodedProgram;
use seawall_core::abi::code::Instruction;
use seawall_core::abi::control::ControlRecord;
use seawall_core::abi::program::{GroupRecord, LaunchRecord, RegisterRecord, WaveRecord};

/// Alignment of every part: two cache lines, as the allocator's own.
const ALIGN: u64 = GPU_BYTES_MIN;

/// Offset of the control block: directly after the launch record.
pub(super) const CONTROL_OFFSET: u64 = (size_of::<LaunchRecord>() as u64).div_ceil(ALIGN) * ALIGN;

/// Offset of each part, in bytes from the start of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) launch: u64,
    groups: u64,
    waves: u64,
    registers: u64,
    code: u64,
    /// Length of the block.
    pub(super) bytes: u64,
}

impl Layout {
    fn new([groups, waves, registers, code]: [usize; 4]) -> Self {
        let mut end = 0u64;
        let mut place = |bytes: usize| {
            let start = end;
            end = end.saturating_add((bytes as u64).div_ceil(ALIGN).saturating_mul(ALIGN));
            start
        };
        let launch = place(size_of::<LaunchRecord>());
        place(size_of::<ControlRecord>());
        let groups = place(groups.saturating_mul(size_of::<GroupRecord>()));
        let waves = place(waves.saturating_mul(size_of::<WaveRecord>()));
        let registers = place(registers.saturating_mul(size_of::<RegisterRecord>()));
        let code = place(code.saturating_mul(size_of::<Instruction>()));
        Self {
            launch,
            groups,
            waves,
            registers,
            code,
            bytes: end,
        }
    }

    /// Place of wave number `wave` of the table, in bytes from the start of the block.
    #[cfg(feature = "cuda")]
    pub(super) const fn wave(&self, wave: u32) -> u64 {
        self.waves + wave as u64 * size_of::<WaveRecord>() as u64
    }

    pub(super) fn of(program: &EncodedProgram) -> Self {
        Self::new([
            program.groups.len(),
            program.waves.len(),
            program.registers.len(),
            program.code.len(),
        ])
    }
}

/// The machine's part of a launch record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// Address of the block that receives the image.
    pub(super) tables: u64,
    pub(super) arena: u64,
    /// Address of the input region.
    pub(super) inputs: u64,
    pub(super) graph: GraphAddresses,
    pub(super) nodes: u32,
    pub(super) edges: u32,
    /// Address of the trace to write, or 0.
    pub(super) trace: u64,
    /// Share of the device's memory that is taken, basis points.
    pub(super) memory_pressure_bps: u32,
    /// Time budget of a run, nanoseconds.
    pub(super) time_budget_ns: u64,
}

impl Placement {
    fn record(&self, program: &EncodedProgram) -> LaunchRecord {
        let layout = Layout::of(program);
        let at = Addresses {
            graph: self.graph,
            tables: TableAddresses {
                groups: self.tables + layout.groups,
                waves: self.tables + layout.waves,
                registers: self.tables + layout.registers,
                code: self.tables + layout.code,
            },
            arena: self.arena,
            inputs: self.inputs,
            control: self.tables + CONTROL_OFFSET,
            trace: self.trace,
            memory_pressure_bps: self.memory_pressure_bps,
        };
        let size = GraphSize {
            nodes: self.nodes,
            edges: self.edges,
        };
        launch_record(program, size, &at, self.time_budget_ns)
    }

    /// The bytes of the whole block.
    pub(super) fn image(&self, program: &EncodedProgram) -> Vec<u8> {
        let layout = Layout::of(program);
        let mut image = vec![0; usize::try_from(layout.bytes).unwrap_or(0)];
        let record = self.record(program);
        write(&mut image, layout.launch, bytemuck::bytes_of(&record));
        write(
            &mut image,
            layout.groups,
            bytemuck::cast_slice(&program.groups),
        );
        write(
            &mut image,
            layout.waves,
            bytemuck::cast_slice(&program.waves),
        );
        write(
            &mut image,
            layout.registers,
            bytemuck::cast_slice(&program.registers),
        );
        write(&mut image, layout.code, bytemuck::cast_slice(&program.code));
        image
    }
}

fn write(image: &mut [u8], at: u64, bytes: &[u8]) {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    if let Some(place) = at
        .checked_add(bytes.len())
        .and_then(|end| image.get_mut(at..end))
    {
        place.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::TableLengths;
    use crate::executor::Executor;
    use crate::program::encoded::GraphNeeds;
    use seawall_core::abi::search::SearchPolicy;
    use seawall_core::abi::tiles::TileTable;
    use seawall_core::abi::{MAGIC, VERSION};

    fn program() -> EncodedProgram {
        EncodedProgram {
            nodes: 0,
            ids: Vec::new(),
            groups: vec![
                GroupRecord {
                    first_wave: 1,
                    waves: 2,
                    narrow: 3,
                    joined: 0
                };
                3
            ],
            top_groups: 2,
            group_bytes: Vec::new(),
            once: Vec::new(),
            waves: vec![
                WaveRecord {
                    opcode: 4,
                    wave: 5,
                    destination: 6,
                    sources: [7, 8, 9, 10],
                    parameters: [11, 12, 13, 14, 15]
                };
                40
            ],
            code: vec![
                Instruction {
                    op: 23,
                    temps: [24, 25, 26, 27],
                    first: 28,
                    second: 29
                };
                6
            ],
            registers: vec![
                RegisterRecord {
                    region: 1,
                    words: 16,
                    offset_bytes: 17
                };
                5
            ],
            wave_names: Vec::new(),
            register_names: Vec::new(),
            arena_bytes: 0,
            input_bytes: 0,
            needs: GraphNeeds::default(),
            planned_for: 0x46,
            own: None,
            search: SearchPolicy {
                forced: 18,
                ..SearchPolicy::default()
            },
        }
    }

    fn placement(incoming: u64) -> Placement {
        Placement {
            tables: 0x10_0000,
            arena: 0x20_0000,
            inputs: 0x30_0000,
            graph: GraphAddresses {
                offsets: 0x40,
                targets: 0x41,
                weights: 0x42,
                incoming_offsets: incoming,
                incoming_targets: incoming + 1,
                incoming_weights: 0x47,
                resident: 0x45,
                longest_row: 0x46,
                tiles: TileTable {
                    records: 0x50,
                    tiles: 22,
                    ..TileTable::default()
                },
            },
            nodes: 19,
            edges: 20,
            trace: 0x60,
            memory_pressure_bps: 0x61,
            time_budget_ns: 21,
        }
    }

    fn read<T: bytemuck::AnyBitPattern>(image: &[u8], at: u64) -> T {
        let at = at as usize;
        bytemuck::pod_read_unaligned(&image[at..at + size_of::<T>()])
    }

    #[test]
    fn the_record_leads_to_every_table() {
        let program = program();
        let image = placement(0x43).image(&program);
        let record: LaunchRecord = read(&image, 0);
        assert_eq!((record.magic, record.version), (MAGIC, VERSION));
        assert_eq!(
            (record.nodes, record.edges, record.time_budget_ns),
            (19, 20, 21)
        );
        assert_eq!(
            (
                record.groups,
                record.groups_total,
                record.waves,
                record.registers
            ),
            (2, 3, 40, 5)
        );
        assert_eq!((record.arena, record.inputs), (0x20_0000, 0x30_0000));
        assert_eq!(record.trace, 0x60);
        assert_eq!(record.search.memory_pressure_bps, 0x61);
        assert_eq!((record.planned_for, record.resident), (0x46, 0x45));
        assert_eq!(
            (record.offsets, record.targets, record.weights),
            (0x40, 0x41, 0x42)
        );
        assert_eq!(
            (record.incoming_offsets, record.incoming_targets),
            (0x43, 0x44)
        );
        assert_eq!(record.incoming_weights, 0x47);
        assert_eq!((record.tiles.records, record.tiles.tiles), (0x50, 22));
        let last_wave = record.wave_table - 0x10_0000 + 39 * 48;
        assert_eq!(read::<WaveRecord>(&image, last_wave), program.waves[39]);
        let last_group = record.group_table - 0x10_0000 + 2 * 16;
        assert_eq!(read::<GroupRecord>(&image, last_group), program.groups[2]);
        let last_register = record.register_table - 0x10_0000 + 4 * 16;
        assert_eq!(
            read::<RegisterRecord>(&image, last_register),
            program.registers[4]
        );
        assert_eq!(record.code, 6);
        let last_instruction = record.code_table - 0x10_0000 + 5 * 16;
        assert_eq!(
            read::<Instruction>(&image, last_instruction),
            program.code[5]
        );
    }

    #[test]
    fn pulling_is_allowed_exactly_if_there_are_incoming_edges() {
        let search = |incoming| {
            let mut placement = placement(incoming);
            placement.graph.incoming_targets = incoming;
            read::<LaunchRecord>(&placement.image(&program()), 0).search
        };
        assert_eq!(search(0).can_pull, 0);
        assert_eq!(search(7).can_pull, 1);
        assert_eq!(search(7).forced, 18);
    }

    #[test]
    fn plans_count_as_many_bytes_as_the_tables_take() {
        let mut program = program();
        for groups in [0, 1, 15, 16, 17, 300] {
            program.groups = vec![bytemuck::Zeroable::zeroed(); groups];
            let counted = TableLengths::of(&program).bytes(Executor::Mega);
            assert_eq!(counted, Layout::of(&program).bytes);
        }
    }

    #[test]
    fn parts_are_aligned_and_do_not_overlap() {
        let layout = Layout::of(&program());
        let parts = [
            layout.launch,
            CONTROL_OFFSET,
            layout.groups,
            layout.waves,
            layout.registers,
            layout.code,
            layout.bytes,
        ];
        assert!(parts.iter().all(|part| part % ALIGN == 0));
        assert!(parts.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(layout.groups - CONTROL_OFFSET >= size_of::<ControlRecord>() as u64);
    }

    #[test]
    fn a_bare_block_holds_a_control_block_and_nothing_to_run() {
        let record: LaunchRecord = read(&placement(0).image(&EncodedProgram::default()), 0);
        assert_eq!(
            (record.groups_total, record.waves, record.registers),
            (0, 0, 0)
        );
        assert_eq!(record.control, 0x10_0000 + CONTROL_OFFSET);
    }
}
