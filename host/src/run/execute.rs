//! Execution of a request: program, plan, backend, result.

use super::analyzer::Station;
use super::choose::{Choice, choose};
use super::cost_model::LoadedCalibration;
use super::forecast::Ledger;
use super::log::Log;
use super::opened::{Opened, open};
use super::plan::{Target, plan_program};
use super::planned::Planned;
use super::steps::BuildOptions;
use super::{Detail, Executor, Phase, RunError, RunRequest, steps};
use crate::analysis::{self, Built, End};
use crate::backend::cpu::prepare_threads;
use crate::backend::{RunStats, Session, SessionWork};
use crate::graph::Graph;
use crate::outcome::{Column, Event, Track};
use crate::program::{EncodedProgram, PlanCache, PlanCounters, RegisterId};
use crate::units::{Count, elapsed_ns};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant;

/// Prepares everything of `request` that does not depend on its graph: threads, and the costs for
/// `auto`. A command calls it while its graph is read; otherwise the first run does this work. A
/// failure is reported by that run.
pub fn prepare(request: &RunRequest) {
    let asked = request.machine.executor;
    if asked.is_none_or(|executor| !executor.is_on_gpu()) {
        LoadedCalibration::get();
        let _ = prepare_threads(request.machine.threads);
    }
}

/// A request in progress.
pub(super) struct Submission<'g, 'p> {
    /// The graph in the form of the request.
    pub(super) graph: &'g Graph,
    /// The graph that is on the machine: the same, or with shortcuts.
    pub(super) placed: &'g Graph,
    pub(super) request: &'p RunRequest,
    plans: &'p mut PlanCache,
    progress: &'p mut dyn FnMut(Phase),
    pub(super) log: Log,
    pub(super) ledger: Ledger,
}

/// Result of a program, and its times.
pub(super) struct Answer {
    pub(super) values: Column,
    pub(super) parents: Option<Vec<u32>>,
    pub(super) stats: RunStats,
    pub(super) spent: Spent,
}

/// Time of all runs so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) run_ns: u64,
    pub(super) first_run_ns: u64,
    pub(super) readback_ns: u64,
}

impl<'g, 'p> Submission<'g, 'p> {
    pub(super) fn begin(
        graph: &'g Graph,
        request: &'p RunRequest,
        plans: &'p mut PlanCache,
        progress: &'p mut dyn FnMut(Phase),
    ) -> Self {
        Self {
            graph,
            placed: graph,
            request,
            plans,
            progress,
            log: Log::begin(),
            ledger: Ledger::default(),
        }
    }

    /// Takes the graph with shortcuts, if a GPU is asked for and its program then has few rounds where
    /// it has many levels.
    pub(super) fn take_shortcuts(&mut self) {
        let (graph, request) = (self.graph, self.request);
        let lengths = request.shortcuts();
        self.placed = lengths
            .and_then(|lengths| graph.with_shortcuts(lengths))
            .unwrap_or(graph);
    }

    /// Whether the graph on the machine has shortcuts.
    pub(super) fn has_shortcuts(&self) -> bool {
        !std::ptr::eq(self.graph, self.placed)
    }

    /// Chooses the machine.
    pub(super) fn choose(&self) -> Choice {
        let choice = choose(self.graph, self.request);
        if !self.has_shortcuts() {
            return choice;
        }
        // A forecast knows no rounds along shortcuts.
        let edges = Count(u64::from(self.placed.edges() - self.graph.edges()));
        let reason = format!("{edges} shortcuts along chains, so that long paths take few rounds");
        Choice {
            reason: Some(reason),
            ..choice
        }
    }

    /// Reports the start of a phase.
    pub(super) fn progress(&mut self, phase: Phase) {
        (self.progress)(phase);
    }

    /// Builds, plans and encodes the program, with 64-bit distances if `wide`; `known` is the one
    /// on the machine. Builds a low-memory program if the budget holds no other.
    pub(super) fn plan(
        &mut self,
        (target, wide): (Target, bool),
        known: Option<&Planned>,
    ) -> Result<Planned, RunError> {
        let build_options = BuildOptions {
            wide,
            warps: target.executor.is_on_gpu(),
            threads: target.threads,
            low_memory: false,
            shortcuts: self.has_shortcuts(),
        };
        build_options.plan(|build_options| self.plan_as(target, build_options, known))
    }

    fn plan_as(
        &mut self,
        target: Target,
        build_options: BuildOptions,
        known: Option<&Planned>,
    ) -> Result<Planned, RunError> {
        let start = Instant::now();
        let (graph, request) = (self.placed, self.request);
        let mut built = steps::build(graph, request, build_options)?;
        let plans = &mut *self.plans;
        let (encoded, summary) = plan_program(graph, request, &mut built.program, target, plans)?;
        let is_traced = request.explain;
        let is_same =
            |known: &Planned| known.is_traced == is_traced && Arc::ptr_eq(&known.encoded, &encoded);
        let plan_ns = elapsed_ns(start);
        self.log.planned(plan_ns);
        Ok(Planned {
            is_loaded: known.is_some_and(is_same),
            built: renamed(built, &encoded),
            encoded,
            summary,
            plan_ns,
            build_options,
            is_traced,
        })
    }

    /// Uses of the plans so far.
    pub(super) fn plan_counters(&self) -> PlanCounters {
        self.plans.counters()
    }

    /// Opens the machine, which ends with the upload of the graph.
    pub(super) fn open(&mut self, choice: Choice) -> Result<Opened<'g>, RunError> {
        let (graph, request) = (self.placed, self.request);
        let opened = self
            .log
            .until_now("open", || open(graph, request, choice))?;
        let upload = opened.session.upload_ns();
        let end = elapsed_ns(self.log.clock);
        self.log.host("upload", end.saturating_sub(upload), upload);
        Ok(opened)
    }

    /// Computes the answer, again in 64 bits if distances exceeded 32; times include both. A
    /// program for which the machine has too little memory is replaced by a low-memory one.
    pub(super) fn settle(
        &mut self,
        session: &mut dyn Session,
        planned: Planned,
        target: Target,
    ) -> Result<(Planned, Answer), RunError> {
        let mut spent = Spent::default();
        let other = match self.answer((session, target.executor), &planned, &mut spent) {
            Err(error) if steps::outgrew(&error) => self.plan((target, true), None)?,
            Err(error) if steps::lacks_memory(&error) => {
                let build_options = planned.build_options.on_low_memory().ok_or(error)?;
                self.plan_as(target, build_options, None)?
            }
            answer => return Ok((planned, answer?)),
        };
        let other = Planned {
            plan_ns: other.plan_ns + planned.plan_ns,
            ..other
        };
        let again = self.answer((session, target.executor), &other, &mut spent)?;
        Ok((other, again))
    }

    /// Answers on the threads of `station`, after another machine ran for `after_ns` nanoseconds,
    /// which count.
    pub(super) fn take_over(
        &mut self,
        station: &mut Station<'_>,
        after_ns: u64,
    ) -> Result<(Planned, Answer), RunError> {
        let end = elapsed_ns(self.log.clock);
        self.log.add(Event {
            name: "run without an end".to_owned(),
            track: Track::Device,
            start_ns: end.saturating_sub(after_ns),
            duration_ns: after_ns,
        });
        let target = station.target;
        let planned = self.plan((target, false), None)?;
        let session = station.opened.session.as_mut();
        let work = session.work();
        self.ledger = Ledger::begin(if work.runs == 0 {
            SessionWork::default()
        } else {
            work
        });
        let (planned, mut answer) = self.settle(session, planned, target)?;
        answer.spent.first_run_ns += after_ns;
        if self.request.repeat == NonZeroU32::MIN {
            answer.spent.run_ns += after_ns;
        }
        Ok((planned, answer))
    }

    /// Returns whether the sequential implementation has the same result for the graph `read`.
    pub(super) fn is_equal(&mut self, read: &Graph, end: End, answer: &Answer) -> bool {
        (self.progress)(Phase::Check);
        let request = self.request;
        let found = analysis::AnalysisOutput {
            values: &answer.values,
            parents: answer.parents.as_deref(),
        };
        self.log
            .until_now("check", || steps::is_equal(read, request, end, found))
    }

    /// Loads a program, runs it as often as requested and reads its result.
    fn answer(
        &mut self,
        (session, executor): (&mut dyn Session, Executor),
        planned: &Planned,
        spent: &mut Spent,
    ) -> Result<Answer, RunError> {
        self.ledger
            .predict(self.placed, self.request, planned, executor);
        if !planned.is_loaded {
            session.trace_runs(self.request.explain);
            self.log
                .until_now("load program", || session.load(&planned.encoded))?;
        }
        let (stats, [first_ns, run_ns]) = self.repeat(session, &planned.built.inputs)?;
        (self.progress)(Phase::Readback);
        let reading = elapsed_ns(self.log.clock);
        let read = read_back(session, &planned.built, self.graph.nodes());
        let readback_ns = elapsed_ns(self.log.clock).saturating_sub(reading);
        self.log.host("readback", reading, readback_ns);
        self.ledger.count(session.work());
        spent.run_ns += run_ns;
        spent.first_run_ns += first_ns;
        spent.readback_ns += readback_ns;
        let (values, parents) = read?;
        let found = analysis::AnalysisOutput {
            values: &values,
            parents: parents.as_deref(),
        };
        let question = &self.request.question(false);
        self.request
            .analysis
            .definition()
            .accept((self.graph, question), found)?;
        let is_asked = self.request.detail == Detail::Parents;
        let parents = parents
            .filter(|_| is_asked)
            .or_else(|| self.parents(&values));
        Ok(Answer {
            values,
            parents,
            stats,
            spent: *spent,
        })
    }

    /// The parents by the final values, if they are requested.
    fn parents(&mut self, values: &Column) -> Option<Vec<u32>> {
        let (graph, request) = (self.graph, self.request);
        if request.detail != Detail::Parents {
            return None;
        }
        let question = request.question(false);
        let analysis = request.analysis.definition();
        self.log
            .until_now("parents", || analysis.parents(graph, &question, values))
    }

    /// Runs the loaded program as often as requested; returns the last run's end, and the first
    /// time and the median of all.
    fn repeat(
        &mut self,
        session: &mut dyn Session,
        inputs: &[u32],
    ) -> Result<(RunStats, [u64; 2]), RunError> {
        let clock = self.log.clock;
        let of = self.request.repeat;
        let mut runs = Vec::new();
        let stats = repeat(
            session,
            inputs,
            of,
            |repetition| {
                let of = of.get();
                (self.progress)(Phase::Run { repetition, of });
                elapsed_ns(clock)
            },
            |event| {
                runs.push(event.duration_ns);
                self.log.add(event);
            },
        )?;
        Ok((stats, steps::first_and_median(runs)))
    }
}

/// The same program with the register identifiers of its plan: an equal program numbers registers
/// in the same way.
fn renamed(built: Built, plan: &EncodedProgram) -> Built {
    let name = |register: RegisterId| plan.register(register.number()).unwrap_or(register);
    Built {
        result: name(built.result),
        parents: built.parents.map(name),
        ..built
    }
}

/// Runs the loaded program as often as requested; `begin` returns the start of a repetition and
/// `done` takes its cost. Returns the last run's end.
fn repeat(
    session: &mut dyn Session,
    inputs: &[u32],
    times: NonZeroU32,
    mut begin: impl FnMut(u32) -> u64,
    mut done: impl FnMut(Event),
) -> Result<RunStats, RunError> {
    let mut repetition = 1;
    loop {
        let start_ns = begin(repetition);
        let stats = session.run(inputs)?;
        done(Event {
            name: format!("run {repetition}"),
            track: Track::Device,
            start_ns,
            duration_ns: stats.run_ns,
        });
        if repetition >= times.get() {
            return Ok(stats);
        }
        repetition += 1;
    }
}

/// Copies the result back; returns the column, and the parents if requested.
fn read_back(
    session: &mut dyn Session,
    built: &Built,
    nodes: u32,
) -> Result<(Column, Option<Vec<u32>>), RunError> {
    let mut words = Vec::new();
    session.read(built.result, &mut words)?;
    let mut parents = None;
    if let Some(register) = built.parents {
        session.read(register, parents.insert(Vec::new()))?;
    }
    let parents = parents.or_else(|| built.reading.parents(nodes, &words));
    Ok((built.reading.column(nodes, words), parents))
}

/// Grid barriers that the run crossed: tickets over blocks. Launch boundaries
/// are not barriers, so executors that launch each group cross none.
pub(super) fn barriers(stats: &RunStats, executor: Executor, units: u32) -> u64 {
    match executor {
        Executor::Launches | Executor::Graph => 0,
        Executor::Cpu | Executor::Mega => u64::from(stats.control.ticket / units.max(1)),
    }
}
