//! `[topology.graph]`: nodes with names of their own, parallel links, and hosts that are linked to each other.

use rocelab_sim::Ending;

use rocelab_transport::CompletionStatus;

use crate::support::{Run, run, try_plan};

/// Eight hosts on either side of four parallel links of twice their rate, each of which sends to another side.
fn parallel(version: &str, aggregate: bool, more: &str) -> String {
    let flows: String = (0..8)
        .map(|i| format!("{{ from = \"web-{i}\", to = \"db-{i}\", bytes = \"200KB\" }},\n"))
        .collect();
    format!(
        "[roce]\n{version}\n[congestion_control.none]\n[topology.graph]\nhosts = [\"web-0..web-7\", \"db-0..db-7\"]\n\
         switches = [\"tor-a\", \"tor-b\"]\nlinks = [\n\
         {{ from = [\"web-*\"], to = [\"tor-a\"], link = {{ rate = \"25Gbps\", cable = \"3m\" }} }},\n\
         {{ from = [\"db-*\"], to = [\"tor-b\"], link = {{ rate = \"25Gbps\", cable = \"3m\" }} }},\n\
         {{ from = [\"tor-a\"], to = [\"tor-b\"], link = {{ rate = \"50Gbps\", cable = \"30m\" }}, count = 4, \
         aggregate = {aggregate} }},\n]\n[workload.flows]\nlist = [\n{flows}]\n{more}"
    )
}

/// A run in which all flows complete.
fn complete(text: &str) -> Run {
    let run = run(text);
    assert_eq!(run.ending, Ending::Finished, "{text}");
    assert!(run.ends.iter().all(|end| end.status == CompletionStatus::Success), "{:?}", run.ends);
    run
}

/// How many of the four links from one switch to the other carried frames.
fn used(text: &str) -> usize {
    let run = complete(text);
    let tor = try_plan(text).unwrap().topology.node_by_name("tor-a").unwrap();
    let ports = run.simulation.network().ports();
    ports.filter(|port| port.node == tor && port.number >= 8 && port.counters.frames > 0).count()
}

/// A spanning tree keeps one of parallel links, unless they are one (IEEE 802.1AX); routers use all.
#[test]
fn bridges_use_parallel_links_that_are_aggregated() {
    assert_eq!(used(&parallel("version = 1", false, "")), 1);
    assert!(used(&parallel("version = 1", true, "")) > 2);
    assert!(used(&parallel("version = 2", false, "")) > 2);
}

/// The others go on where one link of an aggregate goes down.
#[test]
fn an_aggregate_outlives_one_of_its_links() {
    for version in ["version = 1", "version = 2"] {
        let failures: String = (8..11)
            .map(|port| {
                format!(
                    "[[failure]]\nkind = \"link-down\"\nport = \"tor-a:{port}\"\nat = \"10us\"\n"
                )
            })
            .collect();
        let text = parallel(&format!("{version}\nack_timeout = 6"), true, &failures);
        complete(&text);
    }
}

#[test]
fn bridges_do_not_learn_behind_aggregates() {
    let learning = "[layer2.learning]\n";
    let refused = try_plan(&parallel("version = 1", true, learning)).unwrap_err().to_string();
    assert!(refused.contains("aggregated links; leave out `aggregate`"), "{refused}");
    try_plan(&parallel("version = 1", false, learning)).unwrap();
    try_plan(&parallel("version = 2", true, learning)).unwrap();
}

/// Two hosts without a switch: frames of 1,024 + 62 + 8 bytes (20 IPv4, 8 UDP, 12 BTH, 4 ICRC, 18 Ethernet, 12 gap, 8
/// preamble), and the last one's way.
#[test]
fn hosts_back_to_back_have_the_link_for_themselves() {
    for (version, headers) in
        [("version = 2", 20 + 8 + 12 + 4 + 18 + 20), ("version = 1", 40 + 12 + 4 + 18 + 4 + 20)]
    {
        let text = format!(
            "[roce]\n{version}\n[congestion_control.none]\n[topology.graph]\nhosts = [\"left\", \"right\"]\n\
             links = [{{ from = [\"left\"], to = [\"right\"], link = {{ rate = \"100Gbps\", delay = \"1us\" }} }}]\n\
             [workload.flows]\nlist = [{{ from = \"left\", to = \"right\", bytes = \"100KiB\" }}]\n"
        );
        let run = complete(&text);
        // A WRITE: a hundred packets, the first with a RETH, then the acknowledgement: its payload is an AETH of 4 bytes.
        // No gap after the last.
        let data = 100 * (1_024 + headers) + 16 - 12;
        let ack = (headers - 12 + 4).max(64 + 8);
        let ps = (data + ack) * 80 + 2 * 1_000_000;
        assert_eq!(run.ends[0].finished.ps(), ps, "{version}");
    }
}
