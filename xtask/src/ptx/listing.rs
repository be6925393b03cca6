//! PTX text as a list of functions with their bodies.
//!
//! A reader that counts instructions and finds declarations; it is no assembler, relies on LLVM's
//! layout (a header begins a line, a body is braced) and checks nothing that `ptxas` would.

/// An entry or a function with a body.
#[derive(Debug)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    /// Whether the host can launch it.
    pub(crate) is_entry: bool,
    /// Number of the body's first line in the text, from 1 on.
    pub(crate) first_line: usize,
    /// Lines between the braces, comments removed, trimmed.
    pub(crate) body: Vec<&'a str>,
}

/// Every function of `ptx` that has a body, in order.
pub(crate) fn functions(ptx: &str) -> Vec<Function<'_>> {
    let mut lines = ptx.lines().map(without_comment).zip(1..);
    let mut found = Vec::new();
    while let Some((line, number)) = lines.next() {
        let Some((is_entry, name)) = header(line) else {
            continue;
        };
        if let Some(brace) = opens_body((line, number), &mut lines) {
            let body = read_body(lines.by_ref().map(|(line, _)| line));
            found.push(Function {
                name,
                is_entry,
                first_line: brace + 1,
                body,
            });
        }
    }
    found
}

impl<'a> Function<'a> {
    /// The body's instructions, one item each, without labels and declarations.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = &'a str> {
        let statements = self.body.iter().flat_map(|line| {
            let end = line.rfind(';').unwrap_or(0);
            line.get(..end).unwrap_or_default().split(';')
        });
        statements
            .map(|text| text.trim_start_matches(['{', '}', ' ', '\t']).trim_end())
            .filter(|text| !text.is_empty() && !text.starts_with('.'))
    }
}

fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim_end()
}

/// Whether the line begins an entry, and the name, for `.visible .entry name(`,
/// `.func name(` and `.func (.param .b32 result) name(`.
fn header(line: &str) -> Option<(bool, &str)> {
    if line.starts_with(".extern") || !line.starts_with('.') {
        return None;
    }
    if let Some((_, rest)) = line.split_once(".entry ") {
        return name_at(rest).map(|name| (true, name));
    }
    let rest = line.split_once(".func")?.1.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1,
        None => rest,
    };
    name_at(rest).map(|name| (false, name))
}

fn name_at(text: &str) -> Option<&str> {
    let name = text.trim_start().split(['(', ' ', '\t', ';']).next();
    name.filter(|name| !name.is_empty())
}

/// Skips the rest of a header, and returns the number of the line that opens the body. A
/// forward declaration ends in `;` and has no body.
fn opens_body<'a>(
    header: (&'a str, usize),
    lines: &mut impl Iterator<Item = (&'a str, usize)>,
) -> Option<usize> {
    let (mut line, mut number) = header;
    loop {
        if line.ends_with(';') {
            return None;
        }
        if line.ends_with('{') {
            return Some(number);
        }
        (line, number) = lines.next()?;
    }
}

fn read_body<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut depth = 1_usize;
    let mut body = Vec::new();
    for line in lines {
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count());
        if depth == 0 {
            break;
        }
        body.push(line.trim());
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = "\
.version 7.0
.func (.param .b32 r) cold
(
\t.param .b32 a
)
;
.visible .entry walk(
\t.param .u64 walk_param_0
)
.maxntid 256, 1, 1
{
\t.reg .pred \t%p<3>;
\tmov.u32 \t%r1, %tid.x; // lane
$L__BB0_1:
\t{ .reg .u64 t; mov.u64 t, shared; cvta.shared.u64 %rd3, t; }
\t@%p1 bra \t$L__BB0_1;
\ttrap; exit;
}
.func (.param .b32 r) cold(
\t.param .b32 a
)
{
\tmov.b64 \t{%r1, %r2}, %rd1;
\tret;
}
";

    #[test]
    fn each_body_is_found_once() {
        let found = functions(PTX);
        let heads: Vec<_> = found
            .iter()
            .map(|f| (f.name, f.is_entry, f.first_line))
            .collect();
        assert_eq!(heads, [("walk", true, 12), ("cold", false, 23)]);
    }

    #[test]
    fn instructions_leave_out_labels_and_declarations() {
        let counts: Vec<_> = functions(PTX)
            .iter()
            .map(|f| f.instructions().count())
            .collect();
        assert_eq!(counts, [6, 2]);
    }

    #[test]
    fn text_that_ends_early_ends_the_reading() {
        assert!(functions(".visible .entry walk(").is_empty());
        assert_eq!(functions(".visible .entry walk()\n{\n\tret;").len(), 1);
    }
}
