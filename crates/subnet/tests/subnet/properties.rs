//! What engines promise, on random topologies.

use std::path::Path as FilePath;

use proptest::collection::vec;
use proptest::prelude::*;
use rocelab_subnet::{
    Engine, NodeKind, Options, Path, Routing, Subnet, Topology, credit_loops, dump, ibnetdiscover,
    lft_file, roots, route,
};

use crate::service_levels;
use crate::topologies::connected;

fn topologies() -> impl Strategy<Value = Topology> {
    let parents = vec(any::<usize>(), 1..14);
    let cables = vec(any::<(usize, usize)>(), 0..16);
    let hosts = vec(any::<usize>(), 2..24);
    (parents, cables, hosts)
        .prop_map(|(parents, cables, hosts)| connected(&parents, &cables, &hosts))
}

/// Topologies without cables between switches that are equally far from the first one.
fn levelled() -> impl Strategy<Value = Topology> {
    let parents = vec(any::<usize>(), 1..14);
    let cables = vec(any::<(usize, usize)>(), 0..16);
    let hosts = vec(any::<usize>(), 2..24);
    (parents, cables, hosts).prop_map(|(parents, mut cables, hosts)| {
        let mut depths = vec![0_usize];
        for (child, parent) in parents.iter().enumerate() {
            depths.push(depths[parent % (child + 1)] + 1);
        }
        let depth = |one: usize| depths[one % depths.len()];
        cables.retain(|&(one, other)| depth(one).abs_diff(depth(other)) % 2 == 1);
        connected(&parents, &cables, &hosts)
    })
}

fn routed(subnet: &Subnet, engine: Engine) -> Routing {
    // All engines but `file` find what they need, or min-hop takes their place.
    route(subnet, engine, &Options::default())
}

/// Paths from each switch with hosts to each LID of hosts.
fn paths<'s>(subnet: &'s Subnet, routing: &'s Routing) -> impl Iterator<Item = Path> + 's {
    let graph = subnet.graph();
    let sources = (0..graph.len()).filter(|&switch| graph.attached(switch).next().is_some());
    let hosts = subnet.end_ports().iter().filter(|one| one.kind != NodeKind::Switch);
    let lids: Vec<u16> = hosts.flat_map(|one| one.lids.iter()).collect();
    let pairs =
        sources.flat_map(move |source| lids.clone().into_iter().map(move |lid| (source, lid)));
    pairs.map(|(source, lid)| routing.tables.forwarding.path(subnet, source, lid))
}

/// Roots and ranks of up/down: the first switch is the root.
fn ranks(subnet: &Subnet) -> Vec<u32> {
    let graph = subnet.graph();
    let mut ranks = vec![u32::MAX; graph.len()];
    ranks[0] = 0;
    for rank in 0..u32::try_from(graph.len()).expect("few") {
        for switch in 0..graph.len() {
            if ranks[switch] == rank {
                for (_, neighbour, _) in graph.links(switch) {
                    ranks[neighbour] = ranks[neighbour].min(rank + 1);
                }
            }
        }
    }
    ranks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_engine_reaches_every_host_without_a_loop(topology in topologies(), lmc in 0_u8..3) {
        let subnet = Subnet::new(topology, 0, lmc).expect("subnet");
        for engine in Engine::ALL {
            let routing = routed(&subnet, engine);
            for path in paths(&subnet, &routing) {
                // Down/up has no legal way between some switches.
                let may_drop = engine == Engine::DownUp && matches!(path, Path::Dropped(_));
                prop_assert!(may_drop || matches!(path, Path::Delivered(_)), "{engine} {path:?}");
            }
            prop_assert_eq!(&routing, &routed(&subnet, engine));
        }
    }

    /// Where switches of one rank have cables, the search of OpenSM finds ways that go up again.
    #[test]
    fn up_down_goes_up_and_then_down(topology in levelled()) {
        let subnet = Subnet::new(topology, 0, 0).expect("subnet");
        let options = Options { roots: Some(vec![0]), ..Options::default() };
        let routing = route(&subnet, Engine::UpDown, &options);
        prop_assert_eq!(routing.engine, Engine::UpDown);
        let ranks = ranks(&subnet);
        for path in paths(&subnet, &routing) {
            let Path::Delivered(channels) = path else { panic!("{path:?}") };
            let is_up = channels.iter().map(|channel| {
                let leads = subnet.graph().links(channel.switch);
                let next = leads.filter(|&(port, _, _)| port == channel.port).map(|link| link.1);
                next.last().map(|next| ranks[next] > ranks[channel.switch])
            });
            let is_down: Vec<_> = is_up.map(|down| down == Some(true)).collect();
            prop_assert!(is_down.is_sorted(), "{is_down:?}");
        }
        prop_assert_eq!(credit_loops(&subnet, &routing.tables, &service_levels()), []);
    }

    #[test]
    fn lanes_are_free_of_credit_loops(topology in topologies(), lmc in 0_u8..2) {
        let subnet = Subnet::new(topology, 0, lmc).expect("subnet");
        for engine in [Engine::Dfsssp, Engine::Lash] {
            let options = Options { lanes: 15, ..Options::default() };
            let routing = route(&subnet, engine, &options);
            prop_assert_eq!(routing.engine, engine);
            prop_assert_eq!(credit_loops(&subnet, &routing.tables, &service_levels()), []);
            let ends = 0..subnet.end_ports().len();
            let levels = ends.flat_map(|source| {
                let level = |lid| routing.tables.service_level(&subnet, source, lid);
                (1..=subnet.last_lid()).map(level).collect::<Vec<_>>()
            });
            prop_assert!(levels.max().expect("LIDs") < routing.tables.lanes);
        }
    }
}

/// Pieces of files, right and wrong ones.
const PIECES: [&str; 28] = [
    "\nSwitch 8 \"S\"",
    "\nSwitch 8 \"T\"",
    "\nSwitch",
    "\nCa 2 \"H\"",
    "\nHca 1 \"G\"",
    "\nRt 2 \"R\"",
    "\n[1] \"S\"[1]",
    "\n[2] \"S\"[2]",
    "\n[1] \"T\"[1]",
    "\n[2] \"T\"[3]",
    "\n[3] \"H\"[1]",
    "\n[4] \"H\"[2]",
    "\n[5] \"G\"[1]",
    "\n[1](9) \"S\"[6]",
    "\n[0]",
    "\n[255]",
    "[ext 1]",
    "\nswitchguid=0x1",
    "\ncaguid=0x2(3)",
    "\nsysimgguid=0x0",
    "\ncaguid=ffffffffffffffff",
    "(7)",
    "#",
    "\"",
    "\u{e4}",
    " w=4",
    "\n0x200000",
    "\nUnicast lids guid 0x200000\n0x0001 000",
];

fn texts() -> impl Strategy<Value = String> {
    vec(proptest::sample::select(&PIECES[..]), 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_a_topology_or_an_error(text in texts(), other in texts(), lmc in 0_u8..9) {
        let topology = match ibnetdiscover::read(FilePath::new("net"), &text) {
            Ok(topology) => topology,
            Err(error) => {
                prop_assert!(!error.message().is_empty() && !error.help().is_empty());
                return Ok(());
            }
        };
        let Ok(subnet) = Subnet::new(topology, 0, lmc) else { return Ok(()) };
        let roots = roots::read(FilePath::new("roots"), &other, &subnet).ok();
        let tables = lft_file::read(FilePath::new("lfts"), &other, &subnet).ok();
        for engine in Engine::ALL {
            let options = Options { roots: roots.clone(), tables: tables.clone(), lanes: 1, levels: None };
            let tables = route(&subnet, engine, &options).tables;
            credit_loops(&subnet, &tables, &service_levels());
            let lids = dump::GuidToLid { subnet: &subnet }.to_string();
            prop_assert_eq!(lids.lines().count(), 2 * subnet.end_ports().len());
        }
    }
}
