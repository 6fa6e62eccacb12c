//! Swift (Kumar et al., SIGCOMM 2020) with both of its windows: of the fabric, and of the remote endpoint.

use rocelab_cc::{Algorithm, Answers, Endpoint, Event, NEVER, Parameters, Path, algorithm};
use swift_window::{Moment, Rules, Sample, Scaling, Window, answer, filling, part};

algorithm! {
    /// The sender of a queue pair.
    pub struct Swift {
        /// The windows in packets, and when each was cut last [ps]; `NEVER` if it was not.
        fabric: f64,
        fabric_cut: u64,
        endpoint: f64,
        endpoint_cut: u64,
        /// The smoothed endpoint delay [ps]; below 0 before the first.
        smoothed: f64,
        /// The part of a packet's time to memory after which it is acknowledged.
        share: f64,
        /// Hops that were counted last.
        hops: u32,
        /// 1 after timeouts emptied the windows, until an acknowledgement tells a time: those of packets that were sent
        /// again tell none.
        restarts: u32,
        /// The newest round-trip time [ps].
        rtt: u64,
        /// The same until memory has the packet [ps].
        round: u64,
        /// Timeouts in a row.
        timeouts: u32,
        /// Acknowledged since the last round-trip time [bytes].
        acked: u64,
        // What follows from parameters and path is worked out once: divisions and roots take long.
        /// The target without hops and flow scaling [ps].
        base: f64,
        per_hop: f64,
        /// The most that flow scaling adds [ps].
        range: f64,
        slope: f64,
        offset: f64,
        max_cwnd: f64,
        /// Payload of a packet [bytes].
        packet: f64,
    }
    metadata: r#"{
        "abi": 1, "name": "swift-endpoint", "summary": "a window for the fabric and one for the remote endpoint, each with a target delay",
        "reference": "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM 2020",
        "feedback": "endpoint", "state": 152, "events": ["ack", "loss"],
        "parameters": [
            {"key": "base_target", "summary": "0: the round-trip time of the idle path", "unit": "ps", "default": 0, "min": 0, "max": 1000000000000},
            {"key": "hop_scaling", "unit": "ps", "default": 1000000, "min": 0, "max": 1000000000},
            {"key": "fs_min_cwnd", "unit": "1/1000 packets", "default": 100, "min": 1, "max": 1000000},
            {"key": "fs_max_cwnd", "unit": "1/1000 packets", "default": 100000, "min": 1, "max": 1000000000},
            {"key": "additive_increase", "unit": "1/1000 packets", "default": 1000, "min": 1, "max": 1000000000},
            {"key": "beta", "unit": "1/1000", "default": 800, "min": 1, "max": 1000},
            {"key": "max_mdf", "unit": "1/1000", "default": 500, "min": 1, "max": 1000},
            {"key": "min_cwnd", "unit": "1/1000 packets", "default": 1, "min": 1, "max": 1000},
            {"key": "endpoint_target", "unit": "ps", "default": 20000000, "min": 1, "max": 1000000000000},
            {"key": "endpoint_gain", "unit": "1/1000", "default": 125, "min": 1, "max": 1000},
            {"key": "retransmit_reset", "summary": "0: never", "default": 5, "min": 0, "max": 1000000}
        ]
    }"#
}

/// The values of the parameters, by name.
struct Values {
    rules: Rules,
    endpoint_target: f64,
    endpoint_gain: f64,
    retransmit_reset: u32,
}

impl Values {
    fn of(parameters: &Parameters) -> Self {
        let [_, _, _, _, step, beta, max_mdf, least, target, gain, reset, ..] = *parameters;
        let rules = Rules {
            additive_increase: part(step),
            beta: part(beta),
            max_mdf: part(max_mdf),
            min_cwnd: part(least),
        };
        Self {
            rules,
            endpoint_target: target as f64,
            endpoint_gain: part(gain),
            retransmit_reset: reset as u32,
        }
    }

    /// The weight of a new endpoint delay: below one packet delays come 1 / `cwnd` round trips apart, and each counts for as
    /// many.
    fn weight(&self, cwnd: f64) -> f64 {
        if cwnd < 1.0 { (self.endpoint_gain / cwnd).min(1.0) } else { self.endpoint_gain }
    }
}

impl Swift {
    fn new(parameters: &Parameters, path: &Path) -> Self {
        let [target, per_hop, fs_min, fs_max, ..] = *parameters;
        let base = if target == 0 { path.base_rtt as f64 } else { target as f64 };
        let Scaling { range, slope, offset } = Scaling::new(base, fs_min, fs_max);
        let packet = f64::from(path.mtu.max(1));
        let mut new = Self {
            fabric: 0.0,
            fabric_cut: NEVER,
            endpoint: 0.0,
            endpoint_cut: NEVER,
            smoothed: -1.0,
            share: 1.0,
            hops: 0,
            restarts: 0,
            rtt: path.base_rtt,
            round: path.base_rtt,
            timeouts: 0,
            acked: 0,
            base,
            per_hop: per_hop as f64,
            range,
            slope,
            offset,
            max_cwnd: 0.0,
            packet,
        };
        new.max_cwnd = new.longest_window(path);
        new.fabric = (path.bdp as f64 / packet).max(1.0).min(new.max_cwnd);
        new.endpoint = new.fabric;
        new
    }

    fn fabric_window(&mut self) -> Window<'_> {
        Window { cwnd: &mut self.fabric, cut: &mut self.fabric_cut }
    }

    fn endpoint_window(&mut self) -> Window<'_> {
        Window { cwnd: &mut self.endpoint, cut: &mut self.endpoint_cut }
    }

    fn without_scaling(&self) -> f64 {
        self.base + f64::from(self.hops) * self.per_hop
    }

    /// The window that fills the path at the line rate for the longest target.
    fn longest_window(&self, path: &Path) -> f64 {
        filling(path, self.without_scaling() + self.range, self.packet)
    }

    /// The target of the fabric's delay for its present window [ps].
    fn target(&self) -> f64 {
        let Self { range, slope, offset, .. } = *self;
        self.without_scaling() + Scaling { range, slope, offset }.of(self.fabric)
    }

    fn on_sample(&mut self, now: u64, endpoint: Endpoint, path: &Path, values: &Values) {
        if endpoint.hops != self.hops {
            self.hops = endpoint.hops;
            self.max_cwnd = self.longest_window(path);
        }
        let packets = self.acked as f64 / self.packet;
        self.acked = 0;
        let fabric = self.rtt.saturating_sub(endpoint.held);
        let delay = endpoint.delay as f64;
        let cwnd = self.cwnd(values.rules.min_cwnd);
        self.smoothed = if self.smoothed < 0.0 {
            delay
        } else {
            self.smoothed + values.weight(cwnd) * (delay - self.smoothed)
        };
        self.share = (self.rtt as f64 / (fabric as f64 + self.smoothed)).min(1.0);
        self.round = self.rtt.max(fabric + endpoint.delay);
        let at = Moment { now, round: self.round };
        let max_cwnd = self.max_cwnd;
        let sample = Sample { delay: self.smoothed, target: values.endpoint_target, packets };
        values.rules.follow(self.endpoint_window(), sample, max_cwnd, at);
        let sample = Sample { delay: fabric as f64, target: self.target(), packets };
        values.rules.follow(self.fabric_window(), sample, max_cwnd, at);
    }

    /// Packets arrive again after timeouts emptied the windows: these grow up to one packet.
    fn restart(&mut self, step: f64) {
        let gain = step * (self.acked as f64 / self.packet);
        self.acked = 0;
        for cwnd in [&mut self.fabric, &mut self.endpoint] {
            if *cwnd < 1.0 {
                *cwnd = (*cwnd + gain).min(1.0);
            }
        }
    }

    fn on_loss(&mut self, now: u64, by_timeout: bool, values: &Values) {
        self.timeouts = if by_timeout { self.timeouts.saturating_add(1) } else { 0 };
        if values.retransmit_reset > 0 && self.timeouts >= values.retransmit_reset {
            (self.fabric, self.endpoint) = (values.rules.min_cwnd, values.rules.min_cwnd);
            (self.fabric_cut, self.endpoint_cut) = (now, now);
            self.restarts = 1;
            return;
        }
        let at = Moment { now, round: self.round };
        values.rules.decrease(self.fabric_window(), at, 0.0);
        values.rules.decrease(self.endpoint_window(), at, 0.0);
    }

    /// The lesser of the two windows, in packets. That of the endpoint counts what memory does not have.
    fn cwnd(&self, least: f64) -> f64 {
        self.fabric.min(self.endpoint * self.share).max(least)
    }

    fn answer(&self, least: f64, path: &Path, answers: &mut Answers) {
        answer(self.cwnd(least), self.packet, self.rtt, path, answers);
    }
}

impl Algorithm for Swift {
    fn open(path: &Path, parameters: &Parameters, answers: &mut Answers) -> Self {
        let opened = Self::new(parameters, path);
        opened.answer(Values::of(parameters).rules.min_cwnd, path, answers);
        opened
    }

    fn on(
        &mut self,
        now: u64,
        event: Event,
        path: &Path,
        parameters: &Parameters,
        answers: &mut Answers,
    ) {
        let values = Values::of(parameters);
        match event {
            Event::Ack { acked, rtt, endpoint, .. } => {
                self.acked += acked;
                self.timeouts = 0;
                if let Some(rtt) = rtt {
                    self.restarts = 0;
                    self.rtt = rtt;
                    if let Some(endpoint) = endpoint {
                        self.on_sample(now, endpoint, path, &values);
                    }
                } else if self.restarts != 0 {
                    self.restart(values.rules.additive_increase);
                }
            }
            Event::Loss { by_timeout } => self.on_loss(now, by_timeout, &values),
            _ => {}
        }
        self.answer(values.rules.min_cwnd, path, answers);
    }
}
