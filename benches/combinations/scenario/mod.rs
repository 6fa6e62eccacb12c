//! Random small scenarios of combined features.
//!
//! A scenario is made from the outside in, with one random generator: the network, the settings of
//! hosts and switches, the workload, failures, captures and samples. Later parts know the earlier
//! ones ([`Shape`]), so that few scenarios contradict themselves.

mod behaviour;
mod control;
mod infiniband;
mod looking;
mod network;
mod servers;
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

/// The decisions about a scenario so far.
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
    /// The names at both ends of each link.
    links: Vec<(String, String)>,
    /// The slowest link's rate (bit/s).
    slowest: u64,
    /// An approximate upper bound of the headroom of a port and lossless priority (bytes).
    headroom: u64,
    /// Ports of the largest switch.
    ports: u64,
    /// Whether telemetry can represent the rates of all links.
    telemetry: bool,
    lossless: Vec<u64>,
    /// Priorities that flows use.
    priorities: Vec<u64>,
    /// Number of packets that may still be planned.
    packets: u64,
    /// Approximate duration of the run (ns).
    span: u64,
    tcp: bool,
    learning: bool,
    qcn: bool,
    /// The pair of hosts with most of the load, if there is one; all others have little.
    busy_pair: Option<(String, String)>,
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
        busy_pair: None,
        flows: 0,
        apps: 0,
    };
    shape.network(&format!("{seed}-{index}"));
    shape.behaviour();
    shape.switch();
    shape.control();
    shape.workload(&format!("{seed}-{index}"));
    shape.connections();
    shape.servers();
    shape.trouble();
    shape.layer3();
    shape.looking();
    shape.end();
    shape.infiniband();
    shape.made
}

impl Shape {
    fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.made.table.insert(key.to_owned(), value.into());
    }

    /// A time in nanoseconds, as a value.
    fn time(nanoseconds: u64) -> Value {
        format!("{nanoseconds}ns").into()
    }

    /// A random time during the run.
    fn moment(&mut self) -> u64 {
        let span = self.span;
        self.random.within(0..=span)
    }

    fn bytes(count: u64) -> Value {
        format!("{count}B").into()
    }

    /// All ports of a node, by its name, or a single port.
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

    /// Seed, stop, and other settings of the run as a whole.
    fn end(&mut self) {
        let seed = self.random.within(1..=1_000_000);
        self.set("seed", i64::try_from(seed).unwrap_or(1));
        // If frames can be lost, a run need not end by itself: TCP never gives up, and a frame may
        // be in a routing loop.
        let losing = [
            "route",
            "failure",
            "faults",
            "ingress",
            "slow_receiver",
            "host_model",
            "layer2",
            "layer3",
        ];
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

/// A table with these keys and values.
fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// An integer as TOML value.
fn number(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

fn names(names: &[String]) -> Value {
    names.iter().map(|name| Value::from(name.as_str())).collect::<Vec<_>>().into()
}
