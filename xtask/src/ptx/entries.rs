//! Launch bounds on kernel entries.
//!
//! rustc has no attribute for them, and without them the assembler must assume
//! blocks of 1024 lanes. They go between an entry's parameter list and its body,
//! as the PTX manual's performance-tuning directives ask.

use crate::error::{Error, refuse_any};
use crate::ptx::targets::Bounds;

const ENTRY: &str = ".visible .entry ";

/// `ptx` with `bounds` added.
///
/// # Errors
///
/// A bound that names no kernel of the text, since a renamed kernel would
/// silently lose its bounds.
pub(crate) fn with_bounds(ptx: &str, bounds: &[Bounds]) -> Result<String, Error> {
    let known = kernels(ptx);
    let lost = bounds.iter().filter(|bound| !known.contains(&bound.kernel));
    let findings: Vec<String> = lost.map(|bound| bound.kernel.to_owned()).collect();
    refuse_any(
        "launch bounds for kernels that the PTX does not hold",
        findings,
        "edit the table in xtask/src/ptx/targets.rs",
    )?;
    Ok(insert(ptx, bounds))
}

pub(crate) fn kernels(ptx: &str) -> Vec<&str> {
    ptx.lines().filter_map(kernel_of).collect()
}

fn kernel_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(ENTRY)?;
    rest.split(['(', ' ', '\t']).next()
}

fn insert(ptx: &str, bounds: &[Bounds]) -> String {
    let mut text = String::with_capacity(ptx.len());
    let mut pending: Option<&Bounds> = None;
    for line in ptx.lines() {
        if let Some(name) = kernel_of(line) {
            pending = bounds.iter().find(|bound| bound.kernel == name);
        }
        let bound = pending.take_if(|_| line.starts_with('{'));
        text.extend(bound.map(directives));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn directives(bound: &Bounds) -> String {
    format!(
        ".maxntid {}, 1, 1\n.minnctapersm {}\n",
        bound.lanes, bound.blocks
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".visible .entry walk(\n\t.param .u64 walk_param_0\n)\n{\n\tret;\n}\n.visible .entry idle()\n{\n\tret;\n}\n";

    fn bound(kernel: &'static str) -> Bounds {
        Bounds {
            kernel,
            lanes: 256,
            blocks: 2,
        }
    }

    #[test]
    fn directives_stand_between_parameters_and_body() {
        let text = with_bounds(PTX, &[bound("walk")]).unwrap();
        assert!(
            text.contains(")\n.maxntid 256, 1, 1\n.minnctapersm 2\n{"),
            "{text}"
        );
        assert_eq!(text.matches(".maxntid").count(), 1);
    }

    #[test]
    fn a_bound_without_its_kernel_is_an_error() {
        let error = with_bounds(PTX, &[bound("renamed")]).err();
        assert!(error.is_some_and(|error| error.to_string().contains("renamed")));
    }
}
