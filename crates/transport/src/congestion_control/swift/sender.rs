//! The sender: its windows, and the targets that they follow.

use rocelab_units::{Bandwidth, Duration};

use super::endpoint::{Endpoint, EndpointTarget};
use super::hops::Hops;
use super::parameters::Parameters;
use super::target::Target;
use super::window::{Law, Measured, Window};
use crate::congestion_control::{
    Ack, CongestionControl, EndpointReport, LossEvent, Path, arithmetic,
};

const PICOSECONDS_PER_SECOND: f64 = 1e12;
const PICOSECONDS_PER_NANOSECOND: u64 = 1_000;

/// What never changes of a sender.
#[derive(Debug)]
struct Settings {
    target: Target,
    endpoint: Option<EndpointTarget>,
    law: Law,
    hops: Hops,
    /// Timeouts in a row that empty the windows.
    retransmit_reset: Option<u32>,
    /// Payload of a packet (bytes).
    packet: f64,
    line_rate: Bandwidth,
}

/// The state of one queue pair.
#[derive(Debug)]
pub(super) struct Sender {
    settings: Settings,
    fabric: Window,
    /// Only with a target for it.
    endpoint: Option<Endpoint>,
    /// The most that a window may be, in packets.
    max_cwnd: f64,
    /// Switches on the path, as far as known.
    hops: u32,
    /// The newest round-trip time.
    rtt: Duration,
    /// The same until memory has the packet: between two cuts it passes at least.
    round: Duration,
    /// Timeouts since something was acknowledged or missed.
    timeouts: u32,
    /// Whether timeouts emptied the windows, and no acknowledgement has told a time since: those of packets that
    /// were sent again tell none.
    restarts: bool,
    /// Acknowledged since the last round-trip time (bytes).
    acked_bytes: u64,
}

rocelab_state::state!(Sender {
    values: fabric, max_cwnd, hops, rtt, round, timeouts, restarts, acked_bytes;
    states: endpoint;
    kept: settings
});

impl Sender {
    pub(super) fn new(parameters: &Parameters, path: &Path) -> Self {
        let target = Target::new(parameters, path);
        let packet = f64::from(path.path_mtu.max(1));
        let hops = parameters.hops.known();
        let max_cwnd = target.longest_window(hops);
        let cwnd = (path.bdp as f64 / packet).clamp(1.0, max_cwnd);
        let settings = Settings {
            target,
            endpoint: EndpointTarget::new(parameters),
            law: Law::new(parameters),
            hops: parameters.hops,
            retransmit_reset: parameters.retransmit_reset,
            packet,
            line_rate: path.line_rate,
        };
        Self {
            fabric: Window::new(cwnd),
            endpoint: settings.endpoint.map(|_| Endpoint::new(cwnd)),
            settings,
            max_cwnd,
            hops,
            rtt: path.base_rtt,
            round: path.base_rtt,
            timeouts: 0,
            restarts: false,
            acked_bytes: 0,
        }
    }

    /// The lesser of the two windows, in packets.
    fn cwnd(&self) -> f64 {
        let endpoint = self.endpoint.as_ref().map_or(f64::INFINITY, Endpoint::unacknowledged);
        self.fabric.cwnd.min(endpoint).max(self.settings.law.min_cwnd)
    }

    /// Whether it needs what the ends of the path tell.
    fn asks_ends(&self) -> bool {
        self.endpoint.is_some() || self.settings.hops == Hops::Counted
    }

    /// The path has so many hops, if they are counted.
    fn note_hops(&mut self, report: EndpointReport) {
        let counted = u32::from(report.hops);
        if self.settings.hops == Hops::Counted && counted != self.hops {
            self.hops = counted;
            self.max_cwnd = self.settings.target.longest_window(counted);
        }
    }

    /// Packets arrive again after timeouts emptied the windows: these grow up to one packet.
    fn restart(&mut self) {
        let packets = self.acked_bytes as f64 / self.settings.packet;
        self.acked_bytes = 0;
        self.each(|window, law| window.restart(law, packets));
    }

    /// Does `what` to both windows.
    fn each(&mut self, mut what: impl FnMut(&mut Window, &Law)) {
        what(&mut self.fabric, &self.settings.law);
        if let Some(endpoint) = &mut self.endpoint {
            what(&mut endpoint.window, &self.settings.law);
        }
    }
}

impl CongestionControl for Sender {
    fn rate(&self) -> Bandwidth {
        let Settings { packet, line_rate, .. } = self.settings;
        let cwnd = self.cwnd();
        if cwnd >= 1.0 {
            return line_rate;
        }
        let seconds = self.rtt.ps().max(1) as f64 / PICOSECONDS_PER_SECOND;
        arithmetic::whole(cwnd * packet * 8.0 / seconds, line_rate)
    }

    fn window(&self) -> Option<u64> {
        // Below one packet a window of one byte lets one packet out at a time.
        Some(arithmetic::cut_off(self.cwnd() * self.settings.packet).max(1))
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.acked_bytes += ack.acked_bytes;
        self.timeouts = 0;
        let Some(rtt) = ack.rtt else {
            if self.restarts {
                self.restart();
            }
            return;
        };
        self.restarts = false;
        self.rtt = rtt;
        // An acknowledgement of which the ends tell nothing: its time cannot be divided.
        let told = if self.asks_ends() { ack.endpoint() } else { Some(EndpointReport::default()) };
        let Some(report) = told else { return };
        self.note_hops(report);
        let packets = self.acked_bytes as f64 / self.settings.packet;
        self.acked_bytes = 0;
        self.round = rtt;
        let mut fabric = rtt;
        let cwnd = self.cwnd();
        if let (Some(endpoint), Some(known)) = (&mut self.endpoint, self.settings.endpoint) {
            let told = |ns: u32| Duration::from_ps(u64::from(ns) * PICOSECONDS_PER_NANOSECOND);
            fabric = Duration::from_ps(rtt.ps().saturating_sub(told(report.held_ns).ps()));
            let times = (fabric.ps() as f64, rtt.ps() as f64);
            let delay = endpoint.smooth(known, told(report.delay_ns).ps() as f64, cwnd, times);
            self.round = rtt.max(fabric + told(report.delay_ns));
            let measured = Measured { delay, target: known.target, packets };
            let at = (ack.now, self.round);
            endpoint.window.follow(&self.settings.law, &measured, self.max_cwnd, at);
        }
        let target = self.settings.target.at(self.fabric.cwnd, self.hops);
        let measured = Measured { delay: fabric.ps() as f64, target, packets };
        let at = (ack.now, self.round);
        self.fabric.follow(&self.settings.law, &measured, self.max_cwnd, at);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let at = (loss.now, self.round);
        self.timeouts = if loss.timeout { self.timeouts.saturating_add(1) } else { 0 };
        let resets = self.settings.retransmit_reset.is_some_and(|most| self.timeouts >= most);
        self.restarts |= resets;
        self.each(|window, law| {
            if resets {
                window.reset(law, loss.now);
            } else {
                window.cut(law, at);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use rocelab_state::State as _;
    use rocelab_units::SimTime;
    use rocelab_wire::TelemetryHeader;

    use super::*;
    use crate::congestion_control::Definition;
    use crate::congestion_control::testing::{ack, path};

    /// Time [us], round-trip time [us], acknowledged packets, and the window after it [bytes].
    type Row = (u64, u64, u64, u64);

    /// On a path of 10 us and 100G, packets of 1000 bytes: 125 packets. The target is 15 us, and up
    /// to 50 us more: a = 50 / (sqrt 10 - 1/10) = 16.328 us, b = -1.633 us.
    #[track_caller]
    fn check(text: &str, rows: &[Row]) -> Box<dyn CongestionControl> {
        let parameters: Parameters = toml::from_str(text).unwrap();
        let mut control = parameters.build(&path(Bandwidth::from_gbps(100)));
        assert_eq!(control.window(), Some(125_000));
        for &(us, rtt, packets, window) in rows {
            let now = SimTime::from_ps(us * 1_000_000);
            let (acked_bytes, rtt) = (packets * 1_000, Some(Duration::from_us(rtt)));
            control.on_ack(&Ack { now, acked_bytes, rtt, ..ack(0, 0) });
            assert_eq!(control.window(), Some(window), "at {us} us");
        }
        control
    }

    #[test]
    fn it_follows_the_target() {
        // Above 100 packets the target is 15 us. 14 us: 125 + 5/125. 30 us: a cut by 0.8 x 1/2, to
        // 0.6 of 125.04; the next has to wait until 130 us. Then the target at 75.024 packets is
        // 15 + 16.328 / 8.6616 - 1.633 = 15.252 us: 20 us take 0.8 x 4.748 / 20 of it.
        let control = check(
            "",
            &[
                (90, 14, 5, 125_040),
                (100, 30, 5, 75_024),
                (119, 20, 5, 75_024),
                (130, 20, 5, 60_776),
            ],
        );
        assert_eq!(control.rate(), Bandwidth::from_gbps(100), "it is not paced");
    }

    #[test]
    fn a_cut_takes_no_more_than_its_largest_share() {
        // 1 ms is 66 times the target, and 0.8 x 0.985 is more than 1/2.
        check("", &[(0, 1_000, 5, 62_500), (1_000, 1_000, 5, 31_250), (1_999, 1_000, 5, 31_250)]);
    }

    #[test]
    fn small_windows_have_a_longer_target() {
        // 125 packets, halved by a long delay: 7 times to 0.977. There the target is
        // 15 + 16.328 / 0.98821 - 1.633 = 29.89 us: 29 us let it grow, 30 us do not.
        let mut rows: Vec<Row> =
            (0..7).map(|n| (n * 9_000, 9_000, 1, 125_000 >> (n + 1))).collect();
        rows.push((90_000, 29, 0, 976));
        let mut control = check("", &rows);
        // Less than a packet: paced, 0.9765625 x 8000 bits in 29 us, and one packet on its way.
        assert_eq!(control.rate().bits_per_second(), 269_396_551);
        let rtt = Some(Duration::from_us(30));
        control.on_ack(&Ack { now: SimTime::from_ps(91_000_000_000), rtt, ..ack(0, 0) });
        assert!(control.window() < Some(976));
        let rtt = Some(Duration::from_us(20));
        control.on_ack(&Ack { acked_bytes: 1_000, rtt, ..ack(0, 0) });
        assert!(control.window() > Some(1_900), "below 1 each packet adds a packet");
    }

    #[test]
    fn the_window_keeps_its_bounds() {
        // At most 65 us of 100G, 812.5 packets.
        check("additive_increase = 100", &[(0, 5, 1_000_000, 812_500)]);
        let rows: Vec<Row> =
            (0..20).map(|n| (n * 9_000, 9_000, 1, (125_000 >> (n + 1)).max(500))).collect();
        check("min_cwnd = \"1/2\"", &rows);
    }

    /// An acknowledgement of a packet, with what the ends tell [ns].
    fn told(
        us: u64,
        rtt: u64,
        (hops, delay_ns, held_ns): (u16, u32, u32),
    ) -> (Ack<'static>, TelemetryHeader) {
        let report = EndpointReport { hops, delay_ns, held_ns };
        let (now, rtt) = (SimTime::from_ps(us * 1_000_000), Some(Duration::from_us(rtt)));
        (Ack { now, acked_bytes: 5_000, rtt, ..ack(0, 0) }, TelemetryHeader::Endpoint(report))
    }

    #[track_caller]
    fn build(text: &str) -> Box<dyn CongestionControl> {
        let parameters: Parameters = toml::from_str(text).unwrap();
        assert_eq!(parameters.validate(), Ok(()));
        parameters.build(&path(Bandwidth::from_gbps(100)))
    }

    #[track_caller]
    fn tell(control: &mut dyn CongestionControl, (ack, header): (Ack<'_>, TelemetryHeader)) {
        control.on_ack(&Ack { telemetry: Some(&header), ..ack });
    }

    #[test]
    fn each_window_follows_its_part_of_the_delay() {
        let text = "endpoint_target = \"4us\"\nendpoint_gain = 1";
        // 30 us, of which 20 passed in NICs: 10 us of fabric are below the target of 15 us. 8 us of endpoint are twice
        // its target: 0.8 x 1/2 of the window go, 125 packets to 75.
        let mut control = build(text);
        tell(control.as_mut(), told(100, 30, (5, 8_000, 20_000)));
        assert_eq!(control.window(), Some(75_000));
        // The other way round: 30 us of fabric cut to 0.6 of 125; the endpoint's window grows meanwhile.
        let mut control = build(text);
        tell(control.as_mut(), told(100, 31, (5, 3_999, 1_000)));
        assert_eq!(control.window(), Some(75_000));
        // Both are below: the lesser has gained 5/125.
        let mut control = build(text);
        tell(control.as_mut(), told(100, 12, (5, 1_000, 1_000)));
        assert_eq!(control.window(), Some(125_040));
    }

    #[test]
    fn the_endpoint_delay_is_smoothed() {
        // 1/8 of 20 us on top of 7/8 of 1 us: 3.375 us, below 4 us; after another 20 us, 5.453 us. Of the window so much may be
        // unacknowledged as the round trip of 12 us is of the 11.5 us of the fabric and this.
        let mut control = build("endpoint_target = \"4us\"");
        for (us, delay, window) in
            [(100, 1_000, 120_038), (200, 20_000, 100_904), (300, 20_000, 69_661)]
        {
            tell(control.as_mut(), told(us, 12, (5, delay, 500)));
            assert_eq!(control.window(), Some(window), "at {us} us");
        }
    }

    #[test]
    fn below_one_packet_an_endpoint_delay_counts_for_the_round_trips_since_the_last() {
        // 2 ms halve a window of 125 packets in each of nine round trips that are as long: 0.244 packets. One of 1 us then
        // has the weight 1/8 / 0.244 = 0.512, and the next, at about half of the window, all of it.
        let mut control = build("endpoint_target = \"4us\"");
        for round in 0..9 {
            tell(control.as_mut(), told(round * 5_000, 2_012, (5, 2_000_000, 2_000_000)));
        }
        assert_eq!(control.window(), Some(244));
        tell(control.as_mut(), told(50_000, 12, (5, 1_000, 1_000)));
        let cut = control.window();
        assert!(cut < Some(244), "the smoothed delay is still about 1 ms: {cut:?}");
        tell(control.as_mut(), told(60_000, 12, (5, 1_000, 1_000)));
        assert!(control.window() > Some(4_000), "five packets in time: {:?}", control.window());
    }

    #[test]
    fn what_may_be_unacknowledged_is_no_less_than_the_least_window() {
        // 1/2 of a packet, of which 12 us of 2,011.5 are unacknowledged: 3 bytes.
        let mut control = build("endpoint_target = \"4us\"\nmin_cwnd = \"1/2\"");
        for round in 0..9 {
            tell(control.as_mut(), told(round * 5_000, 12, (5, 2_000_000, 500)));
        }
        assert_eq!(control.window(), Some(500));
    }

    #[test]
    fn hops_are_counted_packet_by_packet() {
        // Without a hop the target is 10 us and with 3 it is 13: 12 us cut the first, and let the second grow.
        let mut control = build("hops = \"counted\"");
        tell(control.as_mut(), told(100, 12, (3, 0, 0)));
        assert_eq!(control.window(), Some(125_040));
        tell(control.as_mut(), told(200, 12, (1, 0, 0)));
        // 0.8 x 1/12 of 125.04.
        assert_eq!(control.window(), Some(116_704));
        // The time in NICs is of no account without a target for it.
        tell(control.as_mut(), told(300, 12, (1, 9_000, 9_000)));
        assert_eq!(control.window(), Some(108_923));
    }

    #[test]
    fn what_the_ends_do_not_tell_is_no_sample_but_counts_with_the_next() {
        let mut control = build("endpoint_target = \"4us\"");
        let (ack, _) = told(100, 900, (5, 0, 0));
        control.on_ack(&ack);
        assert_eq!(control.window(), Some(125_000));
        tell(control.as_mut(), told(200, 12, (5, 0, 0)));
        assert_eq!(control.window(), Some(125_080), "ten packets, and not five");
    }

    #[test]
    fn a_saved_sender_without_an_endpoint_window_does_not_become_one_with_it() {
        let mut saved = Vec::new();
        build("hops = \"counted\"").save(&mut saved).unwrap();
        build("hops = \"counted\"\nadditive_increase = 2").load(&mut &saved[..]).unwrap();
        let mut other = build("hops = \"counted\"\nendpoint_target = \"4us\"");
        assert!(other.load(&mut &saved[..]).is_err());
    }

    #[test]
    fn timeouts_in_a_row_empty_the_window() {
        let timeout = |us: u64| LossEvent { now: SimTime::from_ps(us * 1_000_000), timeout: true };
        let mut control = build("retransmit_reset = 3");
        control.on_loss(&timeout(100));
        control.on_loss(&timeout(200));
        assert_eq!(control.window(), Some(31_250), "two are two cuts");
        // A hole that the receiver tells of starts the count again.
        control.on_loss(&LossEvent { timeout: false, ..timeout(201) });
        control.on_loss(&timeout(202));
        control.on_loss(&timeout(203));
        assert_eq!(control.window(), Some(31_250), "no cut within a round trip of another");
        control.on_loss(&timeout(204));
        assert_eq!(control.window(), Some(1), "a thousandth of a packet");
        assert!(control.rate() < Bandwidth::from_gbps(1), "and it is paced");
    }

    #[test]
    fn packets_that_were_sent_again_fill_an_emptied_window_up_to_one() {
        for (text, windows) in [
            ("additive_increase = \"1/2\"", [501, 1_000, 1_000]),
            ("endpoint_target = \"4us\"", [1_000; 3]),
        ] {
            let mut control = build(&format!("retransmit_reset = 1\n{text}"));
            control.on_loss(&LossEvent { now: SimTime::ZERO, timeout: true });
            assert_eq!(control.window(), Some(1), "{text}");
            for window in windows {
                control.on_ack(&Ack { acked_bytes: 1_000, rtt: None, ..ack(0, 0) });
                assert_eq!(control.window(), Some(window), "{text}");
            }
            // What has filled it up does not count again.
            let (sample, header) = told(100, 12, (5, 0, 0));
            tell(control.as_mut(), (Ack { acked_bytes: 0, ..sample }, header));
            assert_eq!(control.window(), Some(windows[2]), "{text}");
        }
    }

    #[test]
    fn packets_that_were_sent_again_are_no_samples_without_a_reset() {
        let mut control = build("min_cwnd = \"1/2\"\nmax_mdf = 1");
        control.on_loss(&LossEvent { now: SimTime::ZERO, timeout: true });
        control.on_ack(&Ack { acked_bytes: 1_000, rtt: None, ..ack(0, 0) });
        assert_eq!(control.window(), Some(500));
    }

    #[test]
    fn an_acknowledgement_starts_the_count_of_timeouts_again() {
        let mut control = build("retransmit_reset = 2");
        for us in [100, 300, 500] {
            control.on_loss(&LossEvent { now: SimTime::from_ps(us * 1_000_000), timeout: true });
            control.on_ack(&ack(0, 0));
        }
        assert_eq!(control.window(), Some(15_625));
    }

    #[test]
    fn a_loss_takes_the_largest_share() {
        let mut control = check("", &[]);
        let loss = LossEvent { now: SimTime::ZERO, timeout: false };
        control.on_loss(&loss);
        control.on_loss(&loss);
        assert_eq!(control.window(), Some(62_500), "once a round trip");
    }
}
