//! Programs of code that several devices share: which ones, and who runs which items.
//!
//! Each device has the whole graph and all registers. It runs some of the items of a wave of code,
//! those of nodes by their edges, and all of any other wave; after a group that ran code, devices
//! exchange what they wrote. So a wave may read any value, and may store its own and join others.
//! Results that depend on the order of items are refused by name.

use super::exchange::Exchange;
use crate::graph::Graph;
use crate::program::EncodedProgram;
use seawall_core::abi::code::{
    Edges, EdgesPart, Instruction, Join, Joined, Kind, NOTHING, NUMBERED, Op, TEMPORARY,
};
use seawall_core::abi::program::{
    EachRecord, FixpointRecord, GroupRecord, NO_REGISTER, Opcode, WaveRecord,
};
use std::fmt;

/// Why a program runs on one device only.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Number of the wave that several devices cannot share.
    pub wave: u32,
    /// Its name.
    pub wave_name: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            wave,
            wave_name,
            reason,
        } = self;
        write!(f, "wave {wave} ({wave_name}) {reason}")
    }
}

/// A program that several devices share.
pub(in crate::backend) struct SharedProgram {
    pub(in crate::backend) exchanges: Vec<Vec<Exchange>>,
    /// First node of each device, and the number of nodes.
    pub(in crate::backend) nodes: Vec<u32>,
}

/// Why several devices cannot share `program`; `None` if they can.
///
/// They can if each of its waves is of code over nodes, values or numbers, a word by word operation, a
/// reduction, or a loop without a frontier; and if no code appends to a list, runs over one, adds
/// floats in no fixed order, or uses what a scatter found there before. A scatter to the value that has
/// the number of an edge of the item may do the last two: no other device writes it.
///
/// ```
/// use seawall::multi::refusal;
/// use seawall::program::{Edges, Join, Kind, Over, PlanRequest, ProgramBuilder};
///
/// let mut program = ProgramBuilder::new(10);
/// let degrees = program.per_node("degrees", Kind::U32)?;
/// program.fill("none", degrees, 0);
/// program.each("count edges", Over::Nodes, |node| {
///     node.each_edge(Edges::Out, |edge| {
///         edge.scatter(degrees, edge.neighbour(), Join::Sum, 1);
///     });
/// });
/// program.keep(degrees);
/// let (encoded, _) = program.encode(&PlanRequest::default())?;
/// assert_eq!(refusal(&encoded), None);
/// # Ok::<(), seawall::program::ProgramError>(())
/// ```
#[must_use]
pub fn refusal(program: &EncodedProgram) -> Option<Refusal> {
    exchanges(program, None).err()
}

impl SharedProgram {
    /// Shares `program`, which is for `graph`, out to `devices` devices.
    pub(in crate::backend) fn of(
        program: &EncodedProgram,
        graph: &Graph,
        devices: u32,
    ) -> Result<Self, Refusal> {
        let nodes = cut_nodes(graph, devices);
        let exchanges = exchanges(program, Some((graph, &nodes)))?;
        Ok(Self { exchanges, nodes })
    }

    pub(in crate::backend) fn part(
        &self,
        program: &EncodedProgram,
        device: usize,
    ) -> EncodedProgram {
        let mut part = program.clone();
        for wave in &mut part.waves {
            let record = EachRecord::from_parameters(wave.parameters);
            if wave.opcode == Opcode::Each as u32 && is_shared(record) {
                let cut = cut_items(&self.nodes, record.items);
                wave.parameters = EachRecord {
                    before: cut[device],
                    items: cut[device + 1],
                    ..record
                }
                .to_parameters();
            }
        }
        part
    }
}

/// First items of all devices and their number, if `nodes` are those of the nodes.
fn cut_items(nodes: &[u32], items: u32) -> Vec<u32> {
    match nodes.last() == Some(&items) {
        true => nodes.to_vec(),
        false => cut_evenly(items, nodes.len() as u32 - 1),
    }
}

/// Whether devices run some of the items each; all run a single one.
const fn is_shared(record: EachRecord) -> bool {
    record.items > 1
}

/// First nodes of the ranges of all devices, with about as many nodes and edges each, and their
/// number.
fn cut_nodes(graph: &Graph, devices: u32) -> Vec<u32> {
    let (nodes, offsets) = (graph.nodes(), graph.offsets());
    let cost = |node: u32| u64::from(offsets[node as usize]) + u64::from(node);
    let all = if nodes == 0 { 0 } else { cost(nodes) };
    let first = |device: u32| {
        let wanted = all * u64::from(device) / u64::from(devices.max(1));
        first_node(nodes, |node| cost(node) >= wanted)
    };
    (0..devices).map(first).chain([nodes]).collect()
}

/// The first of `nodes` nodes from which on `is_wanted` holds; their number if it holds for none.
pub(crate) fn first_node(nodes: u32, is_wanted: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, nodes);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_wanted(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

fn cut_evenly(items: u32, devices: u32) -> Vec<u32> {
    let first =
        |device: u32| (u64::from(items) * u64::from(device) / u64::from(devices.max(1))) as u32;
    (0..=devices).map(first).collect()
}

/// The graph and the first nodes of the devices; `None` if it is asked only whether they can share.
type Cut<'a> = Option<(&'a Graph, &'a [u32])>;

/// The exchanges after each group.
fn exchanges(program: &EncodedProgram, cut: Cut<'_>) -> Result<Vec<Vec<Exchange>>, Refusal> {
    let of_group = |group: &GroupRecord| {
        let mut all: Vec<Exchange> = Vec::new();
        let first = group.first_wave as usize;
        let waves = program
            .waves
            .get(first..first.saturating_add(group.waves as usize));
        for wave in waves.unwrap_or(&[]) {
            let refuse = |reason: String| {
                let name = program.wave_names.get(wave.wave as usize);
                Refusal {
                    wave: wave.wave,
                    wave_name: name.cloned().unwrap_or_else(|| "unnamed".to_owned()),
                    reason,
                }
            };
            for found in of_wave(program, wave, cut).map_err(refuse)? {
                match all
                    .iter()
                    .find(|known| known.register() == found.register())
                {
                    None => all.push(found),
                    Some(known) if *known == found => {}
                    Some(_) => {
                        let name = program.register_name(found.register());
                        return Err(refuse(format!(
                            "writes the register {name} in more than one way at a time"
                        )));
                    }
                }
            }
        }
        Ok(all)
    };
    program.groups.iter().map(of_group).collect()
}

/// The exchanges after a wave, or why devices cannot share it.
fn of_wave(
    program: &EncodedProgram,
    wave: &WaveRecord,
    cut: Cut<'_>,
) -> Result<Vec<Exchange>, String> {
    let Some(opcode) = Opcode::from_word(wave.opcode) else {
        return Err("is of another crate, whose accesses are its own".to_owned());
    };
    match opcode {
        Opcode::Each => of_code(program, wave, cut),
        // Each device does these for itself, with the same result.
        Opcode::Nop
        | Opcode::Fill
        | Opcode::Iota
        | Opcode::Copy
        | Opcode::And
        | Opcode::Or
        | Opcode::AndNot
        | Opcode::Xor
        | Opcode::Gather
        | Opcode::Scatter
        | Opcode::Reduce
        | Opcode::While => Ok(Vec::new()),
        Opcode::Fixpoint => {
            let record = FixpointRecord::from_parameters(wave.parameters);
            match record.frontier {
                NO_REGISTER => Ok(Vec::new()),
                _ => Err("is a search, whose frontier one device keeps".to_owned()),
            }
        }
        other => Err(format!("is {other:?}, which one device runs")),
    }
}

/// The exchanges after a wave of code.
fn of_code(
    program: &EncodedProgram,
    wave: &WaveRecord,
    cut: Cut<'_>,
) -> Result<Vec<Exchange>, String> {
    let record = EachRecord::from_parameters(wave.parameters);
    if wave.sources[0] != NO_REGISTER {
        return Err("runs over a list, which devices do not share out".to_owned());
    }
    if !is_shared(record) {
        return Ok(Vec::new());
    }
    let first = record.first as usize;
    let code = program
        .code
        .get(first..first.saturating_add(record.instructions as usize));
    let is_of_nodes = record.items == program.nodes;
    let mut part = None;
    let mut all = Vec::new();
    for at in code.unwrap_or(&[]) {
        let number = part
            .as_mut()
            .is_some_and(|part: &mut EdgePart| part.is_number(at));
        let rows = part.as_ref().map(|part| part.edges);
        let rows = rows.filter(|_| number && is_of_nodes);
        all.extend(of_instruction(program, at, record.items, rows, cut)?);
        part = EdgePart::after(part, at);
    }
    Ok(all)
}

/// The code of an edge, up to some instruction of it.
struct EdgePart {
    edges: Edges,
    /// Instructions that are left.
    left: u32,
    /// Operands that are the number of the edge.
    numbers: Vec<u8>,
}

impl EdgePart {
    /// Whether `at` scatters to the value that has the number of the edge.
    fn is_number(&self, at: &Instruction) -> bool {
        let [_, place, ..] = at.temps;
        Op::from_word(at.op) == Some(Op::Scatter) && self.numbers.contains(&place)
    }

    /// The part of the next instruction after `at`, which is in `part`.
    fn after(part: Option<Self>, at: &Instruction) -> Option<Self> {
        let (op, [to, ..]) = (Op::from_word(at.op), at.temps);
        if op == Some(Op::Edges) {
            return Some(Self {
                edges: EdgesPart::from_word(at.first).edges,
                left: at.second,
                numbers: Vec::new(),
            });
        }
        let mut part = part.filter(|part| part.left > 1)?;
        part.left -= 1;
        // The accumulator, and what the instruction overwrites; a pair takes the next temporary, too.
        let of_temp = |temp: u8| temp & (TEMPORARY | NUMBERED);
        let overwritten = [NOTHING, to, to.wrapping_add(1)].map(of_temp);
        part.numbers
            .retain(|number| !overwritten.contains(&of_temp(*number)));
        if op == Some(Op::EdgeNumber) {
            part.numbers.extend([NOTHING, to]);
        }
        Some(part)
    }
}

/// The register that an instruction writes, if it writes one. One of some items does, or of the edges
/// in their rows, at the number of each.
fn of_instruction(
    program: &EncodedProgram,
    at: &Instruction,
    items: u32,
    rows: Option<Edges>,
    cut: Cut<'_>,
) -> Result<Option<Exchange>, String> {
    let register = at.first;
    let held = program.registers.get(register as usize);
    let held = held.map_or(0, |record| record.words as usize);
    let own = |firsts: &[u32], width: u32| {
        let offset = |first: &u32| (*first as usize * width as usize).min(held);
        Exchange::Own {
            register,
            offsets: firsts.iter().map(offset).collect(),
        }
    };
    let of_items = |width| {
        let firsts = cut.map_or_else(Vec::new, |(_, nodes)| cut_items(nodes, items));
        Ok(Some(own(&firsts, width)))
    };
    let joins = |words: fn(usize, usize) -> usize| {
        let joined = joined_of(at)?;
        if (joined.how, joined.kind) == (Join::Sum, Kind::F32) {
            return Err(
                "adds floats in no fixed order, so that bits depend on the devices".to_owned(),
            );
        }
        let width = joined.kind.words() as usize;
        Ok(Some(Exchange::Joined {
            register,
            joined,
            words: words(held, width),
        }))
    };
    match (Op::from_word(at.op), rows) {
        (Some(Op::Store), _) => of_items(1),
        (Some(Op::StoreWide), _) => of_items(2),
        (Some(Op::Scatter), Some(edges)) => {
            let firsts =
                cut.map_or_else(Vec::new, |(graph, nodes)| first_edges(graph, nodes, edges));
            Ok(Some(own(&firsts, joined_of(at)?.kind.words())))
        }
        (Some(Op::Scatter), None) if at.temps[0] != NOTHING => Err(
            "uses what a scatter found there before, which another device may change".to_owned(),
        ),
        (Some(Op::Scatter), None) => joins(|held, width| held - held % width),
        (Some(Op::Fold), _) => joins(|held, width| width.min(held - held % width)),
        (Some(Op::Append), _) => {
            Err("appends to a list, whose order depends on the devices".to_owned())
        }
        _ => Ok(None),
    }
}

fn joined_of(at: &Instruction) -> Result<Joined, String> {
    at.joined()
        .ok_or_else(|| "has a join without a name".to_owned())
}

/// Numbers of the first edges of these nodes, and the number of edges.
fn first_edges(graph: &Graph, nodes: &[u32], edges: Edges) -> Vec<u32> {
    let offsets = match edges {
        Edges::Out => graph.offsets(),
        Edges::In => graph.incoming().offsets(),
    };
    let first = |node: &u32| offsets.get(*node as usize).copied().unwrap_or(0);
    nodes.iter().map(first).collect()
}
