//! Which analysis tells which detail.

use super::RunError;
use super::error::AnyOf;
use crate::analysis::{AnalysisKind, Detail};

impl Detail {
    /// Refuses a detail that the analysis does not have.
    ///
    /// # Errors
    /// [`RunError::WrongDetail`].
    pub fn check(self, analysis: AnalysisKind) -> Result<(), RunError> {
        if self == Self::Plain || analysis.facts().details.contains(&self) {
            return Ok(());
        }
        Err(RunError::WrongDetail {
            detail: self,
            of: having(self),
            analysis,
        })
    }
}

/// The analyses that have a detail.
fn having(detail: Detail) -> AnyOf {
    let all = AnalysisKind::ALL.into_iter();
    AnyOf(
        all.filter(|kind| kind.facts().details.contains(&detail))
            .collect(),
    )
}
