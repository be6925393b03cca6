//! Classes of operators: how many values they pop and push, and whether they use memory.

use crate::model::Kind;
use wasmparser::Operator;

/// What the arity table of wasmparser knows of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Pops and pushes fixed numbers of values.
    Plain(u32, u32),
    /// As plain, and addresses memory.
    Memory(u32, u32),
    /// Depends on types or labels.
    Custom,
}

macro_rules! class {
    ({ memarg $($rest:ident)* } arity memarg $pops:tt -> $pushes:tt) => {
        Class::Memory($pops, $pushes)
    };
    ({ memarg $($rest:ident)* } arity $pops:tt -> $pushes:tt) => {
        Class::Memory($pops, $pushes)
    };
    ($arguments:tt arity custom) => {
        Class::Custom
    };
    ($arguments:tt arity $pops:tt -> $pushes:tt) => {
        Class::Plain($pops, $pushes)
    };
}

macro_rules! define_class {
    ($(@$proposal:ident $op:ident $({ $($arg:ident: $type:ty),* })? => $visit:ident ($($arity:tt)*))*) => {
        /// The class of an operator.
        pub(super) fn class_of(operator: &Operator<'_>) -> Class {
            match operator {
                $(Operator::$op { .. } => class!({ $($($arg)*)? } $($arity)*),)*
                // Operators of later versions, which the validator does not know either.
                _ => Class::Custom,
            }
        }
    };
}

wasmparser::for_each_operator!(define_class);

/// What an operator of a fixed arity does with other cells than the stack.
pub(super) fn kind_of(operator: &Operator<'_>, class: Class) -> Kind {
    use Operator as O;
    match (operator, class) {
        (O::MemoryAtomicNotify { .. }, _) => Kind::Update,
        (_, Class::Memory(1 | 2, 1)) if !is_exchange(operator) => Kind::Load,
        (_, Class::Memory(_, 0)) => Kind::Store,
        (_, Class::Memory(..)) => Kind::Update,
        (
            O::I32Const { .. }
            | O::I64Const { .. }
            | O::F32Const { .. }
            | O::F64Const { .. }
            | O::V128Const { .. }
            | O::RefNull { .. }
            | O::RefFunc { .. },
            _,
        ) => Kind::Constant,
        (O::MemorySize { .. } | O::StructGet { .. } | O::ArrayGet { .. }, _) => Kind::Load,
        (O::StructGetS { .. } | O::StructGetU { .. }, _) => Kind::Load,
        (O::ArrayGetS { .. } | O::ArrayGetU { .. }, _) => Kind::Load,
        (O::MemoryFill { .. } | O::MemoryInit { .. } | O::StructSet { .. }, _) => Kind::Store,
        (O::ArraySet { .. } | O::ArrayFill { .. }, _) => Kind::Store,
        (O::MemoryGrow { .. } | O::MemoryCopy { .. } | O::ArrayCopy { .. }, _) => Kind::Update,
        _ if is_opaque(operator) => Kind::Opaque,
        (_, Class::Plain(1.., 1)) => Kind::Pure,
        _ => Kind::Opaque,
    }
}

/// Whether an atomic operator with one result also writes.
fn is_exchange(operator: &Operator<'_>) -> bool {
    // Loads of lanes pop two values as well; they are the only ones of two operands that do not
    // write.
    !matches!(
        operator,
        Operator::V128Load8Lane { .. }
            | Operator::V128Load16Lane { .. }
            | Operator::V128Load32Lane { .. }
            | Operator::V128Load64Lane { .. }
    ) && matches!(class_of(operator), Class::Memory(2, 1))
}

/// Whether equal operands may give other results.
fn is_opaque(operator: &Operator<'_>) -> bool {
    use Operator as O;
    matches!(
        operator,
        O::TableGet { .. }
            | O::TableGrow { .. }
            | O::StructNewDefault { .. }
            | O::ArrayNew { .. }
            | O::ArrayNewDefault { .. }
            | O::ArrayNewData { .. }
            | O::ArrayNewElem { .. }
            | O::ArrayLen
    )
}
