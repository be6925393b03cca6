//! The analyses that run on several devices, and how each is shared out.

use super::centers::Centers;
use super::dealt::{self, Sources};
use super::{Carrier, Devices, shared};
use crate::analysis::{AnalysisKind, Detail, End};
use crate::backend::Canceller;
use crate::graph::{Graph, WeightKind};
use crate::job::Job;
use crate::outcome::RunOutcome;
use crate::run::{RunError, RunRequest};
use seawall_core::abi::multi::DEVICES_MAX;

/// The work of an analysis on several devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Levels,
    Reached,
    Lengths,
    Components,
    Ranks,
    Cores,
}

/// How an analysis is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Each device has a part of the nodes.
    Cut(Work),
    /// Each device has the whole graph.
    Whole(Whole),
}

/// How work is shared out to devices that have the whole graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    /// Each has a part of the sources.
    Sources,
    /// Each has a part of the nodes from which triangles are looked for.
    Centers,
    /// Each runs a part of the items of a composed program.
    Shared,
}

impl Whole {
    /// Runs a job on devices, or on the ranks that `carrier` joins.
    pub(super) fn run(
        self,
        graph: &Graph,
        job: &mut Job<'_>,
        devices: &Devices,
        carrier: Option<&mut dyn Carrier>,
        canceller: &Canceller,
    ) -> Result<(RunOutcome, End), RunError> {
        let run = match self {
            Self::Sources => dealt::run::<Sources>,
            Self::Centers => dealt::run::<Centers>,
            Self::Shared => shared::run,
        };
        run(graph, job, devices, carrier, canceller)
    }
}

/// Analyses that run on several devices.
pub const ANALYSES: [AnalysisKind; 15] = [
    AnalysisKind::Bfs,
    AnalysisKind::Reach,
    AnalysisKind::Cc,
    AnalysisKind::Sssp,
    AnalysisKind::Pagerank,
    AnalysisKind::Kcore,
    AnalysisKind::Closeness,
    AnalysisKind::Eccentricity,
    AnalysisKind::Triangles,
    AnalysisKind::TriangleTotal,
    AnalysisKind::Widest,
    AnalysisKind::Mis,
    AnalysisKind::Scc,
    AnalysisKind::Msf,
    AnalysisKind::Ppr,
];

/// The names of [`ANALYSES`], for messages.
fn names() -> String {
    let [first @ .., last] = ANALYSES.map(AnalysisKind::name);
    format!("{} and {last}", first.join(", "))
}

/// How `request` is shared out to several devices, by the request alone.
pub(super) fn way_of(request: &RunRequest, devices: &Devices) -> Result<Way, RunError> {
    let analysis = request.analysis;
    let refuse = |what: String| RunError::CannotSplit { analysis, what };
    let way = match analysis {
        AnalysisKind::Bfs => Way::Cut(Work::Levels),
        AnalysisKind::Reach => Way::Cut(Work::Reached),
        AnalysisKind::Cc => Way::Cut(Work::Components),
        AnalysisKind::Sssp => Way::Cut(Work::Lengths),
        AnalysisKind::Pagerank => Way::Cut(Work::Ranks),
        AnalysisKind::Kcore => Way::Cut(Work::Cores),
        AnalysisKind::Closeness | AnalysisKind::Eccentricity => Way::Whole(Whole::Sources),
        AnalysisKind::Triangles | AnalysisKind::TriangleTotal => Way::Whole(Whole::Centers),
        AnalysisKind::Widest
        | AnalysisKind::Mis
        | AnalysisKind::Scc
        | AnalysisKind::Msf
        | AnalysisKind::Ppr => Way::Whole(Whole::Shared),
        _ => {
            return Err(refuse(format!(
                "{analysis} runs on one device; {} run on several",
                names()
            )));
        }
    };
    if request.detail != Detail::Plain {
        return Err(refuse(
            "parents and sets of sources are found on one device".to_owned(),
        ));
    }
    if request.topology.is_some() {
        return Err(refuse(
            "a search on several devices has no topology to choose".to_owned(),
        ));
    }
    let has_other_rounds = match way {
        Way::Cut(Work::Lengths | Work::Cores) => true,
        Way::Whole(Whole::Shared) => !analysis.facts().ranks,
        _ => false,
    };
    if request.max_iterations.is_some() && has_other_rounds {
        return Err(refuse(
            "the rounds of several devices are not those of one, so they have no limit".to_owned(),
        ));
    }
    let count = devices.count();
    if count == 0 || count as usize > DEVICES_MAX {
        return Err(refuse(format!(
            "a run has 1 to {DEVICES_MAX} devices, not {count}"
        )));
    }
    Ok(way)
}

/// How `request` on `graph` is shared out to several devices: ranks that follow weights need a composed
/// program, and strong components of an undirected graph are its components.
pub(super) fn way_on(
    graph: &Graph,
    request: &RunRequest,
    devices: &Devices,
) -> Result<Way, RunError> {
    let way = way_of(request, devices)?;
    Ok(match way {
        Way::Cut(Work::Ranks) if request.weighted => {
            let form = graph.form(request.form_of(graph)?)?;
            let is_followed = form.steering_weights().is_some();
            if is_followed {
                Way::Whole(Whole::Shared)
            } else {
                way
            }
        }
        Way::Whole(Whole::Shared)
            if request.analysis == AnalysisKind::Scc && graph.is_symmetric() =>
        {
            Way::Cut(Work::Components)
        }
        way => way,
    })
}

/// Refuses what no part of a graph can answer.
pub(super) fn check(graph: &Graph, request: &RunRequest) -> Result<(), RunError> {
    request.check_for(graph)?;
    check_weights(request, graph.weight_kind())
}

/// Refuses weights along which devices search no paths.
pub(super) fn check_weights(
    request: &RunRequest,
    kind: Option<WeightKind>,
) -> Result<(), RunError> {
    if !request.needs_signed_paths_along(kind) {
        return Ok(());
    }
    Err(RunError::CannotSplit {
        analysis: request.analysis,
        what: "paths along negative weights are found on one device".to_owned(),
    })
}
