//! Code of waves as data: handed to a builder, or interpreted plainly.
//!
//! Steps make values, each numbered by how many were made before it. Steps of a gathering see the
//! values made before it as well, which are dropped after it.

mod world;

use crate::script::Slot;
use seawall::program::{Edge, Edges, Item, Join, Kind, RegisterId, Value};

pub use world::{Known, World, interpret};

/// Number of a value.
pub type Id = usize;

/// Items of a wave of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Every node.
    Nodes,
    /// Every value of a register.
    Values(Slot),
    /// Nodes whose word in a register is below a limit, through a list.
    Where {
        /// The register.
        of: Slot,
        /// The limit.
        below: u32,
    },
}

/// Operation on two values of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Their sum.
    Add,
    /// Their difference.
    Sub,
    /// Their product.
    Mul,
    /// The lesser.
    Min,
    /// The larger.
    Max,
    /// Bits that both have.
    And,
    /// Bits that either has.
    Or,
    /// Bits that exactly one has.
    Xor,
    /// Whether they are equal.
    Equals,
    /// Whether they differ.
    Differs,
    /// Whether the first is less.
    Below,
    /// Whether it is less or equal.
    AtMost,
    /// Their quotient.
    Div,
    /// Remainder of a division.
    Rem,
}

impl Binary {
    /// Every operation.
    pub const ALL: [Self; 14] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Min,
        Self::Max,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::Equals,
        Self::Differs,
        Self::Below,
        Self::AtMost,
        Self::Div,
        Self::Rem,
    ];

    /// Whether values of `kind` support it.
    #[must_use]
    pub fn takes(self, kind: Kind) -> bool {
        match self {
            Self::And | Self::Or | Self::Xor => kind != Kind::F32,
            Self::Div => matches!(kind, Kind::U32 | Kind::F32),
            Self::Rem => kind == Kind::U32,
            _ => true,
        }
    }
}

/// Operation on one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// The value as another kind.
    To(Kind),
    /// Mixed bits of a word.
    Hash,
    /// Set bits.
    Ones,
    /// Zeros below the lowest bit.
    LowZeros,
    /// The high word of a pair.
    High,
}

/// Joins a value of each edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathering {
    /// Kind of the edges.
    pub edges: Edges,
    /// The join.
    pub how: Join,
    /// Kind of the value.
    pub kind: Kind,
    /// Its expression.
    pub body: Vec<Step>,
    /// The joined value.
    pub value: Id,
}

/// The kind of an extreme value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extreme {
    /// Whether the largest is wanted instead of the least.
    pub largest: bool,
    /// Whether the node is wanted instead of the value.
    pub node: bool,
}

/// Joins a value to one of a register, and notes whether that one became better. Other changes of
/// both registers must be of the same kind, so that results depend on no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Improvement {
    /// The register.
    pub to: Slot,
    /// The place in it, as in [`Step::At`].
    pub at: Id,
    /// The joined value.
    pub value: Id,
    /// Whether larger values are better.
    pub largest: bool,
    /// A register of words with a note at the same place, modulo its length, and the join of it.
    pub mark: Option<(Slot, Join)>,
    /// Whether an improvement continues the loop.
    pub changes: bool,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A number of a kind, by its bits.
    Number(Kind, u64),
    /// Number of the item.
    Index,
    /// The node at the other end of the edge.
    Neighbour,
    /// The item's value in a register.
    Load(Slot),
    /// The value of a register at a value modulo the register's length.
    At(Slot, Id),
    /// The same, with the current value.
    Latest(Slot, Id),
    /// The value of the node at the other end.
    There(Slot),
    /// The number of edges of a kind that the item has, which is a node.
    Degree(Edges),
    /// Operation on two values.
    Binary(Binary, Id, Id),
    /// The first value shifted by the second, left or not.
    Shift(bool, Id, Id),
    /// Operation on one value.
    Unary(Unary, Id),
    /// The second value if the first is not 0, else the third.
    Select(Id, Id, Id),
    /// Random bits of a key and a counter.
    Random(Id, Id, u32),
    /// The pair of two words.
    Pair(Id, Id),
    /// Skips the item, or the edge in a gathering.
    Only(Id),
    /// Stores the item's value.
    Store(Slot, Id),
    /// Joins the last value to the value of a register at the first one, as in [`Step::At`].
    Scatter(Slot, Id, Join, Id),
    /// Joins a value to one that it may be better than.
    Improve(Improvement),
    /// Joins a value to the first one of a register.
    Fold(Slot, Join, Id),
    /// Continues the loop.
    Changed(Id),
    /// Joins a value of each edge.
    Gather(Gathering),
    /// The least or largest value of the edges, or the node that has it.
    Arg(Gathering, Extreme),
}

/// Kinds and lengths of a script's registers, and their identifiers in the builder.
#[derive(Clone, Copy, Debug)]
pub struct Registers<'a> {
    /// Names.
    pub ids: &'a [RegisterId],
    /// Values that each holds.
    pub values: &'a [u32],
}

/// Passes `steps` to a builder.
pub fn write<'c>(item: Item<'c>, registers: Registers<'_>, steps: &[Step]) {
    let mut made = Vec::new();
    for step in steps {
        write_step(item, None, registers, &mut made, step);
    }
}

/// Replaces NaN, of which machines have different ones, and signed zeros, whose order is
/// unspecified.
fn tame(value: Value<'_>) -> Value<'_> {
    if value.kind() == Kind::F32 {
        value.max(-1e30_f32) + 0.0_f32
    } else {
        value
    }
}

fn write_step<'c>(
    item: Item<'c>,
    edge: Option<Edge<'c>>,
    registers: Registers<'_>,
    made: &mut Vec<Value<'c>>,
    step: &Step,
) {
    let id = |slot: &Slot| registers.ids[*slot];
    let index = |slot: &Slot, at: Value<'c>| at % registers.values[*slot];
    let value = match step {
        Step::Number(Kind::U32, bits) => item.constant(*bits as u32),
        Step::Number(Kind::I32, bits) => item.constant(*bits as i32),
        Step::Number(Kind::F32, bits) => item.constant(f32::from_bits(*bits as u32)),
        Step::Number(Kind::U64, bits) => item.constant(*bits),
        Step::Index => item.index(),
        Step::Neighbour => edge.map_or(item.index(), Edge::neighbour),
        Step::Load(from) => tame(item.load(id(from))),
        Step::At(from, at) => tame(item.at(id(from), index(from, made[*at]))),
        Step::Latest(from, at) => tame(item.latest(id(from), index(from, made[*at]))),
        Step::There(from) => tame(edge.map_or(item.index(), |edge| edge.there(id(from)))),
        Step::Degree(edges) => item.degree(*edges, item.index()),
        Step::Binary(how, a, b) => tame(write_binary(*how, made[*a], made[*b])),
        Step::Shift(true, a, b) => made[*a] << made[*b],
        Step::Shift(false, a, b) => made[*a] >> made[*b],
        Step::Unary(how, a) => tame(write_unary(*how, made[*a])),
        Step::Select(a, b, c) => made[*a].select(made[*b], made[*c]),
        Step::Random(key, counter, seed) => made[*key].random(made[*counter], *seed),
        Step::Pair(low, high) => made[*low].below_high(made[*high]),
        Step::Only(a) => {
            return match edge {
                Some(edge) => edge.only(made[*a]),
                None => item.only(made[*a]),
            };
        }
        Step::Store(to, a) => return item.store(id(to), made[*a]),
        Step::Scatter(to, at, how, a) => {
            let index = index(to, made[*at]);
            item.scatter(id(to), index, *how, made[*a]);
            return;
        }
        Step::Improve(of) => {
            let place = index(&of.to, made[of.at]);
            let how = if of.largest { Join::Max } else { Join::Min };
            let value = made[of.value];
            let before = item.scatter(id(&of.to), place, how, value);
            let is_better = match of.largest {
                true => before.below(value),
                false => value.below(before),
            };
            if let Some((mark, how)) = of.mark {
                item.scatter(id(&mark), index(&mark, place), how, is_better);
            }
            if of.changes {
                item.changed(is_better);
            }
            return;
        }
        Step::Fold(to, how, a) => return item.fold(id(to), *how, made[*a]),
        Step::Changed(a) => return item.changed(made[*a]),
        Step::Gather(of) => item.gather(of.edges, of.how, |edge| {
            write_edge(edge, registers, made, of)
        }),
        Step::Arg(of, found) => {
            let body = |edge| write_edge(edge, registers, made, of);
            let [value, node] = match found.largest {
                true => item.argmax(of.edges, body),
                false => item.argmin(of.edges, body),
            };
            if found.node { node } else { tame(value) }
        }
    };
    made.push(value);
}

fn write_edge<'c>(
    edge: Edge<'c>,
    registers: Registers<'_>,
    made: &[Value<'c>],
    of: &Gathering,
) -> Value<'c> {
    let mut inner = made.to_vec();
    for step in &of.body {
        write_step(*edge, Some(edge), registers, &mut inner, step);
    }
    inner[of.value]
}

fn write_binary<'c>(how: Binary, a: Value<'c>, b: Value<'c>) -> Value<'c> {
    match how {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::Equals => a.equals(b),
        Binary::Differs => a.differs(b),
        Binary::Below => a.below(b),
        Binary::AtMost => a.at_most(b),
        Binary::Div => a / b,
        Binary::Rem => a % b,
    }
}

fn write_unary(how: Unary, a: Value<'_>) -> Value<'_> {
    match how {
        Unary::To(Kind::U32) => a.to_u32(),
        Unary::To(Kind::I32) => a.to_i32(),
        Unary::To(Kind::F32) => a.to_f32(),
        Unary::To(Kind::U64) => a.to_u64(),
        Unary::Hash => a.hash(),
        Unary::Ones => a.ones(),
        Unary::LowZeros => a.low_zeros(),
        Unary::High => a.high(),
    }
}
