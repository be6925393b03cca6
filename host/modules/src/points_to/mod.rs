//! Points-to: the functions that each call through a table or by reference may reach.
//!
//! Inclusion-based, without contexts (L. O. Andersen, "Program analysis and specialization for the C
//! programming language", 1994). A value is a set of objects: references to functions, and numbers
//! that are indices of table entries. Copies through locals, globals, the operand stack, arguments
//! and results include the set of what they read in that of what they write. A load, arithmetic, an
//! import's result and an argument from outside are *unknown*, which stands for any object.
//!
//! 1. The values of all functions and the cells of modules are one graph of inclusions (`net.rs`):
//!    a cell for each global, and two for each table, one of what instructions may have written to
//!    any of its entries and one of all that it may hold. What gets where it is not followed, such
//!    as to an import, may be called from outside with any arguments.
//! 2. A call that an unknown value chooses goes by type, and most are known to from the start
//!    (`GivenUp`). Only values that other choices depend on matter. They are the blocks of one problem a
//!    module, whose facts are the objects and *unknown* (`rounds.rs`).
//! 3. A call whose choice is known passes its arguments to the functions found, which may make
//!    further choices known or larger: rounds repeat until nothing is new. Sets only grow, so that
//!    the last round has the least ones.
//!
//! With `v` values that matter, `e` inclusions between them and `o` objects, a round takes
//! `O((v + e) · ⌈(o + 1) / 64⌉)` operations an iteration.

mod net;
mod rounds;
mod constraints;

use crate::calls::Calls;
use crate::error::ModuleError;
use crate::flow::{On, SolveStats};
use crate::model::Program;
use crate::named::named;
use net::Net;
use rounds::{GivenUp, Rounds};

pub use constraints::{Constraints, GRAMMAR, Object, value_name};

named! {
    /// Changes that the outside may make to the tables that it sees: imported and exported ones.
    #[derive(Default)]
    OpenTables {
        #[default]
        Changed = "changed": "Any entry may get any function",
        /// Entries that segments fill, and others that the table has from the start, stay as they
        /// are, as where tables are exported for callbacks and for dynamic linking.
        ///
        Extended = "extended": "Only entries that are added to the table may get functions",
    }
}

/// A call through a table or by reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The function that calls.
    pub function: u32,
    /// Number of the operation.
    pub op: u32,
    /// Number of functions that the call may reach by type.
    pub by_type: u32,
    /// Functions that it may reach, sorted; `None` if any of the type may be.
    pub targets: Option<Vec<u32>>,
}

/// Calls through tables and by reference, and the cost of their answers.
#[derive(Clone, Debug)]
pub struct PointsTo {
    /// The calls, in the order of functions and operations.
    pub choices: Vec<Choice>,
    /// Functions whose references get outside, sorted; `None` if rounds ended before all were known.
    pub escaped: Option<Vec<u32>>,
    /// Fixpoints until nothing was new.
    pub rounds: u32,
    /// Values that choices depend on.
    pub values: usize,
    /// Facts: objects of all modules, and that a value is unknown.
    pub facts: u64,
    /// Work of all rounds.
    pub stats: SolveStats,
}

/// Finds what calls through tables and by reference may reach; `calls` has the functions by type, and
/// `open_tables` says what the outside does with the tables that it sees.
///
/// # Errors
/// [`ModuleError::TooLarge`] beyond 2^30 values or inclusions, or if inclusions take more than one
/// submission may; errors as of [`solve`](crate::flow::solve).
pub fn points_to(
    program: &Program,
    calls: &Calls,
    open_tables: OpenTables,
    on: On,
) -> Result<PointsTo, ModuleError> {
    let net = Net::of(program, calls, open_tables, on)?;
    Rounds::new(&net, on, &GivenUp::of(&net))?.run()
}
