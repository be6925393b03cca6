//! Runs analyses on the ranks of an MPI job: `mpirun -n 4 seawall-cluster run GRAPH …`.
//!
//! Each rank's kernel has the edges that lead to the nodes of its own range, and exchanges what it
//! found after each step, by the protocol of several devices of one host
//! ([`seawall::multi::execute_on_ranks`]). `Fabric`, behind the feature `mpi`, carries its words over
//! MPI, from the thread that MPI was started on, and knows at any time which ranks answer.

#[cfg(feature = "mpi")]
mod fabric;

#[cfg(feature = "mpi")]
pub use fabric::{Fabric, Link};
