//! Any text is a topology or an error that says what to do, never a panic; what is a topology can be routed, and is read
//! again from its own tables.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rocelab_subnet::{
    Engine, Options, Subnet, credit_loops, dump, ibnetdiscover, lft_file, roots, route,
};

/// Nodes that are routed.
const MOST_NODES: usize = 64;

fuzz_target!(|input: (&str, &str, u8)| {
    let (text, other, lmc) = input;
    let topology = match ibnetdiscover::read(Path::new("net"), text) {
        Ok(topology) => topology,
        Err(error) => {
            assert!(!error.message().is_empty() && !error.help().is_empty());
            return;
        }
    };
    if topology.nodes().len() > MOST_NODES {
        return;
    }
    let Ok(subnet) = Subnet::new(topology, 0, lmc) else { return };
    let roots = roots::read(Path::new("roots"), other, &subnet).ok();
    let tables = lft_file::read(Path::new("lfts"), other, &subnet).ok();
    let options = Options { roots, tables, ..Options::default() };
    let lanes = std::array::from_fn(|level| u8::try_from(level).unwrap_or(0));
    for engine in Engine::ALL {
        let routing = route(&subnet, engine, &options);
        let _ = credit_loops(&subnet, &routing.tables, &lanes);
        let _ = dump::GuidToLid { subnet: &subnet }.to_string();
        let _ = dump::Levels { subnet: &subnet, tables: &routing.tables }.to_string();
        let lfts = dump::Lfts { subnet: &subnet, tables: &routing.tables.forwarding }.to_string();
        if subnet.graph().is_empty() {
            continue;
        }
        // A description of a node may be anything, so its line may be another one.
        if let Ok(again) = lft_file::read(Path::new("lfts"), &lfts, &subnet) {
            assert_eq!(again.row(0).len(), routing.tables.forwarding.row(0).len());
        }
    }
});
