//! DCTCP (Alizadeh et al., SIGCOMM 2010) as a rate: the share of marked packets cuts it.

use rocelab_cc::{Algorithm, Answers, Event, NEVER, Parameters, Path, algorithm};

algorithm! {
    /// The sender of a queue pair.
    pub struct Dctcp {
        /// [bit/s].
        rate: u64,
        /// The smoothed share of marked packets.
        alpha: f64,
        /// An acknowledgement beyond this position ends the round trip; 0 before the first [bytes].
        round_end: u64,
        /// Marked acknowledgements in this round trip.
        marked: u64,
        /// Packets that were on their way at its start, and one.
        packets: u32,
        /// What is added in a round trip [bit/s].
        step: u64,
        /// No further cut until an acknowledgement is beyond this position [bytes]; `NEVER`: none was.
        cut_until: u64,
    }
    metadata: r#"{
        "abi": 1, "name": "dctcp", "summary": "the share of marked packets cuts the rate",
        "reference": "Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010",
        "feedback": "ecn-echo", "state": 56, "events": ["ack"],
        "parameters": [
            {"key": "g", "unit": "1/65536", "default": 4096, "min": 1, "max": 65536},
            {"key": "additive_increase", "summary": "0: one packet for each round trip", "unit": "bit/s", "default": 0, "min": 0, "max": 1000000000000},
            {"key": "min_rate", "unit": "bit/s", "default": 1000000000, "min": 1, "max": 1000000000000}
        ]
    }"#
}

impl Dctcp {
    fn end_round(&mut self, acknowledged: u64, sent: u64, g: f64, mtu: u64) {
        let first = self.round_end == 0;
        let before = if first { 0 } else { acknowledged };
        if !first {
            let share = (self.marked as f64 / f64::from(self.packets)).min(1.0);
            self.alpha = (1.0 - g) * self.alpha + g * share;
            self.marked = 0;
        }
        self.round_end = sent;
        self.packets = (sent.wrapping_sub(before) / mtu).wrapping_add(1) as u32;
    }
}

/// The rate that one full packet in each round trip of the idle network is.
fn packet_per_round_trip(path: &Path) -> u64 {
    let bits = u128::from(path.mtu) * 8 * 1_000_000_000_000 / u128::from(path.base_rtt.max(1));
    u64::try_from(bits).unwrap_or(u64::MAX).max(1)
}

/// The payload that fills the path, times rate over line rate; none where windows are off.
fn window(path: &Path, rate: u64) -> u64 {
    if path.bdp == 0 {
        return NEVER;
    }
    let line_rate = path.line_rate.max(1);
    // Division of 128 bits takes ten times as long.
    let part = match path.bdp.checked_mul(rate) {
        Some(product) => product / line_rate,
        None => {
            let part = u128::from(path.bdp) * u128::from(rate) / u128::from(line_rate);
            u64::try_from(part).unwrap_or(u64::MAX)
        }
    };
    part.max(1)
}

impl Algorithm for Dctcp {
    fn open(path: &Path, parameters: &Parameters, answers: &mut Answers) -> Self {
        answers.rate = path.line_rate;
        answers.window = window(path, path.line_rate);
        let given = parameters[1].cast_unsigned();
        Self {
            rate: path.line_rate,
            alpha: 1.0,
            round_end: 0,
            marked: 0,
            packets: 0,
            step: if given == 0 { packet_per_round_trip(path) } else { given },
            cut_until: NEVER,
        }
    }

    fn on(
        &mut self,
        _: u64,
        event: Event,
        path: &Path,
        parameters: &Parameters,
        answers: &mut Answers,
    ) {
        let Event::Ack { acknowledged, sent, ecn_echo, .. } = event else { return };
        let [g, _, least, ..] = *parameters;
        let (g, least) = (g as f64 / 65536.0, least.cast_unsigned());
        self.marked += u64::from(ecn_echo);
        let new_round = acknowledged > self.round_end;
        if new_round {
            self.end_round(acknowledged, sent, g, u64::from(path.mtu.max(1)));
        }
        if acknowledged > self.cut_until {
            self.cut_until = NEVER;
        }
        if ecn_echo && self.cut_until == NEVER {
            let cut = (self.rate as f64 * (1.0 - self.alpha / 2.0)) as u64;
            self.rate = cut.max(least);
            self.cut_until = sent;
        }
        if self.cut_until == NEVER && new_round {
            self.rate = self.rate.saturating_add(self.step).min(path.line_rate);
        }
        answers.rate = self.rate;
        answers.window = window(path, self.rate);
    }
}
