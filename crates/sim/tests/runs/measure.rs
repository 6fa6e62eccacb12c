//! The measuring window: what is counted in it, and that it changes nothing.

use rocelab_results::{FlowRecord, GoodputRule, OperationRecord, Record, RecordReader};

use crate::sampling::run;

const STAR: &str =
    "[topology.single-switch]\nhosts = 4\nlink = { rate = \"100Gbps\", cable = \"3m\" }\n";

/// Payload per second on such a link: MTU 1024 in frames of 1,086 bytes, and 20 of preamble and gap.
const FULL: f64 = 100e9 * 1024.0 / 1106.0;

fn all<R: Record + serde::de::DeserializeOwned>(rows: RecordReader<R>) -> Vec<R> {
    rows.map(Result::unwrap).collect()
}

/// One flow from 0 s on, one from 1 ms on, one from 2 ms on.
const FLOWS: &str = "[congestion_control.none]\n[workload.flows]\nlist = [\n\
                     { from = \"host-1\", to = \"host-0\", bytes = \"20MB\" },\n\
                     { from = \"host-2\", to = \"host-3\", bytes = \"1MB\", start = \"1ms\" },\n\
                     { from = \"host-2\", to = \"host-3\", bytes = \"1MB\", start = \"2ms\" },\n]\n";

#[test]
fn only_what_starts_in_it_is_counted() {
    let (whole, _) = run("measure-whole", &format!("{STAR}{FLOWS}"));
    let window = "[measure]\nfrom = \"1ms\"\nto = \"1.5ms\"\n";
    let (summary, results) = run("measure-flows", &format!("{STAR}{FLOWS}{window}"));
    assert_eq!((&summary.digest, summary.simulated_ps), (&whole.digest, whole.simulated_ps));
    assert_eq!(summary.link_traversals, whole.link_traversals);
    let measured = summary.measured.expect("there is a window");
    assert_eq!((measured.from_ps, measured.to_ps), (1_000_000_000, 1_500_000_000));
    assert_eq!((summary.flows.total, summary.flows.completed), (1, 1));
    assert_eq!((measured.flows_outside.total, measured.flows_outside.completed), (2, 2));
    assert_eq!(summary.all_flows(), whole.flows);
    let flows: Vec<FlowRecord<'_>> = all(results.flows().unwrap());
    let counted: Vec<_> = flows.iter().filter(|flow| flow.measured == 1).collect();
    assert_eq!((flows.len(), counted.len(), counted[0].start_ps), (3, 1, 1_000_000_000));
    assert_eq!(summary.fct_ps.unwrap().max, counted[0].fct_ps.unwrap());

    // Goodput is of all payload in the window: half a millisecond at full rate, and 1 MB.
    let goodput = summary.goodput.unwrap();
    assert_eq!((goodput.rule, goodput.duration_ps), (GoodputRule::MeasuredWindow, 500_000_000));
    let expected = FULL / 8.0 * 0.5e-3 + 1e6;
    assert!((goodput.bytes as f64 / expected - 1.0).abs() < 5e-3, "{goodput:?} {expected}");
}

#[test]
fn links_are_measured_in_it() {
    let window = "[measure]\nfrom = \"1ms\"\nto = \"1.5ms\"\n";
    let (_, results) = run("measure-links", &format!("{STAR}{FLOWS}{window}"));
    let link = |from: &str| {
        let mut links = results.links().unwrap().map(Result::unwrap);
        links.find(|link| link.from == from).expect("a link")
    };
    // Full all the time; a frame takes 88.48 ns.
    let busy = link("host-1");
    assert_eq!(busy.utilisation.0, 1_000_000, "{busy:?}");
    assert!(busy.frames.abs_diff(5_651) <= 1, "0.5 ms / 88.48 ns: {busy:?}");
    let sent = link("host-2");
    assert_eq!(sent.frames, 977, "1 MB");
    let share = 977.0 * 88.48e-9 / 0.5e-3;
    assert!((sent.utilisation.0 as f64 / 1e6 / share - 1.0).abs() < 0.01, "{sent:?} {share}");
}

#[test]
fn a_window_without_an_end_ends_with_the_run() {
    let window = "[measure]\nfrom = \"1.2ms\"\n";
    let (summary, results) =
        run("measure-open", &format!("stop = \"1.4ms\"\n{STAR}{FLOWS}{window}"));
    let measured = summary.measured.unwrap();
    assert_eq!((measured.from_ps, measured.to_ps), (1_200_000_000, 1_400_000_000));
    // The flow of 2 ms never starts, and would have been in it.
    assert_eq!((summary.flows.total, summary.flows.unfinished), (1, 1));
    let mut links = results.links().unwrap().map(Result::unwrap);
    let link = links.find(|link| link.from == "host-1").expect("a link");
    assert!(link.frames.abs_diff(2_260) <= 1, "0.2 ms: {link:?}");
}

/// Of the whole run, links have what they have without a window.
#[test]
fn a_window_from_the_start_is_the_run_until_its_end() {
    let links = |rest: &str| {
        let (summary, results) = run("measure-start", &format!("{STAR}{FLOWS}{rest}"));
        let links: Vec<_> = results.links().unwrap().map(Result::unwrap).collect();
        (summary.flows, links)
    };
    let whole = links("");
    assert_eq!(links("[measure]\n"), whole);
    assert_eq!(links("[measure]\nto = \"1s\"\n"), whole);
    let (flows, part) = links("[measure]\nto = \"1.5ms\"\n");
    assert_eq!(flows.total, 2);
    let frames = |of: &[rocelab_results::LinkRecord<'_>]| {
        of.iter().find(|link| link.from == "host-2").expect("a link").frames
    };
    assert_eq!((frames(&part), frames(&whole.1)), (977, 2 * 977));
}

/// The longest queue is that of the window, and not of the warm-up.
#[test]
fn the_longest_queue_is_that_of_the_window() {
    let incast = "[congestion_control.none]\n[workload.flows]\nlist = [\n\
                  { from = \"host-1\", to = \"host-0\", bytes = \"100KB\" },\n\
                  { from = \"host-2\", to = \"host-0\", bytes = \"100KB\" },\n\
                  { from = \"host-1\", to = \"host-0\", bytes = \"100KB\", start = \"1ms\" },\n]\n";
    let longest = |rest: &str| {
        let (_, results) = run("measure-queue", &format!("{STAR}{incast}{rest}"));
        let links = results.links().unwrap().map(Result::unwrap);
        links.map(|link| (link.from == "switch-0", link.max_queue_bytes)).max().unwrap().1
    };
    assert!(longest("") > 50_000);
    assert!(longest("[measure]\nfrom = \"1ms\"\n") < 5_000);
    assert!(longest("[measure]\nfrom = \"2us\"\nto = \"20us\"\n") > 50_000);
}

#[test]
fn operations_count_if_they_start_in_it() {
    let app = "[workload.storage]\nclients = [\"host-0\"]\nservers = [\"host-1\"]\nread_fraction = 0.5\nblock = \"4KB\"\n\
               queue_depth = 2\nuntil = \"1ms\"\n";
    let window = "[measure]\nfrom = \"0.3ms\"\nto = \"0.6ms\"\n";
    let (summary, results) = run("measure-operations", &format!("{STAR}{app}{window}"));
    let rows: Vec<OperationRecord<'_>> = all(results.operations().unwrap());
    let is_in = |row: &&OperationRecord<'_>| (300_000_000..600_000_000).contains(&row.start_ps);
    let inside: Vec<_> = rows.iter().filter(is_in).collect();
    assert!(inside.iter().all(|row| row.measured == 1));
    assert_eq!(rows.iter().filter(|row| row.measured == 1).count(), inside.len());
    let counts = &summary.operations[0];
    assert_eq!((counts.total, counts.completed), (inside.len() as u64, inside.len() as u64));
    let outside = rows.len() - inside.len();
    assert_eq!(summary.measured.unwrap().operations_outside, outside as u64);
    assert_eq!(counts.goodput.unwrap().duration_ps, 300_000_000);
    let longest = inside.iter().filter_map(|row| row.latency_ps).max();
    assert_eq!(counts.latency_ps.as_ref().map(|of| of.max), longest);
    // Rates and means are of the window, whenever operations started.
    let ends_in = |row: &&OperationRecord<'_>| {
        row.end_ps.is_some_and(|end| (300_000_000..600_000_000).contains(&end))
    };
    let ended = rows.iter().filter(ends_in).count() as u64;
    assert_eq!(counts.per_second, ended * 10_000 / 3);
    let open = |row: &OperationRecord<'_>| {
        row.end_ps.unwrap().min(600_000_000).saturating_sub(row.start_ps.max(300_000_000))
    };
    let open_ps: u64 = rows.iter().map(open).sum();
    let mean = counts.open_mean.unwrap().0 as f64 / 1e6;
    assert!((mean - open_ps as f64 / 300e6).abs() < 1e-6, "{mean}");
    // Each kind is of the same time.
    let kinds: u64 = counts.kinds.values().filter_map(|kind| kind.per_second).sum();
    assert!(counts.kinds.len() == 2 && counts.per_second.abs_diff(kinds) <= 1, "{kinds}");
}

#[test]
fn a_window_that_the_run_does_not_reach_measures_nothing() {
    let (summary, results) =
        run("measure-late", &format!("{STAR}{FLOWS}[measure]\nfrom = \"1s\"\n"));
    let measured = summary.measured.unwrap();
    assert_eq!(measured.from_ps, measured.to_ps);
    assert_eq!((summary.flows.total, measured.flows_outside.completed), (0, 3));
    assert_eq!((summary.goodput, summary.fct_ps), (None, None));
    let mut links = results.links().unwrap().map(Result::unwrap);
    assert!(links.all(|link| (link.frames, link.utilisation.0, link.paused_ps) == (0, 0, 0)));
}
