//! What an end of a connection waits for, for those who look at it from outside.

use rocelab_units::SimTime;

use super::connection::TcpEnd;
use super::{TcpHost, TcpSender};

/// What an end of a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpStanding {
    /// All that was posted is acknowledged; or it receives, and no acknowledgement is made.
    NoWork,
    /// All was sent at least once, and not all is acknowledged.
    Unanswered,
    /// The congestion window allows no more in flight.
    CongestionWindow,
    /// The receive window ends.
    ReceiveWindow,
    /// A segment is on its way from the protocol to the wire.
    InStack,
    /// A segment is through the stack, and waits for the port.
    MaySend,
}

/// How often a sender has noticed that something was lost.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize,
)]
pub struct TcpLosses {
    /// Fast retransmits (RFC 6675, section 5).
    pub fast_retransmits: u32,
    /// Expiries of the retransmission timer (RFC 6298, section 5.5).
    pub timeouts: u32,
}

impl TcpHost {
    /// What an end of a connection waits for; none if there is no such connection.
    pub fn standing(&self, number: u32) -> Option<TcpStanding> {
        let connection = self.connection(number)?;
        Some(match connection.end() {
            _ if connection.released > 0 => TcpStanding::MaySend,
            _ if connection.waiting_bytes > 0 => TcpStanding::InStack,
            TcpEnd::Sender(sender) => sender.waits_for(),
            TcpEnd::Receiver(_) => TcpStanding::NoWork,
        })
    }

    /// Segments of a connection that are made and have not left.
    pub fn waiting(&self, number: u32) -> u32 {
        self.connection(number).map_or(0, |connection| connection.released + connection.in_stack)
    }

    /// When those of them come out of the stack that are in it: the last that was made first, which is
    /// found at once.
    pub fn leaving_stack(&self, number: u32) -> impl Iterator<Item = SimTime> + '_ {
        let in_stack = self.connection(number).map_or(0, |connection| connection.in_stack);
        let own = self.outbound.entries().rev().filter(move |&(_, &of)| of == number);
        own.map(|(leaves, _)| leaves).take(in_stack as usize)
    }

    /// When the segment of a connection that arrived last comes from the wire to the protocol; none
    /// if it has.
    pub fn last_received(&self, number: u32) -> Option<SimTime> {
        let mut inside = self.inbound.entries().rev();
        let last = inside.find(|(_, queued)| queued.segment.connection == number);
        last.map(|(leaves, _)| leaves)
    }
}

impl TcpSender {
    /// What it waits for when it makes no segment.
    pub(super) fn waits_for(&self) -> TcpStanding {
        if self.acknowledged() == self.posted() {
            TcpStanding::NoWork
        } else if self.sent() == self.posted() {
            TcpStanding::Unanswered
        } else if self.has_part() {
            TcpStanding::CongestionWindow
        } else {
            TcpStanding::ReceiveWindow
        }
    }
}
