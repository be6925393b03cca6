//! Triangles: each device has the whole graph, and looks for them from a part of the nodes.
//!
//! A triangle is found from one of its corners, so the counts of all devices add up to those of
//! one. Each device keeps one direction of every edge for itself, O(m); the lookups after that are
//! shared out: ranges of nodes have about as many of them each. Memory is that of one device, on
//! each; devices do not meet, and `4 n` bytes of counts come from each.

use super::DevicesReport;
use super::dealt::Deal;
use super::ranges::short;
use crate::column::Column;
use crate::graph::Graph;
use crate::graph::memory::{Shortage, zeroed};
use crate::outcome::RunOutcome;
use crate::run::{RunError, RunRequest};
use crate::units::counted;
use rayon::prelude::*;
use seawall_core::abi::hubs::ROW_FEW;
use std::mem::take;

/// Lookups an edge from which on several devices are faster: each has to read all edges first.
const WORTH: u64 = 4;

/// The nodes of each device.
pub(super) struct Centers {
    /// First nodes of the ranges and the number of nodes; a range may be empty.
    cuts: Vec<u32>,
    /// Lookups from all nodes.
    lookups: u64,
    edges: u64,
}

impl Deal for Centers {
    /// GPUs keep edges of hubs in another direction.
    const MIXES: bool = false;

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

    fn parts(&self) -> usize {
        self.cuts.len() - 1
    }

    fn request(&self, request: &RunRequest, device: usize) -> RunRequest {
        RunRequest {
            centers: Some([self.cuts[device], self.cuts[device + 1]]),
            ..request.clone()
        }
    }

    fn words(&self, _: usize) -> usize {
        self.cuts[self.parts()] as usize
    }

    /// Triangles at each node that were found from the nodes of the device.
    fn take(&self, _: usize, found: &mut RunOutcome) -> Vec<u32> {
        match &mut found.values {
            Column::U32(counts) => take(counts),
            // Triangles are counted in words.
            _ => Vec::new(),
        }
    }

    /// A node's triangles fit a word.
    fn join(self, found: Vec<Vec<u32>>, all: &mut RunOutcome) -> DevicesReport {
        let mut found = found.into_iter();
        let mut counts = found.next().unwrap_or_default();
        for more in found {
            let both = counts.par_iter_mut().zip(&more);
            both.for_each(|(count, more)| *count = count.wrapping_add(*more));
        }
        all.values = Column::U32(counts);
        let ranges = self.cuts.windows(2);
        DevicesReport {
            centers: ranges.map(|range| u64::from(range[1] - range[0])).collect(),
            ..DevicesReport::default()
        }
    }

    /// There are few lookups to share out.
    fn reason_for_one(&self) -> Option<String> {
        let is_worth = self.lookups >= self.edges.saturating_mul(WORTH);
        (self.parts() < 2 || !is_worth).then(|| {
            format!(
                "one device is the better choice: each reads all edges first, and there are {} lookups to share out for {}",
                self.lookups,
                counted(self.edges, "edge")
            )
        })
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
                let shares = Centers::of(&graph, &request, devices).unwrap();
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
        let reason = |graph| Centers::of(graph, &request, 2).unwrap().reason_for_one();
        let reason_of_grid = reason(&grid.graph).unwrap();
        assert!(
            reason_of_grid.contains("one device is the better choice"),
            "{reason_of_grid}"
        );
        let dense = load("gen:rmat:12:64", &LoadOptions::default(), None).unwrap();
        assert_eq!(reason(&dense.graph), None);
    }
}
