//! One end of a connection, as its host keeps it.

use rocelab_units::SimTime;

use super::queue::List;
use super::sequence::Position;
use super::{TcpConnectionConfig, TcpHostConfig, TcpReceiver, TcpRole, TcpSender};

/// One end of a connection.
#[derive(Debug)]
pub struct TcpConnection {
    config: TcpConnectionConfig,
    pub(super) end: TcpEnd,
    /// Segments that were made and did not leave yet.
    pub(super) waiting: List,
    /// Those of them that may leave.
    pub(super) released: u32,
    /// Those of them that are on their way through the stack.
    pub(super) in_stack: u32,
    /// Their frames (bytes).
    pub(super) waiting_bytes: u64,
    /// Segments that have arrived and are on their way through the stack.
    pub(super) entering: u32,
    /// Whether it stopped making segments because too many wait.
    pub(super) stopped: bool,
    /// Segments made of what was sent before.
    pub(super) retransmissions: u64,
    /// Its entry among the host's timers.
    pub(super) timer_entry: SimTime,
}

rocelab_state::state!(TcpConnection {
    values: waiting, released, in_stack, waiting_bytes, entering, stopped, retransmissions,
        timer_entry;
    states: end;
    kept: config
});

/// Which end it is.
#[derive(Debug)]
pub enum TcpEnd {
    /// The one that sends data.
    Sender(TcpSender),
    /// The one that receives data.
    Receiver(TcpReceiver),
}

impl TcpConnection {
    pub(super) fn new(config: TcpConnectionConfig, host: &TcpHostConfig) -> Self {
        let end = match config.role {
            TcpRole::Sender => TcpEnd::Sender(TcpSender::new(&config, host)),
            TcpRole::Receiver => TcpEnd::Receiver(TcpReceiver::new(&config, host)),
        };
        Self::with_end(config, end)
    }

    /// The receiving end of one that is over: see [`TcpReceiver::after`].
    pub(super) fn after(
        config: TcpConnectionConfig,
        host: &TcpHostConfig,
        delivered: Position,
    ) -> Self {
        let end = TcpEnd::Receiver(TcpReceiver::after(&config, host, delivered));
        Self::with_end(config, end)
    }

    const fn with_end(config: TcpConnectionConfig, end: TcpEnd) -> Self {
        Self {
            config,
            end,
            waiting: List::EMPTY,
            released: 0,
            in_stack: 0,
            waiting_bytes: 0,
            entering: 0,
            stopped: false,
            retransmissions: 0,
            timer_entry: SimTime::NEVER,
        }
    }

    /// What it was told at set-up.
    pub const fn config(&self) -> &TcpConnectionConfig {
        &self.config
    }

    /// The state of its protocol.
    pub const fn end(&self) -> &TcpEnd {
        &self.end
    }

    /// Segments that it sent with payload that was sent before.
    pub const fn retransmissions(&self) -> u64 {
        self.retransmissions
    }

    /// Whether it owes nothing: nothing waits for the wire, and data that arrived is acknowledged.
    pub(super) fn is_idle(&self) -> bool {
        let has_answered = match &self.end {
            TcpEnd::Sender(_) => true,
            TcpEnd::Receiver(receiver) => self.entering == 0 && receiver.has_answered(),
        };
        self.waiting_bytes == 0 && has_answered
    }

    /// When its timer expires; [`SimTime::NEVER`] if none runs.
    pub(super) const fn poll_timeout(&self) -> SimTime {
        match &self.end {
            TcpEnd::Sender(sender) => sender.poll_timeout(),
            TcpEnd::Receiver(receiver) => receiver.poll_timeout(),
        }
    }

    /// What the application is to be told next: id, length, and whether it was sent or received.
    pub(super) fn poll_done(&mut self) -> Option<(u64, u64, TcpRole)> {
        let (done, role) = match &mut self.end {
            TcpEnd::Sender(sender) => (sender.poll_done(), TcpRole::Sender),
            TcpEnd::Receiver(receiver) => (receiver.poll_done(), TcpRole::Receiver),
        };
        done.map(|(id, bytes)| (id, bytes, role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_fit_into_memory() {
        assert!(size_of::<TcpConnection>() <= 512, "{}", size_of::<TcpConnection>());
    }
}
