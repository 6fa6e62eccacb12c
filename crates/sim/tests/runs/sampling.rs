//! What is sampled adds up to what the other files say, and changes nothing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rocelab_results::{
    FlowCountersRecord, LinkRecord, Overwrite, Results, ResultsDir, RunInfo, SeriesFile, Summary,
};
use rocelab_sim::{Planning, Scenario};

const INTERVAL_PS: u64 = 10_000_000;

/// Everything of every port, each 10 us.
const ALL: &str = "[sample.queues]\ninterval = \"10us\"\nports = [\"switch-0\"]\n\
                   [sample.marks]\ninterval = \"10us\"\nports = [\"switch-0\"]\n\
                   [sample.utilisation]\ninterval = \"10us\"\n\
                   ports = [\"switch-0\", \"host-0\", \"host-1\", \"host-2\"]\n\
                   [sample.rates]\ninterval = \"10us\"\n";

/// Two senders, one receiver, and marks.
fn incast(rest: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = 3\nlink = {{ rate = \"40Gbps\", cable = \"3m\" }}\n\
         [switch]\necn = {{ kmin = \"5KB\", kmax = \"200KB\", pmax = 0.01 }}\n{rest}"
    )
}

const DCQCN: &str = "[congestion_control.dcqcn]\n[workload.flows]\nlist = [\n\
                     { from = \"host-1\", to = \"host-0\", bytes = \"3MB\" },\n\
                     { from = \"host-2\", to = \"host-0\", bytes = \"2MB\", start = \"55us\" },\n]\n";

pub(crate) fn run(name: &str, text: &str) -> (Summary, Results) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sampling-{name}"));
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
    let summary = outcome.expect("a run").summary;
    directory.finish(&summary, &RunInfo::default()).expect("results take their place");
    (summary, Results::open(folder).expect("results"))
}

/// Sums of a column by node, port and flow.
type Sums = BTreeMap<(String, u16, Option<u64>), u128>;

fn sums(results: &Results, path: &'static str, value: &'static str) -> Sums {
    let mut sums = Sums::new();
    let rows = results.series(SeriesFile { path, value }).expect("columns").expect("a file");
    let mut last = 0;
    for row in rows.map(Result::unwrap) {
        assert!(row.time_ps >= last, "{path}: in order of time");
        last = row.time_ps;
        *sums.entry((row.node, row.port, row.flow)).or_default() += u128::from(row.value);
    }
    sums
}

fn links(results: &Results) -> Vec<LinkRecord<'static>> {
    results.links().expect("links.csv").map(Result::unwrap).collect()
}

/// Rates over intervals as the bytes that they stand for; each row may have lost a bit per second.
fn bytes(rate_sum: u128) -> f64 {
    rate_sum as f64 * INTERVAL_PS as f64 / 8e12
}

#[test]
fn samples_add_up_to_the_sums_of_the_run() {
    // The run ends within an interval: without a stop, with the last acknowledgement.
    let (summary, results) = run("sums", &(incast(DCQCN) + ALL));
    assert_eq!(summary.flows.completed, 2);
    assert!(summary.ecn.marks > 100, "{} marks", summary.ecn.marks);
    assert!(!summary.simulated_ps.is_multiple_of(INTERVAL_PS));

    let marks = sums(&results, "samples/marks.csv", "marks");
    for link in links(&results) {
        let key = (link.from.to_string(), link.from_port, None);
        let sampled = marks.get(&key).copied().unwrap_or(0);
        assert_eq!(sampled, u128::from(link.ecn_marks), "{key:?}");
    }
    let goodput = sums(&results, "samples/rates.csv", "goodput_bps");
    let of = |flow| bytes(goodput[&("host-0".to_owned(), 0, Some(flow))]);
    assert!((of(0) / 3e6 - 1.0).abs() < 1e-4, "{goodput:?}");
    assert!((of(1) / 2e6 - 1.0).abs() < 1e-4, "{goodput:?}");
    assert_eq!(goodput.len(), 2, "only the host that receives has a goodput");
}

/// Two senders at 40 Gbit/s into one port of 40 Gbit/s, with a fixed XOFF of 20 KB and no congestion control.
///
/// Frames are 1,086 bytes: 1,024 of payload, 14 of Ethernet, 20 of IPv4, 8 of UDP, 12 of BTH, ICRC and FCS. The headroom
/// takes at least the frame that crosses XOFF, and at most what the calculated sum allows: 3,786 bytes at 100 Gbit/s, and 225
/// less at 40 Gbit/s, where 3 m of cable are 150 bytes and not 375.
#[test]
fn peaks_are_at_least_the_samples_and_at_most_what_is_reserved() {
    let text = "[topology.single-switch]\nhosts = 3\nlink = { rate = \"40Gbps\", cable = \"3m\" }\n\
                [switch]\nxoff = \"20KB\"\nxon_offset = \"3KB\"\n[congestion_control.none]\n\
                [sample.ingress]\ninterval = \"1us\"\nports = [\"switch-0:1..2\"]\n\
                [workload.flows]\nlist = [\n\
                { from = \"host-1\", to = \"host-0\", bytes = \"300KB\" },\n\
                { from = \"host-2\", to = \"host-0\", bytes = \"300KB\" },\n]\n";
    let (summary, results) = run("ingress", text);
    assert!(summary.pfc.pauses > 2, "{:?}", summary.pfc);
    let rows: Vec<_> =
        results.switches().unwrap().expect("switches.csv").map(Result::unwrap).collect();
    let series = |value| {
        let file = SeriesFile { path: "samples/ingress.csv", value };
        let mut most: BTreeMap<u16, u64> = BTreeMap::new();
        for row in results.series(file).unwrap().expect("a file").map(Result::unwrap) {
            let most = most.entry(row.port).or_default();
            *most = (*most).max(row.value);
        }
        most
    };
    let (held, headroom) = (series("held_bytes"), series("headroom_bytes"));
    assert_eq!(held.keys().collect::<Vec<_>>(), [&1, &2]);
    for port in [1, 2] {
        let row = rows.iter().find(|row| row.port == Some(port) && row.priority == Some(3));
        let row = row.expect("a row for each sender");
        let (used, reserved) = (row.peak_headroom_bytes.unwrap(), row.headroom_bytes.unwrap());
        assert_eq!(reserved, 3_561);
        assert!((1_086..=reserved).contains(&used), "{used}");
        assert!(used >= headroom[&port] && row.peak_bytes >= held[&port], "{row:?}");
        // XOFF is fixed, and as little as a frame less than that is stored below it.
        assert_eq!(row.xoff_bytes, Some(20_000));
        assert!((20_000 - 1_106..=20_000 + reserved).contains(&row.peak_bytes), "{row:?}");
        assert!(row.pauses > 1 && row.drops == 0, "{row:?}");
    }
    for (value, expected) in [("xoff_bytes", 20_000), ("xon_bytes", 17_000)] {
        assert!(series(value).values().all(|&bytes| bytes == expected), "{value}");
    }
    // Each acknowledgement leaves at once, and was held for no time.
    let acknowledgements = rows.iter().find(|row| row.port == Some(0) && row.priority == Some(3));
    let row = acknowledgements.expect("they come in by port 0");
    assert!(row.peak_bytes >= 64 && row.peak_headroom_bytes == Some(0), "{row:?}");
    let whole = &rows[0];
    assert_eq!((&*whole.switch, whole.port, whole.priority), ("switch-0", None, None));
    assert_eq!(whole.headroom_bytes, Some(3 * 3_561));
    assert!(whole.peak_bytes >= rows[1..].iter().map(|row| row.peak_bytes).max().unwrap());
    let shared = SeriesFile { path: "samples/memory.csv", value: "shared_bytes" };
    let shared = results.series(shared).unwrap().expect("a file").map(|row| row.unwrap().value);
    assert!(whole.peak_shared_bytes >= shared.max());
    // Looking changes nothing.
    let (other, results) = run("no-ingress", &text.replace("[sample.ingress]", "[sample.queues]"));
    assert_eq!((other.digest, results.switches().unwrap().is_none()), (summary.digest, true));
}

/// A link of 40 Gbit/s to a switch and one from it, 15 ns each; one packet of 1,024 bytes, which is a frame of 1,102 with its
/// RETH, and an acknowledgement of 66 (62 with AETH in 4: Ethernet 14, IPv4 20, UDP 8, BTH 12, AETH 4, ICRC 4, FCS 4).
/// The switch stores and forwards, so each way takes two times the frame with its preamble, and two cables.
#[test]
fn the_round_trip_of_one_packet_is_what_its_links_take() {
    let text = "[topology.single-switch]\nhosts = 2\nlink = { rate = \"40Gbps\", cable = \"3m\" }\n\
                [congestion_control.none]\n[sample.flows]\ninterval = \"1us\"\n\
                [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"1024B\" }]\n";
    let (_, results) = run("rtt", text);
    let rows: Vec<_> =
        results.flow_counters().unwrap().expect("a file").map(Result::unwrap).collect();
    let [row] = &rows[..] else { panic!("{rows:?}") };
    // Bytes at 40 Gbit/s take 200 ps each; each link 15 ns.
    let way = |frame: u64| 2 * (frame + 8) * 200 + 2 * 15_000;
    let expected = way(1_102) + way(66);
    assert_eq!(
        (row.rtt_samples, row.rtt_min_ps, row.rtt_max_ps),
        (1, Some(expected), Some(expected))
    );
    assert_eq!((row.rtt_mean_ps, row.max_in_flight_bytes), (Some(expected), Some(1_024)));
    assert_eq!((row.cnps_sent, row.cnps_received, row.out_of_order), (0, 0, 0));
}

#[test]
fn counters_of_flows_add_up_to_the_summary() {
    let all = ALL.to_owned() + "[sample.flows]\ninterval = \"10us\"\n";
    let (summary, results) = run("flow-counters", &(incast(DCQCN) + &all));
    let rows: Vec<_> =
        results.flow_counters().unwrap().expect("a file").map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2);
    let sum = |of: fn(&FlowCountersRecord<'_>) -> u64| rows.iter().map(of).sum::<u64>();
    assert!(summary.cnps > 0);
    assert_eq!(
        (sum(|row| row.cnps_sent), sum(|row| row.cnps_received)),
        (summary.cnps, summary.cnps)
    );
    assert_eq!(sum(|row| row.out_of_order), 0, "nothing is lost, and there is one path");
    let cnps = sums(&results, "samples/flows.csv", "cnps");
    assert_eq!(cnps.values().sum::<u128>(), u128::from(summary.cnps));
    let alpha = std::fs::read_to_string(results.path().join("samples/flows.csv")).expect("a file");
    let is_share = |line: &str| line.split(',').nth(8).is_some_and(|alpha| alpha.starts_with("0."));
    assert!(alpha.lines().any(is_share), "DCQCN has an alpha below 1 after a while");
    // To look changes nothing.
    let (plain, _) = run("flow-plain", &(incast(DCQCN) + ALL));
    assert_eq!(plain.digest, summary.digest);
}

#[test]
fn what_ports_send_is_what_links_carried() {
    // A whole number of intervals, so that every rate is over the same time.
    let (_, results) = run("use", &(String::from("stop = \"500us\"\n") + &incast(DCQCN) + ALL));
    let sent = sums(&results, "samples/utilisation.csv", "rate_bps");
    for link in links(&results) {
        let key = (link.from.to_string(), link.from_port, None);
        let sampled = bytes(sent.get(&key).copied().unwrap_or(0));
        // Preamble and gap: 20 bytes (IEEE 802.3).
        let expected = (link.bytes + 20 * link.frames) as f64;
        assert!((sampled - expected).abs() < 1.0, "{key:?}: {sampled} of {expected}");
    }
    assert!(sent.len() > 4);
}

#[test]
fn a_link_that_is_slowed_down_within_an_interval_is_as_busy_as_it_can_be() {
    // From 103 to 268 us a tenth of 40 Gbit/s, then a quarter for the rest of the run.
    let slow = |rate: &str, at: &str, lasts: &str| {
        format!(
            "[[failure]]\nkind = \"link-rate\"\nport = \"host-1:0\"\nrate = \"{rate}\"\n\
             at = \"{at}\"\n{lasts}\n"
        )
    };
    let failures = slow("4Gbps", "103us", "lasts = \"165us\"") + &slow("10Gbps", "103us", "");
    let flow = "[congestion_control.none]\n[workload.flows]\nlist = [\n\
                { from = \"host-1\", to = \"host-0\", bytes = \"100MB\" },\n]\n";
    let text = format!("stop = \"500us\"\n{}", incast(&format!("{flow}{failures}{ALL}")));
    let (_, results) = run("slower", &text);
    let path = results.path().join("samples/utilisation.csv");
    let mut intervals = 0;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let [time, "host-1", "0", _, utilisation] = fields[..] else { continue };
        intervals += 1;
        // A frame of 1,082 bytes counts where it starts: at the slowest it is 22 % of an interval, and
        // begun at either end.
        let utilisation: f64 = utilisation.parse().unwrap();
        assert!((utilisation - 1.0).abs() < 0.23, "{utilisation} at {time}");
    }
    assert_eq!(intervals, 50);
    let links = links(&results);
    let link = links.iter().find(|link| link.from == "host-1").unwrap();
    assert_eq!(link.rate_bps, 40_000_000_000);
    // (103 x 40 + 165 x 4 + 232 x 10) Gbit/s us are 887,500 bytes, of which one frame may be missing.
    assert!((link.utilisation.0 as f64 / 1e6 - 1.0).abs() < 2.0 * 1102.0 / 887_500.0, "{link:?}");
}

#[test]
fn a_flow_that_nobody_slows_down_has_the_rate_that_it_is_given() {
    let text = "[congestion_control.none]\nrate = \"8Gbps\"\n[workload.flows]\nlist = [\
                { from = \"host-1\", to = \"host-0\", bytes = \"2MB\" }]\n";
    let samples = "[sample.rates]\ninterval = \"100us\"\nflows = [0]\n";
    let (summary, results) = run("given", &(incast(text) + samples));
    let file = |value| SeriesFile { path: "samples/rates.csv", value };
    let values = |value| -> Vec<(u64, u64)> {
        let rows = results.series(file(value)).unwrap().unwrap().map(Result::unwrap);
        rows.map(|row| (row.time_ps, row.value)).collect()
    };
    let allowed = values("rate_bps");
    assert!(allowed.iter().all(|&(_, rate)| rate == 8_000_000_000), "{allowed:?}");
    // MTU 1024 in frames of 1,082 bytes, and 20 of preamble and gap: 58 of headers and FCS (v2, IPv4).
    let expected = 8e9 * 1024.0 / (1082.0 + 20.0);
    let goodput = values("goodput_bps");
    for &(time, rate) in &goodput[1..goodput.len() - 1] {
        assert!((rate as f64 / expected - 1.0).abs() < 0.02, "{rate} at {time} of {expected}");
    }
    // The last row tells of an interval that the run did not end.
    let last = goodput.last().unwrap().0;
    assert!(last >= summary.simulated_ps && last < summary.simulated_ps + 100_000_000);
    assert!(values("window_bytes").is_empty(), "no window, no value");
}

#[test]
fn reads_have_a_goodput_at_their_source_and_no_rate() {
    let text = "[congestion_control.none]\n[workload.flows]\nverb = \"read\"\nlist = [\
                { from = \"host-1\", to = \"host-0\", bytes = \"1MB\" }]\n";
    let (_, results) = run("read", &(incast(text) + ALL));
    assert!(sums(&results, "samples/rates.csv", "rate_bps").is_empty());
    let goodput = sums(&results, "samples/rates.csv", "goodput_bps");
    assert!((bytes(goodput[&("host-1".to_owned(), 0, Some(0))]) / 1e6 - 1.0).abs() < 1e-4);
}

#[test]
fn who_looks_changes_nothing() {
    let (plain, _) = run("plain", &format!("sample = \"off\"\n{}", incast(DCQCN)));
    assert!(plain.sample_intervals.is_empty());
    let (sampled, results) = run("sampled", &(incast(DCQCN) + ALL));
    let of_the_run =
        |summary: &Summary| Summary { sample_intervals: BTreeMap::new(), ..summary.clone() };
    assert_eq!(of_the_run(&plain), of_the_run(&sampled));
    let (again, other) = run("again", &(incast(DCQCN) + ALL));
    assert_eq!(again, sampled);
    for file in ["queues.csv", "samples/marks.csv", "samples/rates.csv", "samples/utilisation.csv"]
    {
        let read = |results: &Results| std::fs::read(results.path().join(file)).unwrap();
        assert!(read(&results) == read(&other), "{file}");
    }
}

#[test]
fn the_rates_of_the_other_profile_add_up_too() {
    let text = "[profile.hpcc-ns3]\nmark = false\n[topology.single-switch]\nhosts = 3\n\
                link = { rate = \"40Gbps\", delay = \"1us\" }\n[congestion_control.dcqcn]\n\
                preset = \"hpcc\"\n[workload.flows]\nlist = [\n\
                { from = \"host-1\", to = \"host-0\", bytes = \"300KB\", start = \"2s\" },\n]\n\
                [sample.rates]\ninterval = \"10us\"\n";
    let (summary, results) = run("profile", text);
    assert_eq!(summary.flows.completed, 1);
    let goodput = sums(&results, "samples/rates.csv", "goodput_bps");
    assert!((bytes(goodput[&("host-0".to_owned(), 0, Some(0))]) / 3e5 - 1.0).abs() < 1e-4);
}

/// The run ends while frames are sent: the rest of them counts for no port.
#[test]
fn no_port_sends_more_than_it_can() {
    for stop in ["100ns", "1ns", "86880ps", "86881ps", "12345ps"] {
        let (_, results) = run("cut", &format!("stop = \"{stop}\"\n{}", incast(DCQCN)));
        let links = results.links().expect("links.csv").map(Result::unwrap);
        let links: Vec<LinkRecord<'_>> = links.collect();
        let of = |name: &str| links.iter().find(|link| link.from == name).expect("a port");
        assert_eq!(of("host-1").utilisation.as_f64(), 1.0, "{stop}");
        assert!(of("host-1").frames > 0, "{stop}");
        assert!(links.iter().all(|link| link.utilisation.as_f64() <= 1.0), "{stop}");
    }
}

/// A link fails while a frame is sent: the frame is on it to the end of the run all the same, at the
/// rate that it began with.
#[test]
fn a_frame_under_way_counts_at_its_own_rate() {
    let utilisation = |failure: &str, stop: &str| {
        let failure = format!("[[failure]]\nport = \"host-1\"\n{failure}\n");
        let text = format!("stop = \"{stop}\"\n{failure}{}", incast(DCQCN));
        let (_, results) = run("fails", &text);
        let mut links = results.links().expect("links.csv").map(Result::unwrap);
        links.find(|link| link.from == "host-1").expect("a port").utilisation.as_f64()
    };
    // The first frame takes 217 ns.
    assert_eq!(utilisation("kind = \"link-down\"\nat = \"200ns\"", "210ns"), 1.0);
    let slower = "kind = \"link-rate\"\nrate = \"10Gbps\"\nat = \"200ns\"";
    assert_eq!(utilisation(slower, "210ns"), 1.0);
    // Of the first frame 300 bytes are on the link, which could have carried 100 and then 2,000.
    let faster = "kind = \"link-rate\"\nrate = \"4Gbps\"\nat = \"0s\"\nlasts = \"200ns\"";
    assert_eq!(utilisation(faster, "600ns"), 0.142_857);
}

/// What is sampled without being asked for.
mod by_default {
    use super::*;

    const FLOWS: &str = "[topology.single-switch]\nhosts = 3\nlink = { rate = \"40Gbps\", cable = \"3m\" }\n\
                         [workload.flows]\nlist = [{ from = \"host-1\", to = \"host-0\", bytes = \"3MB\" },\
                         { from = \"host-2\", to = \"host-0\", bytes = \"2MB\" }]\n";

    #[test]
    fn queues_marks_and_utilisation_at_no_more_than_some_hundred_times() {
        let (off, _) = run("default-off", &format!("sample = \"off\"\n{FLOWS}"));
        let (on, results) = run("default-on", FLOWS);
        assert_eq!(
            (&on.digest, on.simulated_ps),
            (&off.digest, off.simulated_ps),
            "samples only look"
        );
        assert!(off.sample_intervals.is_empty());
        assert_eq!(on.sample_intervals.len(), 3, "{:?}", on.sample_intervals);
        let marks = sums(&results, "samples/marks.csv", "marks");
        assert_eq!(marks.values().sum::<u128>(), u128::from(on.ecn.marks));
        assert!(!sums(&results, "queues.csv", "queue_bytes").is_empty());
        let used = sums(&results, "samples/utilisation.csv", "rate_bps");
        assert_eq!(used.len(), 6, "both directions of all links");
        let file = SeriesFile { path: "samples/utilisation.csv", value: "rate_bps" };
        let rows = results.series(file).unwrap().unwrap().map(Result::unwrap);
        let times: std::collections::BTreeSet<u64> = rows.map(|row| row.time_ps).collect();
        assert!((100..=800).contains(&times.len()), "{}", times.len());
    }

    /// Expected for some microseconds, a flow whose link is down for long lasts a thousand times longer.
    #[test]
    fn a_long_run_has_few_more() {
        let text = "[roce]\nack_timeout = 12\n[topology.single-switch]\nhosts = 2\n\
                    link = { rate = \"40Gbps\", cable = \"3m\" }\n\
                    [[failure]]\nkind = \"link-down\"\nport = \"host-0:0\"\nat = \"5us\"\nlasts = \"40ms\"\n\
                    [workload.flows]\nlist = [{ from = \"host-1\", to = \"host-0\", bytes = \"100KB\" }]\n";
        let (summary, results) = run("default-long", text);
        assert!(summary.simulated_ps > 40_000_000_000, "{}", summary.simulated_ps);
        let interval = summary.sample_intervals["utilisation"];
        let doubled = interval.from(summary.simulated_ps) / interval.first_ps;
        assert!(doubled > 100, "{interval:?}");
        let file = SeriesFile { path: "samples/utilisation.csv", value: "rate_bps" };
        let rows = results.series(file).unwrap().unwrap().map(Result::unwrap);
        let mut times: Vec<u64> = rows.map(|row| row.time_ps).collect();
        times.dedup();
        // The port is idle while the link is down. The last look is at the end of the run.
        let end = times.pop().unwrap();
        assert!(times.len() < 200, "{}", times.len());
        for &time in &times {
            let start = interval.start_of(time);
            assert_eq!(start + interval.from(start), time, "on the grid");
        }
        let before = times[times.len() - 1];
        assert!(end > 40_000_000_000 && interval.from(before) >= interval.first_ps);
    }

    #[test]
    fn tables_measure_what_they_name_and_nothing_else() {
        let table = "[sample.marks]\ninterval = \"10us\"\nports = [\"all\"]\ndouble_after = 3\n";
        let (summary, _) = run("default-named", &format!("{FLOWS}{table}"));
        let names: Vec<_> = summary.sample_intervals.keys().collect();
        assert_eq!(names, ["marks"]);
        let interval = summary.sample_intervals["marks"];
        assert_eq!((interval.first_ps, interval.double_after), (10_000_000, Some(3)));
    }
}
