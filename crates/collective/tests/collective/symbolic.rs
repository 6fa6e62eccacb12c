//! Every kind by every algorithm, executed with sets of contributions.

use std::collections::BTreeSet;

use rocelab_collective::{Algorithm, Checked, Collective, Kind, Matrix, Options, check};

const RANKS: [u32; 19] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 32, 64];

/// Bytes from rank `source` to `destination` of an all-to-all-v: uneven, and sometimes none.
fn entry(source: u32, destination: u32) -> u64 {
    u64::from((source * 7 + destination * 13) % 11)
}

fn collectives(kind: Kind, ranks: u32) -> Vec<Collective> {
    match kind {
        Kind::Barrier => vec![Collective::new(kind, ranks, 0).expect("fits")],
        Kind::AllToAllV => {
            let row = |source| (0..ranks).map(|one| entry(source, one)).collect();
            let rows: Vec<Vec<_>> = (0..ranks).map(row).collect();
            let matrix = Matrix::new(&rows).expect("it is square");
            vec![Collective::all_to_all_v(matrix).expect("fits")]
        }
        _ => {
            let root = ranks * 2 / 3;
            let plain = Collective::new(kind, ranks, 1003).expect("fits");
            let words = Collective::new(kind, ranks, 4 * 77).expect("fits");
            let words = words.with_element(4).expect("whole elements");
            // Fewer bytes than ranks.
            let few = Collective::new(kind, ranks, 3).expect("fits");
            [plain, words, few].map(|one| one.with_root(root).expect("a rank")).to_vec()
        }
    }
}

/// Ranks of a server: several, where they matter.
fn servers(algorithm: Algorithm, ranks: u32) -> Vec<u32> {
    let matters = matches!(
        algorithm,
        Algorithm::DoubleBinaryTree
            | Algorithm::NcclSendReceive
            | Algorithm::Pxn
            | Algorithm::Hierarchical
            | Algorithm::Nvls
    );
    if !matters {
        return vec![1];
    }
    let sizes = BTreeSet::from([1, 2, 3, 8, ranks]);
    sizes.into_iter().filter(|local| ranks.is_multiple_of(*local)).collect()
}

/// What every schedule of a kind sends at least, in all.
fn least_bytes(collective: &Collective) -> u64 {
    let (ranks, bytes) = (u64::from(collective.ranks()), collective.bytes());
    match collective.kind() {
        Kind::AllReduce => 2 * (ranks - 1) * bytes,
        Kind::AllGather | Kind::ReduceScatter | Kind::Broadcast | Kind::Reduce => {
            (ranks - 1) * bytes
        }
        _ => 0,
    }
}

fn check_one(algorithm: Algorithm, collective: &Collective, options: &Options) -> Option<Checked> {
    let context = || format!("{algorithm:?} {collective:?} {options:?}");
    let schedule = match algorithm.schedule(collective, options) {
        Ok(schedule) => schedule,
        Err(error) => {
            assert!(!collective.ranks().is_power_of_two(), "{}: {error}", context());
            return None;
        }
    };
    let checked = check(&*schedule).unwrap_or_else(|fault| panic!("{}: {fault}", context()));
    let bytes: u64 = checked.pairs.values().map(|(_, bytes)| bytes).sum();
    if algorithm != Algorithm::Nvls {
        assert!(bytes >= least_bytes(collective), "{}", context());
    }
    Some(checked)
}

#[test]
fn every_kind_by_every_algorithm_is_complete_and_adds_nothing_twice() {
    let mut runs = 0;
    for &algorithm in Algorithm::ALL {
        for &kind in algorithm.kinds() {
            for ranks in RANKS {
                for collective in collectives(kind, ranks) {
                    for ranks_per_server in servers(algorithm, ranks) {
                        let options = Options { ranks_per_server, ..Options::default() };
                        runs += u32::from(check_one(algorithm, &collective, &options).is_some());
                    }
                }
            }
        }
    }
    assert!(runs > 1_800, "{runs}");
}

#[test]
fn channels_chunks_and_slices_carry_the_same_bytes() {
    for &algorithm in Algorithm::ALL {
        for &kind in algorithm.kinds() {
            for ranks in [1, 2, 3, 4, 6, 8] {
                for collective in collectives(kind, ranks) {
                    check_cuts(algorithm, &collective);
                }
            }
        }
    }
}

fn check_cuts(algorithm: Algorithm, collective: &Collective) {
    let sent = |checked: &Checked| -> u64 { checked.pairs.values().map(|(_, bytes)| bytes).sum() };
    for ranks_per_server in servers(algorithm, collective.ranks()) {
        let plain = Options { ranks_per_server, ..Options::default() };
        let Some(whole) = check_one(algorithm, collective, &plain) else { return };
        for channels in 1..=4 {
            for (chunk, slices) in [(None, 3), (Some(16), 1), (Some(64), 2)] {
                let cut = Options { channels, chunk, slices, ..plain.clone() };
                let cut = check_one(algorithm, collective, &cut).expect("as the plain one");
                assert_eq!(sent(&cut), sent(&whole), "{algorithm:?} {collective:?}");
                let pairs = |one: &Checked| one.pairs.keys().copied().collect::<Vec<_>>();
                // Trees of other channels begin at other ranks of a server.
                if ranks_per_server == 1 {
                    assert_eq!(pairs(&cut), pairs(&whole), "{algorithm:?} {collective:?}");
                }
            }
        }
    }
}
