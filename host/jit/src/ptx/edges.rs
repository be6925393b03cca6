//! Parts of code that run for each edge of an item: one step, and the rows that a lane visits alone.

use super::values::{Four, bits};
use super::writer::{Reg, put};
use super::{Emitted, Emitter, Held, SLOTS, Temps};
use crate::JitError;
use crate::code::{self, Joining, Numbered};
use crate::walk::{Compute, Shape, Walk};
use seawall_core::abi::code::{Edges, Instruction, NUMBERED, OF_EDGE, Op, TEMPORARY};
use std::collections::BTreeMap;

/// Most edges of a row that its lane visits alone.
const OWN_EDGES: u32 = 8;

/// Edges of a longer row, which may end early, that a lane visits alone.
const TRIED_EDGES: u32 = 4;

/// The edge that a part is at.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    numbers: Four,
    edges: Edges,
    /// Whether an edge allowed the row to end, where one may.
    pub(super) enough: Option<Four>,
    /// Partial results, by the instruction of their reduction.
    pub(super) partial: BTreeMap<usize, Four>,
}

/// A part, and the rows of the lane's items.
#[derive(Debug)]
pub(super) struct Part<'t> {
    pub(super) code: code::Part<'t>,
    /// The results of the lane's items, for each reduction.
    results: Vec<Four>,
    targets: Reg,
    /// The edges that are still to be visited.
    pub(super) from: Four,
    pub(super) to: Four,
}

impl<'t> Emitter<'t> {
    /// Writes a part.
    pub(super) fn edges(&mut self, begin: &Instruction, code: Numbered<'t>) -> Emitted {
        let code = code::Part::of(begin, code)?;
        let results = self.neutrals(&code.reductions);
        let [offsets, targets] = self.rows(code.kind.edges as u32);
        let [from, to] = self.row_of(offsets, self.now.number);
        let part = Part {
            code,
            results,
            targets,
            from,
            to,
        };
        // Lanes tell each other words and pairs.
        for byte in part.item_temps() {
            let temp = self.temp(byte);
            if temp.shape == Shape::Flag {
                let word = Held::word(self.shaped(temp, Shape::Word)).below(2);
                self.set_temp(byte, word);
            }
        }
        let (number, active) = (self.now.number, self.active);
        self.by_lanes(&part)?;
        self.by_groups(&part)?;
        self.by_block(&part)?;
        (self.now.number, self.active, self.edge) = (number, active, None);
        self.now.hand = self.zero();
        for (reduction, results) in part.reductions() {
            let found = Held::of_kind(reduction.joined.kind, results);
            self.set_temp(reduction.at.temps[0], found);
        }
        Ok(())
    }

    /// Registers for partial results of reductions, with the neutral values.
    pub(super) fn neutrals(&mut self, reductions: &[Joining<'t>]) -> Vec<Four> {
        let each = reductions.iter();
        each.map(|one| std::array::from_fn(|_| self.neutral(one.joined)))
            .collect()
    }

    /// Writes a step: the code for the edges `numbers` of the slots that are `inside`. Returns for
    /// each slot whether its row may end, if a row may.
    pub(super) fn visit(
        &mut self,
        part: &Part<'t>,
        (numbers, inside): (Four, Four),
        partial: &[Four],
        of_item: &Temps,
    ) -> Result<Option<Four>, JitError> {
        let active = self.inside();
        for slot in 0..self.slots {
            put!(self.w, "mov.pred {}, {}", active[slot], inside[slot]);
        }
        self.active = active;
        let enough = part.code.kind.may_stop.then(|| {
            [(); SLOTS].map(|()| {
                let flag = self.w.flag();
                put!(self.w, "mov.pred {flag}, 0");
                flag
            })
        });
        let places = self.places(part.targets, numbers, 4);
        let neighbours = std::array::from_fn(|slot| {
            let node = self.w.word();
            put!(
                self.w,
                "@{} ld.global.nc.u32 {node}, [{}]",
                inside[slot],
                places[slot]
            );
            node
        });
        self.now.number = Held::word(neighbours).below(self.tables.nodes.into());
        let outside = std::mem::replace(&mut self.now.temps, *of_item);
        let reductions = &part.code.reductions;
        let numbered = reductions.iter().map(|reduction| reduction.number);
        self.edge = Some(Edge {
            numbers,
            edges: part.code.kind.edges,
            enough,
            partial: numbered.zip(partial.iter().copied()).collect(),
        });
        self.now.hand = self.zero();
        let skip = self.w.label();
        let (first, body) = part.code.body;
        for (at, instruction) in body.iter().enumerate() {
            self.step(first + at, instruction)?;
            // A vote costs as much as an instruction or two.
            if code::may_leave(instruction) && body.len() - at > 2 {
                self.skip_to(skip);
            }
        }
        for reduction in reductions {
            self.step(reduction.number, reduction.at)?;
        }
        self.flush();
        self.now.temps = outside;
        self.w.mark(skip);
        let Some(enough) = enough else {
            return Ok(None);
        };
        if part.code.kind.ends_early {
            for (slot, enough) in enough.into_iter().enumerate().take(self.slots) {
                self.note_settled(part, partial, slot, enough);
            }
        }
        Ok(Some(enough))
    }

    /// A flag for each slot; those that are not used have one that never holds.
    pub(super) fn inside(&mut self) -> Four {
        let never = self.w.flag();
        put!(self.w, "mov.pred {never}, 0");
        std::array::from_fn(|slot| {
            if slot < self.slots {
                self.w.flag()
            } else {
                never
            }
        })
    }

    /// Sets a flag where no result of a slot can change any more.
    fn note_settled(&mut self, part: &Part<'t>, partial: &[Four], slot: usize, enough: Reg) {
        let settled = self.w.flag();
        put!(self.w, "mov.pred {settled}, 1");
        for (reduction, partial) in part.code.reductions.iter().zip(partial) {
            let joined = reduction.joined;
            let end = self.constant_of(joined.kind, joined.end().unwrap_or(0));
            let bits = bits(joined.kind);
            put!(
                self.w,
                "setp.eq.and.u{bits} {settled}, {}, {end}, {settled}",
                partial[slot]
            );
        }
        put!(self.w, "or.pred {enough}, {enough}, {settled}");
    }

    /// Each slot visits its own row, or begins it.
    fn by_lanes(&mut self, part: &Part<'t>) -> Emitted {
        let limits: Four = std::array::from_fn(|slot| {
            let (limit, edges, is_own) = (self.w.word(), self.w.word(), self.w.flag());
            let (from, to) = (part.from[slot], part.to[slot]);
            put!(self.w, "sub.u32 {edges}, {to}, {from}");
            put!(self.w, "setp.le.u32 {is_own}, {edges}, {OWN_EDGES}");
            if part.code.kind.may_stop {
                put!(self.w, "add.u32 {limit}, {from}, {TRIED_EDGES}");
                put!(self.w, "selp.b32 {limit}, {to}, {limit}, {is_own}");
            } else {
                put!(self.w, "selp.b32 {limit}, {to}, {from}, {is_own}");
            }
            limit
        });
        let inside = self.inside();
        let (again, done) = (self.w.label(), self.w.label());
        self.w.mark(again);
        for slot in 0..self.slots {
            let (from, limit) = (part.from[slot], limits[slot]);
            put!(self.w, "setp.lt.u32 {}, {from}, {limit}", inside[slot]);
        }
        let any = self.any(inside);
        put!(self.w, "@!{any} bra {done}");
        let of_item = self.now.temps;
        let stops = self.visit(part, (part.from, inside), &part.results, &of_item)?;
        for slot in 0..self.slots {
            let (from, inside) = (part.from[slot], inside[slot]);
            put!(self.w, "@{inside} add.u32 {from}, {from}, 1");
            if let Some(stops) = stops {
                let stop = self.w.flag();
                put!(self.w, "and.pred {stop}, {}, {inside}", stops[slot]);
                put!(self.w, "@{stop} mov.b32 {from}, {}", part.to[slot]);
            }
        }
        put!(self.w, "bra {again}");
        self.w.mark(done);
        Ok(())
    }

    /// The number or the weight of the edge; 0 outside of parts.
    pub(super) fn edge_part(&mut self, op: Op) -> Held {
        let Some((numbers, edges)) = self.edge.as_ref().map(|edge| (edge.numbers, edge.edges))
        else {
            return self.zero();
        };
        if op == Op::EdgeNumber {
            // The register that counts edges goes on.
            return Held::word(numbers.map(|number| {
                let same = self.w.word();
                put!(self.w, "mov.b32 {same}, {number}");
                same
            }));
        }
        let weights = self.field(code::field_of_weights(edges));
        let places = self.places(weights, numbers, 4);
        Held::word(std::array::from_fn(|slot| {
            let (to, active) = (self.w.word(), self.active[slot]);
            put!(
                self.w,
                "@{active} ld.global.nc.u32 {to}, [{}]",
                places[slot]
            );
            to
        }))
    }
}

impl<'t> Part<'t> {
    /// The reductions with the results of the lane's items.
    pub(super) fn reductions(&self) -> impl Iterator<Item = (&Joining<'t>, Four)> {
        self.code
            .reductions
            .iter()
            .zip(self.results.iter().copied())
    }

    /// Numbers of the item's temporaries that the code of an edge reads.
    pub(super) fn item_temps(&self) -> Vec<u8> {
        let mut found = Vec::new();
        let mut note = |byte: u8| {
            let is_of_item = byte & TEMPORARY != 0 && byte & OF_EDGE == 0;
            let number = byte & NUMBERED;
            if is_of_item && !found.contains(&number) {
                found.push(number);
            }
        };
        for at in self.code.body.1 {
            let from = at.form().map_or([0; 3], |form| form.from);
            let operands = from.into_iter().zip(&at.temps[1..]);
            for (_, byte) in operands.filter(|(words, _)| *words > 0) {
                note(*byte);
            }
        }
        for reduction in &self.code.reductions {
            note(reduction.at.temps[1]);
        }
        found
    }
}
