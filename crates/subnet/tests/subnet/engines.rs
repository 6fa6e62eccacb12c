//! Closed forms, fall-backs and credit loops of engines.

use rocelab_subnet::{Engine, NodeKind, Options, Path, Subnet, Topology, credit_loops, route};

use crate::service_levels;
use crate::topologies::{Builder, fat_tree, grid};

fn subnet(topology: Topology) -> Subnet {
    Subnet::new(topology, 0, 0).expect("subnet")
}

/// The d-th host is reached by the port d mod h, and then by floor(d / h) mod h, of the h that lead up.
#[test]
fn fat_trees_have_the_closed_form() {
    let k = 12_u8;
    let half = usize::from(k / 2);
    let subnet = subnet(fat_tree(k));
    let routing = route(&subnet, Engine::FatTree, &Options::default());
    assert_eq!((routing.engine, routing.refused), (Engine::FatTree, None));
    let edge_of = |host: usize| host / half;
    for host in 0..2 * half * half * half {
        let guid = 0x10_0001 + 2 * host as u64;
        let end = subnet.end_ports().iter().find(|one| one.guid.number() == guid).expect("host");
        for edge in (0..2 * half * half).step_by(7) {
            let path = routing.tables.forwarding.path(&subnet, edge, end.lids.base);
            let Path::Delivered(channels) = path else { panic!("{path:?}") };
            // Ports above `half` lead up.
            let way_up = channels.iter().take(channels.len() / 2);
            let up: Vec<usize> = way_up.map(|one| usize::from(one.port) - half).collect();
            let expected = [host % half + 1, host / half % half + 1];
            let levels = match () {
                () if edge == edge_of(host) => 0,
                () if edge / half == edge_of(host) / half => 1,
                () => 2,
            };
            assert_eq!(up, expected[..levels], "host {host} from {edge}");
        }
    }
}

#[test]
fn who_refuses_says_why_and_min_hop_takes_over() {
    let ring = subnet(grid(&[6], true));
    let single = subnet(grid(&[1], false));
    let options = Options::default();
    for (subnet, engine, why) in [
        (&ring, Engine::UpDown, "no switch looks like a root"),
        (&ring, Engine::FatTree, "1 levels of switches"),
        (&single, Engine::FatTree, "fewer than two switches"),
        (&ring, Engine::File, "no file of tables"),
    ] {
        let routing = route(subnet, engine, &options);
        assert_eq!(routing.engine, Engine::MinHop);
        let reason = routing.refused.expect("a reason");
        assert!(reason.contains(why), "{engine}: {reason}");
        assert_eq!(routing.tables, route(subnet, Engine::MinHop, &options).tables);
    }
    for engine in [Engine::Dfsssp, Engine::Lash] {
        let options = Options { lanes: 1, ..Options::default() };
        let routing = route(&ring, engine, &options);
        let reason = routing.refused.expect("a reason");
        assert!(reason.ends_with(" data lanes would be needed, and there is 1"), "{reason}");
    }
}

/// As OpenSM's tables of rings, meshes and hypercubes have them.
#[test]
fn credit_loops_are_where_they_are_known_to_be() {
    let cube = || grid(&[2, 2, 2], false);
    for (topology, engine, lanes, has_loop) in [
        (grid(&[5], true), Engine::MinHop, 1, true),
        (grid(&[5], true), Engine::Dor, 1, true),
        (grid(&[5], true), Engine::Sssp, 1, true),
        (grid(&[5], true), Engine::Dfsssp, 2, false),
        (grid(&[5], true), Engine::Lash, 2, false),
        (grid(&[3, 3], false), Engine::MinHop, 1, true),
        (grid(&[3, 3], false), Engine::Dor, 1, false),
        (grid(&[3, 3], false), Engine::Dfsssp, 2, false),
        (grid(&[3, 3], false), Engine::Lash, 1, false),
        (cube(), Engine::Dor, 1, false),
        (cube(), Engine::Dfsssp, 2, false),
        (cube(), Engine::Lash, 1, false),
    ] {
        let subnet = subnet(topology);
        let tables = route(&subnet, engine, &Options::default()).tables;
        let loops = credit_loops(&subnet, &tables, &service_levels());
        assert_eq!((tables.lanes, !loops.is_empty()), (lanes, has_loop), "{engine} {loops:?}");
    }
}

#[test]
fn a_credit_loop_names_its_switches_and_ports() {
    let subnet = subnet(grid(&[4], true));
    let tables = route(&subnet, Engine::MinHop, &Options::default()).tables;
    let loops = credit_loops(&subnet, &tables, &service_levels());
    assert_eq!(loops.len(), 1);
    assert_eq!(loops[0].named(&subnet), "S0[1] -> S3[1] -> S2[1] -> S1[1] -> S0[1]");
    // On one lane, what LASH divides has a loop again.
    let tables = route(&subnet, Engine::Lash, &Options::default()).tables;
    assert_eq!(credit_loops(&subnet, &tables, &service_levels()), []);
    assert_eq!(credit_loops(&subnet, &tables, &[0; 16]).len(), 1);
}

#[test]
fn what_is_not_reached_has_no_lid() {
    let mut builder = Builder::default();
    builder.switches(2, 4);
    builder.host(0);
    builder.host(1);
    let subnet = subnet(builder.topology);
    assert_eq!(subnet.unreached(), [1, 3]);
    assert_eq!((subnet.end_ports().len(), subnet.last_lid()), (2, 2));
}

#[test]
fn a_channel_adapter_may_run_the_manager() {
    let mut builder = Builder::default();
    builder.switches(1, 4);
    builder.host(0);
    builder.host(0);
    let subnet = Subnet::new(builder.topology, 2, 2).expect("subnet");
    let lids = subnet.end_ports().iter().map(|one| (one.kind, one.lids.base, one.lids.count));
    let mut lids: Vec<_> = lids.map(|(kind, base, count)| (base, count, kind)).collect();
    lids.sort_by_key(|&(base, _, _)| base);
    let adapter = NodeKind::ChannelAdapter;
    assert_eq!(lids, [(4, 4, adapter), (8, 1, NodeKind::Switch), (12, 4, adapter)]);
    assert_eq!(subnet.owner(6), subnet.owner(4));
    assert_eq!((subnet.owner(9), subnet.owner(0), subnet.owner(99)), (None, None, None));
}
