//! Random small scenarios of combined features.
//!
//! One is made from the outside in, by the same dice: the network, how hosts and switches behave, what
//! is sent, what breaks, what is looked at. What is thrown later knows what was thrown before
//! ([`Shape`]), so that few of them contradict themselves.

mod behaviour;
mod control;
mod looking;
mod network;
mod switches;
mod trouble;
mod workload;

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::random::Random;

/// The text of a scenario and of the files that it names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Made {
    pub(crate) table: Table,
    /// By name.
    pub(crate) files: BTreeMap<String, String>,
}

impl Made {
    pub(crate) fn text(&self) -> String {
        toml::to_string(&self.table).unwrap_or_default()
    }
}

/// What has been decided of a scenario.
#[derive(Debug)]
struct Shape {
    random: Random,
    made: Made,
    version: u64,
    /// Payload of a full packet (bytes).
    mtu: u64,
    service: &'static str,
    hosts: Vec<String>,
    switches: Vec<String>,
    /// The names at both ends of each.
    links: Vec<(String, String)>,
    /// The slowest link's rate (bit/s).
    slowest: u64,
    /// What a port and lossless priority needs as headroom, about, at the most (bytes).
    headroom: u64,
    /// Ports of the largest switch.
    ports: u64,
    /// Whether all links have a rate that telemetry can count in.
    telemetry: bool,
    lossless: Vec<u64>,
    /// Priorities that flows use.
    priorities: Vec<u64>,
    /// Packets that may still be planned.
    packets: u64,
    /// About how long the run takes (ns).
    span: u64,
    tcp: bool,
    learning: bool,
    qcn: bool,
    /// Pairs of hosts of which much is asked: the others are left alone.
    crowd: Option<(String, String)>,
    flows: u64,
    apps: u64,
}

/// Scenario `index` of a seed.
pub(crate) fn make(seed: u64, index: u64) -> Made {
    let mut random = Random::new(seed, index);
    let packets = random.magnitude(200..=60_000);
    let mut shape = Shape {
        random,
        made: Made::default(),
        version: 2,
        mtu: 1_024,
        service: "rc",
        hosts: Vec::new(),
        switches: Vec::new(),
        links: Vec::new(),
        slowest: 1,
        headroom: 0,
        ports: 1,
        telemetry: true,
        lossless: vec![3],
        priorities: vec![3],
        packets,
        span: 0,
        tcp: false,
        learning: false,
        qcn: false,
        crowd: None,
        flows: 0,
        apps: 0,
    };
    shape.network(&format!("{seed}-{index}"));
    shape.behaviour();
    shape.switch();
    shape.control();
    shape.workload(&format!("{seed}-{index}"));
    shape.connections();
    shape.trouble();
    shape.looking();
    shape.end();
    shape.made
}

impl Shape {
    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.made.table.insert(key.to_owned(), value.into());
    }

    /// A time of so many nanoseconds.
    fn time(nanoseconds: u64) -> Value {
        format!("{nanoseconds}ns").into()
    }

    /// A moment of the run.
    fn moment(&mut self) -> u64 {
        let span = self.span;
        self.random.within(0..=span)
    }

    fn bytes(count: u64) -> Value {
        format!("{count}B").into()
    }

    /// All ports of the network by their nodes' names, or single ones.
    fn port(&mut self) -> String {
        let nodes = [&self.hosts[..], &self.switches].concat();
        let node = self.random.pick(&nodes);
        if self.random.once_in(2) { node } else { self.port_of(&node) }
    }

    /// A port of a node.
    fn port_of(&mut self, node: &str) -> String {
        let count = self.links.iter().filter(|(a, b)| a == node || b == node).count() as u64;
        format!("{node}:{}", self.random.within(0..=count.saturating_sub(1)))
    }

    /// Seed, stop, and what concerns the run as a whole.
    fn end(&mut self) {
        let seed = self.random.within(1..=1_000_000);
        self.set("seed", i64::try_from(seed).unwrap_or(1));
        // What may be lost need not end by itself: TCP never gives up, and a frame may go round for ever.
        let losing = ["route", "failure", "faults", "slow_receiver", "layer2"];
        let endless = self.tcp || losing.iter().any(|key| self.made.table.contains_key(*key));
        if endless || self.random.once_in(2) {
            let stop = self.span * self.random.pick(&[1, 2, 4, 40]) / 2;
            self.set("stop", Self::time(stop.clamp(1_000, 200_000_000)));
        }
        if self.random.once_in(8) {
            let what = self.random.pick(&["stop", "continue"]);
            self.set("on_deadlock", what);
        }
        if self.service == "rc" && self.flows > 0 && !self.tcp && self.random.once_in(12) {
            self.set("integrity", true);
        }
    }
}

/// A table of these keys and values.
fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Whole numbers as TOML has them.
fn number(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

fn names(names: &[String]) -> Value {
    names.iter().map(|name| Value::from(name.as_str())).collect::<Vec<_>>().into()
}
