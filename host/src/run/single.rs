//! A request on one graph and one machine, from its check to its outcome.

use super::analyzer::Analyzer;
use super::explain::explain;
use super::forecast::Ledger;
use super::plan::{Planned, Planner, Target};
use super::resident::{Resident, Station};
use super::{Detail, Executor, Phase, RunError};
use crate::analysis::{AnalysisOutput, Built, End};
use crate::backend::{BackendError, Canceller, RunStats, Session, session_bytes};
use crate::graph::Graph;
use crate::job::choose::Choice;
use crate::job::{self, BuildOptions, Found, Job, lacks_memory, outgrew};
use crate::outcome::{Column, Memory, RunOutcome, Taken, Times};
use std::num::NonZeroU32;

/// A planned request on a machine that has its graph.
pub(super) struct Single<'r, 'g> {
    read: &'g Graph,
    planner: Planner<'g, 'r>,
    resident: &'r mut Resident<'g>,
    planned: Planned,
    ledger: Ledger,
    canceller: Canceller,
    /// Times of all runs so far.
    times: Times,
    /// Whether another program ran on this machine before.
    is_second: bool,
}

/// Result of a program.
pub(super) struct Answer {
    values: Column,
    parents: Option<Vec<u32>>,
    end: End,
    stats: RunStats,
}

impl<'r, 'g> Single<'r, 'g> {
    /// Checks the request, takes the graph in its form, plans, and opens the machine unless it is
    /// open.
    pub(super) fn prepare(
        analyzer: &'r mut Analyzer<'g>,
        job: &mut Job<'_>,
    ) -> Result<Self, RunError> {
        let (read, request) = (analyzer.graph, job.request);
        request.check_for(read)?;
        let start = job.now();
        let graph = read.form(request.form_of(read)?)?;
        request.check_form(graph)?;
        let mut planner = Planner::new(graph, request, &mut analyzer.plans);
        let form_ns = job.since(start);
        if !std::ptr::eq(planner.placed, read) {
            job.host("simple form", start, form_ns);
        }
        job.phase(Phase::Plan);
        let canceller = &analyzer.canceller;
        for place in &mut analyzer.residents {
            place.take_if(|it| it.asked != request.machine);
        }
        let place = &mut analyzer.residents[usize::from(planner.has_shortcuts())];
        place.take_if(|it| !std::ptr::eq(it.graph, planner.placed));
        let (resident, planned, before) = match place {
            Some(resident) => {
                if resident.is_taken_over(request) {
                    planner.placed = graph;
                }
                let station = resident.station(request);
                let known = station.loaded.take();
                let planned = planner.plan(job, station.target, known.as_ref())?;
                job.phase(Phase::Upload);
                let session = &station.opened.session;
                let before = Some((session.work(), session.upload_ns()));
                (resident, planned, before)
            }
            None => {
                let devices = analyzer.devices.take();
                let choice = match &devices {
                    Some((executor, _)) => Choice {
                        executor: Some(*executor),
                        ..Choice::asked(&request.machine)
                    },
                    None => job.until_now("choose", || planner.choose(request)),
                };
                let meant = Target::of(request, &choice);
                let mut planned = planner.plan(job, meant, None)?;
                job.phase(Phase::Upload);
                let session = canceller.of_session();
                let main = Station::open(planner.placed, job, choice, devices, session)?;
                let target = main.target;
                let resident = place.insert(Resident {
                    asked: request.machine,
                    graph: planner.placed,
                    main,
                    takeover: None,
                });
                if target.executor != meant.executor {
                    // A plan for a machine that failed to open is refused by another one.
                    planned = planner.plan(job, target, None)?;
                }
                (resident, planned, None)
            }
        };
        let Station {
            opened,
            target,
            patience,
            ..
        } = resident.station(request);
        let limit = patience.of(graph, request, target.executor);
        opened.session.end_after(limit);
        let (work, uploaded_ns) = before.unwrap_or_default();
        Ok(Self {
            read,
            ledger: Ledger::begin(work),
            times: Times {
                upload: opened.session.upload_ns().saturating_sub(uploaded_ns),
                plan: form_ns,
                ..Times::default()
            },
            planner,
            resident,
            planned,
            canceller: canceller.of_session(),
            is_second: false,
        })
    }

    /// Gives the job to CPU threads, after the machine ran for `after_ns` nanoseconds, which count.
    fn take_over(&mut self, job: &mut Job<'_>, after_ns: u64) -> Result<(), RunError> {
        let end = job.now();
        let start = end.saturating_sub(after_ns);
        job.device("run without an end".to_owned(), start, after_ns);
        let graph = self.planner.graph;
        self.planner.placed = graph;
        let canceller = self.canceller.of_session();
        let station = self.resident.taken_over(graph, job, after_ns, canceller)?;
        let work = Some(station.opened.session.work()).filter(|work| work.runs > 0);
        self.ledger = Ledger::begin(work.unwrap_or_default());
        self.planned = self.planner.plan(job, station.target, None)?;
        self.is_second = false;
        let is_only = job.request.repeat == NonZeroU32::MIN;
        self.times = Times {
            run: if is_only { after_ns } else { 0 },
            first_run: after_ns,
            readback: 0,
            ..self.times
        };
        Ok(())
    }
}

impl job::Work for Single<'_, '_> {
    type Answer = Answer;
    type Outcome = RunOutcome;
    type Error = RunError;

    /// Loads the program, runs it and reads its result.
    fn answer(&mut self, job: &mut Job<'_>) -> Result<Answer, RunError> {
        let (graph, request, planned) = (self.planner.graph, job.request, &self.planned);
        let Station { opened, target, .. } = self.resident.station(request);
        let session = opened.session.as_mut();
        let placed = self.planner.placed;
        self.ledger
            .predict(placed, request, planned, target.executor);
        if !planned.is_loaded {
            session.trace_runs(request.explain);
            job.until_now("load program", || session.load(&planned.encoded))?;
        }
        let (stats, [first_ns, run_ns]) = job.repeat(|_| {
            let stats = session.run(&planned.built.inputs)?;
            let run_ns = stats.run_ns;
            Ok::<_, BackendError>((stats, run_ns))
        })?;
        job.phase(Phase::Readback);
        let start = job.now();
        let read = read_back(session, &planned.built, graph.nodes());
        let readback_ns = job.since(start);
        job.host("readback", start, readback_ns);
        self.ledger.count(session.work());
        self.times.run += run_ns;
        self.times.first_run += first_ns;
        self.times.readback += readback_ns;
        let (values, parents) = read?;
        let found = AnalysisOutput {
            values: &values,
            parents: parents.as_deref(),
        };
        let (analysis, question) = (request.analysis.definition(), request.question(false));
        analysis.accept((graph, &question), found)?;
        let parents = match (request.detail, parents) {
            (Detail::Parents, None) => {
                job.until_now("parents", || analysis.parents(graph, &question, &values))
            }
            (Detail::Parents, parents) => parents,
            _ => None,
        };
        Ok(Answer {
            values,
            parents,
            end: job::end_of(request.analysis, &stats.control),
            stats,
        })
    }

    /// Plans again in 64 bits if distances exceeded 32, or on low memory if the machine has too
    /// little; times include both programs. CPU threads take over a run without an end.
    fn recover(mut self, job: &mut Job<'_>, error: RunError) -> Result<Self, RunError> {
        let is_taken_over = self.resident.is_taken_over(job.request);
        let options = self.planned.build_options;
        let other = match &error {
            RunError::Backend(BackendError::Overdue { after_ns }) if !is_taken_over => {
                self.take_over(job, *after_ns)?;
                return Ok(self);
            }
            // Ranks plan again only if all do, and they do not hear why one has failed.
            _ if self.is_second || job.request.shared => None,
            error if outgrew(error) => Some(BuildOptions {
                wide: true,
                low_memory: false,
                ..options
            }),
            error if lacks_memory(error) => options.on_low_memory(),
            _ => None,
        };
        let options = other.ok_or(error)?;
        self.is_second = true;
        self.times.plan += self.planned.plan_ns;
        let target = self.resident.station(job.request).target;
        self.planned = self.planner.plan_as(job, target, options, None)?;
        Ok(self)
    }

    fn finish(self, job: &mut Job<'_>, answer: Answer) -> Result<RunOutcome, RunError> {
        let (request, planned, planner) = (job.request, self.planned, self.planner);
        let (resident, read, stats) = (self.resident, self.read, answer.stats);
        let taken_over = resident.is_taken_over(request).then(|| resident.name());
        let station = resident.station(request);
        let opened = &station.opened;
        let device = opened.session.device();
        let (held, encoded) = (opened.session.memory(), &planned.encoded);
        let found = Found {
            backend: opened.executor,
            reason: opened.reason.clone(),
            device: device.name.clone(),
            values: answer.values,
            parents: answer.parents,
            end: answer.end,
            times: Times {
                plan: self.times.plan + planned.plan_ns,
                ..self.times
            },
            memory: Memory {
                predicted_bytes: session_bytes(planner.placed, encoded, opened.executor),
                allocated_bytes: held.allocated_bytes,
                tiles_bytes: held.tiles_bytes,
                budget_bytes: request.machine.budget_bytes,
            },
        };
        let explained = explain(planner.placed, request, &planned, opened, &stats);
        let outcome = job.outcome(read, planner.graph, found);
        let mut outcome = RunOutcome {
            taken_over_from: taken_over,
            taken: Taken {
                shortcuts: planner.shortcuts(),
                ..outcome.taken
            },
            plan: planned.summary,
            plans: planner.plans.counters(),
            session: self.ledger.report(),
            topology: job::topology_name(&stats.control),
            edges_examined: job::edges_examined(encoded, &stats.control),
            device_barriers: barriers(&stats, opened.executor, device.units),
            devices: opened.session.devices(),
            code: stats.code.filter(|code| code.waves > 0),
            host: stats.host,
            waves: explained.waves,
            groups: explained.groups,
            steps: explained.steps,
            steps_total: explained.steps_total,
            timeline: explained.timeline,
            ..outcome
        };
        station.loaded = Some(planned.into_loaded());
        job.check(&mut outcome, answer.end, || Ok::<_, RunError>(read))?;
        Ok(outcome)
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
fn barriers(stats: &RunStats, executor: Executor, units: u32) -> u64 {
    match executor {
        Executor::Launches | Executor::Graph => 0,
        Executor::Cpu | Executor::Mega => u64::from(stats.control.ticket / units.max(1)),
    }
}
