//! NICs that handle what arrives no faster than they can.

use rocelab_units::{Bandwidth, Bytes};

use crate::scenario::TranslationConfig;

/// A NIC that handles what arrives no faster than it can.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowReceiver {
    /// Memory for what is not handled yet.
    pub buffer: Bytes,
    /// Bit p: priority p is lossless at its switch.
    pub lossless: u8,
    /// With more than this in it, the lossless priorities are paused.
    pub xoff: Bytes,
    /// With no more than this, they go on.
    pub xon: Bytes,
    /// How fast frames are handled; at once without it.
    pub rate: Option<Bandwidth>,
    /// What translations cost; nothing without it.
    pub translation: Option<TranslationConfig>,
}
