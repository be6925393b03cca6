//! Errors of a generator's specification.

use crate::nearest::did_you_mean;

const GENERATORS: [&str; 6] = ["rmat", "rmat-directed", "uniform", "grid", "chain", "batch"];

/// An error of a generator's specification.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GeneratorProblem {
    /// No generator has this name.
    #[error(
        "unknown generator {name:?}{}; use gen:rmat:SCALE:EDGEFACTOR[:SEED], \
         gen:rmat-directed:SCALE:EDGEFACTOR[:SEED], \
         gen:uniform:SCALE:EDGEFACTOR[:SEED], gen:grid:WIDTH[xHEIGHT] or gen:chain:NODES[:SEED]",
        did_you_mean(name, GENERATORS)
    )]
    Name {
        /// The name given.
        name: String,
    },
    /// A parameter is missing.
    #[error("{what} is missing; the form is {form}")]
    Missing {
        /// The parameter.
        what: &'static str,
        /// The generator's form.
        form: &'static str,
    },
    /// A parameter that is not a number, or out of range.
    #[error("{what} must be a whole number from {min} to {max} ({value:?})")]
    Parameter {
        /// The parameter.
        what: &'static str,
        /// The text given.
        value: String,
        /// Smallest value allowed.
        min: u64,
        /// Largest value allowed.
        max: u64,
    },
    /// A batch of graphs where one graph is required.
    #[error("a batch is many graphs and this must be one; give the batch itself to seawall run")]
    Many,
    /// A batch of a shape without randomness.
    #[error(
        "graphs of this shape would all be equal; a batch needs one with a seed: rmat, uniform or chain"
    )]
    Unseeded,
    /// More parameters than the generator has.
    #[error("unexpected parameter {value:?}; the form is {form}")]
    Extra {
        /// The text given.
        value: String,
        /// The generator's form.
        form: &'static str,
    },
}
