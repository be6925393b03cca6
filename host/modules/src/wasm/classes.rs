//! Classes of operators: what they do with the stack and with cells, all known at compile time.

use crate::model::Kind;

/// Facts of wasmparser's arity table about an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Pops and pushes fixed numbers of values.
    Plain(u32, u32),
    /// As plain, and addresses memory.
    Memory(u32, u32),
    /// Depends on types or labels.
    Custom,
}

/// How an operator is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It does nothing.
    Nothing,
    /// It reads or writes the local or the global of its operand.
    Cell(Kind, u32, u32),
    /// It pops and pushes fixed numbers of values.
    Plain(Kind, u32, u32),
    /// It ends a block, calls, or depends on types.
    Control,
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
pub(super) use class;

/// How the operator of a name is taken.
pub(super) const fn how(name: &str, class: Class) -> How {
    let (pops, pushes) = match class {
        Class::Custom => return How::Control,
        Class::Plain(pops, pushes) | Class::Memory(pops, pushes) => (pops, pushes),
    };
    if is_one_of(name, &["Unreachable", "ThrowRef", "Rethrow"]) {
        return How::Control;
    }
    if is_one_of(name, &["Nop"]) {
        return How::Nothing;
    }
    let cells = [
        ("LocalGet", Kind::LocalGet),
        ("LocalSet", Kind::LocalSet),
        ("LocalTee", Kind::LocalTee),
        ("GlobalGet", Kind::GlobalGet),
        ("GlobalSet", Kind::GlobalSet),
    ];
    let mut at = 0;
    while at < cells.len() {
        if is(name, cells[at].0) {
            return How::Cell(cells[at].1, pops, pushes);
        }
        at += 1;
    }
    How::Plain(kind(name, class), pops, pushes)
}

/// Accesses of an operator of fixed arity to cells other than the stack.
const fn kind(name: &str, class: Class) -> Kind {
    let is_atomic = begins(name, "I32Atomic") || begins(name, "I64Atomic");
    match class {
        // Other threads may have changed memory since the last one.
        Class::Memory(1, 1) if is_atomic => return Kind::Update,
        // Loads of lanes pop two values, and so do the atomic operators that also write.
        Class::Memory(1, 1) => return Kind::Load,
        Class::Memory(2, 1) if begins(name, "V128Load") => return Kind::Load,
        Class::Memory(_, 0) => return Kind::Store,
        Class::Memory(..) => return Kind::Update,
        Class::Plain(..) | Class::Custom => {}
    }
    if is_one_of(name, CONSTANTS) {
        Kind::Constant
    } else if is_one_of(name, LOADS) {
        Kind::Load
    } else if is_one_of(name, STORES) {
        Kind::Store
    } else if is_one_of(name, UPDATES) || begins(name, "Global") {
        Kind::Update
    } else if is_one_of(name, OPAQUE) {
        Kind::Opaque
    } else {
        match class {
            Class::Plain(1.., 1) => Kind::Pure,
            _ => Kind::Opaque,
        }
    }
}

const CONSTANTS: &[&str] = &[
    "I32Const",
    "I64Const",
    "F32Const",
    "F64Const",
    "V128Const",
    "RefNull",
    "RefFunc",
];

/// Fields and elements count as memory.
const LOADS: &[&str] = &[
    "MemorySize",
    "StructGet",
    "StructGetS",
    "StructGetU",
    "ArrayGet",
    "ArrayGetS",
    "ArrayGetU",
];

const STORES: &[&str] = &[
    "MemoryFill",
    "MemoryInit",
    "StructSet",
    "ArraySet",
    "ArrayFill",
    "ArrayInitData",
    "ArrayInitElem",
];

const UPDATES: &[&str] = &["MemoryGrow", "MemoryCopy", "ArrayCopy", "AtomicFence"];

/// Operators whose results are not equal for equal operands.
const OPAQUE: &[&str] = &[
    "TableGet",
    "TableGrow",
    "TableSize",
    "StructNewDefault",
    "ArrayNew",
    "ArrayNewDefault",
    "ArrayNewData",
    "ArrayNewElem",
];

/// Whether an operator makes a reference of a function, or reads or changes tables or their
/// segments.
pub(super) const fn moves_references(name: &str) -> bool {
    is_one_of(name, REFERENCES)
}

const REFERENCES: &[&str] = &[
    "RefFunc",
    "TableGet",
    "TableSet",
    "TableGrow",
    "TableFill",
    "TableCopy",
    "TableInit",
    "ArrayNewElem",
    "ArrayInitElem",
];

const fn is_one_of(name: &str, list: &[&str]) -> bool {
    let mut at = 0;
    while at < list.len() {
        if is(name, list[at]) {
            return true;
        }
        at += 1;
    }
    false
}

const fn is(name: &str, other: &str) -> bool {
    name.len() == other.len() && begins(name, other)
}

const fn begins(name: &str, with: &str) -> bool {
    let (name, with) = (name.as_bytes(), with.as_bytes());
    let mut at = 0;
    while at < with.len() {
        if at >= name.len() || name[at] != with[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_known_by_their_names() {
        let plain = |name, pops, pushes| how(name, Class::Plain(pops, pushes));
        assert_eq!(plain("I32Add", 2, 1), How::Plain(Kind::Pure, 2, 1));
        assert_eq!(plain("I32Const", 0, 1), How::Plain(Kind::Constant, 0, 1));
        assert_eq!(plain("LocalTee", 1, 1), How::Cell(Kind::LocalTee, 1, 1));
        assert_eq!(plain("MemoryCopy", 3, 0), How::Plain(Kind::Update, 3, 0));
        assert_eq!(plain("Drop", 1, 0), How::Plain(Kind::Opaque, 1, 0));
        assert_eq!(plain("Unreachable", 0, 0), How::Control);
        let memory = |name, pops, pushes| how(name, Class::Memory(pops, pushes));
        assert_eq!(memory("I32Load", 1, 1), How::Plain(Kind::Load, 1, 1));
        assert_eq!(
            memory("I64AtomicLoad", 1, 1),
            How::Plain(Kind::Update, 1, 1)
        );
        assert_eq!(memory("V128Load8Lane", 2, 1), How::Plain(Kind::Load, 2, 1));
        assert_eq!(
            memory("I32AtomicRmwAdd", 2, 1),
            How::Plain(Kind::Update, 2, 1)
        );
        assert_eq!(memory("I64Store", 2, 0), How::Plain(Kind::Store, 2, 0));
        assert_eq!(how("Br", Class::Custom), How::Control);
    }
}
