//! What is known to be lost, and what is being done about it (RFC 6675).

use crate::tcp::scoreboard::{DUP_THRESH, Scoreboard};
use crate::tcp::sequence::Position;

/// The scoreboard, and the recovery that is under way.
#[derive(Debug, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) struct LossRecovery {
    pub(super) scoreboard: Scoreboard,
    pub(super) phase: Phase,
    /// Acknowledgements in a row that only brought selective ones.
    dup_acks: u64,
}

/// What is being done about losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, borsh::BorshSerialize, borsh::BorshDeserialize)]
pub(super) enum Phase {
    /// Nothing is known to be lost.
    Open,
    /// Fast recovery, until all before `point` is acknowledged.
    Recovery {
        point: Position,
        /// The first segment is still to be sent again, whatever the window says.
        first_due: bool,
        /// The last segment was sent again to bring an acknowledgement: RFC 6675's RescueRxt.
        rescued: bool,
    },
    /// The timer expired: slow start, until all before `point` is acknowledged.
    Loss { point: Position },
}

impl LossRecovery {
    pub(super) fn new() -> Self {
        Self { scoreboard: Scoreboard::default(), phase: Phase::Open, dup_acks: 0 }
    }

    /// Whether nothing is known to be lost.
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// An acknowledgement only brought selective ones.
    pub(super) const fn count_duplicate(&mut self) {
        self.dup_acks += 1;
    }

    /// An acknowledgement moved the window's start.
    pub(super) const fn forget_duplicates(&mut self) {
        self.dup_acks = 0;
    }

    /// Ends what is over once all before `una` is acknowledged; whether the next is to begin, since the
    /// segment at `una` is lost.
    pub(super) fn judge(&mut self, una: Position) -> bool {
        match self.phase {
            Phase::Recovery { point, .. } | Phase::Loss { point } if una < point => {}
            Phase::Recovery { .. } | Phase::Loss { .. } => self.phase = Phase::Open,
            Phase::Open => {}
        }
        let lost = self.scoreboard.is_first_lost(una) || self.dup_acks >= DUP_THRESH;
        self.is_open() && lost
    }

    /// Fast recovery begins, with `una` to `nxt` in flight.
    pub(super) fn begin(&mut self, una: Position, nxt: Position) {
        self.scoreboard.begin(una);
        self.phase = Phase::Recovery { point: nxt, first_due: true, rescued: false };
    }

    /// The timer expired: all from `una` to `nxt` is lost.
    pub(super) fn lose_all(&mut self, una: Position, nxt: Position) {
        self.dup_acks = 0;
        self.scoreboard.lose_all(una, nxt);
        self.phase = Phase::Loss { point: nxt };
    }

    /// A segment of a fast recovery goes again.
    pub(super) const fn note_resent(&mut self, rescues: bool) {
        if let Phase::Recovery { first_due, rescued, .. } = &mut self.phase {
            *first_due = false;
            *rescued |= rescues;
        }
    }
}
