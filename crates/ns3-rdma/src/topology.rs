//! Nodes and links (`TOPOLOGY_FILE`).

use std::path::Path;

use crate::error::InputError;
use crate::rate::{parse_delay, parse_rate};
use crate::time::Arithmetic;
use crate::words::Words;

/// Links that have addresses: 255 times 254.
const MOST_LINKS: usize = 255 * 254;
/// Nodes that a file may have.
const MOST_NODES: usize = 1 << 16;

/// Nodes and links.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// For each node, whether it is a switch.
    pub is_switch: Vec<bool>,
    /// All links in the order of the file.
    pub links: Vec<Link>,
}

/// A full-duplex link.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Its two ends.
    pub nodes: [u32; 2],
    /// In bit/s, not zero.
    pub rate: u64,
    /// Propagation delay in ns.
    pub delay: u64,
    /// Probability that a packet is lost at each of the tests at its arrival.
    pub loss: f64,
}

impl Topology {
    /// Reads the `text` of the file at `path`.
    pub(crate) fn parse(
        path: &Path,
        text: &str,
        arithmetic: Arithmetic,
    ) -> Result<Self, InputError> {
        let mut words = Words::new(path, text);
        let (nodes, at) = words.number::<usize>("nodes", "a number of nodes")?;
        if nodes == 0 || nodes > MOST_NODES {
            let help = format!("write a number from 1 to {MOST_NODES}");
            return Err(words.blame(at, "nodes", "is no possible number of nodes", help));
        }
        let (switches, at) = words.number::<usize>("switches", "a number of switches")?;
        if switches > nodes {
            let message = format!("there are only {nodes} nodes");
            return Err(words.blame(at, "switches", message, "correct one of the two"));
        }
        let (links, at) = words.number::<usize>("links", "a number of links")?;
        if links > MOST_LINKS {
            let message = format!("only {MOST_LINKS} links have addresses");
            return Err(words.blame(at, "links", message, "use fewer links"));
        }
        let mut topology = Self { is_switch: vec![false; nodes], links: Vec::new() };
        for _ in 0..switches {
            let node = topology.node(&mut words, "switch")?;
            topology.is_switch[node as usize] = true;
        }
        let mut taken = vec![false; nodes];
        for _ in 0..links {
            let link = topology.link(&mut words, &mut taken, arithmetic)?;
            topology.links.push(link);
        }
        Ok(topology)
    }

    fn node(&self, words: &mut Words, column: &str) -> Result<u32, InputError> {
        let (node, at) = words.number::<u32>(column, "the number of a node")?;
        if (node as usize) < self.is_switch.len() {
            return Ok(node);
        }
        let message = format!("there are {} nodes, counted from 0", self.is_switch.len());
        Err(words.blame(at, column, message, "name one of them"))
    }

    /// Reads a link; `taken` says which nodes have one.
    fn link(
        &self,
        words: &mut Words,
        taken: &mut [bool],
        arithmetic: Arithmetic,
    ) -> Result<Link, InputError> {
        let mut nodes = [0; 2];
        for (node, column) in nodes.iter_mut().zip(["a", "b"]) {
            *node = self.node(words, column)?;
            let is_second = std::mem::replace(&mut taken[*node as usize], true);
            if is_second && !self.is_switch[*node as usize] {
                let message = "a host with several links: by which one it sends is not reproduced";
                return Err(words.blame(words.last(), column, message, "give each host one link"));
            }
        }
        if nodes[0] == nodes[1] {
            let message = "a link leads from a node to itself";
            return Err(words.blame(words.last(), "b", message, "name another node"));
        }
        let word = words.column("rate")?;
        let rate = parse_rate(&word.text).filter(|&rate| rate > 0).ok_or_else(|| {
            words.blame(word.span, "rate", "is not a rate", "write one such as `40Gbps`")
        })?;
        let word = words.column("delay")?;
        let delay = parse_delay(&word.text, arithmetic).filter(|&delay| delay < 1 << 40);
        let delay = delay.ok_or_else(|| {
            let message = "is not a delay of at most 1000 s";
            words.blame(word.span, "delay", message, "write one such as `1000ns` or `0.001ms`")
        })?;
        let (loss, at) = words.positive("error_rate", "a probability")?;
        if loss > 1.0 {
            let help = "write a number from 0 to 1";
            return Err(words.blame(at, "error_rate", "is not a probability", help));
        }
        Ok(Link { nodes, rate, delay, loss })
    }

    /// The address of a link's first (0) or second (1) end: 10.x.y.1 or 10.x.y.2.
    pub(crate) fn address(link: usize, end: usize) -> u32 {
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        (10 << 24)
            + (number(link / 254 + 1) << 16)
            + (number(link % 254 + 1) << 8)
            + number(end + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Topology, InputError> {
        Topology::parse(Path::new("topology.txt"), text, Arithmetic::Linux)
    }

    #[test]
    fn links_have_rates_delays_and_losses() {
        let topology =
            parse("3 1 2\r\n0\r\n0 1 40Gbps 0.001ms 0\r\n0 2 1Gb/s 2us 0.5\nmore").unwrap();
        assert_eq!(topology.is_switch, [true, false, false]);
        let link = topology.links[1];
        assert_eq!((link.nodes, link.rate, link.delay), ([0, 2], 1_000_000_000, 2_000));
        assert_eq!(link.loss, 0.5);
    }

    #[test]
    fn addresses_name_links() {
        assert_eq!(Topology::address(0, 0), 0x0a01_0101);
        assert_eq!(Topology::address(254, 1), 0x0a02_0102);
    }

    #[test]
    fn what_cannot_be_is_said() {
        for (text, says) in [
            ("0 0 0", "topology.txt:1:1: nodes = 0"),
            ("2 3 0", "topology.txt:1:3: switches = 3: there are only 2 nodes"),
            ("2 1 1 2", "topology.txt:1:7: switch = 2: there are 2 nodes"),
            ("3 1 2 0 0 1 1Gbps 1us 0 2 1 1Gbps 1us 0", "b = 1: a host with several links"),
            ("2 1 1 0 0 0 1Gbps 1us 0", "from a node to itself"),
            ("2 1 1 0 0 1 0Gbps 1us 0", "rate = 0Gbps: is not a rate"),
            ("2 1 1 0 0 1 1Gbps 1h 0", "delay = 1h: is not a delay"),
            ("2 1 1 0 0 1 1Gbps 1us 2", "error_rate = 2: is not a probability"),
            ("2 1 1 0 0 1 1Gbps 1us", "error_rate: the file ends"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
