//! The edge list of the HPCC ns-3 simulator.
//!
//! ```text
//! 4 1 3                  nodes, switches, links
//! 3                      the ids of the switches; all other ids below `nodes` are hosts
//! 0 3 100Gbps 1us 0      one end, the other, rate, propagation delay, error rate
//! 1 3 100Gbps 1us 0
//! 2 3 100Gbps 1us 0
//! ```
//!
//! The ids of the switches may take several lines. What follows the links is ignored, as in the
//! simulator, because its own files carry notes there; a further link is refused.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use super::limits::{MAX_LINKS, MAX_NODES};
use super::tiers::number_tiers;
use super::{Node, NodeId, NodeKind, Topology, TopologyError, TopologyFault, TopologyLink};

/// Reads the text of the file at `path`.
pub(super) fn parse(text: &str, path: &Path) -> Result<Topology, TopologyError> {
    let mut lines = Lines::new(text, path);
    let header = Header::read(&mut lines)?;
    let mut is_switch = vec![false; header.nodes];
    for (id, _) in read_ids(&mut lines, &header, "switches")? {
        is_switch[id as usize] = true;
    }
    let (places, links) = read_links(&mut lines, &header)?;
    refuse_further_links(&mut lines, &header)?;

    let mut topology = Topology { nodes: name_nodes(&is_switch), links, ..Topology::default() };
    topology.check().map_err(|fault| {
        let (place, fix) = locate(&fault, &header, &places);
        lines.error(place, fault.to_string(), fix)
    })?;
    number_tiers(&mut topology);
    Ok(topology)
}

/// A word of the file and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    text: &'a str,
    line: usize,
    /// Column in characters, from 1.
    column: usize,
}

/// The lines that are not blank, as words.
pub(super) struct Lines<'a> {
    path: &'a Path,
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    /// The end of the file, the place of errors about missing text.
    end: Word<'a>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str, path: &'a Path) -> Self {
        let line = text.lines().count().max(1);
        let column = text.lines().next_back().map_or(0, |last| last.chars().count()) + 1;
        let end = Word { text: "end of file", line, column };
        Self { path, lines: text.lines().enumerate(), end }
    }

    fn next(&mut self) -> Option<Vec<Word<'a>>> {
        let words = self.lines.by_ref().map(|(index, line)| split_words(line, index + 1));
        words.into_iter().find(|words| !words.is_empty())
    }

    pub(super) fn expect(&mut self, what: &str) -> Result<Vec<Word<'a>>, TopologyError> {
        let next = self.next();
        next.ok_or_else(|| self.error(self.end, format!("{what} should follow"), "add it"))
    }

    pub(super) fn error(
        &self,
        at: Word<'_>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> TopologyError {
        TopologyError::File {
            path: self.path.into(),
            line: at.line,
            column: at.column,
            value: at.text.into(),
            problem: problem.into(),
            fix: fix.into(),
        }
    }

    pub(super) fn parse<T: FromStr<Err: Display>>(
        &self,
        word: Word<'_>,
        fix: &str,
    ) -> Result<T, TopologyError> {
        word.text.parse().map_err(|error: T::Err| self.error(word, error.to_string(), fix))
    }
}

fn split_words(line: &str, number: usize) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut column, mut rest) = (1, line);
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        column += rest[..start].chars().count();
        rest = &rest[start..];
        let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let text = &rest[..length];
        words.push(Word { text, line: number, column });
        column += text.chars().count();
        rest = &rest[length..];
    }
    words
}

/// The numbers of the file's first line.
pub(super) struct Header<'a> {
    pub(super) nodes: usize,
    switches: usize,
    links: usize,
    pub(super) nodes_word: Word<'a>,
    links_word: Word<'a>,
}

impl<'a> Header<'a> {
    fn read(lines: &mut Lines<'a>) -> Result<Self, TopologyError> {
        const FIX: &str = "write the numbers of nodes, switches and links, as in `4 1 3`";
        let words = lines.expect("a line with the numbers of nodes, switches and links")?;
        let &[nodes_word, switches_word, links_word] = words.as_slice() else {
            let problem = format!("the first line has {} words where 3 belong", words.len());
            return Err(lines.error(words[0], problem, FIX));
        };
        let switches = lines.parse(switches_word, FIX)?;
        Self::of(lines, [nodes_word, switches_word, links_word], switches, FIX)
    }

    /// With the words that count nodes, switches and links, and the number of `switches`.
    pub(super) fn of(
        lines: &Lines<'a>,
        [nodes_word, switches_word, links_word]: [Word<'a>; 3],
        switches: usize,
        fix: &str,
    ) -> Result<Self, TopologyError> {
        let nodes: usize = lines.parse(nodes_word, fix)?;
        let links: usize = lines.parse(links_word, fix)?;
        if nodes > MAX_NODES {
            let problem = format!("{nodes} nodes are more than {MAX_NODES}");
            return Err(lines.error(nodes_word, problem, "give a smaller network"));
        }
        if links > MAX_LINKS {
            let problem = format!("{links} links are more than {MAX_LINKS}");
            return Err(lines.error(links_word, problem, "give a smaller network"));
        }
        if switches > nodes {
            let problem = format!("there are only {nodes} nodes");
            let fix = "count the switches among the nodes";
            return Err(lines.error(switches_word, problem, fix));
        }
        // This also limits the memory that a short file can ask for.
        if nodes > links + 1 {
            let problem = format!("{nodes} nodes cannot be connected by {links} links");
            return Err(lines.error(links_word, problem, format!("give at least {}", nodes - 1)));
        }
        Ok(Self { nodes, switches, links, nodes_word, links_word })
    }

    fn parse_id(&self, lines: &Lines<'_>, word: Word<'_>) -> Result<NodeId, TopologyError> {
        let last = self.nodes.saturating_sub(1);
        let fix = format!("give a node's id, 0 to {last}");
        let id: NodeId = lines.parse(word, &fix)?;
        if id as usize >= self.nodes {
            let problem = format!("the first line counts {} nodes", self.nodes);
            return Err(lines.error(word, problem, fix));
        }
        Ok(id)
    }
}

/// The ids of all switches, which the file calls `what`, in its order.
pub(super) fn read_ids<'a>(
    lines: &mut Lines<'a>,
    header: &Header<'_>,
    what: &str,
) -> Result<Vec<(NodeId, Word<'a>)>, TopologyError> {
    let mut is_switch = vec![false; header.nodes];
    let mut ids = Vec::new();
    while ids.len() < header.switches {
        let words = lines.expect(&format!("the ids of the {what}"))?;
        for &word in &words {
            if ids.len() == header.switches {
                let problem = format!("the first line counts {} switches", header.switches);
                let fix = "correct the count, or leave out this id";
                return Err(lines.error(word, problem, fix));
            }
            let id = header.parse_id(lines, word)?;
            if std::mem::replace(&mut is_switch[id as usize], true) {
                let problem = "this switch was listed before";
                return Err(lines.error(word, problem, "list every switch once"));
            }
            ids.push((id, word));
        }
    }
    Ok(ids)
}

/// The words of a link: ends, rate, delay, error rate.
pub(super) type LinkWords<'a> = [Word<'a>; 5];

pub(super) fn read_links<'a>(
    lines: &mut Lines<'a>,
    header: &Header<'a>,
) -> Result<(Vec<LinkWords<'a>>, Vec<TopologyLink>), TopologyError> {
    let (mut places, mut links) = (Vec::new(), Vec::new());
    let mut seen = BTreeMap::new();
    for index in 0..header.links {
        let words = lines.expect(&format!("link {} of {}", index + 1, header.links))?;
        let Ok(words) = LinkWords::try_from(words.as_slice()) else {
            let problem = format!("a link has 5 words, and this line has {}", words.len());
            return Err(lines.error(words[0], problem, "write `a b rate delay error_rate`"));
        };
        let link = read_link(lines, header, &words)?;
        match seen.entry((link.a.min(link.b), link.a.max(link.b))) {
            Entry::Vacant(entry) => _ = entry.insert(words[0].line),
            Entry::Occupied(first) => {
                let problem = format!("line {} has this link already", first.get());
                return Err(lines.error(words[0], problem, "leave out one of the two lines"));
            }
        }
        places.push(words);
        links.push(link);
    }
    Ok((places, links))
}

fn read_link(
    lines: &Lines<'_>,
    header: &Header<'_>,
    &[a, b, rate, delay, loss]: &LinkWords<'_>,
) -> Result<TopologyLink, TopologyError> {
    Ok(TopologyLink {
        a: header.parse_id(lines, a)?,
        b: header.parse_id(lines, b)?,
        rate: lines.parse(rate, "give a rate, as in `100Gbps`")?,
        delay: lines.parse(delay, "give a delay, as in `1000ns`")?,
        loss: lines.parse(loss, "give a probability from 0 to 1")?,
    })
}

fn refuse_further_links(lines: &mut Lines<'_>, header: &Header<'_>) -> Result<(), TopologyError> {
    let Some(words) = lines.next() else { return Ok(()) };
    let is_number = |word: &&Word<'_>| word.text.parse::<u64>().is_ok();
    if words.len() == 5 && words.iter().take_while(is_number).count() >= 2 {
        let problem = format!("the first line counts {} links, and here is another", header.links);
        return Err(lines.error(words[0], problem, "correct the count, or leave out this link"));
    }
    Ok(())
}

fn name_nodes(is_switch: &[bool]) -> Vec<Node> {
    let node = |(id, &is_switch): (usize, &bool)| match is_switch {
        true => Node { name: format!("switch-{id}"), kind: NodeKind::Switch { tier: 0 } },
        false => Node { name: format!("host-{id}"), kind: NodeKind::Host },
    };
    is_switch.iter().enumerate().map(node).collect()
}

/// The word that an error points at, and how to fix it.
pub(super) fn locate<'a>(
    fault: &TopologyFault,
    header: &Header<'a>,
    places: &[LinkWords<'a>],
) -> (Word<'a>, &'static str) {
    let [a, b, rate, delay, loss] = [0, 1, 2, 3, 4];
    let (link, word, fix) = match *fault {
        TopologyFault::TooFewHosts { .. } => {
            return (header.nodes_word, "list fewer switches, or add hosts");
        }
        TopologyFault::Isolated { .. } => {
            return (header.nodes_word, "add a link for it, or leave out the node");
        }
        TopologyFault::TooManyNodes { .. } => return (header.nodes_word, "give fewer nodes"),
        TopologyFault::TooManyLinks { .. } => return (header.links_word, "give fewer links"),
        TopologyFault::NoSuchNode { link, .. } => (link, a, "give a node's id"),
        TopologyFault::SelfLoop { link } => (link, b, "give two different nodes"),
        TopologyFault::HostToHost { link } => (link, b, "put a switch between them"),
        TopologyFault::ZeroRate { link } | TopologyFault::RateOutOfRange { link } => {
            (link, rate, "give a rate, as in `100Gbps`")
        }
        TopologyFault::DelayTooLong { link } => (link, delay, "give a shorter delay"),
        TopologyFault::LossOutOfRange { link } => (link, loss, "give a probability from 0 to 1"),
        TopologyFault::SeveralHostLinks { link, .. } => {
            (link, a, "list the node among the switches, or leave out the link")
        }
        TopologyFault::TooManyPorts { link, .. } => {
            (link, a, "spread the links over more switches")
        }
        TopologyFault::Disconnected { link, .. } => {
            (link, a, "add a link between the two parts of the network")
        }
    };
    (places[link][word], fix)
}
