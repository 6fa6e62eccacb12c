//! A topology file: GPUs, switches, and the links between them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rocelab_units::{Bandwidth, Duration};
use serde_json::{Value as Json, json};

use crate::TraceError;
use crate::scan::{Word, words};

/// The GPUs, switches and links of a file. Nodes are numbers: GPUs first.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    path: PathBuf,
    /// The number of nodes.
    pub nodes: u32,
    /// GPUs: the nodes from 0 on. A GPU is also its NIC or NICs.
    pub gpus: u32,
    /// GPUs of a server.
    pub gpus_per_server: u32,
    /// The model of the GPUs.
    pub gpu_type: String,
    /// The nodes that are NVSwitches, in the order of the file.
    pub nvswitches: Vec<u32>,
    /// The nodes that are other switches, in the order of the file.
    pub switches: Vec<u32>,
    /// The links, in the order of the file.
    pub links: Vec<Link>,
}

/// A link between two nodes, the same in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// One end.
    pub a: u32,
    /// The other end.
    pub b: u32,
    /// The rate of each direction.
    pub rate: Bandwidth,
    /// The time of propagation.
    pub delay: Duration,
    /// The probability that a packet is lost, 0 to 1.
    pub error: f64,
}

/// Reads a topology file.
///
/// # Errors If the file cannot be read, or it is no such topology.
pub fn read(path: &Path) -> Result<Topology, TraceError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        TraceError::new(path, error.to_string(), "give a text file that you may read")
    })?;
    parse(&text, path)
}

/// Reads the text of such a file; errors name `path`.
///
/// # Errors If it is no such topology.
pub fn parse(text: &str, path: &Path) -> Result<Topology, TraceError> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let Some((line, header)) = lines.next() else {
        return Err(TraceError::new(path, "it is empty", "give a topology of SimAI"));
    };
    let help = "write nodes, GPUs of a server, NVSwitches, switches, links, GPU type";
    let [nodes, per_server, nvswitches, switches, links, gpu_type] =
        exactly::<6>(header, line, path, help)?;
    let count = |word: Word<'_>, what: &str| word.number::<u32>(path, what);
    let (all, of_server) =
        (count(nodes, "the number of nodes")?, count(per_server, "the GPUs of a server")?);
    let nvswitch_count = count(nvswitches, "the number of NVSwitches")?;
    let switch_count = count(switches, "the number of switches")?;
    let link_count = count(links, "the number of links")?;
    let switches_of_all = u64::from(nvswitch_count) + u64::from(switch_count);
    let gpus = u64::from(all).checked_sub(switches_of_all);
    let gpus = gpus.and_then(|gpus| u32::try_from(gpus).ok()).ok_or_else(|| {
        let message =
            format!("nodes are fewer than {nvswitch_count} NVSwitches and {switch_count} switches");
        nodes.error(path, message, "mend the first line: nodes are GPUs, NVSwitches and switches")
    })?;
    if of_server == 0 || !gpus.is_multiple_of(of_server) {
        let message = format!("GPUs of a server do not divide the {gpus} GPUs");
        return Err(per_server.error(path, message, "mend the first line"));
    }
    let mut topology = Topology {
        path: path.to_owned(),
        nodes: all,
        gpus,
        gpus_per_server: of_server,
        gpu_type: gpu_type.text.to_owned(),
        nvswitches: Vec::new(),
        switches: Vec::new(),
        links: Vec::new(),
    };
    if switches_of_all > 0 {
        let Some((line, ids)) = lines.next() else {
            return Err(TraceError::new(
                path,
                "it ends after line 1",
                "list the switches in line 2",
            ));
        };
        topology.read_switches(ids, line, nvswitch_count, switches_of_all)?;
    }
    for (line, link) in lines {
        if topology.links.len() == link_count as usize {
            let message = format!("there are more links than the {link_count} of the first line");
            return Err(
                TraceError::new(path, message, "mend the number, or remove the link").at(line, 1)
            );
        }
        topology.read_link(link, line)?;
    }
    if topology.links.len() < link_count as usize {
        let message = format!("the file has {} links, and not as many", topology.links.len());
        return Err(links.error(path, message, "mend the number, or give the missing links"));
    }
    Ok(topology)
}

/// The words of a line that must have `N` of them.
fn exactly<'a, const N: usize>(
    text: &'a str,
    line: usize,
    path: &Path,
    help: &str,
) -> Result<[Word<'a>; N], TraceError> {
    let all: Vec<_> = words(text, line).collect();
    let found = all.len();
    all.try_into().map_err(|_| {
        TraceError::new(path, format!("the line has {found} columns, and not {N}"), help)
            .at(line, 1)
    })
}

impl Topology {
    /// The file that it comes from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn read_switches(
        &mut self,
        ids: &str,
        line: usize,
        nvswitches: u32,
        expected: u64,
    ) -> Result<(), TraceError> {
        let mut seen = BTreeSet::new();
        for word in words(ids, line) {
            let id: u32 = word.number(&self.path, "the number of a switch")?;
            if id < self.gpus || id >= self.nodes {
                let message = format!("is no switch: they are {} to {}", self.gpus, self.nodes - 1);
                return Err(word.error(
                    &self.path,
                    message,
                    "list NVSwitches, then other switches",
                ));
            }
            if !seen.insert(id) {
                return Err(word.error(&self.path, "is there twice", "list each switch once"));
            }
            let is_nvswitch = self.nvswitches.len() < nvswitches as usize;
            let list = if is_nvswitch { &mut self.nvswitches } else { &mut self.switches };
            list.push(id);
        }
        if seen.len() as u64 == expected {
            return Ok(());
        }
        let message =
            format!("{} switches are listed, and the first line says {expected}", seen.len());
        Err(TraceError::new(&self.path, message, "list all switches").at(line, 1))
    }

    fn read_link(&mut self, text: &str, line: usize) -> Result<(), TraceError> {
        let path = &self.path;
        let help = "write a b RATE LATENCY ERROR, such as 0 8 3600Gbps 0.000025ms 0";
        let [a, b, rate, delay, error] = exactly::<5>(text, line, path, help)?;
        let node = |word: Word<'_>| -> Result<u32, TraceError> {
            let id = word.number(path, "the number of a node")?;
            if id < self.nodes {
                return Ok(id);
            }
            let message = format!("is no node: they are 0 to {}", self.nodes.saturating_sub(1));
            Err(word.error(path, message, "mend the link, or the number of nodes"))
        };
        let unit = |word: Word<'_>, message: String| word.error(path, message, help);
        let link = Link {
            a: node(a)?,
            b: node(b)?,
            rate: rate.text.parse().map_err(|error| unit(rate, format!("is no rate: {error}")))?,
            delay: delay
                .text
                .parse()
                .map_err(|error| unit(delay, format!("is no time: {error}")))?,
            error: probability(error, path)?,
        };
        if link.a == link.b {
            return Err(b.error(path, "is both ends of the link", "join two different nodes"));
        }
        self.links.push(link);
        Ok(())
    }

    /// The topology as JSON, rates in bit/s and times in ps.
    pub fn to_json(&self) -> Json {
        let links: Vec<_> = self.links.iter().map(link_json).collect();
        json!({
            "nodes": self.nodes,
            "gpus": self.gpus,
            "gpus_per_server": self.gpus_per_server,
            "gpu_type": self.gpu_type,
            "nvswitches": self.nvswitches,
            "switches": self.switches,
            "links": links,
        })
    }
}

/// A link as JSON.
fn link_json(link: &Link) -> Json {
    // A whole number as such.
    let error = if link.error == 0.0 { Json::from(0) } else { Json::from(link.error) };
    json!({
        "a": link.a,
        "b": link.b,
        "bps": link.rate.bits_per_second(),
        "delay_ps": link.delay.ps(),
        "error": error,
    })
}

fn probability(word: Word<'_>, path: &Path) -> Result<f64, TraceError> {
    let number = word.text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| {
        word.error(path, "is no probability", "give the part of packets that is lost, 0 to 1")
    })
}
