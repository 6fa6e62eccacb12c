//! Failures, faults, and slow receivers.

use toml::{Table, Value};

use super::{Shape, names, number, table};

impl Shape {
    pub(super) fn trouble(&mut self) {
        if self.random.once_in(6) {
            let count = self.random.within(1..=3);
            let all: Vec<Value> = (0..count).map(|_| self.failure().into()).collect();
            self.set("failure", all);
            if self.random.once_in(3) {
                let convergence = self.random.magnitude(1..=50_000);
                self.set("convergence", Self::time(convergence));
            }
        }
        if self.random.once_in(6) {
            let count = self.random.within(1..=3);
            let all: Vec<Value> = (0..count).map(|_| self.fault().into()).collect();
            self.set("faults", all);
        }
        if self.random.once_in(8) {
            self.links();
        }
        self.addresses();
        if self.random.once_in(12) {
            let ingress = self.ingress();
            self.set("ingress", ingress);
        }
        if self.random.once_in(8) {
            let receiver = self.slow_receiver();
            self.set("slow_receiver", vec![Value::from(receiver)]);
        }
        if self.random.once_in(6) && !self.made.table.contains_key("slow_receiver") {
            let model = self.host_model();
            self.set("host_model", vec![Value::from(model)]);
        }
        if self.random.once_in(8) {
            let watchdog = self.watchdog();
            self.set("watchdog", watchdog);
        }
    }

    fn failure(&mut self) -> Table {
        let kinds = ["link-down", "link-rate", "switch-reboot", "pause-storm", "host-down"];
        let kind = self.random.pick(&kinds);
        let at = self.moment();
        let mut failure = table([("kind", kind.into()), ("at", Self::time(at))]);
        let mut put = |key: &str, value: Value| failure.insert(key.to_owned(), value);
        match kind {
            "link-down" | "link-rate" => {
                let (end, _) = self.random.pick(&self.links);
                let port = self.port_of(&end);
                put("port", port.into());
                if kind == "link-rate" {
                    put("rate", self.random.pick(&["100Mbps", "1Gbps", "7Gbps"]).into());
                }
            }
            "switch-reboot" => {
                put("switch", self.random.pick(&self.switches).into());
            }
            _ => {
                put("host", self.random.pick(&self.hosts).into());
            }
        }
        if self.random.once_in(8) {
            return failure;
        }
        let lasts = self.random.magnitude(1..=self.span.max(2));
        put("lasts", Self::time(lasts));
        if self.random.once_in(4) {
            put("repeat", number(self.random.within(2..=5)));
            put("interval", Self::time(lasts + self.random.magnitude(1..=self.span.max(2))));
        }
        failure
    }

    fn fault(&mut self) -> Table {
        let action = self.random.pick(&["drop", "duplicate", "reorder", "delay", "corrupt"]);
        let mut fault = table([("action", action.into())]);
        let mut put = |key: &str, value: Value| fault.insert(key.to_owned(), value);
        match action {
            "reorder" => {
                put("behind", number(self.random.within(1..=20)));
                if self.random.once_in(2) {
                    put("delay", self.random.pick(&["1us", "20us"]).into());
                }
            }
            "delay" => {
                put("delay", self.random.pick(&["1ns", "500ns", "10us", "1ms"]).into());
            }
            "corrupt" => {
                put("part", self.random.pick(&["payload", "header", "icrc", "fcs"]).into());
            }
            _ => {}
        }
        match self.random.within(0..=4) {
            0 => {
                put("nth", number(self.random.within(1..=50)));
            }
            1 => {
                put("every", number(self.random.within(10..=500)));
            }
            2 => {
                put("pattern", "ip-identification".into());
            }
            _ => {
                put("probability", self.random.pick(&[0.001, 0.01, 0.05]).into());
            }
        }
        if self.random.once_in(3) {
            let classes = ["data", "request", "response", "ack", "nak", "PFC", "PAUSE"];
            // Only frames with payload can be corrupted.
            let count = if action == "corrupt" { 1 } else { classes.len() };
            put("opcode", self.random.pick(&classes[..count]).into());
        }
        let is_once = fault.contains_key("nth");
        let mut put = |key: &str, value: Value| fault.insert(key.to_owned(), value);
        if !is_once && self.random.once_in(4) {
            put("count", number(self.random.within(1..=20)));
        }
        if self.flows > 0 && !self.tcp && self.random.once_in(6) {
            put("flow", number(self.random.within(0..=self.flows - 1)));
        }
        if self.random.once_in(4) {
            let node = self.random.pick(&self.hosts);
            put(self.random.pick(&["from", "to"]), node.into());
        }
        if self.random.once_in(4) {
            put("after", Self::time(self.random.within(0..=self.span)));
        }
        fault
    }

    /// Links on which bits change, or that take no long frames.
    fn links(&mut self) {
        let node = self.random.pick(&self.hosts);
        let mut link = table([("ports", names(&[node]))]);
        if self.random.once_in(3) {
            link.insert("mtu".to_owned(), Self::bytes(self.random.pick(&[512, 1_500, 9_000])));
        }
        if link.len() == 1 || self.random.once_in(2) {
            let rate = self.random.pick(&[1e-9, 1e-7, 3e-6]);
            link.insert("bit_error_rate".to_owned(), rate.into());
        }
        self.set("link", vec![Value::from(link)]);
    }

    /// Addresses and code points of hosts.
    fn addresses(&mut self) {
        if self.random.once_in(6) {
            let prefixes = [("ipv4", "172.16.0.0/12".into()), ("ipv6", "fd07::/64".into())];
            let mut subnet = table(prefixes);
            subnet.insert("hosts".to_owned(), names(&["all".to_owned()]));
            self.set("subnet", vec![Value::from(subnet)]);
        }
        if self.random.once_in(6) {
            let host = self.random.pick(&self.hosts);
            let mut address = table([("mac", "b8:59:9f:00:00:01".into())]);
            address.insert("hosts".to_owned(), names(&[host]));
            self.set("address", vec![Value::from(address)]);
        }
    }

    /// Conditions of ports of switches for what comes in.
    fn ingress(&mut self) -> Table {
        let switch = self.random.pick(&self.switches);
        let port = if self.random.once_in(3) { switch } else { self.port_of(&switch) };
        let ports = names(&[port]);
        let some: Value = vec![number(self.random.within(0..=7))].into();
        if self.random.once_in(3) {
            let list = table([("ports", ports), ("deny", some)]);
            return table([("access_list", vec![Value::from(list)].into())]);
        }
        if self.version == 2 && self.random.once_in(3) {
            let threshold = self.random.magnitude(1..=200_000);
            let fast_cnp = table([
                ("ports", ports),
                ("threshold", Self::bytes(threshold)),
                ("interval", self.random.pick(&["1ps", "100ns", "5us", "50us"]).into()),
            ]);
            return table([("fast_cnp", vec![Value::from(fast_cnp)].into())]);
        }
        let rate = self.slowest / self.random.pick(&[1, 2, 10]);
        let burst = self.random.magnitude(20_000..=1_000_000);
        let mut policer = table([
            ("ports", ports),
            ("rate", format!("{rate}bps").into()),
            ("burst", Self::bytes(burst)),
        ]);
        if self.random.once_in(3) {
            policer.insert("priorities".to_owned(), some);
        }
        table([("policer", vec![Value::from(policer)].into())])
    }

    fn slow_receiver(&mut self) -> Table {
        let hosts = self.random.some(&self.hosts, 2);
        let mut receiver = table([("hosts", names(&hosts))]);
        if self.random.once_in(2) {
            let rate = self.slowest / self.random.pick(&[1, 2, 3, 10]);
            receiver.insert("rate".to_owned(), format!("{rate}bps").into());
        }
        let headroom = self.headroom * 2 * (1 + self.lossless.len() as u64);
        if headroom > 200_000 || self.random.once_in(3) {
            let buffer = headroom + self.random.magnitude(20_000..=1_000_000);
            receiver.insert("buffer".to_owned(), Self::bytes(buffer));
        }
        if self.random.once_in(3) {
            let translation = table([
                ("entries", number(self.random.magnitude(1..=4_096))),
                ("miss", self.random.pick(&["100ns", "500ns", "2us"]).into()),
                ("memory", self.random.pick(&["1MiB", "64MiB"]).into()),
            ]);
            receiver.insert("translation".to_owned(), translation.into());
        }
        receiver
    }

    fn host_model(&mut self) -> Table {
        let profile = self.random.pick(&["cx3", "cx5", "cx6", "cx7", "none"]);
        let mut model = table([("profile", profile.into())]);
        if self.random.once_in(2) {
            let hosts = self.random.some(&self.hosts, 2);
            model.insert("hosts".to_owned(), names(&hosts));
        }
        let headroom = self.headroom * 2 * (1 + self.lossless.len() as u64);
        if headroom > 200_000 || self.random.once_in(3) {
            let buffer = headroom + self.random.magnitude(20_000..=1_000_000);
            model.insert("buffer".to_owned(), Self::bytes(buffer));
        }
        if self.random.once_in(3) {
            let lanes = number(self.random.pick(&[1, 4, 16]));
            let pcie = table([("gen", number(self.random.pick(&[1, 3, 5]))), ("lanes", lanes)]);
            model.insert("pcie".to_owned(), pcie.into());
        }
        if self.random.once_in(3) {
            let mut cpu = table([
                ("threads", number(self.random.pick(&[1, 4]))),
                ("batch", number(self.random.pick(&[1, 16]))),
                ("inline", self.random.pick(&["0B", "64B", "924B"]).into()),
            ]);
            if self.random.once_in(2) {
                cpu.insert("completion".to_owned(), table([("interrupt", "4us".into())]).into());
            }
            model.insert("cpu".to_owned(), cpu.into());
        }
        if self.random.once_in(3) {
            let caches = table([
                ("qp_contexts", number(self.random.pick(&[1, 8, 1_000]))),
                ("translations", number(self.random.pick(&[1, 64]))),
                ("registered", self.random.pick(&["0B", "1MiB", "8GiB"]).into()),
                ("replacement", self.random.pick(&["random", "lru"]).into()),
            ]);
            model.insert("caches".to_owned(), caches.into());
        }
        if self.random.once_in(3) {
            let memory = table([
                ("posted_credits", number(self.random.pick(&[1, 16, 92]))),
                ("iommu", table([("entries", number(16))]).into()),
            ]);
            model.insert("memory".to_owned(), memory.into());
        }
        if model.contains_key("memory") {
            let caches = model.entry("caches").or_insert_with(|| Table::new().into());
            if let Some(caches) = caches.as_table_mut() {
                caches.insert("registered".to_owned(), "1MiB".into());
            }
        }
        if profile == "none" {
            let whole = table([("gen", number(3)), ("lanes", number(16))]);
            model.entry("pcie").or_insert(whole.into());
        }
        if self.random.once_in(3) && (profile != "none" || model.contains_key("memory")) {
            let at = self.moment();
            let contention =
                table([("at", Self::time(at)), ("lasts", "100us".into()), ("factor", 3.0.into())]);
            model.insert("contention".to_owned(), vec![Value::from(contention)].into());
        }
        model
    }

    fn watchdog(&mut self) -> Table {
        let mut watchdog = Table::new();
        let times = ["5us", "20us", "100us", "1ms"];
        if self.random.once_in(2) {
            let switch = table([
                ("detect", self.random.pick(&times).into()),
                ("restore", self.random.pick(&times).into()),
                ("poll", self.random.pick(&times).into()),
                ("action", self.random.pick(&["drop", "forward"]).into()),
            ]);
            watchdog.insert("switch".to_owned(), switch.into());
        }
        if watchdog.is_empty() || self.random.once_in(2) {
            let nic = table([("detect", self.random.pick(&times).into())]);
            watchdog.insert("nic".to_owned(), nic.into());
        }
        watchdog
    }
}
