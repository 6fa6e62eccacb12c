//! Settings of hosts: `[roce]`, `[layer2]`, `[tcp]`, static routes.

use toml::{Table, Value};

use super::{Shape, names, number, table};

impl Shape {
    pub(super) fn behaviour(&mut self) {
        self.version = if self.random.once_in(4) { 1 } else { 2 };
        self.mtu = self.random.pick(&[256, 512, 1_024, 1_024, 2_048, 4_096, 4_096]);
        self.service = self.random.pick(&["rc", "rc", "rc", "rc", "rc", "rc", "rc", "uc", "ud"]);
        self.priorities = if self.random.once_in(3) {
            let all: Vec<u64> = (0..8).collect();
            self.random.some(&all, 4)
        } else {
            vec![3]
        };
        self.lossless = match self.random.within(0..=5) {
            0 => (0..8).collect(),
            1 => Vec::new(),
            2 => self.priorities.clone(),
            _ => vec![3],
        };
        self.tcp = self.random.once_in(4);
        // The time that the packet budget takes on the slowest link, and some more for short flows.
        let bits = self.packets * (self.mtu + 80) * 8;
        self.span = 20_000 + bits * 1_000_000 / (self.slowest / 1_000).max(1);
        let roce = self.roce();
        self.set("roce", roce);
        let mut host = Table::new();
        if self.random.once_in(5) {
            let scheduler: Value = if self.random.once_in(2) {
                let weights = (0..8).map(|_| number(self.random.within(0..=9))).collect::<Vec<_>>();
                table([("ets", table([("weights", weights.into())]).into())]).into()
            } else {
                "strict-priority".into()
            };
            host.insert("scheduler".to_owned(), scheduler);
        }
        if self.random.once_in(5) {
            let streams = self.streams();
            host.insert("stack".to_owned(), table([("udp", streams)]).into());
        }
        if !host.is_empty() {
            self.set("host", host);
        }
        if self.random.once_in(4) {
            self.layer2();
        }
        if self.random.once_in(14) && !self.learning && self.switches.len() > 1 {
            self.routes();
        }
        if self.tcp {
            let tcp = self.tcp_table();
            self.set("tcp", tcp);
        }
    }

    fn roce(&mut self) -> Table {
        let mut roce = table([
            ("version", number(self.version)),
            ("path_mtu", number(self.mtu)),
            ("service", self.service.into()),
        ]);
        let mut put = |key: &str, value: Value| roce.insert(key.to_owned(), value);
        if self.random.once_in(3) {
            put("ip", "ipv6".into());
        }
        if self.random.once_in(6) {
            put("priority", number(self.random.pick(&self.priorities)));
        }
        if self.random.once_in(6) {
            put("cnp_priority", number(self.random.within(0..=7)));
        }
        if self.random.once_in(8) {
            let dscp = number(self.random.within(0..=63));
            put("cnp_marking", table([("dscp", dscp)]).into());
        }
        if self.random.once_in(10) {
            put("hop_limit", number(self.random.pick(&[6, 8, 64, 255])));
        }
        if self.random.once_in(6) {
            put("gid", "ipv4-mapped".into());
        }
        if self.random.once_in(6) {
            put("tagging", self.random.pick(&["tagged", "untagged"]).into());
        }
        if self.random.once_in(5) {
            let numbers = number(self.random.pick(&[2, 5, 64]));
            let policy = table([("round-robin", table([("numbers", numbers)]).into())]);
            put("path_entropy", policy.into());
        }
        if self.service == "rc" {
            self.second_path(&mut roce);
            self.reliability(&mut roce);
        }
        if self.random.once_in(6) {
            let neighbours = self.neighbours();
            roce.insert("neighbours".to_owned(), neighbours.into());
        }
        roce
    }

    /// Hosts ask for MAC addresses; on version 1 for nothing.
    fn neighbours(&mut self) -> Table {
        let mut neighbours = Table::new();
        let mut put = |key: &str, value: Value| neighbours.insert(key.to_owned(), value);
        if self.random.once_in(2) {
            put("reachable_time", self.random.pick(&["1ns", "1us", "50us", "30s"]).into());
        }
        if self.random.once_in(2) {
            put("delay", self.random.pick(&["0s", "1us", "20us", "5s"]).into());
        }
        if self.random.once_in(2) {
            put("retransmit", self.random.pick(&["1ns", "500ns", "5us", "100us", "1ms"]).into());
        }
        if self.random.once_in(2) {
            put("attempts", number(self.random.pick(&[1, 2, 3, 255])));
        }
        neighbours
    }

    /// Bridges and routers in one network, unless something is there that does not go together with that.
    pub(super) fn layer3(&mut self) {
        if self.switches.is_empty() || !self.random.once_in(8) {
            return;
        }
        let section = |name: &str| self.made.table.get(name).and_then(Value::as_table);
        let has = |name: &str, key: &str| section(name).is_some_and(|one| one.contains_key(key));
        let overrides = section("switch").and_then(|switch| switch.get("override")?.as_array());
        let in_overrides =
            |key: &str| overrides.into_iter().flatten().any(|one| one.get(key).is_some());
        let of_switches = ["qcn", "forwarding_plane", "load_balancing", "forwarding"];
        let is_refused = ["route", "failure"].iter().any(|key| self.made.table.contains_key(*key))
            || ["forwarding", "drop_incomplete_arp"].iter().any(|key| has("layer2", key))
            || has("ingress", "fast_cnp")
            || has("topology", "graph")
            || of_switches.iter().any(|key| has("switch", key) || in_overrides(key));
        if is_refused {
            return;
        }
        let mut layer3 = Table::new();
        if self.random.once_in(2) {
            let routers = self.random.some(&self.switches, 4);
            let key = self.random.pick(&["routers", "routers", "multilayer"]);
            layer3.insert(key.to_owned(), names(&routers));
        }
        self.set("layer3", layer3);
    }

    /// Automatic path migration, where packets have one path at a time.
    fn second_path(&mut self, roce: &mut Table) {
        if roce.contains_key("path_entropy") || !self.random.once_in(8) {
            return;
        }
        let mut path = Table::new();
        if self.random.once_in(2) {
            path.insert("rearm".to_owned(), self.random.pick(&["0s", "20us", "1ms"]).into());
        }
        if self.random.once_in(2) {
            path.insert("migrate_at".to_owned(), self.random.pick(&["0s", "15us", "200us"]).into());
        }
        roce.insert("queue_pair".to_owned(), table([("alternate_path", path.into())]).into());
    }

    /// Keys of acknowledgements, retries and connections.
    fn reliability(&mut self, roce: &mut Table) {
        let mut put = |key: &str, value: Value| roce.insert(key.to_owned(), value);
        let recovery = self.random.pick(&[
            "go-back-n",
            "go-back-n",
            "go-back-0",
            "selective-repeat",
            "reordering",
        ]);
        let is_selective = recovery == "selective-repeat" || recovery == "reordering";
        let scheme: Value = if recovery == "reordering" {
            let packets = number(self.random.pick(&[1, 4, 32]));
            table([("reordering", table([("packets", packets)]).into())]).into()
        } else {
            recovery.into()
        };
        put("recovery", scheme);
        if self.random.once_in(5) {
            put("ack_interval", number(self.random.pick(&[2, 3, 8, 64])));
        }
        if self.random.once_in(3) {
            put("ack_timeout", number(self.random.pick(&[0, 1, 3, 5, 7, 9, 11])));
        }
        if self.random.once_in(4) {
            put("retry_count", number(self.random.within(0..=7)));
        }
        if self.random.once_in(4) {
            put("rnr_retry", number(self.random.within(0..=7)));
        }
        if self.random.once_in(3) {
            let timer = self.random.pick(&[number(1), number(5), number(12), "20us".into()]);
            put("rnr_timer", timer);
        }
        if self.random.once_in(5) {
            let most = self.random.pick(&[1, 2, 4, 16]);
            put("max_rd_atomic", number(most));
            put("max_dest_rd_atomic", number(self.random.within(most..=16)));
        }
        if self.random.once_in(6) {
            put("max_outstanding", number(self.random.pick(&[1, 2, 3, 16, 200])));
        }
        if self.random.once_in(6) {
            let packets = number(self.random.pick(&[1, 2, 4, 64]));
            let delay = self.random.pick(&["100ns", "2us", "8us"]);
            put("ack_coalescing", table([("packets", packets), ("delay", delay.into())]).into());
        }
        if is_selective && self.random.once_in(2) {
            let low_packets = number(self.random.pick(&[1, 3, 10]));
            let timeouts =
                [("low", "100us".into()), ("high", "320us".into()), ("low_packets", low_packets)];
            put("timeouts", table(timeouts).into());
            put("ack_timeout", number(14));
        }
    }

    /// Connections by messages, if there are flows that need some.
    pub(super) fn connections(&mut self) {
        if self.service != "rc" || self.flows == 0 || !self.random.once_in(4) {
            return;
        }
        let mut connect = table([("connect", "cm".into())]);
        if self.random.once_in(2) {
            let mut cm = table([
                ("response_timeout", number(self.random.pick(&[0, 2, 4, 8, 12]))),
                ("packet_lifetime", number(self.random.pick(&[0, 1, 4, 8]))),
                ("retries", number(self.random.pick(&[0, 1, 3, 15]))),
            ]);
            if self.random.once_in(3) {
                cm.insert("priority".to_owned(), number(self.random.within(0..=7)));
            }
            connect.insert("cm".to_owned(), cm.into());
        }
        if let Some(Value::Table(roce)) = self.made.table.get_mut("roce") {
            roce.extend(connect);
        }
    }

    fn layer2(&mut self) {
        let mut layer2 = Table::new();
        let with_tables = self.random.once_in(2);
        if self.version == 1 && !with_tables && self.random.once_in(2) {
            layer2.insert("forwarding".to_owned(), "multipath".into());
        }
        if with_tables {
            self.learning = !self.random.once_in(4);
            let ages = ["1us", "1us", "5us", "9us", "20us", "100us", "300s"];
            if self.learning {
                let mut learning = table([("mac_ageing", self.random.pick(&ages).into())]);
                if self.version == 2 {
                    learning.insert("arp_timeout".to_owned(), self.random.pick(&ages).into());
                }
                layer2.insert("learning".to_owned(), learning.into());
                if self.version == 2 && self.random.once_in(4) {
                    layer2.insert("drop_incomplete_arp".to_owned(), true.into());
                }
            }
            if !self.learning || self.random.once_in(4) {
                let hosts = self.random.some(&self.hosts, 2);
                let mut entry = table([("hosts", names(&hosts)), ("mac", "gone".into())]);
                if self.version == 2 && self.random.once_in(3) {
                    entry.insert("arp".to_owned(), "gone".into());
                }
                layer2.insert("entry".to_owned(), vec![Value::from(entry)].into());
            }
        }
        if self.random.once_in(4) {
            let all = table([
                ("id", number(self.random.within(1..=4_094))),
                ("hosts", names(&self.hosts)),
            ]);
            layer2.insert("vlans".to_owned(), vec![Value::from(all)].into());
        }
        if self.service == "ud" && self.version == 1 && self.random.once_in(2) {
            layer2.insert("multicast".to_owned(), "snooping".into());
        }
        self.set("layer2", layer2);
    }

    /// A switch forwards frames for some hosts to one of its neighbours.
    fn routes(&mut self) {
        let switch = self.random.pick(&self.switches);
        let far = |(a, b): &(String, String)| match (*a == switch, *b == switch) {
            (true, _) => Some(b.clone()),
            (_, true) => Some(a.clone()),
            _ => None,
        };
        let neighbours: Vec<String> = self.links.iter().filter_map(far).collect();
        let switches: Vec<String> =
            neighbours.iter().filter(|name| self.switches.contains(name)).cloned().collect();
        if switches.is_empty() {
            return;
        }
        let next = self.random.pick(&switches);
        let destinations = self.random.some(&self.hosts, 2);
        let route = table([
            ("switch", switch.into()),
            ("destinations", names(&destinations)),
            ("next_hop", next.into()),
        ]);
        self.set("route", vec![Value::from(route)]);
    }

    /// Some streams of UDP.
    fn streams(&mut self) -> Value {
        let count = self.random.within(1..=3);
        let mut streams = Vec::new();
        for _ in 0..count {
            let from = self.random.pick(&self.hosts);
            let others: Vec<String> =
                self.hosts.iter().filter(|&host| *host != from).cloned().collect();
            let to = self.random.pick(&others);
            let bytes = self.random.pick(&[18, 200, 1_000, 1_472, 8_952]);
            // Headers, preamble and gap fit beside it.
            let most = self.slowest / 100 * bytes / (bytes + 120);
            let rate = most * self.random.pick(&[1, 10, 40, 90]);
            let mut stream = table([
                ("from", from.into()),
                ("to", to.into()),
                ("rate", format!("{}bps", rate.max(1)).into()),
                ("datagram", format!("{bytes}B").into()),
                ("stop", Self::time(self.span.max(1_000))),
            ]);
            if self.random.once_in(2) {
                stream.insert("priority".to_owned(), number(self.random.within(0..=7)));
            }
            if self.random.once_in(2) {
                stream.insert("start".to_owned(), Self::time(self.random.within(0..=999)));
            }
            streams.push(Value::from(stream));
        }
        streams.into()
    }

    fn tcp_table(&mut self) -> Table {
        let algorithm = self.random.pick(&["cubic", "reno", "dctcp"]);
        let mut tcp = table([
            ("congestion_control", table([(algorithm, Table::new().into())]).into()),
            // Losses can be repaired within the run.
            ("initial_rto", self.random.pick(&["100us", "1ms", "10ms"]).into()),
            ("min_rto", self.random.pick(&["50us", "1ms", "5ms"]).into()),
        ]);
        let mut put = |key: &str, value: Value| tcp.insert(key.to_owned(), value);
        put("delayed_ack", self.random.pick(&["0s", "50us", "1ms"]).into());
        if self.random.once_in(3) {
            put("priority", number(self.random.within(0..=7)));
        }
        if self.random.once_in(3) {
            put("mtu", number(self.random.pick(&[576, 1_500, 4_200, 9_000])));
        }
        if self.random.once_in(3) {
            put("ecn", true.into());
        }
        if self.random.once_in(4) {
            put("initial_window", number(self.random.pick(&[1, 2, 10, 64])));
        }
        if self.random.once_in(4) {
            put("receive_window", self.random.pick(&["64KiB", "1MB"]).into());
        }
        if self.random.once_in(4) {
            put("segments_per_ack", number(self.random.within(1..=4)));
        }
        if self.random.once_in(4) {
            put("quick_acks", number(self.random.pick(&[0, 2, 16])));
        }
        if self.random.once_in(4) {
            put("output_limit", self.random.pick(&["16KiB", "128KiB"]).into());
        }
        for key in ["send_delay", "receive_delay", "jitter"] {
            if self.random.once_in(6) {
                put(key, self.random.pick(&["100ns", "2us"]).into());
            }
        }
        tcp
    }
}
