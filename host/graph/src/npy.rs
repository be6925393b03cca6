//! Headers of NumPy's arrays, as its format describes them (`numpy.lib.format`).

use std::fmt::Write as _;

/// Multiple of bytes at which the numbers of an array begin.
const ALIGN: usize = 64;

/// Longest text of a header of version 1.
const SHORT_MAX: usize = u16::MAX as usize;

/// The type of a number, or of a few of them, in NumPy's notation: `<u4` for 32 bits without a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The notation.
    pub kind: &'static str,
    /// Numbers together; 1 for one alone.
    pub count: u64,
}

impl Element {
    /// One number of this kind.
    #[must_use]
    pub const fn one(kind: &'static str) -> Self {
        Self { kind, count: 1 }
    }
}

/// The type of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dtype<'a> {
    /// Numbers of one kind.
    Plain(&'static str),
    /// Records of named fields.
    Record(Vec<(&'a str, Element)>),
}

/// The bytes before the numbers of an array of this type and shape, whose rows follow each other.
///
/// ```
/// use seawall_graph::npy::{Dtype, head};
///
/// let head = head(&Dtype::Plain("<u4"), &[3]);
/// assert!(head.starts_with(b"\x93NUMPY\x01\x00"));
/// assert_eq!(head.len() % 64, 0);
/// ```
#[must_use]
pub fn head(dtype: &Dtype<'_>, shape: &[u64]) -> Vec<u8> {
    let mut text = String::from("{'descr': ");
    match dtype {
        Dtype::Plain(kind) => write_text(&mut text, kind),
        Dtype::Record(fields) => {
            text.push('[');
            for (name, Element { kind, count }) in fields {
                text.push('(');
                write_text(&mut text, name);
                text.push_str(", ");
                write_text(&mut text, kind);
                if *count != 1 {
                    let _ = write!(text, ", ({count},)");
                }
                text.push_str("), ");
            }
            text.push(']');
        }
    }
    let sides: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if sides.len() == 1 { "," } else { "" };
    let sides = sides.join(", ");
    // Writing to a text does not fail.
    let _ = write!(
        text,
        ", 'fortran_order': False, 'shape': ({sides}{comma}), }}"
    );
    framed(text)
}

/// The text as a literal of Python.
fn write_text(to: &mut String, text: &str) {
    to.push('\'');
    for letter in text.chars() {
        match letter {
            '\'' | '\\' => to.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(to, "\\u{:04x}", u32::from(letter));
            }
            letter => to.push(letter),
        }
    }
    to.push('\'');
}

/// The text with what comes before it: version 1, or version 3 for a long text or other letters.
fn framed(mut text: String) -> Vec<u8> {
    let is_short = text.is_ascii() && text.len() + 2 * ALIGN <= SHORT_MAX;
    let before = if is_short { 10 } else { 12 };
    let unpadded = before + text.len() + 1;
    let padding = unpadded.next_multiple_of(ALIGN) - unpadded;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut head = b"\x93NUMPY".to_vec();
    if is_short {
        head.extend([1, 0]);
        head.extend((text.len() as u16).to_le_bytes());
    } else {
        head.extend([3, 0]);
        head.extend((text.len() as u32).to_le_bytes());
    }
    head.extend(text.into_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_letters_are_literals_of_python() {
        let record = Dtype::Record(vec![
            ("a'b\\", Element::one("<u4")),
            (
                "größe\n",
                Element {
                    kind: "<u8",
                    count: 3,
                },
            ),
        ]);
        let head = head(&record, &[7]);
        assert_eq!(&head[6..8], [3, 0]);
        assert_eq!(head.len() % ALIGN, 0);
        let text = String::from_utf8(head[12..].to_vec()).unwrap();
        assert!(text.starts_with(
            "{'descr': [('a\\'b\\\\', '<u4'), ('größe\\u000a', '<u8', (3,)), ], 'fortran_order': False, 'shape': (7,), }"
        ), "{text}");
    }

    #[test]
    fn long_headers_have_long_lengths() {
        let names: Vec<String> = (0..9000).map(|at| format!("column{at}")).collect();
        let fields = names
            .iter()
            .map(|name| (name.as_str(), Element::one("<u4")));
        let head = head(&Dtype::Record(fields.collect()), &[1]);
        assert_eq!(&head[6..8], [3, 0]);
        let length = u32::from_le_bytes(head[8..12].try_into().unwrap());
        assert_eq!(length as usize + 12, head.len());
    }
}
