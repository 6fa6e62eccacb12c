//! What all segments of one end have in common.

use rocelab_wire::Ecn;

use super::sequence::{Numbering, Position};
use super::{TcpConnectionConfig, TcpHostConfig, TcpSegment};

/// What the segments of one end of a connection say that does not change.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentTemplate {
    pub(super) numbering: Numbering,
    /// The connection's number at the other end.
    peer: u32,
    /// The receive window that they advertise (bytes).
    pub(super) window: u32,
    priority: u8,
}

impl SegmentTemplate {
    pub(super) fn new(config: &TcpConnectionConfig, host: &TcpHostConfig) -> Self {
        Self {
            numbering: Numbering::new(config.initial_sequence),
            peer: config.peer,
            window: host.parameters.window(),
            priority: host.parameters.priority,
        }
    }

    /// A segment without payload: its own position and the one that it acknowledges, and its ECN codepoint.
    #[inline]
    pub(super) fn segment(&self, at: Position, acknowledged: Position, ecn: Ecn) -> TcpSegment {
        let (seq, ack) = (self.numbering.wire(at), self.numbering.wire(acknowledged));
        TcpSegment::new(self.peer, seq, ack, self.window).with_class(self.priority, ecn)
    }
}
