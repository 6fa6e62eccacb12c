//! `[workload.app]`, `[workload.ping-pong]`, `[workload.storage]`, and programs.

use super::{Expected, TOPOLOGY, check};

const ENDS: &str = "clients = [\"host-0\"]\nservers = [\"host-1\"]\n";

/// An application whose steps begin on line 8.
fn steps(steps: &str) -> String {
    format!("{TOPOLOGY}[workload.app]\n{ENDS}operations = 1\nsteps = [{steps}]\n")
}

/// An application with other keys from line 5 on.
fn keys(keys: &str) -> String {
    let steps = "steps = [{ by = \"client\", verb = \"send\", bytes = \"1B\" }]";
    format!("{TOPOLOGY}[workload.app]\n{keys}\n{steps}\n")
}

#[test]
fn verbs_that_do_not_exist() {
    check(
        &steps("{ by = \"client\", verb = \"wriet\", bytes = \"1B\" }"),
        Expected {
            place: "s.toml:8",
            key: "workload.app.steps[0].verb",
            value: "\"wriet\"",
            message: "there is no `wriet`",
            help: "did you mean `write`?",
        },
    );
}

#[test]
fn turns_that_nobody_is_told_of() {
    check(
        &steps(
            "{ by = \"client\", verb = \"write\", bytes = \"1B\" }, \
             { by = \"server\", verb = \"send\", bytes = \"1B\" }",
        ),
        Expected {
            place: "s.toml:8",
            key: "workload.app.steps[0].verb",
            value: "\"write\"",
            message: "the next step is the server's, whom nothing tells that this one is done",
            help: "write-with-immediate",
        },
    );
    check(
        &steps(
            "{ by = \"client\", verb = \"send\", bytes = \"1B\" }, \
             { by = \"server\", verb = \"read\", bytes = \"1B\" }",
        ),
        Expected {
            place: "s.toml:8",
            key: "workload.app.steps[1].verb",
            value: "\"read\"",
            message: "the client ends the operation",
            help: "use `send`",
        },
    );
    check(
        &steps("{ by = \"server\", verb = \"send\", bytes = \"1B\" }"),
        Expected {
            place: "s.toml:8",
            key: "workload.app.steps[0].by",
            value: "\"server\"",
            message: "nothing tells the server",
            help: "let the client",
        },
    );
}

#[test]
fn steps_that_cannot_be() {
    for (step, key, value, message, help) in [
        ("", "steps", "[]", "without steps", "give at least one"),
        (
            "{ by = \"client\", verb = \"fetch-add\", bytes = \"16B\" }",
            "steps[0].bytes",
            "\"16B\"",
            "8 bytes, always",
            "leave it out",
        ),
        (
            "{ by = \"client\", verb = \"send\" }",
            "steps[0].bytes",
            "none",
            "at least one byte",
            "1B to 2GiB",
        ),
        (
            "{ by = \"client\", verb = \"send\", bytes = \"1B\", add = 3 }",
            "steps[0].add",
            "3",
            "only `fetch-add`",
            "leave it out",
        ),
        (
            "{ by = \"client\", verb = \"send\", bytes = \"1B\", chained = true }",
            "steps[0].chained",
            "true",
            "no step of the same side",
            "leave it out",
        ),
        (
            "{ by = \"client\", verb = \"fetch-add\" }, \
             { by = \"client\", verb = \"send\", bytes = \"1B\", chained = true }",
            "steps[1].chained",
            "true",
            "ends with a response",
            "leave it out",
        ),
        (
            "{ by = \"client\", verb = \"send\", bytes = \"1B\", after = \"2000s\" }",
            "steps[0].after",
            "\"2000s\"",
            "nobody waits that long",
            "at most",
        ),
    ] {
        let key = format!("workload.app.{key}");
        check(&steps(step), Expected { place: "s.toml:8", key: &key, value, message, help });
    }
}

#[test]
fn hosts_and_numbers() {
    let count = "operations = 1";
    for (text, place, key, value, message, help) in [
        (
            format!("clients = [\"host-0\"]\nservers = [\"host-0\"]\n{count}"),
            "s.toml:6",
            "servers",
            "[\"host-0\"]",
            "`host-0` would be its own server",
            "no clients of theirs",
        ),
        (
            format!("clients = []\nservers = [\"host-0\"]\n{count}"),
            "s.toml:5",
            "clients",
            "[]",
            "nobody is named",
            "at least one host",
        ),
        (
            format!("{ENDS}{count}\nqueue_depth = 0"),
            "s.toml:8",
            "queue_depth",
            "0",
            "no operation would ever be open",
            "at least 1",
        ),
        (
            format!("{ENDS}{count}\nreceive_depth = 0"),
            "s.toml:8",
            "receive_depth",
            "0",
            "no message would find",
            "at least 1",
        ),
        (
            format!("{ENDS}operations = 0"),
            "s.toml:7",
            "operations",
            "0",
            "without operations",
            "at least 1",
        ),
        (
            format!("{ENDS}{count}\nuntil = \"1ms\""),
            "s.toml:7",
            "operations",
            "1",
            "exactly one of",
            "one of the two",
        ),
        (
            format!("{ENDS}start = \"2ms\"\nuntil = \"1ms\""),
            "s.toml:8",
            "until",
            "\"1ms\"",
            "not after the start",
            "later",
        ),
        (
            format!("{ENDS}{count}\npriority = 8"),
            "s.toml:8",
            "priority",
            "8",
            "priority 8 does not exist",
            "0 to 7",
        ),
    ] {
        let key = format!("workload.app.{key}");
        check(&keys(&text), Expected { place, key: &key, value, message, help });
    }
}

#[test]
fn short_forms() {
    let short = |text: &str| format!("{TOPOLOGY}[workload.{text}");
    check(
        &short(&format!("ping-pong]\n{ENDS}verb = \"write\"\nbytes = \"1B\"\n")),
        Expected {
            place: "s.toml:7",
            key: "workload.ping-pong.verb",
            value: "\"write\"",
            message: "nothing tells the other side",
            help: "write-with-immediate",
        },
    );
    check(
        &short(&format!("storage]\n{ENDS}block = \"0B\"\noperations = 1\n")),
        Expected {
            place: "s.toml:7",
            key: "workload.storage.block",
            value: "\"0B\"",
            message: "at least one byte",
            help: "1B to 2GiB",
        },
    );
    check(
        &short(&format!("storage]\n{ENDS}block = \"4KB\"\noperations = 1\nread_fraction = 1.5\n")),
        Expected {
            place: "s.toml:9",
            key: "workload.storage.read_fraction",
            value: "1.5",
            message: "a share",
            help: "0 to 1",
        },
    );
}

#[test]
fn names_are_given_once() {
    let one =
        format!("[[workload.storage]]\nname = \"a\"\n{ENDS}block = \"4KB\"\noperations = 1\n");
    check(
        &format!("{TOPOLOGY}{one}{one}"),
        Expected {
            place: "s.toml:11",
            key: "workload.storage[1].name",
            value: "\"a\"",
            message: "`a` is there twice",
            help: "a name of its own",
        },
    );
}

#[test]
fn rings_that_add_nothing_up() {
    let hosts = "hosts = [\"host-0\", \"host-1\"]";
    for (keys, place, key, value, message, help) in [
        ("hosts = []\nbytes = \"1B\"", "s.toml:5", "hosts", "[]", "nobody is named", "host-0"),
        (
            "hosts = [\"host-1\"]\nbytes = \"1B\"",
            "s.toml:5",
            "hosts",
            "[\"host-1\"]",
            "is no ring",
            "two hosts",
        ),
        (
            "hosts = [\"host-1\", \"host-9\"]\nbytes = \"1B\"",
            "s.toml:5",
            "hosts[1]",
            "\"host-9\"",
            "there is no host `host-9`",
            "the hosts are",
        ),
        (
            "hosts = [\"host-1\", \"host-1\"]\nbytes = \"1B\"",
            "s.toml:5",
            "hosts[1]",
            "\"host-1\"",
            "named twice",
            "every host once",
        ),
        (
            &format!("{hosts}\nbytes = \"0B\""),
            "s.toml:6",
            "bytes",
            "\"0B\"",
            "nothing to add up",
            "1B",
        ),
        (
            &format!("{hosts}\nbytes = \"5GiB\""),
            "s.toml:6",
            "bytes",
            "\"5GiB\"",
            "longer than a message",
            "2GiB",
        ),
        (
            &format!("{hosts}\nbytes = \"1B\"\niterations = 0"),
            "s.toml:7",
            "iterations",
            "0",
            "adds nothing up",
            "at least 1",
        ),
        (
            &format!("{hosts}\nbytes = \"1B\"\npriority = 8"),
            "s.toml:7",
            "priority",
            "8",
            "priority 8 does not exist",
            "0 to 7",
        ),
        (
            &format!("{hosts}\nbytes = \"1B\"\niteration = 2"),
            "s.toml:7",
            "iteration",
            "",
            "there is no key `iteration`",
            "did you mean `iterations`?",
        ),
        (
            &format!("{hosts}\nbytes = \"1B\"\nname = \" \""),
            "s.toml:7",
            "name",
            "\" \"",
            "results have it in tables",
            "leave it out",
        ),
        (
            &format!("{hosts}\nbytes = \"1B\"\nname = \"a\\nb\""),
            "s.toml:7",
            "name",
            "\"a\\nb\"",
            "results have it in tables",
            "on one line",
        ),
    ] {
        let key = format!("workload.all-reduce.{key}");
        let text = format!("{TOPOLOGY}[workload.all-reduce]\n{keys}\n");
        check(&text, Expected { place, key: &key, value, message, help });
    }
}

#[test]
fn collective_operations() {
    let begun = "hosts = [\"host-0..host-3\"]\nbytes = \"4KB\"";
    for (keys, place, key, value, message, help) in [
        (
            "kind = \"all-reduce\"\nalgorithm = \"bruck\"",
            "s.toml:8",
            "algorithm",
            "\"bruck\"",
            "it does no all-reduce",
            "ring",
        ),
        (
            "kind = \"all-to-all-v\"\nalgorithm = \"direct\"",
            "s.toml:7",
            "kind",
            "\"all-to-all-v\"",
            "needs a matrix",
            "all-to-all",
        ),
        (
            "kind = \"barrier\"\nalgorithm = \"ring\"",
            "s.toml:6",
            "bytes",
            "\"4KB\"",
            "carries no data",
            "write 0",
        ),
        (
            "kind = \"all-reduce\"\nalgorithm = \"nvls\"",
            "s.toml:8",
            "algorithm",
            "\"nvls\"",
            "switches that add up",
            "ring",
        ),
        (
            "kind = \"broadcast\"\nalgorithm = \"ring\"\nroot = 4",
            "s.toml:9",
            "root",
            "4",
            "there are 4 ranks",
            "0 to 3",
        ),
        (
            "kind = \"all-reduce\"\nalgorithm = \"ring\"\ngroup = 3",
            "s.toml:9",
            "group",
            "3",
            "does not divide",
            "divisor",
        ),
        (
            "kind = \"all-reduce\"\nalgorithm = \"ring\"\nslices = 9",
            "s.toml:9",
            "slices",
            "9",
            "more than `window`",
            "larger `window`",
        ),
        (
            "kind = \"all-reduce\"\nalgorithm = \"ring\"\nwindow = 0",
            "s.toml:9",
            "window",
            "0",
            "out of range",
            "1 to 4096",
        ),
        (
            "kind = \"all-reduce\"\nalgorithm = \"ring\"\nwarmup = 1",
            "s.toml:9",
            "warmup",
            "1",
            "nothing to measure",
            "fewer",
        ),
        (
            "kind = \"all-reduce\"\nalgorithm = \"ring\"\nelement = \"3B\"",
            "s.toml:6",
            "bytes",
            "\"4KB\"",
            "an element has 3 bytes",
            "multiple",
        ),
        (
            "kind = \"all-reduce\"\nalgorithm = \"ring\"\nqueue_pairs = 129",
            "s.toml:9",
            "queue_pairs",
            "129",
            "out of range",
            "1 to 128",
        ),
    ] {
        let key = format!("workload.collective.{key}");
        let text = format!("{TOPOLOGY}[workload.collective]\n{begun}\n{keys}\n");
        check(&text, Expected { place, key: &key, value, message, help });
    }
}
