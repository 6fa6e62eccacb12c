//! Any bytes are a Chakra trace or an error with its place, never a panic; what is one becomes JSON, and graphs or an error.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rocelab_trace::{Algorithm, Options, Place, chakra, check, expand, goal, summary, to_json};

/// Nodes that are expanded.
const MOST_NODES: usize = 200;

fuzz_target!(|input: (&[u8], &str, bool)| {
    let (bytes, groups, serialise_streams) = input;
    let path = Path::new("t.0.et");
    let file = match chakra::read_from(bytes, path, 0) {
        Ok(file) => file,
        Err(error) => {
            assert!(!error.message().is_empty() && !error.help().is_empty());
            assert!(error.place() != Place::File);
            return;
        }
    };
    let _ = file.to_json();
    let groups = chakra::Groups::parse(groups, Path::new("groups.json")).unwrap_or_default();
    let options = Options { serialise_streams, control_dependencies: true, compute_scale: 1.5 };
    let Ok(trace) = chakra::convert(&[file], &groups, &options) else { return };
    let _ = to_json(&trace);
    let _ = check::check(&trace);
    let _ = summary::summary(&trace);
    let _ = summary::lower_bound(&trace, Some("400Gbps".parse().expect("a rate")));
    if trace.ranks()[0].nodes().len() > MOST_NODES {
        return;
    }
    if let Ok(expanded) = expand(&trace, Algorithm::Direct) {
        let schedules = goal::from_trace(&expanded, path).expect("without collectives");
        let text = schedules.to_text();
        goal::parse(text.as_bytes(), path).expect("what is written is read");
    }
});
