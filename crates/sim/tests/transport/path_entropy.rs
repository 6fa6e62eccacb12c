//! `roce.path_entropy`: which paths the packets of one queue pair take.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rocelab_capture::CaptureReader;
use rocelab_sim::{Ending, Simulation, UnloadedNetwork};
use rocelab_wire::{Frame, Network, Opcode};

use crate::support::{run, try_plan};

/// Two leaves, four spines, one flow from leaf to leaf.
fn text(roce: &str, verb: &str, more: &str) -> String {
    let layer2 = if roce.contains("version = 1") { "forwarding = \"multipath\"" } else { "" };
    format!(
        "[roce]\n{roce}\n[layer2]\n{layer2}\n[topology.leaf-spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         fabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n[congestion_control.none]\n\
         [workload.flows]\nverb = \"{verb}\"\n\
         list = [{{ from = \"host-0\", to = \"host-3\", bytes = \"200KB\" }}]\n{more}"
    )
}

const SPRAYED: &str = "path_entropy = { round-robin = { numbers = 64 } }";
const VERSIONS: [&str; 3] = ["version = 1", "version = 2", "version = 2\nip = \"ipv6\""];

/// Source port or flow label of the data packets and of all others that a host sent or got, in order.
fn captured(name: &str, text: &str) -> (Vec<u32>, Vec<u32>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("path-entropy-{name}"));
    std::fs::create_dir_all(&folder).expect("the folder takes folders");
    let plan = try_plan(text).unwrap_or_else(|error| panic!("{error}"));
    let mut simulation: Simulation =
        Simulation::new(Arc::new(plan)).expect("a plan becomes a network");
    simulation.start_capture(&folder).expect("the folder takes files");
    assert_eq!(simulation.run_to_end(), Ending::Finished);
    simulation.finish_capture().expect("the folder takes files");
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).expect("a capture");
    let (mut data, mut others) = (Vec::new(), Vec::new());
    while let Some(captured) = reader.next_frame() {
        let captured = captured.expect("a frame");
        let frame = Frame::parse(captured.bytes).expect("a whole frame");
        assert!(frame.icrc_ok(), "{frame}");
        let roce = frame.roce().expect("an RDMA packet");
        let opcode = Opcode::try_from(roce.bth.opcode).expect("a known opcode");
        let number = match &roce.network {
            Network::V1 { grh } => grh.flow_label,
            Network::V2Ipv4 { udp, .. } | Network::V2Ipv6 { udp, .. } => udp.source_port.into(),
        };
        if opcode.is_request() || opcode.is_rdma_read_response() {
            data.push(number);
        } else {
            others.push(number);
        }
    }
    (data, others)
}

#[test]
fn captures_show_each_packet_s_own_number() {
    for (place, version) in VERSIONS.into_iter().enumerate() {
        for verb in ["write", "read"] {
            let capture = "[capture]\nports = [\"host-0\"]\n";
            let roce = format!(
                "{version}\nrecovery = {{ reordering = {{}} }}\n\
                 path_entropy = {{ round-robin = {{ numbers = 5 }} }}"
            );
            let name = format!("{place}-{verb}");
            let (data, others) = captured(&name, &text(&roce, verb, capture));
            let all: BTreeSet<u32> = data.iter().copied().collect();
            assert_eq!(all.len(), 5, "{data:?}");
            let first = data[0];
            if verb == "write" {
                assert!(data.iter().zip(data.iter().skip(5)).all(|(one, next)| one == next));
            }
            assert!(others.iter().all(|&number| number == first));
            let plain = text(version, verb, capture);
            let (before, _) = captured(&format!("{name}-plain"), &plain);
            assert!(before.iter().all(|&number| number == first), "one for all, and the same one");
        }
    }
}

#[test]
fn packets_take_all_paths() {
    for version in VERSIONS {
        for (policy, paths) in [(SPRAYED, 4), ("", 1)] {
            let roce = format!("{version}\nrecovery = {{ reordering = {{}} }}\n{policy}");
            for verb in ["write", "read", "send"] {
                let text = text(&roce, verb, "");
                let plan = try_plan(&text).expect("it runs");
                let run = run(&text);
                assert_eq!(run.ending, Ending::Finished);
                // The leaf's ports 2 to 5 lead up. Acknowledgements are shorter.
                let leaf = if verb == "read" { "leaf-1" } else { "leaf-0" };
                let node = plan.topology.node_by_name(leaf).expect("it is there");
                let ports = run.simulation.network().ports();
                let up = ports.filter(|view| view.node == node && view.number >= 2);
                let used = up.filter(|view| view.counters.bytes > 20_000);
                assert_eq!(used.count(), paths, "{roce} {verb}");
            }
        }
    }
}

/// Links of the fabric slower than a host's: several of them carry more than one.
#[test]
fn no_flow_is_quicker_than_ideal() {
    for verb in ["write", "read", "send"] {
        let text = text(&format!("recovery = {{ reordering = {{}} }}\n{SPRAYED}"), verb, "")
            .replace("fabric_link = { rate = \"100Gbps\"", "fabric_link = { rate = \"40Gbps\"");
        let run = run(&text);
        let plan = try_plan(&text).expect("it runs");
        let end = run.ends[0].finished;
        let ideal = UnloadedNetwork::new(&plan).completion_time_until(&plan.flows[0], end);
        assert!(end.ps() >= ideal.ps(), "{verb}: {end} is before {ideal}");
        // One link alone takes 40 us for the payload.
        assert!(end.ps() < 40_000_000, "{verb}: {end}");
    }
}

#[test]
fn senseless_numbers_are_refused() {
    for numbers in ["0", "1", "257"] {
        let roce = format!("path_entropy = {{ round-robin = {{ numbers = {numbers} }} }}");
        let error = try_plan(&text(&roce, "write", "")).unwrap_err().to_string();
        assert!(error.contains("roce.path_entropy.round-robin.numbers"), "{error}");
        assert!(error.contains("2 to 256"), "{error}");
    }
}
