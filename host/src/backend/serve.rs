//! Services whose workers are blocks of a grid: the inputs of a machine that runs one.

use super::CodeReport;
use super::pages::Pages;
use super::record::GraphAddresses;
use super::served::ServedProgram;
use crate::executor::Jit;
use crate::graph::{Graph, WeightKind};
use seawall_core::abi::VERSION;
use seawall_core::abi::serve::{MAGIC, ServeRecord};
use seawall_core::protocol::Layout;

/// A service to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serving<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) layout: Layout,
    /// The ring that hosts see, whose control block is written.
    pub(crate) ring: &'a Pages,
    pub(crate) posts: &'a Pages,
    /// Queues, and so dispatchers.
    pub(crate) dispatchers: u32,
    pub(crate) posts_each: u32,
    /// Most blocks that work.
    pub(crate) workers: u32,
    /// Time that a slot may take, nanoseconds.
    pub(crate) slot_budget_ns: u64,
    /// Whether waves of code become machine code.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "blocks on threads interpret")
    )]
    pub(crate) jit: Jit,
    /// Programs that queries may run.
    pub(crate) programs: &'a [ServedProgram<'a>],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Started {
    pub(crate) name: String,
    /// Blocks that work.
    pub(crate) workers: u32,
    /// How waves of code run; `None` without any.
    pub(crate) code: Option<CodeReport>,
}

/// Addresses of a machine's own memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ServeAddresses {
    pub(super) host: u64,
    pub(super) posts: u64,
    pub(super) device: u64,
    pub(super) scratch: u64,
    pub(super) scratch_stride: u64,
    pub(super) programs: u64,
    pub(super) graph: GraphAddresses,
}

impl Serving<'_> {
    /// Whether the edges have weights whose sums are lengths.
    pub(super) fn is_weighted(&self) -> bool {
        self.graph.weight_kind() == Some(WeightKind::Integer)
    }

    /// Words of the machine's private part of the ring.
    pub(super) fn own_words(&self) -> u32 {
        self.layout.completion(0) + (size_of::<seawall_core::abi::serve::ServeState>() / 4) as u32
    }

    pub(super) fn record(&self, addresses: &ServeAddresses) -> ServeRecord {
        ServeRecord {
            magic: MAGIC,
            version: VERSION,
            levels: self.layout.levels(),
            prints: self.layout.prints(),
            window_words: self.layout.window_words(),
            dispatchers: self.dispatchers,
            posts_each: self.posts_each,
            nodes: self.graph.nodes(),
            edges: self.graph.edges(),
            is_weighted: u32::from(self.is_weighted()),
            programs: self.programs.len() as u32,
            rest: 0,
            host: addresses.host,
            device: addresses.device,
            posts: addresses.posts,
            offsets: addresses.graph.offsets,
            targets: addresses.graph.targets,
            weights: addresses.graph.weights,
            incoming_offsets: addresses.graph.incoming_offsets,
            incoming_targets: addresses.graph.incoming_targets,
            scratch: addresses.scratch,
            scratch_stride: addresses.scratch_stride,
            slot_budget_ns: self.slot_budget_ns,
            program_table: addresses.programs,
        }
    }
}
