//! Flows and applications.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rocelab_collective::{Algorithm, Collective, Kind, Options};
use toml::{Table, Value};

use super::{Shape, names, number, table};

/// Verbs of flows.
const FLOW_VERBS: [&str; 4] = ["send", "write", "write-with-immediate", "read"];
/// Verbs of steps.
const STEP_VERBS: [&str; 8] = [
    "send",
    "send-with-immediate",
    "send-with-invalidate",
    "write",
    "write-with-immediate",
    "read",
    "compare-swap",
    "fetch-add",
];

/// The verbs of these that end with a response.
const AWAITED: [&str; 3] = ["read", "compare-swap", "fetch-add"];

impl Shape {
    pub(super) fn workload(&mut self, name: &str) {
        // All verbs at once on many queue pairs of one pair of hosts.
        if self.random.once_in(3) {
            let pair = self.pair();
            self.busy_pair = Some(pair);
        }
        let mut all = BTreeMap::<&str, Vec<Value>>::new();
        let count = self.random.within(1..=4);
        for place in 0..count {
            let share = self.packets / (count - place);
            self.packets -= share;
            let (kind, item) = self.item(share, &format!("{name}-{place}"));
            all.entry(kind).or_default().push(item.into());
        }
        let all: Table =
            all.into_iter().map(|(kind, items)| (kind.to_owned(), items.into())).collect();
        self.set("workload", all);
    }

    fn item(&mut self, packets: u64, name: &str) -> (&'static str, Table) {
        let apps = self.service == "rc";
        match self.random.within(0..=if apps { 15 } else { 6 }) {
            0..=2 => ("flows", self.flow_list(packets)),
            3 if self.service == "rc" => ("flows", self.flow_file(packets, name)),
            3..=4 if self.service != "ud" => ("incast", self.incast(packets)),
            5 if self.service != "ud" => ("permutation", self.permutation(packets)),
            6 if self.service != "ud" => ("poisson", self.poisson(packets, name)),
            3..=6 if self.service == "ud" => ("multicast", self.multicast(packets, name)),
            7..=8 => ("app", self.app(packets)),
            9..=10 => ("ping-pong", self.ping_pong(packets)),
            11..=12 => ("storage", self.storage(packets)),
            13 => ("all-reduce", self.all_reduce(packets)),
            14..=15 => ("collective", self.collective(packets)),
            _ => ("flows", self.flow_list(packets)),
        }
    }

    /// Two hosts.
    fn pair(&mut self) -> (String, String) {
        if let Some((one, other)) = self.busy_pair.clone() {
            return if self.random.once_in(2) { (one, other) } else { (other, one) };
        }
        let one = self.random.pick(&self.hosts);
        let others: Vec<String> = self.hosts.iter().filter(|&host| *host != one).cloned().collect();
        let other = self.random.pick(&others);
        (one, other)
    }

    /// A size of at most so many packets: a random one, or one near a boundary.
    fn size(&mut self, packets: u64) -> u64 {
        let (mtu, most) = (self.mtu, packets.max(1) * self.mtu);
        let size = match self.random.within(0..=5) {
            0 => self.random.pick(&[1, 3, 64, mtu - 1, mtu, mtu + 1]),
            1 => self.random.within(1..=most),
            2 => most,
            _ => self.random.magnitude(1..=most),
        };
        size.min(most)
    }

    /// Datagrams to a group of its own.
    fn multicast(&mut self, packets: u64, name: &str) -> Table {
        let from = self.random.pick(&self.hosts);
        let mut members: Vec<String> = Vec::new();
        for host in self.hosts.clone() {
            if self.random.once_in(2) {
                members.push(host);
            }
        }
        if members.iter().all(|member| *member == from) {
            members = self.hosts.clone();
        }
        self.flows += members.len() as u64;
        let groups =
            self.made.table.entry("multicast_group").or_insert_with(|| Vec::<Value>::new().into());
        if let Value::Array(groups) = groups {
            groups.push(table([("name", name.into()), ("members", names(&members))]).into());
        }
        let datagrams = (packets / members.len() as u64).clamp(1, 10_000);
        let message = self.random.within(1..=self.mtu);
        let mut item = table([
            ("from", from.into()),
            ("group", name.into()),
            ("bytes", Self::bytes(datagrams * message)),
            ("message", Self::bytes(message)),
        ]);
        self.rdma(&mut item);
        self.start(&mut item);
        item
    }

    fn verb(&mut self) -> &'static str {
        match self.service {
            "rc" => self.random.pick(&FLOW_VERBS),
            "uc" => self.random.pick(&FLOW_VERBS[..3]),
            _ => "send",
        }
    }

    /// The keys of all workloads of flows.
    fn common(&mut self, item: &mut Table) {
        let mut put = |key: &str, value: Value| item.insert(key.to_owned(), value);
        if self.tcp && self.random.once_in(2) {
            put("transport", "tcp".into());
            return;
        }
        let verb = self.verb();
        put("verb", verb.into());
        self.rdma(item);
    }

    /// The keys of workloads that use RDMA.
    fn rdma(&mut self, item: &mut Table) {
        if self.random.once_in(2) {
            let priority = number(self.random.pick(&self.priorities));
            item.insert("priority".to_owned(), priority);
        }
        if self.random.once_in(4) {
            let algorithm = self.algorithm();
            item.insert("congestion_control".to_owned(), algorithm.into());
        }
    }

    fn start(&mut self, item: &mut Table) {
        if self.random.once_in(3) {
            let start = self.moment() / 2;
            item.insert("start".to_owned(), Self::time(start));
        }
    }

    fn flow_list(&mut self, packets: u64) -> Table {
        let count = self.random.within(1..=6);
        let list: Vec<Value> = (0..count).map(|_| self.flow(packets / count).into()).collect();
        let mut item = table([("list", list.into())]);
        self.flows += count;
        self.common(&mut item);
        let is_tcp = item.contains_key("transport");
        if self.service == "ud" && !is_tcp {
            item.insert("message".to_owned(), Self::bytes(self.mtu));
        } else if !is_tcp && self.random.once_in(3) {
            let message = self.size(packets / count).max(self.mtu / 2);
            item.insert("message".to_owned(), Self::bytes(message));
        }
        if !is_tcp {
            return item;
        }
        if let Some(Value::Array(list)) = item.get_mut("list") {
            for flow in list.iter_mut().filter_map(Value::as_table_mut) {
                flow.remove("verb");
                flow.remove("priority");
            }
        }
        item
    }

    fn flow(&mut self, packets: u64) -> Table {
        let (from, to) = self.pair();
        let bytes = Self::bytes(self.size(packets));
        let mut flow = table([("from", from.into()), ("to", to.into()), ("bytes", bytes)]);
        self.start(&mut flow);
        if self.random.once_in(2) {
            let verb = self.verb();
            flow.insert("verb".to_owned(), verb.into());
        }
        if self.random.once_in(4) {
            let priority = number(self.random.pick(&self.priorities));
            flow.insert("priority".to_owned(), priority);
        }
        flow
    }

    fn flow_file(&mut self, packets: u64, name: &str) -> Table {
        let file = format!("{name}.flows.csv");
        let mut text = "source,destination,bytes,start,verb\n".to_owned();
        let count = self.random.within(1..=12);
        for _ in 0..count {
            let ((from, to), bytes) = (self.pair(), self.size(packets / count));
            let (start, verb) = (self.moment() / 2, self.verb());
            _ = writeln!(text, "{from},{to},{bytes},{start}ns,{verb}");
        }
        self.flows += count;
        self.made.files.insert(file.clone(), text);
        let mut item = table([("csv", file.into())]);
        self.rdma(&mut item);
        item
    }

    fn incast(&mut self, packets: u64) -> Table {
        let most = self.hosts.len() as u64 - 1;
        let senders = self.random.within(1..=most);
        let repeat = self.random.pick(&[1, 1, 2, 3]);
        self.flows += senders * repeat;
        let bytes = Self::bytes(self.size(packets / senders / repeat));
        let mut item = table([("senders", number(senders)), ("bytes", bytes)]);
        if self.random.once_in(2) {
            let receiver = self.random.pick(&self.hosts);
            item.insert("receiver".to_owned(), receiver.into());
        }
        if repeat > 1 {
            item.insert("repeat".to_owned(), number(repeat));
            let interval = 1 + self.moment() / 2;
            item.insert("interval".to_owned(), Self::time(interval));
        }
        self.start(&mut item);
        self.common(&mut item);
        item
    }

    fn permutation(&mut self, packets: u64) -> Table {
        let bytes = Self::bytes(self.size(packets / self.hosts.len() as u64));
        self.flows += self.hosts.len() as u64;
        let mut item = table([("bytes", bytes)]);
        self.start(&mut item);
        self.common(&mut item);
        item
    }

    fn poisson(&mut self, packets: u64, name: &str) -> Table {
        let count = self.random.within(1..=30);
        self.flows += count;
        let mut item =
            table([("load", self.random.pick(&[0.1, 0.5, 1.0]).into()), ("count", number(count))]);
        if self.random.once_in(8) {
            item.insert("distribution".to_owned(), "google-rpc".into());
        } else {
            let file = format!("{name}.sizes.csv");
            let most = (2 * packets * self.mtu / count).max(2);
            let text = format!("bytes,cumulative_percent\n1,0\n{},50\n{most},100\n", 1 + most / 20);
            self.made.files.insert(file.clone(), text);
            item.insert("distribution_file".to_owned(), file.into());
        }
        self.start(&mut item);
        self.common(&mut item);
        item
    }

    /// Clients and servers; no host is both.
    fn sides(&mut self) -> (Vec<String>, Vec<String>) {
        if self.busy_pair.is_some() || self.random.once_in(2) {
            let (client, server) = self.pair();
            return (vec![client], vec![server]);
        }
        let clients = self.random.some(&self.hosts, 3.min(self.hosts.len() - 1));
        let rest: Vec<String> =
            self.hosts.iter().filter(|host| !clients.contains(host)).cloned().collect();
        let servers = self.random.some(&rest, 2);
        (clients, servers)
    }

    fn application(&mut self, operations: u64) -> Table {
        let (clients, servers) = self.sides();
        let connections = clients.len().max(1) as u64 * servers.len() as u64;
        let mut item = table([("clients", names(&clients)), ("servers", names(&servers))]);
        if self.random.once_in(3) {
            item.insert("pairs".to_owned(), "all".into());
        }
        if self.random.once_in(2) {
            item.insert("queue_depth".to_owned(), number(self.random.within(1..=8)));
        }
        let operations = (operations / connections).clamp(1, 200);
        let begins_at_once = self.random.once_in(6);
        if begins_at_once {
            let until = 1 + self.moment();
            item.insert("until".to_owned(), Self::time(until.min(200_000)));
        } else {
            item.insert("operations".to_owned(), number(operations));
        }
        if self.random.once_in(6) {
            item.insert("receive_depth".to_owned(), number(self.random.within(1..=4)));
        }
        if !begins_at_once {
            self.start(&mut item);
        }
        self.rdma(&mut item);
        self.apps += 1;
        item
    }

    fn app(&mut self, packets: u64) -> Table {
        let mut steps = Vec::new();
        let mut awaits = true;
        let turns = self.random.within(1..=3);
        for turn in 0..turns {
            let by = if turn % 2 == 0 { "client" } else { "server" };
            let each = self.random.within(1..=3);
            for place in 0..each {
                // The other side must learn about the last step, unless that step ends the
                // operation.
                let must_tell = place + 1 == each && (turn + 1 < turns || by == "server");
                let step = self.step(by, place > 0 && !awaits, must_tell);
                awaits = !matches!(step["verb"].as_str(), Some(verb) if !AWAITED.contains(&verb));
                steps.push(step.into());
            }
        }
        let mut item = self.application(packets / 8);
        item.insert("steps".to_owned(), Value::Array(steps));
        if self.random.once_in(3) {
            item.insert("think_time".to_owned(), Self::time(self.random.magnitude(1..=20_000)));
        }
        item
    }

    fn step(&mut self, by: &str, may_chain: bool, must_tell: bool) -> Table {
        let telling =
            ["send", "send-with-immediate", "send-with-invalidate", "write-with-immediate"];
        let verb =
            if must_tell { self.random.pick(&telling) } else { self.random.pick(&STEP_VERBS) };
        let mut step = table([("by", by.into()), ("verb", verb.into())]);
        match verb {
            "compare-swap" => {
                step.insert("swap".to_owned(), number(self.random.within(1..=9)));
            }
            "fetch-add" => {
                step.insert("add".to_owned(), number(self.random.within(1..=9)));
            }
            _ => {
                let bytes = self.size(12);
                step.insert("bytes".to_owned(), Self::bytes(bytes));
            }
        }
        if may_chain && self.random.once_in(2) {
            step.insert("chained".to_owned(), true.into());
        } else if self.random.once_in(4) {
            step.insert("after".to_owned(), Self::time(self.random.magnitude(1..=5_000)));
        }
        step
    }

    fn ping_pong(&mut self, packets: u64) -> Table {
        let (clients, servers) = self.sides();
        let verb = self.random.pick(&["send", "read", "compare-swap", "fetch-add", "fetch-add"]);
        let mut item = table([
            ("clients", names(&clients)),
            ("servers", names(&servers)),
            ("verb", verb.into()),
            ("iterations", number((packets / 4).clamp(1, 300))),
        ]);
        if verb == "send" || verb == "read" {
            let bytes = self.size(8);
            item.insert("bytes".to_owned(), Self::bytes(bytes));
        }
        self.apps += 1;
        self.start(&mut item);
        self.rdma(&mut item);
        item
    }

    /// At least two hosts for a program.
    fn members(&mut self) -> Vec<String> {
        let hosts = self.random.some(&self.hosts, self.hosts.len().min(6));
        if hosts.len() >= 2 {
            return hosts;
        }
        let (one, other) = self.pair();
        vec![one, other]
    }

    /// A collective operation: any kind and algorithm that so many ranks can do.
    fn collective(&mut self, packets: u64) -> Table {
        let hosts = self.members();
        let iterations = self.random.within(1..=3);
        let share = packets / (4 * iterations * hosts.len() as u64);
        let bytes = self.size(share).next_multiple_of(4);
        let (kind, algorithm) = self.kind_and_algorithm(hosts.len(), bytes);
        let bytes = if kind == Kind::Barrier { 0 } else { bytes };
        let mut item = table([
            ("kind", kind.name().into()),
            ("algorithm", algorithm.name().into()),
            ("hosts", names(&hosts)),
            ("bytes", Self::bytes(bytes)),
            ("iterations", number(iterations)),
            ("channels", number(self.random.within(1..=3))),
            ("slices", number(self.random.within(1..=2))),
            ("queue_pairs", number(self.random.within(1..=3))),
            ("split", self.random.pick(&["round-robin", "all"]).into()),
            ("receiver_ready", self.random.once_in(2).into()),
            ("window", number(self.random.within(1..=8))),
        ]);
        if self.random.once_in(3) {
            let protocol = self.random.pick(&["simple", "ll", "ll128"]);
            item.insert("protocol".to_owned(), protocol.into());
        }
        if self.random.once_in(2) {
            let chunk = (bytes / self.random.within(1..=8)).next_multiple_of(64).max(64);
            item.insert("chunk".to_owned(), Self::bytes(chunk));
        }
        for key in ["compute_time", "host_overhead"] {
            if self.random.once_in(3) {
                item.insert(key.to_owned(), Self::time(self.random.magnitude(1..=2_000)));
            }
        }
        if self.random.once_in(3) {
            let rate = self.random.pick(&["8Gbps", "100Gbps", "8Tbps"]);
            item.insert("reduce_rate".to_owned(), rate.into());
        }
        self.apps += 1;
        self.start(&mut item);
        self.rdma(&mut item);
        item
    }

    /// What so many ranks can do with so many bytes: a ring all-reduce, if nothing else is found.
    fn kind_and_algorithm(&mut self, ranks: usize, bytes: u64) -> (Kind, Algorithm) {
        for _ in 0..8 {
            let algorithm = self.random.pick(Algorithm::ALL);
            let kind = self.random.pick(algorithm.kinds());
            let bytes = if kind == Kind::Barrier { 0 } else { bytes };
            let collective = Collective::new(kind, u32::try_from(ranks).unwrap_or(2), bytes);
            let schedule = collective.and_then(|one| algorithm.schedule(&one, &Options::default()));
            if schedule.is_ok_and(|schedule| schedule.switches() == 0) {
                return (kind, algorithm);
            }
        }
        (Kind::AllReduce, Algorithm::Ring)
    }

    fn all_reduce(&mut self, packets: u64) -> Table {
        let hosts = self.members();
        let iterations = self.random.within(1..=4);
        // A host sends its data nearly twice.
        let bytes = self.size(packets / (2 * iterations * hosts.len() as u64));
        let mut item = table([
            ("hosts", names(&hosts)),
            ("bytes", Self::bytes(bytes)),
            ("iterations", number(iterations)),
        ]);
        if self.random.once_in(2) {
            item.insert("compute_time".to_owned(), Self::time(self.random.magnitude(1..=20_000)));
        }
        self.apps += 1;
        self.start(&mut item);
        self.rdma(&mut item);
        item
    }

    fn storage(&mut self, packets: u64) -> Table {
        let block = self.size(16);
        let mut item = self.application(packets / (2 + block / self.mtu));
        item.insert("block".to_owned(), Self::bytes(block));
        item.insert("read_fraction".to_owned(), self.random.pick(&[0.0, 0.5, 1.0]).into());
        if self.random.once_in(3) {
            item.insert("access_time".to_owned(), Self::time(self.random.magnitude(1..=20_000)));
        }
        item
    }
}
