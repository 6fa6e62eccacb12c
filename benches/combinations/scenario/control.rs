//! Congestion control: every algorithm and preset, for all flows, for classes and for workloads.

use rocelab_transport::Algorithm;
use toml::{Table, Value};

use super::{Shape, number, table};

/// The keys of an algorithm, each with its values.
type Keys = &'static [(&'static str, &'static [&'static str])];

/// Interesting values of keys, as TOML. Algorithms that are not listed run with their defaults.
const VALUES: &[(&str, Keys)] = &[
    (
        "none",
        &[
            ("rate", &["'100Mbps'", "'1Gbps'", "'5Gbps'", "'1Tbps'"]),
            ("window", &["'1B'", "'4KB'", "'64KB'"]),
        ],
    ),
    (
        "dcqcn",
        &[
            ("preset", &["'paper'", "'hpcc'", "'nvidia'"]),
            ("min_rate", &["'1Mbps'", "'10Mbps'", "'100Mbps'", "'1Gbps'"]),
            ("increase_timer", &["'10us'", "'55us'", "'300us'"]),
            ("alpha_interval", &["'1us'", "'55us'"]),
            ("g", &["'1/256'", "'1/16'"]),
            ("cnp_interval", &["'4us'", "'50us'"]),
            ("additive_increase", &["'5Mbps'", "'1Gbps'"]),
            ("hyper_increase", &["'50Mbps'", "'1Gbps'"]),
            ("fast_recovery_threshold", &["1", "5"]),
            ("byte_counter", &["'10KB'", "'150KB'", "'10MB'"]),
        ],
    ),
    (
        "timely",
        &[
            ("delay", &["'round-trip'", "'queueing'"]),
            ("preset", &["'paper'", "'hpcc'"]),
            ("t_low", &["'5us'", "'20us'"]),
            ("t_high", &["'60us'", "'100us'"]),
            ("min_rtt", &["'2us'", "'20us'"]),
            ("delta", &["'10Mbps'", "'500Mbps'"]),
            ("min_rate", &["'1Mbps'", "'10Mbps'", "'1Gbps'"]),
            ("hai_after", &["1", "5"]),
        ],
    ),
    (
        "patched-timely",
        &[
            ("delay", &["'round-trip'", "'queueing'"]),
            ("t_low", &["'5us'", "'20us'"]),
            ("t_high", &["'60us'", "'100us'"]),
            ("min_rtt", &["'2us'", "'20us'"]),
            ("delta", &["'10Mbps'", "'500Mbps'"]),
            ("min_rate", &["'1Mbps'", "'10Mbps'", "'1Gbps'"]),
            ("segment", &["'0B'", "'4KB'", "'64KB'"]),
        ],
    ),
    (
        "swift",
        &[
            ("delay", &["'round-trip'", "'queueing'"]),
            ("base_target", &["'5us'", "'25us'"]),
            ("hop_scaling", &["'0s'", "'1us'"]),
            ("hops", &["1", "5", "'counted'"]),
            ("endpoint_target", &["'1us'", "'20us'"]),
            ("endpoint_gain", &["'1/8'", "1"]),
            ("retransmit_reset", &["1", "5"]),
            ("min_cwnd", &["'1/1000'", "'1/10'", "1"]),
            ("max_mdf", &["'1/2'", "'1/10'"]),
        ],
    ),
    (
        "dctcp",
        &[
            ("g", &["'1/16'", "'1'"]),
            ("additive_increase", &["'10Mbps'", "'1Gbps'"]),
            ("min_rate", &["'1Mbps'", "'10Mbps'", "'1Gbps'"]),
        ],
    ),
    (
        "hpcc",
        &[
            ("eta", &["'1/2'", "'95/100'"]),
            ("max_stage", &["0", "5"]),
            ("min_rate", &["'1Mbps'", "'100Mbps'", "'1Gbps'"]),
            ("fast_react", &["true", "false"]),
            ("per_hop_rate", &["true", "false"]),
            ("sample_feedback", &["true", "false"]),
        ],
    ),
    (
        "hpcc-pint",
        &[
            ("eta", &["'1/2'", "'95/100'"]),
            ("max_stage", &["0", "5"]),
            ("min_rate", &["'1Mbps'", "'100Mbps'", "'1Gbps'"]),
            ("log_base", &["'101/100'", "'2'"]),
        ],
    ),
    (
        "qcn",
        &[
            ("gd", &["'1/128'", "'1/64'"]),
            ("increase_timer", &["'20us'", "'1ms'"]),
            ("byte_counter", &["'2KB'", "'150KB'"]),
            ("additive_increase", &["'5Mbps'", "'1Gbps'"]),
            ("min_rate", &["'1Mbps'", "'10Mbps'"]),
        ],
    ),
];

impl Shape {
    pub(super) fn control(&mut self) {
        if !self.random.once_in(5) {
            let algorithm = self.algorithm();
            self.set("congestion_control", algorithm);
        } else if self.service != "rc" || self.version == 1 {
            self.set("congestion_control", table([("none", Table::new().into())]));
        }
        if self.random.once_in(6) {
            let mut class = table([("congestion_control", self.algorithm().into())]);
            if self.random.once_in(2) {
                let dscp = number(self.random.within(0..=63));
                class.insert("marking".to_owned(), table([("dscp", dscp)]).into());
            }
            let priority = number(self.random.pick(&self.priorities)).to_string();
            self.set("class", table([(&priority[..], class.into())]));
        }
    }

    /// An algorithm that is possible here, with up to three of its keys.
    pub(super) fn algorithm(&mut self) -> Table {
        let runs = |algorithm: &Algorithm| {
            let needs_acks = !matches!(algorithm.name(), "none" | "dcqcn" | "qcn");
            // There is no module, and no class.
            !matches!(algorithm.name(), "wasm" | "python")
                && (self.version == 2 || !algorithm.needs_ecn())
                && (self.qcn || !algorithm.needs_qcn())
                && (self.service == "rc" || !needs_acks)
                && (self.telemetry || algorithm.telemetry().is_none())
        };
        let names: Vec<&str> =
            Algorithm::all_defaults().filter(runs).map(|algorithm| algorithm.name()).collect();
        let name = self.random.pick(&names);
        let mut keys = Table::new();
        let known = VALUES.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys);
        for _ in 0..self.random.within(0..=3) {
            let Some(known) = known else { break };
            let (key, values) = self.random.pick(known);
            let text = format!("value = {}", self.random.pick(values));
            let value = text.parse::<Table>().ok().and_then(|mut table| table.remove("value"));
            keys.extend(value.map(|value: Value| (key.to_owned(), value)));
        }
        table([(name, keys.into())])
    }
}
