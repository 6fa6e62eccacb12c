//! What a sender waits for.

use super::TcpSender;
use crate::tcp::standing::TcpStanding;

impl TcpSender {
    /// What it waits for when it makes no segment.
    pub(in crate::tcp) fn waits_for(&self) -> TcpStanding {
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
