//! What features have switches send.

use super::packet::Packet;

/// A frame that a feature has a switch send to the host that it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emission<R> {
    /// The switch, by its place among the switches.
    pub(super) switch: u32,
    /// A port of the switch, by its number of all: the frame counts as what came in there, because each frame in a
    /// switch's memory has come in by some port.
    pub(super) port: u32,
    /// The frame, of the InfiniBand transport.
    pub(super) packet: Packet<R>,
}
