//! The scheduler and the reader against recorded runs of ASTRA-sim, with its analytical networks made again.

use std::collections::BTreeMap;
use std::path::Path;

use rocelab_trace::{Executor, Options, Row, Rules, Trace, chakra};

use crate::analytical::{Algorithm, Analytical, Dimension, Setup, Shape};
use crate::chakra::load;
use crate::own::{Attr, et, node};
use crate::shared::folder;

/// When nodes began and ended (ps), by rank and id.
type Schedule = BTreeMap<(u32, u64), (u64, u64)>;

fn run(trace: &Trace, setup: Setup) -> Vec<Row> {
    Executor::new(trace, Rules::ASTRA, Analytical::new(setup)).run().expect("it ends")
}

#[test]
fn every_node_of_the_traces_begins_and_ends_when_it_did() {
    let (Some(runs), Some(traces)) = (folder("astra-analytical"), folder("chakra")) else { return };
    let mut rows = csv::Reader::from_path(runs.join("trace-schedules.csv")).unwrap();
    let mut found: BTreeMap<(String, String), Schedule> = BTreeMap::new();
    let mut compared = 0;
    for row in rows.records().map(|row| row.unwrap()) {
        let key = (row[0].to_owned(), row[1].to_owned());
        let schedule = found.entry(key).or_insert_with(|| {
            let trace = load(&traces, &row[1]).unwrap();
            let setup = Setup {
                is_aware: &row[0] == "aware",
                dimensions: vec![Dimension {
                    shape: Shape::Switch,
                    ranks: u32::try_from(trace.ranks().len()).unwrap(),
                    gib_s: 50.0,
                    latency_ns: 500.0,
                }],
                algorithm: Algorithm::Ring,
                splits: 1,
                active: 1,
                endpoint_ns: 10,
                memory_b_per_ns: 1600,
            };
            let id = |row: &Row| trace.ranks()[row.rank as usize].labels()[row.node as usize].id;
            let rows = run(&trace, setup);
            rows.iter().map(|row| ((row.rank, id(row)), (row.begin_ps, row.end_ps))).collect()
        });
        let number = |column: usize| row[column].parse::<u64>().unwrap();
        let key = (u32::try_from(number(2)).unwrap(), number(3));
        assert_eq!(schedule[&key], (number(5) * 1_000, number(6) * 1_000), "{row:?}");
        compared += 1;
    }
    println!("{compared} nodes compared");
    assert_eq!(compared, 2 * (4 + 28 + 16 + 20));
}

/// A trace of one collective operation.
fn one_collective(ranks: u32, kind: &str, comm_size: u64) -> Trace {
    let comm_type = match kind {
        "all_reduce" => 0,
        "all_gather" => 2,
        "all_to_all" => 6,
        "reduce_scatter" => 7,
        other => panic!("{other}"),
    };
    let attrs =
        [("comm_type", Attr::Integer(9, comm_type)), ("comm_size", Attr::Integer(9, comm_size))];
    let bytes = et(&[node(0, kind, 7, &[], &attrs)]);
    let file = |rank| chakra::read_from(&bytes[..], Path::new("t.et"), rank).unwrap();
    let files: Vec<_> = (0..ranks).map(file).collect();
    chakra::convert(&files, &chakra::Groups::default(), &Options::default()).unwrap()
}

fn setup(row: &csv::StringRecord) -> Setup {
    let list = |column: usize| row[column].split(' ').map(str::to_owned).collect::<Vec<_>>();
    let dimensions = list(1).into_iter().zip(list(2)).zip(list(3).into_iter().zip(list(4)));
    let dimensions = dimensions.map(|((shape, ranks), (gib_s, latency))| Dimension {
        shape: match shape.as_str() {
            "Ring" => Shape::Ring,
            "Switch" => Shape::Switch,
            "FullyConnected" => Shape::FullyConnected,
            other => panic!("{other}"),
        },
        ranks: ranks.parse().unwrap(),
        gib_s: gib_s.parse().unwrap(),
        latency_ns: latency.parse().unwrap(),
    });
    Setup {
        is_aware: &row[0] == "aware",
        dimensions: dimensions.collect(),
        algorithm: match &row[7] {
            "ring" => Algorithm::Ring,
            "direct" => Algorithm::Direct,
            "halvingDoubling" => Algorithm::HalvingDoubling,
            "doubleBinaryTree" => Algorithm::Tree,
            other => panic!("{other}"),
        },
        splits: row[8].parse().unwrap(),
        active: row[9].parse().unwrap(),
        endpoint_ns: row[10].parse().unwrap(),
        memory_b_per_ns: row[11].parse().unwrap(),
    }
}

#[test]
fn every_collective_ends_when_it_did() {
    let Some(folder) = folder("astra-analytical") else { return };
    let mut rows = csv::Reader::from_path(folder.join("results.csv")).unwrap();
    let (mut equal, mut aborted, mut different) = (0, 0, Vec::new());
    for row in rows.records().map(|row| row.unwrap()) {
        // The tool itself aborted: there is nothing to compare.
        if row[12].is_empty() {
            aborted += 1;
            continue;
        }
        let setup = setup(&row);
        let ranks = setup.dimensions.iter().map(|one| one.ranks).product();
        let trace = one_collective(ranks, &row[5], row[6].parse().unwrap());
        let ends: Vec<_> = run(&trace, setup).iter().map(|row| row.end_ps / 1_000).collect();
        assert_eq!(ends.len(), ranks as usize);
        let found = (*ends.iter().min().unwrap(), *ends.iter().max().unwrap());
        let expected = (row[12].parse().unwrap(), row[13].parse().unwrap());
        if found == expected {
            equal += 1;
        } else {
            different.push(format!("{row:?}: {found:?}"));
        }
    }
    println!("{equal} runs equal, {aborted} aborted");
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert_eq!((equal, aborted), (356, 1));
}
