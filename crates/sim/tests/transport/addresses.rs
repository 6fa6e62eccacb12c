//! Addresses of hosts: subnets, tables, GIDs, and frames for a GID that nobody has.

use rocelab_capture::CaptureReader;
use rocelab_sim::gid_tables;
use rocelab_transport::CompletionStatus;
use rocelab_wire::{Frame, Network};

use crate::support::{self, run, try_plan};

fn pair(roce: &str, rest: &str) -> String {
    format!(
        "[roce]\n{roce}\n[capture]\nports = [\"host-0\"]\n[topology.single-switch]\nhosts = 4\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n{rest}\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"4KB\" }}]\n"
    )
}

const GIVEN: &str = "[[subnet]]\nhosts = [\"host-0..host-2\"]\nipv4 = \"192.168.7.0/24\"\n\
                     ipv6 = \"2001:db8:7::/64\"\n[[address]]\nhosts = [\"host-1..host-2\"]\n\
                     mac = \"b8:59:9f:00:00:ff\"\nipv4 = \"192.168.7.200\"\n";

/// Of the first frame that host-0 sends: MAC addresses, and those of the network header.
fn first_frame(name: &str, text: &str) -> [String; 4] {
    let file = support::captured(&format!("addresses-{name}"), text);
    let mut reader = CaptureReader::open(file).expect("a capture");
    let captured = reader.next_frame().expect("a frame").expect("it can be read");
    let frame = Frame::parse(captured.bytes).expect("a whole frame");
    assert!(frame.icrc_ok(), "{frame}");
    let (source, destination) = match frame.roce().expect("an RDMA packet").network {
        Network::V1 { grh, .. } => (grh.sgid.to_string(), grh.dgid.to_string()),
        Network::V2Ipv4 { ip, .. } => (ip.source.to_string(), ip.destination.to_string()),
        Network::V2Ipv6 { ip, .. } => (ip.source.to_string(), ip.destination.to_string()),
    };
    let Frame { ethernet, .. } = frame;
    [ethernet.source.to_string(), ethernet.destination.to_string(), source, destination]
}

#[test]
fn frames_have_the_addresses_that_are_given() {
    let v1 = |gid: &str, ends: [&str; 2]| {
        let name = gid.replace(['"', ' ', '='], "");
        let found = first_frame(&name, &pair(&format!("version = 1\n{gid}"), GIVEN));
        let [source, destination] = ends;
        assert_eq!(found, ["02:00:00:00:00:00", "b8:59:9f:00:00:ff", source, destination], "{gid}");
    };
    v1("gid_index = 0", ["fe80::ff:fe00:0", "fe80::ba59:9fff:fe00:ff"]);
    v1("gid = \"ipv4-mapped\"", ["::ffff:192.168.7.1", "::ffff:192.168.7.200"]);
    v1("gid_index = 2", ["::ffff:192.168.7.1", "::ffff:192.168.7.200"]);
    v1("gid_index = 4", ["2001:db8:7::1", "2001:db8:7::2"]);
    for (name, roce, ends) in [
        ("v2", "", ["192.168.7.1", "192.168.7.200"]),
        ("v2-3", "gid_index = 3", ["192.168.7.1", "192.168.7.200"]),
        ("v2-5", "gid_index = 5", ["2001:db8:7::1", "2001:db8:7::2"]),
    ] {
        let [.., source, destination] = first_frame(name, &pair(roce, GIVEN));
        assert_eq!([source.as_str(), destination.as_str()], ends, "{name}");
    }
}

#[test]
fn the_tables_are_printed() {
    let plan = try_plan(&pair("version = 1", GIVEN)).expect("it can run");
    let text = gid_tables(&plan);
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), 1 + 4 * 6);
    let of_host_2 = &lines[1 + 2 * 6..1 + 3 * 6];
    let mac = "b8:59:9f:00:01:00";
    assert_eq!(of_host_2[0], ["host-2", mac, "0", "fe80::ba59:9fff:fe00:100", "v1", "*"]);
    assert_eq!(of_host_2[3], ["host-2", mac, "3", "::ffff:192.168.7.201", "192.168.7.201", "v2"]);
    assert_eq!(of_host_2[5], ["host-2", mac, "5", "2001:db8:7::3", "2001:db8:7::3", "v2"]);
    // Of no subnet: the addresses of its number.
    assert_eq!(lines[1 + 3 * 6 + 3][3..5], ["::ffff:10.0.0.4", "10.0.0.4"]);
}

#[test]
fn frames_for_a_gid_that_nobody_has_are_lost_where_it_is_looked_up() {
    let rest = "[[address]]\nhosts = [\"host-1\"]\nstale_gid = \"10.0.0.99\"\n";
    for (roce, cause) in [("version = 1", "wrong_gid"), ("", "incomplete_arp")] {
        let run = run(&pair(roce, rest));
        let totals = run.simulation.network().totals(run.simulation.now());
        let causes: Vec<_> = totals.drops.keys().copied().collect();
        assert_eq!(causes, [cause]);
        // 8 tries of 4 packets.
        assert_eq!(totals.drops[cause], 8 * 4, "{roce}");
        assert!(
            run.ends.iter().all(|end| end.status != CompletionStatus::Success),
            "{:?}",
            run.ends
        );
    }
}

/// A subnet gives out no address that a table has given: here 10.1.0.1 and 10.1.0.2.
#[test]
fn a_subnet_skips_addresses_that_hosts_have() {
    let rest = "[[subnet]]\nhosts = [\"host-0..host-3\"]\nipv4 = \"10.1.0.0/24\"\nipv6 = \"fd00:1::/64\"\n\
                [[address]]\nhosts = [\"host-2..host-3\"]\nipv4 = \"10.1.0.1\"\n\
                [[address]]\nhosts = [\"host-1\"]\nipv6 = \"fd00:1::1\"\n";
    let plan = try_plan(&pair("", rest)).unwrap_or_else(|error| panic!("{error}"));
    let v4 = [0, 1, 2, 3].map(|host| plan.roce.addresses.ipv4(host).to_string());
    assert_eq!(v4, ["10.1.0.3", "10.1.0.4", "10.1.0.1", "10.1.0.2"]);
    let v6 = [0, 1, 2, 3].map(|host| plan.roce.addresses.ipv6(host).to_string());
    assert_eq!(v6, ["fd00:1::2", "fd00:1::1", "fd00:1::3", "fd00:1::4"]);
    // There is none left for the last host.
    let few = "[[subnet]]\nhosts = [\"host-0..host-3\"]\nipv4 = \"10.1.0.0/29\"\n\
               [[address]]\nhosts = [\"host-0\"]\nipv4 = \"10.1.0.2\"\n";
    assert!(try_plan(&pair("", few)).is_ok());
    let error = try_plan(&pair("", &few.replace("/29", "/30"))).expect_err("two addresses");
    assert!(error.to_string().contains("no addresses for all of its 4 hosts"), "{error}");
}

#[test]
fn addresses_that_cannot_be_are_refused() {
    let subnet = "[[subnet]]\nhosts = [\"host-0..host-1\"]\n";
    let table = "[[address]]\nhosts = [\"host-2\"]\n";
    for (rest, key, value, fix) in [
        (format!("{subnet}ipv4 = \"10.1.0.1/24\""), "subnet[0].ipv4", "10.1.0.1/24", "10.1.0.0/24"),
        (format!("{subnet}ipv4 = \"10.1.0.0/33\""), "subnet[0].ipv4", "10.1.0.0/33", "10.1.0.0/24"),
        (format!("{subnet}ipv6 = \"fd00::/200\""), "subnet[0].ipv6", "fd00::/200", "fd00:1::/64"),
        (subnet.into(), "subnet[0]", "no prefix", "ipv4"),
        (format!("{subnet}ipv4 = \"10.1.0.0/32\""), "subnet[0].ipv4", "2 hosts", "shorter prefix"),
        (
            format!(
                "{subnet}ipv4 = \"10.1.0.0/16\"\n[[subnet]]\nhosts = [\"host-2\"]\nipv4 = \"10.1.2.0/24\""
            ),
            "subnet[1].ipv4",
            "10.1.2.0/24",
            "no address in common",
        ),
        (
            format!(
                "{subnet}ipv4 = \"10.1.0.0/16\"\n[[subnet]]\nhosts = [\"host-1\"]\nipv4 = \"10.2.0.0/16\""
            ),
            "subnet[1].hosts",
            "host-1",
            "one subnet",
        ),
        // Prefixes that no host has an address of (RFC 6890).
        (
            format!("{subnet}ipv4 = \"224.1.0.0/16\""),
            "subnet[0].ipv4",
            "224.0.0.0/4",
            "10.1.0.0/24",
        ),
        (
            format!("{subnet}ipv4 = \"127.0.0.0/24\""),
            "subnet[0].ipv4",
            "127.0.0.0/8",
            "10.1.0.0/24",
        ),
        (format!("{subnet}ipv4 = \"0.0.0.0/0\""), "subnet[0].ipv4", "0.0.0.0/0", "10.1.0.0/24"),
        (format!("{subnet}ipv4 = \"0.1.0.0/16\""), "subnet[0].ipv4", "0.0.0.0/8", "10.1.0.0/24"),
        (
            format!("{subnet}ipv4 = \"255.255.255.0/24\""),
            "subnet[0].ipv4",
            "240.0.0.0/4",
            "10.1.0.0/24",
        ),
        (format!("{subnet}ipv6 = \"ff02::/64\""), "subnet[0].ipv6", "ff00::/8", "fd00:1::/64"),
        (format!("{subnet}ipv6 = \"::/64\""), "subnet[0].ipv6", "::1/128", "fd00:1::/64"),
        (format!("{subnet}ipv6 = \"fe80::/64\""), "subnet[0].ipv6", "fe80::/10", "fd00:1::/64"),
        // The first table names more hosts, of which one has the stale GID of the second.
        (
            "[[address]]\nhosts = [\"host-0..host-2\"]\nipv4 = \"10.9.0.1\"\n[[address]]\n\
             hosts = [\"host-1..host-1\"]\nstale_gid = \"10.9.0.3\""
                .to_owned(),
            "address[1].stale_gid",
            "10.9.0.3",
            "no host has",
        ),
        // The default addresses of the others are 10.0.0.3 and 10.0.0.4.
        (format!("{subnet}ipv4 = \"10.0.0.0/24\""), "subnet[0].ipv4", "10.0.0.3", "another prefix"),
        (
            format!(
                "{subnet}ipv4 = \"10.1.0.0/24\"\n[[address]]\nhosts = [\"host-1\"]\nipv4 = \"10.2.0.1\""
            ),
            "address[0].ipv4",
            "10.2.0.1",
            "10.1.0.1 to 10.1.0.254",
        ),
        (
            format!(
                "{table}ipv4 = \"10.1.0.1\"\n[[address]]\nhosts = [\"host-1\"]\nipv4 = \"10.1.0.1\""
            ),
            "address[0].ipv4",
            "10.1.0.1",
            "an address of its own",
        ),
        (
            format!("{table}mac = \"02:00:00:00:00:01\""),
            "address[0].mac",
            "02:00:00:00:00:01",
            "host-1",
        ),
        (
            format!("{table}mac = \"01:00:5e:00:00:01\""),
            "address[0].mac",
            "01:00:5e:00:00:01",
            "single",
        ),
        (format!("{table}mac = \"2:0:0:0:0:1\""), "address[0].mac", "2:0:0:0:0:1", "b8:59"),
        (format!("{table}ipv4 = \"224.0.0.1\""), "address[0].ipv4", "224.0.0.1", "10.1.0.7"),
        (format!("{table}ipv6 = \"fe80::1\""), "address[0].ipv6", "fe80::1", "routers forward"),
        (format!("{table}ipv4 = \"x\""), "address[0].ipv4", "x", "10.1.0.7"),
        (table.into(), "address[0]", "no address", "stale_gid"),
        (
            format!("{table}stale_gid = \"10.0.0.1\""),
            "address[0].stale_gid",
            "host-0",
            "no host has",
        ),
        (
            "[[address]]\nhosts = [\"host-9\"]\nmac = \"b8:59:9f:00:00:ff\"".into(),
            "address[0].hosts[0]",
            "host-9",
            "host-0",
        ),
    ] {
        let error = try_plan(&pair("", &rest)).expect_err(&rest).to_string();
        for part in [key, value, fix] {
            assert!(error.contains(part), "{rest}: {part} is missing in {error}");
        }
    }
    for (roce, fix) in [
        ("gid_index = 2", "give 3 or 5"),
        ("gid_index = 1", "give 3 or 5"),
        ("gid_index = 7", "give 3 or 5"),
        ("version = 1\ngid_index = 3", "give 0, 2 or 4"),
        ("ip = \"ipv6\"\ngid_index = 3", "one of the two"),
    ] {
        let error = try_plan(&pair(roce, "")).expect_err(roce).to_string();
        assert!(error.contains("roce.gid_index") && error.contains(fix), "{roce}: {error}");
    }
}
