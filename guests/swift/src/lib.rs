//! Swift (Kumar et al., SIGCOMM 2020): a window that keeps the round-trip time at a target.

use rocelab_cc::{Algorithm, Answers, Event, NEVER, Parameters, Path, algorithm};

algorithm! {
    /// The sender of a queue pair.
    pub struct Swift {
        /// The window in packets.
        cwnd: f64,
        /// The newest round-trip time [ps].
        rtt: u64,
        /// When the window was cut last [ps]; `NEVER` if it was not.
        last_decrease: u64,
        /// Acknowledged since the last round-trip time [bytes].
        acked: u64,
        // What follows from parameters and path is worked out once: divisions and roots take long.
        /// The target without flow scaling [ps].
        base: f64,
        /// The most that flow scaling adds [ps].
        range: f64,
        slope: f64,
        offset: f64,
        additive_increase: f64,
        beta: f64,
        max_mdf: f64,
        min_cwnd: f64,
        max_cwnd: f64,
        /// Payload of a packet [bytes].
        packet: f64,
    }
    metadata: r#"{
        "abi": 1, "name": "swift", "summary": "a window that keeps the round-trip time at a target",
        "reference": "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM 2020",
        "feedback": "rtt", "state": 112, "events": ["ack", "loss"],
        "parameters": [
            {"key": "base_target", "summary": "0: the round-trip time of the idle path", "unit": "ps", "default": 0, "min": 0, "max": 1000000000000},
            {"key": "hop_scaling", "unit": "ps", "default": 1000000, "min": 0, "max": 1000000000},
            {"key": "hops", "default": 5, "min": 0, "max": 64},
            {"key": "fs_min_cwnd", "unit": "1/1000 packets", "default": 100, "min": 1, "max": 1000000},
            {"key": "fs_max_cwnd", "unit": "1/1000 packets", "default": 100000, "min": 1, "max": 1000000000},
            {"key": "additive_increase", "unit": "1/1000 packets", "default": 1000, "min": 1, "max": 1000000000},
            {"key": "beta", "unit": "1/1000", "default": 800, "min": 1, "max": 1000},
            {"key": "max_mdf", "unit": "1/1000", "default": 500, "min": 1, "max": 1000},
            {"key": "min_cwnd", "unit": "1/1000 packets", "default": 1, "min": 1, "max": 1000}
        ]
    }"#
}

impl Swift {
    fn new(parameters: &Parameters, path: &Path) -> Self {
        let [target, per_hop, hops, fs_min, fs_max, step, beta, max_mdf, least, ..] = *parameters;
        let part = |thousandths: i64| thousandths as f64 / 1000.0;
        let base = if target == 0 { path.base_rtt as f64 } else { target as f64 };
        let range = 5.0 * base;
        let inverse_root = |cwnd: f64| 1.0 / cwnd.sqrt();
        let (full, none) = (inverse_root(part(fs_min)), inverse_root(part(fs_max)));
        let slope = range / (full - none);
        let packet = f64::from(path.mtu.max(1));
        let base = base + hops as f64 * per_hop as f64;
        let longest = base + range;
        let max_cwnd = (longest * path.line_rate as f64 / 8.0 / 1e12 / packet).max(1.0);
        Self {
            cwnd: (path.bdp as f64 / packet).max(1.0).min(max_cwnd),
            rtt: path.base_rtt,
            last_decrease: NEVER,
            acked: 0,
            base,
            range,
            slope,
            offset: -slope * none,
            additive_increase: part(step),
            beta: part(beta),
            max_mdf: part(max_mdf),
            min_cwnd: part(least),
            max_cwnd,
            packet,
        }
    }

    /// The target for the present window [ps].
    fn target(&self) -> f64 {
        let scaling = self.slope / self.cwnd.sqrt() + self.offset;
        // Not `clamp`: what cannot be would be a panic there.
        self.base + scaling.max(0.0).min(self.range)
    }

    /// Keeps `share` of the window, but at least what the largest cut leaves.
    fn decrease(&mut self, now: u64, share: f64) {
        let passed = now.saturating_sub(self.last_decrease);
        if self.last_decrease == NEVER || passed >= self.rtt {
            let kept = share.max(1.0 - self.max_mdf);
            self.cwnd = (self.cwnd * kept).max(self.min_cwnd);
            self.last_decrease = now;
        }
    }

    fn increase(&mut self, packets: f64) {
        let gain = self.additive_increase * packets;
        let gain = if self.cwnd >= 1.0 { gain / self.cwnd } else { gain };
        self.cwnd = (self.cwnd + gain).min(self.max_cwnd);
    }

    fn on_rtt(&mut self, now: u64, rtt: u64) {
        self.rtt = rtt;
        let packets = self.acked as f64 / self.packet;
        self.acked = 0;
        let (delay, target) = (rtt as f64, self.target());
        if delay < target {
            self.increase(packets);
        } else {
            self.decrease(now, 1.0 - self.beta * (delay - target) / delay);
        }
    }

    fn answer(&self, path: &Path, answers: &mut Answers) {
        answers.window = ((self.cwnd * self.packet) as u64).max(1);
        answers.rate = path.line_rate;
        if self.cwnd < 1.0 {
            let seconds = self.rtt.max(1) as f64 / 1e12;
            let rate = self.cwnd * self.packet * 8.0 / seconds;
            answers.rate = (rate as u64).clamp(1, path.line_rate.max(1));
        }
    }
}

impl Algorithm for Swift {
    fn open(path: &Path, parameters: &Parameters, answers: &mut Answers) -> Self {
        let opened = Self::new(parameters, path);
        opened.answer(path, answers);
        opened
    }

    fn on(&mut self, now: u64, event: Event, path: &Path, _: &Parameters, answers: &mut Answers) {
        match event {
            Event::Ack { acked, rtt, .. } => {
                self.acked += acked;
                if let Some(rtt) = rtt {
                    self.on_rtt(now, rtt);
                }
            }
            Event::Loss { .. } => self.decrease(now, 0.0),
            _ => {}
        }
        self.answer(path, answers);
    }
}
