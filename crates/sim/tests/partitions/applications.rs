//! Programs of hosts, whose messages say something.

use crate::support::{assert_cuts_change_nothing, clos};

#[test]
fn counters_that_hosts_share() {
    let more = "[congestion_control.none]\n[workload.app]\nclients = [\"host-0..host-2\"]\nservers = [\"host-3\"]\n\
         operations = 30\nqueue_depth = 4\nsteps = [\n{ by = \"client\", verb = \"fetch-add\" },\n\
         { by = \"client\", verb = \"compare-swap\", compare = 3, swap = 90 },\n]\n";
    let text = clos("", more);
    assert_cuts_change_nothing(&text, &["/opcodes/RC_FETCH_ADD", "/operations"]);
}

#[test]
fn disks_and_procedure_calls() {
    let more = "[[workload.storage]]\nclients = [\"host-0\", \"host-1\"]\nservers = [\"host-2\", \"host-3\"]\npairs = \"all\"\n\
         block = \"16KiB\"\nread_fraction = 0.6\nqueue_depth = 3\naccess_time = \"4us\"\noperations = 12\n\
         [[workload.app]]\nclients = [\"host-3\"]\nservers = [\"host-0\"]\noperations = 10\nthink_time = \"2us\"\nsteps = [\n\
         { by = \"client\", verb = \"send\", bytes = \"64B\" },\n\
         { by = \"server\", verb = \"write\", bytes = \"4KB\", after = \"2us\" },\n\
         { by = \"server\", verb = \"send\", bytes = \"16B\", chained = true },\n]\n";
    let text = clos("", more);
    assert_cuts_change_nothing(&text, &["/operations", "/opcodes/RC_RDMA_READ_REQUEST"]);
}

#[test]
fn rings_that_add_up() {
    let more = "[[workload.all-reduce]]\nhosts = [\"host-0..host-3\"]\nbytes = \"300KB\"\niterations = 3\n\
         compute_time = \"4us\"\n[[workload.all-reduce]]\nname = \"other\"\nhosts = [\"host-3\", \"host-1\"]\n\
         bytes = \"50KB\"\niterations = 6\n[workload.incast]\nsenders = 2\nbytes = \"100KB\"\n";
    let text = clos("", more);
    assert_cuts_change_nothing(
        &text,
        &["/operations", "/opcodes/RC_RDMA_WRITE_LAST_WITH_IMMEDIATE"],
    );
}

#[test]
fn collective_operations() {
    let more = "[[workload.collective]]\nhosts = [\"host-0..host-3\"]\nkind = \"all-reduce\"\n\
         algorithm = \"double-binary-tree\"\nbytes = \"300KB\"\nchunk = \"16KB\"\nchannels = 2\nqueue_pairs = 2\n\
         split = \"all\"\nwindow = 2\nhost_overhead = \"50ns\"\nreduce_rate = \"100Gbps\"\niterations = 3\n\
         compute_time = \"4us\"\n[[workload.collective]]\nname = \"other\"\nhosts = [\"host-3\", \"host-1\", \"host-0\"]\n\
         kind = \"all-to-all\"\nalgorithm = \"bruck\"\nbytes = \"60KB\"\niterations = 4\n\
         [workload.incast]\nsenders = 2\nbytes = \"100KB\"\n";
    let text = clos("", more);
    assert_cuts_change_nothing(
        &text,
        &["/operations", "/collectives", "/opcodes/RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE"],
    );
}

/// Ranks with messages, computation and groups, of files; each is broken off with nodes that have begun.
#[test]
fn traces_of_several_formats() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces");
    let keys =
        "channels = 2\nchunk = \"64KiB\"\nqueue_pairs = 2\nwindow = 3\nreduce_rate = \"200Gbps\"\n";
    let more = format!(
        "[[workload.trace]]\nformat = \"chakra\"\npath = '{data}/allreduce4'\n\
         hosts = [\"host-0..host-3\"]\n[workload.trace.collective]\n{keys}\
         [[workload.trace]]\nname = \"mixed\"\nformat = \"goal\"\npath = '{data}/mixed.goal'\n\
         hosts = [\"host-2\", \"host-0\", \"host-3\"]\niterations = 4\n\
         [workload.incast]\nsenders = 2\nbytes = \"100KB\"\n"
    );
    assert_cuts_change_nothing(
        &clos("", &more),
        &["/operations", "/opcodes/RC_RDMA_WRITE_LAST_WITH_IMMEDIATE"],
    );
}

/// Servers whose hosts are at two leaves, so that transfers over NVLink pass from part to part.
#[test]
fn rings_over_nvlink() {
    for nvlink in ["rate = \"400Gbps\", delay = \"700ns\"", "rate = \"200Gbps\", packet = \"1KiB\""]
    {
        let more = format!(
            "[[server]]\nname = \"a\"\nports = [\"host-0\", \"host-2\"]\nnvlink = {{ {nvlink} }}\n\
             [[server]]\nname = \"b\"\nports = [\"host-3\", \"host-1\"]\nnvlink = {{ {nvlink} }}\n\
             [[workload.all-reduce]]\nhosts = [\"host-0\", \"host-2\", \"host-3\", \"host-1\"]\nbytes = \"300KB\"\n\
             iterations = 3\ncompute_time = \"4us\"\n[[workload.all-reduce]]\nname = \"other\"\n\
             hosts = [\"host-3\", \"host-1\"]\nbytes = \"50KB\"\niterations = 6\n\
             [[workload.all-reduce]]\nname = \"third\"\nhosts = [\"host-2\", \"host-0\"]\nbytes = \"90KB\"\niterations = 4\n\
             [workload.incast]\nsenders = 2\nbytes = \"100KB\"\n"
        );
        assert_cuts_change_nothing(
            &clos("", &more),
            &["/nvlink/bytes", "/operations", "/opcodes/RC_RDMA_WRITE_LAST_WITH_IMMEDIATE"],
        );
    }
}
