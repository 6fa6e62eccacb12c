//! Swift (Kumar et al., SIGCOMM 2020): a window that keeps the round-trip time at a target.

use rocelab_cc::{Algorithm, Answers, Event, NEVER, Parameters, Path, algorithm};
use swift_window::{Moment, Rules, Sample, Scaling, Window, answer, filling, part};

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
        let base = if target == 0 { path.base_rtt as f64 } else { target as f64 };
        let Scaling { range, slope, offset } = Scaling::new(base, fs_min, fs_max);
        let packet = f64::from(path.mtu.max(1));
        let base = base + hops as f64 * per_hop as f64;
        let max_cwnd = filling(path, base + range, packet);
        Self {
            cwnd: (path.bdp as f64 / packet).max(1.0).min(max_cwnd),
            rtt: path.base_rtt,
            last_decrease: NEVER,
            acked: 0,
            base,
            range,
            slope,
            offset,
            additive_increase: part(step),
            beta: part(beta),
            max_mdf: part(max_mdf),
            min_cwnd: part(least),
            max_cwnd,
            packet,
        }
    }

    fn rules(&self) -> Rules {
        let Self { additive_increase, beta, max_mdf, min_cwnd, .. } = *self;
        Rules { additive_increase, beta, max_mdf, min_cwnd }
    }

    fn window(&mut self) -> Window<'_> {
        Window { cwnd: &mut self.cwnd, cut: &mut self.last_decrease }
    }

    /// The target for the present window [ps].
    fn target(&self) -> f64 {
        let Self { range, slope, offset, .. } = *self;
        self.base + Scaling { range, slope, offset }.of(self.cwnd)
    }

    fn on_rtt(&mut self, now: u64, rtt: u64) {
        self.rtt = rtt;
        let packets = self.acked as f64 / self.packet;
        self.acked = 0;
        let sample = Sample { delay: rtt as f64, target: self.target(), packets };
        let max_cwnd = self.max_cwnd;
        self.rules().follow(self.window(), sample, max_cwnd, Moment { now, round: rtt });
    }
}

impl Algorithm for Swift {
    fn open(path: &Path, parameters: &Parameters, answers: &mut Answers) -> Self {
        let opened = Self::new(parameters, path);
        answer(opened.cwnd, opened.packet, opened.rtt, path, answers);
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
            Event::Loss { .. } => {
                let at = Moment { now, round: self.rtt };
                self.rules().decrease(self.window(), at, 0.0);
            }
            _ => {}
        }
        answer(self.cwnd, self.packet, self.rtt, path, answers);
    }
}
