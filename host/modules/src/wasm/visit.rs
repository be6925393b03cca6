//! Reads operators once, for the validator and for the cutter.
//!
//! Each operator's method is generated from wasmparser's table. What the cutter does with an
//! operator is known at compile time, so that most methods validate and append one operation.

use super::Problem;
use super::body::{Cutter, Validator};
use super::classes::{Class, How, class, how, moves_references};
use super::sections::Sections;
use wasmparser::{BinaryReader, FrameKind, FrameStack, Operator, VisitOperator, VisitSimdOperator};

/// The reader of one body.
pub(super) struct Reading<'r> {
    pub(super) cutter: &'r mut Cutter,
    pub(super) sections: &'r Sections,
    pub(super) validator: &'r mut Validator,
    offset: u64,
}

impl<'r> Reading<'r> {
    pub(super) fn new(
        cutter: &'r mut Cutter,
        sections: &'r Sections,
        validator: &'r mut Validator,
    ) -> Self {
        Self {
            cutter,
            sections,
            validator,
            offset: 0,
        }
    }

    /// Reads all operators of a body.
    pub(super) fn read(mut self, mut reader: BinaryReader<'_>) -> Result<(), Problem> {
        while !reader.eof() {
            self.offset = reader.original_position();
            self.cutter.begin_operator(self.offset as u32);
            reader.visit_operator(&mut self)??;
            self.cutter.end_operator(reader.original_position() as u32);
        }
        Ok(reader.finish_expression(&self)?)
    }
}

impl FrameStack for Reading<'_> {
    fn current_frame(&self) -> Option<FrameKind> {
        Some(self.validator.get_control_frame(0)?.kind)
    }
}

/// The operand of an operator on a local or a global, 0 of any other one.
macro_rules! operand {
    () => {
        0
    };
    ({ local_index $name:ident }) => {
        $name
    };
    ({ global_index $name:ident }) => {
        $name
    };
    ($other:tt) => {
        0
    };
}

macro_rules! visit {
    ($visitor:ident ; $(@$proposal:ident $op:ident $({ $($arg:ident: $type:ty),* })? => $visit:ident ($($arity:tt)*))*) => {$(
        fn $visit(&mut self $($(, $arg: $type)*)?) -> Result<(), Problem> {
            const HOW: How = how(stringify!($op), class!({ $($($arg)*)? } $($arity)*));
            match HOW {
                How::Control => {
                    self.validator.$visitor(self.offset).$visit($($($arg.clone()),*)?)?;
                    let operator = Operator::$op $({ $($arg),* })?;
                    self.cutter.control(self.sections, self.validator, &operator)
                }
                How::Nothing => {
                    self.validator.$visitor(self.offset).$visit($($($arg),*)?)?;
                    Ok(())
                }
                How::Cell(kind, pops, pushes) => {
                    let cell = operand!($({ $($arg $arg)* })?);
                    self.validator.$visitor(self.offset).$visit($($($arg),*)?)?;
                    self.cutter.add(kind, cell, (pops, pushes))
                }
                How::Plain(kind, pops, pushes) => {
                    self.validator.$visitor(self.offset).$visit($($($arg),*)?)?;
                    if const { moves_references(stringify!($op)) } {
                        self.cutter.note_references();
                    }
                    self.cutter.add_measured(kind, (pops, pushes))
                }
            }
        }
    )*};
}

macro_rules! visit_operators {
    ($($operators:tt)*) => { visit!(visitor ; $($operators)*); };
}

macro_rules! visit_simd_operators {
    ($($operators:tt)*) => { visit!(simd_visitor ; $($operators)*); };
}

impl<'a> VisitOperator<'a> for Reading<'_> {
    type Output = Result<(), Problem>;

    fn simd_visitor(&mut self) -> Option<&mut dyn VisitSimdOperator<'a, Output = Self::Output>> {
        Some(self)
    }

    wasmparser::for_each_visit_operator!(visit_operators);
}

impl VisitSimdOperator<'_> for Reading<'_> {
    wasmparser::for_each_visit_simd_operator!(visit_simd_operators);
}
