//! Parts of code that run for each edge of an item: one step, and the rows that a lane visits alone.

use super::values::{Four, Held, Temps};
use super::writer::{Reg, put};
use super::{Emitted, Emitter, SLOTS, may_leave};
use crate::JitError;
use seawall_core::abi::code::{
    Edges, EdgesPart, Instruction, Joined, Kind, NUMBERED, OF_EDGE, Op, TEMPORARY,
};
use seawall_core::abi::compiled::EachCall;
use std::collections::BTreeMap;
use std::mem::offset_of;

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
    pub(super) temps: Temps,
    /// Temporaries of the item.
    pub(super) of_item: Temps,
}

/// A reduction of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// Its instruction.
    number: usize,
    to: u8,
    from: u8,
    pub(super) joined: Joined,
    /// The results of the lane's items.
    pub(super) results: Four,
}

/// A part, and the rows of the lane's items.
#[derive(Debug)]
pub(super) struct Part<'t> {
    first: usize,
    body: &'t [Instruction],
    pub(super) reductions: Vec<Reduction>,
    edges: Edges,
    ends_early: bool,
    pub(super) may_stop: bool,
    targets: Reg,
    /// The edges that are still to be visited.
    pub(super) from: Four,
    pub(super) to: Four,
}

impl<'t> Emitter<'t> {
    /// Writes a part: `first` is the number of its first instruction in the table.
    pub(super) fn edges(
        &mut self,
        begin: &Instruction,
        (first, code): (usize, &'t [Instruction]),
    ) -> Emitted {
        let kind = EdgesPart::from_word(begin.first);
        let end = code.len().checked_sub(kind.reductions as usize);
        let end = end.ok_or(JitError::Unchecked { instruction: first })?;
        let reductions = self.reductions(first + end, &code[end..])?;
        let [offsets, targets] = self.rows(kind.edges as u32);
        let [from, to] = self.row_of(offsets, self.number);
        let part = Part {
            first,
            body: &code[..end],
            reductions,
            edges: kind.edges,
            ends_early: kind.ends_early,
            may_stop: kind.may_stop,
            targets,
            from,
            to,
        };
        let (number, active) = (self.number, self.active);
        self.by_lanes(&part)?;
        self.by_groups(&part)?;
        self.by_block(&part)?;
        (self.number, self.active, self.edge) = (number, active, None);
        self.hand = self.zero();
        for reduction in &part.reductions {
            let found = Held::of_kind(reduction.joined.kind, reduction.results);
            self.set_temp(reduction.to, found);
        }
        Ok(())
    }

    /// The reductions of a part, whose results begin with the neutral values.
    fn reductions(
        &mut self,
        first: usize,
        code: &[Instruction],
    ) -> Result<Vec<Reduction>, JitError> {
        let reductions = (first..).zip(code).map(|(number, at)| {
            let joined = at.joined().filter(|_| at.op == Op::Reduce as u32);
            let joined = joined.ok_or(JitError::Unchecked {
                instruction: number,
            })?;
            Ok(Reduction {
                number,
                to: at.temps[0],
                from: at.temps[1],
                joined,
                results: std::array::from_fn(|_| self.neutral(joined)),
            })
        });
        reductions.collect()
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
        let enough = part.may_stop.then(|| {
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
        self.number = Held::word(neighbours).below(self.tables.nodes.into());
        let numbered = part.reductions.iter().map(|reduction| reduction.number);
        self.edge = Some(Edge {
            numbers,
            edges: part.edges,
            enough,
            partial: numbered.zip(partial.iter().copied()).collect(),
            temps: Temps::default(),
            of_item: of_item.clone(),
        });
        self.hand = self.zero();
        let skip = self.w.label();
        for (at, instruction) in part.body.iter().enumerate() {
            self.step((part.first + at, instruction))?;
            if may_leave(instruction) && part.body.len() - at > 2 {
                self.skip_to(skip);
            }
        }
        for (at, instruction) in part.code_of_reductions(self.tables.code).iter().enumerate() {
            self.step((part.first + part.body.len() + at, instruction))?;
        }
        self.w.mark(skip);
        let Some(enough) = enough else {
            return Ok(None);
        };
        if part.ends_early {
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
        for (reduction, partial) in part.reductions.iter().zip(partial) {
            let joined = reduction.joined;
            let end = self.constant(joined.kind, joined.end().unwrap_or(0));
            let bits = if joined.kind == Kind::U64 {
                "u64"
            } else {
                "u32"
            };
            put!(
                self.w,
                "setp.eq.and.{bits} {settled}, {}, {end}, {settled}",
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
            if part.may_stop {
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
        let results: Vec<Four> = part.reductions.iter().map(|one| one.results).collect();
        let of_item = self.temps.clone();
        let stops = self.visit(part, (part.from, inside), &results, &of_item)?;
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
    pub(super) fn of_edge(&mut self, op: Op) -> Held {
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
        let weights = self.field(match edges {
            Edges::Out => offset_of!(EachCall, weights),
            Edges::In => offset_of!(EachCall, incoming_weights),
        });
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

impl Part<'_> {
    fn code_of_reductions<'c>(&self, code: &'c [Instruction]) -> &'c [Instruction] {
        let first = self.first + self.body.len();
        code.get(first..first + self.reductions.len())
            .unwrap_or_default()
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
        for at in self.body {
            let from = at.form().map_or([0; 3], |form| form.from);
            let operands = from.into_iter().zip(&at.temps[1..]);
            for (_, byte) in operands.filter(|(words, _)| *words > 0) {
                note(*byte);
            }
        }
        for reduction in &self.reductions {
            note(reduction.from);
        }
        found
    }
}
