//! Topology files of SimAI.
//!
//! ```text
//! 8 2 2 2 10 H100              nodes, GPUs of a server, NVSwitches, other switches, links, GPU
//! 4 5 6 7                      ids of NVSwitches, then of switches; lower ids are GPUs
//! 0 4 3600Gbps 0.000025ms 0    one end, the other, rate, propagation delay, error rate
//! 0 6 400Gbps 0.0005ms 0
//! ```
//!
//! A GPU is a host, with the one link that does not lead to an NVSwitch. Links to an NVSwitch become a domain of NVLink: its rate
//! is that of the links, and its delay that of two of them, through the switch and out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rocelab_units::{Bandwidth, Duration};

use super::edge_list::{Header, Lines, LinkWords, Word, locate, read_ids, read_links};
use super::tiers::number_tiers;
use super::{Node, NodeId, NodeKind, Topology, TopologyError, TopologyLink, TopologyServer};
use crate::nvlink::Nvlink;

/// Reads the text of the file at `path`.
pub(super) fn parse(text: &str, path: &Path) -> Result<Topology, TopologyError> {
    let mut lines = Lines::new(text, path);
    let first = First::read(&mut lines)?;
    let listed = read_ids(&mut lines, &first.header, "NVSwitches and switches")?;
    let kinds = Kinds::new(&lines, &first, &listed)?;
    let (places, links) = read_links(&mut lines, &first.header)?;
    let mut domains = Domains::default();
    let (mut kept, mut words_of) = (Vec::new(), Vec::new());
    for (words, link) in places.into_iter().zip(links) {
        let nvswitch = [link.a, link.b].into_iter().find(|end| kinds.nvswitches.contains(end));
        match nvswitch {
            Some(switch) => domains.add(&lines, &kinds, (&words, &link), switch)?,
            None => {
                kept.push(TopologyLink { a: kinds.node(link.a), b: kinds.node(link.b), ..link });
                words_of.push(words);
            }
        }
    }
    let servers = domains.servers(&lines, &kinds, first.nvswitches_word)?;
    let mut topology =
        Topology { nodes: kinds.nodes(), links: kept, servers, ..Topology::default() };
    topology.check().map_err(|fault| {
        let (place, fix) = locate(&fault, &first.header, &words_of);
        lines.error(place, fault.to_string(), fix)
    })?;
    number_tiers(&mut topology);
    Ok(topology)
}

/// The file's first line.
struct First<'a> {
    header: Header<'a>,
    nvswitches: usize,
    nvswitches_word: Word<'a>,
}

impl<'a> First<'a> {
    fn read(lines: &mut Lines<'a>) -> Result<Self, TopologyError> {
        const FIX: &str = "write nodes, GPUs of a server, NVSwitches, switches, links and the GPU's name, as in `8 2 2 2 10 H100`";
        let words = lines.expect("a line with the numbers of nodes, GPUs and switches")?;
        let &[nodes, _per_server, nvswitches, switches, links, _gpu] = words.as_slice() else {
            let problem = format!("the first line has {} words where 6 belong", words.len());
            return Err(lines.error(words[0], problem, FIX));
        };
        let number: usize = lines.parse(nvswitches, FIX)?;
        let others: usize = lines.parse(switches, FIX)?;
        let all = number.checked_add(others).ok_or_else(|| {
            lines.error(switches, "there are only so many nodes", "count them among the nodes")
        })?;
        let header = Header::of(lines, [nodes, switches, links], all, FIX)?;
        Ok(Self { header, nvswitches: number, nvswitches_word: nvswitches })
    }
}

/// What the nodes of the file are.
struct Kinds {
    nvswitches: BTreeSet<NodeId>,
    /// By id of the file: the number here; of NVSwitches that of the next node.
    numbers: Vec<NodeId>,
    /// By id of the file.
    is_switch: Vec<bool>,
}

impl Kinds {
    /// From the ids that are listed: first those of NVSwitches.
    fn new(
        lines: &Lines<'_>,
        first: &First<'_>,
        listed: &[(NodeId, Word<'_>)],
    ) -> Result<Self, TopologyError> {
        let mut is_switch = vec![false; first.header.nodes];
        for (id, _) in listed {
            is_switch[*id as usize] = true;
        }
        let nvswitches: BTreeSet<NodeId> =
            listed.iter().take(first.nvswitches).map(|(id, _)| *id).collect();
        let gpus = is_switch.iter().take_while(|&&is_switch| !is_switch).count();
        let behind = is_switch.iter().skip(gpus).position(|&is_switch| !is_switch);
        if let Some(place) = behind {
            let problem = format!("node {} is no switch, and comes after switches", gpus + place);
            let fix = "number the GPUs first";
            return Err(lines.error(first.header.nodes_word, problem, fix));
        }
        let mut next = 0;
        let numbers = (0..).take(is_switch.len()).map(|id: NodeId| {
            let number = next;
            next += NodeId::from(!nvswitches.contains(&id));
            number
        });
        Ok(Self { numbers: numbers.collect(), nvswitches, is_switch })
    }

    fn node(&self, id: NodeId) -> NodeId {
        self.numbers[id as usize]
    }

    /// The hosts and switches of the network.
    fn nodes(&self) -> Vec<Node> {
        let (mut gpus, mut switches) = (0, 0);
        let mut nodes = Vec::new();
        for (id, &is_switch) in (0..).zip(&self.is_switch) {
            if self.nvswitches.contains(&id) {
                continue;
            }
            let (name, count, kind) = match is_switch {
                true => ("switch", &mut switches, NodeKind::Switch { tier: 0 }),
                false => ("gpu", &mut gpus, NodeKind::Host),
            };
            nodes.push(Node { name: format!("{name}-{count}"), kind });
            *count += 1;
        }
        nodes
    }
}

/// GPUs by the NVSwitch that they are linked to.
#[derive(Default)]
struct Domains<'a> {
    /// Of each: its GPUs, rate and delay of their links, and the word of the first one.
    by_switch: BTreeMap<NodeId, (Vec<NodeId>, Bandwidth, Duration, Word<'a>)>,
    /// The NVSwitch of each GPU.
    of_gpu: BTreeMap<NodeId, NodeId>,
}

impl<'a> Domains<'a> {
    fn add(
        &mut self,
        lines: &Lines<'_>,
        kinds: &Kinds,
        (words, link): (&LinkWords<'a>, &TopologyLink),
        switch: NodeId,
    ) -> Result<(), TopologyError> {
        let &[a, _, rate, ..] = words;
        let gpu = if link.a == switch { link.b } else { link.a };
        if kinds.is_switch[gpu as usize] {
            let problem = "an NVSwitch is linked to GPUs only, and this is a switch";
            return Err(lines.error(a, problem, "leave out the link"));
        }
        if self.of_gpu.insert(gpu, switch).is_some_and(|other| other != switch) {
            let problem = format!("GPU {gpu} is linked to another NVSwitch already");
            let fix = "give a server one NVSwitch, with the rate of all its links together";
            return Err(lines.error(a, problem, fix));
        }
        let domain =
            self.by_switch.entry(switch).or_insert((Vec::new(), link.rate, link.delay, rate));
        if (domain.1, domain.2) != (link.rate, link.delay) {
            let problem = "links of an NVSwitch have one rate and delay, and others have others";
            return Err(lines.error(rate, problem, "give all of them the same"));
        }
        domain.0.push(kinds.node(gpu));
        Ok(())
    }

    fn servers(
        self,
        lines: &Lines<'_>,
        kinds: &Kinds,
        word: Word<'_>,
    ) -> Result<Vec<TopologyServer>, TopologyError> {
        if let Some(lonely) = kinds.nvswitches.iter().find(|id| !self.by_switch.contains_key(id)) {
            let problem = format!("NVSwitch {lonely} has no link");
            return Err(lines.error(word, problem, "add links, or count fewer NVSwitches"));
        }
        let server = |(mut hosts, rate, delay, word): (Vec<NodeId>, _, Duration, Word<'_>)| {
            hosts.sort_unstable();
            let given = crate::NvlinkConfig {
                rate: Some(rate),
                delay: Some(delay + delay),
                ..Default::default()
            };
            let nvlink: Nvlink = given.resolve(None).map_err(|error| {
                lines.error(word, format!("{}: {}", error.key, error.problem), error.fix)
            })?;
            Ok(TopologyServer { hosts, nvlink: Some(nvlink) })
        };
        self.by_switch.into_values().map(server).collect()
    }
}
