//! Hosts that take time: published latencies and rates, over whole runs.

use std::sync::Arc;

use rocelab_sim::network::RecordKind;
use rocelab_sim::{Ending, Simulation};
use rocelab_transport::CompletionStatus;

use crate::support::{plan, run};

#[track_caller]
fn assert_within(measured: f64, (low, high): (f64, f64), what: &str) {
    assert!((low..=high).contains(&measured), "{what}: {measured} is not within {low} and {high}");
}

#[track_caller]
fn about(measured: f64, expected: f64, share: f64, what: &str) {
    assert_within(measured, (expected * (1.0 - share), expected * (1.0 + share)), what);
}

/// The hardware that the latencies were measured on: a channel adapter of 100 Gbit/s that handles 150 million packets a
/// second, on PCIe 3.0 x16.
const ADAPTER: &str = "[[host_model]]\nprofile = \"cx5\"\nrates = { packets = 150e6 }\n";

/// Two hosts, back to back on a link of InfiniBand EDR.
fn edr(mtu: u32, rest: &str) -> String {
    format!(
        "[topology.graph]\nhosts = [\"left\", \"right\"]\nlinks = [{{ from = [\"left\"], to = \
         [\"right\"], link = {{ rate = \"EDR\", cable = \"3m\" }} }}]\n[infiniband]\nvl_buffer = \
         \"64KiB\"\n[roce]\npath_mtu = {mtu}\n{rest}"
    )
}

/// The same on Ethernet.
fn ethernet(mtu: u32, rest: &str) -> String {
    format!(
        "[topology.graph]\nhosts = [\"left\", \"right\"]\nlinks = [{{ from = [\"left\"], to = \
         [\"right\"], link = {{ rate = \"100Gbps\", cable = \"3m\" }} }}]\n[congestion_control.none]\n\
         [roce]\npath_mtu = {mtu}\n{rest}"
    )
}

/// Half a round trip of SENDs, after caches have warmed up (us).
fn half_round_trip(network: &str, bytes: u64) -> f64 {
    let run = run(&format!(
        "{network}[workload.ping-pong]\nclients = [\"left\"]\nservers = [\"right\"]\nbytes = \
         \"{bytes}B\"\niterations = 20\n"
    ));
    run.assert_complete(20);
    *run.latencies().last().expect("there are 20") as f64 / 2e6
}

/// How long a flow takes (us), which follows one that warms caches up.
fn completion_time(network: &str, flow: &str) -> f64 {
    time_of_messages(network, flow, "1GiB")
}

/// The same of a flow in messages of this size.
fn time_of_messages(network: &str, flow: &str, message: &str) -> f64 {
    let text = format!(
        "{network}[workload.flows]\nmessage = \"{message}\"\nlist = [{{ from = \"left\", to = \"right\", {flow} }}]\n"
    );
    let plan = Arc::new(plan(&text));
    let mut simulation: Simulation = Simulation::new(plan).expect("a plan becomes a network");
    while simulation.advance(10_000).is_none() {}
    simulation.network().audit().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let ends = simulation.take_records().into_iter().filter_map(|record| match record.kind {
        RecordKind::FlowEnd(end) => Some(end),
        _ => None,
    });
    let ends: Vec<_> = ends.collect();
    assert!(ends.iter().all(|end| end.status == CompletionStatus::Success), "{ends:?}");
    ends.last().expect("a flow ends").finished.ps() as f64 / 1e6
}

/// Points 4 and 5: latencies of a reliable connection (D. Potter, master's thesis).
#[test]
fn latencies_are_those_measured_on_edr() {
    let network = edr(4096, ADAPTER);
    for (bytes, expected, share) in
        [(32, 0.82, 0.05), (1024, 1.55, 0.06), (4096, 2.26, 0.06), (32_768, 4.57, 0.06)]
    {
        about(half_round_trip(&network, bytes), expected, share, &format!("{bytes} bytes"));
    }
}

/// Point 6: what is stored and forwarded is 4 KiB, whatever the path MTU is. Longer messages are bound by the wire, which
/// carries 10 % more of headers with the smallest packets.
#[test]
fn latencies_do_not_depend_on_the_path_mtu() {
    let network = |mtu| edr(mtu, ADAPTER);
    for bytes in [32, 1024, 4096] {
        let large = half_round_trip(&network(4096), bytes);
        for mtu in [256, 512, 1024, 2048] {
            about(half_round_trip(&network(mtu), bytes), large, 0.03, &format!("{bytes}, {mtu}"));
        }
    }
    let (small, large) =
        (half_round_trip(&network(256), 32_768), half_round_trip(&network(4096), 32_768));
    assert_within(small / large, (1.03, 1.10), "32 KiB in packets of 256 bytes");
}

/// Point 7: datagrams.
#[test]
fn datagrams_are_as_quick() {
    let network = edr(4096, &format!("service = \"ud\"\n{ADAPTER}"));
    about(completion_time(&network, "bytes = \"32B\", verb = \"send\""), 0.86, 0.08, "32 bytes");
    let kilobyte = completion_time(&network, "bytes = \"1KiB\", verb = \"send\"");
    assert_within(kilobyte, (1.44 * 0.92, 1.54 * 1.08), "1 KiB");
}

/// Points 8 and 9: what is long is bound by the wire.
#[test]
fn long_messages_fill_the_link() {
    let network = edr(4096, ADAPTER);
    about(completion_time(&network, "bytes = \"2MiB\", verb = \"write\""), 176.0, 0.03, "2 MiB");
    let bytes = 128 << 16;
    let flow = format!("bytes = \"{bytes}B\", verb = \"write\"");
    let time = time_of_messages(&network, &flow, "64KiB");
    assert_within(f64::from(bytes) * 8.0 / time / 1e3, (96.0, 99.4), "goodput");
}

/// Point 10: on Ethernet packets must have 512 bytes to fill the link (SwCC).
#[test]
fn small_packets_do_not_fill_the_link() {
    let share_of_line = |mtu: u32| {
        let network = ethernet(mtu, "[[host_model]]\nprofile = \"cx5\"\n");
        let bytes = 8 << 20;
        let time = completion_time(&network, &format!("bytes = \"{bytes}B\", verb = \"write\""));
        let frames = f64::from(bytes) / f64::from(mtu);
        // IP, UDP, BTH, ICRC, Ethernet, preamble and gap.
        frames * f64::from(mtu + 20 + 8 + 12 + 4 + 18 + 20) * 8.0 / time / 1e5
    };
    assert!(share_of_line(256) < 0.95, "{}", share_of_line(256));
    for mtu in [512, 1024] {
        assert!(share_of_line(mtu) > 0.97, "{mtu}: {}", share_of_line(mtu));
    }
}

/// Point 16: others use memory, and what arrives has to wait.
#[test]
fn contention_for_memory_halves_what_a_host_takes() {
    let text = |factor: f64, lossless: &str| {
        format!(
            "[topology.single-switch]\nhosts = 3\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             [congestion_control.none]\n[roce]\nack_timeout = 8\n[switch]\nbuffer = \"2MB\"\nlossless = {lossless}\n\
             [[host_model]]\nhosts = [\"host-0\"]\nprofile = \"cx5\"\n\
             [[host_model.contention]]\nat = \"0s\"\nlasts = \"1s\"\nfactor = {factor:?}\n\
             [workload.flows]\nlist = [{{ from = \"host-1\", to = \"host-0\", bytes = \"10MB\" }}]\n"
        )
    };
    let time = |factor, lossless: &str| {
        let run = run(&text(factor, lossless));
        assert_eq!(run.ending, Ending::Finished);
        let totals = run.simulation.network().totals(run.simulation.now());
        (run.simulation.now().ps() as f64, totals)
    };
    let ((alone, before), (congested, pausing)) = (time(1.0, "[3]"), time(2.0, "[3]"));
    assert_within(1.0 - alone / congested, (0.35, 0.55), "loss of goodput");
    assert_eq!((before.pauses, pausing.frames_dropped), (0, 0));
    assert!(pausing.pauses > 0);
    let (_, dropping) = time(2.0, "[]");
    assert!(dropping.drops["receiver_full"] > 0 && dropping.pauses == 0);
}

/// Point 17: a READ reads the responder's memory.
#[test]
fn a_read_takes_one_read_of_memory_longer() {
    let network = edr(4096, ADAPTER);
    let time =
        |verb: &str| completion_time(&network, &format!("bytes = \"32B\", verb = \"{verb}\""));
    assert_within(time("read") - time("write"), (0.5, 1.0), "READ longer than WRITE");
}

/// Point 20: a host that takes no time is as one without a model.
#[test]
fn a_model_without_times_changes_nothing() {
    let digest = |text: &str| {
        let run = run(text);
        assert_eq!(run.ending, Ending::Finished, "{text}");
        (run.simulation.network().digest(), run.simulation.now())
    };
    let apps = "[workload.ping-pong]\nclients = [\"left\"]\nservers = [\"right\"]\nbytes = \"9KB\"\n\
                iterations = 30\n[workload.storage]\nclients = [\"left\"]\nservers = [\"right\"]\n\
                block = \"64KiB\"\noperations = 20\nqueue_depth = 4\nread_fraction = 0.5\n\
                [workload.flows]\nmessage = \"10KB\"\nlist = [{ from = \"left\", to = \"right\", bytes = \"1MB\" }, \
                { from = \"right\", to = \"left\", bytes = \"1MB\", verb = \"read\" }]\n";
    for network in [edr(1024, ""), ethernet(1024, ""), ethernet(4096, "version = 1\n")] {
        let text = format!("{network}{apps}");
        assert_eq!(digest(&text), digest(&format!("{text}[[host_model]]\nprofile = \"none\"\n")));
    }
}

/// Hosts around a switch, host-0 of which has this model.
fn star(hosts: u32, top: &str, model: &str, rest: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = {hosts}\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [congestion_control.none]\n{top}[[host_model]]\nhosts = [\"host-0\"]\n{model}\n{rest}"
    )
}

const LOSSLESS: &str = "[switch]\nbuffer = \"12MB\"\nlossless = [3]\n";

/// When a run of flows is over that all begin at this time (us), counted from there.
fn time_from(text: &str, start: u64) -> f64 {
    let run = run(text);
    assert_eq!(run.ending, Ending::Finished, "{text}");
    (run.simulation.now().ps() - start) as f64 / 1e6
}

/// A thread that is busy with work for one queue pair does not hold up the others.
#[test]
fn what_is_posted_later_holds_nothing_up() {
    let bulk =
        "[workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }]\n";
    let small = "[workload.app]\nclients = [\"host-0\"]\nservers = [\"host-2\"]\nqueue_depth = 64\n\
                 operations = 100\nsteps = [{ by = \"client\", verb = \"write\", bytes = \"64B\" }]\n";
    let model = "cpu = { threads = 4, post = \"1us\" }";
    let run = run(&star(3, LOSSLESS, model, &format!("{bulk}{small}")));
    assert_eq!(run.ending, Ending::Finished);
    let bulk_alone = time_from(&star(3, LOSSLESS, model, bulk), 0);
    let flow = run.flow_ends.first().expect("the flow ends").finished.ps() as f64 / 1e6;
    assert_within(flow / bulk_alone, (0.99, 1.05), "beside small messages");
}

/// Posting goes on while packets leave.
#[test]
fn posting_and_sending_overlap() {
    let text = |start: &str| {
        star(
            2,
            LOSSLESS,
            "",
            &format!(
                "[workload.flows]\nmessage = \"1KiB\"\nlist = [{{ from = \"host-0\", to = \"host-1\", \
                 bytes = \"1MiB\", start = \"{start}\" }}]\n"
            ),
        )
    };
    // 1024 work requests, one each 120 ns, take longer than the processor and the link.
    let time = time_from(&text("0s"), 0);
    about(time, 1024.0 * 0.12, 0.03, "1 MiB in messages of 1 KiB");
    about(time_from(&text("1ms"), 1_000_000_000), time, 1e-9, "later");
}

/// READs of several clients fill the link of a server.
#[test]
fn reads_fill_the_link_of_a_server() {
    for clients in [2, 8] {
        let run = run(&star(
            clients + 1,
            LOSSLESS,
            "",
            &format!(
                "[workload.app]\nclients = [\"host-1..host-{clients}\"]\nservers = [\"host-0\"]\n\
                 queue_depth = 16\noperations = 200\nsteps = [{{ by = \"client\", verb = \"read\", \
                 bytes = \"4KiB\" }}]\n"
            ),
        ));
        assert_eq!(run.ending, Ending::Finished);
        let bits = f64::from(clients) * 200.0 * 4096.0 * 8.0;
        let rate = bits / (run.simulation.now().ps() as f64 / 1e3);
        assert!(rate > 85.0, "{clients} clients: {rate} Gbit/s");
    }
}

/// On InfiniBand slow memory holds the sender's credits, and requests of a queue pair keep their order.
#[test]
fn slow_memory_holds_credits_and_order() {
    let text = star(
        2,
        "[infiniband]\nvl_buffer = \"32KiB\"\n",
        "memory = { posted_credits = 9 }",
        "[workload.storage]\nclients = [\"host-1\"]\nservers = [\"host-0\"]\nblock = \"16KiB\"\n\
         operations = 60\nqueue_depth = 8\nread_fraction = 0.5\n[workload.flows]\nlist = [{ from = \
         \"host-1\", to = \"host-0\", bytes = \"500KB\" }, { from = \"host-0\", to = \"host-1\", \
         bytes = \"500KB\" }]\n",
    );
    let run = run(&text);
    assert_eq!(run.ending, Ending::Finished);
    let network = run.simulation.network();
    let drops = network.totals(run.simulation.now()).frames_dropped;
    assert_eq!((drops, network.nic_counters().naks_sent.packets), (0, 0));
    let (_, counts, _) = network.host_counts()[0];
    let peak = counts.max_buffered;
    assert!((10_000..=32 << 10).contains(&peak), "{peak} bytes in the adapter");
}

/// Point 11: from a packet that leaves until the rate holds that follows from its acknowledgement, as published of a
/// ConnectX-5.
#[test]
fn the_loop_of_control_is_that_measured_on_connectx_5() {
    let network = "[topology.graph]\nhosts = [\"left\", \"right\"]\nlinks = [{ from = [\"left\"], to = \
                   [\"right\"], link = { rate = \"100Gbps\", cable = \"3m\" } }]\n\
                   [congestion_control.swift]\nbase_target = \"100ns\"\n[[host_model]]\n\
                   [sample.rates]\ninterval = \"10ns\"\n[sample.utilisation]\ninterval = \"10ns\"\n\
                   ports = [\"left:0\"]\n[workload.flows]\nlist = [{ from = \"left\", to = \"right\", \
                   bytes = \"100KB\" }]\n";
    for mtu in [1024, 4096] {
        let text = format!("{network}[roce]\npath_mtu = {mtu}\n");
        let mut simulation: Simulation =
            Simulation::new(Arc::new(plan(&text))).expect("a plan becomes a network");
        while simulation.advance(10_000).is_none() {}
        let records = simulation.take_records();
        let departure = records.iter().find_map(|record| match &record.kind {
            RecordKind::Use(sent) if sent.bytes > 0 => Some(record.key.time),
            _ => None,
        });
        let rates = records.iter().filter_map(|record| match &record.kind {
            RecordKind::Rate(rate) => Some((record.key.time, rate.allowed)),
            _ => None,
        });
        let departure = departure.expect("packets leave");
        let mut rates = rates.skip_while(|&(time, _)| time <= departure);
        let (_, first) = rates.next().expect("the flow has begun");
        let (changed, _) = rates
            .find(|&(_, allowed)| allowed != first)
            .expect("the first delay is above the target");
        about(changed.since(departure).ps() as f64 / 1e6, 3.1, 0.15, "the loop of control");
    }
}
