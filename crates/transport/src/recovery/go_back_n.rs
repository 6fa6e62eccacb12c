//! Go-back-N: the recovery of the InfiniBand reliable connection.

use super::Reliability;

/// The responder drops what follows a gap and asks once for the packet that it expects; the
/// requester resumes with that one.
#[derive(Debug)]
pub(super) struct GoBackN;

/// Its rules: those of every scheme that says nothing else.
pub(super) const fn rules() -> GoBackN {
    GoBackN
}

impl Reliability for GoBackN {}
