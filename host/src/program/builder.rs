//! Builds wave programs: registers, waves, fixpoints.

use super::encoded::{BuilderId, GraphNeeds, RegisterId};
use super::error::ProgramError;
use super::operands::{self, Around};
use super::vocabulary::{BitOp, Mark, Meet, Over, Problems, Transfer};
use super::wave::{Body, Name, RegisterSpec, Slot, WaveSpec};
use crate::backend::TableLengths;
use crate::own::OwnWaves;
use seawall_core::abi::code::{Join, Joined, Kind};
use seawall_core::abi::program::{Opcode, Reduction};
use seawall_core::abi::search::{FrontierLayout, SearchPolicy, bitset_words};
use seawall_core::plan::Strategy;
use seawall_core::topology::Topology;

/// Collects registers and waves; dependencies follow from what each wave
/// reads and writes.
///
/// An invalid call, such as one with a register of another builder or a register that is too short
/// for its wave, is recorded; [`ProgramBuilder::encode`] returns the first one.
///
/// ```
/// use seawall::program::{ProgramBuilder, PlanRequest};
/// let mut program = ProgramBuilder::new(1000);
/// let labels = program.words("labels", 1000)?;
/// program.iota("number the nodes", labels);
/// program.keep(labels);
/// let (encoded, plan) = program.encode(&PlanRequest::default())?;
/// assert_eq!(plan.groups, 1);
/// assert_eq!(encoded.arena_bytes, 4096);
/// # Ok::<(), seawall::program::ProgramError>(())
/// ```
#[derive(Debug)]
pub struct ProgramBuilder {
    id: BuilderId,
    /// The builder that made each register: a clone keeps those of its original.
    makers: Vec<BuilderId>,
    problem: Option<ProgramError>,
    pub(crate) nodes: u32,
    pub(crate) registers: Vec<RegisterSpec>,
    pub(crate) waves: Vec<WaveSpec>,
    pub(crate) needs: GraphNeeds,
    pub(crate) search: SearchPolicy,
    /// Waves of another crate that it may use.
    pub(crate) own: Option<OwnWaves>,
}

impl Clone for ProgramBuilder {
    /// The same program. Later additions to one do not affect the other.
    fn clone(&self) -> Self {
        Self {
            id: BuilderId::next(),
            makers: self.makers.clone(),
            problem: self.problem.clone(),
            nodes: self.nodes,
            registers: self.registers.clone(),
            waves: self.waves.clone(),
            needs: self.needs,
            search: self.search,
            own: self.own.clone(),
        }
    }
}

impl PartialEq for ProgramBuilder {
    /// Whether both encode to the same tables, whichever builder made the registers.
    fn eq(&self, other: &Self) -> bool {
        (self.nodes, self.needs, self.search) == (other.nodes, other.needs, other.search)
            && self.registers == other.registers
            && self.waves == other.waves
            && self.problem == other.problem
            && self.own == other.own
    }
}

/// Options of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanRequest {
    /// Bytes that the resident graph takes.
    pub resident_bytes: u64,
    /// The smallest allocation of the machine, to which a table is rounded up, if the resident
    /// bytes count tables for the most groups that the program can have: a plan of fewer groups
    /// takes less. `None` if they count no tables.
    pub table_line_bytes: Option<u64>,
    /// Bytes that graph and registers may take; `None` sets no limit.
    pub budget_bytes: Option<u64>,
    /// Digest of the resident graph and its machine, of
    /// [`resident_digest`](crate::backend::resident_digest): kernels refuse the program beside
    /// another one. 0 fits any graph of its size.
    pub planned_for: u64,
    /// The packing of waves into groups.
    pub strategy: Strategy,
}

impl ProgramBuilder {
    /// An empty program for graphs of `nodes` nodes.
    #[must_use]
    pub fn new(nodes: u32) -> Self {
        Self {
            id: BuilderId::next(),
            makers: Vec::new(),
            problem: None,
            nodes,
            registers: Vec::new(),
            waves: Vec::new(),
            needs: GraphNeeds::default(),
            search: SearchPolicy::default(),
            own: None,
        }
    }

    /// Sets the thresholds of frontier searches.
    pub fn search_policy(&mut self, policy: SearchPolicy) {
        self.search = policy;
    }

    /// Whether some fixpoint is a frontier search, which thresholds steer.
    #[must_use]
    pub fn searches(&self) -> bool {
        fn searches(waves: &[WaveSpec]) -> bool {
            let bodies = waves.iter().filter_map(|wave| wave.body.as_ref());
            let mut bodies = bodies.map(|body| body.frontier.is_some() || searches(&body.waves));
            bodies.any(|searches| searches)
        }
        searches(&self.waves)
    }

    /// Makes every step of every search use `topology` if that can hold the frontier. A pulling
    /// topology makes the program read incoming edges.
    pub fn force_topology(&mut self, topology: Topology) {
        self.search.forced = topology as u32;
        if matches!(topology, Topology::Dense | Topology::BlockDense) {
            self.need_incoming();
        }
    }

    /// Declares that the program reads incoming edges.
    pub fn need_incoming(&mut self) {
        self.needs.incoming = true;
    }

    /// A register of `words` words.
    ///
    /// # Errors
    /// [`ProgramError::RegisterTooLong`] beyond 2^32 - 1 words.
    pub fn words(&mut self, name: impl Into<Name>, words: u64) -> Result<RegisterId, ProgramError> {
        self.register(name.into(), words, false)
    }

    /// A register of one bit per node.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`].
    pub fn bitset(&mut self, name: impl Into<Name>) -> Result<RegisterId, ProgramError> {
        self.register(name.into(), u64::from(bitset_words(self.nodes)), false)
    }

    /// A frontier register.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`]; a graph may have about a thousand million
    /// nodes.
    pub fn frontier(&mut self, name: impl Into<Name>) -> Result<RegisterId, ProgramError> {
        self.register(name.into(), FrontierLayout::new(self.nodes).words(), false)
    }

    /// A register that the host writes before each run.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`].
    pub fn input(&mut self, name: impl Into<Name>, words: u64) -> Result<RegisterId, ProgramError> {
        self.register(name.into(), words, true)
    }

    fn register(
        &mut self,
        name: Name,
        words: u64,
        is_input: bool,
    ) -> Result<RegisterId, ProgramError> {
        let max = u64::from(u32::MAX);
        let Ok(words) = u32::try_from(words) else {
            let name = name.into_owned();
            return Err(ProgramError::RegisterTooLong { name, words, max });
        };
        let id = RegisterId::new(self.id, self.registers.len() as u32);
        self.makers.push(self.id);
        self.registers.push(RegisterSpec {
            name,
            words,
            kind: Kind::U32,
            is_input,
            is_result: false,
            is_appended: false,
        });
        Ok(id)
    }

    /// Declares that waves read only appended entries of this list: its length begins with 0 and
    /// grows by appends, so that nothing has to fill it.
    pub(crate) fn fill_by_appends(&mut self, list: RegisterId) {
        if !self.owns(list) {
            return self.refuse_register("fill by appends", list);
        }
        if let Some(spec) = self.registers.get_mut(list.number() as usize) {
            spec.is_appended = true;
        }
    }

    /// Keeps `register` until the program ends, so that it can be read.
    pub fn keep(&mut self, register: RegisterId) {
        if !self.owns(register) {
            return self.refuse_register("keep", register);
        }
        if let Some(spec) = self.registers.get_mut(register.number() as usize) {
            spec.is_result = true;
        }
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = RegisterId> {
        let makers = (0..).zip(&self.makers);
        makers.map(|(number, maker)| RegisterId::new(*maker, number))
    }

    /// The most records that the tables of its encoded program hold.
    pub(crate) fn table_lengths(&self) -> TableLengths {
        let mut lengths = TableLengths {
            groups: 0,
            waves: 0,
            registers: self.registers.len(),
            code: 0,
        };
        let mut open = vec![self.waves.as_slice()];
        while let Some(waves) = open.pop() {
            // Every group has a wave, except the first one of a body with a condition.
            lengths.groups += waves.len();
            lengths.waves += waves.len();
            for wave in waves {
                lengths.code += wave.code.len();
                if let Some(body) = &wave.body {
                    lengths.groups += usize::from(body.condition.is_some());
                    open.push(&body.waves);
                }
            }
        }
        lengths
    }

    fn owns(&self, register: RegisterId) -> bool {
        let number = register.number();
        let maker = self.makers.get(number as usize);
        maker.is_some_and(|maker| RegisterId::new(*maker, number) == register)
    }

    pub(super) fn refuse(&mut self, problem: ProgramError) {
        self.problem.get_or_insert(problem);
    }

    fn refuse_register(&mut self, user: &str, register: RegisterId) {
        self.refuse(ProgramError::ForeignRegister {
            user: user.to_owned(),
            register: register.number(),
        });
    }

    /// The first invalid call.
    pub(super) fn check(&self) -> Result<(), ProgramError> {
        self.problem.clone().map_or(Ok(()), Err)
    }

    pub(super) fn push(&mut self, wave: WaveSpec) {
        let wave = self.admit(wave);
        self.waves.push(wave);
    }

    fn admit(&mut self, mut wave: WaveSpec) -> WaveSpec {
        let named = std::mem::take(&mut wave.named);
        let around = Around {
            registers: &self.registers,
            nodes: self.nodes,
        };
        let foreign = named.into_iter().find(|register| !self.owns(*register));
        match foreign {
            Some(register) => self.refuse_register(&format!("wave {}", wave.name), register),
            None => {
                wave.reads.extend(operands::filled_in_part(around, &wave));
                if let Err(problem) = operands::check(around, &wave) {
                    self.refuse(problem);
                }
            }
        }
        wave
    }

    /// Stores `value` in every word of `to`: in both words of a number of 64 bits, and as the bits of a
    /// float.
    pub fn fill(&mut self, name: &str, to: RegisterId, value: u32) {
        self.push(WaveSpec::new(name, Opcode::Fill).writing(to).with(0, value));
    }

    /// Stores its own number in every value of `to`.
    pub fn iota(&mut self, name: &str, to: RegisterId) {
        match self.kind_of(to) {
            Kind::U32 | Kind::I32 => self.iota_words(name, to),
            Kind::F32 => self.each(name, Over::Values(to), |item| {
                item.store(to, item.index().to_f32());
            }),
            Kind::U64 => self.each(name, Over::Values(to), |item| {
                item.store(to, item.index().to_u64());
            }),
        }
    }

    /// Copies `from` to `to`, which has values of the same kind.
    pub fn copy(&mut self, name: &str, to: RegisterId, from: RegisterId) {
        self.need_kind(name, to, self.kind_of(from));
        self.copy_words(name, to, from);
    }

    /// Stores its own number in every word of `to`, whatever its kind.
    #[doc(hidden)]
    pub fn iota_words(&mut self, name: &str, to: RegisterId) {
        self.push(WaveSpec::new(name, Opcode::Iota).writing(to));
    }

    /// Copies the words of `from` to `to`, whatever their kinds.
    #[doc(hidden)]
    pub fn copy_words(&mut self, name: &str, to: RegisterId, from: RegisterId) {
        self.push(
            WaveSpec::new(name, Opcode::Copy)
                .writing(to)
                .reading(0, from),
        );
    }

    /// Stores the words of `from` that `indices` name, as many as `to` has. An index
    /// that `from` does not hold ends the run with a fault.
    pub fn gather(&mut self, name: &str, to: RegisterId, from: RegisterId, indices: RegisterId) {
        let wave = WaveSpec::new(name, Opcode::Gather).writing(to);
        self.push(wave.reading(0, from).reading(1, indices));
    }

    /// Joins two registers word by word.
    pub fn combine(&mut self, name: &str, how: BitOp, to: RegisterId, from: [RegisterId; 2]) {
        let [left, right] = from;
        self.push(
            WaveSpec::new(name, how.opcode())
                .writing(to)
                .reading(0, left)
                .reading(1, right),
        );
    }

    /// Stores `value` at the nodes of `list` and 0 elsewhere.
    pub fn scatter(&mut self, name: &str, to: RegisterId, list: RegisterId, value: u32) {
        let wave = WaveSpec::new(name, Opcode::Scatter).writing(to);
        self.push(wave.reading(0, list).with(0, value));
    }

    /// Empties a frontier.
    pub fn reset(&mut self, name: &str, frontier: RegisterId) {
        self.push(WaveSpec::new(name, Opcode::Reset).writing(frontier));
    }

    /// Puts the nodes of `list` into a reset `frontier` and marks them.
    pub fn seed(&mut self, name: &str, frontier: RegisterId, list: RegisterId, mark: Mark) {
        let wave = WaveSpec::new(name, Opcode::Seed)
            .updating(frontier)
            .reading(0, list);
        let wave = match mark.register() {
            Some(marks) => wave.updating_source(1, marks),
            None => wave,
        };
        self.push(wave.with(0, mark.visitor() as u32));
    }

    /// Searches from a seeded `frontier` until nothing is left, at most
    /// `max_iterations` levels deep, marking what it discovers.
    pub fn search(&mut self, name: &str, frontier: RegisterId, mark: Mark, max_iterations: u32) {
        let expand = WaveSpec::new("expand", Opcode::Expand).updating_source(0, frontier);
        let expand = match mark.register() {
            Some(marks) => expand.updating(marks),
            None => expand,
        };
        let expand = self.admit(expand.with(0, mark.visitor() as u32));
        let frontier = Slot(frontier.number());
        self.push_fixpoint(name, vec![expand], max_iterations, Some(frontier));
    }

    /// Copies the visited bits of `frontier` to the bitset `to`.
    pub fn visited(&mut self, name: &str, to: RegisterId, frontier: RegisterId) {
        self.push(
            WaveSpec::new(name, Opcode::Visited)
                .writing(to)
                .reading(0, frontier),
        );
    }

    /// Joins all values of `from` into the first one of `to`, whose others stay: a longer register has
    /// to be filled before. A sum, a least or a largest value is of the kind of `from`, and a sum of
    /// floats has the same bits everywhere; `Any` and `Count` look at words.
    pub fn reduce(&mut self, name: &str, how: Reduction, to: RegisterId, from: RegisterId) {
        let join = match how {
            Reduction::Sum => Some(Join::Sum),
            Reduction::Min => Some(Join::Min),
            Reduction::Max => Some(Join::Max),
            Reduction::Any | Reduction::Count => None,
        };
        if let Some(join) = join
            && [to, from]
                .iter()
                .any(|register| self.kind_of(*register) != Kind::U32)
        {
            return self.fold_all(name, join, to, from);
        }
        self.reduce_words(name, how, to, from);
    }

    /// Joins the words of `from` into the first one of `to`, whatever their kinds.
    #[doc(hidden)]
    pub fn reduce_words(&mut self, name: &str, how: Reduction, to: RegisterId, from: RegisterId) {
        let identity = if how == Reduction::Min { u32::MAX } else { 0 };
        self.set_first(name, "identity", to, identity);
        let wave = WaveSpec::new(name, Opcode::Reduce)
            .updating(to)
            .reading(0, from);
        self.push(wave.with(0, how as u32));
    }

    /// [`Self::reduce`] of values that are no unsigned words.
    fn fold_all(&mut self, name: &str, how: Join, to: RegisterId, from: RegisterId) {
        let kind = self.kind_of(to);
        let least = Joined { how, kind }.identity();
        self.each("identity", Over::Count(1), |item| match kind {
            Kind::U32 => item.store(to, least as u32),
            Kind::I32 => item.store(to, item.constant(least as u32 as i32)),
            Kind::F32 => item.store(to, f32::from_bits(least as u32)),
            Kind::U64 => item.store(to, least),
        });
        self.each(name, Over::Values(from), |item| {
            item.fold(to, how, item.load(from));
        });
    }

    /// Stores `word` in the first word of `to` and leaves the others alone, for the wave `name`,
    /// as `what` of it.
    pub(super) fn set_first(&mut self, name: &str, what: &str, to: RegisterId, word: u32) {
        let spec = self.registers.get(to.number() as usize);
        let Some((kind, 2..)) = spec.map(|spec| (spec.kind, spec.words)) else {
            return self.fill(what, to, word);
        };
        self.each(name, Over::Count(1), |item| match kind {
            Kind::U32 => item.store(to, word),
            Kind::I32 => item.store(to, item.constant(word as i32)),
            Kind::F32 => item.store(to, item.constant(f32::from_bits(word))),
            // The high word of the first pair is another word.
            Kind::U64 => item.store(to, item.constant(word).below_high(item.load(to).high())),
        });
    }

    /// `to = generated | (from & !killed)`; raises the fixpoint's flag when a
    /// word changes.
    pub fn gen_kill(&mut self, name: &str, to: RegisterId, transfer: Transfer) {
        let wave = WaveSpec::new(name, Opcode::GenKill).updating(to);
        self.push(
            wave.reading(0, transfer.from)
                .reading(1, transfer.generated)
                .reading(2, transfer.killed),
        );
    }

    /// Meets the facts of each node's predecessors, `facts` words a node;
    /// raises the fixpoint's flag when a word changes.
    pub fn meet(&mut self, name: &str, to: RegisterId, from: RegisterId, meet: Meet) {
        self.needs.incoming = true;
        let wave = WaveSpec::new(name, Opcode::Meet)
            .updating(to)
            .reading(0, from);
        self.push(wave.with(0, u32::from(meet.intersect)).with(1, meet.facts));
    }

    /// Solves problems of 64 facts a node: `to` keeps its facts, and gains for each node what it makes,
    /// and what it keeps of the facts of the nodes in its row, until nothing is new.
    pub fn settle(&mut self, name: &str, to: RegisterId, problems: Problems) {
        self.fill("no range is taken", problems.counters, 0);
        let wave = WaveSpec::new(name, Opcode::Settle)
            .updating(to)
            .reading(0, problems.transfer)
            .reading(1, problems.ranges)
            .updating_source(2, problems.counters);
        self.push(wave.with(0, problems.large));
    }

    /// Stalls one block until the time budget ends, for tests of the watchdog.
    pub fn stall(&mut self, name: &str, block: u32) {
        self.push(WaveSpec::new(name, Opcode::Stall).with(0, block));
    }

    /// Repeats the waves that `body` adds until an iteration changes nothing,
    /// at most `max_iterations` times.
    pub fn fixpoint(&mut self, name: &str, max_iterations: u32, body: impl FnOnce(&mut Self)) {
        let waves = self.body(name, body);
        self.push_fixpoint(name, waves, max_iterations, None);
    }

    /// The waves that `body` adds.
    pub(super) fn body(&mut self, name: &str, body: impl FnOnce(&mut Self)) -> Vec<WaveSpec> {
        let (id, outer) = (self.id, std::mem::take(&mut self.waves));
        body(self);
        if self.id != id {
            self.refuse(ProgramError::ReplacedBuilder {
                name: name.to_owned(),
            });
        }
        std::mem::replace(&mut self.waves, outer)
    }

    fn push_fixpoint(
        &mut self,
        name: &str,
        waves: Vec<WaveSpec>,
        max_iterations: u32,
        frontier: Option<Slot>,
    ) {
        let body = Body {
            waves,
            max_iterations,
            frontier,
            condition: None,
        };
        self.push_loop(WaveSpec::new(name, Opcode::Fixpoint), body);
    }

    pub(super) fn push_loop(&mut self, mut wave: WaveSpec, body: Body) {
        for inner in &body.waves {
            wave.reads.extend(&inner.reads);
            wave.writes.extend(&inner.writes);
        }
        for list in [&mut wave.reads, &mut wave.writes] {
            list.sort_unstable();
            list.dedup();
        }
        wave.body = Some(body);
        self.push(wave);
    }
}
