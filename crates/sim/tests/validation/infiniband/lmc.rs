//! Several LIDs for each host (LMC): which paths connections take, and that switches follow their tables for each LID.

use std::collections::BTreeSet;

use rocelab_sim::{Ending, Plan};

use crate::support::{plan, run, try_plan};

/// Two leaves below four spines, and flows from hosts of the first leaf to those of the second.
fn two_leaves(infiniband: &str, flows: &[(u32, u32)]) -> String {
    let flows: Vec<_> = flows
        .iter()
        .map(|(from, to)| {
            format!("{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"200KB\" }}")
        })
        .collect();
    format!(
        "[infiniband]\n{infiniband}[topology.leaf-spine]\nleaves = 2\nspines = 4\nhosts_per_leaf = 4\nhost_link = {{ rate = \
         \"100Gbps\", cable = \"3m\" }}\nfabric_link = {{ rate = \"100Gbps\", cable = \"30m\" }}\n[workload.flows]\nlist = [{}]\n",
        flows.join(", ")
    )
}

/// The path bits of all flows.
fn path_bits(plan: &Plan) -> Vec<u32> {
    let mask = (1 << plan.roce.lmc) - 1;
    plan.flows.iter().map(|flow| flow.entropy & mask).collect()
}

/// The bytes that the first leaf sent to each spine.
fn sent_to_spines(text: &str) -> Vec<u64> {
    let run = run(text);
    assert_eq!(run.ending, Some(Ending::Finished));
    assert_eq!(run.totals().frames_dropped, 0);
    let leaf = run.plan.topology.node_by_name("leaf-0").expect("it is there");
    let ports = run.simulation.network().ports();
    let uplinks = ports.filter(|port| port.node == leaf && port.number >= 4);
    uplinks.map(|port| port.counters.bytes).collect()
}

#[test]
fn connections_between_two_hosts_use_as_many_spines_as_there_are_lids() {
    let flows = [(0, 4); 4];
    for (engine, lmc, expected) in
        [("minhop", 0, 1), ("minhop", 1, 2), ("minhop", 2, 4), ("updn", 2, 4), ("sssp", 2, 4)]
    {
        let head = format!("lmc = {lmc}\n[infiniband.sm]\nengine = \"{engine}\"\n");
        let sent = sent_to_spines(&two_leaves(&head, &flows));
        let used = sent.iter().filter(|&&bytes| bytes > 100_000).count();
        assert_eq!(used, expected, "{engine}, LMC {lmc}: {sent:?}");
    }
}

/// All that goes to the base LID of one host takes one spine, whoever sends it.
#[test]
fn flows_of_several_hosts_to_one_take_several_spines_by_random_path_bits() {
    let flows = [(0, 4), (1, 4), (2, 4), (3, 4)];
    let spines = |head: &str| {
        let sent = sent_to_spines(&two_leaves(head, &flows));
        sent.iter().filter(|&&bytes| bytes > 100_000).count()
    };
    assert_eq!(spines("lmc = 2\n"), 1, "the first connection of each pair has path bits 0");
    assert!(spines("lmc = 2\npath_bits = \"random\"\n") > 1);
}

#[test]
fn path_bits_are_given_in_turn_by_pair_or_from_a_list_or_at_random() {
    let flows = [(0, 4), (0, 4), (0, 5), (0, 4), (1, 4), (0, 4), (0, 4)];
    let bits = |head: &str| path_bits(&plan(&two_leaves(head, &flows)));
    assert_eq!(bits("lmc = 2\n"), [0, 1, 0, 2, 0, 3, 0]);
    assert_eq!(bits("lmc = 1\n"), [0, 1, 0, 0, 0, 1, 0]);
    assert_eq!(bits("lmc = 2\npath_bits = { list = [3, 1] }\n"), [3, 1, 3, 3, 3, 1, 3]);
    assert_eq!(bits(""), [0; 7]);
    let random = bits("lmc = 7\npath_bits = \"random\"\n");
    assert!(random.iter().collect::<BTreeSet<_>>().len() > 4, "{random:?}");
}

/// Every switch has for each LID of each host the port of its table, and what may be taken at all is the union of them.
#[test]
fn switches_forward_each_lid_by_its_entry() {
    for engine in ["minhop", "updn", "dor", "sssp", "dfsssp", "lash", "ftree"] {
        let head = format!("lmc = 3\n[infiniband.sm]\nengine = \"{engine}\"\n");
        let plan = plan(&two_leaves(&head, &[(0, 4)]));
        let routes = plan.routes(&plan.active_links).expect("they exist");
        let routed = &plan.infiniband.as_ref().expect("it is of InfiniBand").routed;
        let subnet = &routed.subnet;
        let mut compared = 0;
        for (switch, &node) in subnet.switches().iter().enumerate() {
            let node = u32::try_from(node).expect("a small number");
            for host in plan.topology.hosts() {
                let base = routed.lid(host).expect("it has one");
                let mut union = BTreeSet::new();
                for bits in 0..8_u16 {
                    let tables = &routed.routing.tables.forwarding;
                    let port = tables.port(switch, base + bits).map(|port| u16::from(port) - 1);
                    let hash = 0xabcd_ef00 | u32::from(bits);
                    assert_eq!(routes.egress(node, host, hash), port, "{engine} {node} {host}");
                    union.extend(port);
                    compared += u32::from(port.is_some());
                }
                let all: Vec<_> = union.into_iter().collect();
                assert_eq!(routes.next_hops(node, host), all, "{engine} {node} {host}");
            }
        }
        assert!(compared > 8 * 8 * 2, "{engine}: {compared}");
    }
}

#[test]
fn what_is_wrong_with_lids_is_told_with_its_place() {
    for (head, key, fix) in [
        ("lmc = 8\n", "infiniband.lmc", "give 0 to 7"),
        ("path_bits = \"random\"\n", "infiniband.path_bits", "give an `infiniband.lmc` above 0"),
        ("lmc = 1\npath_bits = { list = [0, 2] }\n", "infiniband.path_bits.list[1]", "0 to 1"),
        ("lmc = 1\npath_bits = { list = [] }\n", "infiniband.path_bits.list", "0 to 1"),
    ] {
        let error = try_plan(&two_leaves(head, &[(0, 4)])).err();
        let error = error.unwrap_or_else(|| panic!("{head} is refused")).to_string();
        assert!(error.contains(key) && error.contains(fix), "{error}");
    }
    // 400 hosts of 128 LIDs each need more than there are.
    let text = two_leaves("lmc = 7\n", &[(0, 4)]).replace("per_leaf = 4", "per_leaf = 200");
    let error = try_plan(&text).expect_err("LIDs are too few").to_string();
    assert!(error.contains("unicast LIDs") && error.contains("LMC"), "{error}");
    let head = "lmc = 1\ndata_vls = 4\n[infiniband.sm]\nengine = \"dfsssp\"\n";
    let text = two_leaves(head, &[(0, 4)]) + "[roce.queue_pair]\nalternate_path = {}\n";
    let error = try_plan(&text).expect_err("one service level for two LIDs").to_string();
    assert!(error.contains("infiniband.lmc") && error.contains("alternate path"), "{error}");
}
