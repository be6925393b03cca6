//! The choice of `auto`, against all alternatives.
//!
//! Sixty commands: analyses of grids, chains, random graphs and road networks from a thousand
//! nodes to a million. Each is timed as in one command, from the loaded graph to the result, in
//! turns on one thread, on all threads, on a GPU if there is one, and with `auto`, including its
//! choice.

use super::BenchError;
use super::row::{Baseline, Clock, Figure, Floor, Row, Timing, Unit};
use super::setting::Setting;
use seawall::graph::{Graph, LoadOptions, WeightChoice, load};
use seawall::outcome::RunOutcome;
use seawall::run::{AnalysisKind, Executor, Machine, RunError, RunRequest, execute};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use AnalysisKind::{Bfs, Cc, Kcore, Pagerank, Reach, Sssp, Triangles};

/// The graphs and the analyses of each: sixty commands.
const CASES: [(&str, &[AnalysisKind]); 13] = [
    ("gen:grid:64", &ALL),
    ("gen:grid:256", &ALL),
    ("gen:grid:1024", &ALL),
    ("gen:chain:4096", &[Bfs]),
    ("gen:chain:262144", &[Bfs, Reach, Cc, Sssp, Pagerank]),
    ("gen:rmat:10:16", &[Bfs, Cc, Pagerank]),
    ("gen:rmat:14:16", &ALL),
    ("gen:rmat:18:16", &[Bfs, Reach, Cc, Sssp, Pagerank, Kcore]),
    ("gen:uniform:12:8", &[Bfs, Cc, Pagerank]),
    (
        "gen:uniform:16:8",
        &[Bfs, Cc, Sssp, Pagerank, Kcore, Triangles],
    ),
    ("gen:uniform:19:16", &[Bfs, Cc]),
    ("NY.gr.xz", &[Bfs, Cc, Pagerank]),
    ("FLA.gr.xz", &[Bfs, Cc, Pagerank]),
];

/// Every analysis of a single column.
const ALL: [AnalysisKind; 7] = [Bfs, Reach, Cc, Sssp, Pagerank, Kcore, Triangles];

/// Variable that names the folder of the files.
const FOLDER: &str = "SEAWALL_ROADS";

/// Largest ratio of a good choice to the best one.
const WITHIN: f64 = 1.1;

/// Unnoticeable difference, nanoseconds: starting a process takes a hundred times as long.
const UNNOTICED_NS: f64 = 20e3;

/// Fewest and most turns, and the time after which no further one starts.
const TURNS: (usize, usize) = (5, 31);
const LONG: Duration = Duration::from_millis(1500);

/// Adds a row for each case, and the number of good choices.
pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let rivals = Rivals::find(setting)?;
    let cases = if setting.quick { &CASES[..1] } else { &CASES };
    let (mut good, mut all) = (0, 0);
    for (name, analyses) in cases {
        setting.say(format!("making {name}"));
        let Some(graph) = graph_of(setting, name)? else {
            continue;
        };
        for analysis in *analyses {
            setting.say(format!("{analysis}, {name}"));
            let case = Case {
                graph: &graph,
                analysis: *analysis,
                quick: setting.quick,
            };
            let (row, within) = case.row(&rivals, name)?;
            good += usize::from(within);
            all += 1;
            setting.push(row);
        }
    }
    setting.note(format!(
        "auto: {good} of {all} within a tenth of the better of one thread, all threads and the GPU"
    ));
    Ok(())
}

/// Returns the graph of that name; `None`, and a note, if its file is missing.
fn graph_of(setting: &mut Setting<'_>, name: &str) -> Result<Option<Graph>, BenchError> {
    let options = LoadOptions {
        undirected: false,
        weights: WeightChoice::Given,
        ..LoadOptions::default()
    };
    if name.starts_with("gen:") {
        return Ok(Some(load(name, &options, None)?.graph));
    }
    let folder = std::env::var_os(FOLDER).unwrap_or_default();
    let path = Path::new(&folder).join(name);
    if !path.is_file() {
        setting.note(format!(
            "{name} is left out: {} is not there; {FOLDER} names the folder",
            path.display()
        ));
        return Ok(None);
    }
    Ok(Some(load(&path, &options, None)?.graph))
}

/// The machines that `auto` chooses from.
struct Rivals {
    threads: NonZeroUsize,
    /// The GPU, and the time that a command waits for it beyond a run here, nanoseconds.
    gpu: Option<(u32, f64)>,
}

impl Rivals {
    fn find(setting: &mut Setting<'_>) -> Result<Self, BenchError> {
        let mut gpu = None;
        if let Some(device) = setting.gpu.as_ref().map(|limits| limits.ordinal) {
            setting.say("opening the GPU");
            gpu = Some((device, opening_ns(device)?));
        }
        Ok(Self {
            threads: setting.threads,
            gpu,
        })
    }

    /// Returns those that run in turns, with their names; `auto` last.
    fn in_turns(&self) -> Vec<Rival> {
        let one = Some(NonZeroUsize::MIN);
        let mut all = vec![Rival::new("one thread", Machine::cpu(one))];
        if self.threads > NonZeroUsize::MIN {
            all.push(Rival::new("all threads", Machine::cpu(Some(self.threads))));
        }
        let mut auto = Machine::auto();
        auto.device = self.gpu.map_or(0, |(device, _)| device);
        all.push(Rival::new("auto", auto));
        all
    }
}

/// One of those, and its times in nanoseconds.
struct Rival {
    name: &'static str,
    machine: Machine,
    times: Vec<f64>,
    /// The device of its last run.
    device: String,
}

impl Rival {
    const fn new(name: &'static str, machine: Machine) -> Self {
        Self {
            name,
            machine,
            times: Vec::new(),
            device: String::new(),
        }
    }
}

/// Returns how much longer a separate process waits for GPU `device` than a run of this process,
/// whose driver is open. Measured with commands on a graph of four nodes.
fn opening_ns(device: u32) -> Result<f64, BenchError> {
    let spec = "gen:grid:2";
    let command = |backend: &str| {
        let mut all: Vec<f64> = (0..TURNS.0)
            .map(|_| {
                let start = Instant::now();
                let mut command = Command::new(std::env::current_exe().unwrap_or_default());
                command.args(["run", spec, "--analysis", "bfs", "--source", "0", "--quiet"]);
                command.args(["--backend", backend, "--device", &device.to_string()]);
                let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
                start.elapsed().as_nanos() as f64
            })
            .collect();
        Timing::of(&mut all).median
    };
    let whole_ns = command("mega") - command("cpu");
    let case = Case {
        graph: &load(spec, &LoadOptions::default(), None)?.graph,
        analysis: Bfs,
        quick: true,
    };
    let mega = Machine::gpu(Executor::Mega, device);
    case.run(mega)?;
    let (here_ns, _) = case.run(mega)?;
    Ok((whole_ns - here_ns).max(0.0))
}

/// An analysis of a graph.
struct Case<'g> {
    graph: &'g Graph,
    analysis: AnalysisKind,
    quick: bool,
}

impl Case<'_> {
    /// Runs it from the graph to the result; returns nanoseconds and the result.
    fn run(&self, machine: Machine) -> Result<(f64, RunOutcome), RunError> {
        let facts = self.analysis.facts();
        let source = || busiest_of_first(self.graph);
        let sources = facts.takes_sources.then(source);
        let sources = sources.into_iter().collect();
        let mut request = RunRequest::new(self.analysis, sources).on(machine);
        // Weights are drawn for paths; costs of rankings are those without.
        request.weighted = false;
        request.max_iterations = NonZeroU32::new(20).filter(|_| facts.ranks);
        let start = Instant::now();
        let outcome = execute(self.graph, &request)?;
        Ok((start.elapsed().as_nanos() as f64, outcome))
    }

    /// Times those that run in turns, then the GPU. A turn goes through them forwards and the
    /// next one backwards, and the GPU has no turns: each begins with the caches that the one
    /// before it left, and opening a GPU leaves none.
    fn time(&self, rivals: &Rivals) -> Result<Vec<Rival>, RunError> {
        let mut all = rivals.in_turns();
        let (fewest, most) = if self.quick { (1, 1) } else { TURNS };
        let start = Instant::now();
        for turn in 0..most {
            if turn >= fewest && start.elapsed() > LONG {
                break;
            }
            for place in 0..all.len() {
                let last = all.len() - 1;
                let place = if turn % 2 == 0 { place } else { last - place };
                self.time_once(&mut all[place], rivals)?;
            }
        }
        if let Some((device, _)) = rivals.gpu {
            let mut gpu = Rival::new("GPU", Machine::gpu(Executor::Mega, device));
            for _ in 0..fewest {
                self.time_once(&mut gpu, rivals)?;
            }
            all.insert(0, gpu);
        }
        Ok(all)
    }

    fn time_once(&self, rival: &mut Rival, rivals: &Rivals) -> Result<(), RunError> {
        let (_, opening_ns) = rivals.gpu.unwrap_or_default();
        let (ns, outcome) = self.run(rival.machine)?;
        let opened = outcome.backend != Executor::Cpu;
        rival.times.push(ns + if opened { opening_ns } else { 0.0 });
        rival.device = outcome.device;
        Ok(())
    }

    /// Returns the comparison, and whether the choice was good.
    fn row(&self, rivals: &Rivals, name: &str) -> Result<(Row, bool), RunError> {
        let mut all = self.time(rivals)?;
        let mut medians: Vec<f64> = all
            .iter_mut()
            .map(|one| Timing::of(&mut one.times).median)
            .collect();
        let ours_ns = medians.pop().unwrap_or_default();
        let chosen = all.pop().map_or_else(String::new, |auto| auto.device);
        let chosen = format!("auto: {chosen}");
        let rivals: Vec<(&str, f64)> = all.iter().map(|rival| rival.name).zip(medians).collect();
        let best = rivals.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let (best, best_ns) = best.copied().unwrap_or_default();
        let others = rivals.iter().filter(|rival| rival.0 != best);
        let others: String = others
            .map(|(name, ns)| format!(", {} {name}", Unit::Milliseconds.text(*ns)))
            .collect();
        let most_ns = best_ns * WITHIN + UNNOTICED_NS;
        let row = Row::new(
            format!("{}, {name}", self.analysis),
            Clock::Wall,
            Figure::new(chosen, ours_ns),
            Baseline::Measured(Figure::new(format!("{best}{others}"), best_ns)),
        );
        let row = row
            .shown_in(Unit::Milliseconds)
            .with_floor(Some(Floor::Ns(most_ns)));
        Ok((row, ours_ns <= most_ns))
    }
}

/// Returns the node of highest degree among the first few, from which searches reach far.
fn busiest_of_first(graph: &Graph) -> u32 {
    let first = 0..graph.nodes().min(64);
    first
        .max_by_key(|node| (graph.neighbours(*node).len(), std::cmp::Reverse(*node)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_has_sixty_commands() {
        let cases = CASES.iter().map(|(_, analyses)| analyses.len());
        assert_eq!(cases.sum::<usize>(), 60);
    }
}
