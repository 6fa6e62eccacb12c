//! `[switch]` and its overrides.

use toml::{Table, Value};

use super::{Shape, names, number, table};

impl Shape {
    pub(super) fn switch(&mut self) {
        let mut switch = Table::new();
        let lossless: Vec<Value> = self.lossless.iter().map(|&one| number(one)).collect();
        switch.insert("lossless".to_owned(), lossless.into());
        self.memory(&mut switch);
        self.classes(&mut switch);
        self.service_of_queues(&mut switch);
        self.marks(&mut switch);
        if self.random.once_in(4) {
            let overrides: Vec<Value> =
                (0..self.random.within(1..=2)).map(|_| self.exception().into()).collect();
            switch.insert("override".to_owned(), overrides.into());
        }
        self.set("switch", switch);
    }

    fn memory(&mut self, switch: &mut Table) {
        let mut put = |key: &str, value: Value| switch.insert(key.to_owned(), value);
        match self.random.within(0..=5) {
            0..=2 => {}
            3..=4 => {
                let buffer = self.enough(self.headroom);
                put("buffer", Self::bytes(buffer));
            }
            _ => {
                let headroom = self.random.pick(&[0, 2_000, 10_000]);
                let buffer = self.enough(headroom);
                put("buffer", Self::bytes(buffer));
                put("headroom", Self::bytes(headroom));
            }
        }
        match self.random.within(0..=5) {
            0..=1 => {}
            2..=3 => {
                put("alpha", self.random.pick(&["1/64", "1/16", "1/2", "1", "8"]).into());
            }
            4 => {
                put("xoff", Self::bytes(self.random.magnitude(2_000..=60_000)));
            }
            _ => {
                let alpha = Value::from(self.random.pick(&["1", "1/16", "4"]));
                let priority = self.random.within(0..=7).to_string();
                put("priority_alpha", table([(&priority[..], alpha)]).into());
                put("egress_alpha", self.random.pick(&["1/8", "1", "16"]).into());
            }
        }
        if self.random.once_in(6) {
            put("xon_offset", self.random.pick(&["0B", "1B", "5KB", "50KB"]).into());
        }
        if self.random.once_in(8) {
            put("reserve", self.random.pick(&["1KB", "5KB"]).into());
        }
        if self.random.once_in(8) {
            put("egress_reserve", self.random.pick(&["1KB", "3KB"]).into());
        }
        if self.random.once_in(8) {
            put("lossy_ingress_alpha", self.random.pick(&["1/8", "1"]).into());
        }
        if self.random.once_in(16) {
            put("lossless_egress_limit", self.random.pick(&["20KB", "500KB"]).into());
        }
        if self.random.once_in(5) {
            put("cell", self.random.pick(&["64B", "208B"]).into());
        }
        if self.random.once_in(8) {
            put("headroom_pool", self.random.pick(&["100KB", "1MB"]).into());
        }
    }

    /// A buffer that has room for the headroom and the reserves of all ports and classes, and some
    /// more.
    fn enough(&mut self, headroom: u64) -> u64 {
        let classes = self.lossless.len() as u64;
        let reserves = self.ports * 8 * 5_000;
        let least = 60_000 + self.ports * classes * headroom + reserves;
        self.random.magnitude(least..=8 * least)
    }

    fn classes(&mut self, switch: &mut Table) {
        let mut put = |key: &str, value: Value| switch.insert(key.to_owned(), value);
        if self.random.once_in(10) {
            put("trust", self.random.pick(&["pcp", "dscp", "traffic-class"]).into());
            put("default_priority", number(self.random.within(0..=7)));
        }
        if self.random.once_in(8) {
            let queue = number(self.random.within(0..=7));
            let priority = self.random.within(0..=7).to_string();
            put("queue_of", table([(&priority[..], queue)]).into());
        }
    }

    fn service_of_queues(&mut self, switch: &mut Table) {
        let mut put = |key: &str, value: Value| switch.insert(key.to_owned(), value);
        match self.random.within(0..=5) {
            0 => {
                put("scheduler", "round-robin".into());
            }
            1 => {
                let weights: Vec<Value> =
                    (0..8).map(|_| number(self.random.within(1..=20))).collect();
                put(
                    "scheduler",
                    table([("dwrr", table([("weights", weights.into())]).into())]).into(),
                );
            }
            _ => {}
        }
        if self.random.once_in(12) {
            let shapers = self.shapers();
            put("shapers", shapers);
        }
        if self.random.once_in(5) {
            put("latency", self.random.pick(&["1ns", "300ns", "1us", "5us"]).into());
        }
        if self.random.once_in(5) {
            put("forwarding", "cut-through".into());
        }
        if self.random.once_in(5) {
            let algorithm = self.random.pick(&["round-robin", "shortest-queue"]);
            put("load_balancing", algorithm.into());
        }
        if self.version == 1 && self.random.once_in(6) {
            put("forwarding_plane", self.random.pick(&["bridge", "bridge-no-flood"]).into());
        }
        if self.random.once_in(6) {
            put("pause_response", self.random.pick(&["10ns", "500ns", "3us"]).into());
        }
        if self.random.once_in(6) {
            put("pause_quanta", number(self.random.pick(&[1, 50, 300, 3_000])));
        }
        if self.random.once_in(6) {
            put("flow_control", "pause".into());
        }
    }

    fn shapers(&mut self) -> Value {
        let shaper = table([
            ("rate", self.random.pick(&["1Gbps", "9Gbps", "35Gbps"]).into()),
            ("burst", self.random.pick(&["9216B", "20KB", "100KB"]).into()),
        ]);
        let priority = self.random.pick(&self.priorities).to_string();
        table([(&priority[..], shaper.into())]).into()
    }

    fn marks(&mut self, switch: &mut Table) {
        if self.version == 2 && self.random.once_in(3) {
            let ecn = self.ecn();
            switch.insert("ecn".to_owned(), ecn);
        }
        self.qcn = self.version == 1 && self.random.once_in(3);
        if self.qcn && self.random.once_in(2) {
            let qcn = table([
                ("set_point", self.random.pick(&["2KB", "26KB", "100KB"]).into()),
                ("weight", number(self.random.pick(&[0, 2, 16]))),
                ("sample_base", self.random.pick(&["10KB", "150KB"]).into()),
                ("cnm_priority", number(self.random.within(0..=7))),
            ]);
            switch.insert("qcn".to_owned(), qcn.into());
        }
    }

    fn ecn(&mut self) -> Value {
        let kmin = self.random.magnitude(1_000..=200_000);
        let kmax = kmin + self.random.magnitude(1..=400_000);
        let mut ecn = table([
            ("kmin", Self::bytes(kmin)),
            ("kmax", Self::bytes(kmax)),
            ("pmax", self.random.pick(&[0.01, 0.2, 1.0]).into()),
        ]);
        if self.random.once_in(4) {
            ecn.insert("per_rate".to_owned(), "25Gbps".into());
        }
        if self.random.once_in(3) {
            ecn.insert("mark_at".to_owned(), "dequeue".into());
        }
        if self.random.once_in(4) {
            ecn.insert("average_weight".to_owned(), "1/16".into());
        }
        ecn.into()
    }

    /// An override of some switches or ports.
    fn exception(&mut self) -> Table {
        let mut one = Table::new();
        let of_ports = self.random.once_in(3);
        if of_ports {
            let switch = self.random.pick(&self.switches);
            let port = self.port_of(&switch);
            one.insert("ports".to_owned(), names(&[port]));
        } else {
            let switches = self.random.some(&self.switches, 2);
            one.insert("switches".to_owned(), names(&switches));
        }
        let mut put = |key: &str, value: Value| one.insert(key.to_owned(), value);
        match self.random.within(0..=if of_ports { 3 } else { 8 }) {
            0 => put("pause_response", "1us".into()),
            1 => put("pause_quanta", number(self.random.pick(&[200, 2_000]))),
            2 => put("scheduler", "round-robin".into()),
            3 => {
                let shapers = self.shapers();
                put("shapers", shapers)
            }
            4..=5 => put("latency", self.random.pick(&["1ns", "1us", "10us"]).into()),
            6 => put("alpha", self.random.pick(&["1/32", "2"]).into()),
            7 => put("forwarding", "cut-through".into()),
            _ => put("xon_offset", "1B".into()),
        };
        one
    }
}
