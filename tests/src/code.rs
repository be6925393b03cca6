//! Code of waves as data: handed to a builder, or interpreted plainly.
//!
//! Steps make values, each numbered by how many were made before it. Those of a gathering
//! see the values made before it as well, and are forgotten after it.

use crate::script::Slot;
use seawall::program::{Edge, Edges, Item, Join, Kind, RegisterId, Value};
use seawall_core::abi::code::{hash, random};

/// Number of a value.
pub type Id = usize;

/// Items of a wave of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Every node.
    Nodes,
    /// Every value of a register.
    Values(Slot),
    /// Nodes whose word in a register is below a limit, by way of a list.
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
    /// Common bits.
    And,
    /// All bits.
    Or,
    /// Bits that one has.
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
    /// Every one.
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

    /// Whether values of `kind` have it.
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
    /// Which edges.
    pub edges: Edges,
    /// How.
    pub how: Join,
    /// Kind of the value.
    pub kind: Kind,
    /// Its expression.
    pub body: Vec<Step>,
    /// The value.
    pub value: Id,
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
    /// The value of a register whose number is what a value leaves when it is divided by
    /// how many there are.
    At(Slot, Id),
    /// The same, as it is now.
    Latest(Slot, Id),
    /// The value of the node at the other end.
    There(Slot),
    /// How many edges of a kind the item has, which is a node.
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
    /// Leaves the item out; the edge in a gathering.
    Only(Id),
    /// Stores the item's value.
    Store(Slot, Id),
    /// Joins the last value to that of a register which the first one numbers, as in
    /// [`Step::At`].
    Scatter(Slot, Id, Join, Id),
    /// Joins a value to the first one of a register.
    Fold(Slot, Join, Id),
    /// Keeps the loop going.
    Changed(Id),
    /// Joins a value of each edge.
    Gather(Gathering),
}

/// Kinds and lengths of a script's registers, and the builder's names for them.
#[derive(Clone, Copy, Debug)]
pub struct Registers<'a> {
    /// Names.
    pub ids: &'a [RegisterId],
    /// How many values each holds.
    pub values: &'a [u32],
}

/// Hands `steps` to a builder.
pub fn write<'c>(item: Item<'c>, registers: Registers<'_>, steps: &[Step]) {
    let mut made = Vec::new();
    for step in steps {
        write_step((item, None), registers, &mut made, step);
    }
}

/// Floats are kept from being no number, of which machines have different ones, and from
/// being 0 with a sign, as which of two zeros is less is anybody's guess.
fn tame(value: Value<'_>) -> Value<'_> {
    if value.kind() == Kind::F32 {
        value.max(-1e30_f32) + 0.0_f32
    } else {
        value
    }
}

fn write_step<'c>(
    (item, edge): (Item<'c>, Option<Edge<'c>>),
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
        Step::Fold(to, how, a) => return item.fold(id(to), *how, made[*a]),
        Step::Changed(a) => return item.changed(made[*a]),
        Step::Gather(of) => item.gather(of.edges, of.how, |edge| {
            let mut inner = made.clone();
            for step in &of.body {
                write_step((*edge, Some(edge)), registers, &mut inner, step);
            }
            inner[of.value]
        }),
    };
    made.push(value);
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

/// A value of the interpreter: its kind and bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    kind: Kind,
    bits: u64,
}

/// The graph and the registers as an interpreter has them.
#[derive(Debug)]
pub struct World<'a> {
    /// Targets of the edges that leave and enter each node.
    pub rows: [&'a [Vec<u32>]; 2],
    /// Kinds of the registers.
    pub kinds: &'a [Kind],
    /// Registers before the wave.
    pub before: Vec<Vec<u32>>,
    /// Registers as they are now.
    pub now: &'a mut [Vec<u32>],
    /// Whether the loop goes on.
    pub changed: bool,
}

/// Runs `steps` for each of `items`.
pub fn interpret(world: &mut World<'_>, items: &[u32], steps: &[Step]) {
    for item in items {
        let mut made = Vec::new();
        for step in steps {
            if !world.step((*item, *item), &mut made, step) {
                break;
            }
        }
    }
}

fn float(known: Known) -> f32 {
    f32::from_bits(known.bits as u32)
}

/// See [`tame`].
fn tamed(known: Known) -> Known {
    if known.kind != Kind::F32 {
        return known;
    }
    let value = float(known);
    let value = if value > -1e30 { value } else { -1e30 };
    of_float(value + 0.0)
}

fn of_float(value: f32) -> Known {
    let bits = value.to_bits().into();
    Known {
        kind: Kind::F32,
        bits,
    }
}

fn word(bits: u32) -> Known {
    Known {
        kind: Kind::U32,
        bits: bits.into(),
    }
}

impl World<'_> {
    fn values(&self, slot: Slot) -> u32 {
        self.now[slot].len() as u32 / self.kinds[slot].words()
    }

    fn read(&self, slot: Slot, index: u32) -> Known {
        let (kind, words) = (self.kinds[slot], &self.before[slot]);
        let index = index as usize;
        let bits = match kind {
            Kind::U64 => u64::from(words[2 * index]) | u64::from(words[2 * index + 1]) << 32,
            _ => words[index].into(),
        };
        tamed(Known { kind, bits })
    }

    fn put(&mut self, slot: Slot, index: u32, bits: u64) {
        let (kind, words) = (self.kinds[slot], &mut self.now[slot]);
        let index = index as usize;
        if kind == Kind::U64 {
            words[2 * index] = bits as u32;
            words[2 * index + 1] = (bits >> 32) as u32;
        } else {
            words[index] = bits as u32;
        }
    }

    fn join(&mut self, slot: Slot, index: u32, how: Join, value: Known) {
        let (kind, words, at) = (self.kinds[slot], &self.now[slot], index as usize);
        let bits = match kind {
            Kind::U64 => u64::from(words[2 * at]) | u64::from(words[2 * at + 1]) << 32,
            _ => words[at].into(),
        };
        let joined = join(how, Known { kind, bits }, value);
        self.put(slot, index, joined.bits);
    }

    /// Runs a step; tells whether the item is still in.
    fn step(&mut self, (item, other): (u32, u32), made: &mut Vec<Known>, step: &Step) -> bool {
        let value = match step {
            Step::Number(kind, bits) => Known {
                kind: *kind,
                bits: *bits,
            },
            Step::Index => word(item),
            Step::Neighbour => word(other),
            Step::Load(from) => self.read(*from, item),
            Step::There(from) => self.read(*from, other),
            Step::At(from, at) | Step::Latest(from, at) => {
                let index = made[*at].bits as u32 % self.values(*from);
                self.read(*from, index)
            }
            Step::Degree(edges) => word(self.rows[*edges as usize][item as usize].len() as u32),
            Step::Binary(how, a, b) => tamed(binary(*how, made[*a], made[*b])),
            Step::Shift(left, a, b) => shift(*left, made[*a], made[*b].bits as u32),
            Step::Unary(how, a) => tamed(unary(*how, made[*a])),
            Step::Select(a, b, c) => made[if made[*a].bits == 0 { *c } else { *b }],
            Step::Random(key, counter, seed) => {
                let [key, counter] = [key, counter].map(|id| made[*id].bits as u32);
                word(random(*seed, key, counter))
            }
            Step::Pair(low, high) => Known {
                kind: Kind::U64,
                bits: made[*low].bits | made[*high].bits << 32,
            },
            Step::Only(a) => return made[*a].bits != 0,
            Step::Store(to, a) => {
                self.put(*to, item, made[*a].bits);
                return true;
            }
            Step::Scatter(to, at, how, a) => {
                let index = made[*at].bits as u32 % self.values(*to);
                self.join(*to, index, *how, made[*a]);
                return true;
            }
            Step::Fold(to, how, a) => {
                self.join(*to, 0, *how, made[*a]);
                return true;
            }
            Step::Changed(a) => {
                self.changed |= made[*a].bits != 0;
                return true;
            }
            Step::Gather(of) => self.gather(item, made, of),
        };
        made.push(value);
        true
    }

    fn gather(&mut self, item: u32, made: &[Known], of: &Gathering) -> Known {
        let row = self.rows[of.edges as usize][item as usize].clone();
        let mut all = identity(of.how, of.kind);
        for other in row {
            let mut inner = made.to_vec();
            let mut steps = of.body.iter();
            if steps.all(|step| self.step((item, other), &mut inner, step)) {
                all = join(of.how, all, inner[of.value]);
            }
        }
        all
    }
}

/// Result of a gathering without edges.
fn identity(how: Join, kind: Kind) -> Known {
    let bits = match (how, kind) {
        (Join::Sum | Join::Or | Join::Any, _) => 0,
        (Join::Min | Join::And, Kind::U64) => u64::MAX,
        (Join::Min | Join::And, Kind::U32) => u32::MAX.into(),
        (Join::Max, Kind::U32 | Kind::U64) => 0,
        (Join::Min, Kind::I32) => i32::MAX as u64,
        (Join::Max, Kind::I32) => u64::from(i32::MIN as u32),
        (Join::Min, Kind::F32) => f32::INFINITY.to_bits().into(),
        (Join::Max, Kind::F32) => f32::NEG_INFINITY.to_bits().into(),
        (Join::And, _) => u32::MAX.into(),
    };
    Known { kind, bits }
}

fn join(how: Join, a: Known, b: Known) -> Known {
    match how {
        // The present value stays unless the other one is less, or larger.
        Join::Min => binary(Binary::Min, b, a),
        Join::Max => binary(Binary::Max, b, a),
        Join::Sum => binary(Binary::Add, a, b),
        Join::Or => binary(Binary::Or, a, b),
        Join::And => binary(Binary::And, a, b),
        Join::Any if b.bits != 0 => word(1),
        Join::Any => a,
    }
}

fn shift(left: bool, a: Known, by: u32) -> Known {
    let bits = match (a.kind, left) {
        (Kind::U64, true) => a.bits.checked_shl(by).unwrap_or(0),
        (Kind::U64, false) => a.bits.checked_shr(by).unwrap_or(0),
        (_, true) => (a.bits as u32).checked_shl(by).unwrap_or(0).into(),
        (Kind::I32, false) => ((i64::from(a.bits as i32)) >> by.min(40)) as u32 as u64,
        (_, false) => (a.bits as u32).checked_shr(by).unwrap_or(0).into(),
    };
    Known { bits, ..a }
}

fn binary(how: Binary, a: Known, b: Known) -> Known {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = match a.kind {
        Kind::U32 | Kind::U64 => Some(a.bits.cmp(&b.bits)),
        Kind::I32 => Some((a.bits as i32).cmp(&(b.bits as i32))),
        Kind::F32 => float(a).partial_cmp(&float(b)),
    };
    let truth = match how {
        Binary::Equals => order == Some(Equal),
        Binary::Differs => order != Some(Equal),
        Binary::Below => order == Some(Less),
        Binary::AtMost => matches!(order, Some(Less | Equal)),
        Binary::Min => return if order == Some(Less) { a } else { b },
        Binary::Max => return if order == Some(Greater) { a } else { b },
        _ => return arithmetic(how, a, b),
    };
    word(u32::from(truth))
}

fn arithmetic(how: Binary, a: Known, b: Known) -> Known {
    if a.kind == Kind::F32 {
        let (x, y) = (float(a), float(b));
        return of_float(match how {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            _ => x / y,
        });
    }
    let (x, y) = (u128::from(a.bits), u128::from(b.bits));
    let modulus = 1_u128 << (32 * a.kind.words());
    let bits = match how {
        Binary::Add => x + y,
        Binary::Sub => x + modulus - y,
        Binary::Mul => x * y,
        Binary::And => x & y,
        Binary::Or => x | y,
        Binary::Xor => x ^ y,
        Binary::Div => x.checked_div(y).unwrap_or(u128::MAX),
        _ => x.checked_rem(y).unwrap_or(x),
    };
    Known {
        bits: (bits % modulus) as u64,
        ..a
    }
}

fn unary(how: Unary, a: Known) -> Known {
    let low = a.bits as u32;
    match (how, a.kind) {
        (Unary::To(kind), _) => convert(kind, a),
        (Unary::Hash, _) => word(hash(low)),
        (Unary::Ones, _) => word(a.bits.count_ones()),
        (Unary::LowZeros, Kind::U64) => word(a.bits.trailing_zeros()),
        (Unary::LowZeros, _) => word(low.trailing_zeros()),
        (Unary::High, _) => word((a.bits >> 32) as u32),
    }
}

fn convert(kind: Kind, a: Known) -> Known {
    let low = a.bits as u32;
    let bits = match (a.kind, kind) {
        (Kind::F32, Kind::F32) => a.bits,
        (Kind::F32, Kind::U32) => u64::from(float(a) as u32),
        (Kind::F32, Kind::I32) => u64::from(float(a) as i32 as u32),
        (Kind::F32, Kind::U64) => float(a) as u64,
        (Kind::U64, Kind::F32) => u64::from((a.bits as f32).to_bits()),
        (Kind::I32, Kind::F32) => u64::from((low as i32 as f32).to_bits()),
        (Kind::U32, Kind::F32) => u64::from((low as f32).to_bits()),
        (Kind::U64, Kind::U64) => a.bits,
        _ => low.into(),
    };
    Known { kind, bits }
}
