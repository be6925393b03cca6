//! Comparison of the example's run with the host's plan and the bounds from its code.
//!
//! The plan must be the same, line by line. The painted stack must lie below
//! the bound from the call graph and not far below it, or one of them is wrong.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use super::calls::CallGraph;
use super::emulate::{self, Output};
use super::firmware::Firmware;
use super::{MEASURED, sections::Sections};
use crate::error::{Error, refuse_any};

/// The measured steps, as the example names them.
const STEPS: [&str; 5] = ["layers", "groups", "arena", "policies", "execution"];

/// A step and the most stack that its code can take.
struct Bound {
    step: &'static str,
    bytes: u64,
}

/// The example's measurements of a step.
#[derive(Debug, PartialEq, Eq)]
struct Cost {
    stack: u64,
    instructions: u64,
}

/// The largest bound of any step.
pub(super) fn worst(graph: &CallGraph) -> Result<u64, Error> {
    let all = bounds(graph)?.into_iter().map(|bound| bound.bytes);
    Ok(all.max().unwrap_or(0))
}

fn bounds(graph: &CallGraph) -> Result<Vec<Bound>, Error> {
    let bound = |step: &'static str| {
        let part = format!("5steps{}{step}", step.len());
        let function = graph.function(&part).ok_or_else(|| {
            Error::output(
                "llvm-readobj --stack-sizes",
                format!("no function `{step}`"),
            )
        })?;
        let bytes = graph.bound(function)?;
        Ok(Bound { step, bytes })
    };
    STEPS.into_iter().map(bound).collect()
}

/// Runs the example and checks its output.
pub(super) fn run(firmware: &Firmware<'_>) -> Result<(), Error> {
    let image = firmware.example(MEASURED)?;
    let twin = firmware.twin()?;
    println!("{}", emulate::version()?);
    let output = emulate::run(&image)?;
    show_frames(&image, &output)?;
    let (measured, plan) = split(&output.text);
    same_plan(&plan, &twin)?;
    println!("the plan equals the host's: {} lines\n", plan.len());
    let sections = Sections::of(firmware, MEASURED, "plan")?;
    println!(
        "example with logging: {} bytes of flash, {} of RAM without stack",
        sections.flash(),
        sections.ram()
    );
    // From the same image, since inlining differs between images.
    let graph = CallGraph::read(firmware, MEASURED, "plan")?;
    print_costs(&measured, &bounds(&graph)?)
}

fn split(text: &str) -> (Vec<&str>, Vec<&str>) {
    text.lines().partition(|line| line.starts_with("measured "))
}

fn same_plan(plan: &[&str], twin: &str) -> Result<(), Error> {
    let twin: Vec<&str> = twin.lines().collect();
    if plan == twin {
        return Ok(());
    }
    let same = plan.iter().zip(&twin).take_while(|(a, b)| a == b).count();
    let line = |lines: &[&str]| lines.get(same).copied().unwrap_or("nothing").to_owned();
    Err(Error::Refused {
        what: "the microcontroller's plan is not the host's",
        findings: vec![
            format!("line {}", same + 1),
            format!("microcontroller: {}", line(plan)),
            format!("host: {}", line(&twin)),
        ],
        remedy: "look for `usize` or alignment in what decides the plan",
    })
}

fn cost(measured: &[&str], step: &str) -> Option<Cost> {
    let line = measured
        .iter()
        .find_map(|line| line.strip_prefix("measured ")?.strip_prefix(step))?;
    let field = |name: &str| {
        let mut words = line.split_whitespace();
        words.find_map(|word| word.strip_prefix(name)?.parse().ok())
    };
    Some(Cost {
        stack: field("stack=")?,
        instructions: field("instructions=")?,
    })
}

fn print_costs(measured: &[&str], bounds: &[Bound]) -> Result<(), Error> {
    println!(
        "{:<10} {:>14} {:>14} {:>14}",
        "step", "stack painted", "stack bound", "instructions"
    );
    let mut findings = Vec::new();
    for Bound { step, bytes } in bounds {
        let Some(cost) = cost(measured, step) else {
            findings.push(format!("{step}: not measured"));
            continue;
        };
        println!(
            "{step:<10} {:>14} {bytes:>14} {:>14}",
            cost.stack, cost.instructions
        );
        if cost.stack > *bytes || cost.stack < bytes / 2 {
            findings.push(format!(
                "{step}: painting found {}, the code says {bytes}",
                cost.stack
            ));
        }
    }
    refuse_any(
        "painting and call graph disagree on the stack",
        findings,
        "a bound below what is used means a call that the disassembly does not show",
    )
}

/// Decodes the log when the decoder is installed.
fn show_frames(image: &Path, output: &Output) -> Result<(), Error> {
    let Ok(mut decoder) = Command::new("defmt-print")
        .arg("-e")
        .arg(image)
        .stdin(Stdio::piped())
        .spawn()
    else {
        println!(
            "{} bytes of defmt log, not decoded: cargo install defmt-print",
            output.frames.len()
        );
        return Ok(());
    };
    let failed = |source| Error::Start {
        program: "defmt-print".to_owned(),
        source,
    };
    if let Some(mut input) = decoder.stdin.take() {
        input.write_all(&output.frames).map_err(failed)?;
    }
    let status = decoder.wait().map_err(failed)?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed {
        program: "defmt-print".to_owned(),
        status: status.to_string(),
        output: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_measured_once_and_judged_against_its_bound() {
        let text = "layer 0: 1\nmeasured layers stack=360 instructions=13369\n";
        let (measured, plan) = split(text);
        assert_eq!(plan, ["layer 0: 1"]);
        let expected = Cost {
            stack: 360,
            instructions: 13_369,
        };
        assert_eq!(cost(&measured, "layers"), Some(expected));
        let verdict = |bytes| {
            let step = "layers";
            print_costs(&measured, &[Bound { step, bytes }]).is_ok()
        };
        assert!(verdict(360) && verdict(720));
        assert!(!verdict(359) && !verdict(722));
        let missing = Bound {
            step: "groups",
            bytes: 1,
        };
        assert!(print_costs(&measured, &[missing]).is_err());
    }

    #[test]
    fn plans_differ_at_their_first_other_line() {
        assert!(same_plan(&["a", "b"], "a\nb\n").is_ok());
        let text = same_plan(&["a", "b"], "a\nc\n").unwrap_err().to_string();
        assert!(
            text.contains("line 2") && text.contains("host: c"),
            "{text}"
        );
        assert!(same_plan(&["a"], "a\nb\n").is_err());
    }
}
