//! Rules for generated code.
//!
//! A name that neither the module nor the driver defines fails on the user's machine, when the
//! driver links it; a panic function drags formatting into a kernel; a function that was not
//! inlined costs a call and a stack frame; a branch between block barriers may hang (`barriers`).
//! A function that was not inlined is reported, since a cold one may be separate on purpose; the
//! others are errors.

use crate::ptx::barriers;
use crate::ptx::listing::{Function, functions};

/// The function that the driver itself links when it compiles the PTX.
const LINKED_BY_DRIVER: &str = "cudaGraphSetConditional";

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Audit {
    /// Rules that are broken.
    pub(crate) errors: Vec<String>,
    /// Functions that were not inlined, and calls through pointers.
    pub(crate) warnings: Vec<String>,
}

impl Audit {
    /// Reads `ptx` once for declarations and once for bodies.
    pub(crate) fn of(ptx: &str) -> Self {
        let mut audit = Self::default();
        for line in ptx.lines().map(str::trim_start) {
            audit.declaration(line);
        }
        let functions = functions(ptx);
        for function in functions.iter().filter(|function| !function.is_entry) {
            audit.function(function);
        }
        audit.errors.extend(barriers::errors(&functions));
        audit
    }

    fn declaration(&mut self, line: &str) {
        if line.starts_with(".extern .func") && !line.contains(LINKED_BY_DRIVER) {
            self.errors.push(format!("undefined function: {line}"));
        } else if line.starts_with(".extern .global") || line.starts_with(".extern .const") {
            self.errors.push(format!("undefined variable: {line}"));
        } else if line.contains(".callprototype") {
            self.warnings.push("call through a pointer".to_owned());
        }
    }

    fn function(&mut self, function: &Function<'_>) {
        let name = function.name;
        if name.contains("panic") && !traps_only(function) {
            self.errors
                .push(format!("panic function that does more than trap: {name}"));
        } else {
            let count = function.instructions().count();
            self.warnings
                .push(format!("not inlined: {name} ({count} instructions)"));
        }
    }
}

fn traps_only(function: &Function<'_>) -> bool {
    let only_trap = |text: &str| text == "trap" || text == "exit" || text.starts_with("bra.uni");
    function.instructions().all(only_trap)
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
    fn what_the_driver_links_may_be_undefined() {
        let audit = Audit::of(".extern .func cudaGraphSetConditional\n(\n)\n;\n");
        assert_eq!(audit.errors, [""; 0]);
    }

    #[test]
    fn a_panic_may_trap_and_nothing_else() {
        let body = |code: &str| format!(".func core_panicking_panic()\n{{\n\t{code}\n}}\n");
        assert!(Audit::of(&body("trap; exit;")).errors.is_empty());
        assert_eq!(Audit::of(&body("st.global.b32 [%rd1], 1;")).errors.len(), 1);
    }

    #[test]
    fn a_function_that_stands_alone_is_reported_with_its_size() {
        let audit = Audit::of(".func cold()\n{\n\tret;\n}\n");
        assert_eq!(audit.warnings, ["not inlined: cold (1 instructions)"]);
    }
}
