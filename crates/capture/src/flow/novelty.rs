//! Packets that are new, late, or were sent before.

/// What a packet's PSN says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    New,
    /// It was missing.
    Late,
    /// It was sent before.
    Again,
}
