//! A program that stays resident and answers from which sources data reaches which sinks.

use super::flow::Flows;
use super::reach::Reach;
use super::spec::{Port, Spec};
use super::summary::summaries;
use super::witness::Way;
use crate::analysis::Lived;
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::finding::{Finding, FindingKind, Place};
use crate::flow::{On, SolveStats};
use crate::model::Program;
use crate::names::Names;
use crate::order::{Rows, rows_by};
use crate::values::{NONE, Site, Whole};
use hashbrown::HashMap;
use seawall::units::elapsed_ns;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// Most bytes of the searches that a session keeps.
const KEPT_BYTES: u64 = 256 << 20;

/// A question: does data of the sources reach the sinks?
#[derive(Clone, Copy, Debug)]
pub struct TaintQuestion<'q> {
    /// Origins of data.
    pub sources: &'q [Spec],
    /// Places that it must not reach.
    pub sinks: &'q [Spec],
    /// Most findings. With 0 the answer is whether there is one, and the first one ends the search.
    pub limit: usize,
    /// Whether findings have a way from the source to the sink. Costs two searches a finding.
    pub has_ways: bool,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct TaintAnswer {
    /// Whether data of a source reaches a sink.
    pub is_reached: bool,
    /// Number of findings: one for each source, call and argument. `None` with a limit of 0.
    pub count: Option<usize>,
    /// The first findings, in the order of functions and operations.
    pub findings: Vec<Finding>,
    /// Work of the answer.
    pub work: TaintWork,
}

/// Work of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaintWork {
    /// Sources that were followed, as far as earlier questions had not followed them.
    pub followed: usize,
    /// Values that were taken to follow them.
    pub values: u64,
    /// Arguments of calls of the sinks, each of which is looked up for each source.
    pub arguments: usize,
    /// Time, nanoseconds.
    pub ns: u64,
}

/// A resident program: the flows between its values, over summaries of all functions.
///
/// Neither depends on sources and sinks. What a source reaches depends on the source alone; it is
/// searched for as far as a question needs it, and kept. What a sink adds are lookups, one for each
/// source and argument: `O(k · a)` for `k` sources that were followed before and `a` arguments of
/// calls of the sinks. Of a new source, `O(v + e)` for the `v` values that it reaches and their `e`
/// flows. Questions may come from several threads.
pub struct TaintSession<'a> {
    whole: Whole<'a>,
    names: Names,
    flows: Flows,
    /// The flows the other way round, once a way was asked for.
    back: OnceLock<Flows>,
    /// All calls: the function, and the place in its list.
    sites: Vec<(u32, u32)>,
    /// Calls of each node of the call graph.
    sites_of: Rows,
    kept: Mutex<Kept>,
    /// Work of the summaries.
    pub summaries: SolveStats,
    /// Time in which flows were laid out, nanoseconds.
    pub build_ns: u64,
}

/// Searches that are kept, the most recent ones.
#[derive(Default)]
struct Kept {
    reaches: HashMap<Spec, KeptReach>,
    /// Number of the last use.
    clock: u64,
    /// Bytes of all of them.
    bytes: u64,
}

/// A search that is kept.
struct KeptReach {
    reach: Arc<Mutex<Reach>>,
    /// Number of its last use.
    used: u64,
    /// Bytes that it held then.
    bytes: u64,
}

/// An argument of a call that a sink takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Argument {
    /// Number of the call, in the order of functions and operations.
    site: u32,
    /// The function that is called.
    target: u32,
    /// Number of the argument.
    input: u32,
    value: u32,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> TaintSession<'a> {
    /// Opens a session: values of all functions, and the fixpoint of their summaries on a machine.
    ///
    /// # Errors
    /// [`ModuleError::TooLarge`]; errors of the machine.
    pub fn open(
        program: Cow<'a, Program>,
        calls: Cow<'a, Calls>,
        on: On,
    ) -> Result<Self, ModuleError> {
        let lived = Lived::of(&program, on)?;
        Self::over(program, calls, &lived, on)
    }

    /// As [`TaintSession::open`], of a program whose liveness is known.
    pub(crate) fn over(
        program: Cow<'a, Program>,
        calls: Cow<'a, Calls>,
        lived: &Lived,
        on: On,
    ) -> Result<Self, ModuleError> {
        let mut whole = Whole::of(program, calls, "taint", None, lived)?;
        let found = summaries(&whole, on)?;
        let clock = Instant::now();
        let flows = Flows::of(&whole, &found.words)?;
        for values in &mut whole.values {
            values.edges = Vec::new();
        }
        let numbered = |(node, sites): (u32, usize)| (0..sites as u32).map(move |at| (node, at));
        let counts = whole.values.iter().map(|values| values.sites.len());
        let sites: Vec<(u32, u32)> = (0..).zip(counts).flat_map(numbered).collect();
        let callee = |(node, at): &(u32, u32)| {
            let site = &whole.values[*node as usize].sites[*at as usize];
            site.callee
        };
        // There are fewer calls than values.
        let sites_of = rows_by(whole.values.len(), &|visit| {
            let callees = sites.iter().map(callee);
            callees
                .zip(0..)
                .for_each(|(callee, site)| visit(callee, site));
        });
        Ok(Self {
            names: Names::of(&whole.program),
            sites_of: sites_of.unwrap_or_default(),
            whole,
            flows,
            back: OnceLock::new(),
            sites,
            kept: Mutex::default(),
            summaries: found.stats,
            build_ns: elapsed_ns(clock),
        })
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.whole.program
    }

    /// The call graph.
    #[must_use]
    pub fn calls(&self) -> &Calls {
        &self.whole.calls
    }

    /// Functions by name.
    #[must_use]
    pub const fn names(&self) -> &Names {
        &self.names
    }

    /// Number of values of all functions.
    #[must_use]
    pub fn values(&self) -> usize {
        self.whole.len()
    }

    /// Number of calls.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.sites.len()
    }

    /// Number of sources whose searches are kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        lock(&self.kept).reaches.len()
    }

    /// Number of the sources that an answer follows: those that no earlier question followed to the
    /// end. It may be fewer of those that have no value, or if a limit of 0 ends it before.
    #[must_use]
    pub fn predicted(&self, sources: &[Spec]) -> usize {
        let kept: Vec<_> = {
            let kept = lock(&self.kept);
            let found = |source| kept.reaches.get(source).map(|one| Arc::clone(&one.reach));
            sources.iter().map(found).collect()
        };
        let is_due = |reach: &&Option<Arc<Mutex<Reach>>>| {
            reach
                .as_ref()
                .is_none_or(|reach| !lock(reach).is_complete())
        };
        kept.iter().filter(is_due).count()
    }

    /// Answers a question.
    ///
    /// # Errors
    /// [`ModuleError::NoSuchName`] for a name that the program lacks.
    pub fn ask(&self, question: &TaintQuestion<'_>) -> Result<TaintAnswer, ModuleError> {
        let clock = Instant::now();
        for source in question.sources.iter().filter(|source| !source.is_load()) {
            source.functions("source", self.program(), &self.names)?;
        }
        let arguments = self.arguments(question.sinks)?;
        let mut work = TaintWork {
            arguments: arguments.len(),
            ..TaintWork::default()
        };
        let mut answer = match question.limit {
            0 => self.whether(question.sources, &arguments, &mut work)?,
            _ => self.findings(question, &arguments, &mut work)?,
        };
        work.ns = elapsed_ns(clock);
        answer.work = work;
        Ok(answer)
    }

    fn whether(
        &self,
        sources: &[Spec],
        arguments: &[Argument],
        work: &mut TaintWork,
    ) -> Result<TaintAnswer, ModuleError> {
        let values: Vec<u32> = arguments.iter().map(|argument| argument.value).collect();
        let mut is_reached = false;
        for source in sources {
            let until = |reach: &mut Reach| reach.until(&self.flows, &values);
            let (is_found, taken) = self.follow(source, until)?;
            work.add(taken);
            is_reached = is_found;
            if is_reached {
                break;
            }
        }
        Ok(TaintAnswer {
            is_reached,
            count: None,
            findings: Vec::new(),
            work: *work,
        })
    }

    fn findings(
        &self,
        question: &TaintQuestion<'_>,
        arguments: &[Argument],
        work: &mut TaintWork,
    ) -> Result<TaintAnswer, ModuleError> {
        let mut pairs: Vec<(Argument, u32)> = Vec::new();
        for (number, source) in (0..).zip(question.sources) {
            let taken = self.follow(source, |reach| {
                let taken = reach.complete(&self.flows);
                let reached = arguments.iter().filter(|one| reach.has(one.value));
                pairs.extend(reached.map(|argument| (*argument, number)));
                taken
            });
            work.add(taken?);
        }
        pairs.sort_unstable();
        let shown = pairs.iter().take(question.limit);
        let findings: Result<Vec<Finding>, ModuleError> = shown
            .map(|(argument, source)| {
                let source = &question.sources[*source as usize];
                self.finding(*argument, source, question.has_ways)
            })
            .collect();
        Ok(TaintAnswer {
            is_reached: !pairs.is_empty(),
            count: Some(pairs.len()),
            findings: findings?,
            work: *work,
        })
    }

    fn site(&self, number: u32) -> (u32, &Site) {
        let (node, at) = self.sites[number as usize];
        (node, &self.whole.values[node as usize].sites[at as usize])
    }

    fn finding(
        &self,
        argument: Argument,
        source: &Spec,
        has_way: bool,
    ) -> Result<Finding, ModuleError> {
        let program = self.program();
        let (node, site) = self.site(argument.site);
        let offset = program.functions[node as usize].body.ops[site.op as usize].offset;
        let place = Place::of(program, node as usize, Some(offset));
        let callee = &program.functions[argument.target as usize];
        let what = match argument.input < callee.parameters {
            true => format!("argument {}", argument.input),
            false => "memory at the call".to_owned(),
        };
        let message = format!("data from {source} reaches {what} of {}", callee.label());
        let mut witness = Vec::new();
        if has_way {
            let back = self.back.get_or_init(|| self.flows.reversed());
            witness = self.follow(source, |reach| {
                // It may have been given up for others in the meantime.
                reach.complete(&self.flows);
                let way = Way {
                    whole: &self.whole,
                    back,
                    reach,
                    source,
                };
                way.steps(argument.value, &place)
            })?;
        }
        Ok(Finding {
            kind: FindingKind::Taint,
            place,
            message,
            witness,
        })
    }

    /// Follows a source with the kept search, else with one that has not begun.
    fn follow<T>(
        &self,
        source: &Spec,
        follow: impl FnOnce(&mut Reach) -> T,
    ) -> Result<T, ModuleError> {
        let found = lock(&self.kept).find(source);
        let reach = match found {
            Some(reach) => reach,
            None => {
                let reach = Reach::new(self.whole.len(), self.seeds(source)?);
                lock(&self.kept).keep(source, reach)
            }
        };
        let (followed, bytes) = {
            let mut reach = lock(&reach);
            (follow(&mut reach), reach.bytes())
        };
        lock(&self.kept).weigh(source, bytes, KEPT_BYTES);
        Ok(followed)
    }

    /// Values where data of a source begins, sorted.
    fn seeds(&self, source: &Spec) -> Result<Vec<u32>, ModuleError> {
        let whole = &self.whole;
        let mut seeds = Vec::new();
        if source.is_load() {
            for (node, values) in (0..).zip(&whole.values) {
                let loads = values.loads.iter();
                seeds.extend(loads.map(|load| whole.value(node, *load)));
            }
            return Ok(seeds);
        }
        for function in source.functions("source", self.program(), &self.names)? {
            let results = self.program().functions[*function as usize].results;
            match source.port {
                Port::All => {
                    let all = (0..results).filter_map(|result| whole.output(*function, result));
                    seeds.extend(all);
                }
                Port::Parameter(parameter) => seeds.extend(whole.input(*function, parameter)),
                Port::Memory => {
                    let memory = whole.memory(*function, results);
                    seeds.extend(whole.output(*function, memory));
                }
            }
        }
        Ok(seeds)
    }

    /// Arguments of all calls that may call a sink, sorted.
    fn arguments(&self, sinks: &[Spec]) -> Result<Vec<Argument>, ModuleError> {
        let mut arguments = Vec::new();
        for sink in sinks {
            for function in sink.functions("sink", self.program(), &self.names)? {
                let parameters = self.program().functions[*function as usize].parameters;
                let inputs = match sink.port {
                    Port::All => 0..parameters,
                    Port::Parameter(input) => input..input + 1,
                    Port::Memory => {
                        let memory = self.whole.memory(*function, parameters);
                        memory..memory + 1
                    }
                };
                for input in inputs {
                    self.add_arguments(*function, input, &mut arguments);
                }
            }
        }
        arguments.sort_unstable();
        arguments.dedup();
        Ok(arguments)
    }

    /// Adds an argument of the calls of a function, and of those that may call it.
    fn add_arguments(&self, target: u32, input: u32, arguments: &mut Vec<Argument>) {
        let calls = self.calls();
        let callers = calls.callers.row(target as usize).iter().copied();
        let dispatches = callers.filter(|node| *node as usize >= calls.functions);
        for callee in std::iter::once(target).chain(dispatches) {
            for number in self.sites_of.row(callee as usize) {
                let (node, site) = self.site(*number);
                let value = site.ins.get(input as usize).filter(|value| **value != NONE);
                arguments.extend(value.map(|value| Argument {
                    site: *number,
                    target,
                    input,
                    value: self.whole.value(node, *value),
                }));
            }
        }
    }
}

impl TaintWork {
    const fn add(&mut self, taken: u64) {
        self.followed += (taken > 0) as usize;
        self.values += taken;
    }
}

impl Kept {
    fn find(&mut self, source: &Spec) -> Option<Arc<Mutex<Reach>>> {
        self.clock += 1;
        let kept = self.reaches.get_mut(source)?;
        kept.used = self.clock;
        Some(Arc::clone(&kept.reach))
    }

    /// Keeps a search, unless another thread has begun one.
    fn keep(&mut self, source: &Spec, reach: Reach) -> Arc<Mutex<Reach>> {
        if let Some(other) = self.find(source) {
            return other;
        }
        let reach = Arc::new(Mutex::new(reach));
        let kept = KeptReach {
            reach: Arc::clone(&reach),
            used: self.clock,
            bytes: 0,
        };
        self.reaches.insert(source.clone(), kept);
        reach
    }

    /// Counts the bytes of a search, and gives up others until all have at most `most`: those that
    /// were not used for longest.
    fn weigh(&mut self, source: &Spec, bytes: u64, most: u64) {
        if let Some(kept) = self.reaches.get_mut(source) {
            self.bytes = self.bytes - kept.bytes + bytes;
            kept.bytes = bytes;
        }
        while self.bytes > most && self.reaches.len() > 1 {
            let oldest = self.reaches.iter().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(source, _)| source.clone()) else {
                break;
            };
            let given_up = self.reaches.remove(&oldest);
            self.bytes -= given_up.map_or(0, |kept| kept.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_that_were_not_used_for_longest_are_given_up() {
        let mut kept = Kept::default();
        let spec = |name: &str| name.parse::<Spec>().unwrap();
        for name in ["a", "b", "c"] {
            kept.keep(&spec(name), Reach::new(64, Vec::new()));
            kept.weigh(&spec(name), 40, 100);
        }
        assert_eq!((kept.reaches.len(), kept.bytes), (2, 80));
        assert!(kept.find(&spec("a")).is_none() && kept.find(&spec("b")).is_some());
        // One that shrinks leaves space, and the last one stays whatever it takes.
        kept.weigh(&spec("b"), 10, 100);
        assert_eq!((kept.reaches.len(), kept.bytes), (2, 50));
        kept.keep(&spec("d"), Reach::new(64, Vec::new()));
        kept.weigh(&spec("d"), 1000, 100);
        assert_eq!((kept.reaches.len(), kept.bytes), (1, 1000));
        assert!(kept.find(&spec("d")).is_some());
    }
}
