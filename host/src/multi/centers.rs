//! Triangles: each device has the whole graph, and looks for them from a part of the nodes.
//!
//! A triangle is found from one of its corners, so the counts of all devices add up to those of
//! one. Each device keeps one direction of every edge for itself, O(m); the lookups after that are
//! shared out: ranges of nodes have about as many of them each. Memory is that of one device, on
//! each; devices do not meet, and `4 n` bytes of counts come from each.

use super::dealt::{FIGURES, Figures, answer, gather, machine, name, on_each, together};
use super::ranges::short;
use super::{Carrier, Devices};
use crate::analysis::End;
use crate::backend::Canceller;
use crate::backend::cpu::processes::split;
use crate::column::Column;
use crate::graph::Graph;
use crate::graph::memory::{Shortage, zeroed};
use crate::job::Job;
use crate::outcome::{Event, RunOutcome};
use crate::run::{Phase, RunError, RunRequest};
use crate::units::counted;
use bytemuck::{bytes_of, cast_slice, pod_read_unaligned};
use rayon::prelude::*;
use seawall_core::abi::hubs::ROW_FEW;
use std::mem::take;

/// Lookups an edge from which on several devices are faster: each has to read all edges first.
const WORTH: u64 = 4;

/// The nodes of each device.
struct Shares {
    /// First nodes of the ranges and the number of nodes; a range may be empty.
    cuts: Vec<u32>,
    /// Lookups from all nodes.
    lookups: u64,
    edges: u64,
}

impl Shares {
    /// Shares the nodes of `graph` out: O(n + m) on threads of the host.
    fn of(graph: &Graph, request: &RunRequest, devices: u32) -> Result<Self, RunError> {
        let form = graph.form(request.form_of(graph)?)?;
        let mut ends = lookups(form).map_err(short)?;
        let mut sum = 0_u64;
        for end in &mut ends {
            sum = sum.saturating_add(*end);
            *end = sum;
        }
        let cut = |device| {
            let wanted = u128::from(sum) * u128::from(device) / u128::from(devices.max(1));
            ends.partition_point(|end| u128::from(*end) <= wanted) as u32
        };
        let mut cuts = vec![0];
        cuts.extend((1..devices).map(cut));
        cuts.push(form.nodes());
        Ok(Self {
            cuts,
            lookups: sum,
            edges: u64::from(form.edges()),
        })
    }

    fn devices(&self) -> u32 {
        self.cuts.len() as u32 - 1
    }

    /// The request of a device.
    fn request(&self, request: &RunRequest, devices: &Devices, at: usize) -> RunRequest {
        RunRequest {
            centers: Some([self.cuts[at], self.cuts[at + 1]]),
            machine: machine(request.machine, devices, at),
            check: false,
            explain: false,
            ..request.clone()
        }
    }

    fn reason_for_one(&self) -> Option<String> {
        let is_worth = self.lookups >= self.edges.saturating_mul(WORTH);
        (self.devices() < 2 || !is_worth).then(|| {
            format!(
                "one device is the better choice: each reads all edges first, and there are {} lookups to share out for {}",
                self.lookups,
                counted(self.edges, "edge")
            )
        })
    }

    /// The outcome of all devices, by that of one and what each found.
    fn whole(
        &self,
        graph: &Graph,
        request: &RunRequest,
        one: RunOutcome,
        devices: &Devices,
        found: &[Counted],
    ) -> Result<(RunOutcome, End), RunError> {
        let figures: Vec<_> = found.iter().map(|found| Some(found.figures)).collect();
        let mut all = together(one, devices, &figures);
        all.values = Column::U32(added(found));
        if let Some(report) = &mut all.devices {
            let ranges = self.cuts.windows(2);
            report.centers = ranges.map(|range| u64::from(range[1] - range[0])).collect();
        }
        let end = answer(graph, request, &mut all)?;
        Ok((all, end))
    }
}

/// The lookups from each node, and the entries of its own row: O(n + m).
fn lookups(graph: &Graph) -> Result<Vec<u64>, Shortage> {
    let place = |node: u32| (graph.neighbours(node).len(), node);
    let mut kept: Vec<u32> = zeroed(graph.nodes() as usize)?;
    let count = |(node, kept): (usize, &mut u32)| {
        let (row, own) = (graph.neighbours(node as u32), place(node as u32));
        *kept = row.iter().filter(|to| place(**to) > own).count() as u32;
    };
    kept.par_iter_mut().enumerate().for_each(count);
    let mut lookups: Vec<u64> = zeroed(kept.len())?;
    let sum = |(node, sum): (usize, &mut u64)| {
        let (len, own) = (kept[node], place(node as u32));
        *sum = 1 + u64::from(len);
        if len < 2 {
            return;
        }
        // As the kernels choose which of two rows is looked up in the other.
        let entries = |to: &u32| {
            let longest = match place(*to) > own {
                true => len.max(ROW_FEW),
                false if len > ROW_FEW => len - 1,
                false => return 0,
            };
            let theirs = kept[*to as usize];
            1 + u64::from(if theirs <= longest { theirs } else { 0 })
        };
        let row = graph.neighbours(node as u32);
        *sum += row.iter().map(entries).sum::<u64>();
    };
    lookups.par_iter_mut().enumerate().for_each(sum);
    Ok(lookups)
}

/// The findings of one device.
struct Counted {
    figures: Figures,
    /// Triangles at each node that were found from the nodes of the device.
    counts: Vec<u32>,
}

impl Counted {
    /// Takes the counts out of `outcome`.
    fn of(outcome: &mut RunOutcome) -> Self {
        let figures = Figures::of(outcome);
        let counts = match &mut outcome.values {
            Column::U32(counts) => take(counts),
            // Triangles are counted in words.
            _ => Vec::new(),
        };
        Self { figures, counts }
    }

    fn words(&self) -> Vec<u32> {
        [cast_slice(bytes_of(&self.figures)), &self.counts[..]].concat()
    }

    fn from_words(words: &[u32]) -> Self {
        let (figures, counts) = words.split_at(FIGURES);
        Self {
            figures: pod_read_unaligned(cast_slice(figures)),
            counts: counts.to_vec(),
        }
    }
}

/// The counts of all devices. A node's triangles fit a word.
fn added(found: &[Counted]) -> Vec<u32> {
    let mut counts = found.first().map_or(Vec::new(), |one| one.counts.clone());
    for more in found.iter().skip(1) {
        let both = counts.par_iter_mut().zip(&more.counts);
        both.for_each(|(count, more)| *count = count.wrapping_add(*more));
    }
    counts
}

/// Why one device is the better choice, if it is: there are few lookups to share out.
pub(super) fn reason_for_one(
    graph: &Graph,
    request: &RunRequest,
    devices: u32,
) -> Result<Option<String>, RunError> {
    Ok(Shares::of(graph, request, devices)?.reason_for_one())
}

/// Runs a job whose nodes are shared out.
///
/// # Errors
/// As [`super::execute_with`].
pub(super) fn run(
    graph: &Graph,
    job: &mut Job<'_>,
    devices: &Devices,
    canceller: &Canceller,
) -> Result<(RunOutcome, End), RunError> {
    job.phase(Phase::Plan);
    let shares = Shares::of(graph, job.request, devices.count())?;
    let requests: Vec<_> = (0..shares.devices() as usize)
        .map(|at| Some(shares.request(job.request, devices, at)))
        .collect();
    job.phase(Phase::Upload);
    let outcomes = on_each(graph, &requests, canceller)?;
    let mut outcomes: Vec<RunOutcome> = outcomes.into_iter().flatten().collect();
    let found: Vec<Counted> = outcomes.iter_mut().map(Counted::of).collect();
    let others = outcomes.iter_mut().skip(1);
    let events: Vec<Event> = others.flat_map(|other| take(&mut other.events)).collect();
    let one = outcomes.swap_remove(0);
    let device = name(devices, &one);
    let (mut outcome, end) = shares.whole(graph, job.request, one, devices, &found)?;
    outcome.device = device;
    outcome.events.extend(events);
    outcome.backend_reason = shares.reason_for_one();
    Ok((outcome, end))
}

/// Runs this rank's part of a job, and returns the counts of all.
///
/// # Errors
/// As [`super::execute_on_ranks`].
pub(super) fn run_on_ranks(
    graph: &Graph,
    job: &mut Job<'_>,
    devices: &Devices,
    carrier: &mut dyn Carrier,
    canceller: &Canceller,
) -> Result<(RunOutcome, End), RunError> {
    job.phase(Phase::Upload);
    let (request, own, ranks) = (
        job.request,
        carrier.rank() as usize,
        carrier.ranks() as usize,
    );
    let shares = Shares::of(graph, request, devices.count());
    let asked = shares.as_ref().ok();
    let asked = asked.map(|shares| shares.request(request, devices, own));
    let counts = vec![FIGURES + graph.nodes() as usize; ranks];
    let words = |found: &mut RunOutcome| Counted::of(found).words();
    let gathered = gather(graph, asked, carrier, canceller, &counts, words);
    let shares = shares?;
    let (one, all) = gathered?;
    let all: Vec<Counted> = split(&all, &counts).map(Counted::from_words).collect();
    shares.whole(graph, request, one, devices, &all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{LoadOptions, load};
    use crate::run::AnalysisKind;

    #[test]
    fn ranges_have_about_as_many_lookups_each() {
        let request = RunRequest::new(AnalysisKind::TriangleTotal, Vec::new());
        for shape in ["gen:rmat:13:16", "gen:uniform:13:8", "gen:grid:90"] {
            let graph = load(shape, &LoadOptions::default(), None).unwrap().graph;
            let form = graph.form(request.form_of(&graph).unwrap()).unwrap();
            let work = lookups(form).unwrap();
            let most = *work.iter().max().unwrap();
            for devices in 1..6 {
                let shares = Shares::of(&graph, &request, devices).unwrap();
                assert_eq!(shares.cuts.len() as u32, devices + 1);
                assert_eq!(shares.lookups, work.iter().sum::<u64>());
                for range in shares.cuts.windows(2) {
                    let own = work[range[0] as usize..range[1] as usize].iter();
                    let even = shares.lookups / u64::from(devices);
                    assert!(own.sum::<u64>() <= even + most, "{shape} on {devices}");
                }
            }
        }
        let grid = load("gen:grid:9", &LoadOptions::default(), None).unwrap();
        let reason = reason_for_one(&grid.graph, &request, 2).unwrap().unwrap();
        assert!(
            reason.contains("one device is the better choice"),
            "{reason}"
        );
        let dense = load("gen:rmat:12:64", &LoadOptions::default(), None).unwrap();
        assert_eq!(reason_for_one(&dense.graph, &request, 2).unwrap(), None);
    }
}
