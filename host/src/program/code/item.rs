//! Operations of a wave's code on an item, and on its edges.

use super::steps::{Coder, Source, Step};
use super::value::{Number, Operand, Value};
use crate::graph::WeightKind;
use crate::program::encoded::RegisterId;
use crate::program::error::CodeError;
use seawall_core::abi::code::{Edges, Join, Joined, Kind, Op};
use std::ops::Deref;

/// An item of a wave's domain: a node, a word, an entry of a list.
#[derive(Clone, Copy, Debug)]
pub struct Item<'c> {
    coder: &'c Coder<'c>,
}

/// An edge of an item that is a node.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'c> {
    item: Item<'c>,
    /// The edge part that it belongs to.
    part: u32,
}

impl<'c> Deref for Edge<'c> {
    type Target = Item<'c>;
    fn deref(&self) -> &Item<'c> {
        &self.item
    }
}

impl<'c> Item<'c> {
    pub(in crate::program) const fn new(coder: &'c Coder<'c>) -> Self {
        Self { coder }
    }

    fn value(self, number: impl Operand<'c>) -> Value<'c> {
        number.value(Value::new(self.coder, 0, Kind::U32))
    }

    fn make(self, kind: Kind, step: Step) -> Value<'c> {
        self.coder.make(kind, step)
    }

    /// A number.
    #[must_use]
    #[expect(private_bounds, reason = "the four types of numbers")]
    pub fn constant<T: Number>(self, number: T) -> Value<'c> {
        self.coder.constant(number)
    }

    /// Number of the item: a node, or the index of a value in a register.
    #[must_use]
    pub fn index(self) -> Value<'c> {
        self.make(Kind::U32, Step::taking(Source::Item))
    }

    /// The item's own value in `register`, from before the wave.
    #[must_use]
    pub fn load(self, register: RegisterId) -> Value<'c> {
        self.at(register, self.index())
    }

    /// Value `index` of `register`, from before the wave.
    #[must_use]
    pub fn at(self, register: RegisterId, index: impl Operand<'c>) -> Value<'c> {
        self.read(register, [Op::Load, Op::LoadWide], index)
    }

    /// Value `index` of `register` as it is now, which another item may have changed.
    #[must_use]
    pub fn latest(self, register: RegisterId, index: impl Operand<'c>) -> Value<'c> {
        self.read(register, [Op::Latest, Op::LatestWide], index)
    }

    fn read(
        self,
        register: RegisterId,
        [word, wide]: [Op; 2],
        index: impl Operand<'c>,
    ) -> Value<'c> {
        let kind = self.coder.kind_of(register);
        let op = if kind == Kind::U64 { wide } else { word };
        let index = self.value(index).expect("an index", Kind::U32);
        let number = self.coder.name(register);
        self.make(kind, Step::of(op).using([index.id()]).with(number, 0))
    }

    /// The number of edges of a kind of node `node`.
    #[must_use]
    pub fn degree(self, edges: Edges, node: impl Operand<'c>) -> Value<'c> {
        self.row(Op::Degree, edges, node)
    }

    /// Number of the first edge of a kind that node `node` has; the others follow.
    #[must_use]
    pub fn first_edge(self, edges: Edges, node: impl Operand<'c>) -> Value<'c> {
        self.row(Op::FirstEdge, edges, node)
    }

    fn row(self, op: Op, edges: Edges, node: impl Operand<'c>) -> Value<'c> {
        let node = self.value(node).expect("a node", Kind::U32);
        if edges == Edges::In {
            self.coder.need_incoming();
        }
        let step = Step::of(op).using([node.id()]);
        self.make(Kind::U32, step.with(edges as u32, 0))
    }

    /// `value`, if it is of the kind of `register`.
    fn value_for(self, register: RegisterId, value: impl Operand<'c>) -> Value<'c> {
        let needed = self.coder.kind_of(register);
        let value = value.value(Value::new(self.coder, 0, needed));
        if value.kind() != needed {
            self.coder.refuse(CodeError::RegisterKind {
                register: self.coder.name_of(register),
                found: value.kind(),
                needed,
            });
        }
        value
    }

    /// Skips the rest of the code for the item unless `condition` holds.
    pub fn only(self, condition: impl Operand<'c>) {
        let condition = self.value(condition).expect("only", Kind::U32);
        self.outside("only");
        self.coder.act(Step::of(Op::Only).using([condition.id()]));
    }

    /// Stores the item's own value in `register`.
    pub fn store(self, register: RegisterId, value: impl Operand<'c>) {
        let value = self.value_for(register, value);
        let op = match value.kind() {
            Kind::U64 => Op::StoreWide,
            _ => Op::Store,
        };
        self.outside("store");
        let number = self.coder.name(register);
        let step = Step::of(op).using([value.id()]).with(number, 0);
        self.coder.act(step);
    }

    fn outside(self, what: &'static str) {
        if self.coder.part() != 0 {
            self.coder.refuse(CodeError::AtEdge { what });
        }
    }

    fn joined(self, how: Join, kind: Kind) -> Joined {
        if !how.takes(kind) {
            self.coder.refuse(CodeError::NoSuchJoin { how, kind });
        }
        Joined { how, kind }
    }

    /// Joins `value` to value `index` of `register`; returns the previous value.
    ///
    /// The order of items is unspecified, and so is the previous value. A sum of floats may differ
    /// in its last bits from run to run, machine to machine and with the number of threads; all
    /// other joins have the same bits.
    pub fn scatter(
        self,
        register: RegisterId,
        index: impl Operand<'c>,
        how: Join,
        value: impl Operand<'c>,
    ) -> Value<'c> {
        let value = self.value_for(register, value);
        let index = self.value(index).expect("an index", Kind::U32);
        let joined = self.joined(how, value.kind());
        let number = self.coder.name(register);
        let step = Step::of(Op::Scatter).using([index.id(), value.id()]);
        self.make(value.kind(), step.with(number, 0).joining(joined))
    }

    /// Joins `value` to the first value of `register`, cheaply for many items.
    ///
    /// A sum of floats over items has the same bits on every machine and with any number of
    /// threads: items store their terms in a separate register, and further waves add them up in a
    /// fixed order, 16 at a time, for 4 bytes per item and a barrier for each factor of 16. A sum
    /// of floats folded by edges has no order; if its bits matter, gather the edges of an item and
    /// fold the result.
    pub fn fold(self, register: RegisterId, how: Join, value: impl Operand<'c>) {
        let value = self.value_for(register, value);
        let joined = self.joined(how, value.kind());
        if (how, value.kind()) == (Join::Sum, Kind::F32) && self.coder.part() == 0 {
            return self.add_term(register, value);
        }
        let number = self.coder.name(register);
        let step = Step::of(Op::Fold).using([value.id()]);
        self.coder.act(step.with(number, 0).joining(joined));
    }

    /// Stores the item's term of a sum of floats. Entries of a list may occur twice, so they add
    /// their terms.
    fn add_term(self, register: RegisterId, value: Value<'c>) {
        let terms = self.coder.sum(register);
        if self.coder.is_of_list() {
            let joined = self.joined(Join::Sum, Kind::F32);
            let step = Step::of(Op::Scatter).using([self.index().id(), value.id()]);
            self.make(Kind::F32, step.with(terms, 0).joining(joined));
        } else {
            let step = Step::of(Op::Store).using([value.id()]);
            self.coder.act(step.with(terms, 0));
        }
    }

    /// Appends `value` to `list` with the length `count` if `condition` holds, in any order. A full
    /// list ends the run with a fault.
    pub fn append(
        self,
        (list, count): (RegisterId, RegisterId),
        value: impl Operand<'c>,
        condition: impl Operand<'c>,
    ) {
        let value = self.value_for(list, value).expect("append", Kind::U32);
        let condition = self.value(condition).expect("append", Kind::U32);
        let numbers = (self.coder.name(list), self.coder.name(count));
        let step = Step::of(Op::Append).using([value.id(), condition.id()]);
        self.coder.act(step.with(numbers.0, numbers.1));
    }

    /// Continues the innermost fixpoint if `condition` holds.
    pub fn changed(self, condition: impl Operand<'c>) {
        let condition = self.value(condition).expect("changed", Kind::U32);
        self.coder.act(Step::of(Op::Raise).using([condition.id()]));
    }

    /// Runs `body` for each edge of the node and joins what it returns. A row ends before its last
    /// edge only if nothing can change any more or `body` allows it.
    pub fn edges<const N: usize>(
        self,
        edges: Edges,
        body: impl FnOnce(Edge<'c>) -> [(Join, Value<'c>); N],
    ) -> [Value<'c>; N] {
        let begin = self.coder.begin_edges(edges);
        let part = self.coder.part();
        let reductions = body(Edge { item: self, part });
        let kinds = reductions.map(|(_, value)| value.kind());
        let joins = reductions.map(|(how, value)| (self.joined(how, value.kind()), value.id()));
        let made = self.coder.end_edges(begin, edges, joins);
        let mut kinds = kinds.into_iter();
        made.map(|id| Value::new(self.coder, id, kinds.next().unwrap_or(Kind::U32)))
    }

    /// Joins what `body` returns for each edge of the node.
    pub fn gather(
        self,
        edges: Edges,
        how: Join,
        body: impl FnOnce(Edge<'c>) -> Value<'c>,
    ) -> Value<'c> {
        let [found] = self.edges(edges, |edge| [(how, body(edge))]);
        found
    }

    /// Runs `body` for each edge of the node.
    pub fn each_edge(self, edges: Edges, body: impl FnOnce(Edge<'c>)) {
        let [] = self.edges(edges, |edge| {
            body(edge);
            []
        });
    }
}

impl<'c> Edge<'c> {
    /// Its item, within the code of the edge.
    fn here(self) -> Item<'c> {
        if self.coder.part() != self.part {
            self.coder.refuse(CodeError::ValueOfEdge);
        }
        self.item
    }

    /// The node at the other end.
    #[must_use]
    pub fn neighbour(self) -> Value<'c> {
        self.here().make(Kind::U32, Step::taking(Source::Neighbour))
    }

    /// The value of the node at the other end in `register`, from before the wave.
    #[must_use]
    pub fn there(self, register: RegisterId) -> Value<'c> {
        self.at(register, self.neighbour())
    }

    /// Number of the edge among all of its direction.
    #[must_use]
    pub fn number(self) -> Value<'c> {
        self.here().make(Kind::U32, Step::of(Op::EdgeNumber))
    }

    /// The edge's weight, a whole number.
    #[must_use]
    pub fn weight(self) -> Value<'c> {
        self.coder.need_weights(WeightKind::Integer);
        self.here().make(Kind::U32, Step::of(Op::EdgeWeight))
    }

    /// The word of the edge's weight, of that kind; words of a kind order like the weights.
    pub(crate) fn weight_word(self, kind: WeightKind) -> Value<'c> {
        self.coder.need_weights(kind);
        self.here().make(Kind::U32, Step::of(Op::EdgeWeight))
    }

    /// The edge's weight, a float.
    #[must_use]
    pub fn float_weight(self) -> Value<'c> {
        self.coder.need_weights(WeightKind::Float);
        self.here().make(Kind::F32, Step::of(Op::EdgeWeight))
    }

    /// Skips the rest of the code for this edge, and its joins, unless `condition` holds.
    pub fn only(self, condition: impl Operand<'c>) {
        let condition = self.here().value(condition).expect("only", Kind::U32);
        self.coder.act(Step::of(Op::Only).using([condition.id()]));
    }

    /// Allows to skip the rest of the row if `condition` holds.
    pub fn until(self, condition: impl Operand<'c>) {
        let condition = self.here().value(condition).expect("until", Kind::U32);
        self.coder.act(Step::of(Op::Until).using([condition.id()]));
    }
}
