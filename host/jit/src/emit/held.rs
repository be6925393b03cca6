//! Values in several forms: conversions are written only where a form changes.

use super::{Emitter, plain};
use cranelift_codegen::ir::types::{F32, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Type, Value};
use cranelift_frontend::Variable;
use seawall_core::abi::code::{Kind, NUMBERED, PAIR, TEMPS};

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A word.
    Word,
    /// A word with zeros above it, as an index needs it.
    Index,
    /// A word that is a float.
    Float,
    /// A pair of words.
    Pair,
}

impl Shape {
    const fn of(self) -> Type {
        match self {
            Self::Word => I32,
            Self::Float => F32,
            Self::Index | Self::Pair => I64,
        }
    }
}

/// No known bound: every word is below it.
const UNBOUNDED: u64 = 1 << 32;

/// A value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) value: Value,
    pub(super) shape: Shape,
    /// A number that the word is known to be below.
    pub(super) bound: u64,
}

impl Held {
    pub(super) const fn word(value: Value) -> Self {
        Self::shaped(value, Shape::Word)
    }

    pub(super) const fn float(value: Value) -> Self {
        Self::shaped(value, Shape::Float)
    }

    pub(super) const fn pair(value: Value) -> Self {
        Self::shaped(value, Shape::Pair)
    }

    pub(super) const fn index(value: Value, bound: u64) -> Self {
        Self {
            bound,
            ..Self::shaped(value, Shape::Index)
        }
    }

    const fn shaped(value: Value, shape: Shape) -> Self {
        Self {
            value,
            shape,
            bound: UNBOUNDED,
        }
    }

    /// A value that has the type of its kind.
    pub(super) const fn of_kind(kind: Kind, value: Value) -> Self {
        match kind {
            Kind::U32 | Kind::I32 => Self::word(value),
            Kind::F32 => Self::float(value),
            Kind::U64 => Self::pair(value),
        }
    }

    /// The same value, below `bound`.
    pub(super) fn below(self, bound: u64) -> Self {
        Self {
            bound: self.bound.min(bound),
            ..self
        }
    }
}

/// The temporaries of a lane. Each has a variable for each form that it takes; which of them has
/// the value is known where code is written, since code has no jumps but those that leave an item
/// or an edge, and neither has temporaries that the next one reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Temps {
    /// The form of each, and the bound of its word.
    now: [Option<(Shape, u64)>; TEMPS as usize],
    variables: [[Option<Variable>; 4]; TEMPS as usize],
}

impl Temps {
    /// The forms, for [`Temps::restore`].
    pub(super) const fn forms(&self) -> [Option<(Shape, u64)>; TEMPS as usize] {
        self.now
    }

    /// Returns to earlier forms, whose values nothing has replaced.
    pub(super) const fn restore(&mut self, forms: [Option<(Shape, u64)>; TEMPS as usize]) {
        self.now = forms;
    }
}

impl Emitter<'_, '_> {
    /// The word of a value; the low one of a pair.
    pub(super) fn word(&mut self, held: Held) -> Value {
        match held.shape {
            Shape::Word => held.value,
            Shape::Index | Shape::Pair => self.b.ins().ireduce(I32, held.value),
            Shape::Float => self.b.ins().bitcast(I32, MemFlags::new(), held.value),
        }
    }

    /// The word of a value as a float.
    pub(super) fn float(&mut self, held: Held) -> Value {
        if held.shape == Shape::Float {
            return held.value;
        }
        let word = self.word(held);
        self.b.ins().bitcast(F32, MemFlags::new(), word)
    }

    /// A value as a pair; the high word of a word is 0.
    pub(super) fn pair(&mut self, held: Held) -> Value {
        match held.shape {
            Shape::Index | Shape::Pair => held.value,
            Shape::Word | Shape::Float => {
                let word = self.word(held);
                self.b.ins().uextend(I64, word)
            }
        }
    }

    /// The word of a value with zeros above it.
    pub(super) fn index(&mut self, held: Held) -> Value {
        if held.shape == Shape::Index {
            return held.value;
        }
        let word = self.word(held);
        self.b.ins().uextend(I64, word)
    }

    /// A value in the type of `kind`.
    pub(super) fn in_kind(&mut self, kind: Kind, held: Held) -> Value {
        match kind {
            Kind::U32 | Kind::I32 => self.word(held),
            Kind::F32 => self.float(held),
            Kind::U64 => self.pair(held),
        }
    }

    /// The temporary that a byte names.
    pub(super) fn temp(&mut self, byte: u8) -> Held {
        let number = usize::from(byte & NUMBERED);
        let held = self.temps.now.get(number).copied().flatten();
        let Some((shape, bound)) = held else {
            return self.zero();
        };
        let Some(variable) = self.temps.variables[number][shape as usize] else {
            return self.zero();
        };
        let value = self.b.use_var(variable);
        Held {
            value,
            shape,
            bound,
        }
    }

    /// Keeps a value in the temporary that a byte names, as a pair or as a word.
    pub(super) fn set_temp(&mut self, byte: u8, held: Held) {
        let number = usize::from(byte & NUMBERED);
        if number >= usize::from(TEMPS) {
            return;
        }
        let held = match (byte & PAIR != 0, held.shape) {
            (true, _) => Held::pair(self.pair(held)),
            (false, Shape::Pair) => Held::word(self.word(held)),
            (false, _) => held,
        };
        let variables = &mut self.temps.variables[number][held.shape as usize];
        let b = &mut self.b;
        let variable = *variables.get_or_insert_with(|| b.declare_var(held.shape.of()));
        self.b.def_var(variable, held.value);
        self.temps.now[number] = Some((held.shape, held.bound));
        // A pair takes the next temporary too.
        if let (true, Some(next)) = (byte & PAIR != 0, self.temps.now.get_mut(number + 1)) {
            *next = None;
        }
    }

    /// Stores a word that the caller of the function reads.
    pub(super) fn report(&mut self, field: usize, word: i64) {
        let word = self.b.ins().iconst(I32, word);
        self.b.ins().store(plain(), word, self.call, field as i32);
    }
}
