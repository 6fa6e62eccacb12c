//! The receiving end of a stream, in the NIC of a host: the account of marks, and the order of
//! packets.

use crate::config::Recovery;

/// After a negative acknowledgement, the time (ns) in which there is no other one for the same packet.
const NACK_INTERVAL: u64 = 500_000;

/// What is known of a stream at its receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    /// Whether a packet has come.
    pub(crate) is_created: bool,
    /// The next sequence number in order.
    expected: u32,
    nack_time: u64,
    last_nack: u32,
    milestone: u32,
    /// Whether packets of the account were marked, how many, and of how many in all.
    is_marked: bool,
    marked: u16,
    total: u16,
    /// Bytes that its application has got since its last answer.
    pub(crate) delivered: u64,
    /// Answers that its application has sent.
    pub(crate) answers: u32,
}

/// What becomes of a packet. The numbers are those of the simulator's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is acknowledged.
    Acknowledged = 1,
    /// A negative acknowledgement is sent.
    Refused = 2,
    /// It was there before.
    Duplicate = 3,
    /// It comes too early.
    Early = 4,
    /// It is in order.
    InOrder = 5,
}

/// The simulator divides by a chunk of 0 packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DivisionByZero;

impl Receiver {
    pub(crate) const fn new(recovery: &Recovery) -> Self {
        Self {
            is_created: false,
            expected: 0,
            nack_time: 0,
            last_nack: u32::MAX,
            milestone: recovery.ack_interval,
            is_marked: false,
            marked: 0,
            total: 0,
            delivered: 0,
            answers: 0,
        }
    }

    /// Counts a packet for the next CNP.
    #[inline]
    pub(crate) fn count(&mut self, is_marked: bool) {
        if is_marked {
            self.is_marked = true;
            self.marked = self.marked.wrapping_add(1);
        }
        self.total = self.total.wrapping_add(1);
    }

    /// Empties the account; what it had, if packets were marked.
    pub(crate) fn take_account(&mut self) -> Option<(u16, u16)> {
        let account = self.is_marked.then_some((self.marked, self.total));
        (self.is_marked, self.marked, self.total) = (false, 0, 0);
        account
    }

    /// The sequence number that feedback tells.
    pub(crate) const fn expected(&self) -> u32 {
        self.expected
    }

    /// A packet with the number `seq` came at `now`.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        seq: u32,
        now: u64,
        recovery: &Recovery,
    ) -> Result<Verdict, DivisionByZero> {
        if seq < self.expected {
            return Ok(Verdict::Duplicate);
        }
        if seq == self.expected {
            self.expected = self.expected.wrapping_add(1);
            if self.expected > self.milestone {
                self.milestone = self.milestone.wrapping_add(recovery.ack_interval);
                return Ok(Verdict::Acknowledged);
            }
            let behind = self.expected.checked_rem(recovery.chunk).ok_or(DivisionByZero)?;
            return Ok(if behind == 0 { Verdict::Acknowledged } else { Verdict::InOrder });
        }
        if now <= self.nack_time && self.last_nack == self.expected {
            return Ok(Verdict::Early);
        }
        self.nack_time = now + NACK_INTERVAL;
        self.last_nack = self.expected;
        if recovery.back_to_zero && !recovery.test_read {
            let chunk = self.expected.checked_div(recovery.chunk).ok_or(DivisionByZero)?;
            self.expected = chunk * recovery.chunk;
        }
        Ok(Verdict::Refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recovery(chunk: u32, ack_interval: u32, back_to_zero: bool) -> Recovery {
        Recovery { chunk, ack_interval, back_to_zero, wait_for_ack: false, test_read: false }
    }

    fn verdicts(rules: Recovery, seqs: &[u32]) -> Vec<Verdict> {
        let mut receiver = Receiver::new(&rules);
        seqs.iter().map(|&seq| receiver.receive(seq, 1, &rules).unwrap()).collect()
    }

    #[test]
    fn chunks_and_milestones_are_acknowledged() {
        use Verdict::{Acknowledged as Ack, Duplicate, Early, InOrder, Refused};
        assert_eq!(
            verdicts(recovery(3, 100, false), &[0, 1, 2, 3]),
            [InOrder, InOrder, Ack, InOrder]
        );
        assert_eq!(verdicts(recovery(99, 1, false), &[0, 1, 2]), [InOrder, Ack, Ack]);
        assert_eq!(
            verdicts(recovery(99, 99, false), &[0, 2, 3, 0, 1]),
            [InOrder, Refused, Early, Duplicate, InOrder]
        );
    }

    #[test]
    fn a_loss_may_take_the_receiver_back() {
        let rules = recovery(2, 99, true);
        let mut receiver = Receiver::new(&rules);
        for seq in 0..3 {
            receiver.receive(seq, 1, &rules).unwrap();
        }
        assert_eq!(receiver.receive(9, 1, &rules), Ok(Verdict::Refused));
        assert_eq!(receiver.expected(), 2);
        // The number of the last refusal is the old one, so there is another at once.
        assert_eq!(receiver.receive(9, 2, &rules), Ok(Verdict::Refused));
        assert_eq!(receiver.receive(9, 500_002, &rules), Ok(Verdict::Early));
        assert_eq!(receiver.receive(9, 500_003, &rules), Ok(Verdict::Refused));
    }

    #[test]
    fn a_chunk_of_no_packets_is_divided_by() {
        let rules = recovery(0, 0, false);
        assert_eq!(verdicts(rules, &[0, 1]), [Verdict::Acknowledged; 2]);
        let rules = recovery(0, 1, false);
        assert_eq!(Receiver::new(&rules).receive(0, 1, &rules), Err(DivisionByZero));
    }

    #[test]
    fn an_account_is_told_if_a_packet_was_marked() {
        let mut receiver = Receiver::new(&recovery(1, 1, false));
        receiver.count(false);
        assert_eq!(receiver.take_account(), None);
        receiver.count(true);
        receiver.count(false);
        assert_eq!(receiver.take_account(), Some((1, 2)));
        assert_eq!(receiver.take_account(), None);
    }
}
