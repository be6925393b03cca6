//! A wave of another crate while it runs.

use super::graph::{Edge, Rows, Weights};
use super::item::Item;
use super::machine::{Access, How, Machine, Recorder, Started};
use super::register::{Register, Shared, Source, Target};
use crate::collectives::context::ContextRef;
use crate::machine::memory::Words;
use crate::operators::advance::edges;
use crate::operators::advance::edges::each_edge;
use crate::operators::reduce;
use crate::tables;
use core::marker::PhantomData;
use seawall_core::abi::control::FaultCode;
use seawall_core::abi::facts::{Array, Facts, Operand};
use seawall_core::abi::program::Reduction;

/// Rights that its facts give a wave, as bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rights {
    reads: u8,
    writes: u8,
    arrays: u8,
}

impl Rights {
    pub(super) const fn of(facts: &Facts) -> Self {
        let (mut reads, mut writes, mut arrays) = (0, 0, 0);
        let mut at = 0;
        while at < facts.reads.len() {
            reads |= 1 << facts.reads[at] as u8;
            at += 1;
        }
        at = 0;
        while at < facts.writes.len() {
            writes |= 1 << facts.writes[at] as u8;
            at += 1;
        }
        at = 0;
        while at < facts.arrays.len() {
            arrays |= 1 << facts.arrays[at] as u8;
            at += 1;
        }
        Self {
            reads,
            writes,
            arrays,
        }
    }
}

const fn allow(is_declared: bool) -> Result<(), FaultCode> {
    if is_declared {
        Ok(())
    } else {
        Err(FaultCode::Undeclared)
    }
}

/// A running wave: its operands, the graph, and its items.
#[derive(Debug)]
pub struct Running<'w, M: Machine> {
    cx: ContextRef<M::Grid>,
    wave: tables::Wave,
    rights: Rights,
    lifetime: PhantomData<&'w ()>,
}

impl<'w, M: Machine> Running<'w, M> {
    #[inline(always)]
    pub(super) fn new(cx: ContextRef<M::Grid>, wave: tables::Wave, rights: Rights) -> Self {
        Self {
            cx,
            wave,
            rights,
            lifetime: PhantomData,
        }
    }

    /// The record of its begin.
    pub(super) fn started(&self, number: u32, facts: Facts) -> Started {
        let words = Operand::ALL.map(|operand| self.find(operand).map_or(0, Words::len));
        Started {
            number,
            wave: self.wave.number(self.cx.grid()),
            words,
            facts,
        }
    }

    #[inline(always)]
    fn find(&self, operand: Operand) -> Result<Words, FaultCode> {
        let grid = self.cx.grid();
        let register = match operand {
            Operand::To => self.wave.destination(grid),
            Operand::First => self.wave.source(grid, 0),
            Operand::Second => self.wave.source(grid, 1),
            Operand::Third => self.wave.source(grid, 2),
        };
        self.cx.context().tables.register(grid, register)
    }

    #[inline(always)]
    fn register<const READ: bool, const WRITE: bool>(
        &self,
        operand: Operand,
    ) -> Result<Register<'w, READ, WRITE>, FaultCode> {
        let bit = 1 << operand as u8;
        allow(!READ || self.rights.reads & bit != 0)?;
        allow(!WRITE || self.rights.writes & bit != 0)?;
        Ok(Register::new(self.find(operand)?, operand))
    }

    /// The register of an operand, to read.
    ///
    /// # Errors
    /// [`FaultCode::Undeclared`] if the facts do not say that the wave reads it,
    /// [`FaultCode::BadRegister`] if the program gave none.
    #[inline(always)]
    pub fn read(&self, operand: Operand) -> Result<Source<'w>, FaultCode> {
        self.register(operand)
    }

    /// The register of an operand, to fill.
    ///
    /// # Errors
    /// As [`Running::read`], for writing.
    #[inline(always)]
    pub fn write(&self, operand: Operand) -> Result<Target<'w>, FaultCode> {
        self.register(operand)
    }

    /// The register of an operand, to change.
    ///
    /// # Errors
    /// As [`Running::read`], for reading and writing.
    #[inline(always)]
    pub fn update(&self, operand: Operand) -> Result<Shared<'w>, FaultCode> {
        self.register(operand)
    }

    /// The parameters that the program gave.
    #[inline(always)]
    #[must_use]
    pub fn parameters(&self) -> [u32; 5] {
        self.wave.parameters(self.cx.grid())
    }

    /// Nodes of the graph.
    #[inline(always)]
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.cx.context().tables.nodes(self.cx.grid())
    }

    /// Rows of outgoing edges.
    #[inline(always)]
    #[must_use]
    pub fn outgoing(&self) -> Rows<'w> {
        let tables = self.cx.context().tables;
        Rows::new(tables.outgoing(self.cx.grid()), self.nodes())
    }

    /// Rows of incoming edges.
    ///
    /// # Errors
    /// [`FaultCode::Undeclared`] if the facts leave [`Array::Incoming`] out,
    /// [`FaultCode::NoArray`] if the launch has none.
    #[inline(always)]
    pub fn incoming(&self) -> Result<Rows<'w>, FaultCode> {
        let (grid, tables) = (self.cx.grid(), self.cx.context().tables);
        allow(self.rights.arrays & 1 << Array::Incoming as u8 != 0)?;
        if !tables.has_incoming(grid) {
            return Err(FaultCode::NoArray);
        }
        Ok(Rows::new(tables.incoming(grid), self.nodes()))
    }

    /// Weights of outgoing edges, as the facts declare them.
    ///
    /// # Errors
    /// [`FaultCode::Undeclared`] if the facts declare none, [`FaultCode::NoArray`] if the
    /// launch has none.
    #[inline(always)]
    pub fn weights(&self) -> Result<Weights<'w>, FaultCode> {
        const EITHER: u8 = 1 << Array::Weights as u8 | 1 << Array::FloatWeights as u8;
        allow(self.rights.arrays & EITHER != 0)?;
        let weights = self.cx.context().tables.weights(self.cx.grid());
        weights.map(Weights::new).ok_or(FaultCode::NoArray)
    }

    /// Weights of incoming edges, in the order of [`Running::incoming`], as the facts declare
    /// them.
    ///
    /// # Errors
    /// As [`Running::weights`].
    #[inline(always)]
    pub fn incoming_weights(&self) -> Result<Weights<'w>, FaultCode> {
        const EITHER: u8 =
            1 << Array::IncomingWeights as u8 | 1 << Array::IncomingFloatWeights as u8;
        allow(self.rights.arrays & EITHER != 0)?;
        let weights = self.cx.context().tables.incoming_weights(self.cx.grid());
        weights.map(Weights::new).ok_or(FaultCode::NoArray)
    }

    /// Runs `code` for each number below `count`. Adjacent lanes take adjacent
    /// items.
    #[inline(always)]
    pub fn each(&mut self, count: u32, code: impl Fn(Item<'w, M>) + Sync) {
        let (grid, tag) = (self.cx.grid(), self.cx.tag());
        let team = self.cx.context().team;
        team.each(count, |index| code(Item::new(grid, tag, index)));
    }

    /// Runs `code` for each node of the graph. Faster CPU threads take more nodes, so rows may
    /// differ in length.
    #[inline(always)]
    pub fn each_node(&mut self, code: impl Fn(Item<'w, M>) + Sync) {
        let (grid, tag) = (self.cx.grid(), self.cx.tag());
        let team = self.cx.context().team;
        team.each_taken(self.nodes(), |index| code(Item::new(grid, tag, index)));
    }

    /// Runs `code` for each edge of `rows`, evenly shared out whatever the lengths of rows.
    /// The item is the node of the row.
    #[inline(always)]
    pub fn each_edge(&mut self, rows: Rows<'w>, code: impl Fn(Item<'w, M>, Edge) + Sync) {
        let (grid, tag) = (self.cx.grid(), self.cx.tag());
        let team = self.cx.context().team;
        let all = edges::Rows {
            csr: rows.csr(),
            nodes: rows.nodes(),
            edges: rows.edges(),
            skip: 0,
        };
        let visit = |edge: edges::Edge| {
            let item = Item::new(grid, tag, edge.from);
            M::Recorder::note(Access {
                operand: None,
                at: edge.to,
                item: Some(edge.from),
                how: How::Load,
            });
            let (node, neighbour) = (edge.from, edge.to);
            code(item, Edge { node, neighbour });
        };
        each_edge(&team, all, visit);
    }

    /// Joins what `code` returns for each number below `count` to word 0 of `to`, which holds the
    /// neutral value: 0, or `u32::MAX` for [`Reduction::Min`].
    #[inline(always)]
    pub fn fold(
        &mut self,
        to: Shared<'w>,
        how: Reduction,
        count: u32,
        code: impl Fn(Item<'w, M>) -> u32 + Sync,
    ) {
        let (grid, tag) = (self.cx.grid(), self.cx.tag());
        let team = self.cx.context().team;
        let mut own = reduce::identity(how);
        team.each(count, |index| {
            own = reduce::join(how, own, code(Item::new(grid, tag, index)));
        });
        M::Recorder::note(Access {
            operand: Some(to.operand()),
            at: 0,
            item: None,
            how: How::Change,
        });
        reduce::combine(grid, how, to.words(), own);
    }
}
