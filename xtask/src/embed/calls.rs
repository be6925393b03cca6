//! The deepest stack that code can take, from the code itself.
//!
//! Frames come from the compiler, edges from the disassembly: each branch into
//! another function counts as a call, also a tail call whose frame is already
//! freed, so the sum is an upper bound. Recursion and branches to computed
//! addresses have no bound and are refused.

use std::collections::{BTreeMap, BTreeSet};

use super::firmware::Firmware;
use super::listing::{self, Item};
use crate::error::Error;

/// Frames and edges of one image.
#[derive(Debug, Default)]
pub(super) struct CallGraph {
    frames: BTreeMap<String, u64>,
    edges: BTreeMap<String, BTreeSet<String>>,
    /// Functions with a branch to a computed address, and that branch.
    indirect: BTreeMap<String, String>,
}

impl CallGraph {
    /// Reads the graph of an image that has been linked.
    pub(super) fn read(firmware: &Firmware<'_>, target: &str, name: &str) -> Result<Self, Error> {
        let image = firmware.image(target, name);
        let style = ["--stack-sizes", "--elf-output-style=GNU"];
        let frames = firmware.ask("readobj", &style, &image)?;
        let code = firmware.ask("objdump", &["-d", "--no-show-raw-insn"], &image)?;
        Ok(Self::parse(&frames, &code))
    }

    fn parse(frames: &str, code: &str) -> Self {
        let mut graph = Self::default();
        for (name, bytes) in listing::frames(frames) {
            graph.frames.insert(name.to_owned(), bytes);
        }
        let mut current = String::new();
        for item in listing::items(code) {
            match item {
                Item::Function(name) => name.clone_into(&mut current),
                Item::Branch(name) => graph.edge(&current, name),
                Item::Indirect(code) => {
                    graph.indirect.insert(current.clone(), code.to_owned());
                }
            }
        }
        graph
    }

    fn edge(&mut self, from: &str, to: &str) {
        if from != to {
            let targets = self.edges.entry(from.to_owned()).or_default();
            targets.insert(to.to_owned());
        }
    }

    /// The one function whose mangled name contains `part`.
    pub(super) fn function(&self, part: &str) -> Option<&str> {
        let mut found = self.frames.keys().filter(|name| name.contains(part));
        found.next().map(String::as_str)
    }

    /// Most bytes of stack below the caller of `function`.
    pub(super) fn bound(&self, function: &str) -> Result<u64, Error> {
        let mut known = BTreeMap::new();
        self.depth(function, &mut known)
    }

    /// Depth first; an open function has no depth yet.
    fn depth<'a>(
        &'a self,
        function: &'a str,
        known: &mut BTreeMap<&'a str, Option<u64>>,
    ) -> Result<u64, Error> {
        match known.get(function) {
            Some(Some(depth)) => return Ok(*depth),
            Some(None) => return Err(unbounded(format!("{function} calls itself"))),
            None => known.insert(function, None),
        };
        if let Some(code) = self.indirect.get(function) {
            return Err(unbounded(format!("{function}: indirect `{code}`")));
        }
        let mut deepest = 0;
        for callee in self.edges.get(function).into_iter().flatten() {
            deepest = deepest.max(self.depth(callee, known)?);
        }
        // Assembly without a frame record keeps nothing on the stack.
        let depth = deepest + self.frames.get(function).copied().unwrap_or(0);
        known.insert(function, Some(depth));
        Ok(depth)
    }
}

fn unbounded(finding: String) -> Error {
    Error::Refused {
        what: "the stack of the image has no bound",
        findings: vec![finding],
        remedy: "planning needs loops and direct calls only",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMES: &str = "  8 a\n 16 b\n 32 c\n";

    #[test]
    fn the_deepest_path_counts() {
        let code = "1 <a>:\n 1:\tbl\t0x2 <b>\n 2:\tbl\t0x3 <c>\n2 <b>:\n 3:\tb.w\t0x3 <c+0x2>\n";
        let graph = CallGraph::parse(FRAMES, code);
        assert_eq!(graph.bound("a").unwrap(), 8 + 16 + 32);
        assert_eq!(graph.bound("c").unwrap(), 32);
    }

    #[test]
    fn recursion_and_computed_calls_are_refused() {
        let circle = "1 <a>:\n 1:\tbl\t0x2 <b>\n2 <b>:\n 3:\tbl\t0x1 <a>\n";
        let graph = CallGraph::parse(FRAMES, circle);
        let refused = graph.bound("a").unwrap_err().to_string();
        assert!(refused.contains("calls itself"), "{refused}");
        let computed = "1 <a>:\n 1:\tblx\tr3\n2 <b>:\n 2:\tbx\tlr\n";
        let graph = CallGraph::parse(FRAMES, computed);
        let refused = graph.bound("a").unwrap_err().to_string();
        assert!(refused.contains("indirect"), "{refused}");
        assert_eq!(graph.bound("b").unwrap(), 16);
    }
}
