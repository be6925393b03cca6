//! A program that stays resident and answers from which sources data reaches which sinks.

use super::ends::{Argument, Ends};
use super::flow::Flows;
use super::reach::{Hubs, Reach, Reached};
use super::spec::Spec;
use super::summary::{Risen, Summaries, callees_first, summaries};
use super::wide::{SOURCES_MOST, Wide};
use super::witness::{Details, Ways};
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::finding::{Finding, FindingKind};
use crate::flow::{Limits, On, SolveStats, bits};
use crate::model::Program;
use crate::names::Names;
use crate::order::Rows;
use hashbrown::{HashMap, HashSet};
use seawall::units::elapsed_ns;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// Most bytes of the searches that a session keeps.
const KEPT_BYTES: u64 = 256 << 20;

/// Searches over all values that take as long as to find the hubs.
const HUBS_FROM: u64 = 5;

/// The sources, each once.
fn distinct(sources: &[Spec]) -> Vec<Spec> {
    let mut known = HashSet::with_capacity(sources.len());
    let sources = sources.iter().filter(|source| known.insert(*source));
    sources.cloned().collect()
}

/// A question: does data of the sources reach the sinks?
#[derive(Clone, Copy, Debug)]
pub struct TaintQuestion<'q> {
    /// Origins of data.
    pub sources: &'q [Spec],
    /// Places that it must not reach.
    pub sinks: &'q [Spec],
    /// Most findings. With 0 the answer is whether there is one, and the first one ends the search.
    pub limit: usize,
    /// Number of the findings, the first ones, that have a way from the source to the sink, each of
    /// which costs searches.
    pub ways: usize,
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
    pub(super) ends: Ends<'a>,
    /// Laid out for a program that stays, or when a search needs them.
    flows: OnceLock<Flows>,
    /// Functions, callees before their callers.
    order: Rows,
    /// Inputs that values depend on.
    summaries: Summaries,
    /// Sources that rose together with them, until they are asked for.
    first: Mutex<Option<(Vec<Spec>, Risen)>>,
    details: Mutex<Details>,
    kept: Mutex<Kept>,
    /// Values that searches took before they shared hubs.
    taken: AtomicU64,
    hubs: OnceLock<Option<Hubs>>,
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
        let session = Self::over(program, calls, &[], on.limits)?;
        session.flows()?;
        Ok(session)
    }

    /// As [`TaintSession::open`], of a program that is asked few questions: flows are not laid out
    /// before a question needs them. Of these sources, which the first question will ask for, up to 64
    /// rise together with the summaries.
    ///
    /// # Errors
    /// [`ModuleError::NoSuchName`] for a source that the program lacks; [`ModuleError::TooLarge`].
    pub(crate) fn over(
        program: Cow<'a, Program>,
        calls: Cow<'a, Calls>,
        sources: &[Spec],
        limits: Limits,
    ) -> Result<Self, ModuleError> {
        let ends = Ends::of(program, calls, limits)?;
        let order = callees_first(&ends.whole.calls);
        let sources = distinct(sources);
        let sources = sources.chunks(SOURCES_MOST).next().unwrap_or_default();
        let seeds = sources.iter().map(|source| ends.seeds(source));
        let seeds = seeds.collect::<Result<_, _>>()?;
        let (summaries, risen) = summaries(&ends.whole, &order, seeds, limits)?;
        let first = risen.map(|risen| (sources.to_vec(), risen));
        Ok(Self {
            ends,
            flows: OnceLock::new(),
            order,
            summaries,
            first: Mutex::new(first),
            details: Mutex::default(),
            kept: Mutex::default(),
            taken: AtomicU64::new(0),
            hubs: OnceLock::new(),
        })
    }

    /// The flows between values.
    pub(super) fn flows(&self) -> Result<&Flows, ModuleError> {
        if let Some(flows) = self.flows.get() {
            return Ok(flows);
        }
        let flows = Flows::of(&self.ends.whole, &self.summaries.words)?;
        Ok(self.flows.get_or_init(|| flows))
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        self.ends.program()
    }

    /// The call graph.
    #[must_use]
    pub fn calls(&self) -> &Calls {
        &self.ends.whole.calls
    }

    /// Functions by name.
    #[must_use]
    pub const fn names(&self) -> &Names {
        &self.ends.names
    }

    /// Number of values of all functions.
    #[must_use]
    pub fn values(&self) -> usize {
        self.ends.whole.len()
    }

    /// Work of the summaries.
    #[must_use]
    pub const fn summaries(&self) -> SolveStats {
        self.summaries.stats
    }

    /// Number of calls.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.ends.sites.len()
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
        let sources = distinct(question.sources);
        let sources = &*sources;
        let question = &TaintQuestion {
            sources,
            ..*question
        };
        for source in question.sources.iter().filter(|source| !source.is_load()) {
            source.functions("source", self.program(), self.names())?;
        }
        let arguments = self.ends.arguments(question.sinks)?;
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
        let flows = self.flows()?;
        let mut is_reached = false;
        for source in sources {
            let hubs = self.hubs(flows, 1);
            let until = |reach: &mut Reach| reach.until(flows, hubs, &values);
            let (is_found, taken) = self.follow(source, until)?;
            self.add(taken, work);
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

    /// All findings, the first ones with their ways. Sources are followed many at a time, by words of
    /// all values, unless flows are laid out.
    fn findings(
        &self,
        question: &TaintQuestion<'_>,
        arguments: &[Argument],
        work: &mut TaintWork,
    ) -> Result<TaintAnswer, ModuleError> {
        let flows = self.flows.get();
        let width = flows.map_or(SOURCES_MOST, |_| 1);
        let hubs = flows.and_then(|flows| self.hubs(flows, self.predicted(question.sources)));
        let chunks: Vec<&[Spec]> = question.sources.chunks(width).collect();
        let mut last = None;
        let mut follow =
            |chunk: usize, work: &mut TaintWork, each: &mut dyn FnMut(&dyn Reached)| {
                let sources = chunks[chunk];
                if let (Some(flows), [source]) = (flows, sources) {
                    let taken = self.follow(source, |reach| {
                        let taken = reach.complete(flows, hubs);
                        each(reach);
                        taken
                    });
                    self.add(taken?, work);
                    return Ok(());
                }
                let wide = match last.take() {
                    Some((of, wide)) if of == chunk => wide,
                    _ => self.wide(sources, work)?,
                };
                each(&wide);
                last = Some((chunk, wide));
                Ok::<(), ModuleError>(())
            };
        let mut pairs: Vec<(Argument, u32)> = Vec::new();
        for chunk in 0..chunks.len() {
            let first = (chunk * width) as u32;
            follow(chunk, work, &mut |reached| {
                for argument in arguments {
                    let place = self.ends.whole.owner(argument.value);
                    let sources = bits(reached.sources(argument.value, place));
                    pairs.extend(sources.map(|source| (*argument, first + source)));
                }
            })?;
        }
        pairs.sort_unstable();
        let finding = |(argument, number): &(Argument, u32)| {
            let (place, what) = self.ends.described(argument);
            let source = &question.sources[*number as usize];
            let message = format!("data from {source} reaches {what}");
            Finding::new(FindingKind::Taint, place, message)
        };
        let mut findings: Vec<Finding> = pairs.iter().take(question.limit).map(finding).collect();
        for chunk in (0..chunks.len()).rev() {
            let shown = findings.iter_mut().zip(&pairs).take(question.ways);
            let shown = shown.filter(|(_, (_, number))| *number as usize / width == chunk);
            let mut shown: Vec<_> = shown.collect();
            if shown.is_empty() {
                continue;
            }
            let mut details = lock(&self.details);
            follow(chunk, &mut TaintWork::default(), &mut |reached| {
                let mut ways = self.ways(chunks[chunk], reached, &mut details);
                for to_one in shown.chunk_by_mut(|(_, one), (_, other)| one.0 == other.0) {
                    let Some((_, (argument, _))) = to_one.first() else {
                        continue;
                    };
                    let numbers = to_one.iter().map(|(_, (_, number))| number % width as u32);
                    let sources = numbers.fold(0, |all, number| all | 1 << number);
                    ways.search(argument.site, argument.input, sources);
                    for (finding, (_, number)) in to_one {
                        finding.witness = ways.steps(number % width as u32, &finding.place);
                    }
                }
            })?;
        }
        Ok(TaintAnswer {
            is_reached: !pairs.is_empty(),
            count: Some(pairs.len()),
            findings,
            work: *work,
        })
    }

    /// Follows sources, all at once.
    fn wide(&self, sources: &[Spec], work: &mut TaintWork) -> Result<Wide<'_>, ModuleError> {
        let (whole, order) = (&self.ends.whole, &self.order);
        let first = lock(&self.first).take_if(|(first, _)| first == sources);
        let risen = match first {
            Some((_, risen)) => risen,
            None => {
                let seeds = sources.iter().map(|source| self.ends.seeds(source));
                let seeds = seeds.collect::<Result<_, _>>()?;
                Risen::of(whole, order, &self.summaries, seeds)
            }
        };
        work.followed += risen.seeds.iter().filter(|seeds| !seeds.is_empty()).count();
        let wide = Wide::of(whole, order, &self.summaries, risen);
        work.values += wide.taken;
        Ok(wide)
    }

    /// The hubs, once searches, with this many more, take longer than to find them.
    fn hubs(&self, flows: &Flows, sources: usize) -> Option<&Hubs> {
        let (taken, values) = (self.taken.load(Ordering::Relaxed), self.values() as u64);
        if taken + sources as u64 * values <= HUBS_FROM * values {
            return None;
        }
        let found = || {
            let [up, down] = self.ends.passing_memory()?;
            Some(Hubs::of(flows, up, down))
        };
        self.hubs.get_or_init(found).as_ref()
    }

    /// Counts a source that was followed.
    fn add(&self, taken: u64, work: &mut TaintWork) {
        self.taken.fetch_add(taken, Ordering::Relaxed);
        work.followed += usize::from(taken > 0);
        work.values += taken;
    }

    /// Searches for ways from sources that were followed together.
    pub(super) fn ways<'w>(
        &'w self,
        sources: &'w [Spec],
        reach: &'w dyn Reached,
        details: &'w mut Details,
    ) -> Ways<'w> {
        Ways::new(&self.ends, &self.summaries.words, reach, sources, details)
    }

    /// Follows a source with the kept search, else with one that has not begun.
    pub(super) fn follow<T>(
        &self,
        source: &Spec,
        follow: impl FnOnce(&mut Reach) -> T,
    ) -> Result<T, ModuleError> {
        let found = lock(&self.kept).find(source);
        let reach = match found {
            Some(reach) => reach,
            None => {
                let reach = Reach::new(self.values(), self.ends.seeds(source)?);
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

    /// Counts the bytes of a search, and gives up those that were not used for longest until all have
    /// at most `most`: itself as the last one.
    fn weigh(&mut self, source: &Spec, bytes: u64, most: u64) {
        if let Some(kept) = self.reaches.get_mut(source) {
            self.bytes = self.bytes - kept.bytes + bytes;
            kept.bytes = bytes;
        }
        while self.bytes > most {
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
        // One that shrinks leaves space, and one that takes more than all may is not kept.
        kept.weigh(&spec("b"), 10, 100);
        assert_eq!((kept.reaches.len(), kept.bytes), (2, 50));
        kept.keep(&spec("d"), Reach::new(64, Vec::new()));
        kept.weigh(&spec("d"), 1000, 100);
        assert_eq!((kept.reaches.len(), kept.bytes), (0, 0));
    }
}
