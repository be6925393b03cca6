//! The build from device kernels to PTX text.
//!
//! The steps are: find a compiler with its library source (`toolchain`), hash the sources
//! (`sources`), compile with this program as the linker (`link`), add launch bounds to the entries
//! (`entries`), refuse code that breaks a rule (`audit`, with `barriers`). `own` finds a crate with
//! custom waves, `packed` reads and writes the committed file. The table in `targets` lists kernels
//! and machines. `measure`, `ptxas` and `sass` report the cost of the result.

pub(crate) mod audit;
pub(crate) mod barriers;
pub(crate) mod entries;
pub(crate) mod link;
pub(crate) mod listing;
pub(crate) mod measure;
pub(crate) mod own;
pub(crate) mod packed;
pub(crate) mod ptxas;
pub(crate) mod sass;
pub(crate) mod sources;
pub(crate) mod symbols;
pub(crate) mod targets;
pub(crate) mod toolchain;
