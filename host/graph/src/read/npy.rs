//! Arrays of NumPy: a header in Python syntax, then the numbers.

use super::weight::{Weight, scaled};
use super::zip::Member;
use crate::GraphError;
use crate::memory;
use crate::scale::Factor;
use crate::weights::{Growing, WeightKind};

/// First bytes of every array.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header allowed; the headers of number arrays are shorter than a line.
const HEADER_MAX: usize = 1 << 14;
/// Bytes converted at once; a multiple of every number size.
const STEP_BYTES: usize = 1 << 16;
/// Most characters of a text, and most numbers of a shape.
const SHORT: u64 = 16;

/// Element type and shape of an array.
#[derive(Debug)]
pub(super) struct Header {
    /// NumPy's letter for the kind of numbers or text: `b`, `i`, `u`, `f`, `c`, `S` or `U`.
    kind: u8,
    /// Bytes per element; characters, for text.
    size: u64,
    big_endian: bool,
    /// Number of elements.
    count: u64,
    dimensions: u32,
}

pub(super) struct Array {
    pub(super) words: Vec<u32>,
    pub(super) kind: WeightKind,
    pub(super) rounded: u64,
    /// Weights that scaling rounded, and those that it made 0.
    pub(super) scaled: [u64; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Whole(i128),
    Real(f64),
}

impl Header {
    pub(super) fn read(member: &mut Member<'_, '_>) -> Result<Self, GraphError> {
        let mut start = [0; 10];
        member.fill(&mut start)?;
        if !start.starts_with(MAGIC) {
            return Err(member.bad("it is no array of NumPy".to_owned()));
        }
        let mut length = usize::from(u16::from_le_bytes([start[8], start[9]]));
        if start[6] >= 2 {
            let mut high = [0; 2];
            member.fill(&mut high)?;
            length |= usize::from(u16::from_le_bytes(high)) << 16;
        }
        if length > HEADER_MAX {
            return Err(member.bad(format!(
                "its header has {length} bytes, at most {HEADER_MAX}"
            )));
        }
        let mut text = vec![0; length];
        member.fill(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        Self::parse(&text)
            .ok_or_else(|| member.bad(format!("its header is not understood ({:?})", short(&text))))
    }

    fn parse(text: &str) -> Option<Self> {
        let after = |key: &str| text.split_once(key)?.1.trim_start().strip_prefix(':');
        let descr = after("'descr'")?.trim_start().strip_prefix('\'')?;
        let (descr, _) = descr.split_once('\'')?;
        let shape = after("'shape'")?.trim_start().strip_prefix('(')?;
        let (shape, _) = shape.split_once(')')?;
        let mut count = 1u64;
        let mut dimensions = 0;
        for extent in shape
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            count = count.checked_mul(extent.parse().ok()?)?;
            dimensions += 1;
        }
        let (order, kind) = (descr.get(..1)?, descr.get(1..2)?);
        Some(Self {
            kind: *kind.as_bytes().first()?,
            size: descr.get(2..)?.parse().ok()?,
            big_endian: order == ">",
            count,
            dimensions,
        })
    }

    /// Whether the array is a table instead of a list, as in unsupported layouts.
    pub(super) fn is_table(&self) -> bool {
        self.dimensions > 1
    }

    pub(super) fn text(&self, member: &mut Member<'_, '_>) -> Result<String, GraphError> {
        let wide = match self.kind {
            b'S' => 1,
            b'U' => 4,
            _ => return Err(self.refused(member, "a text")),
        };
        if self.count != 1 || self.size > SHORT {
            return Err(self.refused(member, "a short text"));
        }
        let mut bytes = vec![0; self.size as usize * wide];
        member.fill(&mut bytes)?;
        let letters = bytes.into_iter().filter(|byte| *byte != 0).map(char::from);
        Ok(letters.collect())
    }

    pub(super) fn numbers(&self, member: &mut Member<'_, '_>) -> Result<Vec<u64>, GraphError> {
        if self.count > SHORT {
            return Err(self.refused(member, "a few numbers"));
        }
        let mut numbers = Vec::new();
        self.each(member, |number, at| match number {
            Number::Whole(value) => {
                numbers.push(u64::try_from(value).map_err(|_| out_of_range(at, number))?);
                Ok(())
            }
            Number::Real(_) => Err(out_of_range(at, number)),
        })?;
        Ok(numbers)
    }

    /// Reads whole numbers that fit 32 bits.
    pub(super) fn words(&self, member: &mut Member<'_, '_>) -> Result<Vec<u32>, GraphError> {
        let mut words = Vec::new();
        self.each(member, |number, at| match number {
            Number::Whole(value) => {
                let word = u32::try_from(value).map_err(|_| out_of_range(at, number))?;
                push(&mut words, word)
            }
            Number::Real(_) => Err(out_of_range(at, number)),
        })?;
        Ok(words)
    }

    /// Reads numbers of 64 bits.
    pub(super) fn ids(&self, member: &mut Member<'_, '_>) -> Result<Vec<u64>, GraphError> {
        let mut ids = Vec::new();
        self.each(member, |number, at| {
            let id = match number {
                Number::Whole(value) => u64::try_from(value).ok(),
                Number::Real(_) => None,
            };
            push(&mut ids, id.ok_or_else(|| out_of_range(at, number))?)
        })?;
        Ok(ids)
    }

    /// Reads numbers as weights, times a factor if there is one: whole ones, or floats as soon as
    /// one is not whole. Negative ones are refused unless weights are `signed`.
    pub(super) fn weights(
        &self,
        member: &mut Member<'_, '_>,
        factor: Option<Factor>,
        signed: bool,
    ) -> Result<Array, GraphError> {
        let mut array = Array {
            words: Vec::new(),
            kind: WeightKind::Integer,
            rounded: 0,
            scaled: [0; 2],
        };
        let mut negative = None;
        let read = self.each(member, |number, at| {
            let weight = match factor {
                None => weight_of(number).ok_or_else(|| out_of_range(at, number))?,
                Some(factor) => {
                    let text = self.digits_of(number);
                    let product = scaled(text.as_bytes(), factor);
                    let (product, is_negative) =
                        product.map_err(|problem| format!("its number {at}: {problem}"))?;
                    array.scaled[0] += u64::from(product.is_rounded);
                    array.scaled[1] += u64::from(product.has_vanished());
                    Weight::product(product.whole, is_negative)
                        .ok_or_else(|| out_of_range(at, number))?
                }
            };
            if weight.is_negative() && !signed {
                negative = Some((at, self.digits_of(number)));
                return Err(out_of_range(at, number));
            }
            array.push(weight)
        });
        match negative {
            Some((at, value)) => Err(member.negative(at, value)),
            None => read.map(|()| array),
        }
    }

    /// The shortest decimal digits that name a number of this type.
    fn digits_of(&self, number: Number) -> String {
        match number {
            Number::Whole(value) => value.to_string(),
            Number::Real(value) if self.size == 4 => (value as f32).to_string(),
            Number::Real(value) => value.to_string(),
        }
    }

    /// Visits all numbers with their positions.
    fn each(
        &self,
        member: &mut Member<'_, '_>,
        mut visit: impl FnMut(Number, u64) -> Result<(), String>,
    ) -> Result<(), GraphError> {
        let is_number = matches!(
            (self.kind, self.size),
            (b'b', 1) | (b'i' | b'u', 1 | 2 | 4 | 8) | (b'f', 4 | 8)
        );
        if !is_number || self.is_table() {
            return Err(self.refused(member, "an array of real numbers"));
        }
        let size = self.size as usize;
        let mut buffer = vec![0; STEP_BYTES];
        let mut at = 0;
        while at < self.count {
            let step = (self.count - at).min((STEP_BYTES / size) as u64) as usize;
            let bytes = &mut buffer[..step * size];
            member.fill(bytes)?;
            for (place, element) in (at..).zip(bytes.chunks_exact_mut(size)) {
                if self.big_endian {
                    element.reverse();
                }
                let number = number_of(self.kind, element);
                visit(number, place).map_err(|reason| member.bad(reason))?;
            }
            at += step as u64;
        }
        if member.left() > 0 {
            let left = member.left();
            return Err(member.bad(format!("{left} bytes follow its {} numbers", self.count)));
        }
        Ok(())
    }

    fn refused(&self, member: &Member<'_, '_>, expected: &str) -> GraphError {
        let kind = char::from(self.kind);
        let kind = if kind.is_ascii_alphanumeric() {
            kind
        } else {
            '?'
        };
        member.bad(format!(
            "expected {expected}, found {} of type {kind}{}; save the matrix with another type",
            self.count, self.size
        ))
    }
}

impl Array {
    fn push(&mut self, weight: Weight) -> Result<(), String> {
        let (kind, word, rounded) = weight.parts();
        self.rounded += self.grow(kind);
        let is_large = kind == WeightKind::Integer && word > i32::MAX.cast_unsigned();
        if is_large && self.kind == WeightKind::Signed {
            self.rounded += self.grow(WeightKind::SignedFloat);
        }
        let (word, converted) = kind.convert(word, self.kind);
        self.rounded += u64::from(rounded || converted);
        push(&mut self.words, word)
    }
}

impl Growing for Array {
    fn kind_mut(&mut self) -> &mut WeightKind {
        &mut self.kind
    }

    fn each(&mut self, change: &(dyn Fn(&mut u32) -> u64 + Sync)) -> u64 {
        self.words.iter_mut().map(change).sum()
    }
}

/// Appends a number, as far as there is memory.
fn push<T>(numbers: &mut Vec<T>, number: T) -> Result<(), String> {
    memory::reserve(numbers, 1).map_err(|short| {
        format!(
            "out of memory: {} bytes more are needed and {} are left",
            short.needed, short.available
        )
    })?;
    numbers.push(number);
    Ok(())
}

/// Converts a number to a weight; `None` if it cannot be one.
fn weight_of(number: Number) -> Option<Weight> {
    let whole = |value: i128| {
        let magnitude = u32::try_from(value.unsigned_abs()).ok()?;
        Weight::product(magnitude, value < 0)
    };
    let value = match number {
        Number::Whole(value) => return whole(value),
        Number::Real(value) => value,
    };
    if value.fract() == 0.0
        && value.abs() <= f64::from(u32::MAX)
        && let Some(weight) = whole(value as i128)
    {
        return Some(weight);
    }
    let float = value as f32;
    float.is_finite().then(|| Weight::Real {
        word: float.to_bits(),
        rounded: f64::from(float) != value,
    })
}

/// A little-endian number of a known kind and size.
fn number_of(kind: u8, bytes: &[u8]) -> Number {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    let unused = 64 - 8 * bytes.len() as u32;
    match (kind, bytes.len()) {
        (b'f', 4) => Number::Real(f64::from(f32::from_bits(bits as u32))),
        (b'f', _) => Number::Real(f64::from_bits(bits)),
        (b'i', _) => Number::Whole(i128::from((bits << unused).cast_signed() >> unused)),
        _ => Number::Whole(i128::from(bits)),
    }
}

fn out_of_range(at: u64, number: Number) -> String {
    let value = match number {
        Number::Whole(value) => value.to_string(),
        Number::Real(value) => value.to_string(),
    };
    let problem = match number {
        Number::Whole(value) if value < 0 => "is negative",
        Number::Whole(_) => "exceeds 4294967295, the largest of 32 bits",
        Number::Real(_) => "is not a whole number, or beyond a 32-bit float",
    };
    format!("its number {at} ({value}) {problem}")
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}
