//! Nodes, and the ports by which they send.

use std::collections::BTreeMap;

use rocelab_results::{LinkRecord, Results, ResultsError};

/// Every direction of every link of a network. Nodes and directions have numbers from 0 in the
/// order of `links.csv`.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    pub(crate) nodes: Vec<String>,
    pub(crate) directions: Vec<Direction>,
    by_name: BTreeMap<String, usize>,
    by_port: BTreeMap<(usize, u16), usize>,
}

/// One direction of a link.
#[derive(Debug)]
pub(crate) struct Direction {
    /// Number of the sending node.
    pub(crate) from: usize,
    /// Number of the receiving node.
    pub(crate) to: usize,
    /// The rest of the row.
    pub(crate) record: LinkRecord<'static>,
}

impl Ports {
    /// Reads `links.csv`.
    pub(crate) fn read(results: &Results) -> Result<Self, ResultsError> {
        let mut ports = Self::default();
        for record in results.links()? {
            ports.add(record?);
        }
        Ok(ports)
    }

    pub(crate) fn add(&mut self, record: LinkRecord<'static>) {
        let (from, to) = (self.node(&record.from), self.node(&record.to));
        self.by_port.insert((from, record.from_port), self.directions.len());
        self.directions.push(Direction { from, to, record });
    }

    /// The direction in which `port` of the node called `node` sends, if there is such a port.
    pub(crate) fn direction(&self, node: &str, port: u16) -> Option<usize> {
        let node = *self.by_name.get(node)?;
        self.by_port.get(&(node, port)).copied()
    }

    /// The name of a port as in scenarios: `leaf-0:4`.
    pub(crate) fn label(&self, direction: usize) -> String {
        let record = &self.directions[direction].record;
        format!("{}:{}", record.from, record.from_port)
    }

    fn node(&mut self, name: &str) -> usize {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let number = self.nodes.len();
        self.nodes.push(name.to_owned());
        self.by_name.insert(name.to_owned(), number);
        number
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A network of full-duplex links between the named ports, `a:0 b:1`.
    pub(crate) fn network(links: &[(&str, u16, &str, u16)]) -> Ports {
        let mut ports = Ports::default();
        for &(a, a_port, b, b_port) in links {
            for (from, from_port, to, to_port) in [(a, a_port, b, b_port), (b, b_port, a, a_port)] {
                ports.add(LinkRecord {
                    from: from.to_owned().into(),
                    from_port,
                    to: to.to_owned().into(),
                    to_port,
                    rate_bps: 100_000_000_000,
                    frames: 0,
                    bytes: 0,
                    utilisation: rocelab_results::Millionths(0),
                    paused_ps: 0,
                    max_queue_bytes: 0,
                    ecn_marks: 0,
                });
            }
        }
        ports
    }

    #[test]
    fn ports_are_found_by_name() {
        let ports = network(&[("host-0", 0, "leaf", 3)]);
        assert_eq!(ports.nodes, ["host-0", "leaf"]);
        assert_eq!(ports.direction("leaf", 3), Some(1));
        assert_eq!(ports.label(1), "leaf:3");
        assert_eq!(ports.direction("leaf", 4), None);
        assert_eq!(ports.direction("spine", 0), None);
    }
}
