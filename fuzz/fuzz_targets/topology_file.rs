//! Any text is a subnet that a scenario can have as its network, or an error with its place in the text. What is read has as many ports
//! as cable ends, each with its number in the file.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rocelab_fabric::topology::{LinkConfig, TopologyError, file};
use rocelab_units::{Bandwidth, Length};

fuzz_target!(|text: &str| {
    let link = LinkConfig::with_cable(Bandwidth::from_gbps(100), Length::from_mm(3_000));
    let format = file::Format::Ibnet;
    let parameters = file::Parameters { path: "net".into(), format, link: Some(link) };
    let topology = match parameters.parse_ibnet(text, Path::new("net")) {
        Ok(topology) => topology,
        Err(TopologyError::File { line, column, problem, fix, .. }) => {
            assert!(line > 0 && column > 0 && !problem.is_empty() && !fix.is_empty());
            return;
        }
        Err(other) => panic!("{other} has no place"),
    };
    let adjacency = topology.adjacency();
    let cabling = topology.cabling.as_ref().expect("it is of a file");
    for node in (0u32..).take(topology.nodes.len()) {
        let ports = adjacency.ports_of(node).len();
        for port in 0..ports {
            let number = cabling.number(node, port).expect("each port has a number");
            assert_eq!(cabling.port(node, number).map(usize::from), Some(port));
        }
        assert_eq!(cabling.number(node, ports), None);
    }
    let _ = topology.check();
});
