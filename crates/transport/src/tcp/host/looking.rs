//! What the connections of a host wait for, and what of theirs is in the stack.

use rocelab_units::SimTime;

use super::TcpHost;
use crate::tcp::connection::TcpEnd;
use crate::tcp::standing::TcpStanding;

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
