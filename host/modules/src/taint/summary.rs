//! Summaries of functions: which outputs depend on which inputs.
//!
//! Every value has a word whose bit `i` says that it depends on input `i` of its function. One wave
//! in a fixpoint joins the words of what a value depends on. A result of a call depends on an
//! argument only if the callee's output depends on that input, which is a bit of the output's word
//! (IFDS: Reps, Horwitz and Sagiv, "Precise interprocedural dataflow analysis via graph
//! reachability", 1995). So the fixpoints of functions and the rounds over the call graph are one,
//! and a call changes only when the summary of its callee has.
//!
//! Inputs from number 63 on share a bit, which can only add dependencies.

use crate::error::ModuleError;
use crate::flow::{On, SolveStats};
use crate::values::{NONE, Whole};
use seawall::backend::ProgramSession;
use seawall::executor::Machine;
use seawall::graph::{CsrArrays, Graph};
use seawall::program::{
    Edges, EncodedProgram, Join, Kind, Over, PlanRequest, ProgramBuilder, ProgramError, RegisterId,
};
use seawall::units::elapsed_ns;
use std::time::Instant;

/// The bit of an input.
pub(super) const fn bit(input: u32) -> u32 {
    if input < 63 { input } else { 63 }
}

/// Bytes of a value on the machine: two words of 64 bits, its gate and its row's offset.
const VALUE_BYTES: u64 = 8 + 8 + 4 + 4;

/// Bytes of a dependency: its end, and the bit of the gate.
const EDGE_BYTES: u64 = 8;

/// The dependencies of all values on the inputs of their functions.
pub(super) struct Summaries {
    /// By value.
    pub(super) words: Vec<u64>,
    pub(super) stats: SolveStats,
}

/// A dependency: on what, of what, and the bit of the gate that opens it.
type Flow = (u32, u32, u32);

/// Finds the summaries of all functions.
///
/// # Errors
/// [`ModuleError::TooLarge`] before anything is allocated if the graph exceeds the limit of one
/// function's facts; errors of the machine.
pub(super) fn summaries(whole: &Whole<'_>, on: On) -> Result<Summaries, ModuleError> {
    let clock = Instant::now();
    let count = whole.len();
    let flows = flows(whole);
    let needed = count as u64 * VALUE_BYTES + flows.len() as u64 * EDGE_BYTES;
    if needed > on.limits.function_bytes || flows.len() as u64 > u64::from(u32::MAX) {
        return Err(ModuleError::TooLarge {
            path: "taint".to_owned(),
            what: "bytes of the graph of values".to_owned(),
            found: needed,
            most: on.limits.function_bytes,
        });
    }
    let gates = gates(whole);
    let place = order(whole);
    let (graph, gates) = arrays(count, &flows, &gates, &place);
    drop(flows);
    let mut made = vec![0_u64; count + 1];
    made[count] = u64::MAX;
    for (node, values) in (0..).zip(&whole.values) {
        for input in 0..values.inputs {
            let value = whole.value(node, values.input(input));
            made[place[value as usize] as usize] |= 1 << bit(input);
        }
    }
    let mut stats = SolveStats {
        submissions: 1,
        nodes: count as u64,
        edges: graph.targets.len() as u64,
        build_ns: elapsed_ns(clock),
        ..SolveStats::default()
    };
    let found = run(graph, &made, &gates, &on.machine, &mut stats)?;
    let words = place.iter().map(|at| found[*at as usize]).collect();
    Ok(Summaries { words, stats })
}

/// All dependencies; those across a call have the bit of the input that they go through.
fn flows(whole: &Whole<'_>) -> Vec<Flow> {
    let mut flows = Vec::new();
    whole.each_own(|from, to| flows.push((from, to, 0)));
    whole.each_dispatch_output(|from, to| flows.push((from, to, 0)));
    for (node, values) in (0..).zip(&whole.values) {
        for site in &values.sites {
            let callee = &whole.values[site.callee as usize];
            let outs = site.outs.iter().take(callee.outputs as usize);
            for out in outs.filter(|out| **out != NONE) {
                let to = whole.value(node, *out);
                let ins = (0..).zip(&site.ins).filter(|(_, value)| **value != NONE);
                flows.extend(ins.map(|(input, value)| (whole.value(node, *value), to, bit(input))));
            }
        }
    }
    flows
}

/// The value whose word opens the dependencies of each value; the number of values for those that
/// are always open.
fn gates(whole: &Whole<'_>) -> Vec<u32> {
    let always = whole.len() as u32;
    let mut gates = vec![always; whole.len()];
    whole.each_result(|callee, number, value| {
        if let Some(output) = whole.output(callee, number) {
            gates[value as usize] = output;
        }
    });
    gates
}

/// The place of each value in an order in which most dependencies go forward: callees before their
/// callers, and in each function inputs first and outputs last.
fn order(whole: &Whole<'_>) -> Vec<u32> {
    let nodes = 0..whole.calls.nodes() as u32;
    let mut place = vec![0; whole.len()];
    let mut next = 0;
    for node in whole.calls.callees.reverse_postorder(nodes).iter().rev() {
        let values = &whole.values[*node as usize];
        let [outputs, own] = [0, values.outputs].map(|number| values.output(number));
        let inner = own..values.ops.len() as u32;
        for value in (0..outputs).chain(inner).chain(outputs..own) {
            place[whole.value(*node, value) as usize] = next;
            next += 1;
        }
    }
    place
}

/// The graph of dependencies, each row sorted, and the gates, all by place.
fn arrays(count: usize, flows: &[Flow], gates: &[u32], place: &[u32]) -> (CsrArrays, Vec<u32>) {
    let at = |value: u32| place.get(value as usize).copied().unwrap_or(count as u32);
    let mut offsets = vec![0_u32; count + 2];
    for (_, to, _) in flows {
        offsets[at(*to) as usize + 1] += 1;
    }
    for node in 0..=count {
        offsets[node + 1] += offsets[node];
    }
    let mut next = offsets.clone();
    let mut ends = vec![(0_u32, 0_u32); flows.len()];
    for (from, to, bit) in flows {
        let next = &mut next[at(*to) as usize];
        ends[*next as usize] = (at(*from), *bit);
        *next += 1;
    }
    for row in offsets.windows(2) {
        ends[row[0] as usize..row[1] as usize].sort_unstable();
    }
    let mut placed = vec![count as u32; count + 1];
    for (value, gate) in (0..).zip(gates) {
        placed[at(value) as usize] = at(*gate);
    }
    let graph = CsrArrays {
        offsets,
        targets: ends.iter().map(|(from, _)| *from).collect(),
        weights: Some(ends.iter().map(|(_, bit)| *bit).collect()),
        ..CsrArrays::default()
    };
    (graph, placed)
}

struct Registers {
    made: RegisterId,
    gates: RegisterId,
    after: RegisterId,
}

fn program(nodes: u32) -> Result<(EncodedProgram, Registers), ProgramError> {
    let mut program = ProgramBuilder::new(nodes);
    let made = program.input_values("inputs", Kind::U64, u64::from(nodes))?;
    let gates = program.input_values("gates", Kind::U32, u64::from(nodes))?;
    let after = program.per_node("depends", Kind::U64)?;
    program.each("depend on themselves", Over::Nodes, |node| {
        node.store(after, node.load(made));
    });
    program.fixpoint("summaries", u32::MAX - 1, |body| {
        body.each("depend", Over::Nodes, |node| {
            let gate = node.latest(after, node.load(gates));
            let coming = node.gather(Edges::Out, Join::Or, |edge| {
                edge.only((gate >> edge.weight()).to_u32() & 1);
                edge.latest(after, edge.neighbour())
            });
            let own = node.load(after);
            let joined = own | coming;
            node.only(joined.differs(own));
            node.store(after, joined);
            node.changed(1);
        });
    });
    program.keep(after);
    let (encoded, _) = program.encode(&PlanRequest::default())?;
    let registers = Registers { made, gates, after };
    Ok((encoded, registers))
}

fn run(
    arrays: CsrArrays,
    made: &[u64],
    gates: &[u32],
    machine: &Machine,
    stats: &mut SolveStats,
) -> Result<Vec<u64>, ModuleError> {
    let clock = Instant::now();
    let graph = Graph::from_csr(arrays)?;
    let (encoded, registers) = program(graph.nodes())?;
    let mut session = ProgramSession::open(&graph, machine)?;
    session.load(&encoded)?;
    session.set_input(registers.made, bytemuck::cast_slice(made))?;
    session.set_input(registers.gates, gates)?;
    stats.upload_ns = elapsed_ns(clock);
    let run = session.run()?;
    stats.run_ns = run.run_ns;
    stats.iterations = run.control.loops.first().map_or(0, |one| one.iterations);
    let clock = Instant::now();
    let mut words = Vec::new();
    session.read(registers.after, &mut words)?;
    stats.read_ns = elapsed_ns(clock);
    let pairs = words.chunks_exact(2);
    Ok(pairs
        .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32)
        .collect())
}
