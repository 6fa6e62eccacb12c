//! Nodes and links.

use std::fmt::Write as _;
use std::path::Path;

use rocelab_fabric::TopologyConfig;
use rocelab_fabric::topology::TopologyLink;
use serde::Deserialize as _;
use toml::{Table, Value};

use super::{Shape, number, table};

/// Rates that telemetry can represent (Gbit/s).
const USUAL: [u64; 7] = [10, 25, 40, 50, 100, 200, 400];

impl Shape {
    pub(super) fn network(&mut self, name: &str) {
        self.telemetry = !self.random.once_in(8);
        let topology = loop {
            let topology = self.topology(name);
            // The content of the file is already known here.
            let built = TopologyConfig::deserialize(Value::from(topology.clone()))
                .ok()
                .and_then(|config| self.built(&config));
            if let Some(()) = built {
                break topology;
            }
        };
        self.set("topology", topology);
    }

    fn topology(&mut self, name: &str) -> Table {
        let host_link = self.link();
        let fabric_link = self.link();
        let small = |shape: &mut Self, most| number(shape.random.within(1..=most));
        match self.random.within(0..=13) {
            0..=3 => {
                let hosts = number(self.random.within(2..=6));
                table([("single-switch", table([("hosts", hosts), ("link", host_link)]).into())])
            }
            4..=5 => {
                let entries = [
                    ("left", small(self, 4)),
                    ("right", small(self, 4)),
                    ("host_link", host_link),
                    ("bottleneck", fabric_link),
                ];
                table([("dumbbell", table(entries).into())])
            }
            6..=8 => {
                let leaves = number(self.random.within(2..=4));
                let entries = [
                    ("leaves", leaves),
                    ("spines", small(self, 3)),
                    ("hosts_per_leaf", small(self, 3)),
                    ("host_link", host_link),
                    ("fabric_link", fabric_link),
                ];
                table([("leaf-spine", table(entries).into())])
            }
            9 => {
                let k = number(self.random.pick(&[2, 4, 4]));
                let entries = [("k", k), ("host_link", host_link), ("fabric_link", fabric_link)];
                table([("fat-tree", table(entries).into())])
            }
            10..=11 => {
                let entries = [
                    ("pods", number(2)),
                    ("racks_per_pod", small(self, 2)),
                    ("hosts_per_rack", small(self, 2)),
                    ("aggregations_per_pod", small(self, 2)),
                    ("cores", number(2)),
                    ("host_link", host_link),
                    ("fabric_link", fabric_link),
                ];
                let mut clos = table(entries);
                if self.random.once_in(2) {
                    let core_link = self.link();
                    clos.insert("core_link".to_owned(), core_link);
                }
                table([("clos", clos.into())])
            }
            12 => {
                // Hosts of different rails may not reach each other where nothing joins these.
                let mut examples = TopologyConfig::examples();
                examples.retain(|example| !matches!(example, TopologyConfig::RailOnly(_)));
                let example = self.random.pick(&examples);
                Table::try_from(&example).unwrap_or_default()
            }
            _ => {
                let file = format!("{name}.topology.txt");
                let text = self.ring();
                self.made.files.insert(file.clone(), text);
                table([("file", table([("path", file.into())]).into())])
            }
        }
    }

    fn link(&mut self) -> Value {
        let mut rate = self.random.pick(&USUAL);
        if !self.telemetry && self.random.once_in(2) {
            rate = self.random.within(1..=800);
        }
        let mut link = table([("rate", format!("{rate}Gbps").into())]);
        let long = self.random.pick(&["1mm", "1m", "3m", "10m", "100m", "300m", "2km"]);
        if self.random.once_in(8) {
            let delay = self.random.magnitude(1..=20_000);
            link.insert("delay".to_owned(), Self::time(delay));
        } else {
            link.insert("cable".to_owned(), long.into());
        }
        link.into()
    }

    /// Switches in a ring with one or two hosts each, as an edge list.
    fn ring(&mut self) -> String {
        let switches = self.random.within(3..=5);
        let each = self.random.within(1..=2);
        let hosts = switches * each;
        let ids: Vec<String> = (hosts..hosts + switches).map(|id| id.to_string()).collect();
        let mut text =
            format!("{} {switches} {}\n{}\n", hosts + switches, hosts + switches, ids.join(" "));
        let (host_rate, ring_rate) = (self.random.pick(&USUAL), self.random.pick(&USUAL));
        for host in 0..hosts {
            let switch = hosts + host / each;
            _ = writeln!(text, "{host} {switch} {host_rate}Gbps 0.00002ms 0");
        }
        let loss = if self.random.once_in(3) { "0.001" } else { "0" };
        for switch in 0..switches {
            let next = hosts + (switch + 1) % switches;
            _ = writeln!(text, "{} {next} {ring_rate}Gbps 0.0005ms {loss}", hosts + switch);
        }
        text
    }

    /// Stores the numbers of a topology, if it is valid and small.
    fn built(&mut self, config: &TopologyConfig) -> Option<()> {
        let folder = tempfile::tempdir().ok()?;
        for (name, text) in &self.made.files {
            std::fs::write(folder.path().join(name), text).ok()?;
        }
        let topology = config.build(Path::new(folder.path())).ok()?;
        let name = |node: u32| topology.nodes[node as usize].name.clone();
        self.hosts = topology.hosts().map(name).collect();
        self.switches = topology.switches().map(name).collect();
        self.links = topology.links.iter().map(|link| (name(link.a), name(link.b))).collect();
        // The data that arrives before a pause has its effect: twice the cable, and a few of the
        // largest frames.
        let headroom = |link: &TopologyLink| {
            let bits = u128::from(link.rate.bits_per_second())
                * u128::from(2 * link.delay.ps() + 8_000_000);
            u64::try_from(bits / 8_000_000_000_000).unwrap_or(u64::MAX) + 14_000
        };
        self.headroom = topology.links.iter().map(headroom).max()?;
        let ports =
            |switch: &String| self.links.iter().filter(|(a, b)| a == switch || b == switch).count();
        self.ports = self.switches.iter().map(ports).max()? as u64;
        self.slowest = topology.links.iter().map(|link| link.rate.bits_per_second()).min()?;
        (self.hosts.len() >= 2 && topology.nodes.len() <= 60).then_some(())
    }
}
