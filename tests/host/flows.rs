//! Gen/kill problems, each by one thread, warp or block, against a plain iteration.

use crate::drawn::{Tried, each};
use crate::lanes::{LIMITS, MACHINES, session};
use proptest::prelude::*;
use seawall::backend::cpu::CpuSession;
use seawall::backend::{ProgramSession, Session};
use seawall::graph::{CsrArrays, Graph};
use seawall::program::{Kind, PlanRequest, Problems, ProgramBuilder, ProgramError};
use seawall_oracles::random::Random;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Problems over ranges of one graph.
#[derive(Clone, Debug, Default)]
struct Flows {
    rows: Vec<Vec<u32>>,
    transfer: Vec<[u64; 2]>,
    ranges: Vec<[u32; 2]>,
}

/// Words of all nodes, and the most sweeps of a range.
type Solved = (Vec<u64>, u32);

impl Flows {
    /// Adds a range with these rows, whose nodes are counted from its first one.
    fn add(&mut self, rows: &[Vec<u32>], random: &mut Random) {
        let first = self.rows.len() as u32;
        for row in rows {
            self.rows.push(row.iter().map(|to| to + first).collect());
            // Few nodes make a fact, and most keep most of them.
            let made = 1_u64.wrapping_shl(random.below(64)) * u64::from(random.once_in(4));
            let bits = || u64::from(u32::MAX);
            let word = |random: &mut Random| u64::from(random.below(u32::MAX));
            let kill = (word(random) & word(random)) | (word(random) & word(random) & bits()) << 32;
            let kept = if random.once_in(3) { !kill } else { u64::MAX };
            self.transfer.push([made, kept]);
        }
        self.ranges.push([first, self.rows.len() as u32]);
    }

    /// Ranges of one node, of fewer nodes than a warp, of about as many, and of many more.
    fn draw(random: &mut Random) -> Self {
        let mut flows = Self::default();
        for _ in 0..1 + random.below(6) {
            let nodes = random
                .pick(&[1, 1, 2, 7, 31, 32, 33, 65, 97, 230])
                .unwrap_or(1);
            let rows = draw_rows(nodes, random);
            flows.add(&rows, random);
            if random.once_in(4) {
                // A node of no range.
                flows.add(&[Vec::new()], random);
                flows.ranges.pop();
            }
        }
        // Edges from one range to another count for nothing.
        let nodes = flows.rows.len() as u32;
        for _ in 0..random.below(4) {
            let [from, to] = [(); 2].map(|()| random.below(nodes));
            let range_of = |node: u32| {
                flows
                    .ranges
                    .iter()
                    .position(|[a, b]| (*a..*b).contains(&node))
            };
            if range_of(from) != range_of(to) {
                flows.rows[from as usize].push(to);
            }
        }
        flows
    }

    fn expected(&self) -> Vec<u64> {
        let mut words = vec![0; self.rows.len()];
        for [first, end] in &self.ranges {
            let mut changed = true;
            while changed {
                changed = false;
                for node in (*first..*end).rev() {
                    let row = self.rows[node as usize].iter();
                    let inside = row.filter(|to| (first..end).contains(to));
                    let coming = inside.fold(0, |all, to| all | words[*to as usize]);
                    let [made, kept] = self.transfer[node as usize];
                    let word = made | coming & kept;
                    changed |= word != words[node as usize];
                    words[node as usize] = word;
                }
            }
        }
        words
    }

    fn graph(&self) -> Graph {
        let mut arrays = CsrArrays::default();
        arrays.offsets.push(0);
        for row in &self.rows {
            let row: BTreeSet<u32> = row.iter().copied().collect();
            arrays.targets.extend(row);
            arrays.offsets.push(arrays.targets.len() as u32);
        }
        Graph::from_csr(arrays).unwrap()
    }

    fn solve(&self, session: CpuSession<'_>, large: u32) -> Result<Solved, String> {
        let nodes = self.rows.len() as u32;
        let mut program = ProgramBuilder::new(nodes);
        let transfer = program
            .input_values("transfer", Kind::U64, 2 * u64::from(nodes))
            .unwrap();
        let count = 2 * self.ranges.len() as u64;
        let ranges = program.input_values("ranges", Kind::U32, count).unwrap();
        let after = program.per_node("after", Kind::U64).unwrap();
        let counters = program
            .values("counters", Kind::U32, Problems::COUNTERS)
            .unwrap();
        program.fill("nothing", after, 0);
        let problems = Problems {
            transfer,
            ranges,
            large,
            counters,
        };
        program.settle("settle", after, problems);
        program.keep(after);
        program.keep(counters);
        let (encoded, _) = program.encode(&PlanRequest::default()).unwrap();
        let mut session = ProgramSession::over(Box::new(session) as Box<dyn Session>);
        session.load(&encoded).unwrap();
        let words: Vec<u32> = self
            .transfer
            .iter()
            .flatten()
            .flat_map(|word| halves(*word))
            .collect();
        session.set_input(transfer, &words).unwrap();
        session
            .set_input(ranges, self.ranges.as_flattened())
            .unwrap();
        session.run().map_err(|error| error.to_string())?;
        let mut words = Vec::new();
        session.read(counters, &mut words).unwrap();
        let sweeps = words[Problems::SWEEPS];
        session.read(after, &mut words).unwrap();
        let pairs = words.chunks_exact(2);
        let words = pairs.map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
        Ok((words.collect(), sweeps))
    }
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// Rows of a chain with branches, joins and loops, some of which have several entries; sometimes of
/// any edges; sometimes with rows for a whole warp.
fn draw_rows(nodes: u32, random: &mut Random) -> Vec<Vec<u32>> {
    let mut rows = vec![Vec::new(); nodes as usize];
    let is_ordered = !random.once_in(4);
    for (node, row) in (0..nodes).zip(&mut rows) {
        let (before, after) = (node.max(1), nodes - node);
        if is_ordered {
            row.extend(node.checked_sub(1).filter(|_| !random.once_in(9)));
            for _ in 0..random.below(3) {
                row.push(random.below(before));
            }
            if random.once_in(8) {
                row.push(node + random.below(after));
            }
        } else {
            row.extend((0..random.below(4)).map(|_| random.below(nodes)));
        }
        if random.once_in(40) {
            row.extend((0..random.below(60)).map(|_| random.below(nodes)));
        }
    }
    rows
}

/// A chain in which `depth` loops lie in each other, `apart` nodes from one header or end to the
/// next.
fn nest(depth: u32, apart: u32) -> Vec<Vec<u32>> {
    let nodes = (2 * depth + 1) * apart;
    let mut rows: Vec<Vec<u32>> = (0..nodes)
        .map(|node| node.checked_sub(1).into_iter().collect())
        .collect();
    for one in 0..depth {
        rows[(one * apart) as usize].push(nodes - 1 - one * apart);
    }
    rows
}

fn check(flows: &Flows, solved: Result<Solved, String>) -> Result<u32, String> {
    let (found, sweeps) = solved?;
    let expected = flows.expected();
    match (0..found.len()).find(|at| found[*at] != expected[*at]) {
        Some(at) => Err(format!(
            "node {at}: {:x}, not {:x}",
            found[at], expected[at]
        )),
        None => Ok(sweeps),
    }
}

fn by_threads(graph: &Graph, threads: usize) -> CpuSession<'_> {
    CpuSession::open(graph, NonZeroUsize::new(threads), LIMITS).unwrap()
}

fn by_lanes(seed: u64, machine: u32) -> Tried {
    let mut random = Random::new(seed);
    let flows = Flows::draw(&mut random);
    let large = random.below(flows.ranges.len() as u32 + 2);
    let graph = flows.graph();
    check(&flows, flows.solve(session(&graph, machine), large))?;
    Ok(())
}

#[test]
fn warps_and_blocks_settle_where_a_plain_iteration_does() {
    let drawn = (any::<u64>(), MACHINES);
    each(12, drawn, |(seed, machine)| by_lanes(seed, machine));
}

proptest! {
    #[test]
    fn threads_settle_where_a_plain_iteration_does(seed: u64, threads in 1_usize..4) {
        let mut random = Random::new(seed);
        let flows = Flows::draw(&mut random);
        let large = random.below(9);
        let graph = flows.graph();
        check(&flows, flows.solve(by_threads(&graph, threads), large))
            .map_err(TestCaseError::fail)?;
    }
}

#[test]
fn loops_take_as_many_sweeps_as_they_are_nested_and_three() {
    let mut random = Random::new(5);
    for (depth, apart) in [(1, 1), (2, 9), (3, 20), (5, 3)] {
        let mut flows = Flows::default();
        flows.add(&nest(depth, apart), &mut random);
        let graph = flows.graph();
        for machine in MACHINES {
            for large in [0, 1] {
                let solved = flows.solve(session(&graph, machine), large);
                let sweeps = check(&flows, solved).unwrap();
                assert!(
                    sweeps <= depth + 3,
                    "{sweeps} at depth {depth}, {apart} apart"
                );
            }
        }
        let sweeps = check(&flows, flows.solve(by_threads(&graph, 1), 0)).unwrap();
        assert!(
            sweeps <= depth + 3,
            "{sweeps} at depth {depth}, {apart} apart"
        );
    }
}

#[test]
fn rows_that_only_lead_back_take_one_sweep() {
    let mut random = Random::new(6);
    let rows: Vec<Vec<u32>> = (0..150_u32)
        .map(|node| (0..node).step_by(4).collect())
        .collect();
    let mut flows = Flows::default();
    flows.add(&rows, &mut random);
    let graph = flows.graph();
    for large in [0, 1] {
        let solved = flows.solve(session(&graph, 3), large);
        assert_eq!(check(&flows, solved), Ok(1));
    }
    assert_eq!(check(&flows, flows.solve(by_threads(&graph, 2), 0)), Ok(1));
}

#[test]
fn ranges_of_nodes_that_a_graph_lacks_are_refused() {
    let mut random = Random::new(7);
    for range in [[0, 4], [3, 2], [5, 5]] {
        let mut flows = Flows::default();
        flows.add(&[vec![], vec![0], vec![1]], &mut random);
        flows.ranges.push(range);
        let graph = flows.graph();
        for large in [0, 2] {
            let error = flows.solve(session(&graph, 1), large).unwrap_err();
            assert!(error.contains("index"), "{error}");
        }
        let error = flows.solve(by_threads(&graph, 1), 0).unwrap_err();
        assert!(error.contains("index"), "{error}");
    }
}

#[test]
fn registers_for_fewer_nodes_are_refused() {
    let mut program = ProgramBuilder::new(3);
    let transfer = program.values("transfer", Kind::U64, 5).unwrap();
    let [ranges, counters] = ["ranges", "counters"].map(|name| program.words(name, 4).unwrap());
    let after = program.per_node("after", Kind::U64).unwrap();
    let problems = Problems {
        transfer,
        ranges,
        large: 0,
        counters,
    };
    program.settle("settle", after, problems);
    let error = program.encode(&PlanRequest::default()).err();
    assert!(
        matches!(
            error,
            Some(ProgramError::RegisterTooShort { needed: 12, .. })
        ),
        "{error:?}"
    );
}
