//! `[[host_model]]`.

use super::{Expected, check, plan};

/// Two hosts at each of two switches; the keys of a host model from line 2 on.
fn model(keys: &str) -> String {
    format!(
        "[[host_model]]\n{keys}\n[topology.dumbbell]\nleft = 2\nright = 2\n\
         host_link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         bottleneck = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-2\", bytes = \"1KB\" }}]\n"
    )
}

#[test]
fn models_that_can_be_are_accepted() {
    for keys in [
        "",
        "profile = \"none\"",
        "profile = \"none\"\npcie = { lanes = 4 }",
        "hosts = [\"host-2..host-3\"]\nprofile = \"cx7\"\ncpu = { completion = \"poll\" }",
        "cpu = { completion = { interrupt = \"4us\" }, batch = 16, inline = \"0B\" }",
        "caches = { qp_contexts = 1200, replacement = \"random\", page_size = \"2MiB\" }",
        "rates = { messages = 200e6, packets_per_queue_pair = 8e6 }\nbuffer = \"512KiB\"",
        "memory = { iommu = {} }\ncaches = { registered = \"1GiB\" }",
        "[[host_model.contention]]\nat = \"1ms\"\nlasts = \"2ms\"\nfactor = 2\n\
         [[host_model.contention]]\nat = \"3ms\"\nlasts = \"2ms\"\nfactor = 2.5",
    ] {
        plan(&model(keys), &[]).unwrap_or_else(|error| panic!("{keys}: {error}"));
    }
}

#[test]
fn models_that_cannot_be_are_refused() {
    let table = [
        ("hosts = [\"host-9\"]", 2, ".hosts[0]", "\"host-9\"", "no host `host-9`", "host-0"),
        ("pcie.gen = 6", 2, ".pcie.gen", "6", "no generation", "1, 2, 3, 4, 5"),
        ("pcie.lanes = 3", 2, ".pcie.lanes", "3", "no link", "16"),
        ("pcie.mps = 100", 2, ".pcie.mps", "100", "no payload", "128"),
        ("pcie.mrrs = 8192", 2, ".pcie.mrrs", "8192", "no read", "4096"),
        ("pcie.tags = 0", 2, ".pcie.tags", "0", "reads outstanding", "64"),
        ("pcie.read_latency = \"2ms\"", 2, ".pcie.read_latency", "\"2ms\"", "that long", "1ms"),
        ("cpu.threads = 0", 2, ".cpu.threads", "0", "one at least", "1 or more"),
        ("cpu.threads = 1025", 2, ".cpu.threads", "1025", "so many", "at most 1024"),
        ("cpu.batch = 2000", 2, ".cpu.batch", "2000", "so many", "at most 1024"),
        ("cpu.inline = \"1KiB\"", 2, ".cpu.inline", "\"1KiB\"", "holds so much", "924B"),
        ("rates.messages = 0.5", 2, ".rates.messages", "0.5", "a second", "200e6"),
        ("rates.units = 0", 2, ".rates.units", "0", "handles what comes", "1 or more"),
        ("caches.qp_contexts = 0", 2, ".caches.qp_contexts", "0", "holds something", "1 to"),
        ("caches.page_size = \"5KB\"", 2, ".caches.page_size", "\"5KB\"", "no page", "2MiB"),
        ("memory.posted_credits = 0", 2, ".memory.posted_credits", "0", "nothing", "1 or more"),
        ("memory.iommu.entries = 0", 2, ".memory.iommu.entries", "0", "holds something", "64"),
        ("buffer = \"0B\"", 2, ".buffer", "\"0B\"", "a NIC has memory", "above 0"),
        ("buffer = \"1KB\"", 2, ".buffer", "\"1KB\"", "no room for a full frame", "512KiB"),
        ("buffer = \"3KB\"", 2, ".buffer", "\"3KB\"", "does not hold the headroom", "xoff"),
        ("xoff = \"1MB\"", 2, ".xoff", "\"1MB\"", "no less than the buffer", "524.288KB"),
        ("xoff = \"9KB\"\nxon = \"10KB\"", 3, ".xon", "\"10KB\"", "more than XOFF", "no more"),
        (
            "contention = [{ at = \"1us\", lasts = \"1us\", factor = 0.5 }]",
            2,
            ".contention[0].factor",
            "0.5",
            "slower",
            "such as 2",
        ),
        (
            "contention = [{ at = \"1us\", lasts = \"9us\", factor = 2.0 }, { at = \"5us\", \
             lasts = \"1us\", factor = 2.0 }]",
            2,
            ".contention[1].at",
            "\"5us\"",
            "lasts until later",
            "10us",
        ),
    ];
    for (keys, line, key, value, message, help) in table {
        let (place, key) = (&format!("s.toml:{line}"), &format!("host_model[0]{key}"));
        check(&model(keys), Expected { place, key, value, message, help });
    }
}

#[test]
fn a_host_has_one_model_and_is_no_slow_receiver_too() {
    let twice = format!("[[host_model]]\n{}", model("hosts = [\"host-0\"]"));
    let error = plan(&twice, &[]).expect_err("two models").to_string();
    assert!(error.contains("has a model already"), "{error}");
    let slow = format!("[[slow_receiver]]\nhosts = [\"host-0\"]\n{}", model(""));
    let error = plan(&slow, &[]).expect_err("two kinds of times").to_string();
    assert!(error.contains("would count twice"), "{error}");
}
