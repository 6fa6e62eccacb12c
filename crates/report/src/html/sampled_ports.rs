//! Which ports were sampled. A port whose samples were all zero has no row in the file, so only the scenario
//! tells it from one that was not looked at.

use std::collections::BTreeSet;

use rocelab_results::{MapNode, MapNodeKind};

use super::ports::Ports;
use super::resolved::Resolved;

/// The directions of the ports that `[sample.SECTION]` names; by default these are ports of switches, and of hosts
/// too for utilisation. `nodes` has the kinds of nodes.
pub(crate) fn sampled_ports(
    resolved: &Resolved,
    section: &str,
    ports: &Ports,
    nodes: &[MapNode],
) -> Vec<usize> {
    let directions = (0..ports.directions.len()).map(|one| (one, &ports.directions[one].record));
    if resolved.text(&["sample"]) == Some("default") {
        let switches = nodes.iter().filter(|node| node.kind == MapNodeKind::Switch);
        let switches: BTreeSet<&str> = switches.map(|node| &*node.name).collect();
        let all = section == "utilisation";
        return directions
            .filter(|(_, of)| all || switches.contains(&*of.from))
            .map(|(one, _)| one)
            .collect();
    }
    let texts: Vec<&str> = resolved.texts(&["sample", section, "ports"]).collect();
    let named = |text: &&str, (node, port): (&str, u16)| names_port(text, node, port);
    let is_named = |of: (&str, u16)| texts.iter().any(|text| named(text, of));
    directions.filter(|(_, of)| is_named((&of.from, of.from_port))).map(|(one, _)| one).collect()
}

/// Whether a text such as `leaf-0`, `leaf-*:3`, `leaf-0..leaf-3:0..7` or `all` names a port.
fn names_port(text: &str, node: &str, port: u16) -> bool {
    let (nodes, numbers) = text.rsplit_once(':').unwrap_or((text, "*"));
    names_node(nodes.trim(), node) && names_number(numbers.trim(), port.into())
}

fn names_node(text: &str, node: &str) -> bool {
    match text.split_once("..") {
        _ if text == "all" => true,
        Some((first, last)) => {
            let ends = (numbered(first.trim()), numbered(last.trim()), numbered(node));
            let (Some(first), Some(last), Some(node)) = ends else { return false };
            first.0 == node.0 && last.0 == node.0 && (first.1..=last.1).contains(&node.1)
        }
        None => is_like(node, text),
    }
}

/// `host-12` as `host-` and 12.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let stem = name.trim_end_matches(|one: char| one.is_ascii_digit());
    Some((stem, name[stem.len()..].parse().ok()?))
}

fn names_number(text: &str, number: u64) -> bool {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let range = first.trim().parse::<u64>().ok().zip(last.trim().parse::<u64>().ok());
    text == "*" || range.is_some_and(|(first, last)| (first..=last).contains(&number))
}

/// Whether a name is like a pattern, in which `*` stands for any characters, or none.
fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let ends = name.char_indices().map(|(place, _)| place).chain([name.len()]);
            ends.into_iter().any(|place| is_like(&name[place..], rest))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ports::tests::network;
    use super::*;

    #[test]
    fn ports_are_named_as_in_scenarios() {
        for (text, node, port, expected) in [
            ("leaf-1", "leaf-1", 7, true),
            ("leaf-1", "leaf-10", 7, false),
            ("leaf-*:3", "leaf-10", 3, true),
            ("leaf-*:3", "leaf-10", 4, false),
            ("*f-*0:*", "leaf-10", 4, true),
            ("leaf-0:0..7", "leaf-0", 7, true),
            ("leaf-0:0..7", "leaf-0", 8, false),
            ("spine-0..spine-3", "spine-2", 9, true),
            ("spine-0 .. spine-3", "spine-4", 9, false),
            ("spine-0..spine-3", "leaf-2", 9, false),
            ("all:0", "host-4", 0, true),
            ("all", "host-4", 1, true),
        ] {
            assert_eq!(names_port(text, node, port), expected, "{text} and {node}:{port}");
        }
    }

    #[test]
    fn the_scenario_says_which_ports_were_sampled() {
        let ports = network(&[("host-0", 0, "leaf", 3)]);
        let resolved = Resolved::of("[sample.queues]\nports = [\"leaf:0..5\"]\n");
        assert_eq!(sampled_ports(&resolved, "queues", &ports, &[]), [1]);
        assert!(sampled_ports(&resolved, "marks", &ports, &[]).is_empty());
    }

    #[test]
    fn by_default_ports_of_switches_are_sampled() {
        let ports = network(&[("host-0", 0, "leaf", 3)]);
        let node =
            |name: &str, kind| MapNode { name: name.to_owned(), kind, tier: 0, x: 0.0, y: 0.0 };
        let nodes = [node("host-0", MapNodeKind::Host), node("leaf", MapNodeKind::Switch)];
        let resolved = Resolved::of("sample = \"default\"\n");
        assert_eq!(sampled_ports(&resolved, "queues", &ports, &nodes), [1]);
        assert_eq!(sampled_ports(&resolved, "utilisation", &ports, &nodes), [0, 1]);
    }
}
