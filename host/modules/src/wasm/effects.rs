//! Effects of operations on references and on indices of tables.
//!
//! The model keeps for most operations the place of their bytes alone. They are read again here,
//! by the questions that need more.

use crate::model::Initial;
use wasmparser::{BinaryReader, Error};

/// An effect on references and indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Makes a known value.
    Makes(Initial),
    /// Passes on one of its first operands, of this number.
    Chooses(usize),
    /// Reads a table.
    TableGet(u32),
    /// Writes operand `from` to a table.
    TableSet {
        /// The table.
        table: u32,
        /// Number of the operand.
        from: usize,
    },
    /// Copies entries from a table to another.
    TableCopy {
        /// The table that changes.
        to: u32,
        /// The table that is read.
        from: u32,
    },
    /// Copies entries of a segment to a table.
    TableInit(u32),
    /// Puts entries of a segment into an object, from where they may get anywhere.
    SegmentEscapes,
    /// Makes an object that holds its operands, from where they may get anywhere.
    Builds,
    /// Takes no reference away; what it makes may be anything.
    Computes,
    /// References among its operands may get anywhere; what it makes may be anything.
    Escapes,
}

impl Effect {
    /// The table that gets other functions than those of its segments, or of segments that may be
    /// copied.
    pub(super) const fn written_table(self) -> Option<u32> {
        match self {
            Self::TableSet { table, .. } | Self::TableCopy { to: table, .. } => Some(table),
            _ => None,
        }
    }

    /// Whether references of tables or segments become values, or parts of objects.
    pub(super) const fn reads_references(self) -> bool {
        matches!(self, Self::TableGet(_) | Self::SegmentEscapes)
    }
}

/// A constant as an index of a table.
pub(super) fn index_of(value: i64) -> Initial {
    match u32::try_from(value) {
        Ok(index) => Initial::Index(index),
        Err(_) => Initial::Unknown,
    }
}

/// The effect of the operation at an offset, other than those on locals and globals, calls and
/// moves. Without the bytes of a module, everything escapes.
pub(crate) fn effect(image: &[u8], offset: u32) -> Effect {
    let bytes = image.get(offset as usize..).unwrap_or_default();
    decoded(bytes).unwrap_or(Effect::Escapes)
}

fn decoded(bytes: &[u8]) -> Result<Effect, Error> {
    let mut reader = BinaryReader::new(bytes, 0);
    Ok(match reader.read_u8()? {
        0x1b | 0x1c => Effect::Chooses(2),
        0x25 => Effect::TableGet(reader.read_var_u32()?),
        0x26 => Effect::TableSet {
            table: reader.read_var_u32()?,
            from: 1,
        },
        0x41 => Effect::Makes(Initial::Index(reader.read_var_i32()? as u32)),
        0x42 => Effect::Makes(index_of(reader.read_var_i64()?)),
        0xd0 => Effect::Makes(Initial::Null),
        0xd2 => Effect::Makes(Initial::Function(reader.read_var_u32()?)),
        0xd4 => Effect::Chooses(1),
        0xfb => of_objects(reader.read_var_u32()?),
        0xfc => of_tables(&mut reader)?,
        // Control, `drop`, memory, arithmetic, vectors and atomics.
        0x00..=0x07 | 0x0b..=0x1a | 0x28..=0xc4 | 0xd1 | 0xd3 | 0xd5 | 0xd6 | 0xfd | 0xfe => {
            Effect::Computes
        }
        _ => Effect::Escapes,
    })
}

/// Operators of garbage-collected objects: `struct.new`, `array.new` and `array.new_fixed` build them
/// of values, `array.new_elem` and `array.init_elem` of segments; tests and casts let nothing escape.
const fn of_objects(operator: u32) -> Effect {
    match operator {
        0 | 6 | 8 => Effect::Builds,
        10 | 19 => Effect::SegmentEscapes,
        20 | 21 => Effect::Computes,
        22 | 23 => Effect::Chooses(1),
        _ => Effect::Escapes,
    }
}

fn of_tables(reader: &mut BinaryReader<'_>) -> Result<Effect, Error> {
    Ok(match reader.read_var_u32()? {
        12 => {
            let _segment = reader.read_var_u32()?;
            Effect::TableInit(reader.read_var_u32()?)
        }
        14 => Effect::TableCopy {
            to: reader.read_var_u32()?,
            from: reader.read_var_u32()?,
        },
        15 => Effect::TableSet {
            table: reader.read_var_u32()?,
            from: 0,
        },
        17 => Effect::TableSet {
            table: reader.read_var_u32()?,
            from: 1,
        },
        _ => Effect::Computes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_read_from_their_bytes() {
        let of = |bytes: &[u8]| decoded(bytes).unwrap_or(Effect::Escapes);
        assert_eq!(of(&[0x41, 0x07]), Effect::Makes(Initial::Index(7)));
        assert_eq!(of(&[0x41, 0x7f]), Effect::Makes(Initial::Index(u32::MAX)));
        assert_eq!(of(&[0x42, 0x7f]), Effect::Makes(Initial::Unknown));
        assert_eq!(of(&[0xd2, 0x03]), Effect::Makes(Initial::Function(3)));
        let (to, from) = (1, 2);
        assert_eq!(of(&[0xfc, 14, 1, 2]), Effect::TableCopy { to, from });
        assert_eq!(of(&[0xfc, 12, 4, 1]), Effect::TableInit(1));
        assert_eq!(of(&[0x6a]), Effect::Computes);
        assert_eq!(of(&[0x08, 0]), Effect::Escapes);
        assert_eq!(of(&[]), Effect::Escapes);
    }
}
