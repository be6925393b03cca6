//! Waves that run code, and loops on a register.

use super::builder::ProgramBuilder;
use super::code::{Coder, Item, allocate};
use super::encoded::RegisterId;
use super::error::{CodeError, ProgramError};
use super::vocabulary::Over;
use super::wave::{Body, Name, Slot, WaveSpec};
use seawall_core::abi::code::{
    Access, Instruction, Kind, NUMBER, NUMBERED, OF_EDGE, Op, Outcome, TEMPORARY, needs,
};
use seawall_core::abi::program::{EachRecord, Opcode};
use std::collections::BTreeSet;

impl ProgramBuilder {
    /// A register of `count` values of `kind`.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`].
    pub fn values(
        &mut self,
        name: impl Into<Name>,
        kind: Kind,
        count: u64,
    ) -> Result<RegisterId, ProgramError> {
        self.kept_as(name.into(), kind, count, false)
    }

    /// A register of `count` values of `kind` that the host writes before each run.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`].
    pub fn input_values(
        &mut self,
        name: impl Into<Name>,
        kind: Kind,
        count: u64,
    ) -> Result<RegisterId, ProgramError> {
        self.kept_as(name.into(), kind, count, true)
    }

    /// A register of a value of `kind` a node.
    ///
    /// # Errors
    /// As [`ProgramBuilder::words`].
    pub fn per_node(
        &mut self,
        name: impl Into<Name>,
        kind: Kind,
    ) -> Result<RegisterId, ProgramError> {
        self.values(name, kind, u64::from(self.nodes))
    }

    fn kept_as(
        &mut self,
        name: Name,
        kind: Kind,
        count: u64,
        is_input: bool,
    ) -> Result<RegisterId, ProgramError> {
        let words = count.saturating_mul(u64::from(kind.words()));
        let id = if is_input {
            self.input(name, words)?
        } else {
            self.words(name, words)?
        };
        if let Some(spec) = self.registers.get_mut(id.number() as usize) {
            spec.kind = kind;
        }
        Ok(id)
    }

    /// Runs `code` for each item of a domain, in one pass.
    ///
    /// ```
    /// use seawall::program::{Kind, Over, PlanRequest, ProgramBuilder};
    /// let mut program = ProgramBuilder::new(1000);
    /// let squares = program.per_node("squares", Kind::U32)?;
    /// program.each("square the numbers", Over::Nodes, |node| {
    ///     node.store(squares, node.index() * node.index());
    /// });
    /// program.keep(squares);
    /// let (encoded, plan) = program.encode(&PlanRequest::default())?;
    /// assert_eq!((encoded.code.len(), plan.groups), (3, 1));
    /// # Ok::<(), seawall::program::ProgramError>(())
    /// ```
    pub fn each(&mut self, name: &str, over: Over, code: impl for<'c> FnOnce(Item<'c>)) {
        let coder = Coder::new(&self.registers, matches!(over, Over::List { .. }));
        code(Item::new(&coder));
        let written = coder.finish();
        let done = written.and_then(|mut written| {
            let code = allocate(&mut written)?;
            Ok((written, code))
        });
        match done {
            Ok((written, code)) => {
                self.needs.incoming |= written.needs.incoming;
                self.needs.incoming_weights |= written.needs.incoming_weights;
                self.need_weights(name, written.needs.weights);
                let terms = match self.terms(name, over, &written.sums) {
                    Ok(terms) => terms,
                    Err(problem) => return self.refuse(problem),
                };
                let wave = self.wave_of(name, over, code);
                let mut wave = match wave {
                    Ok(wave) => wave,
                    Err(problem) => return self.refuse_code(name, problem),
                };
                wave.named.extend(written.named);
                self.push(wave);
                for (to, terms) in written.sums.into_iter().zip(terms) {
                    self.add_up(name, to, terms);
                }
            }
            Err(problem) => self.refuse_code(name, problem),
        }
    }

    fn need_weights(&mut self, name: &str, kind: Option<crate::graph::WeightKind>) {
        if let (Some(known), Some(kind)) = (self.needs.weights, kind)
            && known != kind
        {
            self.refuse_code(name, CodeError::TwoWeights);
        }
        self.needs.weights = kind.or(self.needs.weights);
    }

    fn refuse_code(&mut self, wave: &str, problem: CodeError) {
        let wave = wave.to_owned();
        self.refuse(ProgramError::Code { wave, problem });
    }

    /// The wave of `code`, with its reads and writes.
    fn wave_of(
        &self,
        name: &str,
        over: Over,
        code: Vec<Instruction>,
    ) -> Result<WaveSpec, CodeError> {
        let mut wave = WaveSpec::new(name, Opcode::Each);
        let items = match over {
            Over::Nodes => self.nodes,
            Over::Count(items) => items,
            Over::Values(register) => {
                wave.named.push(register);
                self.values_of(register)
            }
            Over::List { list, count } => {
                wave = wave.reading(0, list).reading(1, count);
                self.values_of(list)
            }
        };
        let uses = Uses::of(&code);
        self.check_uses(&uses, over, items)?;
        wave.reads.extend(uses.reads());
        // A register that keeps some of its values must have been filled.
        let kept = uses.stored.iter().filter(|slot| {
            let spec = self.registers.get(slot.0 as usize);
            let held = spec.map_or(0, |spec| spec.words / spec.kind.words());
            is_partial(over, &code) || held > items
        });
        wave.reads.extend(kept);
        wave.writes.extend(uses.writes());
        wave.parameters = EachRecord {
            first: 0,
            instructions: code.len() as u32,
            items,
            needs: needs::of(&code),
            before: 0,
        }
        .to_parameters();
        wave.code = code;
        Ok(wave)
    }

    /// The kind of a register; whole numbers for one of another builder, which is refused elsewhere.
    pub(super) fn kind_of(&self, register: RegisterId) -> Kind {
        let spec = self.registers.get(register.number() as usize);
        spec.map_or(Kind::U32, |spec| spec.kind)
    }

    fn name_of(&self, slot: Slot) -> String {
        let spec = self.registers.get(slot.0 as usize);
        spec.map_or_else(String::new, |spec| spec.name.to_string())
    }

    /// Refuses wave `name` unless `register` holds values of `kind`.
    pub(super) fn need_kind(&mut self, name: &str, register: RegisterId, kind: Kind) {
        let needed = self.kind_of(register);
        if needed != kind {
            let problem = CodeError::RegisterKind {
                register: self.name_of(Slot(register.number())),
                found: kind,
                needed,
            };
            self.refuse_code(name, problem);
        }
    }

    pub(super) fn values_of(&self, register: RegisterId) -> u32 {
        let spec = self.registers.get(register.number() as usize);
        spec.map_or(0, |spec| spec.words / spec.kind.words())
    }

    /// Refuses code whose result would depend on the order of items.
    fn check_uses(&self, uses: &Uses, over: Over, items: u32) -> Result<(), CodeError> {
        if let Some(slot) = uses.races() {
            let register = self.name_of(slot);
            return Err(CodeError::ReadsWhatItWrites { register });
        }
        if let Some(slot) = uses.stored.intersection(&uses.changed).next() {
            let register = self.name_of(*slot);
            return Err(CodeError::StoresWhatItJoins { register });
        }
        if let Over::List { list, count } = over {
            for register in [list, count] {
                let slot = Slot(register.number());
                if uses.writes().any(|written| written == slot) {
                    let register = self.name_of(slot);
                    return Err(CodeError::ChangesItsItems { register });
                }
            }
            return Ok(());
        }
        for slot in uses.own.union(&uses.stored) {
            let spec = self.registers.get(slot.0 as usize);
            let Some(spec) = spec else { continue };
            let held = spec.words / spec.kind.words();
            if held < items {
                return Err(CodeError::TooShort {
                    register: spec.name.to_string(),
                    held,
                    items,
                });
            }
        }
        Ok(())
    }

    /// Repeats the waves that `body` adds while the first value of `condition`, a whole number of 32
    /// bits, is not 0, at most `max_iterations` times. Loops may be nested three deep, and contain
    /// searches and fixpoints.
    pub fn while_nonzero(
        &mut self,
        name: &str,
        condition: RegisterId,
        max_iterations: u32,
        body: impl FnOnce(&mut Self),
    ) {
        if self.kind_of(condition) != Kind::I32 {
            self.need_kind(name, condition, Kind::U32);
        }
        self.while_word(name, condition, max_iterations, body);
    }

    /// Works as [`Self::while_nonzero`] by the first word of a register, whatever its kind.
    #[doc(hidden)]
    pub fn while_word(
        &mut self,
        name: &str,
        condition: RegisterId,
        max_iterations: u32,
        body: impl FnOnce(&mut Self),
    ) {
        let waves = self.body(name, body);
        let mut wave = WaveSpec::new(name, Opcode::While);
        wave.named.push(condition);
        let condition = Slot(condition.number());
        wave.reads.push(condition);
        self.push_loop(
            wave,
            Body {
                waves,
                max_iterations,
                frontier: None,
                condition: Some(condition),
            },
        );
    }
}

/// Whether code may skip items before a store.
fn is_partial(over: Over, code: &[Instruction]) -> bool {
    matches!(over, Over::List { .. }) || leaves_items_out(code)
}

/// Whether an item may be skipped; skipping an edge does not skip its item.
fn leaves_items_out(code: &[Instruction]) -> bool {
    let mut edges_end = 0;
    code.iter().enumerate().any(|(index, at)| {
        if at.op == Op::Edges as u32 {
            edges_end = index + 1 + at.second as usize;
        }
        let is_only = Op::from_word(at.op).is_some_and(|op| match op.is_comparison() {
            true => Outcome::from_byte(at.temps[3]) == Some(Outcome::Only),
            false => op == Op::Only,
        });
        is_only && index >= edges_end
    })
}

#[derive(Debug, Default)]
struct Uses {
    /// Read only at the item's own place, unless also in `others`.
    own: BTreeSet<Slot>,
    /// Read anywhere.
    others: BTreeSet<Slot>,
    /// Read with current values.
    latest: BTreeSet<Slot>,
    /// Stored at the item's own place.
    stored: BTreeSet<Slot>,
    changed: BTreeSet<Slot>,
}

impl Uses {
    fn of(code: &[Instruction]) -> Self {
        let mut uses = Self::default();
        // Temporaries that hold the number of the item.
        let mut items = BTreeSet::new();
        let mut edges_end = 0;
        for (index, at) in code.iter().enumerate() {
            let Some(op) = Op::from_word(at.op) else {
                continue;
            };
            if op == Op::Edges {
                edges_end = index + 1 + at.second as usize;
            }
            let [to, a, ..] = at.temps;
            let is_number = a == NUMBER && index >= edges_end;
            for (access, register) in op.accesses().into_iter().zip([at.first, at.second]) {
                let set = match access {
                    None => continue,
                    Some(Access::WriteOwn) => &mut uses.stored,
                    Some(Access::Change) => &mut uses.changed,
                    Some(Access::Read) if matches!(op, Op::Latest | Op::LatestWide) => {
                        &mut uses.latest
                    }
                    Some(Access::Read) if is_number || items.contains(&a) => &mut uses.own,
                    Some(Access::Read) => &mut uses.others,
                };
                set.insert(Slot(register));
            }
            if to & TEMPORARY == 0 {
                continue;
            }
            let made = at.form().map_or(0, |form| form.to) as u8;
            let first = to & (NUMBERED | TEMPORARY | OF_EDGE);
            for temp in first..first.saturating_add(made) {
                items.remove(&temp);
            }
            if op == Op::Take && is_number {
                items.insert(to);
            }
        }
        uses
    }

    fn reads(&self) -> impl Iterator<Item = Slot> {
        let read = self.own.iter().chain(&self.others).chain(&self.latest);
        // A register that is joined to must have been filled.
        let all: BTreeSet<Slot> = read.chain(&self.changed).copied().collect();
        all.into_iter()
    }

    fn writes(&self) -> impl Iterator<Item = Slot> {
        let all: BTreeSet<Slot> = self.stored.union(&self.changed).copied().collect();
        all.into_iter()
    }

    /// A register that items may see before or after others changed it.
    fn races(&self) -> Option<Slot> {
        let stored = |slot: &&Slot| self.stored.contains(slot);
        let changed = |slot: &&Slot| self.changed.contains(slot);
        let mut others = self.others.iter();
        let found = others.find(|slot| stored(slot) || changed(slot));
        found.or_else(|| self.own.iter().find(changed)).copied()
    }
}

#[cfg(test)]
#[path = "each_tests.rs"]
mod tests;
