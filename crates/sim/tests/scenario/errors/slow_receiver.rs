//! `[[slow_receiver]]`.

use super::{Expected, check, plan};

/// Two hosts at each of two switches; the keys of a slow receiver from line 2 on.
fn receiver(keys: &str) -> String {
    format!(
        "[[slow_receiver]]\n{keys}\n[topology.dumbbell]\nleft = 2\nright = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         bottleneck = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-2\", bytes = \"1KB\" }}]\n"
    )
}

#[test]
fn receivers_that_can_be_are_accepted() {
    for keys in [
        "",
        "hosts = [\"host-2..host-3\"]\nrate = \"50Gbps\"",
        "buffer = \"20KB\"\nxoff = \"10KB\"\nxon = \"10KB\"",
        "[slow_receiver.translation]",
    ] {
        plan(&receiver(keys), &[]).unwrap_or_else(|error| panic!("{keys}: {error}"));
    }
}

#[test]
fn receivers_that_cannot_be_are_refused() {
    let table = [
        ("hosts = [\"host-9\"]", 2, ".hosts[0]", "\"host-9\"", "no host `host-9`", "host-0"),
        ("buffer = \"0KB\"", 2, ".buffer", "\"0KB\"", "a NIC has memory", "above 0"),
        ("buffer = \"1KB\"", 2, ".buffer", "\"1KB\"", "does not hold the headroom", "xoff"),
        ("xoff = \"1MB\"", 2, ".xoff", "\"1MB\"", "no less than the memory", "262.144KB"),
        ("xoff = \"9KB\"\nxon = \"10KB\"", 3, ".xon", "\"10KB\"", "more than XOFF", "no more"),
        ("rate = \"0Gbps\"", 2, ".rate", "\"0Gbps\"", "handles something", "50Gbps"),
        ("translation.entries = 0", 2, ".translation.entries", "0", "holds something", "2048"),
        (
            "translation.page_size = \"0KB\"",
            2,
            ".translation.page_size",
            "\"0KB\"",
            "holds something",
            "4KiB",
        ),
        (
            "translation.chunk = \"64B\"",
            2,
            ".translation.chunk",
            "\"64B\"",
            "less than a packet's payload",
            "4KiB",
        ),
        (
            "translation.memory = \"2KiB\"",
            2,
            ".translation.memory",
            "\"2KiB\"",
            "less than one `chunk`",
            "4.096KB",
        ),
    ];
    for (keys, line, key, value, message, help) in table {
        let (place, key) = (&format!("s.toml:{line}"), &format!("slow_receiver[0]{key}"));
        check(&receiver(keys), Expected { place, key, value, message, help });
    }
}

#[test]
fn a_host_is_one_slow_receiver_only() {
    let text = format!("[[slow_receiver]]\n{}", receiver("hosts = [\"host-0\"]"));
    let (place, key) = ("s.toml:3", "slow_receiver[1].hosts");
    let (value, message) = ("[\"host-0\"]", "`host-0` is a slow receiver already");
    check(&text, Expected { place, key, value, message, help: "one `[[slow_receiver]]`" });
}
