//! Plain sequential implementations, to compare with.
//!
//! They are as simple as can be and call nothing that they judge. Each stands in the
//! room of its analysis; these are the ones with which other programs may compare.

pub use super::bfs::oracle::{levels, parents};
pub use super::cc::oracle::components;
pub use super::kcore::oracle::cores;
pub use super::pagerank::oracle::{Ranked, agrees, rank_tolerance, ranks};
pub use super::reach::oracle::{reached, reached_from};
pub use super::sssp::oracle::{distances, distances_in_doubles};
pub use super::triangles::oracle::triangles;
