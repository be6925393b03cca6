//! Random modules: structured text from a stream of numbers, assembled by the `wat` crate.

/// Numbers that decide what is generated; zeros when they run out, which end every list.
pub(crate) struct Numbers<'a> {
    rest: &'a [u8],
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub(crate) fn below(&mut self, end: u32) -> u32 {
        match self.rest {
            [first, rest @ ..] => {
                self.rest = rest;
                u32::from(*first) % end
            }
            [] => 0,
        }
    }
}

const LOCALS: u32 = 5;

/// A module of three functions with loops, branches, calls, globals and memory.
pub(crate) fn module(numbers: &mut Numbers<'_>) -> String {
    let mut text = String::from(
        "(module (type $t (func (param i32) (result i32)))
        (import \"env\" \"in\" (func $in (result i32)))
        (import \"env\" \"out\" (func $out (param i32)))
        (memory 1) (table 3 funcref) (elem (i32.const 0) $f0 $f1)
        (global $g0 (mut i32) (i32.const 0)) (global $g1 (mut i32) (i32.const 0))\n",
    );
    for function in 0..3 {
        let export = if function == 0 { "(export \"f0\")" } else { "" };
        text.push_str(&format!(
            "(func $f{function} {export} (param i32) (result i32) (local i32 i32 i32 i32)\n"
        ));
        text.push_str("block\n");
        statements(numbers, 1, 0, &mut text);
        text.push_str("end local.get 0)\n");
    }
    text.push(')');
    text
}

fn local(numbers: &mut Numbers<'_>) -> u32 {
    numbers.below(LOCALS)
}

fn value(numbers: &mut Numbers<'_>, text: &mut String) {
    let (one, other) = (local(numbers), local(numbers));
    text.push_str(&match numbers.below(6) {
        0 => format!("local.get {one} "),
        1 => format!("i32.const {other} "),
        2 => format!("local.get {one} local.get {other} i32.add "),
        3 => format!("local.get {one} i32.load "),
        4 => format!("global.get $g{} ", one % 2),
        _ => format!("local.get {one} local.get {other} i32.xor i32.const 3 i32.mul "),
    });
}

/// Statements that leave the stack as it was, `depth` labels deep.
fn statements(numbers: &mut Numbers<'_>, depth: u32, nested: u32, text: &mut String) {
    for _ in 0..numbers.below(7) {
        statement(numbers, depth, nested, text);
    }
}

fn statement(numbers: &mut Numbers<'_>, depth: u32, nested: u32, text: &mut String) {
    let kind = numbers.below(if nested < 4 { 19 } else { 12 });
    match kind {
        0..=3 => {
            value(numbers, text);
            text.push_str(&format!("local.set {}\n", local(numbers)));
        }
        4 => {
            value(numbers, text);
            text.push_str(&format!("local.tee {} drop\n", local(numbers)));
        }
        5 => {
            value(numbers, text);
            text.push_str(&format!("global.set $g{}\n", numbers.below(2)));
        }
        6 => {
            value(numbers, text);
            value(numbers, text);
            text.push_str("i32.store\n");
        }
        7 => {
            value(numbers, text);
            text.push_str(&format!(
                "call $f{} local.set {}\n",
                numbers.below(3),
                local(numbers)
            ));
        }
        8 => {
            value(numbers, text);
            value(numbers, text);
            text.push_str(&format!(
                "call_indirect (type $t) local.set {}\n",
                local(numbers)
            ));
        }
        9 => {
            value(numbers, text);
            text.push_str(if numbers.below(2) == 0 {
                "call $out\n"
            } else {
                "drop\n"
            });
        }
        10 => {
            value(numbers, text);
            text.push_str(&format!("br_if {}\n", jump(numbers, depth)));
        }
        11 => match numbers.below(4) {
            0 => text.push_str("local.get 1 return\n"),
            1 => text.push_str("unreachable\n"),
            _ => text.push_str(&format!("br {}\n", jump(numbers, depth))),
        },
        _ => nest(numbers, kind, depth, nested, text),
    }
}

/// A label of a nest, never the function's, which takes a value.
fn jump(numbers: &mut Numbers<'_>, depth: u32) -> u32 {
    numbers.below(depth)
}

fn nest(numbers: &mut Numbers<'_>, kind: u32, depth: u32, nested: u32, text: &mut String) {
    match kind {
        12 | 13 => text.push_str("loop\n"),
        14 | 15 => text.push_str("block\n"),
        16 => {
            // A block with a value that a branch moves past another one.
            text.push_str("block (result i32) i32.const 1 ");
            value(numbers, text);
            value(numbers, text);
            text.push_str("br_if 0\n drop\n");
            statements_in_value(numbers, nested, text);
            text.push_str(&format!("end local.set {}\n", local(numbers)));
            return;
        }
        17 => {
            text.push_str("block block block ");
            value(numbers, text);
            text.push_str("br_table 0 1 2 1\n end\n");
            statements(numbers, depth + 2, nested + 1, text);
            text.push_str("end\n");
            statements(numbers, depth + 1, nested + 1, text);
            text.push_str("end\n");
            return;
        }
        _ => {
            value(numbers, text);
            text.push_str("if\n");
            statements(numbers, depth + 1, nested + 1, text);
            if numbers.below(2) == 0 {
                text.push_str("else\n");
                statements(numbers, depth + 1, nested + 1, text);
            }
            text.push_str("end\n");
            return;
        }
    }
    statements(numbers, depth + 1, nested + 1, text);
    text.push_str("end\n");
}

/// Statements with a value beneath them on the stack; they do not leave their own nest.
fn statements_in_value(numbers: &mut Numbers<'_>, nested: u32, text: &mut String) {
    text.push_str("block\n");
    statements(numbers, 1, nested + 1, text);
    text.push_str("end\n");
}
