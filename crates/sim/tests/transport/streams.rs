//! `[[host.stack.NAME]]`: what hosts send that is of no workload.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rocelab_sim::{Ending, Scenario, Simulation};
use rocelab_transport::stack::StreamCounts;

use crate::support::{Run, run, try_plan};

fn text(more: &str) -> String {
    format!(
        "{more}\n[topology.single-switch]\nhosts = 4\n\
         link = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
         [workload.flows]\nlist = [{{ from = \"host-0\", to = \"host-1\", bytes = \"200KB\" }}]\n"
    )
}

fn udp(from: u32, to: u32, keys: &str) -> String {
    format!("[[host.stack.udp]]\nfrom = \"host-{from}\"\nto = \"host-{to}\"\n{keys}\n")
}

fn counts(run: &Run) -> Vec<StreamCounts> {
    run.simulation.network().stream_counts()
}

/// 1,000 bytes each microsecond, the first at 10 us and none at 110 us.
const STEADY: &str = "rate = \"8Gbps\"\ndatagram = \"1KB\"\nstart = \"10us\"\nstop = \"110us\"";

#[test]
fn so_many_as_the_rate_says_and_all_arrive() {
    for version in
        ["version = 1", "version = 2", "version = 2\nip = \"ipv6\"\ntagging = \"tagged\""]
    {
        let run = run(&text(&format!("[roce]\n{version}\n{}", udp(2, 3, STEADY))));
        assert_eq!(run.ending, Ending::Finished);
        let all = StreamCounts {
            sent_packets: 100,
            sent_bytes: 100_000,
            delivered_packets: 100,
            delivered_bytes: 100_000,
        };
        assert_eq!(counts(&run), [all]);
        // The last one is due at 109 us. The flow was over long before.
        let end = run.simulation.now().ps();
        assert!((109_000_000..130_000_000).contains(&end), "{end}");
        assert!(run.ends[0].finished.ps() < 60_000_000, "{:?}", run.ends[0]);
    }
}

#[test]
fn a_run_ends_with_the_last_stream_or_at_its_stop() {
    let endless = "rate = \"8Gbps\"\ndatagram = \"1KB\"";
    let stopped = run(&text(&format!("stop = \"49us\"\n{}", udp(2, 3, endless))));
    // What is due at that instant is sent.
    assert_eq!(counts(&stopped)[0].sent_packets, 50);
    assert_eq!(stopped.ends.len(), 1);
}

/// The run is over when the last datagram has arrived, and not when a timer of the flow would have come, 67 ms after
/// its last packet.
#[test]
fn a_run_ends_with_the_last_datagram() {
    let slow = "rate = \"2Mbps\"\ndatagram = \"1KB\"\nstop = \"10ms\"";
    let run = run(&text(&udp(2, 3, slow)));
    assert_eq!(run.ending, Ending::Finished);
    assert_eq!(counts(&run)[0].delivered_packets, 3);
    let end = run.simulation.now().ps();
    assert!((8_000_000_000..8_010_000_000).contains(&end), "{end}");
}

/// Two of 90 Gb/s to a host at 100 Gb/s, in a lossy priority: the frames that do not arrive were dropped, each
/// for a cause, and the flow of a lossless priority loses none.
#[test]
fn they_do_not_react_to_losses() {
    let keys = "rate = \"90Gbps\"\ndatagram = \"1472B\"\nstop = \"400us\"";
    let more = format!("[switch]\nbuffer = \"1MB\"\n{}{}", udp(2, 1, keys), udp(3, 1, keys));
    let run = run(&text(&more));
    assert_eq!(run.ending, Ending::Finished);
    let counts = counts(&run);
    // 1,472 bytes take 130.84 ns at 90 Gb/s.
    assert!(counts.iter().all(|one| one.sent_packets == 400_000_000_u64.div_ceil(130_845)));
    let sent: u64 = counts.iter().map(|one| one.sent_packets).sum();
    let delivered: u64 = counts.iter().map(|one| one.delivered_packets).sum();
    let totals = run.simulation.network().totals(run.simulation.now());
    assert!(totals.frames_dropped > 1_000, "{totals:?}");
    assert_eq!(sent - delivered, totals.drops.values().sum::<u64>());
    assert_eq!(run.counters().retransmitted.packets, 0);
}

/// On the sender's port, the host's scheduler decides: of a higher priority they leave first.
#[test]
fn they_share_the_port_with_the_nic() {
    let end = |scheduler: &str, priority: u8| {
        let keys = format!("rate = \"60Gbps\"\npriority = {priority}\nstop = \"100us\"");
        let more = format!(
            "[host]\nscheduler = \"{scheduler}\"\n{}[congestion_control.none]",
            udp(0, 2, &keys)
        );
        let run = run(&text(&more));
        assert_eq!(run.ends.len(), 1);
        run.ends[0].finished.ps()
    };
    // 196 packets of 1,024 bytes, with 82 bytes around each.
    let alone = 200_000 * (1_024 + 82) / 1_024 * 80;
    let half = end("round-robin", 7);
    assert!((alone * 19 / 10..alone * 22 / 10).contains(&half), "{half} {alone}");
    // It gets what 60 Gb/s and headers leave.
    let rest = alone * 100 / (100 - 60 * (1_472 + 66) / 1_472);
    let last = end("strict-priority", 7);
    assert!((rest * 9 / 10..rest * 11 / 10).contains(&last), "{last} {rest}");
    let first = end("strict-priority", 0);
    assert!((alone..alone * 11 / 10).contains(&first), "{first} {alone}");
}

/// A lossless priority: they wait for the end of pauses, and nothing is lost.
#[test]
fn pauses_hold_them_back() {
    let keys = "rate = \"60Gbps\"\npriority = 3\nstop = \"200us\"";
    let streams = [udp(2, 1, keys), udp(3, 1, keys)].concat();
    let run = run(&text(&format!("[switch]\nbuffer = \"1MB\"\n{streams}")));
    assert_eq!(run.ending, Ending::Finished);
    let totals = run.simulation.network().totals(run.simulation.now());
    assert!(totals.pauses > 0 && totals.frames_dropped == 0, "{totals:?}");
    for counts in counts(&run) {
        assert_eq!(counts.sent_bytes, counts.delivered_bytes);
        assert_eq!(counts.sent_packets, 200_000_000_u64.div_ceil(196_267));
    }
    // They are sent later than they were due.
    assert!(run.simulation.now().ps() > 230_000_000, "{}", run.simulation.now());
}

#[test]
fn every_wrong_value_is_refused_at_its_place() {
    let good = "rate = \"8Gbps\"\nstop = \"1ms\"";
    for (stream, key, message, help) in [
        (udp(2, 9, good), "to", "there is no host `host-9`", "host-0"),
        (udp(2, 2, good), "to", "a host would send to itself", "name another host"),
        (udp(2, 3, "rate = \"0bps\"\nstop = \"1ms\""), "rate", "sends nothing", "above 0bps"),
        (
            udp(2, 3, "rate = \"98Gbps\"\nstop = \"1ms\""),
            "rate",
            "more than the sender's link carries",
            "lower rate",
        ),
        (udp(2, 3, &format!("{good}\ndatagram = \"0B\"")), "datagram", "no payload", "8952B"),
        (udp(2, 3, &format!("{good}\ndatagram = \"9KB\"")), "datagram", "one frame", "8952B"),
        (udp(2, 3, &format!("{good}\npriority = 8")), "priority", "does not exist", "0 to 7"),
        (udp(2, 3, "rate = \"8Gbps\""), "stop", "send for ever", "give `stop`"),
        (udp(2, 3, &format!("{good}\nstart = \"2ms\"")), "start", "before it starts", "earlier"),
    ] {
        let error = try_plan(&text(&stream)).expect_err(&stream).to_string();
        let place = format!("host.stack.udp[0].{key}");
        for part in [&place, message, help, "integrity.toml"] {
            assert!(error.contains(part), "no `{part}` in: {error}");
        }
    }
    let unknown = try_plan(&text(&udp(2, 3, "rates = 3"))).expect_err("no such key").to_string();
    assert!(unknown.contains("rates") && unknown.contains("`rate`"), "{unknown}");
    let profile = format!("[profile.hpcc-ns3]\n{}", udp(2, 3, good));
    let refused = try_plan(&text(&profile)).expect_err("its rules have no such thing").to_string();
    assert!(refused.contains("host"), "{refused}");
    let schema = Scenario::json_schema().to_string();
    assert!(schema.contains("\"udp\"") && schema.contains("\"datagram\""));
}

/// Runs with a capture at the receiver; the file.
fn captured(name: &str, roce: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("streams-{name}"));
    std::fs::create_dir_all(&folder).expect("the folder takes folders");
    let keys = "rate = \"80Gbps\"\ndatagram = \"1001B\"\npriority = 5\nstop = \"20us\"";
    let small = "rate = \"1Gbps\"\ndatagram = \"3B\"\nstop = \"20us\"";
    let more = format!("[roce]\n{roce}\n{}{}", udp(2, 3, keys), udp(0, 3, small));
    let plan = try_plan(&text(&format!("[capture]\nports = [\"host-3\"]\n{more}")))
        .unwrap_or_else(|error| panic!("{error}"));
    let mut simulation: Simulation =
        Simulation::new(Arc::new(plan)).expect("a plan becomes a network");
    simulation.start_capture(&folder).expect("the folder takes files");
    simulation.run_to_end();
    simulation.finish_capture().expect("the folder takes files");
    folder.join("capture.pcapng")
}

#[test]
fn tshark_has_no_complaint() {
    for (number, roce) in
        ["version = 1", "version = 2", "version = 2\nip = \"ipv6\"\ntagging = \"tagged\""]
            .into_iter()
            .enumerate()
    {
        let file = captured(&number.to_string(), roce);
        let mut command = Command::new("tshark");
        command.args(["-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]);
        command.args(["-T", "fields", "-r"]).arg(&file);
        for field in [
            "udp.checksum.status",
            "_ws.malformed",
            "_ws.expert.severity",
            "udp.dstport",
            "udp.length",
        ] {
            command.args(["-e", field]);
        }
        let Ok(output) = command.output() else {
            eprintln!("skipped: there is no tshark");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let rows = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lengths = [0; 2];
        for row in rows.lines() {
            let fields: Vec<&str> = row.split('\t').collect();
            assert_eq!(fields[..4], ["1", "", "", "9"], "{roce}: {row}");
            lengths[usize::from(fields[4] == "1009")] += 1;
            assert!(["1009", "11"].contains(&fields[4]), "{row}");
        }
        // 1,001 bytes take 100.1 ns, and 3 bytes 24 ns.
        assert_eq!(lengths, [834, 200], "{roce}");
    }
}
