//! InfiniBand in place of Ethernet.

use toml::{Table, Value};

use super::{Shape, number, table};

/// What belongs to Ethernet, IP, or stacks that InfiniBand does not have.
const OF_ETHERNET: [&str; 12] = [
    "ingress",
    "layer2",
    "layer3",
    "route",
    "slow_receiver",
    "watchdog",
    "multicast_group",
    "host",
    "subnet",
    "address",
    "class",
    "tcp",
];
/// Of `[switch]`, what InfiniBand has too.
const OF_SWITCHES: [&str; 2] = ["forwarding", "latency"];
/// Of `[roce]`, what says how frames of Ethernet look.
const OF_FRAMES: [&str; 11] = [
    "version",
    "v1_hosts",
    "ip",
    "tagging",
    "gid",
    "gid_index",
    "cnp_marking",
    "cnp_priority",
    "neighbours",
    "path_entropy",
    "entropy",
];

impl Shape {
    /// Makes the network one of InfiniBand, now and then: without all that is of Ethernet alone.
    pub(super) fn infiniband(&mut self) {
        if self.tcp || !self.random.once_in(6) {
            return;
        }
        if self.made.table.contains_key("multicast_group") {
            return; // Its workload needs it.
        }
        for key in OF_ETHERNET {
            self.made.table.remove(key);
        }
        keep_only(self.made.table.get_mut("switch"), &OF_SWITCHES);
        for (key, own) in self.made.table.iter_mut() {
            match key.as_str() {
                "roce" => remove(own, &OF_FRAMES),
                "capture" => remove(own, &["fcs"]),
                "sample" => remove(own, &["ingress"]),
                _ => {}
            }
        }
        if let Some(Value::Array(links)) = self.made.table.get_mut("link") {
            links.iter_mut().for_each(|own| remove(own, &["mtu"]));
            links.retain(|own| own.get("bit_error_rate").is_some());
        }
        self.without_storms_and_disorder();
        if let Some(Value::Array(models)) = self.made.table.get_mut("host_model") {
            models.iter_mut().for_each(|own| remove(own, &["buffer"]));
        }
        if let Some(workloads) = self.made.table.get_mut("workload") {
            each_table(workloads, &mut |own| {
                own.remove("congestion_control");
                own.remove("marking");
            });
        }
        let algorithms = ["none", "timely", "patched-timely", "swift", "infiniband"];
        let algorithm = self.random.pick(&algorithms);
        self.set("congestion_control", table([(algorithm, Table::new().into())]));
        let mut own = self.lanes();
        if algorithm == "infiniband" && self.random.once_in(2) {
            own.insert("congestion_control".into(), self.fecn().into());
        }
        self.set("infiniband", own);
    }

    fn lanes(&mut self) -> Table {
        let engines = ["minhop", "updn", "ftree", "dor", "sssp", "dfsssp", "lash"];
        let engine = self.random.pick(&engines);
        let mut own = table([
            ("data_vls", number(self.random.pick(&[1, 2, 4, 8]))),
            ("sm", table([("engine", engine.into())]).into()),
        ]);
        if ["minhop", "updn", "ftree"].contains(&engine) && self.random.once_in(3) {
            let adaptive = self.random.pick(&["greedy", "bounded"]);
            own.insert(
                "sm".into(),
                table([("engine", engine.into()), ("adaptive_routing", adaptive.into())]).into(),
            );
        }
        // `dfsssp` has a service level for each LID, and a queue pair with two paths has one.
        let roce = self.made.table.get("roce").and_then(Value::as_table);
        let has_second_path = roce.is_some_and(|roce| roce.contains_key("queue_pair"));
        if (engine != "dfsssp" || !has_second_path) && self.random.once_in(3) {
            self.several_lids(&mut own);
        }
        if self.random.once_in(2) {
            let least = (self.mtu + 64).div_ceil(64) * 64;
            let packets = self.random.within(1..=8);
            own.insert("vl_buffer".into(), Self::bytes(least * packets));
        }
        if self.random.once_in(3) {
            let interval = self.random.pick(&[0, 50, 5_000]);
            own.insert("update_interval".into(), Self::time(interval));
        }
        own
    }

    /// Several LIDs for each host.
    fn several_lids(&mut self, own: &mut Table) {
        let lmc = self.random.within(1..=3);
        own.insert("lmc".into(), number(lmc));
        match self.random.within(0..=2) {
            0 => {}
            1 => {
                own.insert("path_bits".into(), "random".into());
            }
            _ => {
                let list = vec![number((1 << lmc) - 1), number(0)];
                own.insert("path_bits".into(), table([("list", Value::Array(list))]).into());
            }
        }
    }

    /// When switches set FECN.
    fn fecn(&mut self) -> Table {
        table([
            ("threshold", number(self.random.pick(&[1, 8, 15]))),
            ("marking_rate", number(self.random.pick(&[0, 3]))),
            ("packet_size", number(self.random.pick(&[0, 8]))),
            ("victim_mask", self.random.pick(&["adapters", "all", "none"]).into()),
        ])
    }

    /// InfiniBand has no pauses, so that nobody pauses without end, and its links keep packets in order.
    fn without_storms_and_disorder(&mut self) {
        for (list, key, excluded) in [
            ("failure", "kind", ["pause-storm"].as_slice()),
            ("faults", "action", ["duplicate", "reorder"].as_slice()),
            ("faults", "pattern", ["ip-identification"].as_slice()),
            ("faults", "opcode", ["PFC", "PAUSE"].as_slice()),
        ] {
            let is_excluded = |one: &Value| {
                one.get(key).and_then(Value::as_str).is_some_and(|one| excluded.contains(&one))
            };
            if let Some(Value::Array(all)) = self.made.table.get_mut(list) {
                all.retain(|one| !is_excluded(one));
            }
        }
    }
}

fn remove(of: &mut Value, keys: &[&str]) {
    if let Value::Table(own) = of {
        own.retain(|key, _| {
            let key: &str = key;
            !keys.contains(&key)
        });
    }
}

fn keep_only(of: Option<&mut Value>, keys: &[&str]) {
    if let Some(Value::Table(own)) = of {
        own.retain(|key, _| {
            let key: &str = key;
            keys.contains(&key)
        });
    }
}

/// Calls `act` with each table that is somewhere in a value.
fn each_table(value: &mut Value, act: &mut impl FnMut(&mut Table)) {
    match value {
        Value::Table(own) => {
            act(own);
            own.iter_mut().for_each(|(_, inner)| each_table(inner, act));
        }
        Value::Array(all) => all.iter_mut().for_each(|inner| each_table(inner, act)),
        _ => {}
    }
}
