//! The explanations so far, and the first defect that was found in one.

use super::super::error::ExplainError;
use super::super::explanation::{Explanation, Part};
use super::super::pauses::Pauses;

/// What has been explained.
#[derive(Debug, Default)]
pub(super) struct Explanations {
    all: Vec<Explanation>,
    error: Option<ExplainError>,
}

impl Explanations {
    /// Keeps one with the parts of its time; none if its way was lost.
    pub(super) fn keep(&mut self, mut explanation: Explanation, parts: Option<Vec<Part>>) {
        let what = explanation.what.clone();
        let Some(parts) = parts else {
            self.error.get_or_insert(ExplainError::Untraced(what));
            return;
        };
        explanation.parts = parts;
        let (elapsed_ps, sum_ps) = (explanation.elapsed_ps, explanation.sum_ps());
        if sum_ps != elapsed_ps {
            self.error.get_or_insert(ExplainError::Sum { what, elapsed_ps, sum_ps });
        }
        self.all.push(explanation);
    }

    /// All of them, in order, when all deadlocks are known.
    ///
    /// # Errors
    /// The first defect.
    pub(super) fn finish(mut self, pauses: &Pauses<'_>) -> Result<Vec<Explanation>, ExplainError> {
        for explanation in &mut self.all {
            pauses.name_roots(&mut explanation.parts);
        }
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.all),
        }
    }
}
