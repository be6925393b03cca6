//! Findings: what an analysis tells people.

use crate::model::Program;
use crate::named::named;
use serde::Serialize;
use std::fmt;

named! {
    /// The kind of a finding.
    #[derive(Serialize)]
    #[serde(rename_all = "kebab-case")]
    #[non_exhaustive]
    FindingKind {
        UnreachableFunction = "unreachable-function": "No call from outside reaches the function.",
        DeadStore = "dead-store": "Nothing reads the value that is stored.",
        UninitialisedRead = "uninitialised-read":
            "A way from the entry reads the local before it is written.",
        RedundantExpression = "redundant-expression":
            "Every way here has computed the value already.",
        ReachesImport = "reaches-import": "Calls from outside reach the import.",
        ResolvedCall = "resolved-call":
            "The call reaches fewer functions than are of its type and in its table.",
        Taint = "taint": "Data from a source reaches a sink.",
    }
}

impl FindingKind {
    /// Whether it is a likely mistake, and not a property.
    #[must_use]
    pub const fn is_warning(self) -> bool {
        matches!(self, Self::Taint)
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Path of the file.
    pub file: String,
    /// Name of the function.
    pub function: String,
    /// Number of the function in the file.
    pub index: u32,
    /// Offset in the file, bytes; a line number for text. `None` for imports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u32>,
    /// Whether the offset is a line.
    #[serde(skip)]
    pub is_line: bool,
}

impl Place {
    /// A place in function number `function` of the program.
    #[must_use]
    pub fn of(program: &Program, function: usize, offset: Option<u32>) -> Self {
        let at = &program.functions[function];
        let start = at.import.is_none().then_some(at.body.place.start);
        Self {
            is_line: program.modules[at.module as usize].image.0.is_empty(),
            file: program.modules[at.module as usize].path.clone(),
            function: at.label(),
            index: at.index,
            offset: offset.or(start),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(line) if self.is_line => write!(f, "{}:{line} in {}", self.file, self.function),
            Some(offset) => write!(f, "{}:{offset:#x} in {}", self.file, self.function),
            None => write!(f, "{} in {}", self.function, self.file),
        }
    }
}

/// A step of a witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its place.
    #[serde(flatten)]
    pub place: Place,
    /// The event, in words.
    pub what: String,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// Its place.
    #[serde(flatten)]
    pub place: Place,
    /// The finding in a sentence.
    pub message: String,
    /// How it comes about, step by step; empty where the place says it all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub witness: Vec<Step>,
}

impl Finding {
    /// A finding without a way.
    pub(crate) fn new(kind: FindingKind, place: Place, message: String) -> Self {
        Self {
            kind,
            place,
            message,
            witness: Vec::new(),
        }
    }
}
