//! Propagation delays, as HPCC's ns-3 simulator reads them.

use rocelab_fabric::{Topology, TopologyConfig, truncated_nanoseconds_of};
use rocelab_units::Duration;

use crate::scenario::{Fault, Scenario};

/// The delay of each link in whole nanoseconds. A topology file is read again for the unit in
/// which it writes them, on which the last nanosecond depends.
pub(super) fn of_links(scenario: &Scenario, topology: &Topology) -> Result<Vec<u64>, Fault> {
    let whole = |delay: Duration| delay.ps() / 1_000;
    let exact: Vec<u64> = topology.links.iter().map(|link| whole(link.delay)).collect();
    let TopologyConfig::File(file) = &scenario.topology else { return Ok(exact) };
    let path = scenario.folder().join(&file.path);
    let text = rocelab_fabric::read_named_text(&path).map_err(|error| {
        Fault::at("topology.file.path", format!("`{}` cannot be read: {error}", path.display()))
            .help("do not change files while they are read")
    })?;
    let switches = topology.switches().count();
    let read = link_words(&text, switches).zip(&exact).map(|(word, &exact)| {
        let in_its_unit = word.and_then(truncated);
        in_its_unit.unwrap_or(exact)
    });
    let read: Vec<u64> = read.collect();
    Ok(if read.len() == exact.len() { read } else { exact })
}

/// The delay's word of each link: the fourth of five, after the header and the switches.
fn link_words(text: &str, switches: usize) -> impl Iterator<Item = Option<&str>> {
    let words: Vec<&str> = text.split_whitespace().skip(3 + switches).collect();
    let links = words.len() / 5;
    (0..links).map(move |link| words.get(link * 5 + 3).copied())
}

/// A delay such as `0.6us`, cut off to nanoseconds in the unit in which it is written: 599.
fn truncated(word: &str) -> Option<u64> {
    let unit = word.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let number: f64 = word[..unit].parse().ok()?;
    let factor = match &word[unit..] {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" => 1_000,
        _ => return None,
    };
    Some(truncated_nanoseconds_of(number, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_decides_about_the_last_nanosecond() {
        // 0.6 is 0.59999999999999997780 in binary; 0.001 is 0.00100000000000000002.
        assert_eq!(truncated("0.6us"), Some(599));
        assert_eq!(truncated("0.001ms"), Some(1_000));
        assert_eq!(truncated("2us"), Some(2_000));
        assert_eq!(truncated("600ns"), None);
    }

    #[test]
    fn delays_are_the_fourth_words_of_links() {
        let text = "4 1 2\n3\n0 3 100Gbps 1us 0\n1 3 25Gbps 0.6us 0\nnotes\n";
        let words: Vec<_> = link_words(text, 1).collect();
        assert_eq!(words, [Some("1us"), Some("0.6us")]);
    }
}
