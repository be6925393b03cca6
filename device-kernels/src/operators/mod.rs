//! Parts of algorithms: operations on words, reductions, code for each item, nodes dealt to
//! warps, and the traversal of edges from one queue of nodes to the next.

pub mod words;
pub mod reduce;
pub mod each;
pub mod deal;
pub mod rounds;
pub(crate) mod marks;
pub mod filter;
pub mod advance;
