//! Servers whose hosts NVLink joins.

use toml::{Table, Value};

use super::{Shape, table};

impl Shape {
    /// Half of the networks with programs have servers, of any hosts, with or without NVLink.
    pub(super) fn servers(&mut self) {
        let workloads = self.made.table.get("workload").and_then(Value::as_table);
        let has_program = workloads.is_some_and(|all| all.contains_key("all-reduce"));
        if !has_program || self.random.once_in(2) {
            return;
        }
        let hosts = self.random.some(&self.hosts, self.hosts.len().min(12));
        let size = usize::try_from(self.random.within(2..=4)).unwrap_or(2);
        let servers = (0u32..).zip(hosts.chunks(size)).map(|(place, ports)| {
            let ports: Vec<Value> = ports.iter().map(|host| host.as_str().into()).collect();
            (format!("machine-{place}"), ports)
        });
        let servers: Vec<(String, Vec<Value>)> = servers.collect();
        let mut tables = Vec::new();
        for (name, ports) in servers {
            let mut server = table([("name", name.into()), ("ports", ports.into())]);
            if !self.random.once_in(4) {
                server.insert("nvlink".to_owned(), self.nvlink().into());
            }
            tables.push(Value::from(server));
        }
        if !tables.is_empty() {
            self.made.table.insert("server".to_owned(), tables.into());
        }
    }

    fn nvlink(&mut self) -> Table {
        let rate = self.random.magnitude(10..=7_200);
        let mut nvlink = table([("rate", format!("{rate}Gbps").into())]);
        if self.random.once_in(2) {
            let delay = self.random.magnitude(1..=5_000);
            nvlink.insert("delay".to_owned(), Self::time(delay));
        }
        if self.random.once_in(3) {
            let efficiency = self.random.pick(&[0.5, 0.82, 1.0]);
            nvlink.insert("efficiency".to_owned(), efficiency.into());
        }
        if self.random.once_in(3) {
            let packet = self.random.magnitude(256..=65_536);
            nvlink.insert("packet".to_owned(), Self::bytes(packet));
        }
        nvlink
    }
}
