//! Operations on values: no memory, no tables.

use seawall_core::abi::code::{Join, Joined, Kind, Op, hash};

/// Word made from the words `a` and `b`.
#[inline(always)]
pub(super) fn word(op: Op, a: u32, b: u32) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::Divide => a.checked_div(b).unwrap_or(u32::MAX),
        Op::Remainder => a.checked_rem(b).unwrap_or(a),
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::ShiftLeft => a.checked_shl(b).unwrap_or(0),
        Op::ShiftRight => a.checked_shr(b).unwrap_or(0),
        Op::ShiftRightSigned => ((a as i32) >> b.min(31)) as u32,
        Op::MinSigned => (a as i32).min(b as i32) as u32,
        Op::MaxSigned => (a as i32).max(b as i32) as u32,
        Op::AddFloat => (x + y).to_bits(),
        Op::SubFloat => (x - y).to_bits(),
        Op::MulFloat => (x * y).to_bits(),
        Op::DivideFloat => (x / y).to_bits(),
        Op::MinFloat => {
            if x < y {
                a
            } else {
                b
            }
        }
        Op::MaxFloat => {
            if x > y {
                a
            } else {
                b
            }
        }
        Op::Hash => hash(a),
        Op::Ones => a.count_ones(),
        Op::LowZeros => a.trailing_zeros(),
        Op::FloatOf => (a as f32).to_bits(),
        Op::FloatOfSigned => (a as i32 as f32).to_bits(),
        Op::WordOf => x as u32,
        Op::SignedOf => x as i32 as u32,
        _ => u32::from(holds(op, a, b)),
    }
}

/// Whether a comparison of words holds.
#[inline(always)]
fn holds(op: Op, a: u32, b: u32) -> bool {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    match op {
        Op::Equal => a == b,
        Op::NotEqual => a != b,
        Op::Below => a < b,
        Op::AtMost => a <= b,
        Op::BelowSigned => (a as i32) < b as i32,
        Op::AtMostSigned => a as i32 <= b as i32,
        Op::EqualFloat => x == y,
        Op::NotEqualFloat => x != y,
        Op::BelowFloat => x < y,
        Op::AtMostFloat => x <= y,
        _ => false,
    }
}

/// Pair made from the pairs `a` and `b`.
#[inline(always)]
pub(super) fn wide(op: Op, a: u64, b: u64) -> u64 {
    match op {
        Op::AddWide => a.wrapping_add(b),
        Op::SubWide => a.wrapping_sub(b),
        Op::MulWide => a.wrapping_mul(b),
        Op::MinWide => a.min(b),
        Op::MaxWide => a.max(b),
        Op::AndWide => a & b,
        Op::OrWide => a | b,
        Op::XorWide => a ^ b,
        Op::ShiftLeftWide => a.checked_shl(b as u32).unwrap_or(0),
        Op::ShiftRightWide => a.checked_shr(b as u32).unwrap_or(0),
        _ => 0,
    }
}

/// Word made from the pairs `a` and `b`.
#[inline(always)]
pub(super) fn narrow(op: Op, a: u64, b: u64) -> u32 {
    match op {
        Op::EqualWide => u32::from(a == b),
        Op::NotEqualWide => u32::from(a != b),
        Op::BelowWide => u32::from(a < b),
        Op::AtMostWide => u32::from(a <= b),
        Op::OnesWide => a.count_ones(),
        Op::LowZerosWide => a.trailing_zeros(),
        Op::LowWord => a as u32,
        Op::HighWord => (a >> 32) as u32,
        Op::FloatOfWide => (a as f32).to_bits(),
        _ => 0,
    }
}

/// Joins two values, of which those of one word have no high bits.
#[inline(always)]
pub(super) fn join(joined: Joined, a: u64, b: u64) -> u64 {
    let (low, other) = (a as u32, b as u32);
    let (x, y) = (f32::from_bits(low), f32::from_bits(other));
    match (joined.how, joined.kind) {
        (Join::Any, _) => {
            if b != 0 {
                1
            } else {
                a
            }
        }
        (Join::Or, _) => a | b,
        (Join::And, _) => a & b,
        (Join::Sum, Kind::U64) => a.wrapping_add(b),
        (Join::Sum, Kind::F32) => u64::from((x + y).to_bits()),
        (Join::Sum, _) => u64::from(low.wrapping_add(other)),
        (Join::Min, Kind::I32) => u64::from((low as i32).min(other as i32) as u32),
        (Join::Max, Kind::I32) => u64::from((low as i32).max(other as i32) as u32),
        (Join::Min, Kind::F32) => {
            if y < x {
                b
            } else {
                a
            }
        }
        (Join::Max, Kind::F32) => {
            if y > x {
                b
            } else {
                a
            }
        }
        (Join::Min, _) => a.min(b),
        (Join::Max, _) => a.max(b),
    }
}
