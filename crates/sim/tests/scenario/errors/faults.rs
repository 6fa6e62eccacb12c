//! `[[faults]]`.

use super::{Expected, TOPOLOGY, WORKLOAD, check, check_error, plan, with};

/// A rule whose keys begin on line 2, in the scenario of four hosts.
fn rule(keys: &str) -> String {
    with(&format!("[[faults]]\n{keys}"))
}

/// A rule that is refused: the keys on line 2 and on, then line, key, value, message, help.
type Refused<'a> = (&'a str, u32, &'a str, &'a str, &'a str, &'a str);

#[track_caller]
fn check_all(table: &[Refused<'_>]) {
    for &(keys, line, key, value, message, help) in table {
        let place = &format!("s.toml:{line}");
        let key = &format!("faults[0]{key}");
        check(&rule(keys), Expected { place, key, value, message, help });
    }
}

#[test]
fn rules_that_say_something_are_accepted() {
    for keys in [
        "action = \"drop\"",
        "action = \"reorder\"\nbehind = 2\ndelay = \"3us\"\nprobability = 1",
        "action = \"corrupt\"\npart = \"icrc\"\nopcode = \"ack\"\nnth = 1",
        "action = \"delay\"\ndelay = \"1s\"\nfrom = \"host-0\"\nto = \"switch-0\"\nevery = 2",
        "action = \"duplicate\"\nopcode = [\"data\", \"PFC\"]\nafter = \"1us\"\nuntil = \"2us\"",
        "action = \"drop\"\nflow = 2\npsn = \"16777215..3\"\ncount = 1",
        "action = \"drop\"\ndest_qp = 0x11\npsn = 7\npattern = \"ip-identification\"",
    ] {
        plan(&rule(keys), &[]).unwrap_or_else(|error| panic!("{error}"));
    }
    // No rules are rules, and a rule can be changed from the command line.
    plan(&rule("action = \"drop\""), &[("faults", "[]")]).unwrap();
    let error = plan(&rule("action = \"drop\""), &[("faults.nth", "0")]).unwrap_err();
    check_error(
        &error,
        &Expected {
            place: "--set:1",
            key: "faults[0].nth",
            value: "0",
            message: "never acts",
            help: "at least 1",
        },
    );
}

#[test]
fn names_that_do_not_exist() {
    check_all(&[
        ("action = \"lose\"", 2, ".action", "\"lose\"", "there is no `lose`", "drop, duplicate"),
        ("action = \"drop\"\npatern = 1", 3, ".patern", "", "there is no key", "`pattern`"),
        ("nth = 3", 1, ".action", "", "the key `action` is missing", "action = ..."),
        (
            "action = \"corrupt\"\npart = \"crc\"",
            3,
            ".part",
            "\"crc\"",
            "there is no `crc`",
            "did you mean `icrc`?",
        ),
        (
            "action = \"drop\"\nfrom = \"host-4\"",
            3,
            ".from",
            "\"host-4\"",
            "there is no node `host-4`",
            "host-0 to host-3, switch-0",
        ),
        (
            "action = \"drop\"\nfrom = \"host-0\"\nto = \"host-1\"",
            4,
            ".to",
            "\"host-1\"",
            "no link goes from `host-0` to `host-1`",
            "`host-0` has links to switch-0",
        ),
        (
            "action = \"drop\"\nopcode = \"RC_SEND_FRIST\"",
            3,
            ".opcode",
            "\"RC_SEND_FRIST\"",
            "there is no opcode `RC_SEND_FRIST`",
            "did you mean `RC_SEND_FIRST`?",
        ),
        (
            "action = \"drop\"\nopcode = [\"data\", \"xyzzy\"]",
            3,
            ".opcode",
            "[\"data\", \"xyzzy\"]",
            "there is no opcode `xyzzy`",
            "a class (data, request, response, ack, nak)",
        ),
        ("action = \"drop\"\nopcode = []", 3, ".opcode", "[]", "no opcode is named", "\"data\""),
        ("action = \"drop\"\nflow = 3", 3, ".flow", "3", "there is no flow 3", "0 to 2"),
    ]);
}

#[test]
fn values_that_cannot_be() {
    check_all(&[
        (
            "action = \"drop\"\nprobability = 1.5",
            3,
            ".probability",
            "1.5",
            "no probability",
            "above 0 and at most 1",
        ),
        (
            "action = \"drop\"\nprobability = 0",
            3,
            ".probability",
            "0",
            "never acts",
            "above 0 and at most 1",
        ),
        (
            "action = \"drop\"\nprobability = nan",
            3,
            ".probability",
            "nan",
            "no probability",
            "above 0 and at most 1",
        ),
        ("action = \"drop\"\nevery = 0", 3, ".every", "0", "never acts", "at least 1"),
        ("action = \"drop\"\ncount = 0", 3, ".count", "0", "never acts", "at least 1"),
        ("action = \"reorder\"\nbehind = 0", 3, ".behind", "0", "never acts", "at least 1"),
        ("action = \"delay\"\ndelay = \"0s\"", 3, ".delay", "\"0s\"", "at most 1s", "\"10us\""),
        ("action = \"delay\"\ndelay = \"2s\"", 3, ".delay", "\"2s\"", "at most 1s", "\"10us\""),
        ("action = \"drop\"\ndest_qp = 16777216", 3, ".dest_qp", "16777216", "24 bits", "16777215"),
        (
            "action = \"drop\"\npsn = 16777216",
            3,
            ".psn",
            "16777216",
            "PSN 16777216 does not exist",
            "use 0 to 16777215",
        ),
        ("action = \"drop\"\npsn = -1", 3, ".psn", "-1", "PSN -1 does not exist", "use 0"),
        ("action = \"drop\"\npsn = \"a..b\"", 3, ".psn", "\"a..b\"", "is no PSN", "\"10..20\""),
    ]);
}

#[test]
fn keys_that_contradict_each_other() {
    check_all(&[
        (
            "action = \"drop\"\npart = \"icrc\"",
            3,
            ".part",
            "\"icrc\"",
            "means nothing to the action \"drop\"",
            "use the action \"corrupt\"",
        ),
        (
            "action = \"delay\"\ndelay = \"1us\"\nbehind = 1",
            4,
            ".behind",
            "1",
            "means nothing to the action \"delay\"",
            "use the action \"reorder\"",
        ),
        (
            "action = \"duplicate\"\ndelay = \"1us\"",
            3,
            ".delay",
            "\"1us\"",
            "means nothing to the action \"duplicate\"",
            "\"delay\" or \"reorder\"",
        ),
        ("action = \"delay\"", 2, ".action", "\"delay\"", "for how long", "add `delay`"),
        ("action = \"reorder\"", 2, ".action", "\"reorder\"", "behind what", "add `behind`"),
        (
            "action = \"drop\"\nnth = 3\nprobability = 0.5",
            4,
            ".probability",
            "0.5",
            "`nth` picks frames already",
            "keep one of them",
        ),
        (
            "action = \"drop\"\npattern = \"ip-identification\"\nevery = 3",
            3,
            ".pattern",
            "\"ip-identification\"",
            "`every` picks frames already",
            "keep one of them",
        ),
        ("action = \"drop\"\nnth = 3\ncount = 2", 4, ".count", "2", "one frame", "`every`"),
        (
            "action = \"drop\"\nafter = \"2us\"\nuntil = \"2us\"",
            4,
            ".until",
            "\"2us\"",
            "ends before it begins",
            "after 2us",
        ),
        (
            "action = \"drop\"\nflow = 0\ndest_qp = 17",
            4,
            ".dest_qp",
            "17",
            "its own queue pair numbers",
            "keep `flow` or `dest_qp`",
        ),
        (
            "action = \"corrupt\"\nopcode = \"ack\"",
            3,
            ".opcode",
            "\"ack\"",
            "no payload to corrupt",
            "part = \"fcs\"",
        ),
        (
            "action = \"corrupt\"\nopcode = [\"PAUSE\", \"data\", \"PFC\"]",
            3,
            ".opcode",
            "[\"PAUSE\", \"data\", \"PFC\"]",
            "PFC and PAUSE frames have no ICRC",
            "part = \"fcs\"",
        ),
        (
            "action = \"corrupt\"\npart = \"icrc\"\nopcode = \"PFC\"",
            4,
            ".opcode",
            "\"PFC\"",
            "no ICRC",
            "drop them",
        ),
        (
            "action = \"drop\"\nopcode = [\"PFC\", \"data\"]\npsn = 3",
            4,
            ".psn",
            "3",
            "nothing of the kind",
            "PFC frames alone",
        ),
    ]);
}

#[test]
fn names_of_rules() {
    let two = "name = \"x\"\naction = \"drop\"\n[[faults]]\naction = \"drop\"\nname = \"x\"";
    check(
        &rule(two),
        Expected {
            place: "s.toml:6",
            key: "faults[1].name",
            value: "\"x\"",
            message: "`x` is the name of two rules",
            help: "differently",
        },
    );
}

#[test]
fn a_profile_has_no_rules() {
    let ecn = "[{ rate = \"100Gbps\", kmin = \"100KB\", kmax = \"400KB\", pmax = 0.2 }]";
    check(
        &format!(
            "[[faults]]\naction = \"drop\"\n[profile.hpcc-ns3]\necn = {ecn}\n{TOPOLOGY}{WORKLOAD}"
        ),
        Expected {
            place: "s.toml:1",
            key: "faults[0]",
            value: "",
            message: "nothing like it",
            help: "remove it",
        },
    );
}

/// Scenarios of applications have no flows that a rule could name.
#[test]
fn a_rule_by_flow_where_there_are_none_or_one() {
    let rule = "[[faults]]\naction = \"drop\"\nflow = 3\n";
    let ping =
        "[workload.ping-pong]\nclients = [\"host-0\"]\nservers = [\"host-1\"]\nbytes = \"64B\"\n";
    check(
        &format!("{rule}{}{ping}", TOPOLOGY),
        Expected {
            place: "s.toml:3",
            key: "faults[0].flow",
            value: "3",
            message: "this scenario has no flows",
            help: "`dest_qp`",
        },
    );
    let one = WORKLOAD.replace("senders = 3", "senders = 1");
    check(
        &format!("{rule}{}{one}", TOPOLOGY),
        Expected {
            place: "s.toml:3",
            key: "faults[0].flow",
            value: "3",
            message: "there is no flow 3",
            help: "the only flow of this scenario is 0",
        },
    );
}

/// A scenario with one `[[failure]]`.
fn with_failure(lines: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = 2\nlink = {{ rate = \"1Gbps\", cable = \"1m\" }}\n\
         [workload.permutation]\nbytes = \"1KB\"\n[[failure]]\nat = \"1ms\"\n{lines}\n"
    )
}

#[test]
fn failures_name_what_fails() {
    let cases = [
        ("kind = \"link-down\"", "failure[0].kind", "does not say which port", "port ="),
        ("kind = \"link-down\"\nport = \"host-9:0\"", "failure[0].port", "host-9", ""),
        (
            "kind = \"link-down\"\nport = \"switch-0\"",
            "failure[0].port",
            "has 2 links",
            "switch-0:0",
        ),
        (
            "kind = \"link-down\"\nport = \"switch-0:0\"\nrate = \"1Gbps\"",
            "failure[0].rate",
            "no such key",
            "it takes port",
        ),
        (
            "kind = \"link-rate\"\nport = \"switch-0:0\"",
            "failure[0].rate",
            "nothing says which rate",
            "10Gbps",
        ),
        (
            "kind = \"link-rate\"\nport = \"switch-0:0\"\nrate = \"0Gbps\"",
            "failure[0].rate",
            "a rate above zero",
            "10Gbps",
        ),
        (
            "kind = \"link-rate\"\nport = \"switch-0:0\"\nrate = \"1001Mbps\"",
            "failure[0].rate",
            "more than the link's own, 1Gbps",
            "at most \"1Gbps\"",
        ),
        (
            "kind = \"switch-reboot\"\nswitch = \"leaf-7\"",
            "failure[0].switch",
            "there is no switch `leaf-7`",
            "switch-0",
        ),
        (
            "kind = \"pause-storm\"\nhost = \"switch-0\"",
            "failure[0].host",
            "there is no host `switch-0`",
            "host-0",
        ),
        (
            "kind = \"pause-storm\"\nhost = \"host-0\"\npriorities = [9]",
            "failure[0].priorities[0]",
            "priority 9 does not exist",
            "0 to 7",
        ),
        (
            "kind = \"link-down\"\nport = \"host-0:0\"\nrepeat = 2",
            "failure[0].repeat",
            "what repeats has an end",
            "lasts",
        ),
        (
            "kind = \"link-down\"\nport = \"host-0:0\"\nrepeat = 2\nlasts = \"2ms\"\ninterval = \"1ms\"",
            "failure[0].interval",
            "begins again before",
            "longer `interval`",
        ),
    ];
    for (lines, key, message, help) in cases {
        let error = plan(&with_failure(lines), &[]).expect_err("this scenario was accepted");
        assert_eq!(error.key(), key, "{error}");
        assert!(error.message().contains(message), "{error}");
        assert!(error.help().unwrap_or_default().contains(help), "{error}");
    }
}
