//! Pictures of `seawall analyze`: calls around findings, and the blocks of a function with facts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::CliError;
use crate::files::{Outputs, named, picture};
use seawall::graph::did_you_mean;
use seawall::graph::file::write_whole;
use seawall::units::counted;
use seawall_modules::ModuleError;
use seawall_modules::around::{Around, Bounds, Way};
use seawall_modules::blocks::{BlockFacts, OF_BLOCKS, block_facts};
use seawall_modules::calls::Calls;
use seawall_modules::finding::{Finding, FindingKind};
use seawall_modules::flow::On;
use seawall_modules::model::{Function, Program};
use seawall_modules::names::Names;
use seawall_modules::report::{AnalysisName, Answer};
use seawall_report::canvas::PictureFormat;
use seawall_report::date::today;
use seawall_report::diagram::{self, Arrow, ArrowKind, BoxKind, Diagram, Sample, TextBox, refusal};

/// The part of the call graph around a finding.
const BOUNDS: Bounds = Bounds {
    hops: 2,
    fan: 16,
    nodes: 60,
};

/// Letters of a line in a box of facts, and lines of a list.
const LETTERS: usize = 34;
const LINES: usize = 3;

/// Facts of a list that the text on hover has.
const HINTED: usize = 64;

#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub(super) struct PictureArgs {
    /// Draw the calls around each finding shown, as FILE-KIND-N: .svg or .png.
    ///
    /// It has the way of the finding, and callers and callees of its function up to two calls away,
    /// at most 60. calls.svg becomes calls-taint-1.svg and so on, for the findings that --limit
    /// leaves.
    #[arg(long, value_name = "FILE")]
    draw_calls: Option<PathBuf>,
    /// Draw the blocks of --function with their facts: .svg or .png.
    ///
    /// Facts are those of the first analysis that has some of blocks: liveness, initialised,
    /// reaching, available, very-busy or loops. A function has at most 512 blocks and 1024 edges.
    #[arg(long, value_name = "FILE", requires = "function", value_parser = PathBufValueParser::new().map(named))]
    draw_blocks: Option<PathBuf>,
    /// Function to draw: its name, MODULE.FIELD, or its number in the file.
    #[arg(
        long,
        value_name = "NAME",
        requires = "draw_blocks",
        hide_short_help = true
    )]
    function: Option<String>,
}

pub(super) struct Blocks<'a> {
    path: &'a Path,
    format: PictureFormat,
    function: usize,
    analysis: AnalysisName,
}

impl PictureArgs {
    /// Adds the files to the outputs, `pictures` for those of calls once they are known; refuses
    /// names that no picture may have.
    pub(super) fn add_to(
        &self,
        outputs: &mut Outputs,
        pictures: Option<&[PathBuf]>,
    ) -> Result<(), CliError> {
        if let Some(path) = &self.draw_calls {
            calls_format(path)?;
            for path in pictures.unwrap_or(std::slice::from_ref(path)) {
                outputs.add("--draw-calls", path)?;
            }
        }
        if let Some(path) = &self.draw_blocks {
            picture("--draw-blocks", path)?;
            outputs.add("--draw-blocks", path)?;
        }
        Ok(())
    }

    /// The function whose blocks are to be drawn, and the analysis; refuses what cannot be drawn.
    pub(super) fn blocks(
        &self,
        program: &Program,
        analyses: &[AnalysisName],
    ) -> Result<Option<Blocks<'_>>, CliError> {
        let (Some(path), Some(name)) = (&self.draw_blocks, &self.function) else {
            return Ok(None);
        };
        let mut analyses_of_blocks = analyses.iter().filter(|name| OF_BLOCKS.contains(name));
        let Some(analysis) = analyses_of_blocks.next().copied() else {
            let names = |list: &[AnalysisName]| list.iter().map(|name| name.name()).collect();
            let given: Vec<&str> = names(analyses);
            return Err(CliError::NoBlockFacts {
                given: given.join(", "),
                known: names(&OF_BLOCKS),
            });
        };
        let function = function_named(program, name)?;
        let Function { body, import, .. } = &program.functions[function];
        let reason = match import {
            Some(_) => Some("it is imported and has no blocks".to_owned()),
            None => refusal(body.blocks.len(), body.successors.len()),
        };
        if let Some(reason) = reason {
            return Err(CliError::BlocksNotDrawn {
                function: program.functions[function].label(),
                reason,
            });
        }
        Ok(Some(Blocks {
            path,
            format: picture("--draw-blocks", path)?,
            function,
            analysis,
        }))
    }

    /// Whether calls around findings are drawn.
    pub(super) fn draws_calls(&self) -> bool {
        self.draw_calls.is_some()
    }

    /// The picture of a finding: the number counts those of a kind from 1.
    pub(super) fn of_finding(&self, kind: FindingKind, number: usize) -> Option<PathBuf> {
        let path = self.draw_calls.as_ref()?;
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!("-{kind}-{number}."));
        name.push(path.extension().unwrap_or_default());
        Some(path.with_file_name(name))
    }

    /// The file of blocks.
    pub(super) fn written(&self) -> Option<&Path> {
        self.draw_blocks.as_deref()
    }
}

/// The format of pictures of calls, which are files of their own names.
fn calls_format(path: &Path) -> Result<PictureFormat, CliError> {
    PictureFormat::of(path).ok_or_else(|| CliError::UnknownPicture {
        option: "--draw-calls",
        path: path.display().to_string(),
    })
}

/// The only function of a name or number.
fn function_named(program: &Program, name: &str) -> Result<usize, ModuleError> {
    let mut found = Names::of(program).named(name).to_vec();
    if found.is_empty() {
        let number: Option<u32> = name.strip_prefix("function ").unwrap_or(name).parse().ok();
        let numbered = (0..).zip(&program.functions);
        let numbered = numbered.filter(|(_, function)| Some(function.index) == number);
        found = numbered.map(|(number, _)| number).collect();
    }
    let problem = match found.as_slice() {
        [only] => return Ok(*only as usize),
        [] => {
            let names = program.functions.iter().flat_map(|it| &it.name);
            let meant = did_you_mean(name, names.map(String::as_str));
            format!("no file has a function of this name or number{meant}")
        }
        many => format!(
            "{} functions have this name or number; give one file, or another name",
            many.len()
        ),
    };
    Err(ModuleError::NoSuchName {
        role: "function",
        name: name.to_owned(),
        problem,
    })
}

/// Findings that the report shows, with their numbers among those of a kind.
pub(super) fn shown(answer: &Answer, limit: usize) -> impl Iterator<Item = (usize, &Finding)> {
    FindingKind::ALL.into_iter().flat_map(move |kind| {
        let of_kind = answer.findings.iter().filter(move |it| it.kind == kind);
        (1..).zip(of_kind.take(limit))
    })
}

/// A line below a title: file without folders, date and version.
fn source(path: &str) -> String {
    let file = Path::new(path).file_name();
    let file = file.map_or(path.into(), |name| name.to_string_lossy());
    format!("{file}, {}, seawall {}", today(), env!("CARGO_PKG_VERSION"))
}

pub(super) fn draw_calls(
    path: &Path,
    program: &Program,
    calls: &Calls,
    finding: &Finding,
) -> Result<(), CliError> {
    let Some(way) = Way::of(program, calls, finding) else {
        return Ok(());
    };
    let format = calls_format(path)?;
    let part = Around::of(calls, &way, BOUNDS);
    let diagram = CallPicture {
        program,
        calls,
        way: &way,
        part: &part,
    }
    .diagram(finding);
    write_whole(path, |out| diagram::write(&diagram, format, out))?;
    Ok(())
}

/// A part of a call graph as a diagram.
struct CallPicture<'a> {
    program: &'a Program,
    calls: &'a Calls,
    way: &'a Way,
    part: &'a Around,
}

impl CallPicture<'_> {
    fn diagram(&self, finding: &Finding) -> Diagram {
        let nodes = &self.part.nodes;
        let places: HashMap<u32, usize> = nodes.iter().copied().zip(0..).collect();
        let arrow = |kind: ArrowKind, (from, to): &(u32, u32)| {
            let (from, to) = (*places.get(from)?, *places.get(to)?);
            Some(Arrow { from, to, kind })
        };
        let calls = self.part.calls.iter().map(|call| {
            let is_on_way = self.way.calls.contains(call);
            let kind = if is_on_way {
                ArrowKind::Way
            } else {
                ArrowKind::Plain
            };
            (kind, call)
        });
        let gaps = self.way.gaps.iter().map(|gap| (ArrowKind::Gap, gap));
        let arrows = calls
            .chain(gaps)
            .filter_map(|(kind, call)| arrow(kind, call));
        let shown = match nodes.len() < self.part.all {
            true => format!("the nearest {} of {}", nodes.len(), self.part.all),
            false => format!("all {}", self.part.all),
        };
        let way = match self.way.steps.is_empty() {
            true => "",
            false => "on the way or ",
        };
        Diagram {
            title: format!("Calls around {}", finding.place.function),
            notes: vec![
                format!("{}: {}", finding.kind, finding.message),
                format!(
                    "{shown} {way}within {} calls; more than {} callers or callees are not followed",
                    BOUNDS.hops, BOUNDS.fan
                ),
                source(&finding.place.file),
            ],
            boxes: nodes.iter().map(|node| self.node(*node)).collect(),
            arrows: arrows.collect(),
            legend: vec![
                (Sample::Box(BoxKind::Subject), "the finding's function"),
                (Sample::Box(BoxKind::Plain), "function"),
                (Sample::Box(BoxKind::Export), "export"),
                (Sample::Box(BoxKind::Import), "import"),
                (
                    Sample::Box(BoxKind::Dispatch),
                    "calls through a table or by reference",
                ),
                (Sample::OnWay, "on the way"),
                (Sample::Arrow(ArrowKind::Plain), "calls"),
                (Sample::Arrow(ArrowKind::Way), "calls on the way"),
                (Sample::Arrow(ArrowKind::Gap), "on the way without a call"),
            ],
        }
    }

    fn node(&self, node: u32) -> TextBox {
        let label = self.calls.label(self.program, node);
        let (kind, role) = self.role(node);
        let mut words = Vec::new();
        if matches!(kind, BoxKind::Import | BoxKind::Export) {
            words.push(role.to_owned());
        }
        words.extend(self.steps(node));
        let rows = [
            (&self.calls.callers, "caller"),
            (&self.calls.callees, "callee"),
        ];
        let hint = match self.program.functions.get(node as usize) {
            Some(function) => format!("{label}: {role} {}", function.index),
            None => label.clone(),
        };
        let hint = rows.iter().fold(hint, |hint, (rows, what)| {
            let count = rows.row(node as usize).len();
            format!("{hint}, {}", counted(count as u64, what))
        });
        let left = rows.iter().filter_map(|(rows, what)| {
            let row = rows.row(node as usize).iter();
            let left = row.filter(|other| !self.part.nodes.contains(other));
            let left = left.count() as u64;
            (left > 0).then(|| format!("+{}", counted(left, what)))
        });
        let left: Vec<String> = left.collect();
        let lines = [label, words.join(", "), left.join(", ")];
        let lines = lines.into_iter().enumerate();
        let lines = lines.filter(|(at, line)| *at == 0 || !line.is_empty());
        TextBox {
            kind: if node == self.way.function {
                BoxKind::Subject
            } else {
                kind
            },
            is_on_way: !self.way.steps.is_empty() && self.way.nodes().contains(&node),
            lines: lines.map(|(_, line)| line).collect(),
            hint,
        }
    }

    /// The kind of a node's box, and a word for it.
    fn role(&self, node: u32) -> (BoxKind, &'static str) {
        match self.program.functions.get(node as usize) {
            None => (BoxKind::Dispatch, "dispatch"),
            Some(function) if function.import.is_some() => (BoxKind::Import, "import"),
            Some(function) if !function.exports.is_empty() => (BoxKind::Export, "export"),
            Some(_) => (BoxKind::Plain, "function"),
        }
    }

    fn steps(&self, node: u32) -> Option<String> {
        let numbered = (1_usize..).zip(&self.way.steps);
        let here = numbered.filter(|(_, step)| **step == node);
        let numbers: Vec<String> = here.map(|(number, _)| number.to_string()).collect();
        match numbers.as_slice() {
            [] => None,
            [one] => Some(format!("step {one}")),
            many => Some(format!("steps {}", many.join(", "))),
        }
    }
}

impl Blocks<'_> {
    pub(super) fn draw(&self, program: &Program, on: On) -> Result<(), CliError> {
        let facts = block_facts(program, self.function, self.analysis, on)?;
        let diagram = self.diagram(program, &facts.unwrap_or_default());
        write_whole(self.path, |out| diagram::write(&diagram, self.format, out))?;
        Ok(())
    }

    fn diagram(&self, program: &Program, facts: &BlockFacts) -> Diagram {
        let function = &program.functions[self.function];
        let body = &function.body;
        let module = &program.modules[function.module as usize];
        let count = body.blocks.len();
        let edges = (0..count).flat_map(|from| {
            let row = body.successors_of(from).iter();
            row.map(move |to| (from, *to as usize))
        });
        let arrows = edges.map(|(from, to)| Arrow {
            from,
            to,
            kind: if to <= from {
                ArrowKind::Back
            } else {
                ArrowKind::Plain
            },
        });
        let is_text = module.image.0.is_empty();
        let size = [
            counted(count as u64, "block"),
            counted(body.successors.len() as u64, "edge"),
            counted(facts.facts.len() as u64, "fact"),
        ];
        Diagram {
            title: format!("Blocks of {}", function.label()),
            notes: vec![
                format!("{}: {}", self.analysis.name(), meaning(self.analysis)),
                format!("{}: {}", source(&module.path), size.join(", ")),
            ],
            boxes: (0..count)
                .map(|block| block_box(function, block, facts, is_text))
                .collect(),
            arrows: arrows.collect(),
            legend: vec![
                (Sample::Box(BoxKind::Subject), "entry"),
                (Sample::Box(BoxKind::Plain), "block"),
                (Sample::Box(BoxKind::Exit), "end of the function"),
                (Sample::Arrow(ArrowKind::Plain), "next"),
                (Sample::Arrow(ArrowKind::Back), "back to an earlier block"),
            ],
        }
    }
}

const fn meaning(analysis: AnalysisName) -> &'static str {
    match analysis {
        AnalysisName::Liveness => "values that some way on uses, at start and end of each block",
        AnalysisName::Initialised => {
            "locals that every way has written, at start and end of each block"
        }
        AnalysisName::Reaching => "definitions that reach start and end of each block",
        AnalysisName::Available => {
            "values that every way has computed, at start and end of each block"
        }
        AnalysisName::VeryBusy => {
            "values that every way on computes, at start and end of each block"
        }
        AnalysisName::Loops => {
            "blocks that every way from the entry passes, and the first block of the innermost loop"
        }
        AnalysisName::Calls | AnalysisName::PointsTo | AnalysisName::Taint => "no facts of blocks",
    }
}

fn block_box(function: &Function, block: usize, facts: &BlockFacts, is_text: bool) -> TextBox {
    let body = &function.body;
    let offset = body.blocks[block].offset;
    let at = match is_text {
        true => format!("line {offset}"),
        false => format!("{offset:#x}"),
    };
    let operations = counted(body.ops_of(block).len() as u64, "operation");
    let mut lines = vec![format!("block {block}"), format!("{at}, {operations}")];
    let mut hint = format!("block {block}, {at}");
    if let Some(lists) = facts.blocks.get(block) {
        for (name, list) in facts.lists.iter().zip(lists) {
            let names: Vec<&str> = list
                .iter()
                .map(|fact| facts.facts[*fact as usize].as_str())
                .collect();
            lines.extend(listed(name, &names));
            hint.push_str(&format!("; {name}: {}", in_full(&names)));
        }
    }
    let kind = match block {
        0 => BoxKind::Subject,
        _ if body.is_exit(block) => BoxKind::Exit,
        _ => BoxKind::Plain,
    };
    TextBox {
        kind,
        is_on_way: false,
        lines,
        hint,
    }
}

/// A list in full, up to a limit.
fn in_full(facts: &[&str]) -> String {
    match facts.get(..HINTED) {
        _ if facts.is_empty() => "nothing".to_owned(),
        Some(first) if facts.len() > HINTED => {
            format!("{} and {} more", first.join(", "), facts.len() - HINTED)
        }
        _ => facts.join(", "),
    }
}

/// A list in a few lines: of names that differ in their last words alone, the first is whole.
fn listed(name: &str, facts: &[&str]) -> Vec<String> {
    if facts.is_empty() {
        return vec![format!("{name}: nothing")];
    }
    let mut lines = vec![format!("{name}:")];
    let mut known = "";
    for (at, fact) in facts.iter().enumerate() {
        let (front, end) = fact.rsplit_once(' ').unwrap_or(("", fact));
        let word = if !front.is_empty() && front == known {
            end
        } else {
            fact
        };
        known = front;
        let comma = if at + 1 < facts.len() { "," } else { "" };
        let count = lines.len();
        let Some(last) = lines.last_mut() else {
            break;
        };
        let letters = last.chars().count() + word.chars().count() + 2;
        if letters <= LETTERS {
            last.push_str(&format!(" {word}{comma}"));
        } else if count < LINES {
            lines.push(format!("{word}{comma}"));
        } else {
            lines.push(format!("and {} more", facts.len() - at));
            break;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_short_and_count_what_they_leave_out() {
        assert_eq!(listed("in", &[]), ["in: nothing"]);
        let few = ["local 0", "local 3", "global 1", "memory"];
        assert_eq!(listed("in", &few), ["in: local 0, 3, global 1, memory"]);
        let many: Vec<String> = (100..200).map(|local| format!("local {local}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let lines = listed("out", &many);
        assert_eq!(lines.len(), LINES + 1);
        let shown = lines[..LINES].join(" ").matches("1").count();
        assert!(
            lines[..LINES]
                .iter()
                .all(|line| line.chars().count() <= LETTERS)
        );
        let numbers = lines[..LINES].join(" ");
        let numbers = numbers
            .split_whitespace()
            .filter(|word| word.starts_with('1'));
        assert_eq!(lines[LINES], format!("and {} more", 100 - numbers.count()));
        assert!(shown > 0);
    }
}
