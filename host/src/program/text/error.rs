//! Errors of a program's text.

use crate::program::error::ProgramError;

/// The text of a program makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A text that is longer than any program needs.
    #[error("a text of {bytes} bytes, and at most {most} are read")]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The longest one that is read.
        most: usize,
    },
    /// No JSON.
    #[error("line {line}, column {column}: {reason}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1; 0 at the end of a line.
        column: usize,
        /// The parser's expectation.
        reason: String,
    },
    /// A part of the text makes no sense.
    #[error("{place}: {problem}")]
    At {
        /// The place, such as `waves[2].code[0].value`.
        place: String,
        /// The problem.
        #[source]
        problem: TextProblem,
    },
    /// The parts make sense, and the program does not.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// A part of a program's text makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextProblem {
    /// Something is missing.
    #[error("{what} is missing; add it")]
    Missing {
        /// Name of the field.
        what: &'static str,
    },
    /// Something is of another form.
    #[error("this is to be {what}")]
    Expected {
        /// The form.
        what: &'static str,
    },
    /// A name that stands for nothing here.
    #[error("no {what} is called {name:?}; there are {known}")]
    Unknown {
        /// Its meaning.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A name of two things.
    #[error("{name:?} is there already; give one of them another name")]
    Twice {
        /// The name.
        name: String,
    },
    /// More than there may be.
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
    #[error("{found} values, and it takes {expected}")]
    Count {
        /// Values of the list.
        found: usize,
        /// Values that it is to have.
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
    /// A search that is to store levels and parents.
    #[error("a search stores levels or parents; leave one of them out")]
    TwoMarks,
    /// Segments that are rows and numbered.
    #[error("segments are rows or have numbers; leave one of them out")]
    TwoSegments,
    /// Something of an edge, where there is none.
    #[error("there is no edge here; put it into the code of edges")]
    NoEdge,
}
