//! Flows (`FLOW_FILE`, `TCP_FLOW_FILE`) and the nodes whose packets are traced (`TRACE_FILE`).

use std::path::Path;

use crate::config::{Branch, Options};
use crate::error::InputError;
use crate::time::SECOND;
use crate::topology::Topology;
use crate::words::Words;

/// The latest second that a flow may start or stop in: times stay far below 2^63 ps.
const LATEST: f64 = 4e6;

/// Packets from one host to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSpec {
    /// The host that sends.
    pub source: u32,
    /// The host that receives.
    pub destination: u32,
    /// Its class, 0 to 7.
    pub class: u8,
    /// How many packets, at least one.
    pub packets: u32,
    /// When its application starts (ns).
    pub start: u64,
    /// When its application stops (ns); what is queued is sent all the same.
    pub stop: u64,
    /// Initial rate in bit/s, of the branch `timely` only.
    pub initial_rate: f64,
}

/// Reads the flows in the `text` of the file at `path`.
pub(crate) fn parse_flows(
    path: &Path,
    text: &str,
    topology: &Topology,
    options: Options,
) -> Result<Vec<FlowSpec>, InputError> {
    let mut words = Words::new(path, text);
    let (count, _) = words.number::<u32>("flows", "a number of flows")?;
    (0..count).map(|_| parse_flow(&mut words, topology, options)).collect()
}

fn parse_flow(
    words: &mut Words,
    topology: &Topology,
    options: Options,
) -> Result<FlowSpec, InputError> {
    let source = host(words, "src", topology)?;
    let destination = host(words, "dst", topology)?;
    if source == destination {
        let message = "a flow leads from a host to itself";
        return Err(words.blame(words.last(), "dst", message, "name another host"));
    }
    let (class, at) = words.number::<u8>("pg", "a class")?;
    if class > 7 {
        return Err(words.blame(at, "pg", "there are the classes 0 to 7", "write one of them"));
    }
    let (packets, at) = words.number::<u32>("packets", "a number of packets")?;
    if packets == 0 {
        let message = "a flow has no packets";
        return Err(words.blame(at, "packets", message, "write a number of packets, not of bytes"));
    }
    let [start, stop] = ["start", "stop"].map(|column| {
        let (seconds, at) = words.positive(column, "a time in seconds")?;
        if seconds > LATEST {
            let help = format!("write at most {LATEST} seconds");
            return Err(words.blame(at, column, "is too late", help));
        }
        Ok(options.arithmetic.nanoseconds(seconds))
    });
    let initial_rate = match options.branch {
        Branch::Master => 0.0,
        Branch::Timely => {
            let (gigabits, at) = words.positive("rate", "an initial rate in Gb/s")?;
            if gigabits <= 0.0 || gigabits > 1e6 {
                let message = "is not an initial rate in Gb/s";
                return Err(words.blame(at, "rate", message, "write one such as `5`"));
            }
            gigabits * SECOND as f64
        }
    };
    Ok(FlowSpec { source, destination, class, packets, start: start?, stop: stop?, initial_rate })
}

/// A host that has a link.
fn host(words: &mut Words, column: &str, topology: &Topology) -> Result<u32, InputError> {
    let (node, at) = words.number::<u32>(column, "the number of a host")?;
    match topology.is_switch.get(node as usize) {
        None => {
            let message = format!("there are {} nodes, counted from 0", topology.is_switch.len());
            Err(words.blame(at, column, message, "name a host"))
        }
        Some(true) => Err(words.blame(at, column, "this node is a switch", "name a host")),
        Some(false) => Ok(node),
    }
}

/// Refuses TCP flows, of which the `text` of the file at `path` should have none.
pub(crate) fn refuse_tcp(path: &Path, text: &str) -> Result<(), InputError> {
    let mut words = Words::new(path, text);
    let (count, at) = words.number::<u32>("TCP flows", "a number of TCP flows")?;
    if count == 0 {
        return Ok(());
    }
    let message = "TCP flows of ns3-rdma are not reproduced";
    Err(words.blame(at, "TCP flows", message, "write 0, or use a scenario with `[host.stack]`"))
}

/// Reads for each node whether it is traced.
pub(crate) fn parse_traced(
    path: &Path,
    text: &str,
    topology: &Topology,
) -> Result<Vec<bool>, InputError> {
    let mut words = Words::new(path, text);
    let mut traced = vec![false; topology.is_switch.len()];
    let (count, _) = words.number::<u32>("nodes", "a number of nodes")?;
    for _ in 0..count {
        let (node, at) = words.number::<u32>("node", "the number of a node")?;
        match traced.get_mut(node as usize) {
            None => {
                let message = format!("there are {} nodes, counted from 0", traced.len());
                return Err(words.blame(at, "node", message, "name one of them"));
            }
            Some(is_traced) if *is_traced => {
                let message = "this node stands there twice";
                return Err(words.blame(at, "node", message, "name it once"));
            }
            Some(is_traced) => *is_traced = true,
        }
    }
    Ok(traced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Arithmetic;

    fn topology() -> Topology {
        Topology::parse(
            Path::new("t"),
            "3 1 2 0 0 1 1Gbps 1us 0 0 2 1Gbps 1us 0",
            Arithmetic::Linux,
        )
        .unwrap()
    }

    fn flows(text: &str, branch: Branch) -> Result<Vec<FlowSpec>, InputError> {
        let options = Options { branch, ..Options::default() };
        parse_flows(Path::new("flow.txt"), text, &topology(), options)
    }

    #[test]
    fn a_flow_has_six_columns_and_seven_with_timely() {
        let flow = flows("1\n1 2 3 10 2.0 9.5", Branch::Master).unwrap()[0];
        assert_eq!((flow.source, flow.destination, flow.class, flow.packets), (1, 2, 3, 10));
        assert_eq!((flow.start, flow.stop), (2_000_000_000, 9_500_000_000));
        let flow = flows("1\n1 2 3 10 2.0 9.5 5", Branch::Timely).unwrap()[0];
        assert_eq!(flow.initial_rate, 5e9);
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (text, says) in [
            ("1 0 2 3 10 2 9", "src = 0: this node is a switch"),
            ("1 1 3 3 10 2 9", "dst = 3: there are 3 nodes"),
            ("1 1 1 3 10 2 9", "dst = 1: a flow leads"),
            ("1 1 2 8 10 2 9", "pg = 8: there are"),
            ("1 1 2 3 0 2 9", "packets = 0: a flow has no packets"),
            ("1 1 2 3 1 -2 9", "start = -2: is not a time"),
            ("1 1 2 3 1 2 1e9", "stop = 1e9: is too late"),
            ("1 1 2 3 1 2", "stop: the file ends"),
        ] {
            let error = flows(text, Branch::Master).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let error = flows("1 1 2 3 1 2 9 0", Branch::Timely).unwrap_err().to_string();
        assert!(error.contains("rate = 0: is not an initial rate"), "{error}");
    }

    #[test]
    fn tcp_flows_are_refused_by_name() {
        assert!(refuse_tcp(Path::new("f"), "0\n").is_ok());
        let error = refuse_tcp(Path::new("f"), "1 3 1 1 0 2.0 9.5").unwrap_err().to_string();
        assert!(error.contains("f:1:1: TCP flows = 1: TCP flows of ns3-rdma"), "{error}");
    }

    #[test]
    fn traced_nodes_are_named_once() {
        let traced = |text| parse_traced(Path::new("trace.txt"), text, &topology());
        assert_eq!(traced("1\n2 7").unwrap(), [false, false, true]);
        assert!(traced("2 1 1").unwrap_err().to_string().contains("twice"));
        assert!(traced("1 4").unwrap_err().to_string().contains("node = 4: there are 3 nodes"));
    }
}
