//! TTL and hop limit in captures: a router takes one off, a layer-2 switch does not.

use rocelab_capture::CaptureReader;
use rocelab_wire::{Frame, Network};

use crate::support::{Run, plan, try_plan};

/// Four hosts, two under each of two leaves; everything from host-0 to host-3 is captured at both
/// and on the spine between them.
const LEAF_SPINE: &str = "[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
    host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
    fabric_link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
    [capture]\nports = [\"host-0\", \"spine-0\", \"host-3\"]\n\
    [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-3\", bytes = \"4KB\" }]\n";

/// The hop limits of the data frames, in order of capture, and how often in a row.
pub(crate) fn hop_limits(text: &str, folder: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut run = Run::new(plan(text));
    run.simulation.start_capture(&folder).unwrap();
    run.finish();
    run.simulation.finish_capture().unwrap();
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).unwrap();
    let mut limits = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        let frame = Frame::parse(frame.bytes).unwrap();
        let roce = frame.roce().unwrap();
        if roce.payload.is_empty() {
            continue;
        }
        limits.push(match roce.network {
            Network::V1 { grh } => grh.hop_limit,
            Network::V2Ipv4 { ip, .. } => ip.time_to_live,
            Network::V2Ipv6 { ip, .. } => ip.hop_limit,
        });
    }
    limits.dedup();
    limits.sort_unstable();
    limits.dedup();
    limits
}

#[test]
fn every_router_takes_one_off() {
    // Sent by host-0, received and sent by the spine, received by host-3.
    let expected = [61, 62, 63, 64];
    for (ip, folder) in [("ipv4", "hops-4"), ("ipv6", "hops-6")] {
        let text = format!("[roce]\nip = \"{ip}\"\n{LEAF_SPINE}");
        assert_eq!(hop_limits(&text, folder), expected, "{ip}");
    }
}

/// While a leaf reboots, nobody knows a way from the senders behind it. What waits in the spine by then has
/// crossed as many routers all the same.
#[test]
fn frames_whose_way_is_gone_show_what_they_crossed() {
    let network = LEAF_SPINE.replace("leaves = 2", "leaves = 3");
    let network = network.split("[workload").next().unwrap_or_default();
    let text = format!(
        "stop = \"200us\"\n{network}[workload.incast]\nsenders = 5\nreceiver = \"host-3\"\nbytes = \"100KB\"\n\
         [[failure]]\nkind = \"switch-reboot\"\nswitch = \"leaf-0\"\nat = \"5us\"\nlasts = \"20us\"\n"
    );
    // What host-2 sends crosses one router, all else three.
    assert_eq!(hop_limits(&text, "hops-reboot"), [61, 62, 63, 64]);
}

#[test]
fn layer_2_switches_leave_it() {
    assert_eq!(hop_limits(&format!("[roce]\nversion = 1\n{LEAF_SPINE}"), "hops-1"), [64]);
}

#[test]
fn a_frame_that_could_not_arrive_is_refused() {
    let with = |limit: u8| format!("[roce]\nhop_limit = {limit}\n{LEAF_SPINE}");
    assert!(try_plan(&with(4)).is_ok());
    let error = try_plan(&with(3)).unwrap_err();
    assert_eq!(error.key(), "roce.hop_limit");
    assert!(error.to_string().contains("cross 3 routers"), "{error}");
    assert!(error.help().is_some_and(|help| help.contains("at least 4")), "{error}");
}
