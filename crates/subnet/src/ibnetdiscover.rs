//! Reads topologies as `ibnetdiscover` prints them, and as `ibsim` reads them.
//!
//! Both have a section for each node: a line with its kind, number of ports and identifier in quotes, then a line for
//! each cable. `ibnetdiscover` writes GUIDs before the section and beside ports. `ibsim` needs none: it counts switches
//! from 0x200000 and channel adapters from 0x100000 on, and so do we.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::error::InputError;
use crate::guid::Guid;
use crate::link_speed::LinkSpeed;
use crate::scan::Scan;
use crate::topology::{MOST_PORTS, Node, NodeKind, PortId, Topology, TopologyError};

/// Words that begin a section.
const KINDS: [(&str, NodeKind); 6] = [
    ("Switch", NodeKind::Switch),
    ("Ca", NodeKind::ChannelAdapter),
    ("Hca", NodeKind::ChannelAdapter),
    ("Tca", NodeKind::ChannelAdapter),
    ("Rt", NodeKind::Router),
    ("Router", NodeKind::Router),
];
/// Keys of GUIDs of nodes.
const NODE_GUIDS: [&str; 4] = ["switchguid", "caguid", "hcaguid", "rtguid"];
/// Keys that say nothing of the topology.
const WITHOUT_EFFECT: [&str; 2] = ["vendid", "devid"];

/// Reads the `text` of the file at `path`.
///
/// # Errors The first thing that is wrong.
pub fn read(path: &Path, text: &str) -> Result<Topology, InputError> {
    let mut reader = Reader::default();
    for line in Scan::lines(path, text) {
        reader.line(line)?;
    }
    let mut topology = reader.topology;
    for link in reader.links {
        link.connect(&reader.nodes, &mut topology)?;
    }
    if topology.nodes().is_empty() {
        let help = "begin with a line such as: Switch 36 \"S1\"";
        return Err(InputError::new(path, 0, "", "has no node", help));
    }
    let same = |error: TopologyError| {
        InputError::new(path, 0, "", error.to_string(), "give each its own GUID")
    };
    topology.check_guids().map_err(same)?;
    Ok(topology)
}

/// What was read so far.
#[derive(Debug)]
struct Reader<'t> {
    topology: Topology,
    nodes: BTreeMap<&'t str, usize>,
    links: Vec<Link<'t>>,
    /// GUIDs that stand before the section of their node: the node's, its port's, and its system's.
    guid: Option<Guid>,
    port_guid: Option<Guid>,
    system: Option<Guid>,
    numbering: Numbering,
}

impl Default for Reader<'_> {
    fn default() -> Self {
        Self {
            topology: Topology::default(),
            nodes: BTreeMap::new(),
            links: Vec::new(),
            guid: None,
            port_guid: None,
            system: None,
            numbering: Numbering { switch: 0x20_0000, adapter: 0x10_0000, router: 0x30_0000 },
        }
    }
}

/// The next GUID of nodes that have none, as ibsim counts; routers are our own addition.
#[derive(Debug)]
struct Numbering {
    switch: u64,
    adapter: u64,
    router: u64,
}

impl Numbering {
    fn next(&mut self, kind: NodeKind, ports: u8) -> Guid {
        let (next, step) = match kind {
            NodeKind::Switch => (&mut self.switch, 1),
            NodeKind::ChannelAdapter => (&mut self.adapter, u64::from(ports) + 1),
            NodeKind::Router => (&mut self.router, u64::from(ports) + 1),
        };
        *next += step;
        Guid::new(*next - step)
    }
}

impl<'t> Reader<'t> {
    fn line(&mut self, mut line: Scan<'t>) -> Result<(), InputError> {
        if line.rest().starts_with('#') {
            return Ok(());
        }
        if line.rest().starts_with('[') {
            return self.port(line);
        }
        let whole = line;
        let word = line.word();
        if line.eat("=") {
            return self.guid(word, line);
        }
        // What `ibnetdiscover -g` writes above the nodes of a chassis.
        if word == "Chassis" || word == "Non-Chassis" {
            return Ok(());
        }
        let kind = KINDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        let Some(&(_, kind)) = kind else {
            let help =
                "write a node, such as: Switch 36 \"S1\", or a cable, such as: [1] \"H1\"[1]";
            return Err(whole.blame(whole.rest(), "is no line of ibnetdiscover", help));
        };
        self.node(kind, line)
    }

    /// `caguid=0x2c9000100d051(2c9000100d052)` and others.
    fn guid(&mut self, key: &str, mut line: Scan<'_>) -> Result<(), InputError> {
        if WITHOUT_EFFECT.contains(&key) {
            return Ok(());
        }
        let is_system = key == "sysimgguid";
        if !is_system && !NODE_GUIDS.contains(&key) {
            let help = "write sysimgguid, switchguid, caguid, hcaguid, rtguid, vendid or devid";
            return Err(line.blame(key, "is no key of ibnetdiscover", help));
        }
        line.skip_space();
        let text = line.word();
        let guid = Guid::parse(text).ok_or_else(|| line.no_guid(text))?;
        if is_system {
            self.system = Some(guid);
        } else {
            self.guid = Some(guid);
            self.port_guid = line.guid()?;
        }
        no_more(line)
    }

    /// `Switch 36 "S-0002c9020041b3a8" # "description" ...`, behind its first word.
    fn node(&mut self, kind: NodeKind, mut line: Scan<'t>) -> Result<(), InputError> {
        line.skip_space();
        let count = line.word();
        let is_possible = |ports: &u8| (1..=MOST_PORTS).contains(ports);
        let ports = count.parse().ok().filter(is_possible).ok_or_else(|| {
            let help = format!("write a number from 1 to {MOST_PORTS}");
            line.blame(count, "is no number of ports", help)
        })?;
        line.skip_space();
        let identifier = line.between("\"", "\"")?.filter(|identifier| !identifier.is_empty());
        let identifier = identifier.ok_or_else(|| {
            let help = "write the identifier in quotes, such as: Switch 36 \"S1\"";
            line.blame(line.rest(), "is no identifier of a node", help)
        })?;
        let named = self.guid.take().or_else(|| guid_in(identifier));
        let guid = named.unwrap_or_else(|| self.numbering.next(kind, ports));
        let name = description(&mut line)?.unwrap_or(identifier);
        no_more(line)?;
        let mut node = Node::new(kind, guid, name, ports);
        node.system = self.system.take().filter(|system| system.number() > 0).unwrap_or(guid);
        if let Some(port_guid) = self.port_guid.take()
            && kind != NodeKind::Switch
        {
            node.set_port_guid(1, port_guid).map_err(|error| wrong(line, &error))?;
        }
        let index = self.topology.add(node).map_err(|error| wrong(line, &error))?;
        if self.nodes.insert(identifier, index).is_some() {
            let message = "is the identifier of another node too";
            return Err(line.blame(identifier, message, "give each node its own identifier"));
        }
        Ok(())
    }

    /// `[1](2c903000e0b73) "S-0002c9020041b3a8"[3] # ...`
    fn port(&mut self, mut line: Scan<'t>) -> Result<(), InputError> {
        let place = line;
        let Some(node) = self.topology.nodes().len().checked_sub(1) else {
            let help = "write its node before it, such as: Switch 36 \"S1\"";
            return Err(line.blame(line.rest(), "is a cable of no node", help));
        };
        let port = line.port()?.unwrap_or(0);
        skip_external(&mut line)?;
        if let Some(guid) = line.guid()? {
            let mine = &self.topology.nodes()[node];
            if mine.kind != NodeKind::Switch {
                self.topology
                    .set_port_guid(node, port, guid)
                    .map_err(|error| wrong(line, &error))?;
            }
        }
        line.skip_space();
        let incomplete = "write a cable so: [1] \"H1\"[1]";
        let peer = line.between("\"", "\"")?;
        let peer = peer.ok_or_else(|| {
            place.blame(place.rest(), "does not say the node at the other end", incomplete)
        })?;
        line.skip_space();
        let peer_port = line.port()?.ok_or_else(|| {
            place.blame(place.rest(), "does not say the port at the other end", incomplete)
        })?;
        skip_external(&mut line)?;
        line.guid()?;
        no_more(line)?;
        let end = PortId { node, port };
        if let Some(speed) = speed(&line)? {
            self.topology.set_speed(end, speed);
        }
        self.links.push(Link { place, end, peer, peer_port });
        Ok(())
    }
}

/// A cable, as the section of one of its ends says it.
#[derive(Debug)]
struct Link<'t> {
    place: Scan<'t>,
    end: PortId,
    peer: &'t str,
    peer_port: u8,
}

impl Link<'_> {
    fn connect(
        &self,
        nodes: &BTreeMap<&str, usize>,
        topology: &mut Topology,
    ) -> Result<(), InputError> {
        let Some(&node) = nodes.get(self.peer) else {
            let help = "add its section, or remove the cable";
            return Err(self.place.blame(self.peer, "is no node of this file", help));
        };
        let peer = PortId { node, port: self.peer_port };
        topology.connect(self.end, peer).map_err(|error| wrong(self.place, &error))?;
        let of = |end: PortId| topology.nodes()[end.node].port(end.port)?.speed;
        match (of(self.end), of(peer)) {
            (Some(own), Some(far)) if own != far => {
                let message = format!("the other end of this cable says {far}, and this one {own}");
                Err(self.place.blame(self.place.rest(), message, "write the same speed at both"))
            }
            _ => Ok(()),
        }
    }
}

/// The error that a line makes no topology.
fn wrong(line: Scan<'_>, error: &TopologyError) -> InputError {
    let help = match error {
        TopologyError::NoSuchPort { .. } => "name a port from 1 to the number in its node's line",
        TopologyError::Taken { .. } => "remove one of the two cables",
        TopologyError::ToItself { .. } => "name another port",
        TopologyError::SameGuid { .. } => "give each its own GUID",
        TopologyError::TooManyPorts { .. } => "give the node fewer ports",
    };
    line.blame(line.rest(), error.to_string(), help)
}

/// The GUID in an identifier of `ibnetdiscover`, such as `S-0002c9020041b3a8`.
fn guid_in(identifier: &str) -> Option<Guid> {
    let digits = ["S-", "H-", "R-"].iter().find_map(|prefix| identifier.strip_prefix(prefix))?;
    (digits.len() == 16).then(|| Guid::parse(digits)).flatten()
}

/// The description of a node, in quotes at the start of a comment.
fn description<'t>(line: &mut Scan<'t>) -> Result<Option<&'t str>, InputError> {
    line.skip_space();
    let mut comment = *line;
    if !comment.eat("#") {
        return Ok(None);
    }
    comment.skip_space();
    comment.between("\"", "\"")
}

/// What a cable carries, at the end of the comment of its line: `# "desc" lid 4 4xQDR`.
///
/// # Errors
/// What has the form of a speed, and is none that is known.
fn speed(line: &Scan<'_>) -> Result<Option<LinkSpeed>, InputError> {
    let comment = line.rest().split_once('#').map(|(_, comment)| comment);
    let last = comment.and_then(|comment| comment.split_whitespace().next_back());
    let Some(last) = last else { return Ok(None) };
    let speed = LinkSpeed::parse(last);
    if speed.is_none() && has_form_of_speed(last) {
        let help = "write a width of 1, 2, 4, 8 or 12 and a speed from SDR to XDR, such as 4xHDR";
        return Err(line.blame(last, "is no speed of a link that is known", help));
    }
    Ok(speed)
}

/// Whether a word is such as `4xHDR` or `4x???`: a width, `x`, and capitals or question marks.
fn has_form_of_speed(word: &str) -> bool {
    word.split_once('x').is_some_and(|(lanes, speed)| {
        lanes.parse().is_ok_and(|lanes: u8| lanes > 0)
            && speed.starts_with(|one: char| one.is_ascii_uppercase() || one == '?')
            && !speed.contains('"')
    })
}

/// Skips the name of a port on the outside of a chassis: `[ext 3]`.
fn skip_external(line: &mut Scan<'_>) -> Result<(), InputError> {
    line.between("[ext", "]").map(|_| ())
}

/// Refuses what is left of a line but comments and settings such as `w=4`, by which ibsim changes ports.
fn no_more(mut line: Scan<'_>) -> Result<(), InputError> {
    loop {
        line.skip_space();
        if line.rest().is_empty() || line.rest().starts_with('#') {
            return Ok(());
        }
        let whole = line;
        let is_setting = !line.word().is_empty() && line.eat("=") && !line.word().is_empty();
        if !is_setting {
            let help = "remove it, or write # before it";
            return Err(whole.blame(whole.rest(), "is not understood", help));
        }
    }
}

/// Writes a topology as `ibnetdiscover` does, so that [`read`] finds the same again.
///
/// Quotes and line ends in descriptions become spaces: they would end the description.
pub fn write(topology: &Topology) -> String {
    let mut text = String::new();
    for node in topology.nodes() {
        let port_guid = node.port(1).map_or(node.guid, |port| port.guid);
        let (key, word) = match node.kind {
            NodeKind::Switch => ("switchguid", "Switch"),
            NodeKind::ChannelAdapter => ("caguid", "Ca"),
            NodeKind::Router => ("rtguid", "Rt"),
        };
        let name: String =
            node.name.chars().map(|one| if is_end(one) { ' ' } else { one }).collect();
        let _ = writeln!(text, "sysimgguid=0x{:x}", node.system.number());
        let _ = writeln!(text, "{key}=0x{:x}({:x})", node.guid.number(), port_guid.number());
        let _ = writeln!(
            text,
            "{word}\t{} \"{}\"\t\t# \"{name}\"",
            node.port_count(),
            identifier(node)
        );
        for (number, port) in node.ports() {
            let Some(peer) = port.peer else { continue };
            let own = if node.kind == NodeKind::Switch {
                String::new()
            } else {
                format!("({:x})", port.guid.number())
            };
            let other = &topology.nodes()[peer.node];
            let speed = port.speed.map_or_else(String::new, |speed| format!("\t\t# {speed}"));
            let _ =
                writeln!(text, "[{number}]{own} \t\"{}\"[{}]{speed}", identifier(other), peer.port);
        }
        text.push('\n');
    }
    text
}

const fn is_end(one: char) -> bool {
    matches!(one, '"' | '\n' | '\r')
}

/// A node's identifier in the output of `ibnetdiscover`: the kind and the GUID.
pub fn identifier(node: &Node) -> String {
    let letter = match node.kind {
        NodeKind::Switch => 'S',
        NodeKind::ChannelAdapter => 'H',
        NodeKind::Router => 'R',
    };
    format!("{letter}-{:016x}", node.guid.number())
}
