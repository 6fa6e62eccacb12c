//! How long engines take. Not a part of the usual tests: `cargo test --release -p rocelab-subnet -- --ignored scale`

use rocelab_subnet::{Engine, Options, Subnet, route};

use crate::topologies::fat_tree;

#[test]
#[ignore = "takes a minute; prints the seconds of each engine"]
#[expect(clippy::disallowed_types, reason = "the time of the machine is what is asked for")]
fn a_fat_tree_with_11664_hosts_takes_seconds_at_scale() {
    let subnet = Subnet::new(fat_tree(36), 0, 0).expect("subnet");
    assert_eq!((subnet.graph().len(), subnet.end_ports().len()), (1620, 13_284));
    for engine in Engine::ALL.into_iter().filter(|&engine| engine != Engine::File) {
        let start = std::time::Instant::now();
        let routing = route(&subnet, engine, &Options::default());
        let seconds = start.elapsed().as_secs_f64();
        println!("{engine}: {} s, {} lanes, {:?}", seconds, routing.tables.lanes, routing.refused);
        assert_eq!(routing.engine, engine);
    }
}
