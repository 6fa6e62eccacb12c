//! Programs over NVLink: closed forms to the picosecond, and what the network is left with.
//!
//! A message of b bytes takes d + b/R in an empty domain: the delay, and its bytes at the rate at which payload goes.

use rocelab_sim::Plan;

use crate::support::{around_a_switch, plan, run};

/// Picoseconds of so many bytes at a rate in bit/s, rounded up.
fn time(bytes: u64, bits_per_second: u64) -> u64 {
    let scaled = u128::from(bytes) * 8_000_000_000_000;
    u64::try_from(scaled.div_ceil(u128::from(bits_per_second))).unwrap()
}

const RATE: u64 = 3_600_000_000_000;
const DELAY: u64 = 500_000;

/// Servers of so many hosts each, with these keys of NVLink.
fn server(hosts: u32, size: u32, keys: &str) -> String {
    let last = hosts - 1;
    let server =
        format!("[[server]]\nname = \"node\"\nports = [\"host-0..host-{last}\"]\nsize = {size}\n");
    format!("{server}preset = \"dgx-h100\"\nnvlink = {{ {keys} }}\n")
}

fn ring(name: &str, hosts: &[u32], bytes: u64, iterations: u32) -> String {
    let names: Vec<_> = hosts.iter().map(|host| format!("\"host-{host}\"")).collect();
    let hosts = names.join(", ");
    format!(
        "[[workload.all-reduce]]\nname = \"{name}\"\nhosts = [{hosts}]\nbytes = \"{bytes}B\"\n\
         iterations = {iterations}\n"
    )
}

fn all(count: u32) -> Vec<u32> {
    (0..count).collect()
}

/// Bytes that hosts sent over NVLink.
fn sent(run: &crate::support::Run) -> u64 {
    run.simulation.network().nvlink_use().values().map(|used| used.sent.bytes).sum()
}

#[test]
fn a_ring_in_a_server_takes_its_steps_and_nothing_of_the_network() {
    for hosts in [2, 3, 8] {
        for (keys, rate, delay) in [
            ("", RATE, DELAY),
            ("rate = \"1600Gbps\", delay = \"25ns\"", 1_600_000_000_000, 25_000),
            ("efficiency = 0.75", RATE / 4 * 3, DELAY),
        ] {
            let chunk = 1_000_003;
            let ring = ring("r", &all(hosts), u64::from(hosts) * chunk, 3);
            let text = around_a_switch(hosts, &format!("{}{ring}", server(hosts, hosts, keys)));
            let run = run(&text);
            run.assert_complete(3 * hosts as usize);
            let steps = 2 * (u64::from(hosts) - 1);
            let expected = steps * (delay + time(chunk, rate));
            assert!(run.latencies().iter().all(|&one| one == expected), "{keys} {expected}");
            assert_eq!(sent(&run), 3 * u64::from(hosts) * steps * chunk);
            assert_eq!(run.opcodes().values().sum::<u64>(), 0, "no packet");
            for used in run.simulation.network().nvlink_use().values() {
                assert_eq!(used.sent, used.received);
                assert_eq!(used.sent.busy.ps(), 3 * steps * time(chunk, rate));
            }
        }
    }
}

#[test]
fn packets_that_meet_no_others_take_no_longer() {
    let (hosts, chunk, packet) = (8, 100_000, 4_096);
    let ring = ring("r", &all(hosts), u64::from(hosts) * chunk, 1);
    let servers = server(hosts, hosts, "packet = \"4KiB\"");
    let run = run(&around_a_switch(hosts, &format!("{servers}{ring}")));
    run.assert_complete(hosts as usize);
    let cut = chunk / packet * time(packet, RATE) + time(chunk % packet, RATE);
    let expected = 14 * (DELAY + cut);
    assert!(run.latencies().iter().all(|&one| one == expected), "{expected}");
}

/// Host 2 is in two rings of two: what hosts 0 and 1 send to it at once comes one after the other, and so does what it sends.
#[test]
fn two_senders_to_one_host_wait_for_each_other() {
    let chunk = 100_000;
    let rings = ring("a", &[0, 2], 2 * chunk, 1) + &ring("b", &[1, 2], 2 * chunk, 1);
    let run = run(&around_a_switch(3, &format!("{}{rings}", server(3, 3, ""))));
    run.assert_complete(4);
    let (d, t) = (DELAY, time(chunk, RATE));
    assert!(t < d, "else they would wait otherwise");
    let mut latencies = run.latencies();
    latencies.sort_unstable();
    assert_eq!(latencies, [2 * d + 2 * t, 2 * d + 2 * t, 2 * d + 3 * t, 2 * d + 3 * t]);
}

/// Packets of two messages that leave a host at once take turns, so that both are done at about the same time.
#[test]
fn packets_of_two_messages_take_turns() {
    let chunk = 40_960;
    let rings = ring("a", &[0, 2], 2 * chunk, 1) + &ring("b", &[1, 2], 2 * chunk, 1);
    let whole = run(&around_a_switch(3, &format!("{}{rings}", server(3, 3, ""))));
    let servers = server(3, 3, "packet = \"4KiB\"");
    let cut = run(&around_a_switch(3, &format!("{servers}{rings}")));
    cut.assert_complete(4);
    let first = |run: &crate::support::Run| run.latencies().into_iter().min().unwrap();
    assert!(first(&cut) > first(&whole), "it shares the way");
    let (d, t) = (DELAY, time(4_096, RATE));
    // Host 2 sends the first packet of `a` before `b` is posted, then they take turns: the last one of `a` ends after 18 t, and host
    // 0 answers. Of its ten packets the last reaches host 2 when 7 of `b` are before it there, which host 1 began 2 t later.
    assert_eq!(first(&cut), 2 * d + 18 * t + (9 + 7) * t + t);
}

/// Steps between servers cross the network, as without NVLink.
#[test]
fn a_ring_over_two_servers_uses_both() {
    let (hosts, chunk, iterations) = (8, 10_000, 2);
    let ring = ring("r", &all(hosts), u64::from(hosts) * chunk, iterations);
    let run = run(&around_a_switch(hosts, &format!("{}{ring}", server(hosts, 4, ""))));
    run.assert_complete(2 * hosts as usize);
    let messages = u64::from(iterations) * 14;
    assert_eq!(sent(&run), 6 * messages * chunk, "six of eight ways are inside");
    let of_network = run.simulation.network().nic_counters().payload_delivered;
    assert_eq!(of_network, 2 * messages * chunk);
    let over: Vec<_> = run.plan.connections.iter().map(|one| one.is_nvlink).collect();
    assert_eq!(over, [true, true, true, false, true, true, true, false]);
}

#[test]
fn flows_and_applications_of_steps_stay_in_the_network() {
    let more = "[workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"10KB\" }]\n\
                [workload.ping-pong]\nclients = [\"host-1\"]\nservers = [\"host-2\"]\nbytes = \"64B\"\niterations = 5\n";
    let run = run(&around_a_switch(4, &format!("{}{more}", server(4, 4, ""))));
    run.assert_complete(5);
    assert_eq!(sent(&run), 0);
}

#[test]
fn servers_without_nvlink_change_nothing() {
    let ring = ring("r", &all(4), 100_000, 2);
    let servers = "[[server]]\nname = \"node\"\nports = [\"host-0..host-3\"]\nsize = 2\n";
    let digest = |text: &str| run(&around_a_switch(4, text)).simulation.network().digest();
    let without = digest(&ring);
    assert_eq!(digest(&format!("{servers}{ring}")), without);
    assert_ne!(digest(&format!("{}{ring}", server(4, 2, ""))), without);
}

#[test]
fn presets_and_topologies_make_servers() {
    let domains = |plan: &Plan| {
        let domain = |one: &rocelab_sim::NvlinkDomain| {
            (one.server.clone(), one.hosts.clone(), one.link.rate.to_string())
        };
        plan.nvlink.domains().iter().map(domain).collect::<Vec<_>>()
    };
    let ring = ring("r", &[0, 1], 1_000, 1);
    let sixteen = "[[server]]\nname = \"a\"\nports = [\"host-0..host-15\"]\npreset = \"b200\"\n";
    let of_preset = plan(&around_a_switch(16, &format!("{sixteen}{ring}")));
    let eight = |first: u32| (first..first + 8).collect::<Vec<_>>();
    let rate = || "7.2Tbps".to_owned();
    assert_eq!(
        domains(&of_preset),
        [("a-0".to_owned(), eight(0), rate()), ("a-1".to_owned(), eight(8), rate())]
    );
    let of_topology = plan(
        "[topology.rail-optimised]\nservers = 2\ngpus_per_server = 2\nspines = 1\n\
         nic_link = { rate = \"400Gbps\", cable = \"3m\" }\n\
         fabric_link = { rate = \"400Gbps\", cable = \"30m\" }\n\
         [[server]]\nname = \"node\"\nnvlink = { rate = \"1Tbps\" }\n\
         [workload.all-reduce]\nhosts = [\"node-0..node-1\"]\nbytes = \"1KB\"\n",
    );
    let rate = || "1Tbps".to_owned();
    assert_eq!(
        domains(&of_topology),
        [("node-0".to_owned(), vec![0, 1], rate()), ("node-1".to_owned(), vec![2, 3], rate())]
    );
}

/// Rails that nothing joins: a ring whose steps are along rails and inside servers runs.
#[test]
fn a_ring_along_rails_runs_on_rails_that_nothing_joins() {
    let text = "[topology.rail-only]\nservers = 2\ngpus_per_server = 2\n\
        nic_link = { rate = \"400Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
        [[server]]\nname = \"node\"\nnvlink = { rate = \"1Tbps\" }\n\
        [workload.all-reduce]\nhosts = [\"gpu-0\", \"gpu-1\", \"gpu-3\", \"gpu-2\"]\nbytes = \"40KB\"\n";
    let run = run(text);
    run.assert_complete(4);
    assert_eq!(sent(&run), 2 * 6 * 10_000);
}
