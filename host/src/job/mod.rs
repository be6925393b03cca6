//! The driver of every job: a request in, an outcome out.
//!
//! A source of work is a [`Work`]: one graph on a machine (`run::single`), many small ones
//! (`batch::execute`), one whose edges stay in a file (`stream::execute`), and one on several devices
//! (`multi`). [`drive`] takes each from its request to its outcome, and a [`Job`] has what they share:
//! phases, clock, log of events, repetitions, outcome and check. `choose` decides on a machine and opens
//! it, `build` makes programs, `outcome` fills outcomes.

mod build;
pub(crate) mod choose;
pub(crate) mod cost_model;
mod outcome;

pub(crate) use build::{BuildOptions, build, encode, lacks_memory, outgrew};
pub(crate) use outcome::{
    Found, check, edges_examined, end_of, load_whole, names, original_ids, outcome, topology_name,
};

use crate::outcome::{Event, Track};
use crate::run::{Phase, RunRequest};
use crate::spans::{self, Ended};
use crate::units::elapsed_ns;
use std::time::Instant;

/// Work that is planned and has its machine.
pub(crate) trait Work: Sized {
    /// The result that is read back after the last repetition.
    type Answer;
    type Outcome;
    type Error;

    /// Runs as often as requested, by [`Job::repeat`] or in one kernel, and reads the result back.
    fn answer(&mut self, job: &mut Job<'_>) -> Result<Self::Answer, Self::Error>;

    /// Plans anew after `error`, for another attempt.
    fn recover(self, _job: &mut Job<'_>, error: Self::Error) -> Result<Self, Self::Error> {
        Err(error)
    }

    /// Returns the outcome, and compares it with the sequential implementation if requested.
    fn finish(self, job: &mut Job<'_>, answer: Self::Answer) -> Result<Self::Outcome, Self::Error>;
}

/// Takes a job from its request to its outcome, in `span`; `prepare` checks the request, chooses and
/// plans, and opens the machine.
pub(crate) fn drive<'p, W: Work>(
    span: tracing::Span,
    request: &'p RunRequest,
    progress: &'p mut dyn FnMut(Phase),
    prepare: impl FnOnce(&mut Job<'p>) -> Result<W, W::Error>,
) -> Result<W::Outcome, W::Error>
where
    Result<W::Outcome, W::Error>: Ended,
{
    let _entered = span.entered();
    let mut job = Job::begin(request, progress);
    let outcome = prepare(&mut job).and_then(|mut work| {
        loop {
            match work.answer(&mut job) {
                Ok(answer) => return work.finish(&mut job, answer),
                Err(error) => work = work.recover(&mut job, error)?,
            }
        }
    });
    outcome.log();
    outcome
}

/// A request in progress: its phases, and its events by its own clock.
pub(crate) struct Job<'p> {
    pub(crate) request: &'p RunRequest,
    progress: &'p mut dyn FnMut(Phase),
    clock: Instant,
    events: Vec<Event>,
}

impl<'p> Job<'p> {
    pub(crate) fn begin(request: &'p RunRequest, progress: &'p mut dyn FnMut(Phase)) -> Self {
        Self {
            request,
            progress,
            clock: Instant::now(),
            events: Vec::new(),
        }
    }

    pub(crate) fn phase(&mut self, phase: Phase) {
        spans::phase(phase);
        (self.progress)(phase);
    }

    /// Nanoseconds since the job began.
    pub(crate) fn now(&self) -> u64 {
        elapsed_ns(self.clock)
    }

    pub(crate) fn since(&self, start_ns: u64) -> u64 {
        self.now().saturating_sub(start_ns)
    }

    pub(crate) fn host(&mut self, name: &str, start_ns: u64, duration_ns: u64) {
        self.add(name.to_owned(), Track::Host, start_ns, duration_ns);
    }

    /// Adds a span of the machine.
    pub(crate) fn device(&mut self, name: String, start_ns: u64, duration_ns: u64) {
        self.add(name, Track::Device, start_ns, duration_ns);
    }

    fn add(&mut self, name: String, track: Track, start_ns: u64, duration_ns: u64) {
        spans::step(&name, duration_ns);
        self.events.push(Event {
            name,
            track,
            start_ns,
            duration_ns,
        });
    }

    /// Adds the span of the host in which `work` is done.
    pub(crate) fn until_now<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = self.now();
        let done = work();
        self.host(name, start, self.since(start));
        done
    }

    /// Does `once` as often as requested: it gets the number of the repetition, from 1, and returns
    /// its time. Returns the last result, and the first and the median time.
    pub(crate) fn repeat<T, E>(
        &mut self,
        mut once: impl FnMut(u32) -> Result<(T, u64), E>,
    ) -> Result<(T, [u64; 2]), E> {
        let of = self.request.repeat.get();
        let mut times = Vec::new();
        let mut repetition = 1;
        loop {
            self.phase(Phase::Run { repetition, of });
            let start_ns = self.now();
            let (left, duration_ns) = once(repetition)?;
            times.push(duration_ns);
            self.device(format!("run {repetition}"), start_ns, duration_ns);
            if repetition >= of {
                return Ok((left, first_and_median(times)));
            }
            repetition += 1;
        }
    }
}

pub(crate) fn first_and_median(mut times: Vec<u64>) -> [u64; 2] {
    let first = times.first().copied().unwrap_or(0);
    times.sort_unstable();
    [first, times.get(times.len() / 2).copied().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::End;
    use crate::column::Column;
    use crate::executor::Executor;
    use crate::graph::Graph;
    use crate::outcome::{Memory, RunOutcome, Times};
    use crate::run::{AnalysisKind, RunError};
    use std::num::NonZeroU32;

    /// Components of a graph without edges, after so many other plans.
    struct Replanned<'g> {
        graph: &'g Graph,
        plans: u32,
    }

    impl Work for Replanned<'_> {
        type Answer = [u64; 2];
        type Outcome = RunOutcome;
        type Error = RunError;

        fn answer(&mut self, job: &mut Job<'_>) -> Result<[u64; 2], RunError> {
            let times = [9, 3, 5];
            let once = |repetition| Ok::<_, RunError>((repetition, times[repetition as usize - 1]));
            let (last, times) = job.repeat(once)?;
            assert_eq!(last, 3);
            (self.plans == 0).then_some(times).ok_or(RunError::NoTime)
        }

        fn recover(self, _: &mut Job<'_>, error: RunError) -> Result<Self, RunError> {
            let plans = self.plans.checked_sub(1).filter(|_| self.plans < 3);
            plans.map(|plans| Self { plans, ..self }).ok_or(error)
        }

        fn finish(self, job: &mut Job<'_>, times: [u64; 2]) -> Result<RunOutcome, RunError> {
            let found = Found {
                backend: Executor::Cpu,
                reason: None,
                device: String::new(),
                values: Column::U32(vec![0, 1]),
                parents: None,
                end: End::ONCE,
                times: Times {
                    first_run: times[0],
                    run: times[1],
                    ..Times::default()
                },
                memory: Memory::default(),
            };
            let mut outcome = job.outcome(self.graph, self.graph, found);
            job.check(&mut outcome, End::ONCE, || Ok::<_, RunError>(self.graph))?;
            Ok(outcome)
        }
    }

    #[test]
    fn plans_are_replaced_until_one_answers_or_none_is_left() {
        let graph = &Graph::from_edges(2, &[], true).unwrap();
        let request = RunRequest {
            repeat: NonZeroU32::new(3).unwrap(),
            check: true,
            ..RunRequest::new(AnalysisKind::Cc, Vec::new())
        };
        let driven = |plans| {
            let mut phases = Vec::new();
            let span = spans::run("a test", graph, &request);
            let progress = &mut |phase| phases.push(phase);
            let outcome = drive(span, &request, progress, |_| Ok(Replanned { graph, plans }));
            (outcome, phases)
        };
        let (outcome, phases) = driven(2);
        let outcome = outcome.unwrap();
        assert_eq!((outcome.times.first_run, outcome.times.run), (9, 5));
        assert_eq!(outcome.checked, Some(true));
        let run = |repetition| Phase::Run { repetition, of: 3 };
        let runs = [1, 2, 3].map(run);
        assert_eq!(phases, [&runs[..], &runs, &runs, &[Phase::Check]].concat());
        let names: Vec<&str> = outcome.events.iter().map(|it| &*it.name).collect();
        assert_eq!(names[6..], ["run 1", "run 2", "run 3", "check"]);
        let (refused, phases) = driven(3);
        assert!(matches!(refused, Err(RunError::NoTime)));
        assert_eq!(phases, runs);
    }
}
