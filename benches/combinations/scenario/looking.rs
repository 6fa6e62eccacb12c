//! Captures and samples.

use toml::{Table, Value};

use super::{Shape, names, number, table};

impl Shape {
    pub(super) fn looking(&mut self) {
        if self.random.once_in(6) {
            let capture = self.capture();
            self.set("capture", capture);
        }
        if self.random.once_in(4) {
            let sample = self.sample();
            self.set("sample", sample);
        } else if self.random.once_in(4) {
            self.set("sample", "off");
        }
        if self.random.once_in(6) {
            let measure = self.measure();
            self.set("measure", measure);
        }
        // Drawn last, so that other scenarios stay what they were.
        if self.hosts.len() > 1 && self.random.once_in(6) {
            let mesh = self.monitoring();
            self.set("monitoring", mesh);
        }
    }

    /// Hosts that ping each other.
    fn monitoring(&mut self) -> Table {
        let interval = self.random.within(self.span / 100..=self.span).max(10_000);
        let mut mesh = table([("interval", Self::time(interval))]);
        let mut put = |key: &str, value: Value| mesh.insert(key.to_owned(), value);
        match self.random.within(0..=3) {
            0 => put("pairs", "racks".into()),
            1 if self.hosts.len() > 1 => put("pairs", table([("random", number(1))]).into()),
            _ => None,
        };
        if self.random.once_in(2) {
            put("priority", number(self.random.within(0..=7)));
        }
        if self.random.once_in(2) {
            put("bytes", Self::bytes(self.random.within(1..=256)));
        }
        if self.random.once_in(3) {
            put("timeout", Self::time(self.random.within(1_000..=1_000_000)));
        }
        if self.random.once_in(3) {
            put("window", Self::time(self.random.within(1_000..=1_000_000)));
        }
        let start = self.random.within(0..=self.span / 2);
        if self.random.once_in(3) {
            put("start", Self::time(start));
        }
        if self.service != "rc" || self.random.once_in(2) {
            put("until", Self::time(start + self.random.within(1..=self.span)));
        }
        mesh
    }

    /// A measuring window, which may lie behind the end.
    fn measure(&mut self) -> Table {
        let from = self.random.within(0..=self.span / 3);
        let mut measure = table([("from", Self::time(from))]);
        if self.random.once_in(2) {
            let to = from + self.random.within(1..=self.span);
            measure.insert("to".to_owned(), Self::time(to));
        }
        measure
    }

    fn capture(&mut self) -> Table {
        let ports: Vec<String> = (0..self.random.within(1..=2)).map(|_| self.port()).collect();
        let mut capture = table([("ports", names(&ports))]);
        if self.random.once_in(2) {
            capture.insert("format".to_owned(), "pcap".into());
        }
        if self.random.once_in(2) {
            capture.insert("fcs".to_owned(), true.into());
        }
        if self.random.once_in(4) {
            let length = self.random.pick(&[1, 40, 64, 96, 128, 300]);
            capture.insert("snap_length".to_owned(), number(length));
        }
        capture
    }

    fn sample(&mut self) -> Table {
        let mut sample = Table::new();
        for what in ["queues", "marks", "utilisation", "rates", "flows", "ingress"] {
            if !self.random.once_in(2) {
                continue;
            }
            let interval = self.random.within(self.span / 100..=self.span / 4).max(1_000);
            let mut one = table([("interval", Self::time(interval))]);
            if self.random.once_in(3) {
                one.insert("double_after".to_owned(), number(self.random.within(1..=9)));
            }
            if what == "ingress" {
                one.insert("ports".to_owned(), names(&["all".to_owned()]));
            } else if what != "rates" && what != "flows" {
                one.insert("ports".to_owned(), names(&[self.port()]));
            } else if self.flows == 0 {
                continue;
            } else if self.random.once_in(3) {
                let flows = vec![number(self.random.within(0..=self.flows - 1))];
                one.insert("flows".to_owned(), flows.into());
            }
            sample.insert(what.to_owned(), one.into());
        }
        sample
    }
}
