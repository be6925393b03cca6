//! Wave programs: what runs, on which registers, in which order.
//!
//! A [`ProgramBuilder`] collects registers and waves, infers the dependencies,
//! has `seawall-core` plan them and encodes the plan into the tables of
//! [`seawall_core::abi`]. It knows no machine; a backend adds addresses.

pub mod encoded;
mod wave;
mod vocabulary;
mod check;
mod hazards;
mod once;
mod operands;
mod builder;
mod code;
mod each;
mod sums;
mod rounds;
mod own;
mod patterns;
mod ready;
mod triangles;
mod slices;
mod joined;
mod places;
mod planner;
mod conflicts;
mod uses;
mod proof;
mod code_check;
mod searched;
mod table_error;
mod layout;
mod encode;
mod cache;
mod error;
mod text;

pub use builder::{PlanRequest, ProgramBuilder};
pub use cache::{PlanCache, PlanCounters};
pub use code::{Edge, Item, Operand, Value};
pub use encoded::{EncodedProgram, GraphNeeds, RegisterId};
pub use error::{CodeError, OwnError, ProgramError};
pub use operands::{SliceShape, check_damping, check_tolerance};
pub use own::Call;
pub use patterns::Segments;
pub use planner::{ANY_MACHINE, PlannerMemory};
pub(crate) use ready::Given;
pub use ready::{Sets, Sweep};
pub use rounds::{Lengths, Paths, Ranks};
pub(crate) use searched::{Searched, searched};
pub use seawall_core::abi::code::{Edges, Instruction, Join, Kind};
pub use seawall_core::abi::facts::{Invariant, Stage};
pub use seawall_core::abi::program::{GroupRecord, Reduction, RegisterRecord, WaveRecord};
pub use seawall_core::abi::search::SearchPolicy;
pub use seawall_core::abi::sweep::Measure;
pub use seawall_core::cache::CacheCounters;
pub use seawall_core::plan::{ExecutionError, Strategy};
pub use seawall_core::topology::{Topology, TopologyPolicy};
pub use slices::{Frequent, FrequentSources, Slices};
pub use table_error::{CodeFault, TableError};
pub use text::{
    GraphSize, TEXT_BYTES_MAX, TextError, TextInput, TextProblem, TextProgram, TextResult,
    read_text, read_text_with,
};
pub use triangles::{Hubs, Triangles};
pub(crate) use uses::{each_use, lists_of, register_of};
pub use vocabulary::{BitOp, ComponentStep, Mark, Meet, Over, Problems, Transfer};

use serde::Serialize;

/// A program's plan in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlanSummary {
    /// Groups of waves between grid barriers.
    pub groups: u32,
    /// Grid barriers between groups, those inside loops not counted.
    pub global_barriers: u32,
    /// Lower bound of the number of groups.
    pub lower_bound: u64,
    /// Bytes of the largest group.
    pub peak_group_bytes: u64,
    /// Bytes of the arena that holds every register.
    pub arena_bytes: u64,
}
