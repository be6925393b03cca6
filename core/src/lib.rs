#![no_std]
//! Plans which waves run together, in what order and in what memory.
//!
//! A program is a DAG of waves with their bytes ([`wave`]). [`plan`] puts global
//! barriers between them, packs them into groups under a budget and lays out
//! their memory, in [`scratch`] that the caller owns. The policies around it
//! choose [`topology`] and [`launch`] sizes, remember choices ([`cache`]), judge
//! residency, convergence and evidence, and tune. [`abi`] holds the records that
//! a host and a kernel share, [`protocol`] how they hand work to each other.
//!
//! Nothing here allocates, runs a wave or knows a machine, and there is no
//! `unsafe`. Bad input is an error value that names the numbers.
//!
//! ```
//! use seawall_core::plan::{self, Dag, Dependency, Wave};
//! use seawall_core::scratch::Scratch;
//!
//! let waves = [Wave::default(); 3];
//! let dependencies = [Dependency { before: 0, after: 2 }, Dependency { before: 1, after: 2 }];
//! let dag = Dag { waves: &waves, dependencies: &dependencies };
//! let mut scratch = Scratch::<3, 2>::new();
//! let layers = plan::layers(&dag, &mut scratch)?;
//! assert_eq!(layers.len(), 2);
//! assert_eq!(layers.global_barriers(), 1);
//! # Ok::<(), seawall_core::error::LayerError>(())
//! ```

/// Names the variants of an error in snake case, as its serialised form does.
macro_rules! kinds {
    ($error:ty { $($variant:ident => $kind:expr,)* }) => {
        impl $error {
            /// The stable name of the error in snake case.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $kind,)*
                }
            }
        }
    };
}

pub mod abi;
pub mod ratio;
pub mod topology;
pub mod launch;
pub mod cache;
pub mod session;
pub mod convergence;
pub mod evidence;
pub mod tuning;
pub mod wave;
pub mod scratch;
pub mod error;
pub mod plan;
pub mod protocol;
