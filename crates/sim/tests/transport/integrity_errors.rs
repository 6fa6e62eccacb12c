//! What integrity mode refuses.

use crate::support::try_plan;

#[test]
fn more_bytes_than_memory_are_refused() {
    let text = "integrity = true\n[topology.single-switch]\nhosts = 3\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                [workload.incast]\nsenders = 2\nbytes = \"SIZE\"\n";
    assert!(try_plan(&text.replace("SIZE", "1GiB")).is_ok());
    let error = try_plan(&text.replace("SIZE", "1025MiB")).expect_err("too much");
    assert_eq!((error.key(), error.line()), ("integrity", 1));
    assert!(error.message().contains("4100MiB"), "{error}");
    assert!(error.help().is_some_and(|help| help.contains("4096MiB")), "{error}");
}

#[test]
fn other_profiles_have_no_integrity_mode() {
    let text = "integrity = true\n[profile.hpcc-ns3]\n[topology.single-switch]\nhosts = 3\n\
                link = { rate = \"100Gbps\", cable = \"3m\" }\n\
                [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1KB\" }]\n";
    let error = try_plan(text).expect_err("no such thing");
    assert_eq!(error.key(), "integrity");
}
