//! What travels on either kind of link.

use rocelab_wire::{Bth, Extensions};

/// A packet of the InfiniBand transport, without what carries it.
pub(super) struct Carried<'p> {
    /// Whether it goes from the destination to the source.
    pub(super) reverse: bool,
    pub(super) bth: Bth,
    pub(super) extensions: Extensions,
    pub(super) payload: &'p [u8],
}
