//! Any text is a workload or topology of SimAI, or an error, never a panic.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rocelab_trace::{Options, simai};

/// Ranks for which graphs are made.
const MOST_RANKS: u32 = 64;

fuzz_target!(|text: &str| {
    match simai::topology::parse(text, Path::new("t.topology")) {
        Ok(topology) => {
            let nodes = topology.nodes;
            assert!(topology.links.iter().all(|link| link.a < nodes && link.b < nodes));
            let _ = topology.to_json();
        }
        Err(error) => assert!(!error.message().is_empty() && !error.help().is_empty()),
    }
    match simai::parse(text, Path::new("w.txt")) {
        Ok(workload) => {
            let gpus = workload.parallelism.map_or(1, |parallelism| parallelism.gpus);
            if gpus <= MOST_RANKS {
                let _ = workload.to_json();
                let _ = simai::convert(&workload, Some(gpus), &Options::default());
            }
        }
        Err(error) => assert!(!error.message().is_empty() && !error.help().is_empty()),
    }
});
