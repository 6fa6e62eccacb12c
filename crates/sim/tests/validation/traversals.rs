//! The packets counted on links are those that the flows need.

use crate::support::run;

#[test]
fn data_traversals_are_packets_times_links() {
    const HOSTS_PER_LEAF: u32 = 4;
    for mtu in [1024, 4096] {
        let text = format!(
            "[roce]\npath_mtu = {mtu}\n[topology.leaf-spine]\nleaves = 4\nspines = 2\n\
             hosts_per_leaf = {HOSTS_PER_LEAF}\n\
             host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             fabric_link = {{ rate = \"400Gbps\", cable = \"30m\" }}\n\
             [congestion_control.dcqcn]\n[workload.poisson]\nload = 0.3\n\
             distribution = \"websearch\"\ncount = 60\n"
        );
        let run = run(&text);
        run.assert_complete(&text);
        let network = run.simulation.network();
        assert_eq!(network.nic_counters().retransmitted.packets, 0);
        let (mut data, mut packets) = (0, 0);
        for flow in &run.plan.flows {
            let same_leaf = flow.source / HOSTS_PER_LEAF == flow.destination / HOSTS_PER_LEAF;
            let links = if same_leaf { 2 } else { 4 };
            packets += flow.bytes.div_ceil(mtu);
            data += flow.bytes.div_ceil(mtu) * links;
        }
        let counted = network.traversals();
        println!("MTU {mtu}: {packets} packets, {} data traversals", counted.data);
        assert_eq!(counted.data, data);
        // One acknowledgement a packet, back over as many links.
        assert_eq!(counted.ack, data);
    }
}
