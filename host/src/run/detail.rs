//! What a run tells beyond the plain column of its analysis.

use super::{AnalysisKind, RunError};
use std::fmt;

/// More than the plain column of an analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Detail {
    /// Nothing more.
    #[default]
    Plain,
    /// With `bfs`: the parent of every node beside its level. Of the nodes one
    /// level before that have an edge to it, the smallest; a source is its own
    /// parent.
    Parents,
    /// With `reach`: for every node the set of sources that reach it, in place
    /// of whether any does.
    EachSource,
}

impl Detail {
    /// Refuses a detail that the analysis does not have.
    ///
    /// # Errors
    /// [`RunError::WrongDetail`].
    pub fn check(self, analysis: AnalysisKind) -> Result<(), RunError> {
        let of = match self {
            Self::Plain => return Ok(()),
            Self::Parents => AnalysisKind::Bfs,
            Self::EachSource => AnalysisKind::Reach,
        };
        if analysis == of {
            return Ok(());
        }
        Err(RunError::WrongDetail {
            detail: self,
            of,
            analysis,
        })
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "nothing more",
            Self::Parents => "parents",
            Self::EachSource => "sets of sources",
        })
    }
}
