//! Operations on single values, in Cranelift's terms.

use super::Emitter;
use crate::walk::Shape;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value};
use seawall_core::abi::code::{Kind, Op};

impl Emitter<'_, '_> {
    pub(super) fn constant_of(&mut self, kind: Kind, bits: u64) -> Value {
        match kind {
            Kind::F32 => self.b.ins().f32const(f32::from_bits(bits as u32)),
            Kind::U64 => self.b.ins().iconst(I64, bits as i64),
            Kind::U32 | Kind::I32 => self.b.ins().iconst(I32, i64::from(bits as u32)),
        }
    }

    pub(super) fn reshaped(&mut self, value: Value, from: Shape, to: Shape) -> Value {
        match (from, to) {
            (Shape::Index | Shape::Pair, _) => self.b.ins().ireduce(I32, value),
            (Shape::Flag, _) => self.b.ins().uextend(I32, value),
            (Shape::Float, _) => self.b.ins().bitcast(I32, MemFlags::new(), value),
            (_, Shape::Float) => self.b.ins().bitcast(F32, MemFlags::new(), value),
            _ => self.b.ins().uextend(I64, value),
        }
    }

    pub(super) fn operation(&mut self, op: Op, a: Value, b: Value) -> Value {
        let ins = self.b.ins();
        match op {
            Op::Add | Op::AddWide => ins.iadd(a, b),
            Op::Sub | Op::SubWide => ins.isub(a, b),
            Op::Mul | Op::MulWide => ins.imul(a, b),
            Op::Divide => ins.udiv(a, b),
            Op::Remainder => ins.urem(a, b),
            Op::And | Op::AndWide => ins.band(a, b),
            Op::Or | Op::OrWide => ins.bor(a, b),
            Op::Xor | Op::XorWide => ins.bxor(a, b),
            Op::ShiftLeft | Op::ShiftLeftWide => ins.ishl(a, b),
            Op::ShiftRight | Op::ShiftRightWide => ins.ushr(a, b),
            Op::ShiftRightSigned => ins.sshr(a, b),
            Op::AddFloat => ins.fadd(a, b),
            Op::SubFloat => ins.fsub(a, b),
            Op::MulFloat => ins.fmul(a, b),
            Op::DivideFloat => ins.fdiv(a, b),
            Op::Min | Op::MinWide => self.lesser(IntCC::UnsignedLessThan, a, b),
            Op::Max | Op::MaxWide => self.lesser(IntCC::UnsignedGreaterThan, a, b),
            Op::MinSigned => self.lesser(IntCC::SignedLessThan, a, b),
            _ => self.lesser(IntCC::SignedGreaterThan, a, b),
        }
    }

    /// Whichever of two values stands to the other as `condition` says.
    fn lesser(&mut self, condition: IntCC, a: Value, b: Value) -> Value {
        let is_first = self.b.ins().icmp(condition, a, b);
        self.b.ins().select(is_first, a, b)
    }

    pub(super) fn converted(&mut self, op: Op, a: Value) -> Value {
        let ins = self.b.ins();
        match op {
            Op::Ones => ins.popcnt(a),
            Op::LowZeros => ins.ctz(a),
            Op::OnesWide => {
                let count = ins.popcnt(a);
                self.b.ins().ireduce(I32, count)
            }
            Op::LowZerosWide => {
                let count = ins.ctz(a);
                self.b.ins().ireduce(I32, count)
            }
            Op::FloatOfWide => ins.fcvt_from_uint(F32, a),
            Op::FloatOfSigned => ins.fcvt_from_sint(F32, a),
            Op::FloatOf => {
                // Exact in 64 bits with a sign, which processors convert at once.
                let wide = ins.uextend(I64, a);
                self.b.ins().fcvt_from_sint(F32, wide)
            }
            Op::WideOf => ins.fcvt_to_uint_sat(I64, a),
            Op::SignedOf => ins.fcvt_to_sint_sat(I32, a),
            // `Op::WordOf`: the walk takes the others apart.
            _ => ins.fcvt_to_uint_sat(I32, a),
        }
    }

    pub(super) fn comparison(&mut self, op: Op, a: Value, b: Value) -> Value {
        let of_floats = match op {
            Op::EqualFloat => Some(FloatCC::Equal),
            Op::NotEqualFloat => Some(FloatCC::NotEqual),
            Op::BelowFloat => Some(FloatCC::LessThan),
            Op::AtMostFloat => Some(FloatCC::LessThanOrEqual),
            Op::AboveFloat => Some(FloatCC::GreaterThan),
            Op::AtLeastFloat => Some(FloatCC::GreaterThanOrEqual),
            _ => None,
        };
        if let Some(condition) = of_floats {
            return self.b.ins().fcmp(condition, a, b);
        }
        let condition = match op {
            Op::Equal | Op::EqualWide => IntCC::Equal,
            Op::NotEqual | Op::NotEqualWide => IntCC::NotEqual,
            Op::Below | Op::BelowWide => IntCC::UnsignedLessThan,
            Op::AtMost | Op::AtMostWide => IntCC::UnsignedLessThanOrEqual,
            Op::Above | Op::AboveWide => IntCC::UnsignedGreaterThan,
            Op::AtLeast | Op::AtLeastWide => IntCC::UnsignedGreaterThanOrEqual,
            Op::BelowSigned => IntCC::SignedLessThan,
            Op::AtMostSigned => IntCC::SignedLessThanOrEqual,
            Op::AboveSigned => IntCC::SignedGreaterThan,
            _ => IntCC::SignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(condition, a, b)
    }
}
