//! Taint as a question of reachability under a grammar.

use super::ends::{Argument, Ends};
use super::spec::Spec;
use crate::calls::Calls;
use crate::error::ModuleError;
use crate::flow::On;
use crate::grammar::GraphSize;
use crate::model::Program;
use crate::values::NONE;
use std::borrow::Cow;
use std::io::{self, Write};

/// The grammar: data goes up to callers, then down into callees, and over calls whose parentheses
/// match. `same` leads from an input of a function to all that depends on it there, which is how
/// summaries are tabulated.
pub const GRAMMAR: &str = "\
# Taint: a call is a word of two kinds of parentheses, and a return the same word closed.
leak   up    sink
leak   down  sink
up     source
up     up    step
up     up    call
up     up    close0
up     up    close1
down   up    open0
down   up    open1
down   down  open0
down   down  open1
down   down  step
down   down  call
call   open0 rest0
call   open1 rest1
rest0  same  close0
rest0  call  close0
rest1  same  close1
rest1  call  close1
same   input
same   same  step
same   same  call
";

/// The values of a program with sources and sinks, as a graph for [`GRAMMAR`].
///
/// Nodes are the sources and sinks that comments name, values that matter, and one more in each
/// place between the parentheses of a word. The word of a call tells it from the other calls of its
/// callee, so it has the logarithm of their number; an argument opens the word on its way in, and a
/// result closes it on its way out. As all words of a callee have one length, only those of one call
/// match. A dispatch calls its targets so, too.
pub struct TaintGraph<'a> {
    ends: Ends<'a>,
    sources: Vec<(Spec, Vec<u32>)>,
    sinks: Vec<Argument>,
}

/// A graph that is written edge by edge.
struct Writer<'w> {
    out: &'w mut dyn Write,
    /// Sources, sinks, values and nodes within words that edges had so far, and the edges.
    size: GraphSize,
    /// The values among them.
    seen: Vec<bool>,
    /// Number of the nodes within words so far.
    inner: u64,
}

/// The call of a callee, among `calls` of them.
#[derive(Clone, Copy, Default)]
struct Word {
    number: u32,
    calls: u32,
}

impl Word {
    /// Its bits, from the last one.
    fn bits(self) -> impl DoubleEndedIterator<Item = u32> {
        let last = self.calls.saturating_sub(1).max(1);
        let length = u32::BITS - last.leading_zeros();
        (0..length).map(move |bit| self.number >> bit & 1)
    }
}

impl Writer<'_> {
    fn edge(&mut self, from: &str, to: &str, label: &str) -> io::Result<()> {
        self.size.edges += 1;
        writeln!(self.out, "{from} {to} {label}")
    }

    /// The node of a value.
    fn value(&mut self, value: u32) -> String {
        let is_new = !std::mem::replace(&mut self.seen[value as usize], true);
        self.size.nodes += u64::from(is_new);
        format!("v{value}")
    }

    /// An argument on its way into a callee.
    fn open(&mut self, from: u32, to: u32, word: Word) -> io::Result<()> {
        self.word(from, to, "open", word.bits().rev())
    }

    /// A result on its way out of a callee.
    fn close(&mut self, from: u32, to: u32, word: Word) -> io::Result<()> {
        self.word(from, to, "close", word.bits())
    }

    /// A path from a value to another one, whose labels are `kind` with these bits.
    fn word(
        &mut self,
        from: u32,
        to: u32,
        kind: &str,
        bits: impl Iterator<Item = u32>,
    ) -> io::Result<()> {
        let mut bits = bits.peekable();
        let mut at = self.value(from);
        while let Some(bit) = bits.next() {
            let next = match bits.peek() {
                Some(_) => {
                    self.inner += 1;
                    self.size.nodes += 1;
                    format!("w{}", self.inner)
                }
                None => self.value(to),
            };
            self.edge(&at, &next, &format!("{kind}{bit}"))?;
            at = next;
        }
        Ok(())
    }
}

/// A text of one line.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

impl<'a> TaintGraph<'a> {
    /// The graph of a program.
    ///
    /// # Errors
    /// [`ModuleError::TooLarge`], [`ModuleError::NoSuchName`] for a name that the program lacks,
    /// and errors of the machine.
    pub fn of(
        program: &'a Program,
        calls: &'a Calls,
        [sources, sinks]: [&[Spec]; 2],
        on: On,
    ) -> Result<Self, ModuleError> {
        let ends = Ends::of(Cow::Borrowed(program), Cow::Borrowed(calls), on.limits)?;
        let seeds = sources.iter().map(|source| ends.seeds(source));
        let seeds: Vec<Vec<u32>> = seeds.collect::<Result<_, _>>()?;
        Ok(Self {
            sources: sources.iter().cloned().zip(seeds).collect(),
            sinks: ends.arguments(sinks)?,
            ends,
        })
    }

    /// Writes the graph as `seawall grammar` reads it, edge by edge, and returns its size. Sources
    /// are `source0`, `source1` and so on, and sinks `sink0`, `sink1`, in the order of findings.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<GraphSize> {
        let whole = &self.ends.whole;
        for (number, (source, _)) in self.sources.iter().enumerate() {
            writeln!(out, "# source{number}: {}", one_line(&source.to_string()))?;
        }
        for (number, sink) in self.sinks.iter().enumerate() {
            let (place, what) = self.ends.described(sink);
            let text = one_line(&format!("{place}: {what}"));
            writeln!(out, "# sink{number}: {text}")?;
        }
        let mut writer = Writer {
            out,
            size: GraphSize::default(),
            seen: vec![false; whole.len()],
            inner: 0,
        };
        for (number, (_, seeds)) in self.sources.iter().enumerate() {
            writer.size.nodes += u64::from(!seeds.is_empty());
            for seed in seeds {
                let seed = writer.value(*seed);
                writer.edge(&format!("source{number}"), &seed, "source")?;
            }
        }
        for (number, sink) in self.sinks.iter().enumerate() {
            writer.size.nodes += 1;
            let value = writer.value(sink.value);
            writer.edge(&value, &format!("sink{number}"), "sink")?;
        }
        let mut words = vec![Word::default(); self.ends.sites.len()];
        for (node, values) in (0..).zip(&whole.values) {
            for (from, to) in &values.edges {
                let from = writer.value(whole.value(node, *from));
                let to = writer.value(whole.value(node, *to));
                writer.edge(&from, &to, "step")?;
            }
            self.write_callee(node, &mut words, &mut writer)?;
        }
        let mut number = 0;
        for (node, values) in (0..).zip(&whole.values) {
            for (site, word) in values.sites.iter().zip(&words[number..]) {
                for (input, value) in (0..).zip(values.ins(site)) {
                    let input = whole.input(site.callee, input).filter(|_| *value != NONE);
                    if let Some(input) = input {
                        writer.open(whole.value(node, *value), input, *word)?;
                    }
                }
            }
            for made in &values.results {
                let callee = values.sites[made.site as usize].callee;
                if let Some(output) = whole.output(callee, made.number) {
                    let word = words[number + made.site as usize];
                    writer.close(output, whole.value(node, made.value), word)?;
                }
            }
            number += values.sites.len();
        }
        Ok(writer.size)
    }

    /// Numbers the calls of a node of the call graph, and writes its inputs if there are calls, and the
    /// words of dispatches.
    fn write_callee(
        &self,
        node: u32,
        words: &mut [Word],
        writer: &mut Writer<'_>,
    ) -> io::Result<()> {
        let whole = &self.ends.whole;
        let values = &whole.values[node as usize];
        let sites = self.ends.sites_of.row(node as usize);
        let dispatches: Vec<u32> = self.ends.dispatches(node).collect();
        let calls = (sites.len() + dispatches.len()) as u32;
        if calls == 0 {
            return Ok(());
        }
        for input in 0..values.inputs {
            let input = writer.value(whole.value(node, values.input(input)));
            writer.edge(&input, &input, "input")?;
        }
        let mut numbered = (0..).map(|number| Word { number, calls });
        for (site, word) in sites.iter().zip(&mut numbered) {
            words[*site as usize] = word;
        }
        for (dispatch, word) in dispatches.into_iter().zip(numbered) {
            for number in 0..values.inputs {
                let ends = whole.input(dispatch, number).zip(whole.input(node, number));
                ends.map_or(Ok(()), |(from, to)| writer.open(from, to, word))?;
            }
            for number in 0..values.outputs {
                let ends = whole
                    .output(node, number)
                    .zip(whole.output(dispatch, number));
                ends.map_or(Ok(()), |(from, to)| writer.close(from, to, word))?;
            }
        }
        Ok(())
    }
}
