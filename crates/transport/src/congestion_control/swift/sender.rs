//! The sender: its window, and the target that it follows.

use rocelab_units::{Bandwidth, Duration, SimTime};

use super::parameters::Parameters;
use crate::congestion_control::{Ack, CongestionControl, LossEvent, Path, arithmetic};

const PICOSECONDS_PER_SECOND: f64 = 1e12;

/// The target delay as a function of the window.
#[derive(Clone, Copy, Debug)]
struct Target {
    /// Without flow scaling [ps].
    base: f64,
    /// The most that flow scaling adds [ps].
    range: f64,
    /// `a` and `b` [ps].
    slope: f64,
    offset: f64,
}

impl Target {
    fn new(parameters: &Parameters, path: &Path) -> Self {
        let base = parameters.base_target.unwrap_or(path.base_rtt).ps() as f64;
        let hops = f64::from(parameters.hops) * parameters.hop_scaling.ps() as f64;
        let range = parameters.fs_range.map_or(5.0 * base, |range| range.ps() as f64);
        let inverse_root = |cwnd: f64| 1.0 / cwnd.sqrt();
        let full = inverse_root(parameters.fs_min_cwnd.as_f64());
        let none = inverse_root(parameters.fs_max_cwnd.as_f64());
        let slope = range / (full - none);
        Self { base: base + hops, range, slope, offset: -slope * none }
    }

    /// For a window of `cwnd` packets [ps].
    fn at(&self, cwnd: f64) -> f64 {
        self.base + (self.slope / cwnd.sqrt() + self.offset).clamp(0.0, self.range)
    }
}

/// The state of one queue pair.
#[derive(Debug)]
pub(super) struct Sender {
    target: Target,
    additive_increase: f64,
    beta: f64,
    max_mdf: f64,
    /// Windows in packets.
    min_cwnd: f64,
    max_cwnd: f64,
    cwnd: f64,
    /// Payload of a packet (bytes).
    packet: f64,
    line_rate: Bandwidth,
    /// The newest round-trip time.
    rtt: Duration,
    last_decrease: Option<SimTime>,
    /// Acknowledged since the last round-trip time (bytes).
    acked_bytes: u64,
}

rocelab_state::state!(Sender {
    values: cwnd, rtt, last_decrease, acked_bytes;
    kept: target, additive_increase, beta, max_mdf, min_cwnd, max_cwnd, packet, line_rate
});

impl Sender {
    pub(super) fn new(parameters: &Parameters, path: &Path) -> Self {
        let target = Target::new(parameters, path);
        let packet = f64::from(path.path_mtu.max(1));
        let bits = path.line_rate.bits_per_second() as f64;
        let longest = target.base + target.range;
        let max_cwnd = (longest * bits / 8.0 / PICOSECONDS_PER_SECOND / packet).max(1.0);
        Self {
            target,
            additive_increase: parameters.additive_increase.as_f64(),
            beta: parameters.beta.as_f64(),
            max_mdf: parameters.max_mdf.as_f64(),
            min_cwnd: parameters.min_cwnd.as_f64(),
            max_cwnd,
            cwnd: (path.bdp as f64 / packet).clamp(1.0, max_cwnd),
            packet,
            line_rate: path.line_rate,
            rtt: path.base_rtt,
            last_decrease: None,
            acked_bytes: 0,
        }
    }

    fn can_decrease(&self, now: SimTime) -> bool {
        self.last_decrease.is_none_or(|last| now.since(last) >= self.rtt)
    }

    /// Keeps `share` of the window, but at least what the largest cut leaves.
    fn decrease(&mut self, now: SimTime, share: f64) {
        if self.can_decrease(now) {
            self.cwnd = (self.cwnd * share.max(1.0 - self.max_mdf)).max(self.min_cwnd);
            self.last_decrease = Some(now);
        }
    }

    fn increase(&mut self, packets: f64) {
        let gain = self.additive_increase * packets;
        let gain = if self.cwnd >= 1.0 { gain / self.cwnd } else { gain };
        self.cwnd = (self.cwnd + gain).min(self.max_cwnd);
    }
}

impl CongestionControl for Sender {
    fn rate(&self) -> Bandwidth {
        if self.cwnd >= 1.0 {
            return self.line_rate;
        }
        let seconds = self.rtt.ps().max(1) as f64 / PICOSECONDS_PER_SECOND;
        arithmetic::whole(self.cwnd * self.packet * 8.0 / seconds, self.line_rate)
    }

    fn window(&self) -> Option<u64> {
        // Below one packet a window of one byte lets one packet out at a time.
        Some(arithmetic::cut_off(self.cwnd * self.packet).max(1))
    }

    fn on_ack(&mut self, ack: &Ack<'_>) {
        self.acked_bytes += ack.acked_bytes;
        let Some(rtt) = ack.rtt else { return };
        self.rtt = rtt;
        let packets = self.acked_bytes as f64 / self.packet;
        self.acked_bytes = 0;
        let (delay, target) = (rtt.ps() as f64, self.target.at(self.cwnd));
        if delay < target {
            self.increase(packets);
        } else {
            self.decrease(ack.now, 1.0 - self.beta * (delay - target) / delay);
        }
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.decrease(loss.now, 0.0);
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn a_loss_takes_the_largest_share() {
        let mut control = check("", &[]);
        let loss = LossEvent { now: SimTime::ZERO, timeout: false };
        control.on_loss(&loss);
        control.on_loss(&loss);
        assert_eq!(control.window(), Some(62_500), "once a round trip");
    }
}
