//! Plain sequential implementations, for comparison.
//!
//! They are as simple as possible and call no code under test. Each is in the module of its
//! analysis; these are available to other programs.

pub use super::betweenness::oracle::scores as betweenness;
pub use super::bfs::oracle::{levels, parents};
pub use super::cc::oracle::components;
pub use super::closeness::oracle::closeness;
pub use super::eccentricity::oracle::eccentricities;
pub use super::kcore::oracle::cores;
pub use super::labels::oracle::labels;
pub use super::pagerank::oracle::{Ranked, agrees, rank_tolerance, ranks};
pub use super::reach::oracle::{reached, reached_from};
pub use super::scc::oracle::strong_components;
pub use super::sssp::oracle::{distances, distances_in_doubles};
pub use super::triangle_total::oracle::triangles_once;
pub use super::triangles::oracle::triangles;
