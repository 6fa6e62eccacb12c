//! Counters of single flows: what was expected follows from the links, or from what the whole run counts.

use rocelab_results::{FlowCountersRecord, Results, SeriesFile};
use rocelab_sim::{Planning, Scenario};

use super::sampling::run;

/// Two hosts at 40 Gbit/s: a byte takes 200 ps, and a cable of 3 m 15 ns.
const PAIR: &str =
    "[topology.single-switch]\nhosts = 2\nlink = { rate = \"40Gbps\", cable = \"3m\" }\n";

const SAMPLED: &str = "[sample.flows]\ninterval = \"1us\"\n";

fn rows(results: &Results) -> Vec<FlowCountersRecord<'static>> {
    results.flow_counters().unwrap().expect("a file").map(Result::unwrap).collect()
}

/// The sum of a column of samples, and the number of its values.
fn sampled(results: &Results, value: &'static str) -> (u64, usize) {
    let file = SeriesFile { path: "samples/flows.csv", value };
    let values =
        results.series(file).expect("columns").expect("a file").map(|row| row.unwrap().value);
    values.fold((0, 0), |(sum, count), value| (sum + value, count + 1))
}

/// One data packet is lost on its way into the switch. Frames of 1,086 bytes follow each other every (1,086 + 8) * 200 ps =
/// 218.8 ns. The one behind the gap takes two links to its receiver, and a NAK of 66 bytes two links back: 2 * 218.8 + 2 * 15 +
/// 2 * 14.8 + 2 * 15 = 527.2 ns. Until then the sender has begun two more, and so
/// three arrive; of those that `max_outstanding` = 3 of selective repeat lets it send, which are the lost one and two more, two.
#[test]
fn packets_behind_a_gap_are_out_of_order_until_it_is_filled() {
    for (recovery, expected) in
        [("\"go-back-n\"", 3), ("\"selective-repeat\"\nmax_outstanding = 3", 2)]
    {
        for nth in [1, 3] {
            let text = format!(
                "{PAIR}[roce]\nrecovery = {recovery}\n[congestion_control.none]\n{SAMPLED}[[faults]]\n\
                 action = \"drop\"\nfrom = \"host-0\"\nopcode = \"data\"\nnth = {nth}\n[workload.flows]\n\
                 list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"64KB\" }}]\n"
            );
            let (summary, results) = run("gap", &text);
            let [row] = &rows(&results)[..] else { panic!("one flow") };
            let counted = (row.out_of_order, row.duplicates);
            assert_eq!(counted, (expected, Some(0)), "{recovery}, {nth}: {row:?}");
            assert_eq!(summary.flows.completed, 1);
            assert_eq!(sampled(&results, "out_of_order").0, expected, "{recovery}, {nth}");
            assert!(row.rtt_samples > 0 && row.rtt_samples < 63, "{row:?}");
        }
    }
}

/// Nobody waits for what is missing, or acknowledges: one packet is not the one that is due.
#[test]
fn unreliable_services_have_empty_fields_where_nothing_is_acknowledged() {
    for (service, verb, message) in [("uc", "write", "8KiB"), ("ud", "send", "1024B")] {
        let text = format!(
            "{PAIR}[roce]\nservice = \"{service}\"\n[congestion_control.none]\n{SAMPLED}[[faults]]\n\
             action = \"drop\"\nfrom = \"host-0\"\nopcode = \"data\"\nnth = 1\n[workload.flows]\nverb = \"{verb}\"\nmessage = \"{message}\"\n\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"1000B\" }}, \
             {{ from = \"host-0\", to = \"host-1\", bytes = \"64KB\" }}]\n"
        );
        let (_, results) = run("unreliable", &text);
        let rows = rows(&results);
        assert_eq!(
            rows.iter().map(|row| row.out_of_order).sum::<u64>(),
            0,
            "{service}: all was lost"
        );
        for row in rows {
            let acknowledged = (row.duplicates, row.rtt_mean_ps, row.max_in_flight_bytes);
            assert_eq!((acknowledged, row.rtt_samples), ((None, None, None), 0), "{service}");
        }
        assert_eq!(sampled(&results, "in_flight_bytes").1, 0, "{service}");
        let (_, results) = run("unreliable", &text.replace("nth = 1", "nth = 3"));
        let counted = rows_of(&results, |row| row.out_of_order);
        assert_eq!(counted, [0, 1], "{service}: the one behind the gap");
    }
}

fn rows_of<T>(results: &Results, of: fn(&FlowCountersRecord<'_>) -> T) -> Vec<T> {
    rows(results).iter().map(of).collect()
}

/// What a READ asked for is under way to its source.
#[test]
fn what_a_read_asked_for_is_in_flight() {
    let text = format!(
        "{PAIR}[congestion_control.none]\n{SAMPLED}[workload.flows]\nverb = \"read\"\n\
         list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"64000B\" }}]\n"
    );
    let (_, results) = run("read", &text);
    assert_eq!(rows_of(&results, |row| row.max_in_flight_bytes), [Some(64_000)]);
}

/// Queue pairs are numbered from 17 on at each host, connections of TCP from 0: the eighteenth is no queue pair.
#[test]
fn flows_of_tcp_are_left_out() {
    let list = |count: usize| {
        vec!["{ from = \"host-0\", to = \"host-1\", bytes = \"20KB\" }"; count].join(", ")
    };
    let text = format!(
        "{PAIR}[congestion_control.dcqcn]\n[switch]\necn = {{ kmin = \"1KB\", kmax = \"2KB\", pmax = 1.0 }}\n{SAMPLED}\
         [[workload.flows]]\nlist = [{}]\n[[workload.flows]]\ntransport = \"tcp\"\nlist = [{}]\n",
        list(2),
        list(20),
    );
    let (summary, results) = run("tcp", &text);
    assert_eq!((summary.flows.completed, rows_of(&results, |row| row.flow)), (22, vec![0, 1]));
    let named = text.replace(
        SAMPLED,
        &SAMPLED.replace("\n", "\nflows = [1, 5]\n").replacen("flows = [1, 5]\n", "", 1),
    );
    let error =
        Scenario::parse(&named, "s.toml".as_ref(), &[]).and_then(|scenario| scenario.plan());
    let error = error.expect_err("a flow of TCP").to_string();
    for part in ["sample.flows.flows[1]", "5", "of TCP", "sample.rates"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

/// Samples of flows that have none are told of.
#[test]
fn flows_of_tcp_alone_are_not_sampled() {
    let told = |transport: &str| {
        let text = format!(
            "{PAIR}{SAMPLED}[workload.flows]\n{transport}\
             list = [{{ from = \"host-0\", to = \"host-1\", bytes = \"20KB\" }}]\n"
        );
        let scenario = Scenario::parse(&text, "s.toml".as_ref(), &[]).expect("it is read");
        let notes = scenario.without_effect(&scenario.plan().expect("it plans"));
        notes.iter().map(ToString::to_string).find(|note| note.contains("sample.flows"))
    };
    assert_eq!(told(""), None);
    let note = told("transport = \"tcp\"\n").expect("a note");
    assert!(note.contains("all flows are of TCP") && note.contains("sample.rates"), "{note}");
}

/// Messages of QCN are no CNPs.
#[test]
fn messages_of_congestion_points_count_apart() {
    let text = "[roce]\nversion = 1\n[topology.single-switch]\nhosts = 3\nlink = { rate = \"40Gbps\", cable = \"3m\" }\n\
                [congestion_control.qcn]\n[switch]\nqcn = { set_point = \"20KB\" }\n[sample.flows]\ninterval = \"10us\"\n\
                [workload.flows]\nlist = [{ from = \"host-1\", to = \"host-0\", bytes = \"3MB\" }, \
                { from = \"host-2\", to = \"host-0\", bytes = \"3MB\" }]\n";
    let (summary, results) = run("qcn", text);
    assert!(summary.cnms > 0 && summary.cnps == 0);
    assert_eq!(rows_of(&results, |row| row.cnms_received).iter().sum::<u64>(), summary.cnms);
    assert_eq!(rows_of(&results, |row| row.cnps_received + row.cnps_sent), [0, 0]);
    assert_eq!(sampled(&results, "cnps").0, 0);
}

/// With the rules of HPCC's simulator, too, payload is in flight: as much as the window of each flow, and a packet.
#[test]
fn the_other_profile_has_payload_in_flight() {
    let text = "[profile.hpcc-ns3]\nmark = false\n[topology.single-switch]\nhosts = 3\n\
                link = { rate = \"100Gbps\", delay = \"1us\" }\n[congestion_control.hpcc]\n[sample.flows]\ninterval = \"10us\"\n\
                [workload.flows]\nlist = [{ from = \"host-1\", to = \"host-0\", bytes = \"300KB\", start = \"2s\" }]\n";
    let (_, results) = run("hpcc-ns3", text);
    let most = rows_of(&results, |row| row.max_in_flight_bytes)[0].expect("a value");
    let window = SeriesFile { path: "samples/flows.csv", value: "window_bytes" };
    let window =
        results.series(window).unwrap().expect("a file").map(|row| row.unwrap().value).max();
    let window = window.expect("HPCC has a window");
    assert!(most > window / 2 && most <= window + 1_000, "{most} of {window}");
    let (sum, count) = sampled(&results, "in_flight_bytes");
    assert!(sum > 0 && sum <= most * count as u64);
}
