//! The recorded steps of a wave's code, with values by number.

use crate::graph::WeightKind;
use crate::program::encoded::{GraphNeeds, RegisterId};
use crate::program::error::CodeError;
use crate::program::wave::RegisterSpec;
use seawall_core::abi::code::{Access, Edges, Joined, Kind, Op, Outcome};
use std::cell::{Cell, RefCell};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueSpec {
    pub(super) kind: Kind,
    /// Edge part that it belongs to; 0 for values of the item.
    pub(super) part: u32,
}

/// A value that does not depend on others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A number of the code: its low word and its high one.
    Words(u32, u32),
    Item,
    /// The node at the other end of the edge.
    Neighbour,
}

/// One step; it uses values and may make one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) op: Op,
    pub(super) to: Option<u32>,
    pub(super) from: Vec<u32>,
    pub(super) first: u32,
    pub(super) second: u32,
    /// Value of [`Op::Take`].
    pub(super) source: Option<Source>,
    pub(super) outcome: Outcome,
    pub(super) joined: Option<Joined>,
    /// Edge part that it is in; 0 for none.
    pub(super) part: u32,
}

#[derive(Debug)]
pub(crate) struct Coder<'r> {
    registers: &'r [RegisterSpec],
    steps: RefCell<Vec<Step>>,
    values: RefCell<Vec<ValueSpec>>,
    named: RefCell<Vec<RegisterId>>,
    problem: RefCell<Option<CodeError>>,
    needs: Cell<GraphNeeds>,
    /// Edge parts begun so far, and the open one.
    parts: Cell<(u32, u32)>,
    /// The edges of the last part that began.
    edges: Cell<Edges>,
    /// Whether items are entries of a list.
    is_of_list: bool,
    /// Registers that items add floats to.
    sums: RefCell<Vec<RegisterId>>,
}

#[derive(Debug)]
pub(in crate::program) struct Written {
    pub(super) steps: Vec<Step>,
    pub(super) values: Vec<ValueSpec>,
    pub(in crate::program) named: Vec<RegisterId>,
    pub(in crate::program) needs: GraphNeeds,
    /// The register of each sum of floats over items. The terms of the first sum are in the
    /// register after the builder's last one, those of the others in the registers after that.
    pub(in crate::program) sums: Vec<RegisterId>,
}

impl<'r> Coder<'r> {
    /// A coder; `is_list` if items are entries of a list.
    pub(in crate::program) fn new(registers: &'r [RegisterSpec], is_of_list: bool) -> Self {
        Self {
            is_of_list,
            sums: RefCell::default(),
            registers,
            steps: RefCell::default(),
            values: RefCell::default(),
            named: RefCell::default(),
            problem: RefCell::default(),
            needs: Cell::default(),
            parts: Cell::default(),
            edges: Cell::new(Edges::Out),
        }
    }

    /// The steps written so far.
    pub(in crate::program) fn finish(self) -> Result<Written, CodeError> {
        if let Some(problem) = self.problem.into_inner() {
            return Err(problem);
        }
        Ok(Written {
            steps: self.steps.into_inner(),
            values: self.values.into_inner(),
            named: self.named.into_inner(),
            needs: self.needs.get(),
            sums: self.sums.into_inner(),
        })
    }

    pub(super) fn refuse(&self, problem: CodeError) {
        self.problem.borrow_mut().get_or_insert(problem);
    }

    /// The kind of a register; one of another builder is refused elsewhere.
    pub(super) fn kind_of(&self, register: RegisterId) -> Kind {
        let spec = self.registers.get(register.number() as usize);
        spec.map_or(Kind::U32, |spec| spec.kind)
    }

    pub(super) fn name_of(&self, register: RegisterId) -> String {
        let spec = self.registers.get(register.number() as usize);
        spec.map_or_else(String::new, |spec| spec.name.to_string())
    }

    /// Records the use of a register, and returns its number.
    pub(super) fn name(&self, register: RegisterId) -> u32 {
        self.named.borrow_mut().push(register);
        register.number()
    }

    /// Records a sum of floats over items, and returns the number of the register of its terms.
    pub(super) fn sum(&self, register: RegisterId) -> u32 {
        self.name(register);
        let mut sums = self.sums.borrow_mut();
        sums.push(register);
        (self.registers.len() + sums.len() - 1) as u32
    }

    /// Whether items are entries of a list.
    pub(super) const fn is_of_list(&self) -> bool {
        self.is_of_list
    }

    /// The open edge part, 0 for none.
    pub(super) fn part(&self) -> u32 {
        self.parts.get().1
    }

    /// Records that weights of the open part's edges are read.
    pub(super) fn need_weights(&self, kind: WeightKind) {
        let needs = self.needs.get();
        let is_incoming = self.edges.get() == Edges::In;
        if needs.weights.is_some_and(|known| known != kind) {
            self.refuse(CodeError::TwoWeights);
        }
        self.needs.set(GraphNeeds {
            weights: Some(kind),
            incoming_weights: needs.incoming_weights || is_incoming,
            ..needs
        });
    }

    pub(super) fn need_incoming(&self) {
        let needs = self.needs.get();
        self.needs.set(GraphNeeds {
            incoming: true,
            ..needs
        });
    }

    fn value(&self, kind: Kind, part: u32) -> u32 {
        let mut values = self.values.borrow_mut();
        values.push(ValueSpec { kind, part });
        values.len() as u32 - 1
    }

    /// Records a step that makes a value of `kind`; returns the value's number.
    pub(super) fn add(&self, kind: Kind, step: Step) -> u32 {
        self.check_parts(&step);
        let id = self.value(kind, self.part());
        self.push(Step {
            to: Some(id),
            ..step
        });
        id
    }

    fn push(&self, step: Step) {
        let part = self.part();
        self.steps.borrow_mut().push(Step { part, ..step });
    }

    /// Records a step that makes none.
    pub(super) fn act(&self, step: Step) {
        self.check_parts(&step);
        self.push(step);
    }

    /// Values of edges are invalid after their part.
    fn check_parts(&self, step: &Step) {
        let values = self.values.borrow();
        let fits = |id: &u32| [0, self.part()].contains(&values[*id as usize].part);
        if !step.from.iter().all(fits) {
            self.refuse(CodeError::ValueOfEdge);
        }
    }

    /// Begins an edge part; returns the place of its step.
    pub(super) fn begin_edges(&self, edges: Edges) -> usize {
        let (begun, open) = self.parts.get();
        if open != 0 {
            self.refuse(CodeError::EdgesInEdges);
        }
        if edges == Edges::In {
            self.need_incoming();
        }
        self.edges.set(edges);
        self.act(Step::of(Op::Edges).with(edges as u32, 0));
        self.parts.set((begun + 1, begun + 1));
        self.steps.borrow().len() - 1
    }

    /// Ends the part that begins at step `begin`, with reductions of values of its edges.
    pub(super) fn end_edges<const N: usize>(
        &self,
        begin: usize,
        edges: Edges,
        reductions: [(Joined, u32); N],
    ) -> [u32; N] {
        let found = reductions.map(|(joined, from)| {
            let to = self.value(joined.kind, 0);
            let step = Step::of(Op::Reduce).using([from]);
            self.act(Step {
                to: Some(to),
                ..step.joining(joined)
            });
            to
        });
        let (begun, _) = self.parts.get();
        self.parts.set((begun, 0));
        let mut steps = self.steps.borrow_mut();
        let part = &steps[begin + 1..];
        let only_reduces = !part.iter().any(|step| step.has_effect());
        let all_end = reductions.iter().all(|(joined, _)| joined.end().is_some());
        let ends_early = only_reduces && all_end && N > 0;
        let word = seawall_core::abi::code::EdgesPart {
            edges,
            ends_early,
            may_stop: ends_early || part.iter().any(|step| step.op == Op::Until),
            reductions: N as u32,
        };
        steps[begin].first = word.to_word();
        found
    }
}

impl Step {
    pub(super) const fn of(op: Op) -> Self {
        Self {
            op,
            to: None,
            from: Vec::new(),
            first: 0,
            second: 0,
            source: None,
            outcome: Outcome::Value,
            joined: None,
            part: 0,
        }
    }

    /// Loads a value that does not depend on others.
    pub(super) fn taking(source: Source) -> Self {
        Self {
            source: Some(source),
            ..Self::of(Op::Take)
        }
    }

    pub(super) fn using<const N: usize>(self, from: [u32; N]) -> Self {
        Self {
            from: from.to_vec(),
            ..self
        }
    }

    pub(super) const fn with(mut self, first: u32, second: u32) -> Self {
        self.first = first;
        self.second = second;
        self
    }

    pub(super) fn joining(mut self, joined: Joined) -> Self {
        self.joined = Some(joined);
        self
    }

    /// Whether it has effects besides its value.
    fn has_effect(&self) -> bool {
        let [first, second] = self.op.accesses();
        let writes = |access: Option<Access>| access.is_some_and(|access| access != Access::Read);
        writes(first) || writes(second) || self.op == Op::Raise
    }
}
