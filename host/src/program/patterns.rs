//! Waves of code that many programs need: lists from masks, and joins by segment.

use super::builder::ProgramBuilder;
use super::encoded::RegisterId;
use super::vocabulary::Over;
use seawall_core::abi::code::{Edges, Join, Joined};

/// Segments of values that are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    /// The values of the edges of each node, in the order of [`Edge::number`](super::Edge::number):
    /// the rows of the graph. The result has a value for each node.
    Rows(Edges),
    /// The values with the same number in this register, which has one for each value. A number
    /// beyond the result ends the run with a fault. A segment without values has the neutral value:
    /// all values of the result are written.
    Numbered(RegisterId),
}

impl ProgramBuilder {
    /// Lists the numbers of the values of `mask` that are not 0, in any order. The first value of
    /// `count` becomes the length of the list; its other values are kept, and must be filled
    /// before. The list must be filled before, with anything; a list that is too short ends the run
    /// with a fault.
    ///
    /// ```
    /// use seawall::program::{Kind, Over, ProgramBuilder};
    /// let mut program = ProgramBuilder::new(1000);
    /// let mask = program.per_node("mask", Kind::U32)?;
    /// let list = program.per_node("list", Kind::U32)?;
    /// let count = program.values("count", Kind::U32, 1)?;
    /// program.each("choose", Over::Nodes, |node| node.store(mask, node.index() % 3));
    /// program.fill("empty", list, 0);
    /// program.compact("list them", list, count, mask);
    /// program.each("visit them", Over::List { list, count }, |node| node.store(mask, 5));
    /// program.keep(mask);
    /// program.encode(&Default::default())?;
    /// # Ok::<(), seawall::program::ProgramError>(())
    /// ```
    pub fn compact(&mut self, name: &str, list: RegisterId, count: RegisterId, mask: RegisterId) {
        self.set_first(name, "none listed", count, 0);
        self.each(name, Over::Values(mask), |item| {
            let is_chosen = item.load(mask).is_zero().is_zero();
            item.append((list, count), item.index(), is_chosen);
        });
    }

    /// Joins the values of `from` segment by segment, to one value of `to` for each.
    ///
    /// The sum of a segment of floats has no order if segments are numbered, as in
    /// [`Item::scatter`](super::Item::scatter).
    ///
    /// ```
    /// use seawall::program::{Join, Kind, Over, ProgramBuilder, Segments};
    /// let mut program = ProgramBuilder::new(1000);
    /// let [values, teams] = [program.per_node("values", Kind::U32)?, program.per_node("teams", Kind::U32)?];
    /// let best = program.values("best", Kind::U32, 10)?;
    /// program.each("draw", Over::Nodes, |node| {
    ///     node.store(values, node.index().hash());
    ///     node.store(teams, node.index() % 10);
    /// });
    /// let segments = Segments::Numbered(teams);
    /// program.segmented_reduce("best of each team", Join::Max, best, values, segments);
    /// program.keep(best);
    /// program.encode(&Default::default())?;
    /// # Ok::<(), seawall::program::ProgramError>(())
    /// ```
    pub fn segmented_reduce(
        &mut self,
        name: &str,
        how: Join,
        to: RegisterId,
        from: RegisterId,
        segments: Segments,
    ) {
        match segments {
            Segments::Rows(edges) => self.each(name, Over::Nodes, |node| {
                let all = node.gather(edges, how, |edge| edge.at(from, edge.number()));
                node.store(to, all);
            }),
            Segments::Numbered(numbers) => {
                let kind = self.kind_of(to);
                // Both words of a neutral pair are the same.
                self.fill("identity", to, Joined { how, kind }.identity() as u32);
                self.each(name, Over::Values(from), |item| {
                    let (segment, value) = (item.load(numbers), item.load(from));
                    item.scatter(to, segment, how, value);
                });
            }
        }
    }
}
