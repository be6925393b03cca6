//! A plain interpreter of code: item by item, step by step.

use super::{Binary, Extreme, Gathering, Improvement, Step, Unary};
use crate::script::Slot;
use seawall::program::{Join, Kind};
use seawall_core::abi::code::{hash, random};

/// A value of the interpreter: its kind and bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    kind: Kind,
    bits: u64,
}

/// The graph and the registers of an interpreter.
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
    /// Whether the loop continues.
    pub changed: bool,
}

/// Runs `steps` for each of `items`.
pub fn interpret(world: &mut World<'_>, items: &[u32], steps: &[Step]) {
    for item in items {
        let mut made = Vec::new();
        for step in steps {
            if !world.step(*item, *item, &mut made, step) {
                break;
            }
        }
    }
}

fn float(known: Known) -> f32 {
    f32::from_bits(known.bits as u32)
}

/// As in the builder's code, replaces values on which machines do not agree.
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

impl<'a> World<'a> {
    /// Registers without a graph.
    pub fn of_registers(kinds: &'a [Kind], now: &'a mut [Vec<u32>]) -> Self {
        Self {
            rows: [&[], &[]],
            kinds,
            before: now.to_vec(),
            now,
            changed: false,
        }
    }

    /// Joins the values of `from` to those of `to` that `numbers` name, modulo their number.
    pub fn join_segments(&mut self, how: Join, to: Slot, from: Slot, numbers: &[u32]) {
        let segments = self.values(to);
        for segment in 0..segments {
            self.put(to, segment, identity(how, self.kinds[to]).bits);
        }
        for (value, number) in (0..self.values(from)).zip(numbers) {
            let value = self.read_exact(from, value);
            self.join(to, number % segments, how, value);
        }
    }
}

impl World<'_> {
    fn values(&self, slot: Slot) -> u32 {
        self.now[slot].len() as u32 / self.kinds[slot].words()
    }

    fn read(&self, slot: Slot, index: u32) -> Known {
        tamed(self.read_exact(slot, index))
    }

    fn read_exact(&self, slot: Slot, index: u32) -> Known {
        let (kind, words) = (self.kinds[slot], &self.before[slot]);
        let index = index as usize;
        let bits = match kind {
            Kind::U64 => u64::from(words[2 * index]) | u64::from(words[2 * index + 1]) << 32,
            _ => words[index].into(),
        };
        Known { kind, bits }
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

    /// Joins a value to one of a register; returns that one.
    fn join(&mut self, slot: Slot, index: u32, how: Join, value: Known) -> Known {
        let (kind, words, at) = (self.kinds[slot], &self.now[slot], index as usize);
        let bits = match kind {
            Kind::U64 => u64::from(words[2 * at]) | u64::from(words[2 * at + 1]) << 32,
            _ => words[at].into(),
        };
        let before = Known { kind, bits };
        self.put(slot, index, join(how, before, value).bits);
        before
    }

    fn improve(&mut self, made: &[Known], of: Improvement) {
        let place = made[of.at].bits as u32 % self.values(of.to);
        let how = if of.largest { Join::Max } else { Join::Min };
        let value = made[of.value];
        let before = self.join(of.to, place, how, value);
        let (less, more) = match of.largest {
            true => (before, value),
            false => (value, before),
        };
        let is_better = binary(Binary::Below, less, more);
        if let Some((mark, how)) = of.mark {
            self.join(mark, place % self.values(mark), how, is_better);
        }
        self.changed |= of.changes && is_better.bits != 0;
    }

    /// Runs a step; returns whether the item is still in.
    fn step(&mut self, item: u32, other: u32, made: &mut Vec<Known>, step: &Step) -> bool {
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
            Step::Improve(of) => {
                self.improve(made, *of);
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
            Step::Arg(of, found) => self.arg(item, made, of, *found),
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
            if steps.all(|step| self.step(item, other, &mut inner, step)) {
                all = join(of.how, all, inner[of.value]);
            }
        }
        all
    }

    fn arg(&mut self, item: u32, made: &[Known], of: &Gathering, found: Extreme) -> Known {
        let mut best: Option<(Known, u32)> = None;
        // Rows ascend, so of equal values the first node stays.
        for other in self.rows[of.edges as usize][item as usize].clone() {
            let mut inner = made.to_vec();
            let mut steps = of.body.iter();
            if !steps.all(|step| self.step(item, other, &mut inner, step)) {
                continue;
            }
            let value = inner[of.value];
            if best.is_none_or(|(known, _)| is_better(found.largest, value, known)) {
                best = Some((value, other));
            }
        }
        match (best, found.node) {
            (Some((_, node)), true) => word(node),
            (Some((value, _)), false) => value,
            (None, true) => word(u32::MAX),
            // NaN, which is replaced.
            (None, false) if of.kind == Kind::F32 => tamed(of_float(f32::NAN)),
            (None, false) => {
                let how = if found.largest { Join::Max } else { Join::Min };
                identity(how, of.kind)
            }
        }
    }
}

/// The first key is preferred over the second, as numbers of their kind.
fn is_better(largest: bool, a: Known, b: Known) -> bool {
    use std::cmp::Ordering::{Greater, Less};
    let order = match a.kind {
        Kind::I32 => (a.bits as i32).cmp(&(b.bits as i32)),
        Kind::F32 => float(a).total_cmp(&float(b)),
        Kind::U32 | Kind::U64 => a.bits.cmp(&b.bits),
    };
    order == if largest { Greater } else { Less }
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
        // The present value stays unless the other one is less, or larger, respectively.
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
        (Unary::Hash, Kind::U64) => word(hash(low ^ hash((a.bits >> 32) as u32))),
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
