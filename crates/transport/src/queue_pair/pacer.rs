//! When a queue pair may send: its congestion control, and the time of its next frame.

use std::collections::VecDeque;

use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

use crate::Algorithm;
use crate::congestion_control::{Ack, CongestionControl, Feedback, LossEvent, Sent};
use crate::sequence::Sequence;

/// Preamble, start-of-frame delimiter and interpacket gap (bytes) (IEEE 802.3).
const PREAMBLE_AND_GAP: u64 = 20;

/// Congestion control and pacing of one queue pair. The controller is built when the first data
/// leaves: many queue pairs only receive.
#[derive(Debug)]
pub(super) struct Pacer {
    control: Option<Box<dyn CongestionControl>>,
    /// Its last answers.
    rate: Bandwidth,
    window: u64,
    timeout: SimTime,
    counts_sent_bytes: bool,
    /// When the next data frame may leave.
    release: SimTime,
    line_rate: Bandwidth,
    feedback: Feedback,
    /// Packets whose acknowledgement gives a round-trip time, and when they left.
    probes: VecDeque<(Sequence, SimTime)>,
}

impl Pacer {
    pub(super) fn new(algorithm: &Algorithm, line_rate: Bandwidth) -> Self {
        Self {
            control: None,
            rate: line_rate,
            window: u64::MAX,
            timeout: SimTime::NEVER,
            counts_sent_bytes: false,
            release: SimTime::ZERO,
            line_rate,
            feedback: algorithm.feedback(),
            probes: VecDeque::new(),
        }
    }

    /// Builds the controller, if that was not done before.
    #[inline]
    pub(super) fn start(&mut self, algorithm: &Algorithm) {
        if self.control.is_none() {
            let control = algorithm.build(self.line_rate);
            self.counts_sent_bytes = control.counts_sent_bytes();
            self.control = Some(control);
            self.refresh();
        }
    }

    /// A data frame begins to leave.
    #[inline]
    pub(super) fn on_sent(&mut self, now: SimTime, frame_len: u16) {
        if self.counts_sent_bytes
            && let Some(control) = &mut self.control
            && control.on_sent(&Sent { now, bytes: u64::from(frame_len) })
        {
            self.refresh();
        }
        if self.rate < self.line_rate {
            let paced = Bytes::new(u64::from(frame_len) + PREAMBLE_AND_GAP);
            self.release = now.saturating_add(self.rate.transmission_time(paced));
        }
    }

    /// A packet that asks for an acknowledgement leaves for the first time.
    #[inline]
    pub(super) fn probe(&mut self, now: SimTime, sequence: Sequence) {
        if self.feedback == Feedback::Rtt {
            self.probes.push_back((sequence, now));
        }
    }

    /// `bytes` were acknowledged by a packet that says that all before `reached` arrived.
    #[inline]
    pub(super) fn on_ack(&mut self, now: SimTime, bytes: u64, reached: Sequence, becn: bool) {
        if !matches!(self.feedback, Feedback::Rtt | Feedback::EcnEcho) {
            return;
        }
        let rtt = self.round_trip_time(now, reached);
        let ecn_echo = becn && self.feedback == Feedback::EcnEcho;
        self.tell(|control| control.on_ack(&Ack { now, acked_bytes: bytes, rtt, ecn_echo }));
    }

    pub(super) fn on_cnp(&mut self, now: SimTime) {
        if matches!(self.feedback, Feedback::Cnp { .. }) {
            self.tell(|control| control.on_cnp(now));
        }
    }

    /// What left before gives no round-trip time any more: it may be sent twice.
    pub(super) fn on_loss(&mut self, now: SimTime, timeout: bool) {
        self.probes.clear();
        self.tell(|control| control.on_loss(&LossEvent { now, timeout }));
    }

    pub(super) fn handle_timeout(&mut self, now: SimTime) {
        if self.timeout <= now {
            self.tell(|control| control.handle_timeout(now));
        }
    }

    /// When the controller's next timer expires.
    #[inline]
    pub(super) const fn timeout(&self) -> SimTime {
        self.timeout
    }

    /// When the next data frame may leave.
    #[inline]
    pub(super) const fn release(&self) -> SimTime {
        self.release
    }

    /// The most unacknowledged payload (bytes).
    #[inline]
    pub(super) const fn window(&self) -> u64 {
        self.window
    }

    /// The present rate.
    #[inline]
    pub(super) const fn rate(&self) -> Bandwidth {
        self.rate
    }

    #[inline]
    pub(super) const fn feedback(&self) -> Feedback {
        self.feedback
    }

    /// As if the algorithm had asked for this.
    #[cfg(test)]
    pub(super) fn declare(&mut self, feedback: Feedback) {
        self.feedback = feedback;
    }

    fn round_trip_time(&mut self, now: SimTime, reached: Sequence) -> Option<Duration> {
        let mut newest = None;
        while let Some(&(sequence, left)) = self.probes.front() {
            if sequence >= reached {
                break;
            }
            newest = (sequence + 1 == reached).then(|| now.since(left));
            self.probes.pop_front();
        }
        newest
    }

    fn tell(&mut self, what: impl FnOnce(&mut dyn CongestionControl)) {
        if let Some(control) = &mut self.control {
            what(control.as_mut());
            self.refresh();
        }
    }

    fn refresh(&mut self) {
        let Some(control) = &self.control else { return };
        self.rate = Bandwidth::from_bps(whole_bits(control.rate()));
        self.window = control.window().unwrap_or(u64::MAX).max(1);
        self.timeout = control.poll_timeout();
    }
}

/// Rounds down, to at least 1 bit/s, so that a transmission time exists.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
fn whole_bits(rate: f64) -> u64 {
    (rate as u64).max(1)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Writes down what it is told.
    #[derive(Debug)]
    struct Recorder(Arc<Mutex<Vec<Ack>>>);

    impl CongestionControl for Recorder {
        fn rate(&self) -> f64 {
            1e9
        }

        fn on_ack(&mut self, ack: &Ack) {
            self.0.lock().unwrap().push(*ack);
        }
    }

    fn recording(feedback: Feedback) -> (Pacer, Arc<Mutex<Vec<Ack>>>) {
        let acks = Arc::new(Mutex::new(Vec::new()));
        let mut pacer = Pacer::new(&Algorithm::None(Default::default()), Bandwidth::from_gbps(1));
        pacer.feedback = feedback;
        pacer.control = Some(Box::new(Recorder(Arc::clone(&acks))));
        (pacer, acks)
    }

    const fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    #[test]
    fn round_trip_times_belong_to_the_acknowledged_packet() {
        let (mut pacer, acks) = recording(Feedback::Rtt);
        pacer.probe(at(0), 10);
        pacer.probe(at(1), 20);
        pacer.probe(at(2), 30);
        // Everything before 21: packet 20 was answered, 10 was not. Nobody waited for 24.
        pacer.on_ack(at(8), 100, 21, true);
        pacer.on_ack(at(9), 100, 25, false);
        pacer.on_ack(at(10), 100, 31, false);
        let rtts: Vec<_> = acks.lock().unwrap().iter().map(|ack| ack.rtt).collect();
        assert_eq!(rtts, [Some(Duration::from_us(7)), None, Some(Duration::from_us(8))]);
        assert!(acks.lock().unwrap().iter().all(|ack| !ack.ecn_echo), "it was not asked for");
    }

    #[test]
    fn a_loss_spoils_the_round_trip_times_under_way() {
        let (mut pacer, acks) = recording(Feedback::Rtt);
        pacer.probe(at(0), 10);
        pacer.on_loss(at(1), false);
        pacer.on_ack(at(8), 100, 11, false);
        assert_eq!(acks.lock().unwrap()[0].rtt, None);
    }

    #[test]
    fn feedback_is_what_was_declared() {
        let (mut pacer, acks) = recording(Feedback::EcnEcho);
        pacer.probe(at(0), 10);
        pacer.on_ack(at(8), 100, 11, true);
        let expected = Ack { now: at(8), acked_bytes: 100, rtt: None, ecn_echo: true };
        assert_eq!(*acks.lock().unwrap(), [expected]);
        for feedback in [Feedback::None, Feedback::Cnp { min_interval: Duration::ZERO }] {
            let (mut pacer, acks) = recording(feedback);
            pacer.on_ack(at(8), 100, 11, true);
            assert!(acks.lock().unwrap().is_empty());
        }
    }
}
