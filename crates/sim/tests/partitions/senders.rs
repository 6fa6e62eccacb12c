//! What hosts and their queue pairs decide packet by packet: recovery, which path, and who is next.

use crate::support::{assert_cuts_change_nothing, clos, flows};

const PAIRS: &[(u32, u32)] = &[(0, 2), (1, 2), (1, 3), (3, 0)];

const SPRAYED: &str = "path_entropy = { round-robin = { numbers = 6 } }";

const LOSS: &str = "[congestion_control.none]\n[switch]\nbuffer = \"2MB\"\n[[faults]]\naction = \"drop\"\nprobability = 0.002\n";

/// Reads, writes and atomic operations of programs beside flows.
const APP: &str = "[[workload.app]]\nclients = [\"host-0..host-2\"]\nservers = [\"host-3\"]\n\
     operations = 12\nqueue_depth = 3\nsteps = [\n{ by = \"client\", verb = \"write\", bytes = \"9KB\" },\n\
     { by = \"client\", verb = \"fetch-add\" },\n{ by = \"client\", verb = \"read\", bytes = \"20KB\" },\n]\n";

#[test]
fn packets_that_take_several_paths_with_every_recovery() {
    for recovery in [
        "\"go-back-n\"",
        "\"go-back-0\"",
        "\"selective-repeat\"",
        "{ reordering = { packets = 16 } }",
    ] {
        // With go-back-0 hardly any message arrives whole.
        let roce =
            format!("stop = \"1ms\"\n[roce]\nack_timeout = 4\nrecovery = {recovery}\n{SPRAYED}");
        let text = clos(&roce, &format!("{LOSS}{APP}{}", flows("60KB", PAIRS)));
        assert_cuts_change_nothing(&text, &["/retransmissions", "/operations"]);
    }
}

#[test]
fn packets_that_take_several_paths_without_acknowledgements() {
    for (service, verb) in [("uc", "write"), ("ud", "send")] {
        let roce = format!("stop = \"2ms\"\n[roce]\nservice = \"{service}\"\n{SPRAYED}");
        let list = flows("200KB", PAIRS);
        let workload =
            list.replace("list =", &format!("verb = \"{verb}\"\nmessage = \"1KB\"\nlist ="));
        let text = clos(&roce, &format!("{LOSS}{workload}"));
        assert_cuts_change_nothing(&text, &["/link_traversals/data"]);
    }
}

#[test]
fn packets_that_take_several_paths_while_a_link_fails() {
    let failures = "[congestion_control.none]\n[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\n\
         at = \"15us\"\nlasts = \"60us\"\n";
    for version in
        ["version = 1\n[layer2]\nforwarding = \"multipath\"", "version = 2\nip = \"ipv6\""]
    {
        let roce = format!(
            "[roce]\nack_timeout = 4\nrecovery = {{ reordering = {{ packets = 16 }} }}\n{SPRAYED}\n{version}"
        );
        let text = clos(&roce, &format!("{failures}{}", flows("600KB", PAIRS)));
        assert_cuts_change_nothing(&text, &["/retransmissions"]);
    }
}

/// Two priorities of the NIC, programs, and TCP of a third, with pacing and without.
#[test]
fn hosts_that_send_the_highest_priority_first() {
    for (algorithm, tcp) in [("none", 4), ("dcqcn", 6), ("hpcc", 1)] {
        let more = format!(
            "[congestion_control.{algorithm}]\n[tcp]\npriority = {tcp}\n[[faults]]\naction = \"drop\"\n\
             probability = 0.001\n{APP}{}{}{}",
            flows("200KB", PAIRS).replace("list =", "priority = 5\nlist ="),
            flows("200KB", PAIRS),
            flows("100KB", &PAIRS[1..]).replace("list =", "transport = \"tcp\"\nlist ="),
        );
        let scheduler = match algorithm {
            "dcqcn" => {
                "{ ets = { weights = [1, 1, 1, 5, 1, 0, 2, 1] } }\nshapers = { 3 = { rate = \"40Gbps\" } }"
            }
            _ => "\"strict-priority\"",
        };
        let roce = format!(
            "[roce]\nack_timeout = 4\nrecovery = \"selective-repeat\"\n{SPRAYED}\n[host]\nscheduler = {scheduler}"
        );
        let text = clos(&roce, &more);
        assert_cuts_change_nothing(&text, &["/operations", "/retransmissions"]);
    }
}

/// What switches choose is theirs alone, in whatever part they are.
#[test]
fn switches_that_choose_for_each_packet() {
    let failures =
        "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"15us\"\nlasts = \"60us\"\n";
    for (version, forwarding, trouble) in [
        ("version = 1\n[layer2]\nforwarding = \"multipath\"", "cut-through", ""),
        ("version = 2", "cut-through", failures),
        ("version = 2\nip = \"ipv6\"", "store-and-forward", failures),
    ] {
        let roce =
            format!("[roce]\nack_timeout = 4\nrecovery = {{ reordering = {{}} }}\n{version}");
        let more = format!(
            "[congestion_control.none]\n[switch]\nload_balancing = \"round-robin\"\n\
             forwarding = \"{forwarding}\"\nbuffer = \"2MB\"\n[[faults]]\naction = \"drop\"\n\
             probability = 0.002\n{trouble}{APP}{}{}",
            flows("200KB", PAIRS),
            flows("100KB", &PAIRS[1..]).replace("list =", "transport = \"tcp\"\nlist ="),
        );
        assert_cuts_change_nothing(&clos(&roce, &more), &["/operations", "/retransmissions"]);
    }
}

/// Traffic of no workload beside flows, programs and TCP: in a lossless priority, and in a lossy one that overflows;
/// while a link fails, and where switches learn or cut through.
#[test]
fn hosts_with_streams_beside_their_nic_and_tcp() {
    let failures =
        "[[failure]]\nkind = \"link-down\"\nport = \"leaf-0:2\"\nat = \"15us\"\nlasts = \"60us\"\n";
    for (version, forwarding, scheduler, trouble) in [
        ("version = 1\n[layer2]\nforwarding = \"multipath\"", "cut-through", "round-robin", ""),
        ("version = 1", "store-and-forward", "strict-priority", ""),
        ("version = 2\nip = \"ipv6\"", "cut-through", "strict-priority", failures),
    ] {
        let stream = |from: u32, to: u32, keys: &str| {
            format!("[[host.stack.udp]]\nfrom = \"host-{from}\"\nto = \"host-{to}\"\n{keys}\n")
        };
        let streams = [
            stream(0, 3, "rate = \"70Gbps\"\nstop = \"90us\""),
            stream(1, 3, "rate = \"60Gbps\"\nstart = \"7us\"\ndatagram = \"8KB\"\nstop = \"80us\""),
            stream(2, 0, "rate = \"30Gbps\"\npriority = 3\nstop = \"60us\""),
        ];
        let roce = format!("[roce]\nack_timeout = 4\n{version}");
        let more = format!(
            "[host]\nscheduler = \"{scheduler}\"\n{}[congestion_control.none]\n[switch]\n\
             forwarding = \"{forwarding}\"\nbuffer = \"2MB\"\n[[faults]]\naction = \"drop\"\n\
             probability = 0.002\n{trouble}{APP}{}{}",
            streams.concat(),
            flows("200KB", PAIRS),
            flows("100KB", &PAIRS[1..]).replace("list =", "transport = \"tcp\"\nlist ="),
        );
        assert_cuts_change_nothing(&clos(&roce, &more), &["/streams", "/operations"]);
    }
}
