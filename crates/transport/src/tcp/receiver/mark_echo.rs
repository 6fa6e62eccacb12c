//! How a receiver tells the sender of ECN marks.

use crate::tcp::congestion_control::EcnEcho;
use crate::tcp::{TcpFlags, TcpSegment};

/// What acknowledgements say of marks.
#[derive(Debug)]
pub(super) struct MarkEcho {
    /// How marks are echoed; none without ECN.
    rule: Option<EcnEcho>,
    /// Whether acknowledgements carry ECE now.
    ece: bool,
}

rocelab_state::state!(MarkEcho { values: ece; kept: rule });

impl MarkEcho {
    pub(super) const fn new(rule: Option<EcnEcho>) -> Self {
        Self { rule, ece: false }
    }

    /// Whether it may tell of marks.
    pub(super) const fn echoes(&self) -> bool {
        self.rule.is_some()
    }

    /// Whether acknowledgements carry ECE now.
    pub(super) const fn ece(&self) -> bool {
        self.ece
    }

    /// A segment arrived. If a change must be told at once, and what came before it apart (RFC 8257
    /// section 3.2), the ECE of that is returned.
    pub(super) fn hear(&mut self, segment: &TcpSegment) -> Option<bool> {
        let ce = segment.is_ce();
        match self.rule {
            Some(EcnEcho::UntilCwr) => {
                self.ece &= !segment.flags.has(TcpFlags::CWR);
                self.ece |= ce;
                None
            }
            Some(EcnEcho::EachSegment) if ce != self.ece => {
                Some(core::mem::replace(&mut self.ece, ce))
            }
            Some(EcnEcho::EachSegment) | None => None,
        }
    }
}
