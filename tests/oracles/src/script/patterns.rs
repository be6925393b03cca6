//! Lists and segments of a script.

use super::{Assembler, Slot};
use seawall::program::{Join, Over, Segments};

impl Assembler {
    /// A list of the nodes whose word in a register is below a limit.
    pub(super) fn list(&mut self, of: Slot, below: u32) -> Over {
        let nodes = self.program_nodes;
        let list = self.program.words("list", nodes.into());
        let count = self.program.words("count", 1);
        let (Ok(list), Ok(count)) = (list, count) else {
            return Over::Nodes;
        };
        let Ok(mask) = self.program.words("mask", nodes.into()) else {
            return Over::Nodes;
        };
        let of = self.at(of);
        self.program.fill("empty", list, 0);
        self.program.each("mask", Over::Nodes, |node| {
            node.store(mask, node.load(of).to_u32().below(below) * 7);
        });
        self.program.compact("list", list, count, mask);
        Over::List { list, count }
    }

    pub(super) fn add_segments(&mut self, how: Join, to: Slot, from: Slot, by: Slot) {
        let (segments, values) = (self.values[to], self.values[from]);
        let Ok(numbers) = self.program.words("numbers", values.into()) else {
            return;
        };
        let (to, from, by) = (self.at(to), self.at(from), self.at(by));
        self.program.each("number", Over::Values(numbers), |item| {
            item.store(numbers, item.load(by) % segments);
        });
        let operands = (from, Segments::Numbered(numbers));
        self.program
            .segmented_reduce("segments", how, to, operands.0, operands.1);
    }
}
