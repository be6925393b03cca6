//! Programs that were planned before.
//!
//! A plan depends only on a program and its [`PlanRequest`]: the program has the policy of its
//! device, the request the bytes of its graph and the budget. Both are the key, and are compared in
//! full, so a cached plan is the one that planning would make.

use super::builder::{PlanRequest, ProgramBuilder};
use super::wave::WaveSpec;
use super::{EncodedProgram, PlanSummary, ProgramError};
use hashbrown::DefaultHashBuilder;
use seawall_core::cache::{Ages, CacheCounters, Hashed, NIL, Recent, Slot};
use serde::Serialize;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

/// Uses of a [`PlanCache`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlanCounters {
    /// Counters of lookups and plans.
    #[serde(flatten)]
    pub cache: CacheCounters,
    /// Programs that were planned and encoded, with or without the cache.
    pub encodes: u64,
}

/// Plans of programs, the most recently used of them.
///
/// ```
/// use seawall::program::{PlanCache, PlanRequest, ProgramBuilder};
/// use std::sync::Arc;
///
/// let program = || -> Result<ProgramBuilder, seawall::program::ProgramError> {
///     let mut program = ProgramBuilder::new(10);
///     let labels = program.words("labels", 10)?;
///     program.iota("number", labels);
///     program.keep(labels);
///     Ok(program)
/// };
/// let mut plans = PlanCache::new(4);
/// let (first, _) = plans.encode(&program()?, &PlanRequest::default())?;
/// let (again, _) = plans.encode(&program()?, &PlanRequest::default())?;
/// assert!(Arc::ptr_eq(&first, &again));
/// assert_eq!(plans.counters().encodes, 1);
/// # Ok::<(), seawall::program::ProgramError>(())
/// ```
#[derive(Debug)]
pub struct PlanCache {
    slots: Vec<Slot<Shape, Planned>>,
    buckets: Vec<u32>,
    ages: Ages,
    counters: PlanCounters,
    hashes: DefaultHashBuilder,
}

type Planned = (Arc<EncodedProgram>, PlanSummary);

/// Everything that a plan depends on.
#[derive(Debug)]
struct Shape {
    hash: u64,
    program: ProgramBuilder,
    request: PlanRequest,
}

impl Hashed for Shape {
    fn hash(&self) -> u64 {
        self.hash
    }
}

impl Default for PlanCache {
    fn default() -> Self {
        Self::new(64)
    }
}

impl PlanCache {
    /// A cache of at most `capacity` plans; 0 keeps none.
    #[must_use]
    pub fn new(capacity: u16) -> Self {
        let capacity = usize::from(capacity);
        Self {
            slots: (0..capacity).map(|_| Slot::EMPTY).collect(),
            buckets: vec![NIL; capacity],
            ages: Ages::EMPTY,
            counters: PlanCounters::default(),
            hashes: DefaultHashBuilder::default(),
        }
    }

    /// Returns the plan of a program, from the cache if it has an equal program.
    ///
    /// Registers have the identifiers of the builder that was planned; see
    /// [`EncodedProgram::register`].
    ///
    /// # Errors
    /// As [`ProgramBuilder::encode`].
    pub fn encode(
        &mut self,
        program: &ProgramBuilder,
        request: &PlanRequest,
    ) -> Result<(Arc<EncodedProgram>, PlanSummary), ProgramError> {
        let hash = hash_of(program, request, self.hashes.build_hasher());
        let is_same = |known: &Shape| known.request == *request && known.program == *program;
        let mut plans = Recent::new(&mut self.slots, &mut self.buckets, &mut self.ages);
        if let Some(planned) = plans.get_by(hash, is_same) {
            self.counters.cache.hit();
            return Ok(planned.clone());
        }
        self.counters.encodes += 1;
        let (encoded, summary) = program.encode(request)?;
        let planned = (Arc::new(encoded), summary);
        let shape = Shape {
            hash,
            program: program.clone(),
            request: *request,
        };
        self.counters
            .cache
            .missed(plans.insert(shape, planned.clone()));
        Ok(planned)
    }

    /// Plans a program without the cache.
    ///
    /// # Errors
    /// As [`ProgramBuilder::encode`].
    pub fn encode_anew(
        &mut self,
        program: &ProgramBuilder,
        request: &PlanRequest,
    ) -> Result<(Arc<EncodedProgram>, PlanSummary), ProgramError> {
        self.counters.encodes += 1;
        let (encoded, summary) = program.encode(request)?;
        Ok((Arc::new(encoded), summary))
    }

    /// The uses so far.
    #[must_use]
    pub const fn counters(&self) -> PlanCounters {
        self.counters
    }
}

fn hash_of(program: &ProgramBuilder, request: &PlanRequest, mut hasher: impl Hasher) -> u64 {
    (program.nodes, program.search.forced).hash(&mut hasher);
    for register in &program.registers {
        register.words.hash(&mut hasher);
    }
    hash_waves(&program.waves, &mut hasher);
    (
        request.resident_bytes,
        request.budget_bytes,
        request.planned_for,
    )
        .hash(&mut hasher);
    hasher.finish()
}

fn hash_waves(waves: &[WaveSpec], hasher: &mut impl Hasher) {
    for wave in waves {
        (
            wave.does.word(),
            wave.destination,
            wave.sources,
            wave.parameters,
        )
            .hash(hasher);
        if let Some(body) = &wave.body {
            body.max_iterations.hash(hasher);
            hash_waves(&body.waves, hasher);
        }
    }
}
