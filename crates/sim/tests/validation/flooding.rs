//! Tables that learn, age and are incomplete: how many copies there are, counted by hand, and that
//! none is lost count of.

use rocelab_capture::{CaptureReader, Direction};
use rocelab_fabric::MacEntries;
use rocelab_sim::Ending;
use rocelab_units::SimTime;
use rocelab_wire::Frame;

use crate::support::{Dice, Run, plan, run, try_plan, write_file};

/// Hosts 0 and 1 at leaf-0, 2 and 3 at leaf-1, spine-0 between them.
const TREE: &str = "[topology.leaf-spine]\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
    host_link = { rate = \"100Gbps\", cable = \"3m\" }\n\
    fabric_link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n";

fn flow(from: u32, to: u32, start_us: u32) -> String {
    format!(
        "{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"100B\", start = \"{start_us}us\" }},\n"
    )
}

/// `settings` on RoCE `version`, and messages of one packet each.
fn scenario(version: u32, settings: &str, flows: &[String]) -> String {
    let flows = flows.concat();
    format!(
        "[roce]\nversion = {version}\nack_timeout = 8\n{TREE}{settings}\n\
         [workload.flows]\nlist = [\n{flows}]\n"
    )
}

/// Floods, the frames that came of them, and the drops by reason.
fn counts(run: &Run) -> (u64, u64, Vec<(&'static str, u64)>) {
    let totals = run.totals();
    (totals.layer2.floods, totals.layer2.flooded_frames, totals.drops.into_iter().collect())
}

const EMPTY: &str = "entry = [{ hosts = [\"host-0..host-3\"], mac = \"gone\" }]";
const LEARNING: &str = "learning = { mac_ageing = \"100us\" }";

#[test]
fn bridges_flood_what_they_have_not_heard_of_and_learn() {
    // To host-2: leaf-0 sends it to host-1 and the spine, the spine to leaf-1, that to both hosts. The
    // ACK finds host-0 in all three tables, and the next message host-2.
    let settings = format!("[layer2]\n{EMPTY}\n{LEARNING}");
    let run = run(&scenario(1, &settings, &[flow(0, 2, 0), flow(0, 2, 50)]));
    run.assert_complete("learning");
    assert_eq!(counts(&run), (3, 5, vec![("foreign_destination", 2)]));
    assert_eq!(run.totals().layer2.mac_entries, MacEntries { learnt: 6, aged: 0 });
}

#[test]
fn bridges_forget_after_the_ageing_time() {
    let settings = format!("[layer2]\n{EMPTY}\n{LEARNING}");
    let run = run(&scenario(1, &settings, &[flow(0, 2, 0), flow(0, 2, 200)]));
    run.assert_complete("ageing");
    // Both are learnt twice by three switches. The second time only host-2 is looked up and found too
    // old: host-0 has been heard of again by then.
    assert_eq!(counts(&run), (6, 10, vec![("foreign_destination", 4)]));
    assert_eq!(run.totals().layer2.mac_entries, MacEntries { learnt: 12, aged: 3 });
}

#[test]
fn frames_of_others_keep_no_entry_alive() {
    // Host-2 is heard of again by its message to host-3, but at leaf-1 alone.
    let settings = format!("[layer2]\n{LEARNING}");
    let run = run(&scenario(1, &settings, &[flow(2, 3, 60), flow(0, 2, 120)]));
    run.assert_complete("ageing");
    // leaf-0 floods to host-1 and the spine, the spine to leaf-1, which knows.
    assert_eq!(counts(&run), (2, 3, vec![("foreign_destination", 1)]));
}

#[test]
fn a_bridge_drops_what_would_go_back() {
    // The link of host-1 has been down: leaf-0 has forgotten it and the spine has not.
    let failure =
        "[[failure]]\nkind = \"link-down\"\nport = \"host-1\"\nat = \"20us\"\nlasts = \"10us\"\n";
    let settings = format!("[layer2]\n{LEARNING}\n{failure}");
    let text = scenario(1, &settings, &[flow(1, 2, 0), flow(0, 1, 50)]);
    let run = run(&format!("convergence = \"1ms\"\n{text}"));
    assert_eq!(run.flow_ends().len(), 2);
    assert_eq!(counts(&run), (1, 2, vec![("filtered", 1)]));
}

#[test]
fn a_new_spanning_tree_empties_all_tables() {
    let failure =
        "[[failure]]\nkind = \"link-down\"\nport = \"host-1\"\nat = \"20us\"\nlasts = \"10us\"\n";
    let settings = format!("[layer2]\n{LEARNING}\n{failure}");
    let run = run(&scenario(1, &settings, &[flow(1, 2, 0), flow(0, 2, 50)]));
    assert_eq!(run.flow_ends().len(), 2);
    assert_eq!(counts(&run), (3, 5, vec![("foreign_destination", 2)]));
}

/// Three bridges in a ring, a host at each. The first is the root, and the link between the others
/// is blocked until that of the root to the second goes down.
#[test]
fn a_link_that_is_up_again_is_blocked_until_the_next_tree() {
    let links = "6 3 6\n3 4 5\n0 3 100Gbps 15ns 0\n1 4 100Gbps 15ns 0\n2 5 100Gbps 15ns 0\n\
                 3 4 100Gbps 15ns 0\n4 5 100Gbps 15ns 0\n5 3 100Gbps 15ns 0\n";
    write_file("flooding-ring.txt", links);
    let text = format!(
        "convergence = \"100us\"\n[roce]\nversion = 1\n[topology.file]\npath = \"flooding-ring.txt\"\n\
         [congestion_control.none]\n[layer2]\n{LEARNING}\n\
         [[failure]]\nkind = \"link-down\"\nport = \"switch-3:1\"\nat = \"50us\"\nlasts = \"300us\"\n\
         [workload.flows]\nlist = [\n{}]\n",
        flow(0, 1, 400)
    );
    let run = run(&text);
    run.assert_complete("a ring");
    // All is forgotten at 150 us, with the tree without that link. It is up at 350 us, and in the tree
    // at 450 us: at 400 us the way goes round, past host-2. The ACK is not flooded.
    assert_eq!(counts(&run), (3, 4, vec![("foreign_destination", 1)]));
}

#[test]
fn flooding_stays_in_the_vlan() {
    let vlans = "vlans = [{ id = 7, hosts = [\"host-0\", \"host-2\"] }]";
    let settings = format!("[layer2]\n{EMPTY}\n{LEARNING}\n{vlans}");
    let run = run(&scenario(1, &settings, &[flow(0, 2, 0)]));
    run.assert_complete("VLAN");
    assert_eq!(counts(&run), (3, 3, vec![]));
}

#[test]
fn tables_that_do_not_learn_flood_for_ever() {
    let settings = "[layer2]\nentry = [{ hosts = [\"host-2\"], mac = \"gone\" }]";
    let run_of = |version| run(&scenario(version, settings, &[flow(0, 2, 0), flow(0, 2, 50)]));
    let bridged = run_of(1);
    bridged.assert_complete("bridges");
    assert_eq!(counts(&bridged), (6, 10, vec![("foreign_destination", 4)]));
    // Only the last router floods, to host-2, to host-3 that does not want it, and not back.
    let routed = run_of(2);
    routed.assert_complete("routers");
    assert_eq!(counts(&routed), (2, 4, vec![("foreign_destination", 2)]));
}

#[test]
fn a_bridge_that_does_not_flood_drops_what_it_does_not_know() {
    // The sender gives up after eight times.
    let gone = "entry = [{ hosts = [\"host-2\"], mac = \"gone\" }]";
    let no_flood = "[switch]\nforwarding_plane = \"bridge-no-flood\"";
    let unknown = run(&scenario(1, &format!("[layer2]\n{gone}\n{no_flood}"), &[flow(0, 2, 0)]));
    assert_eq!(counts(&unknown), (0, 0, vec![("unknown_destination", 8)]));
    assert_eq!(unknown.simulation.network().flow_counts(), (0, 1, 1));
    // A bridge that learns knows host-2 from its first frame on, and its ACKs find host-0, which sent it.
    let settings = format!("[layer2]\n{gone}\n{LEARNING}\n{no_flood}");
    let heard = run(&scenario(1, &settings, &[flow(2, 0, 0), flow(0, 2, 50)]));
    heard.assert_complete("heard of");
    assert_eq!(counts(&heard), (0, 0, vec![]));
    assert_eq!(heard.totals().layer2.mac_entries, MacEntries { learnt: 3, aged: 0 });
    // One such bridge on the way is enough; the others flood.
    let one = format!(
        "[layer2]\n{gone}\n[[switch.override]]\nswitches = [\"spine-0\"]\n\
         forwarding_plane = \"bridge-no-flood\""
    );
    let stopped = run(&scenario(1, &one, &[flow(0, 2, 0)]));
    assert_eq!(
        counts(&stopped),
        (8, 16, vec![("foreign_destination", 8), ("unknown_destination", 8)])
    );
}

#[test]
fn planes_change_nothing_where_every_host_is_known() {
    let digest = |version, plane| {
        let settings = format!("[switch]\nforwarding_plane = \"{plane}\"");
        run(&scenario(version, &settings, &[flow(0, 2, 0), flow(2, 1, 5)]))
            .simulation
            .network()
            .digest()
    };
    assert_eq!(digest(1, "auto"), digest(1, "bridge"));
    assert_eq!(digest(1, "auto"), digest(1, "bridge-no-flood"));
    assert_eq!(digest(2, "auto"), digest(2, "router"));
}

#[test]
fn a_router_floods_until_the_host_is_heard_of() {
    let settings = format!("[layer2]\n{EMPTY}\n{LEARNING}");
    let run = run(&scenario(2, &settings, &[flow(0, 1, 0), flow(0, 1, 50)]));
    run.assert_complete("router");
    // leaf-0 floods the first message to host-1 and the spine. Host-0 is known by it when the ACK comes.
    assert_eq!(counts(&run), (1, 2, vec![("foreign_destination", 1)]));
    assert_eq!(run.totals().layer2.mac_entries, MacEntries { learnt: 2, aged: 0 });
}

#[test]
fn a_router_asks_for_an_address_that_it_does_not_know() {
    let gone = "entry = [{ hosts = [\"host-2\"], mac = \"gone\", arp = \"gone\" }]";
    let settings = format!("[layer2]\n{gone}\n{LEARNING}");
    let alive = run(&scenario(2, &settings, &[flow(0, 2, 10)]));
    alive.assert_complete("it answers");
    assert_eq!(counts(&alive), (0, 0, vec![]));
    // Host-2 does not answer, and the sender gives up after eight times.
    let dead = "[[failure]]\nkind = \"host-down\"\nhost = \"host-2\"\nat = \"0s\"\n";
    let run = run(&scenario(2, &format!("{settings}\n{dead}"), &[flow(0, 2, 10)]));
    assert_eq!(counts(&run), (0, 0, vec![("incomplete_arp", 8)]));
    assert_eq!(run.simulation.network().flow_counts(), (0, 1, 1));
}

#[test]
fn a_host_that_is_down_is_silent_and_comes_back() {
    let failure =
        "[[failure]]\nkind = \"host-down\"\nhost = \"host-2\"\nat = \"20us\"\nlasts = \"3ms\"\n";
    let mut run = Run::new(plan(&scenario(2, failure, &[flow(0, 2, 50), flow(2, 1, 100)])));
    run.run_until(SimTime::from_ps(1_500_000_000));
    assert_eq!(run.port("host-2", 0), (0, 0));
    assert_eq!(run.flow_ends().len(), 0);
    run.finish();
    let (completed, failed, _) = run.simulation.network().flow_counts();
    assert_eq!((completed, failed), (2, 0));
    assert!(run.totals().drops["receiver_stopped"] > 0);
    assert_eq!(run.totals().drops.len(), 1);
}

/// The destination addresses of the data frames that a port received.
fn received(text: &str, name: &str) -> Vec<[u8; 6]> {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let mut run = Run::new(plan(text));
    run.simulation.start_capture(&folder).unwrap();
    run.finish();
    run.simulation.finish_capture().unwrap();
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).unwrap();
    let mut addresses = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let frame = frame.unwrap();
        if frame.direction == Some(Direction::Inbound) {
            addresses.push(Frame::parse(frame.bytes).unwrap().ethernet.destination.0);
        }
    }
    addresses
}

#[test]
fn captures_show_copies_with_the_address_of_their_host() {
    let settings = |ports: &str| {
        format!(
            "[layer2]\nentry = [{{ hosts = [\"host-2\"], mac = \"gone\" }}]\n[capture]\nports = [\"{ports}\"]\n"
        )
    };
    for version in [1, 2] {
        let at = |port: &str| {
            let text = scenario(version, &settings(port), &[flow(0, 2, 0)]);
            received(&text, &format!("flooded-{version}-{port}"))
        };
        let (own, foreign) = (at("host-2"), at("host-3"));
        assert_eq!(own.len(), 1);
        assert_eq!(foreign, own, "version {version}");
    }
}

/// A random tree of switches with hosts at its leaves, links of different rates.
fn random_tree(dice: &mut Dice, file: &str) -> (u64, u64) {
    let (hosts, switches) = (dice.between(3, 6), dice.between(1, 4));
    let mut links = String::new();
    for host in 0..hosts {
        let switch = hosts + dice.between(0, switches - 1);
        links.push_str(&format!("{host} {switch} {}Gbps 100ns 0\n", dice.one(&[25, 100])));
    }
    for switch in 1..switches {
        let above = hosts + dice.between(0, switch - 1);
        links.push_str(&format!("{} {above} 100Gbps 300ns 0\n", hosts + switch));
    }
    let names: Vec<_> = (hosts..hosts + switches).map(|switch| switch.to_string()).collect();
    let count = hosts + switches - 1;
    write_file(
        file,
        &format!("{} {switches} {count}\n{}\n{links}", hosts + switches, names.join(" ")),
    );
    (hosts, switches)
}

fn random_scenario(number: u64) -> String {
    let mut dice = Dice::new("flooding", number);
    let file = format!("flooding-{number}.txt");
    let (hosts, _) = random_tree(&mut dice, &file);
    let version = dice.one(&[1, 2]);
    let mut layer2 = String::from("[layer2]\n");
    if dice.one(&[true, true, false]) {
        let (ageing, timeout) = (dice.one(&[5, 20, 100, 1_000]), dice.one(&[10, 100, 5_000]));
        layer2 += &format!(
            "learning = {{ mac_ageing = \"{ageing}us\", arp_timeout = \"{timeout}us\" }}\n"
        );
    }
    let missing = dice.between(0, hosts - 1);
    layer2 += &format!("entry = [{{ hosts = [\"host-0..host-{missing}\"], mac = \"gone\" }}]\n");
    if version == 2 && dice.one(&[true, false]) {
        layer2 += "drop_incomplete_arp = true\n";
    }
    let mut failures = String::new();
    for _ in 0..dice.between(0, 2) {
        let host = dice.between(0, hosts - 1);
        let (at, lasts) = (dice.between(0, 200), dice.between(1, 300));
        let what = if dice.one(&[true, false]) {
            format!("\"host-down\"\nhost = \"host-{host}\"")
        } else {
            format!("\"link-down\"\nport = \"host-{host}\"")
        };
        failures +=
            &format!("[[failure]]\nkind = {what}\nat = \"{at}us\"\nlasts = \"{lasts}us\"\n");
    }
    let mut flows = String::new();
    for _ in 0..dice.between(2, 8) {
        let from = dice.between(0, hosts - 1);
        let to = (from + dice.between(1, hosts - 1)) % hosts;
        flows += &format!(
            "{{ from = \"host-{from}\", to = \"host-{to}\", bytes = \"{}B\", start = \"{}us\" }},\n",
            dice.between(1, 200_000),
            dice.between(0, 200)
        );
    }
    format!(
        "seed = {number}\nstop = \"5ms\"\nconvergence = \"{}us\"\n[roce]\nversion = {version}\nack_timeout = 6\n\
         path_mtu = {}\n{layer2}{failures}[topology.file]\npath = \"{file}\"\n[congestion_control.none]\n\
         [switch]\nbuffer = \"{}KB\"\nlossless = {}\nforwarding = \"{}\"\n[workload.flows]\nlist = [\n{flows}]\n",
        dice.one(&[0, 30]),
        dice.one(&[256, 1024]),
        dice.one(&[300, 2_000]),
        dice.one(&["[3]", "[]"]),
        dice.one(&["store-and-forward", "cut-through"]),
    )
}

#[test]
fn no_copy_is_lost_count_of_in_random_networks() {
    let (mut floods, mut copies, mut completed) = (0, 0, 0);
    for number in 0..150 {
        let text = random_scenario(number);
        let plan = try_plan(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut run = Run::new(plan);
        while run.step(200) {} // Each step is followed by an audit.
        let totals = run.totals();
        let live = u64::from(run.simulation.network().frames_in_network());
        let ended = totals.frames_delivered + totals.frames_dropped + live;
        assert_eq!(totals.frames_created, ended, "{text}");
        assert!(totals.drops.values().sum::<u64>() == totals.frames_dropped, "{text}");
        assert!(matches!(run.ending, Some(Ending::Finished | Ending::Stopped)), "{text}");
        // What was sent is what hosts and switches sent by themselves, and the copies beyond the first.
        floods += totals.layer2.floods;
        copies += totals.layer2.flooded_frames;
        completed += run.simulation.network().flow_counts().0;
    }
    println!("{floods} floods, {copies} frames of them, {completed} flows completed");
    assert!(
        floods > 1_000 && copies > 2 * floods && completed > 300,
        "{floods} {copies} {completed}"
    );
}

#[test]
fn a_host_that_is_only_silent_is_found_under_the_cure() {
    let settings = "[layer2]\ndrop_incomplete_arp = true\n\
                    learning = { mac_ageing = \"100us\", arp_timeout = \"10ms\" }";
    let run = run(&scenario(2, settings, &[flow(0, 2, 0), flow(0, 2, 500)]));
    run.assert_complete("a silent host");
    assert_eq!(counts(&run), (0, 0, Vec::new()));
}

/// With two spines one of them is a leaf of the spanning tree: what is flooded ends there.
#[test]
fn copies_at_a_leaf_of_the_tree_are_missed_by_nobody() {
    let text = scenario(
        1,
        "[layer2]\nentry = [{ hosts = [\"host-2\"], mac = \"gone\" }]",
        &[flow(0, 2, 0)],
    );
    let run = run(&text.replace("spines = 1", "spines = 2"));
    run.assert_complete("two spines");
    // By leaf-0, the spine in the tree, and leaf-1; to host-1, the other spine, and host-3.
    assert_eq!(counts(&run), (3, 6, vec![("filtered", 1), ("foreign_destination", 2)]));
}
