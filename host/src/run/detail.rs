//! Details of analyses.

use super::RunError;
use crate::analysis::{AnalysisKind, AnyOf, Detail};

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
            of: AnyOf::with(|facts| facts.details.contains(&self)),
            analysis,
        })
    }
}
