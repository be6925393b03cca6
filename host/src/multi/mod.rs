//! One analysis on several devices: GPUs of one host, or devices that threads simulate.
//!
//! Analyses of many sources are dealt out (`dealt`): each device answers for a part of them, with the
//! whole graph and the kernels of one device. So are the nodes from which triangles are looked for
//! (`centers`), and the items of composed programs (`shared`). For the others, nodes are cut into ranges
//! with about as many edges each (`cut`, `ranges`); a device has the edges that lead to its own nodes. One kernel stays on each device for the whole analysis, and after each step
//! the devices write what they found into each other's memory: no host is in between. Columns are
//! those of a run on one device, bit for bit. Devices may also be processes that a `carrier` joins
//! (`ranks`). Devices and ranks have no more than their own edges of a `.swg` file or of a generated
//! graph (`parts`).
//! [docs/many-gpus.md] has the costs.
//!
//! [docs/many-gpus.md]: https://github.com/seawall-rs/seawall/blob/main/docs/many-gpus.md

mod carrier;
mod centers;
mod choice;
mod cut;
mod dealt;
mod devices;
mod execute;
mod parts;
mod price;
mod programs;
mod ranges;
mod ranks;
mod shared;
mod sliced;
mod text;
mod way;

pub use crate::backend::share::{Refusal, refusal};
#[doc(hidden)]
pub use carrier::counts_of_all;
pub use carrier::{Carrier, CarrierError};
pub(crate) use carrier::{gather, gather_alike, lost, name_of_ranks, split};
pub use choice::{DeviceChoice, NoDevice};
pub use devices::Devices;
#[doc(hidden)]
pub use execute::{Tried, execute_by};
pub use execute::{execute, execute_with, reason_for_one};
pub use parts::{GraphInParts, PartSource};
pub use programs::{open_on_ranks, open_session};
pub(crate) use ranks::{compare_inputs, greet_with_program};
pub use ranks::{execute_on_ranks, refuse_on_ranks};
pub use way::ANALYSES;

use serde::Serialize;

/// How a graph was cut, and what its devices told each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DevicesReport {
    /// Devices.
    pub count: u32,
    /// Numbers of GPUs; empty for devices that threads simulate.
    pub numbers: Vec<u32>,
    /// Nodes of each device.
    pub nodes: Vec<u64>,
    /// Edges of each device.
    pub edges: Vec<u64>,
    /// Sources of each device, if they were dealt out; the graph is then whole on each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<u64>,
    /// Nodes from which each device looked for triangles, if they were shared out; the graph is then
    /// whole on each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub centers: Vec<u64>,
    /// Whether each has the whole graph, and runs a part of the items of a program.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// Memory of each device, bytes.
    pub memory_bytes: Vec<u64>,
    /// Bytes of the graph that each rank holds besides, if each has read its own part alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub graph_bytes: Vec<u64>,
    /// Barriers of all devices.
    pub barriers: u64,
    /// Steps after which a device sent a list of nodes and no bits, of all devices.
    pub lists: u64,
    /// Levels of a search that looked for unvisited nodes' predecessors.
    pub pulls: u64,
    /// Bytes that devices wrote into, or read from, each other's memory in the last run.
    pub exchanged_bytes: u64,
}
