//! What generated code must not hold.
//!
//! A name that the module does not define fails on the user's machine, when the
//! driver links it; a panic function drags formatting into a kernel; a function
//! that was not inlined costs a call and a stack frame. The first two are errors
//! here, the last is reported, since a cold function may stand alone on purpose.

/// Findings in one PTX text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Audit {
    /// Rules that are broken.
    pub(crate) errors: Vec<String>,
    /// Functions that were not inlined, and calls through pointers.
    pub(crate) warnings: Vec<String>,
}

/// A `.func` of the module.
struct Function<'a> {
    name: &'a str,
    instructions: usize,
    traps_only: bool,
}

impl Audit {
    /// Reads `ptx` once for declarations and once for bodies.
    pub(crate) fn of(ptx: &str) -> Self {
        let mut audit = Self::default();
        for line in ptx.lines().map(str::trim_start) {
            audit.declaration(line);
        }
        for function in functions(ptx) {
            audit.function(&function);
        }
        audit
    }

    fn declaration(&mut self, line: &str) {
        if line.starts_with(".extern .func") {
            self.errors.push(format!("undefined function: {line}"));
        } else if line.starts_with(".extern .global") || line.starts_with(".extern .const") {
            self.errors.push(format!("undefined variable: {line}"));
        } else if line.contains(".callprototype") {
            self.warnings.push("call through a pointer".to_owned());
        }
    }

    fn function(&mut self, function: &Function<'_>) {
        let Function {
            name, instructions, ..
        } = function;
        if name.contains("panic") && !function.traps_only {
            self.errors
                .push(format!("panic function that does more than trap: {name}"));
        } else {
            self.warnings
                .push(format!("not inlined: {name} ({instructions} instructions)"));
        }
    }
}

fn functions(ptx: &str) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    let mut lines = ptx.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = defined_function(line) {
            let body = lines
                .by_ref()
                .skip_while(|line| *line != "{" && !line.ends_with(';'));
            found.extend(read_body(name, body));
        }
    }
    found
}

/// The name in `.func name(`, `.func (.param .b32 result) name(` or their like.
fn defined_function(line: &str) -> Option<&str> {
    if line.starts_with(".extern") {
        return None;
    }
    let (_, rest) = line.split_once(".func")?;
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(result) => result.split_once(')')?.1.trim_start(),
        None => rest,
    };
    rest.split(['(', ' ', '\t', ';'])
        .next()
        .filter(|name| !name.is_empty())
}

/// `None` for a forward declaration, which ends in `;` before any body.
fn read_body<'a>(name: &'a str, mut body: impl Iterator<Item = &'a str>) -> Option<Function<'a>> {
    if body.next()? != "{" {
        return None;
    }
    let code = body.take_while(|line| *line != "}").map(str::trim);
    let code: Vec<&str> = code.filter(|line| is_instruction(line)).collect();
    Some(Function {
        name,
        instructions: code.len(),
        traps_only: code.iter().all(|line| is_trap(line)),
    })
}

/// Whether a trimmed line of a body is an instruction.
pub(crate) fn is_instruction(line: &str) -> bool {
    line.ends_with(';') && !line.starts_with(['.', '/', '{', '}']) && !line.starts_with("$L")
}

fn is_trap(line: &str) -> bool {
    ["trap;", "exit;", "trap; exit;", "bra.uni"]
        .iter()
        .any(|way| line.starts_with(way))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_kernel_has_no_findings() {
        let ptx = ".visible .entry walk()\n{\n\ttrap; exit;\n}\n";
        assert_eq!(Audit::of(ptx), Audit::default());
    }

    #[test]
    fn undefined_names_are_errors() {
        let audit = Audit::of(".extern .func  (.param .b32 r) vprintf\n(\n)\n;\n");
        assert_eq!(audit.errors.len(), 1, "{audit:?}");
    }

    #[test]
    fn a_panic_may_trap_and_nothing_else() {
        let body = |code: &str| format!(".func core_panicking_panic()\n{{\n\t{code}\n}}\n");
        assert!(Audit::of(&body("trap; exit;")).errors.is_empty());
        assert_eq!(Audit::of(&body("st.global.b32 [%rd1], 1;")).errors.len(), 1);
    }

    #[test]
    fn a_forward_declaration_is_not_counted_twice() {
        let ptx = ".func (.param .b32 r) cold\n(\n\t.param .b32 a\n)\n;\n\
                   .func (.param .b32 r) cold(\n\t.param .b32 a\n)\n{\n\tret;\n}\n";
        let audit = Audit::of(ptx);
        assert_eq!(audit.warnings, ["not inlined: cold (1 instructions)"]);
    }
}
