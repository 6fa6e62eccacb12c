//! The mesh of pings at a glance: who pings whom, how long it took, and what was lost.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_results::{MonitoringRecord, Results, ResultsError};
use serde::Serialize;
use serde_json::json;

use super::samples::Quantity;
use super::tables::Table;

/// Hosts in a row or column, at the most: those of the pairs that lost the most, and were slowest.
const MOST_HOSTS: usize = 64;

/// The pings of a run by pair.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Mesh {
    /// Hosts that ping, in the order of the topology.
    pub(crate) sources: Vec<String>,
    /// Hosts that answer.
    pub(crate) destinations: Vec<String>,
    pub(crate) cells: Vec<Cell>,
    /// Pairs that are left out.
    pub(crate) omitted: usize,
}

/// A pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cell {
    /// The place of the host that pings.
    pub(crate) from: usize,
    /// The place of the host that answers.
    pub(crate) to: usize,
    /// Pings that were answered or lost: those that were under way at the end are neither.
    pub(crate) decided: u64,
    pub(crate) lost: u64,
    /// The highest 99th percentile of a window; none without an answer.
    pub(crate) p99_ps: Option<u64>,
}

/// A pair, over all windows.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    sent: u64,
    decided: u64,
    lost: u64,
    p99_ps: Option<u64>,
}

/// Pairs by the numbers of their hosts: those of the topology, where results have one, else in the order in which they are named.
#[derive(Debug, Default)]
struct Pairs {
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
    by_hosts: BTreeMap<(usize, usize), Pair>,
}

impl Pairs {
    fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len();
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }

    fn add(&mut self, row: &MonitoringRecord<'_>) {
        let hosts = (self.number(&row.source), self.number(&row.destination));
        let pair = self.by_hosts.entry(hosts).or_default();
        pair.sent += row.sent;
        pair.decided += row.answered + row.lost;
        pair.lost += row.lost;
        pair.p99_ps = pair.p99_ps.max(row.p99_ps);
    }

    /// The worst first: by the share that was lost, then by time.
    fn worst_first(&self) -> Vec<((usize, usize), Pair)> {
        let mut all: Vec<_> = self.by_hosts.iter().map(|(&hosts, &pair)| (hosts, pair)).collect();
        let lost =
            |pair: &Pair| u128::from(pair.lost) * 1_000_000 / u128::from(pair.decided.max(1));
        all.sort_by_key(|(hosts, pair)| (std::cmp::Reverse((lost(pair), pair.p99_ps)), *hosts));
        all
    }
}

fn read(results: &Results) -> Result<Option<Pairs>, ResultsError> {
    let Some(rows) = results.monitoring()? else { return Ok(None) };
    let mut pairs = Pairs::default();
    for node in results.nodes()?.into_iter().flatten() {
        pairs.number(&node.name);
    }
    for row in rows {
        pairs.add(&row?);
    }
    Ok(Some(pairs))
}

/// The heat map of pairs and the table of them, if hosts pinged each other.
pub(crate) fn mesh(results: &Results) -> Result<Option<(Mesh, Table)>, ResultsError> {
    let Some(pairs) = read(results)?.filter(|pairs| !pairs.by_hosts.is_empty()) else {
        return Ok(None);
    };
    let worst = pairs.worst_first();
    Ok(Some((heat_map(&pairs, &worst), table(&pairs, &worst))))
}

fn heat_map(pairs: &Pairs, worst: &[((usize, usize), Pair)]) -> Mesh {
    let (mut sources, mut destinations) = (BTreeSet::new(), BTreeSet::new());
    for ((from, to), _) in worst {
        if sources.len() < MOST_HOSTS {
            sources.insert(*from);
        }
        if destinations.len() < MOST_HOSTS {
            destinations.insert(*to);
        }
    }
    let place = |hosts: &BTreeSet<usize>, host: usize| hosts.iter().position(|&one| one == host);
    let cell = |(&(from, to), pair): (&(usize, usize), &Pair)| {
        let (from, to) = (place(&sources, from)?, place(&destinations, to)?);
        Some(Cell { from, to, decided: pair.decided, lost: pair.lost, p99_ps: pair.p99_ps })
    };
    let cells: Vec<Cell> = pairs.by_hosts.iter().filter_map(cell).collect();
    let names = |hosts: &BTreeSet<usize>| -> Vec<String> {
        hosts.iter().map(|&host| pairs.names[host].clone()).collect()
    };
    Mesh {
        sources: names(&sources),
        destinations: names(&destinations),
        omitted: pairs.by_hosts.len() - cells.len(),
        cells,
    }
}

fn table(pairs: &Pairs, worst: &[((usize, usize), Pair)]) -> Table {
    let rows: Vec<&((usize, usize), Pair)> = worst.iter().collect();
    Table::of(
        ("monitoring", "Pings", "monitoring.csv"),
        (3, true),
        &rows,
        &[
            ("From", Quantity::Text, &|row| json!(pairs.names[row.0.0])),
            ("To", Quantity::Text, &|row| json!(pairs.names[row.0.1])),
            ("Sent", Quantity::Count, &|row| json!(row.1.sent)),
            ("Lost", Quantity::Count, &|row| json!(row.1.lost)),
            ("Not decided", Quantity::Count, &|row| json!(row.1.sent - row.1.decided)),
            ("Highest p99 of a window", Quantity::Time, &|row| json!(row.1.p99_ps)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        source: u32,
        destination: u32,
        lost: u64,
        p99: Option<u64>,
    ) -> MonitoringRecord<'static> {
        MonitoringRecord {
            window_ps: 0,
            source: format!("h{source}").into(),
            destination: format!("h{destination}").into(),
            sent: 10,
            answered: 10 - lost,
            lost,
            min_ps: p99,
            p50_ps: p99,
            p99_ps: p99,
            max_ps: p99,
        }
    }

    #[test]
    fn windows_of_a_pair_are_one_cell() {
        let mut pairs = Pairs::default();
        for one in [row(0, 1, 1, Some(5)), row(1, 0, 0, Some(9)), row(0, 1, 2, Some(4))] {
            pairs.add(&one);
        }
        let map = heat_map(&pairs, &pairs.worst_first());
        assert_eq!(
            (map.sources.join(" "), map.destinations.join(" ")),
            ("h0 h1".into(), "h0 h1".into())
        );
        let cell = |from, to, decided, lost, p99_ps| Cell { from, to, decided, lost, p99_ps };
        assert_eq!(map.cells, [cell(0, 1, 20, 3, Some(5)), cell(1, 0, 10, 0, Some(9))]);
    }

    #[test]
    fn shares_are_of_those_that_are_decided() {
        // All of 5 are worse than 6 of 10.
        let mut pairs = Pairs::default();
        pairs.add(&row(0, 1, 6, None));
        pairs.add(&MonitoringRecord { answered: 0, ..row(1, 0, 5, None) });
        let (worst, pair) = pairs.worst_first()[0];
        assert_eq!((worst, pair.sent, pair.decided, pair.lost), ((1, 0), 10, 5, 5));
    }

    #[test]
    fn of_many_hosts_the_worst_are_shown() {
        let mut pairs = Pairs::default();
        for source in 0..100 {
            for destination in 0..100 {
                let lost = u64::from(destination == 99 && source == 98) * 10;
                let p99 = (lost == 0).then(|| 1_000 - u64::from(source) - u64::from(destination));
                pairs.add(&row(source, destination, lost, p99));
            }
        }
        let map = heat_map(&pairs, &pairs.worst_first());
        assert_eq!((map.sources.len(), map.destinations.len()), (MOST_HOSTS, MOST_HOSTS));
        assert!(map.sources.contains(&"h98".into()) && map.destinations.contains(&"h99".into()));
        assert_eq!(map.cells.len() + map.omitted, 10_000);
        assert!(map.cells.iter().any(|cell| cell.lost == 10 && cell.p99_ps.is_none()));
    }
}
