//! Whether a packet is new, late, or was sent before.

/// What a packet's PSN shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    New,
    /// The PSN was missing.
    Late,
    /// The PSN was sent before.
    Again,
}
