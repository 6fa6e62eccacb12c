//! Defects of HPCC's ns-3 simulator and its descendants that users have met. The native model must
//! not have them; where the profile must reproduce them, it does.
//!
//! Misspelt keys of a configuration, which that simulator skips, are refused in `convert.rs`.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::program::{Sandbox, repository};

/// A configuration with DCQCN, go-back-N and no ECN marks: its flows run at line rate.
fn config() -> String {
    golden("lossy-e001-gbn", "config.txt").replace("ENABLE_QCN 1", "ENABLE_QCN 0")
}

fn golden(case: &str, file: &str) -> String {
    fs::read_to_string(repository(&format!("crates/sim/tests/golden/hpcc-ns3/{case}/{file}")))
        .unwrap()
}

/// The configuration with another value for an existing `key`.
#[track_caller]
fn with(config: &str, key: &str, value: &str) -> String {
    let start = format!("{key} ");
    assert_eq!(config.lines().filter(|line| line.starts_with(&start)).count(), 1, "{key}");
    let line = |line: &str| {
        if line.starts_with(&start) { format!("{key} {value}\n") } else { format!("{line}\n") }
    };
    config.lines().map(line).collect()
}

/// A `topology.txt`: hosts from 0 on, and one switch with a link of 100 Gb/s and 1 us to each. The
/// links have these loss rates.
fn star(losses: &[&str]) -> String {
    let switch = losses.len();
    let mut text = format!("{} 1 {switch}\n{switch}\n", switch + 1);
    for (host, loss) in losses.iter().enumerate() {
        writeln!(text, "{host} {switch} 100Gbps 1000ns {loss}").unwrap();
    }
    text
}

/// A `flow.txt` of flows (source, destination, bytes, start in seconds).
fn flows(flows: &[(usize, usize, u64, f64)]) -> String {
    let mut text = format!("{}\n", flows.len());
    for (source, destination, bytes, start) in flows {
        writeln!(text, "{source} {destination} 3 100 {bytes} {start:.9}").unwrap();
    }
    text
}

/// A folder with these two files, `config.txt`, and `native.toml` for the same network and flows.
fn sandbox(topology: &str, flows: &str, config: &str, native: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("topology.txt", topology);
    sandbox.write("flow.txt", flows);
    sandbox.write("config.txt", config);
    let native = format!(
        "{native}\n[topology.file]\npath = \"topology.txt\"\n[congestion_control.none]\n\
         [workload.flows]\nreference = \"flow.txt\"\nstart_offset = \"2s\"\n"
    );
    sandbox.write("native.toml", native);
    sandbox
}

/// Runs a scenario, which must not fail, and returns its summary.
#[track_caller]
fn summary(sandbox: &Sandbox, scenario: &str) -> Value {
    let ended = sandbox.rocelab(&["run", scenario, "--out", scenario.split_once('.').unwrap().0]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    sandbox.json(&format!("{}/summary.json", scenario.split_once('.').unwrap().0))
}

/// The values of a column of `flows.csv`, in order of the flows' numbers.
fn column(sandbox: &Sandbox, results: &str, name: &str) -> Vec<String> {
    let (columns, mut rows) = sandbox.csv(&format!("{results}/flows.csv"));
    let at = |name: &str| columns.iter().position(|column| column == name).expect(name);
    let (flow, wanted) = (at("flow"), at(name));
    rows.sort_by_key(|row| row[flow].parse::<u64>().unwrap());
    rows.into_iter().map(|mut row| row.swap_remove(wanted)).collect()
}

/// HPCC's simulator keeps a size in 32 bits, so that a larger one becomes 4,294,967,295.
///
/// By hand, in bytes of 80 ps: 1,220,704 packets in three messages of at most 2^31 bytes. Frames
/// have 4158 bytes, 16 more for the RETH of each first one, and the last one 512 bytes of payload;
/// 20 bytes more are preamble and gap. All but the last leave: 1,220,703 x 4178 + 3 x 16. The
/// longest passes the second link (8 + 4174), the last arrives (8 + 574), its acknowledgement
/// returns over two links (2 x (8 + 66)): 5,100,102,094 bytes, and four times 15 ns.
#[test]
fn five_gigabytes_are_five_gigabytes() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "five.toml",
        "[roce]\npath_mtu = 4096\n[congestion_control.none]\n\
         [topology.single-switch]\nhosts = 2\nlink = { rate = \"100Gbps\", delay = \"15ns\" }\n\
         [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"5000000000B\" }]\n",
    );
    let summary = summary(&sandbox, "five.toml");
    assert_eq!(summary["fct_ps"]["max"], 5_100_102_094_u64 * 80 + 4 * 15_000);
    assert_eq!(summary["link_traversals"]["data"], 2 * 1_220_704);
    assert_eq!(column(&sandbox, "five", "bytes"), ["5000000000"]);
    assert_eq!(column(&sandbox, "five", "slowdown"), ["1.000000"]);
}

#[test]
fn sizes_that_the_reference_would_cut_are_refused_with_their_place() {
    let list = flows(&[(0, 1, 4_294_967_295, 2.0), (0, 1, 5_000_000_000, 2.0)]);
    let sandbox = sandbox(&star(&["0", "0"]), &list, &config(), "");
    let ended = sandbox.rocelab(&["run", "config.txt"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
    let expected = "error: flow.txt:3:11: bytes = 5000000000: 5GB do not fit 32 bits, in which \
                    HPCC's simulator counts; give at most 4294967295B, or make several flows of it\n";
    assert_eq!(ended.stderr, expected);
}

/// In HPCC's simulator all lossy links use the same random numbers, so that their drops line up.
///
/// Two links lose one packet in five, and each carries 2,000 flows of one packet, at the same
/// times, of which nothing is sent again. A flow completes if its packet and its acknowledgement
/// pass: 0.8 x 0.8 = 64 %, with a standard deviation of 1.1 % over 2,000 flows. Correlations of
/// independent series have one of 1 / sqrt(2,000) = 0.022.
#[test]
fn losses_on_two_links_are_independent_but_in_the_profile() {
    const FLOWS: u32 = 2_000;
    let list: Vec<_> = (0..FLOWS)
        .flat_map(|k| [0, 1].map(|source| (source, source + 2, 1000, 2.0 + f64::from(k) * 1e-5)))
        .collect();
    let topology = star(&["0.2", "0.2", "0", "0"]);
    let config = with(&config(), "SIMULATOR_STOP_TIME", "2.03");
    let native = "stop = \"30ms\"\n[roce]\nack_timeout = 0";
    let sandbox = sandbox(&topology, &flows(&list), &config, native);
    for scenario in ["native.toml", "config.txt"] {
        summary(&sandbox, scenario);
    }
    let [native, profile] = ["native", "config"].map(|results| {
        let status = column(&sandbox, results, "status");
        let completed = |link| status.iter().skip(link).step_by(2).map(|s| s == "completed");
        [completed(0).collect::<Vec<_>>(), completed(1).collect()]
    });
    for series in native.iter().chain(&profile) {
        let share = series.iter().filter(|completed| **completed).count() as f64 / f64::from(FLOWS);
        assert!((share - 0.64).abs() < 0.04, "{share}");
    }
    assert!(correlation(&native[0], &native[1]).abs() < 0.08, "{native:?}");
    assert_eq!(profile[0], profile[1]);
}

/// Pearson's correlation of ones and zeros.
fn correlation(a: &[bool], b: &[bool]) -> f64 {
    let share = |count: usize| count as f64 / a.len() as f64;
    let ones = |series: &[bool]| share(series.iter().filter(|one| **one).count());
    let both = share(a.iter().zip(b).filter(|(a, b)| **a && **b).count());
    let [p, q] = [ones(a), ones(b)];
    (both - p * q) / (p * (1.0 - p) * q * (1.0 - q)).sqrt()
}

/// A message of 100 packets: every n-th packet is acknowledged, and the last one.
#[test]
fn an_acknowledgement_interval_spares_acknowledgements() {
    for (interval, acknowledgements) in [(1, 100), (2, 50), (3, 34), (64, 2), (1000, 1)] {
        let native = format!("[roce]\nack_interval = {interval}");
        let list = flows(&[(0, 1, 102_400, 2.0)]);
        let sandbox = sandbox(&star(&["0", "0"]), &list, &config(), &native);
        let summary = summary(&sandbox, "native.toml");
        assert_eq!(summary["opcodes"]["RC_ACKNOWLEDGE"], acknowledgements, "{interval}");
        assert_eq!(summary["link_traversals"]["ack"], 2 * acknowledgements, "{interval}");
    }
}

/// HPCC's simulator compares its interval with the position in the flow, in bytes: of 100 packets
/// of 1000 bytes in chunks of 4000, an interval of 2 spares none, and one of 50,000 only those
/// before that position that end no chunk: 51 are acknowledged from there on, and 12 chunks before.
#[test]
fn the_interval_of_the_reference_is_a_position_in_the_profile() {
    for (interval, acknowledgements) in [("1", 100), ("2", 100), ("50000", 63)] {
        let config = with(&config(), "L2_ACK_INTERVAL", interval);
        let sandbox = sandbox(&star(&["0", "0"]), &flows(&[(0, 1, 100_000, 2.0)]), &config, "");
        let summary = summary(&sandbox, "config.txt");
        assert_eq!(summary["link_traversals"]["ack"], 2 * acknowledgements, "{interval}");
    }
}

/// HPCC's simulator has no timeout: a flow whose last packet, last acknowledgement, or NAK is lost
/// never ends. Sixteen pairs of hosts with a flow each.
///
/// By hand for flows of one packet and links that lose one in ten: every link of the profile draws
/// 0.460, 0.057 and on. The packet is the first on its two links and passes; the acknowledgement is
/// the second on the receiver's, where 0.057 is below 0.1. So none completes.
#[test]
fn losses_end_no_flow_but_in_the_profile() {
    for (bytes, loss, dropped_by_profile) in [(200_000, "0.05", None), (1000, "0.1", Some(16))] {
        let pairs: Vec<_> = (0..16).map(|host| (host, host + 16, bytes, 2.0)).collect();
        let config = with(&config(), "SIMULATOR_STOP_TIME", "4.0");
        let sandbox = sandbox(&star(&[loss; 32]), &flows(&pairs), &config, "");

        let native = summary(&sandbox, "native.toml");
        assert_eq!(native["flows"]["completed"], 16, "{native}");
        assert!(native["timeouts"].as_u64() > Some(0), "{native}");

        // A configuration always has a stop time, so this end is expected.
        let profile = summary(&sandbox, "config.txt");
        assert_eq!(profile["flows"]["completed"], 0, "{profile}");
        assert_eq!(profile["flows"]["unfinished"], 16, "{profile}");
        if let Some(dropped) = dropped_by_profile {
            assert_eq!(profile["drops"]["link_loss"], dropped);
        }
        assert_eq!(sandbox.text("config/fct.txt"), "");

        // Without a stop time, the run ends because nothing is left to happen, and says so.
        sandbox.rocelab(&["convert", "config.txt", "--out", "endless.toml"]);
        let scenario = sandbox.text("endless.toml");
        let endless: Vec<_> = scenario.lines().filter(|line| !line.starts_with("stop")).collect();
        sandbox.write("endless.toml", endless.join("\n"));
        let ended = sandbox.rocelab(&["run", "endless.toml"]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let warning = "warning: nothing moves any more, 16 of 16 flows are unfinished\n";
        assert!(ended.stderr.ends_with(warning), "{ended:?}");
    }
}

/// In HPCC's simulator an integer division makes the default 0, so that DCQCN's alpha stays 1 for
/// ever.
#[test]
fn a_gain_that_is_not_given_is_a_sixteenth() {
    let sandbox = Sandbox::new();
    for file in ["topology.txt", "flow.txt"] {
        sandbox.write(file, golden("incast2-dcqcn", file));
    }
    let config = golden("incast2-dcqcn", "config.txt");
    let without = with(&config, "EWMA_GAIN", "").replace("EWMA_GAIN \n", "");
    sandbox.write("without.txt", &without);
    sandbox.write("written.txt", with(&config, "EWMA_GAIN", "0.0625"));
    for name in ["without.txt", "written.txt"] {
        summary(&sandbox, name);
    }
    assert_eq!(sandbox.text("without/fct.txt"), sandbox.text("written/fct.txt"));
    // With 1/256, alpha and therefore the rates fall more slowly.
    assert_ne!(sandbox.text("without/fct.txt"), golden("incast2-dcqcn", "fct.txt"));
    let ended = sandbox.rocelab(&["convert", "without.txt"]);
    assert!(ended.stdout.contains("\ng = \"1/16\"\n"), "{ended:?}");
    assert!(ended.stderr.contains("EWMA_GAIN is not there: 1/16 holds"), "{ended:?}");
}

/// HPCC's simulator keeps only the last of several links between two nodes; here this must be
/// requested.
#[test]
fn parallel_links_are_not_dropped_in_silence() {
    let topology = "4 2 4\n2 3\n0 2 100Gbps 1us 0\n1 3 100Gbps 1us 0\n\
                    2 3 100Gbps 1us 0\n3 2 100Gbps 1us 0\n";
    let sandbox = sandbox(topology, &flows(&[(0, 1, 1000, 2.0)]), &config(), "");
    for scenario in ["native.toml", "config.txt"] {
        let ended = sandbox.rocelab(&["run", scenario]);
        assert_eq!(ended.code, Some(2), "{ended:?}");
        let expected = "topology.txt:6:1: line 6 = 3: line 5 has this link already";
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
}

/// Telemetry of HPCC's simulator knows five line rates. Natively two senders share links of others
/// at about the target, 95 % (without telemetry they would fill the link). Both refuse what they do
/// not know.
#[test]
fn hpcc_runs_at_line_rates_that_the_reference_does_not_know() {
    for rate in ["10Gbps", "40Gbps"] {
        let sandbox = Sandbox::new();
        sandbox.write(
            "hpcc.toml",
            format!(
                "[topology.single-switch]\nhosts = 3\nlink = {{ rate = \"{rate}\", cable = \"3m\" }}\n\
                 [congestion_control.hpcc]\n[workload.incast]\nsenders = 2\nbytes = \"10MB\"\n"
            ),
        );
        summary(&sandbox, "hpcc.toml");
        let (columns, rows) = sandbox.csv("hpcc/links.csv");
        let at = |name: &str| columns.iter().position(|column| column == name).unwrap();
        let to_receiver = rows.iter().find(|row| row[at("to")] == "host-0").unwrap();
        let utilisation: f64 = to_receiver[at("utilisation")].parse().unwrap();
        assert!((0.90..0.97).contains(&utilisation), "{rate}: {utilisation}");
    }
    let small = Sandbox::with_small();
    let sets = ["congestion_control.hpcc={}", "topology.single-switch.link.rate=56Gbps"];
    let ended = small.rocelab(&["check", "small.toml", "--set", sets[0], "--set", sets[1]]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("56Gbps, for which telemetry has no number"), "{ended:?}");

    let topology = star(&["0", "0"]).replace("100Gbps", "40Gbps");
    let config = with(&golden("incast2-hpcc", "config.txt"), "ENABLE_QCN", "0");
    let sandbox = sandbox(&topology, &flows(&[(0, 1, 1000, 2.0)]), &config, "");
    let ended = sandbox.rocelab(&["run", "config.txt"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("40Gbps, for which telemetry has no number"), "{ended:?}");
}
