//! The responses of one direction.

use std::time::Duration;

use rocelab_wire::{Psn, Syndrome};

use super::damaged::Damaged;
use super::missing::Gap;
use super::novelty::Novelty;
use super::position::{Position, Step};
use super::requests::Requests;
use crate::fault::Fault;
use crate::observation::Observation;

/// A response packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    pub(super) step: Step,
    pub(super) psn: Psn,
    /// Number of the frame.
    pub(super) number: u64,
    pub(super) time: Duration,
    pub(super) syndrome: Option<Syndrome>,
    /// Whether it may be a NAK: the capture ends before the header that shows it.
    pub(super) may_be_nak: bool,
}

/// The read responses of one direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Responses {
    last: Option<Psn>,
    /// The PSN after the latest one that was sent.
    high: Option<Psn>,
    position: Position,
    /// PSNs of responses with a wrong checksum.
    damaged: Damaged,
}

impl Responses {
    /// Takes a read response with a wrong checksum.
    pub(super) fn note_damaged(&mut self, psn: Psn) {
        self.damaged.add(psn, 1);
    }

    /// Whether the response begins anew at the expected PSN although earlier responses are not
    /// complete. This is right if the read was requested again from there.
    pub(super) fn is_broken_off_by(&self, response: &Response) -> bool {
        let opcode = response.step.opcode;
        (opcode.is_first() || opcode.is_only())
            && matches!(self.position, Position::Within(_))
            && self.last.map(|last| last.wrapping_add(1)) == Some(response.psn)
    }

    /// Allows any response next: a request that is not in the capture may have asked for it.
    pub(super) fn expect_any(&mut self) {
        self.position = Position::Unknown;
    }

    /// Takes a read response.
    pub(super) fn observe_read(
        &mut self,
        response: &Response,
        requests: Option<&mut Requests>,
        faults: &mut Vec<Fault>,
        observations: &mut Vec<Observation>,
    ) -> Novelty {
        let psn = response.psn;
        let mut step = response.step;
        let is_requested = requests.as_deref().is_some_and(|requests| requests.reads_from(psn));
        let next = self.last.map(|last| last.wrapping_add(1));
        if next != Some(psn) {
            if let (Some(next), Position::Within(_)) = (next, self.position)
                && let count @ 1.. = psn.distance_from(next)
            {
                let parts = self.damaged.split(next, count.unsigned_abs());
                observations.extend(parts.iter().filter_map(Gap::observation));
            }
            self.position = Position::Unknown;
        } else if is_requested {
            // The responses to a repeated read may continue where the earlier ones ended, or start
            // anew.
            self.position = match self.position {
                Position::Between if step.opcode.is_first() || step.opcode.is_only() => {
                    Position::Between
                }
                _ => Position::Unknown,
            };
        }
        if step.opcode.is_first() || step.opcode.is_only() {
            step.announced =
                requests.as_deref().and_then(|requests| requests.read_length_from(psn));
        }
        self.position.step(&step, faults);
        if (step.opcode.is_first() || step.opcode.is_middle())
            && let Some(requests) = requests
        {
            requests.learn_path_mtu(step.len);
        }
        self.count(psn, observations)
    }

    fn count(&mut self, psn: Psn, observations: &mut Vec<Observation>) -> Novelty {
        let again = self.high.is_some_and(|high| psn.is_before(high));
        if again {
            observations.push(if self.last == Some(psn) {
                Observation::Duplicate { psn }
            } else {
                Observation::Retransmission { psn }
            });
        } else {
            self.high = Some(psn.wrapping_add(1));
        }
        self.last = Some(psn);
        if again { Novelty::Again } else { Novelty::New }
    }
}
