//! Additive increase, multiplicative decrease, by the ECN echo of acknowledgements.
//!
//! cargo build --release --target wasm32-unknown-unknown

use rocelab_cc::{Algorithm, Answers, Event, NEVER, Parameters, Path, algorithm};

algorithm! {
    /// What is kept of each queue pair: 8 bytes for each field.
    pub struct Aimd {
        /// [ps]
        no_cut_before: u64,
    }
    metadata: r#"{
        "abi": 1, "name": "aimd", "summary": "halves the rate on a mark, else adds a step",
        "feedback": "ecn-echo", "state": 8,
        "parameters": [
            {"key": "increase", "summary": "added to the rate by an acknowledgement without a mark",
             "unit": "bit/s", "default": 50000000, "min": 1, "max": 1000000000000},
            {"key": "least", "summary": "the rate does not fall below",
             "unit": "bit/s", "default": 100000000, "min": 1, "max": 1000000000000}
        ]
    }"#
}

impl Algorithm for Aimd {
    fn open(path: &Path, _: &Parameters, answers: &mut Answers) -> Self {
        answers.rate = path.line_rate;
        answers.window = NEVER;
        Self { no_cut_before: 0 }
    }

    fn on(
        &mut self,
        now: u64,
        event: Event,
        path: &Path,
        parameters: &Parameters,
        answers: &mut Answers,
    ) {
        let (increase, least) = (parameters[0].cast_unsigned(), parameters[1].cast_unsigned());
        let Event::Ack { ecn_echo, .. } = event else { return };
        if !ecn_echo {
            answers.rate = (answers.rate + increase).min(path.line_rate);
        } else if now >= self.no_cut_before {
            answers.rate = (answers.rate / 2).max(least);
            self.no_cut_before = now + path.base_rtt;
        }
    }
}
