//! Converts LLVM's textual IR to a flow graph that `seawall analyze` reads.
//!
//! ```text
//! rustc --emit=llvm-ir -C no-prepopulate-passes -o main.ll main.rs
//! cargo run -p seawall-modules --example llvm_flow -- main.ll > main.flow
//! seawall analyze main.flow
//! ```
//!
//! It takes what a flow graph needs and no more: functions, labels, the targets of terminators,
//! the names that an instruction defines and uses, and direct calls. A `phi` uses its operands in
//! its own block.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, BufWriter, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give a file of LLVM IR")?;
    let text = std::fs::read_to_string(path)?;
    let mut out = BufWriter::new(io::stdout().lock());
    convert(&text, &mut out)?;
    out.flush()?;
    Ok(())
}

/// Writes the functions of `text` as a flow graph.
fn convert(text: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "seawall-flow 1")?;
    let mut functions = BTreeSet::new();
    let headers = text.lines().filter(|line| is_header(line));
    functions.extend(headers.filter_map(|line| names(line, '@').into_iter().next()));
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(name) = names(line, '@').into_iter().next() else {
            continue;
        };
        if line.starts_with("declare ") {
            writeln!(out, "function {name} imported")?;
        } else if line.starts_with("define ") {
            let is_local = line.contains(" internal ") || line.contains(" private ");
            let export = if is_local { "" } else { " exported" };
            writeln!(out, "function {name}{export}")?;
            let parameters = names(line, '%');
            writeln!(out, "parameters {}", parameters.join(" "))?;
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
            let known = Known::of(&body, parameters, &functions);
            write_blocks(&body, &known, out)?;
        }
    }
    Ok(())
}

/// Names that mean something in a function.
struct Known<'a> {
    /// Parameters, and what instructions define; types have names of the same form.
    values: BTreeSet<String>,
    functions: &'a BTreeSet<String>,
}

impl<'a> Known<'a> {
    fn of(body: &[&str], parameters: Vec<String>, functions: &'a BTreeSet<String>) -> Self {
        let mut values = BTreeSet::from_iter(parameters);
        let defined = body.iter().filter_map(|line| line.split_once(" = "));
        values.extend(defined.filter_map(|(left, _)| names(left, '%').into_iter().next()));
        Self { values, functions }
    }
}

fn is_header(line: &str) -> bool {
    line.starts_with("define ") || line.starts_with("declare ")
}

/// Names after a sign, `%` for values and labels and `@` for functions, in order. Quotes go, and
/// characters that the format separates words by are replaced.
fn names(line: &str, sign: char) -> Vec<String> {
    let mut found = Vec::new();
    for part in line.split(sign).skip(1) {
        let name: String = match part.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default().to_owned(),
            None => {
                let is_part = |one: &char| one.is_alphanumeric() || "._$-".contains(*one);
                part.chars().take_while(is_part).collect()
            }
        };
        if !name.is_empty() {
            found.push(name.replace([' ', '#'], "_"));
        }
    }
    found
}

/// The label of a line that begins a block.
fn label(line: &str) -> Option<String> {
    let line = line.split(';').next().unwrap_or_default().trim_end();
    let name = line.strip_suffix(':').filter(|_| !line.starts_with(' '))?;
    names(&format!("%{name}"), '%').into_iter().next()
}

/// Labels that a terminator may go to.
fn targets(instruction: &str) -> Vec<String> {
    instruction
        .split("label %")
        .skip(1)
        .filter_map(|rest| names(&format!("%{rest}"), '%').into_iter().next())
        .collect()
}

fn write_blocks(body: &[&str], known: &Known<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut blocks: Vec<(String, Vec<String>)> = vec![("entry-block".to_owned(), Vec::new())];
    let mut is_open = false;
    for line in body {
        if let Some(name) = label(line) {
            blocks.push((name, Vec::new()));
            continue;
        }
        let Some((_, instructions)) = blocks.last_mut() else {
            continue;
        };
        // A `switch` and the clauses of an `invoke` go on over several lines.
        let text = line.split(" !").next().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        let goes_on = is_open || text.starts_with("to label") || text.starts_with("catch");
        match instructions.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(&format!(" {text}")),
            None => instructions.push(text.to_owned()),
        }
        is_open = (is_open || text.ends_with('[')) && !text.ends_with(']');
    }
    if blocks[0].1.is_empty() {
        blocks.remove(0);
    }
    for (name, instructions) in &blocks {
        let ends: Vec<String> = instructions.last().map_or(Vec::new(), |one| targets(one));
        match ends.is_empty() {
            true => writeln!(out, "block {name}")?,
            false => writeln!(out, "block {name} -> {}", ends.join(" "))?,
        }
        for instruction in instructions {
            write_instruction(instruction, known, out)?;
        }
    }
    Ok(())
}

fn write_instruction(instruction: &str, known: &Known<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (defined, rest) = match instruction.split_once(" = ") {
        Some((left, rest)) if left.starts_with('%') => (Some(left), rest),
        _ => (None, instruction),
    };
    let labels: BTreeSet<String> = targets(rest).into_iter().collect();
    let used = names(rest, '%')
        .into_iter()
        .filter(|name| known.values.contains(name) && !labels.contains(name));
    let used: Vec<String> = used.collect();
    if !used.is_empty() {
        writeln!(out, " use {}", used.join(" "))?;
    }
    if rest.contains("call ") || rest.starts_with("invoke ") {
        let called = names(rest, '@').into_iter().next();
        if let Some(name) = called.filter(|name| known.functions.contains(name)) {
            writeln!(out, " call {name}")?;
        }
    }
    if let Some(name) = defined.and_then(|left| names(left, '%').into_iter().next()) {
        writeln!(out, " def {name}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_becomes_blocks() {
        let text = "declare void @step(i32)\n\
            define i32 @main(i32 %n) {\n\
            start:\n  br label %head\n\n\
            head:                 ; preds = %head, %start\n  %i = phi i32 [ 0, %start ], [ %j, %head ]\n  \
            call void @step(i32 %i)\n  %j = add i32 %i, 1\n  %c = icmp slt i32 %j, %n\n  \
            br i1 %c, label %head, label %done\n\
            done:\n  ret i32 %j\n}\n";
        let mut out = Vec::new();
        convert(text, &mut out).unwrap();
        let flow = String::from_utf8(out).unwrap();
        assert!(flow.contains("function step imported\nfunction main exported\nparameters n\n"));
        assert!(flow.contains("block head -> head done\n"), "{flow}");
        assert!(flow.contains(" use i\n call step\n"), "{flow}");
        let mut program = seawall_modules::model::Program::default();
        seawall_modules::read(&mut program, "main.flow", flow.into_bytes()).unwrap();
        assert_eq!(program.functions[1].body.successors, [1, 1, 2]);
    }
}
