//! Operations on values: no memory, no tables. Each decodes its operation once for all slots.

use super::slots::{Pairs4, Words4, each, mask};
use seawall_core::abi::code::{Join, Joined, Kind, Op, hash};

#[inline(always)]
fn both<T: Copy, const N: usize>(a: [T; N], b: [T; N], of: impl Fn(T, T) -> T) -> [T; N] {
    core::array::from_fn(|slot| of(a[slot], b[slot]))
}

#[inline(always)]
fn floats<const N: usize>(a: [u32; N], b: [u32; N], of: impl Fn(f32, f32) -> f32) -> [u32; N] {
    both(a, b, |a, b| {
        of(f32::from_bits(a), f32::from_bits(b)).to_bits()
    })
}

#[inline(always)]
fn one(a: Words4, of: impl Fn(u32) -> u32) -> Words4 {
    each(|slot| of(a[slot]))
}

/// Words made from the words `a` and `b`.
#[inline(always)]
pub(super) fn words(op: Op, a: Words4, b: Words4) -> Words4 {
    match op {
        Op::Add => both(a, b, u32::wrapping_add),
        Op::Sub => both(a, b, u32::wrapping_sub),
        Op::Mul => both(a, b, u32::wrapping_mul),
        Op::Divide => both(a, b, |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
        Op::Remainder => both(a, b, |a, b| a.checked_rem(b).unwrap_or(a)),
        Op::Min => both(a, b, u32::min),
        Op::Max => both(a, b, u32::max),
        Op::And => both(a, b, |a, b| a & b),
        Op::Or => both(a, b, |a, b| a | b),
        Op::Xor => both(a, b, |a, b| a ^ b),
        Op::ShiftLeft => both(a, b, |a, b| a.checked_shl(b).unwrap_or(0)),
        Op::ShiftRight => both(a, b, |a, b| a.checked_shr(b).unwrap_or(0)),
        Op::ShiftRightSigned => both(a, b, |a, b| ((a as i32) >> b.min(31)) as u32),
        Op::MinSigned => both(a, b, |a, b| (a as i32).min(b as i32) as u32),
        Op::MaxSigned => both(a, b, |a, b| (a as i32).max(b as i32) as u32),
        Op::AddFloat => floats(a, b, |x, y| x + y),
        Op::SubFloat => floats(a, b, |x, y| x - y),
        Op::MulFloat => floats(a, b, |x, y| x * y),
        Op::DivideFloat => floats(a, b, |x, y| x / y),
        Op::MinFloat => both(a, b, |a, b| if is_below(a, b) { a } else { b }),
        Op::MaxFloat => both(a, b, |a, b| if is_below(b, a) { a } else { b }),
        _ => Words4::default(),
    }
}

/// Words made from the words `a`.
#[inline(always)]
pub(super) fn of_words(op: Op, a: Words4) -> Words4 {
    match op {
        Op::Hash => one(a, hash),
        Op::Ones => one(a, u32::count_ones),
        Op::LowZeros => one(a, u32::trailing_zeros),
        Op::FloatOf => one(a, |a| (a as f32).to_bits()),
        Op::FloatOfSigned => one(a, |a| (a as i32 as f32).to_bits()),
        Op::WordOf => one(a, |a| f32::from_bits(a) as u32),
        Op::SignedOf => one(a, |a| f32::from_bits(a) as i32 as u32),
        _ => Words4::default(),
    }
}

/// Whether the float `a` is below the float `b`.
#[inline(always)]
fn is_below(a: u32, b: u32) -> bool {
    f32::from_bits(a) < f32::from_bits(b)
}

/// The slots for which a comparison of words holds.
#[inline(always)]
pub(super) fn holds(op: Op, a: Words4, b: Words4) -> u32 {
    let words = |of: fn(&u32, &u32) -> bool| mask(|slot| of(&a[slot], &b[slot]));
    let signed = |of: fn(&i32, &i32) -> bool| mask(|slot| of(&(a[slot] as i32), &(b[slot] as i32)));
    let floats = |of: fn(&f32, &f32) -> bool| {
        mask(|slot| of(&f32::from_bits(a[slot]), &f32::from_bits(b[slot])))
    };
    match op {
        Op::Equal => words(PartialEq::eq),
        Op::NotEqual => words(PartialEq::ne),
        Op::Below => words(PartialOrd::lt),
        Op::AtMost => words(PartialOrd::le),
        Op::Above => words(PartialOrd::gt),
        Op::AtLeast => words(PartialOrd::ge),
        Op::BelowSigned => signed(PartialOrd::lt),
        Op::AtMostSigned => signed(PartialOrd::le),
        Op::AboveSigned => signed(PartialOrd::gt),
        Op::AtLeastSigned => signed(PartialOrd::ge),
        Op::EqualFloat => floats(PartialEq::eq),
        Op::NotEqualFloat => floats(PartialEq::ne),
        Op::BelowFloat => floats(PartialOrd::lt),
        Op::AtMostFloat => floats(PartialOrd::le),
        Op::AboveFloat => floats(PartialOrd::gt),
        Op::AtLeastFloat => floats(PartialOrd::ge),
        _ => 0,
    }
}

/// The slots for which a comparison of pairs holds.
#[inline(always)]
pub(super) fn holds_wide(op: Op, a: Pairs4, b: Pairs4) -> u32 {
    let pairs = |of: fn(&u64, &u64) -> bool| mask(|slot| of(&a[slot], &b[slot]));
    match op {
        Op::EqualWide => pairs(PartialEq::eq),
        Op::NotEqualWide => pairs(PartialEq::ne),
        Op::BelowWide => pairs(PartialOrd::lt),
        Op::AtMostWide => pairs(PartialOrd::le),
        Op::AboveWide => pairs(PartialOrd::gt),
        Op::AtLeastWide => pairs(PartialOrd::ge),
        _ => 0,
    }
}

/// Pairs made from the pairs `a` and `b`.
#[inline(always)]
pub(super) fn wide(op: Op, a: Pairs4, b: Pairs4) -> Pairs4 {
    match op {
        Op::AddWide => both(a, b, u64::wrapping_add),
        Op::SubWide => both(a, b, u64::wrapping_sub),
        Op::MulWide => both(a, b, u64::wrapping_mul),
        Op::MinWide => both(a, b, u64::min),
        Op::MaxWide => both(a, b, u64::max),
        Op::AndWide => both(a, b, |a, b| a & b),
        Op::OrWide => both(a, b, |a, b| a | b),
        Op::XorWide => both(a, b, |a, b| a ^ b),
        Op::ShiftLeftWide => both(a, b, |a, b| a.checked_shl(b as u32).unwrap_or(0)),
        Op::ShiftRightWide => both(a, b, |a, b| a.checked_shr(b as u32).unwrap_or(0)),
        _ => Pairs4::default(),
    }
}

/// Words made from the pairs `a`.
#[inline(always)]
pub(super) fn narrow(op: Op, a: Pairs4) -> Words4 {
    let made = |of: fn(u64) -> u32| each(|slot| of(a[slot]));
    match op {
        Op::OnesWide => made(u64::count_ones),
        Op::LowZerosWide => made(u64::trailing_zeros),
        Op::LowWord => made(|a| a as u32),
        Op::HighWord => made(|a| (a >> 32) as u32),
        Op::FloatOfWide => made(|a| (a as f32).to_bits()),
        _ => Words4::default(),
    }
}

/// [`join`] of the words of all slots.
#[inline(always)]
pub(super) fn join_words<const N: usize>(joined: Joined, a: [u32; N], b: [u32; N]) -> [u32; N] {
    match (joined.how, joined.kind) {
        (Join::Any, _) => both(a, b, |a, b| if b != 0 { 1 } else { a }),
        (Join::Or, _) => both(a, b, |a, b| a | b),
        (Join::And, _) => both(a, b, |a, b| a & b),
        (Join::Sum, Kind::F32) => floats(a, b, |a, b| a + b),
        (Join::Sum, _) => both(a, b, u32::wrapping_add),
        (Join::Min, Kind::I32) => both(a, b, |a, b| (a as i32).min(b as i32) as u32),
        (Join::Max, Kind::I32) => both(a, b, |a, b| (a as i32).max(b as i32) as u32),
        (Join::Min, Kind::F32) => both(a, b, |a, b| if is_below(b, a) { b } else { a }),
        (Join::Max, Kind::F32) => both(a, b, |a, b| if is_below(a, b) { b } else { a }),
        (Join::Min, _) => both(a, b, u32::min),
        (Join::Max, _) => both(a, b, u32::max),
    }
}

/// [`join`] of the pairs of all slots.
#[inline(always)]
pub(super) fn join_pairs<const N: usize>(how: Join, a: [u64; N], b: [u64; N]) -> [u64; N] {
    match how {
        Join::Sum => both(a, b, u64::wrapping_add),
        Join::Or => both(a, b, |a, b| a | b),
        Join::And => both(a, b, |a, b| a & b),
        Join::Min => both(a, b, u64::min),
        Join::Max => both(a, b, u64::max),
        Join::Any => both(a, b, |a, b| if b != 0 { 1 } else { a }),
    }
}

/// Joins two values, of which those of one word have no high bits.
#[inline(always)]
pub(super) fn join(joined: Joined, a: u64, b: u64) -> u64 {
    if joined.kind == Kind::U64 {
        let [joined] = join_pairs(joined.how, [a], [b]);
        return joined;
    }
    let [joined] = join_words(joined, [a as u32], [b as u32]);
    joined.into()
}
