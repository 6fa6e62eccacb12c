//! Multicast groups, and what is sent to them.

use super::{Expected, check};

fn text(group: &str, workload: &str, more: &str) -> String {
    format!(
        "roce.service = \"ud\"\n[topology.single-switch]\nhosts = 4\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [[multicast_group]]\n{group}\n[workload.multicast]\n{workload}\n{more}"
    )
}

const GROUP: &str = "name = \"a\"\nmembers = [\"host-1\", \"host-2\"]";
const WORKLOAD: &str = "from = \"host-0\"\ngroup = \"a\"\nbytes = \"4KB\"";

#[test]
fn what_is_right_is_accepted() {
    super::plan(&text(GROUP, WORKLOAD, ""), &[]).expect("it is right");
    for (version, address) in
        [("1", "224.0.0.9"), ("1", "ff02::9"), ("2", "239.1.2.3"), ("2", "224.0.1.0")]
    {
        let group = format!("{GROUP}\naddress = \"{address}\"");
        super::plan(&text(&group, WORKLOAD, ""), &[("roce.version", version)]).expect(address);
    }
    let group = format!("{GROUP}\naddress = \"ff0e::1:2\"");
    super::plan(&text(&group, WORKLOAD, ""), &[("roce.ip", "\"ipv6\"")]).expect("global scope");
}

#[test]
fn groups() {
    for (group, line, key, value, message, help) in [
        ("name = \"\"\nmembers = [\"host-1\"]", 6, "name", "", "without a name", "give it one"),
        ("name = \"a\"\nmembers = []", 7, "members", "[]", "without members", "host-0..host-3"),
        (
            "name = \"a\"\nmembers = [\"host-9\"]",
            7,
            "members[0]",
            "host-9",
            "there is no",
            "host-0",
        ),
        (
            "name = \"a\"\nmembers = [\"host-1..host-2\", \"host-2\"]",
            7,
            "members[1]",
            "host-2",
            "named twice",
            "once",
        ),
        (
            "name = \"a\"\nmembers = [\"host-1\"]\naddress = \"10.0.0.1\"",
            8,
            "address",
            "10.0.0.1",
            "of one host",
            "239.255.0.1",
        ),
        (
            "name = \"a\"\nmembers = [\"host-1\"]\naddress = \"224.0.0.5\"",
            8,
            "address",
            "224.0.0.5",
            "no router forwards",
            "224.0.1.0",
        ),
        (
            "name = \"a\"\nmembers = [\"host-1\"]\naddress = \"ff15::1\"",
            8,
            "address",
            "ff15::1",
            "not an IPv4 address",
            "239.255.0.1",
        ),
    ] {
        let key = format!("multicast_group[0].{key}");
        let value = if value == "[]" { value.to_owned() } else { format!("\"{value}\"") };
        let place = format!("s.toml:{line}");
        let text = text(group, WORKLOAD, "");
        check(&text, Expected { place: &place, key: &key, value: &value, message, help });
    }
}

#[test]
fn two_groups_are_different() {
    let again = |more: &str| format!("[[multicast_group]]\n{more}");
    let same = again("name = \"a\"\nmembers = [\"host-3\"]");
    check(
        &text(GROUP, WORKLOAD, &same),
        Expected {
            place: "s.toml:13",
            key: "multicast_group[1].name",
            value: "\"a\"",
            message: "two groups `a`",
            help: "a name of its own",
        },
    );
    let same = again("name = \"b\"\naddress = \"239.255.0.1\"\nmembers = [\"host-3\"]");
    check(
        &text(GROUP, WORKLOAD, &same),
        Expected {
            place: "s.toml:14",
            key: "multicast_group[1].address",
            value: "\"239.255.0.1\"",
            message: "`a` has this address",
            help: "of its own",
        },
    );
}

#[test]
fn what_is_sent() {
    for (workload, line, key, value, message, help) in [
        (
            "from = \"host-0\"\ngroup = \"b\"\nbytes = \"4KB\"",
            10,
            "group",
            "b",
            "no multicast group `b`",
            "a",
        ),
        (
            "from = \"host-7\"\ngroup = \"a\"\nbytes = \"4KB\"",
            9,
            "from",
            "host-7",
            "no host",
            "host-0",
        ),
        (
            "from = \"host-0\"\ngroup = \"a\"\nbytes = \"0B\"",
            11,
            "bytes",
            "0B",
            "sends nothing",
            "1B",
        ),
        (
            "from = \"host-0\"\ngroup = \"a\"\nbytes = \"4KB\"\nmessage = \"2KB\"",
            12,
            "message",
            "2KB",
            "at most the path MTU",
            "1024B",
        ),
        (
            "from = \"host-0\"\ngroup = \"a\"\nbytes = \"4KB\"\npriority = 8",
            12,
            "priority",
            "8",
            "priority 8",
            "0 to 7",
        ),
    ] {
        let key = format!("workload.multicast.{key}");
        let value = if value == "8" { value.to_owned() } else { format!("\"{value}\"") };
        let place = format!("s.toml:{line}");
        let text = text(GROUP, workload, "");
        check(&text, Expected { place: &place, key: &key, value: &value, message, help });
    }
    let alone = text("name = \"a\"\nmembers = [\"host-0\"]", WORKLOAD, "");
    check(
        &alone,
        Expected {
            place: "s.toml:10",
            key: "workload.multicast.group",
            value: "\"a\"",
            message: "the only member",
            help: "add members",
        },
    );
}

#[test]
fn what_multicast_does_not_go_with() {
    let reliable = text(GROUP, WORKLOAD, "").replace("\"ud\"", "\"rc\"");
    check(
        &reliable,
        Expected {
            place: "s.toml:1",
            key: "roce.service",
            value: "\"rc\"",
            message: "only datagrams",
            help: "service = \"ud\"",
        },
    );
    for (more, key) in [
        ("[layer3]\nrouters = [\"switch-0\"]\n", "layer3"),
        (
            "[[route]]\nswitch = \"switch-0\"\ndestinations = [\"host-1\"]\nnext_hop = \"host-1\"\n",
            "route",
        ),
        ("[[ingress.fast_cnp]]\nports = [\"switch-0\"]\nthreshold = \"9KB\"\n", "ingress.fast_cnp"),
    ] {
        let error = super::plan(&text(GROUP, WORKLOAD, more), &[]).expect_err(more);
        let told = error.to_string();
        assert_eq!(error.key(), key, "{told}");
        assert!(told.contains("is not modelled") && told.contains("leave it out"), "{told}");
        assert_eq!(error.line(), 12, "{told}");
    }
    let qcn = text(GROUP, WORKLOAD, "[switch.qcn]\n");
    let error = super::plan(&qcn, &[("roce.version", "1")]).expect_err("QCN");
    assert_eq!(error.key(), "switch.qcn", "{error}");
    let faults = text(GROUP, WORKLOAD, "[[faults]]\naction = \"drop\"\nflow = 1\n");
    check(
        &faults,
        Expected {
            place: "s.toml:14",
            key: "faults[0].flow",
            value: "1",
            message: "for all members",
            help: "dest_qp = 0xffffff",
        },
    );
}
