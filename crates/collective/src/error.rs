//! What is wrong with a collective or its options.

/// A setting that does not fit: with the key, its value, the reason and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {reason}; {fix}")]
pub struct Error {
    /// The key, as a scenario has it.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// Why it does not fit.
    pub reason: String,
    /// What to write instead.
    pub fix: String,
}

impl Error {
    /// That `value` of `key` does not fit.
    pub(crate) fn new(
        key: &'static str,
        value: impl ToString,
        reason: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { key, value: value.to_string(), reason: reason.into(), fix: fix.into() }
    }
}
