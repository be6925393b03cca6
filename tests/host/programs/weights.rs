//! Weights of the edges of either direction, in code and in waves of other crates: each edge has its
//! own.

use super::plan;
use proptest::prelude::*;
use seawall::backend::batch::{BatchSession, Job, cpu::CpuBatch};
use seawall::backend::cpu::CpuSession;
use seawall::backend::{RunLimits, Session, open_baseline};
use seawall::executor::Machine as Executors;
use seawall::graph::Graph;
use seawall::own::OwnWaves;
use seawall::program::{
    Call, Edge, Edges, EncodedProgram, GraphSize, Join, Kind, Over, PlanRequest, ProgramBuilder,
    RegisterId, Value, read_text,
};
use seawall_device::own::{Array, Facts, Fault, Machine, Operand, Running, Wave};
use serde_json::{Value as Json, json};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// Edges with weights, at most one from each node to each other.
#[derive(Clone, Debug)]
struct Weighted {
    nodes: u32,
    edges: Vec<(u32, u32, u32)>,
    undirected: bool,
}

impl Weighted {
    fn graph(&self, is_float: bool) -> Graph {
        let (nodes, undirected) = (self.nodes, self.undirected);
        if is_float {
            let edges: Vec<_> = self
                .edges
                .iter()
                .map(|&(a, b, w)| (a, b, w as f32))
                .collect();
            return Graph::from_float_edges(nodes, &edges, undirected).unwrap();
        }
        Graph::from_weighted_edges(nodes, &self.edges, undirected).unwrap()
    }

    /// The node at the other end and the weight of each of the edges of `node`.
    fn row(&self, node: u32, edges: Edges) -> Vec<(u32, u32)> {
        let mut row = Vec::new();
        for &(from, to, weight) in &self.edges {
            let directed = [(from, to), (to, from)];
            for (from, to) in directed.into_iter().take(1 + usize::from(self.undirected)) {
                let (own, other) = match edges {
                    Edges::Out => (from, to),
                    Edges::In => (to, from),
                };
                if own == node {
                    row.push((other, weight));
                }
            }
        }
        row
    }
}

fn weighted() -> impl Strategy<Value = Weighted> {
    let nodes = 2_u32..60;
    nodes.prop_flat_map(|nodes| {
        let edge = (0..nodes, 0..nodes, 0_u32..5000);
        (proptest::collection::vec(edge, 0..300), any::<bool>()).prop_map(
            move |(mut edges, undirected)| {
                let key = |&(a, b, _): &(u32, u32, u32)| match undirected {
                    true => (a.min(b), a.max(b)),
                    false => (a, b),
                };
                edges.retain(|(from, to, _)| from != to);
                edges.sort_unstable_by_key(key);
                edges.dedup_by_key(|edge| key(edge));
                Weighted {
                    nodes,
                    edges,
                    undirected,
                }
            },
        )
    })
}

/// A number of each node, which edges see.
const fn number_of(node: u32) -> u32 {
    node.wrapping_mul(37) % 101
}

/// A query about the edges of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunOptions {
    Sum,
    Least,
    SumWithNumbers,
    Lesser,
    Odd,
    Lightest,
    Floats,
    Changed,
}

const ASKED: [RunOptions; 8] = [
    RunOptions::Sum,
    RunOptions::Least,
    RunOptions::SumWithNumbers,
    RunOptions::Lesser,
    RunOptions::Odd,
    RunOptions::Lightest,
    RunOptions::Floats,
    RunOptions::Changed,
];

impl RunOptions {
    fn join(self) -> Join {
        match self {
            Self::Least | Self::Lightest => Join::Min,
            Self::Lesser => Join::Max,
            _ => Join::Sum,
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::Lightest => Kind::U64,
            Self::Floats => Kind::F32,
            _ => Kind::U32,
        }
    }

    /// The value of an edge.
    fn write<'c>(self, edge: Edge<'c>, numbers: RegisterId) -> Value<'c> {
        match self {
            Self::Sum | Self::Least => edge.weight(),
            Self::SumWithNumbers => edge.there(numbers) + edge.weight(),
            Self::Lesser => edge.weight().min(edge.there(numbers)),
            Self::Odd => {
                edge.only(edge.weight() & 1);
                edge.there(numbers)
            }
            Self::Lightest => edge.neighbour().below_high(edge.weight()),
            Self::Floats => edge.float_weight(),
            // Neither a load nor a change has a specialised form here.
            Self::Changed => (edge.weight() ^ edge.neighbour()) * 3,
        }
    }

    /// The statements before the join, and its value, as text.
    fn text(self) -> (Json, Json) {
        let value = match self {
            Self::Sum | Self::Least => json!(["weight"]),
            Self::SumWithNumbers => json!(["add", ["there", "numbers"], ["weight"]]),
            Self::Lesser => json!(["min", ["weight"], ["there", "numbers"]]),
            Self::Odd => {
                let only = json!([{"only": ["and", ["weight"], 1]}]);
                return (only, json!(["there", "numbers"]));
            }
            Self::Lightest => json!(["below_high", ["neighbour"], ["weight"]]),
            Self::Floats => json!(["float_weight"]),
            Self::Changed => json!(["mul", ["xor", ["weight"], ["neighbour"]], 3]),
        };
        (json!([]), value)
    }

    /// The answer for a row, in words.
    fn expected(self, row: &[(u32, u32)]) -> Vec<u32> {
        let all = row.iter().copied();
        match self {
            Self::Sum => vec![all.map(|(_, weight)| weight).sum()],
            Self::Least => vec![all.map(|(_, weight)| weight).min().unwrap_or(u32::MAX)],
            Self::SumWithNumbers => vec![all.map(|(to, weight)| number_of(to) + weight).sum()],
            Self::Lesser => {
                let lesser = all.map(|(to, weight)| weight.min(number_of(to)));
                vec![lesser.max().unwrap_or(0)]
            }
            Self::Odd => {
                let odd = all.filter(|(_, weight)| weight % 2 == 1);
                vec![odd.map(|(to, _)| number_of(to)).sum()]
            }
            Self::Lightest => match all.map(|(to, weight)| (weight, to)).min() {
                Some((weight, to)) => vec![to, weight],
                None => vec![u32::MAX; 2],
            },
            // Sums of so few small whole numbers are exact.
            Self::Floats => {
                let sum = all.fold(0.0, |sum, (_, weight)| sum + weight as f32);
                vec![f32::to_bits(sum)]
            }
            Self::Changed => {
                let each = all.map(|(to, weight)| (weight ^ to).wrapping_mul(3));
                vec![each.fold(0, u32::wrapping_add)]
            }
        }
    }
}

/// A program that answers a question about both directions, in one wave.
fn built(nodes: u32, asked: RunOptions) -> (EncodedProgram, [RegisterId; 2]) {
    let mut program = ProgramBuilder::new(nodes);
    let numbers = program.per_node("numbers", Kind::U32).unwrap();
    let results = ["into", "out of"].map(|name| program.per_node(name, asked.kind()).unwrap());
    program.each("number", Over::Nodes, |node| {
        node.store(numbers, node.index() * 37 % 101);
    });
    program.each("ask", Over::Nodes, |node| {
        for (edges, to) in [Edges::In, Edges::Out].into_iter().zip(results) {
            let found = node.gather(edges, asked.join(), |edge| asked.write(edge, numbers));
            node.store(to, found);
        }
    });
    for register in results {
        program.keep(register);
    }
    (plan(&program), results)
}

/// The same as text.
fn written(graph: &Graph, asked: RunOptions) -> (EncodedProgram, [RegisterId; 2]) {
    let (code, value) = asked.text();
    let how = match asked.join() {
        Join::Min => "min",
        Join::Max => "max",
        _ => "sum",
    };
    let part = |edges: &str, to: &str| {
        let join = json!([{"let": to, "how": how, "value": value}]);
        json!({"edges": edges, "code": code, "join": join})
    };
    let kind = asked.kind().name();
    let text = json!({
        "version": 1,
        "registers": [
            {"name": "numbers", "kind": "u32", "count": "nodes"},
            {"name": "into", "kind": kind, "count": "nodes", "keep": true},
            {"name": "out of", "kind": kind, "count": "nodes", "keep": true},
        ],
        "waves": [
            {"wave": "each", "over": "nodes", "code": [
                {"store": "numbers", "value": ["rem", ["mul", ["index"], 37], 101]},
            ]},
            {"wave": "each", "over": "nodes", "code": [
                part("in", "x"), part("out", "y"),
                {"store": "into", "value": "x"}, {"store": "out of", "value": "y"},
            ]},
        ],
    });
    let size = GraphSize {
        nodes: graph.nodes(),
        edges: graph.edges(),
    };
    let read = read_text(&text.to_string(), size).unwrap();
    let results = [&read.results[0], &read.results[1]].map(|result| result.register);
    (plan(&read.program), results)
}

fn expected(weighted: &Weighted, asked: RunOptions) -> [Vec<u32>; 2] {
    [Edges::In, Edges::Out].map(|edges| {
        let rows = (0..weighted.nodes).map(|node| weighted.row(node, edges));
        rows.flat_map(|row| asked.expected(&row)).collect()
    })
}

/// The results of a program in a session.
fn results(
    session: &mut dyn Session,
    program: &EncodedProgram,
    registers: [RegisterId; 2],
) -> [Vec<u32>; 2] {
    session.load(program).unwrap();
    session.run(&[]).unwrap();
    registers.map(|register| {
        let mut words = Vec::new();
        session.read(register, &mut words).unwrap();
        words
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_edge_has_its_own_weight(
        weighted in weighted(),
        asked in proptest::sample::select(&ASKED[..]),
        threads in proptest::sample::select(vec![1_usize, 2, 5]),
    ) {
        let graph = weighted.graph(asked == RunOptions::Floats);
        let wanted = expected(&weighted, asked);
        let threads = NonZeroUsize::new(threads);
        for (program, registers) in [built(weighted.nodes, asked), written(&graph, asked)] {
            let mut session = CpuSession::open(&graph, threads, RunLimits::default()).unwrap();
            prop_assert_eq!(&results(&mut session, &program, registers), &wanted);
            let mut baseline = open_baseline(&graph, &Executors::cpu(threads)).unwrap();
            prop_assert_eq!(&results(baseline.as_mut(), &program, registers), &wanted);
            let job = Job {
                graph: &graph,
                inputs: Vec::new(),
                result: registers[0],
                program: Arc::new(program),
            };
            let limits = RunLimits::default();
            let mut batch = CpuBatch::open(&[job], threads, limits, None).unwrap();
            batch.run().unwrap();
            let found = batch.read().unwrap();
            prop_assert_eq!(&found[0], &wanted[0]);
        }
    }
}

const BOTH: [Array; 2] = [Array::Incoming, Array::IncomingWeights];

/// The sums of the weights of the edges that enter each node.
struct WeightsIn;

impl Wave for WeightsIn {
    const NAME: &'static str = "WeightsIn";
    const FACTS: Facts = Facts::of(&[], &[Operand::To]).reading(&BOTH);

    fn run<M: Machine>(wave: &mut Running<'_, M>) -> Result<(), Fault> {
        let to = wave.write(Operand::To)?;
        let (rows, weights) = (wave.incoming()?, wave.incoming_weights()?);
        wave.each_node(|node| {
            let edges = node.edges(rows, node.index());
            let sum = edges.fold(0_u32, |sum, edge| {
                sum.wrapping_add(node.weight(weights, edge))
            });
            node.store(to, node.index(), sum);
        });
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn waves_of_other_crates_read_weights_of_incoming_edges(weighted in weighted()) {
        let graph = weighted.graph(false);
        let mut program = ProgramBuilder::new(weighted.nodes);
        program.use_waves(&OwnWaves::of::<(WeightsIn,)>());
        let sums = program.per_node("sums", Kind::U32).unwrap();
        program.own::<WeightsIn>("add", Call::to(sums));
        program.keep(sums);
        let mut session =
            CpuSession::open(&graph, NonZeroUsize::new(2), RunLimits::default()).unwrap();
        let found = results(&mut session, &plan(&program), [sums; 2]);
        prop_assert_eq!(&found[0], &expected(&weighted, RunOptions::Sum)[0]);
    }
}

#[test]
fn the_case_of_another_edges_weight_is_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases");
    let text = std::fs::read_to_string(folder.join("weights_in.json"));
    let Ok(text) = text else {
        println!("skipped: no {}", folder.display());
        return;
    };
    let edges = [(0, 1, 5), (2, 1, 7), (1, 0, 100), (2, 3, 1000)];
    let graph = Graph::from_weighted_edges(4, &edges, false).unwrap();
    let size = GraphSize { nodes: 4, edges: 4 };
    let read = read_text(&text, size).unwrap();
    let (program, _) = read.program.encode(&PlanRequest::default()).unwrap();
    let mut session = CpuSession::open(&graph, None, RunLimits::default()).unwrap();
    let kept = read.results[0].register;
    let found = results(&mut session, &program, [kept; 2]);
    assert_eq!(found[0], [100, 12, 0, 1000]);
}
