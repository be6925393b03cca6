//! Errors of a program's text.

use crate::graph::did_you_mean;
use crate::program::error::ProgramError;
use crate::units::counted;

/// The text of a program is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A text that is too long.
    #[error("a text of {bytes} bytes, and at most {most} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest one that is read.
        most: usize,
    },
    /// Invalid JSON.
    #[error("line {line}, column {column}: {reason}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1; 0 at the end of a line.
        column: usize,
        /// The parser's expectation.
        reason: String,
    },
    /// A part of the text is invalid.
    #[error("{place}: {problem}")]
    At {
        /// The place, such as `waves[2].code[0].value`.
        place: String,
        /// The problem.
        #[source]
        problem: TextProblem,
    },
    /// The parts are valid, but the program is not.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// The known names, of which there may be none yet.
fn listed(known: &str) -> String {
    match known {
        "" => "there is none here yet".to_owned(),
        known => format!("there are {known}"),
    }
}

/// A part of a program's text is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextProblem {
    /// A field is missing.
    #[error("{what} is missing; add it")]
    Missing {
        /// Name of the field.
        what: &'static str,
    },
    /// A part has another form.
    #[error("this is to be {what}")]
    Expected {
        /// The form.
        what: &'static str,
    },
    /// An unknown name.
    #[error("no {what} is called {name:?}{}; {}", did_you_mean(name, known.split(", ")), listed(known))]
    Unknown {
        /// Its meaning.
        what: &'static str,
        /// The name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A name that is used twice.
    #[error("{name:?} is there already; give one of them another name")]
    Twice {
        /// The name.
        name: String,
    },
    /// Too many things.
    #[error("{found} {what}, and at most {most} may be")]
    TooMany {
        /// The things.
        what: &'static str,
        /// Number found.
        found: usize,
        /// Number allowed.
        most: usize,
    },
    /// A list of another length.
    #[error("{}, and it takes {expected}", counted(*found as u64, "value"))]
    Count {
        /// Values of the list.
        found: usize,
        /// Required number of values.
        expected: usize,
    },
    /// A text of another version.
    #[error("version {found}; this one reads version {known}")]
    Version {
        /// The version of the text.
        found: u64,
        /// The version that is read.
        known: u64,
    },
    /// A search with both levels and parents.
    #[error("a search stores levels or parents; leave one of them out")]
    TwoMarks,
    /// Segments with both rows and numbers.
    #[error("segments are rows or have numbers; leave one of them out")]
    TwoSegments,
    /// An edge's property outside of an edge.
    #[error("there is no edge here; put it into the code of edges")]
    NoEdge,
}
