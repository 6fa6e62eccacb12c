//! Tables of messages and closed forms that were made without this crate: all of the ground truth, and a few rows that are here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rocelab_collective::{
    Algorithm, Collective, Kind, Operation, Options, Posted, Schedule, execute,
};

use crate::timer::{USUAL, time, time_by_data};

/// The names of the tables.
const TABLES: [(&str, Algorithm, Kind); 13] = [
    ("binomial_broadcast", Algorithm::Binomial, Kind::Broadcast),
    ("bruck_all_gather", Algorithm::Bruck, Kind::AllGather),
    ("bruck_all_to_all", Algorithm::Bruck, Kind::AllToAll),
    ("direct_all_gather", Algorithm::Direct, Kind::AllGather),
    ("direct_reduce_scatter", Algorithm::Direct, Kind::ReduceScatter),
    ("double_binary_tree_allreduce", Algorithm::DoubleBinaryTree, Kind::AllReduce),
    ("halving_doubling_allreduce", Algorithm::HalvingDoubling, Kind::AllReduce),
    ("pairwise_all_to_all", Algorithm::Pairwise, Kind::AllToAll),
    ("recursive_doubling_all_gather", Algorithm::RecursiveDoubling, Kind::AllGather),
    ("recursive_doubling_allreduce", Algorithm::RecursiveDoubling, Kind::AllReduce),
    ("ring_all_gather", Algorithm::Ring, Kind::AllGather),
    ("ring_allreduce", Algorithm::Ring, Kind::AllReduce),
    ("ring_reduce_scatter", Algorithm::Ring, Kind::ReduceScatter),
];

fn shared() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("ROCELAB_SHARED").map_or_else(beside, PathBuf::from);
    let golden = folder.join("golden/ai");
    if golden.is_dir() {
        return Some(golden);
    }
    eprintln!("skipped: there is no {}", golden.display());
    None
}

fn schedule(table: &str, ranks: u32, bytes: u64) -> Box<dyn Schedule> {
    let entry = TABLES.iter().find(|(name, ..)| *name == table);
    let &(_, algorithm, kind) = entry.unwrap_or_else(|| panic!("{table} is no table"));
    let collective = Collective::new(kind, ranks, bytes).expect("it fits");
    algorithm.schedule(&collective, &Options::default()).expect("it fits")
}

/// Blocks of one byte each: the table of a schedule has them by address.
fn messages(table: &str, ranks: u32) -> Vec<String> {
    let halves = table == "double_binary_tree_allreduce";
    let schedule = schedule(table, ranks, if halves { 2 } else { u64::from(ranks) });
    let mut all = Vec::new();
    execute(&*schedule, &mut |posted| all.push(posted.clone())).expect("it is right");
    all.sort_by_key(|one| (one.round, one.from, one.message.peer));
    let pairs = schedule.collective().kind() == Kind::AllToAll;
    let labels = if pairs { labels_of_pairs(&all, ranks) } else { labels_of_blocks(&all) };
    let row = |(one, blocks): (&Posted, String)| {
        let operation = if one.message.operation == Operation::Reduce { "reduce" } else { "copy" };
        // In the tables, a broadcast has blocks too.
        let whole: Vec<_> = (0..ranks).map(|block| block.to_string()).collect();
        let is_whole = schedule.collective().kind() == Kind::Broadcast;
        let blocks = if is_whole { whole.join(" ") } else { blocks };
        format!("{ranks},{},{},{},{operation},{blocks}", one.round, one.from, one.message.peer)
    };
    let mut rows: Vec<_> = all.iter().zip(labels).map(row).collect();
    rows.sort();
    rows
}

fn labels_of_blocks(all: &[Posted]) -> Vec<String> {
    let bytes = |one: &Posted| {
        let each = |piece: &rocelab_collective::Piece| piece.source..piece.source + piece.bytes;
        let numbers: Vec<_> = one.pieces.iter().flat_map(each).map(|at| at.to_string()).collect();
        numbers.join(" ")
    };
    all.iter().map(bytes).collect()
}

/// Blocks on their way are where their slots are: follows them from round to round.
fn labels_of_pairs(all: &[Posted], ranks: u32) -> Vec<String> {
    let mut memory: BTreeMap<(u32, u64), String> = BTreeMap::new();
    for source in 0..ranks {
        for destination in 0..ranks {
            memory.insert((source, destination.into()), format!("{source}>{destination}"));
        }
    }
    let mut labels = Vec::new();
    for round in all.chunk_by(|one, other| one.round == other.round) {
        let before = memory.clone();
        for one in round {
            let mut blocks = Vec::new();
            for piece in &one.pieces {
                let block = before[&(one.from, piece.source)].clone();
                memory.insert((one.message.peer, piece.destination), block.clone());
                blocks.push(block);
            }
            labels.push(blocks.join(" "));
        }
    }
    labels
}

/// Compares all rows of a table, whose first column is its number of ranks.
fn compare_table(table: &str, text: &str) {
    let mut by_ranks: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for row in text.lines().filter(|row| !row.is_empty() && !row.starts_with("n,")) {
        let ranks = row.split(',').next().and_then(|ranks| ranks.parse().ok());
        by_ranks.entry(ranks.expect("ranks")).or_default().push(row.to_owned());
    }
    assert!(!by_ranks.is_empty(), "{table}");
    for (ranks, mut rows) in by_ranks {
        rows.sort();
        assert_eq!(messages(table, ranks), rows, "{table} of {ranks}");
    }
}

/// A row: algorithm, n, bytes, steps, messages, least, most and all bytes sent, ns by max-plus, ns by closed form.
fn compare_closed_form(row: &str) {
    let fields: Vec<_> = row.split(',').collect();
    let number = |at: usize| -> u64 { fields[at].parse().expect("a number") };
    let ranks = u32::try_from(number(1)).expect("few ranks");
    let schedule = schedule(fields[0], ranks, number(2));
    let checked = execute(&*schedule, &mut |_| ()).expect("it is right");
    let sent: Vec<_> = (0..ranks).map(|rank| checked.sent(rank)).collect();
    let found = [
        checked.rounds,
        checked.messages(),
        *sent.iter().min().expect("ranks"),
        *sent.iter().max().expect("ranks"),
        sent.iter().sum(),
    ];
    assert_eq!(found, [3, 4, 5, 6, 7].map(number), "{row}");
    // The table lets a message go as soon as it has its data.
    let ps = time_by_data(&*schedule, USUAL);
    let ns = format!("{}.{:03}", ps / 1000, ps % 1000);
    assert_eq!(ns, fields[8], "{row}");
    assert!(fields[9].is_empty() || fields[9] == ns, "{row}");
    compare_steps(fields[0], ranks, time(&*schedule, USUAL), ps);
}

/// Steps wait for all that came before, which takes longer only where a message carries nothing of it; in trees, ports take
/// messages in the order in which they come, and not in that of rounds.
fn compare_steps(table: &str, ranks: u32, by_steps: u64, by_data: u64) {
    match table {
        "double_binary_tree_allreduce" => assert!(by_steps <= by_data + USUAL.latency),
        "pairwise_all_to_all" if ranks > 2 => assert!(by_steps > by_data),
        "bruck_all_gather" | "bruck_all_to_all" if !ranks.is_power_of_two() => {
            assert!(by_steps >= by_data);
        }
        _ => assert_eq!(by_steps, by_data, "{table} of {ranks}"),
    }
}

/// The rows that are kept here, for those who do not have all of them.
#[test]
fn some_tables_and_closed_forms() {
    let rows = include_str!("../data/schedules.csv");
    let mut tables: BTreeMap<&str, String> = BTreeMap::new();
    for row in rows.lines().skip(1) {
        let (table, row) = row.split_once(',').expect("columns");
        tables.entry(table).or_default().push_str(&format!("{row}\n"));
    }
    assert_eq!(tables.len(), 13);
    tables.into_iter().for_each(|(table, rows)| compare_table(table, &rows));
    let rows = include_str!("../data/closed-forms.csv");
    rows.lines().skip(1).for_each(compare_closed_form);
}

#[test]
fn all_tables_of_the_ground_truth() {
    let Some(golden) = shared() else { return };
    for (table, ..) in TABLES {
        let path = golden.join("schedules").join(format!("{table}.csv"));
        compare_table(table, &std::fs::read_to_string(path).expect("a table"));
    }
}

#[test]
fn all_closed_forms_of_the_ground_truth() {
    let Some(golden) = shared() else { return };
    let text = std::fs::read_to_string(golden.join("closed-forms.csv")).expect("a table");
    let rows: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(rows.len(), 285);
    rows.into_iter().for_each(compare_closed_form);
}
