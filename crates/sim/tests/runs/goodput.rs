//! Goodput: what receivers accept, once, over a time in which the run was busy.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rocelab_results::{
    FlowRecord, GoodputRule, Overwrite, Results, ResultsDir, RunInfo, SeriesFile, Summary,
};
use rocelab_sim::{Planning, Scenario};

fn run(name: &str, text: &str) -> (Summary, Results) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("goodput-{name}"));
    let place: PathBuf = folder.join("scenario.toml");
    let scenario = Scenario::parse(text, &place, &[]).and_then(|scenario| scenario.plan());
    let plan = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let directory = ResultsDir::create(&folder, Overwrite::Replace).expect("a folder of ours");
    let outcome = rocelab_sim::run(
        plan.into(),
        (&directory).into(),
        rocelab_sim::Execution::SEQUENTIAL,
        &mut |_| ControlFlow::Continue(()),
    );
    let summary = outcome.unwrap_or_else(|error| panic!("{error}\n{text}")).summary;
    directory.finish(&summary, &RunInfo::default()).expect("results take their place");
    (summary, Results::open(folder).expect("results"))
}

/// Hosts around a switch, on links of 100 Gbit/s.
fn star(rest: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = 4\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n{rest}"
    )
}

/// Payload per second on such a link: MTU 1024 in frames of 1,082 bytes, and 20 of preamble and gap.
const FULL: f64 = 100e9 * 1024.0 / 1102.0;

fn is_about(found: u64, expected: f64) -> bool {
    (found as f64 / expected - 1.0).abs() < 0.02
}

#[test]
fn a_slow_flow_is_in_the_tail_and_not_in_the_goodput() {
    // 10 MB at full rate take 0.86 ms; 200 KB over a link of 0.5 Gbit/s 3.4 ms.
    let slow =
        "[[failure]]\nkind = \"link-rate\"\nport = \"host-3:0\"\nrate = \"0.5Gbps\"\nat = \"0s\"\n";
    let flows = "[congestion_control.none]\n[workload.flows]\nlist = [\n\
                 { from = \"host-1\", to = \"host-0\", bytes = \"10MB\" },\n\
                 { from = \"host-3\", to = \"host-2\", bytes = \"200KB\" },\n]\n";
    let (summary, _) = run("tail", &star(&format!("{flows}{slow}")));
    let goodput = summary.goodput.unwrap();
    assert_eq!(goodput.rule, GoodputRule::Until95Percent);
    assert!(is_about(goodput.bps(), FULL), "{goodput:?}");
    assert_eq!(summary.goodput_bps, Some(goodput.bps()));
    assert_eq!(goodput.bytes, 10_200_000 - 10_200_000 / 20);
    let tail = goodput.tail.unwrap();
    assert_eq!(tail.bytes, 10_200_000 / 20);
    // To the last completion: all that the run lasts.
    assert_eq!(goodput.duration_ps + tail.duration_ps, summary.fct_ps.unwrap().max);
}

#[test]
fn flows_that_come_all_the_time_are_measured_while_they_come() {
    // 25 of 100 KB, one each 20 us: 40 Gbit/s of payload. The last of them is slow.
    let slow = "[[failure]]\nkind = \"link-rate\"\nport = \"host-1:0\"\nrate = \"2Gbps\"\nat = \"479us\"\n";
    let each = |k: u32| {
        format!(
            "{{ from = \"host-1\", to = \"host-0\", bytes = \"100KB\", start = \"{}us\" }},\n",
            20 * k
        )
    };
    let flows: String = (0..25).map(each).collect();
    let text = format!("[congestion_control.none]\n[workload.flows]\nlist = [\n{flows}]\n{slow}");
    let (summary, _) = run("between", &star(&text));
    let goodput = summary.goodput.unwrap();
    assert_eq!((goodput.rule, goodput.bytes), (GoodputRule::BetweenStarts, 2_400_000));
    // The time ends with a bin of the log, by a 2,048th early at the most.
    assert!((479_765_625..=480_000_000).contains(&goodput.duration_ps), "{goodput:?}");
    assert_eq!(summary.goodput_bps, Some(goodput.bps()));
    let rest = goodput.tail.unwrap();
    assert_eq!(rest.bytes, 100_000);
    // The last flow starts at 480 us, and the run ends with it.
    let end = 480_000_000 + summary.fct_ps.unwrap().max;
    assert_eq!(goodput.duration_ps + rest.duration_ps, end);
}

#[test]
fn what_arrived_of_unfinished_flows_counts() {
    let flows = "stop = \"500us\"\n[congestion_control.none]\n";
    let list = "[workload.flows]\nlist = [\n{ from = \"host-1\", to = \"host-0\", bytes = \"100MB\" },\n\
                { from = \"host-1\", to = \"host-0\", bytes = \"1MB\", start = \"1ms\" },\n]\n";
    for verb in ["write", "send", "read"] {
        let list =
            list.replace("[workload.flows]", &format!("[workload.flows]\nverb = \"{verb}\""));
        let (summary, _) = run(&format!("open-{verb}"), &format!("{flows}{}", star(&list)));
        assert_eq!((summary.flows.completed, summary.flows.unfinished), (0, 2));
        let goodput = summary.goodput.unwrap();
        // The flow that was to start later is none of the starts.
        assert_eq!(goodput.rule, GoodputRule::WholeRun, "{verb}");
        assert!(is_about(goodput.bps(), FULL), "{verb}: {goodput:?}");
        assert_eq!((goodput.duration_ps, goodput.tail), (500_000_000, None), "{verb}");
    }
}

/// A link fails for good: the time in which nothing arrives any more counts.
#[test]
fn a_run_whose_traffic_dies_has_the_goodput_of_all_its_time() {
    let list = "[workload.flows]\nlist = [{ from = \"host-1\", to = \"host-0\", bytes = \"1GB\" }]\n\
                [[failure]]\nkind = \"link-down\"\nport = \"host-0:0\"\nat = \"1ms\"\n";
    let text = format!("stop = \"20ms\"\n[congestion_control.none]\n{}", star(list));
    let goodput = run("dies", &text).0.goodput.unwrap();
    assert_eq!((goodput.rule, goodput.duration_ps), (GoodputRule::WholeRun, 20_000_000_000));
    assert!(is_about(goodput.bps(), FULL / 20.0), "{goodput:?}");
}

#[test]
fn flows_that_were_to_start_later_do_not_count() {
    let text = |more: &str| {
        let flows = star(&format!(
            "[workload.flows]\nlist = [\n\
             {{ from = \"host-0\", to = \"host-1\", bytes = \"1MB\" }},\n\
             {{ from = \"host-2\", to = \"host-3\", bytes = \"1MB\", start = \"100us\" }},\n{more}]\n"
        ));
        format!("stop = \"10ms\"\n{flows}")
    };
    let later = "{ from = \"host-2\", to = \"host-1\", bytes = \"1MB\", start = \"20ms\" },\n";
    let [without, with] =
        [("all-start", ""), ("one-later", later)].map(|(name, more)| run(name, &text(more)).0);
    assert_eq!((with.flows.unfinished, without.flows.unfinished), (1, 0));
    assert_eq!(with.goodput, without.goodput);
    assert_eq!(with.goodput.unwrap().rule, GoodputRule::BetweenStarts);
}

#[test]
fn without_payload_there_is_no_goodput() {
    // The first packet is still on its way; or the flow would have started later.
    for (name, stop, start) in [("nothing", "100ns", "0s"), ("later", "20us", "1ms")] {
        let flow = format!(
            "{{ from = \"host-1\", to = \"host-0\", bytes = \"1KB\", start = \"{start}\" }}"
        );
        let flows = star(&format!("[workload.flows]\nlist = [{flow}]\n"));
        let (summary, _) = run(name, &format!("stop = \"{stop}\"\n{flows}"));
        assert_eq!((summary.goodput_bps, summary.goodput), (None, None), "{name}");
    }
    let one =
        "[workload.flows]\nlist = [{ from = \"host-1\", to = \"host-0\", bytes = \"1KB\" }]\n";
    let (summary, _) = run("one", &star(one));
    let goodput = summary.goodput.unwrap();
    assert!(goodput.duration_ps > 0 && goodput.bps() < 100_000_000_000, "{goodput:?}");
}

/// What of a message of a service comes to its receiver when packets are lost, repeated and out of
/// order: each byte once. The audit at the end of a run compares what goodput is made of with the payload
/// of flows and operations.
#[test]
fn repeated_packets_do_not_count_again() {
    let faults = "[[faults]]\naction = \"drop\"\nopcode = \"data\"\nprobability = 0.01\n\
                  [[faults]]\naction = \"reorder\"\nbehind = 2\nprobability = 0.01\n\
                  [[faults]]\naction = \"duplicate\"\nprobability = 0.01\n";
    for recovery in ["go-back-n", "go-back-0", "selective-repeat"] {
        for verb in ["write", "send", "read"] {
            let text = format!(
                "stop = \"1s\"\n[roce]\nrecovery = \"{recovery}\"\nack_timeout = 8\n{}",
                star(&format!(
                    "[congestion_control.none]\n[workload.flows]\nverb = \"{verb}\"\nlist = [\n\
                     {{ from = \"host-1\", to = \"host-0\", bytes = \"60KB\" }},\n\
                     {{ from = \"host-2\", to = \"host-0\", bytes = \"90KB\" }},\n]\n{faults}"
                ))
            );
            let (summary, _) = run(&format!("lossy-{recovery}-{verb}"), &text);
            assert_eq!(summary.flows.completed, 2, "{recovery} {verb}");
            assert!(summary.retransmissions > 0, "{recovery} {verb}");
            let goodput = summary.goodput.unwrap();
            assert_eq!(goodput.bytes + goodput.tail.unwrap().bytes, 150_000, "{recovery} {verb}");
        }
    }
}

#[test]
fn applications_and_tcp_have_a_goodput_of_their_own() {
    let text = "[congestion_control.none]\n[workload.storage]\nname = \"disk\"\nclients = [\"host-0\"]\n\
                servers = [\"host-1\"]\nblock = \"4KiB\"\nread_fraction = 0.5\nqueue_depth = 4\n\
                operations = 500\n";
    let (summary, _) = run("apps", &star(text));
    assert_eq!((summary.goodput_bps, summary.flows.total), (None, 0));
    let disk = &summary.operations[0];
    let goodput = disk.goodput.unwrap();
    assert_eq!(goodput.rule, GoodputRule::BetweenStarts);
    // Command, block and response.
    let payload = 64 + 4_096 + 16;
    let expected = (disk.per_second * payload * 8) as f64;
    assert!(is_about(goodput.bps(), expected), "{goodput:?}, {expected}");

    let text = "[congestion_control.none]\n[[workload.flows]]\ntransport = \"tcp\"\nlist = [\n\
                { from = \"host-1\", to = \"host-0\", bytes = \"1MB\" },\n]\n[[workload.flows]]\nlist = [\n\
                { from = \"host-2\", to = \"host-3\", bytes = \"3MB\" },\n]\n";
    // A host's stack hands segments on some time after they came.
    let stack = format!("[tcp]\nreceive_delay = \"7us\"\njitter = \"2us\"\n{}", star(text));
    run("tcp-stack", &stack);
    let (summary, _) = run("tcp", &star(text));
    let bytes = |name: &str| {
        let goodput = summary.transports[name].goodput.unwrap();
        goodput.bytes + goodput.tail.unwrap().bytes
    };
    assert_eq!((bytes("tcp"), bytes("rdma")), (1_000_000, 3_000_000));
    let goodput = summary.goodput.unwrap();
    assert_eq!(goodput.bytes + goodput.tail.unwrap().bytes, 4_000_000);
}

/// 100 KB at 1 Mbit/s take 10,000 times as long as all else.
#[test]
fn the_length_of_the_tail_does_not_change_the_goodput() {
    let pair = |k: u32| {
        format!("{{ from = \"host-{}\", to = \"host-{}\", bytes = \"1MB\" }},\n", 2 * k, 2 * k + 1)
    };
    let flows: String = (0..10).map(pair).collect();
    let goodput_of = |rate: &str| {
        let text = format!(
            "stop = \"3s\"\n[topology.single-switch]\nhosts = 22\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
             [[workload.flows]]\nlist = [\n{flows}]\n[[workload.flows]]\n\
             congestion_control = {{ none = {{ rate = \"{rate}\" }} }}\nlist = [\n\
             {{ from = \"host-20\", to = \"host-21\", bytes = \"100KB\" }},\n]\n"
        );
        run(&format!("slow-{rate}"), &text).0.goodput.unwrap().bps() as f64
    };
    let expected = 10.0 * FULL;
    for rate in ["100Mbps", "1Mbps"] {
        let found = goodput_of(rate);
        assert!((found / expected - 1.0).abs() < 0.015, "{rate}: {found} of {expected}");
    }
}

/// When an application or the flows of a transport start does not change what their goodput is.
#[test]
fn goodput_does_not_depend_on_the_time_of_the_start() {
    let goodputs = |start: &str| {
        let text = format!(
            "[tcp]\n[topology.single-switch]\nhosts = 6\n\
             link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n[congestion_control.none]\n\
             [[workload.flows]]\nlist = [ {{ from = \"host-0\", to = \"host-1\", bytes = \"10KB\" }} ]\n\
             [[workload.flows]]\ntransport = \"tcp\"\n\
             list = [ {{ from = \"host-2\", to = \"host-3\", bytes = \"1MB\", start = \"{start}\" }} ]\n\
             [[workload.ping-pong]]\nname = \"pp\"\nclients = [\"host-4\"]\nservers = [\"host-5\"]\n\
             iterations = 100\nbytes = \"64KB\"\nstart = \"{start}\"\n"
        );
        let (summary, _) = run(&format!("late-{start}"), &text);
        [summary.transports["tcp"].goodput_bps, summary.operations[0].goodput_bps]
    };
    let early = goodputs("1us");
    assert!(early.iter().all(Option::is_some));
    assert_eq!(goodputs("2s"), early);
}

/// With go-back-0 a message of many packets is for nothing until its last one arrives: the livelock of
/// SIGCOMM'16 delivers nothing, however busy the link is.
#[test]
fn what_is_thrown_away_is_no_goodput() {
    let every = "[[faults]]\naction = \"drop\"\nopcode = \"data\"\nevery = 256\n";
    for verb in ["write", "send", "read"] {
        let text = format!(
            "stop = \"2ms\"\n[roce]\nrecovery = \"go-back-0\"\n{}",
            star(&format!(
                "[congestion_control.none]\n[workload.flows]\nverb = \"{verb}\"\nlist = [\n\
                 {{ from = \"host-1\", to = \"host-0\", bytes = \"4MB\" }},\n]\n{every}"
            ))
        );
        let (summary, _) = run(&format!("livelock-{verb}"), &text);
        assert_eq!((summary.goodput_bps, summary.flows.unfinished), (None, 1), "{verb}");
        assert!(summary.link_traversals.data > 5_000, "{verb}");
    }
}

/// No host receives more than its link carries in an interval, and one packet. Before, what was
/// acknowledged counted, and acknowledgements that had waited behind data of the other direction came all
/// at once.
#[test]
fn no_series_of_goodput_exceeds_the_link() {
    const INTERVAL_PS: u64 = 2_000_000;
    let both_ways = "list = [\n{ from = \"host-1\", to = \"host-0\", bytes = \"2MB\" },\n\
                     { from = \"host-0\", to = \"host-1\", bytes = \"2MB\" },\n\
                     { from = \"host-2\", to = \"host-0\", bytes = \"1MB\" },\n\
                     { from = \"host-3\", to = \"host-1\", bytes = \"1MB\", start = \"30us\" },\n]\n";
    let faults = "[[faults]]\naction = \"drop\"\nopcode = \"data\"\nprobability = 0.002\n";
    let storm =
        "[[failure]]\nkind = \"pause-storm\"\nhost = \"host-1\"\nat = \"40us\"\nlasts = \"50us\"\n";
    for (name, roce, workload, rest) in [
        ("plain", "", "", ""),
        ("send", "", "verb = \"send\"\n", storm),
        ("read", "", "verb = \"read\"\n", storm),
        ("coalesced", "ack_interval = 32\npath_mtu = 4096\n", "", storm),
        ("selective", "recovery = \"selective-repeat\"\nack_timeout = 8\n", "", faults),
        ("unreliable", "service = \"uc\"\n", "", faults),
        ("tcp", "", "transport = \"tcp\"\n", ""),
    ] {
        let text = format!(
            "stop = \"3ms\"\n[roce]\n{roce}{}",
            star(&format!(
                "[congestion_control.none]\n[workload.flows]\n{workload}{both_ways}{rest}\
                 [sample.rates]\ninterval = \"2us\"\n"
            ))
        );
        let (summary, results) = run(&format!("series-{name}"), &text);
        let file = SeriesFile { path: "samples/rates.csv", value: "goodput_bps" };
        let mut sums: BTreeMap<(String, u64), u64> = BTreeMap::new();
        let mut bits = 0.0;
        for row in results.series(file).unwrap().unwrap().map(Result::unwrap) {
            *sums.entry((row.node, row.time_ps)).or_default() += row.value;
            bits += row.value as f64 * INTERVAL_PS as f64 / 1e12;
        }
        let limit = 100_000_000_000 + 4_096 * 8 * 1_000_000_000_000 / INTERVAL_PS;
        for (place, rate) in &sums {
            assert!(*rate <= limit, "{name}: {rate} at {place:?}");
        }
        assert!(sums.len() > 50, "{name}");
        let flows: Vec<FlowRecord<'_>> = results.flows().unwrap().map(Result::unwrap).collect();
        let bytes: u64 = flows.iter().map(|flow| flow.bytes).sum();
        if summary.flows.completed == 4 {
            // The last interval of a run may be shorter, and rates are rounded.
            assert!((bits / 8.0 / bytes as f64 - 1.0).abs() < 2e-3, "{name}: {bits} of {bytes}");
        }
    }
}
