//! How device kernels become PTX text.
//!
//! The steps are: find a compiler with its library source (`toolchain`), hash
//! what goes in (`sources`), compile with this program as the linker (`link`),
//! add launch bounds to the entries (`entries`), refuse what must not be there
//! (`audit`). What is built and for which machines is the table in `targets`.
//! `measure`, `ptxas` and `sass` say what the result costs.

pub(crate) mod audit;
pub(crate) mod entries;
pub(crate) mod link;
pub(crate) mod listing;
pub(crate) mod measure;
pub(crate) mod ptxas;
pub(crate) mod sass;
pub(crate) mod sources;
pub(crate) mod symbols;
pub(crate) mod targets;
pub(crate) mod toolchain;
