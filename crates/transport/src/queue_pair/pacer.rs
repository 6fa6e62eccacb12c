//! When a queue pair may send: its congestion control, and the time of its next frame.

mod checkpoint;

use std::collections::VecDeque;

use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};

use crate::config::is_infiniband;
use crate::congestion_control::{
    Ack, CongestionControl, Feedback, Late, LossEvent, Path, Sent, Telemetry,
};
use crate::sequence::Sequence;
use crate::{NicConfig, QueuePairProfile};

/// Preamble, start-of-frame delimiter and interpacket gap (bytes) (IEEE 802.3).
const PREAMBLE_AND_GAP: u8 = 20;

/// Congestion control and pacing of one queue pair. The controller is built when the first data
/// leaves: many queue pairs only receive. While there is nothing to send it sleeps: its timers
/// wake nobody, and are served at their times, in order, when it is needed again.
#[derive(Debug)]
pub(super) struct Pacer {
    control: Option<Box<dyn CongestionControl>>,
    /// Its last answers.
    rate: Bandwidth,
    window: u64,
    timeout: SimTime,
    asleep: bool,
    counts_sent_bytes: bool,
    /// What a frame takes on its link beside its own bytes: none on InfiniBand, whose delimiters are counted with the frame.
    between_frames: u8,
    /// Data frames that have left, modulo 2^32.
    departures: u32,
    /// When the next data frame may leave: worked out anew when a frame leaves, and when the rate
    /// changes.
    release: SimTime,
    line_rate: Bandwidth,
    feedback: Feedback,
    /// Packets whose acknowledgement gives a round-trip time, and when they left.
    probes: VecDeque<(Sequence, SimTime)>,
}

/// What an acknowledgement changed. Positions count the queue pair's payload from its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged<'a> {
    /// Payload that is newly acknowledged (bytes).
    pub(super) bytes: u64,
    /// All packets before this one have arrived.
    pub(super) reached: Sequence,
    /// The payload before it (bytes).
    pub(super) position: u64,
    /// Position of the next packet to send (bytes).
    pub(super) next_position: u64,
    /// Whether it echoes congestion.
    pub(super) becn: bool,
    /// What switches wrote into the packet that it answers.
    pub(super) telemetry: Telemetry<'a>,
    /// The round-trip time that follows from it, if one does.
    pub(super) told_rtt: Option<Duration>,
}

impl Pacer {
    pub(super) fn new(profile: &QueuePairProfile, nic: &NicConfig) -> Self {
        let line_rate = nic.line_rate;
        let is_infiniband = is_infiniband(nic.encapsulation_len);
        Self {
            control: None,
            rate: line_rate,
            window: u64::MAX,
            timeout: SimTime::NEVER,
            asleep: false,
            counts_sent_bytes: false,
            between_frames: if is_infiniband { 0 } else { PREAMBLE_AND_GAP },
            departures: 0,
            release: SimTime::ZERO,
            line_rate,
            feedback: profile.congestion_control.feedback(line_rate),
            probes: VecDeque::new(),
        }
    }

    /// Data will leave: builds the controller, if that was not done before, or wakes it. `active` counts
    /// the queue pairs of the NIC whose controllers are awake. One whose packets are not `acknowledged`
    /// starts as if it were alone, since nothing would raise its rate. The `seed` is that of the [path](Path::seed).
    #[inline]
    pub(super) fn start(
        &mut self,
        now: SimTime,
        profile: &QueuePairProfile,
        active: &mut u32,
        (acknowledged, seed): (impl FnOnce() -> bool, impl FnOnce() -> u64),
    ) {
        if self.control.is_none() {
            let others = if acknowledged() { *active } else { 0 };
            let start = Path { start: now, seed: seed(), others, ..path(profile, self.line_rate) };
            self.control = Some(self.build(profile, &start));
            self.refresh(now);
            self.asleep = false;
            *active += 1;
        } else {
            self.wake(now, active);
        }
    }

    /// There is something to send again: serves the timers that expired meanwhile, which may have
    /// raised the rate. What is left of a gap then passes at the new rate from `now` on: between the
    /// timers and `now` it passed at the old one, so that it may end later than if it had been awake.
    /// `active` counts the queue pairs of the NIC whose controllers are awake.
    #[inline]
    pub(super) fn wake(&mut self, now: SimTime, active: &mut u32) {
        if self.asleep {
            self.asleep = false;
            *active += 1;
            self.handle_timeout(now);
        }
    }

    /// Builds the controller.
    pub(super) fn build(
        &mut self,
        profile: &QueuePairProfile,
        path: &Path,
    ) -> Box<dyn CongestionControl> {
        let control = profile.congestion_control.build(path);
        self.counts_sent_bytes = control.counts_sent_bytes();
        if profile.control_latency == Duration::ZERO {
            return control;
        }
        Box::new(Late::new(control, profile.control_latency))
    }

    /// There is nothing to send, and nothing to wait for. `active` is as in [`start`](Self::start).
    #[inline]
    pub(super) const fn sleep(&mut self, active: &mut u32) {
        *active -= self.is_active() as u32;
        self.asleep = true;
    }

    /// Whether the controller is there and awake.
    #[inline]
    pub(super) const fn is_active(&self) -> bool {
        self.control.is_some() && !self.asleep
    }

    /// A data frame begins to leave.
    #[inline]
    pub(super) fn on_sent(&mut self, now: SimTime, frame_len: u16) {
        if self.counts_sent_bytes
            && let Some(control) = &mut self.control
            && control.on_sent(&Sent { now, bytes: u64::from(frame_len) })
        {
            self.refresh(now);
        }
        self.release = now;
        self.departures = self.departures.wrapping_add(1);
        if self.rate < self.line_rate {
            let paced = Bytes::new(u64::from(frame_len) + u64::from(self.between_frames));
            self.release = now.saturating_add(self.rate.transmission_time(paced));
        }
    }

    /// A change of the rate moves the next departure, in either direction, as in a NIC's rate limiter:
    /// what is left of the gap passes at the new rate.
    fn change_rate(&mut self, now: SimTime, rate: Bandwidth) {
        let left = u128::from(self.release.since(now).ps());
        let old = core::mem::replace(&mut self.rate, rate).min(self.line_rate);
        if left > 0 {
            let bits = left * u128::from(old.bits_per_second());
            let left = bits.div_ceil(u128::from(rate.min(self.line_rate).bits_per_second()));
            let left = Duration::from_ps(u64::try_from(left).unwrap_or(u64::MAX));
            self.release = now.saturating_add(left);
        }
    }

    /// A packet that asks for an acknowledgement leaves for the first time.
    #[inline]
    pub(super) fn probe(&mut self, now: SimTime, sequence: Sequence) {
        if self.feedback.measures_round_trip() {
            self.probes.push_back((sequence, now));
        }
    }

    /// Something was acknowledged.
    #[inline]
    pub(super) fn on_ack(&mut self, now: SimTime, acknowledged: &Acknowledged<'_>) {
        if !self.feedback.is_by_ack() {
            return;
        }
        let measured = self.round_trip_time(now, acknowledged.reached);
        let rtt = acknowledged.told_rtt.or(measured);
        let ack = Ack {
            now,
            acked_bytes: acknowledged.bytes,
            acknowledged: acknowledged.position,
            sent: acknowledged.next_position,
            rtt,
            ecn_echo: acknowledged.becn && self.feedback == Feedback::EcnEcho,
            telemetry: acknowledged.telemetry,
        };
        self.tell(now, |control| control.on_ack(&ack));
    }

    /// A notification of congestion arrived. Those who follow echoes hear of READ data by it, on InfiniBand.
    pub(super) fn on_cnp(&mut self, now: SimTime) {
        if matches!(self.feedback, Feedback::Cnp { .. } | Feedback::EcnEcho) {
            if self.asleep {
                self.handle_timeout(now);
            }
            self.tell(now, |control| control.on_cnp(now));
        }
    }

    /// A switch's notification arrived, with its quantized feedback.
    pub(super) fn on_cnm(&mut self, now: SimTime, feedback: u8) {
        if self.feedback == Feedback::Qcn {
            if self.asleep {
                self.handle_timeout(now);
            }
            self.tell(now, |control| control.on_cnm(now, feedback));
        }
    }

    /// What left before gives no round-trip time any more: it may be sent twice.
    pub(super) fn on_loss(&mut self, now: SimTime, timeout: bool) {
        self.probes.clear();
        self.tell(now, |control| control.on_loss(&LossEvent { now, timeout }));
    }

    /// Serves the timers that have expired, each with the time that it was set to.
    pub(super) fn handle_timeout(&mut self, now: SimTime) {
        if self.timeout <= now {
            self.tell(now, |control| {
                while let Some((timer, time)) = due(control, now) {
                    control.expire(timer, time);
                }
            });
        }
    }

    /// When the controller's next timer wakes it.
    #[inline]
    pub(super) const fn timeout(&self) -> SimTime {
        if self.asleep { SimTime::NEVER } else { self.timeout }
    }

    /// When the next data frame may leave.
    #[inline]
    pub(super) const fn release(&self) -> SimTime {
        self.release
    }

    /// Data frames that have left, modulo 2^32.
    pub(super) const fn departures(&self) -> u32 {
        self.departures
    }

    /// The most unacknowledged payload (bytes).
    #[inline]
    pub(super) const fn window(&self) -> u64 {
        self.window
    }

    /// The congestion control's `alpha` at `now`, if it has begun and keeps one.
    pub(super) fn alpha(&self, now: SimTime) -> Option<f64> {
        self.control.as_ref()?.alpha(now)
    }

    /// The present rate.
    #[inline]
    pub(super) const fn rate(&self) -> Bandwidth {
        self.rate
    }

    /// Whether data asks switches for notifications: it has a CN-TAG.
    #[inline]
    pub(super) const fn is_notified(&self) -> bool {
        matches!(self.feedback, Feedback::Qcn)
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

    fn tell(&mut self, now: SimTime, what: impl FnOnce(&mut dyn CongestionControl)) {
        if let Some(control) = &mut self.control {
            what(control.as_mut());
            self.refresh(now);
        }
    }

    fn refresh(&mut self, now: SimTime) {
        let Some(control) = &mut self.control else { return };
        // A transmission time exists from 1 bit/s on.
        let rate = control.rate().max(Bandwidth::from_bps(1));
        self.window = control.window().unwrap_or(u64::MAX).max(1);
        self.timeout = control.timers().map_or(SimTime::NEVER, |timers| timers.next());
        if rate != self.rate {
            self.change_rate(now, rate);
        }
    }
}

/// The path of a queue pair of which nothing more is known.
fn path(profile: &QueuePairProfile, line_rate: Bandwidth) -> Path {
    Path {
        line_rate,
        base_rtt: profile.base_rtt,
        bdp: line_rate.bytes_in(profile.base_rtt).get(),
        path_mtu: profile.path_mtu.bytes(),
        others: 0,
        seed: 0,
        start: SimTime::ZERO,
    }
}

/// The timer to serve next, and when it expired.
fn due(control: &mut dyn CongestionControl, now: SimTime) -> Option<(usize, SimTime)> {
    let timers = control.timers()?;
    timers.due(now).map(|timer| (timer, timers.deadline(timer)))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::congestion_control::Timers;

    /// Writes down what it is told; a timer expires every 10 us.
    #[derive(Debug)]
    struct Recorder {
        acks: Log<Ack<'static>>,
        expired: Log<SimTime>,
        timers: Timers,
    }

    rocelab_state::state!(Recorder { values: timers; kept: acks, expired });

    type Log<T> = Arc<Mutex<Vec<T>>>;

    impl CongestionControl for Recorder {
        fn rate(&self) -> Bandwidth {
            Bandwidth::from_gbps(1)
        }

        fn on_ack(&mut self, ack: &Ack<'_>) {
            self.acks.lock().unwrap().push(Ack { telemetry: Telemetry::None, ..*ack });
        }

        fn timers(&mut self) -> Option<&mut Timers> {
            Some(&mut self.timers)
        }

        fn expire(&mut self, timer: usize, now: SimTime) {
            self.expired.lock().unwrap().push(now);
            self.timers.arm(timer, now + Duration::from_us(10));
        }
    }

    fn profile() -> QueuePairProfile {
        let mtu = 1024.try_into().unwrap();
        QueuePairProfile { base_rtt: Duration::from_us(8), ..QueuePairProfile::new(mtu) }
    }

    fn nic() -> NicConfig {
        NicConfig { line_rate: Bandwidth::from_gbps(1), encapsulation_len: 58, seed: 0 }
    }

    fn recording(feedback: Feedback) -> (Pacer, Log<Ack<'static>>, Log<SimTime>) {
        let mut pacer = Pacer::new(&profile(), &nic());
        pacer.feedback = feedback;
        let mut timers = Timers::new();
        timers.arm(1, at(10));
        let recorder = Recorder { acks: Log::default(), expired: Log::default(), timers };
        let logs = (Arc::clone(&recorder.acks), Arc::clone(&recorder.expired));
        pacer.control = Some(Box::new(recorder));
        pacer.refresh(SimTime::ZERO);
        (pacer, logs.0, logs.1)
    }

    const fn at(us: u64) -> SimTime {
        SimTime::from_ps(us * 1_000_000)
    }

    const fn all_before(reached: Sequence, becn: bool) -> Acknowledged<'static> {
        let telemetry = Telemetry::None;
        Acknowledged {
            bytes: 100,
            reached,
            position: 1_000,
            next_position: 3_000,
            becn,
            telemetry,
            told_rtt: None,
        }
    }

    #[test]
    fn round_trip_times_belong_to_the_acknowledged_packet() {
        let (mut pacer, acks, _) = recording(Feedback::Rtt);
        pacer.probe(at(0), 10);
        pacer.probe(at(1), 20);
        pacer.probe(at(2), 30);
        // Everything before 21: packet 20 was answered, 10 was not. Nobody waited for 24.
        pacer.on_ack(at(8), &all_before(21, true));
        pacer.on_ack(at(9), &all_before(25, false));
        pacer.on_ack(at(10), &all_before(31, false));
        let rtts: Vec<_> = acks.lock().unwrap().iter().map(|ack| ack.rtt).collect();
        assert_eq!(rtts, [Some(Duration::from_us(7)), None, Some(Duration::from_us(8))]);
        assert!(acks.lock().unwrap().iter().all(|ack| !ack.ecn_echo), "it was not asked for");
    }

    #[test]
    fn a_loss_spoils_the_round_trip_times_under_way() {
        let (mut pacer, acks, _) = recording(Feedback::Rtt);
        pacer.probe(at(0), 10);
        pacer.on_loss(at(1), false);
        pacer.on_ack(at(8), &all_before(11, false));
        assert_eq!(acks.lock().unwrap()[0].rtt, None);
    }

    #[test]
    fn feedback_is_what_was_declared() {
        let (mut pacer, acks, _) = recording(Feedback::EcnEcho);
        pacer.probe(at(0), 10);
        pacer.on_ack(at(8), &all_before(11, true));
        let expected = Ack {
            now: at(8),
            acked_bytes: 100,
            acknowledged: 1_000,
            sent: 3_000,
            rtt: None,
            ecn_echo: true,
            telemetry: Telemetry::None,
        };
        assert_eq!(*acks.lock().unwrap(), [expected]);
        for feedback in [Feedback::None, Feedback::Cnp { min_interval: Duration::ZERO }] {
            let (mut pacer, acks, _) = recording(feedback);
            pacer.on_ack(at(8), &all_before(11, true));
            assert!(acks.lock().unwrap().is_empty());
        }
    }

    #[test]
    fn a_sleeper_s_timers_wake_nobody_and_are_served_at_their_times() {
        let (mut pacer, _, expired) = recording(Feedback::None);
        assert_eq!(pacer.timeout(), at(10));
        let mut active = 1;
        pacer.sleep(&mut active);
        pacer.sleep(&mut active);
        assert_eq!((pacer.timeout(), active), (SimTime::NEVER, 0));
        pacer.start(at(35), &profile(), &mut active, (|| true, || 0));
        assert_eq!(active, 1);
        assert_eq!(*expired.lock().unwrap(), [10, 20, 30].map(at));
        assert_eq!(pacer.timeout(), at(40));
    }

    #[test]
    fn the_path_holds_what_leaves_in_a_round_trip() {
        let path = path(&profile(), Bandwidth::from_gbps(100));
        assert_eq!((path.bdp, path.path_mtu), (100_000, 1024));
    }

    #[test]
    fn frames_of_infiniband_have_no_gap_beside_them() {
        for (encapsulation_len, microseconds) in [(58, 8), (8, 8)] {
            let mut pacer = Pacer::new(&profile(), &NicConfig { encapsulation_len, ..nic() });
            pacer.rate = Bandwidth::from_mbps(500);
            let beside = if encapsulation_len == 8 { 0 } else { 20 };
            pacer.on_sent(SimTime::ZERO, 500 - beside);
            assert_eq!(pacer.release(), at(microseconds));
        }
    }
}
