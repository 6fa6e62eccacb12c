//! `rocelab pcap`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::payload_guesses::PAYLOAD_GUESSES;
use crate::program::{Sandbox, repository, repository_argument};

/// A message of several packets, and frames around it.
const WRITE: &str = "[[message]]\nverb = \"write\"\nbytes = 5000\n[[message]]\nverb = \"acknowledge\"\n\
     [[message]]\nverb = \"cnp\"\n[[message]]\nverb = \"pfc\"\n";

/// A capture of Soft-RoCE in the repository.
fn data(name: &str) -> String {
    repository_argument(&format!("crates/capture/tests/data/{name}.pcap"))
}

/// Every capture of Soft-RoCE beside the repository, or in it.
fn captures() -> Vec<PathBuf> {
    let shared = repository("").join("../shared");
    let folders = ["soft-roce/captures", "vectors", "vectors/pcap_variants", "captures"];
    let mut folders: Vec<_> = folders.map(|folder| shared.join(folder)).into();
    folders.retain(|folder| folder.is_dir());
    if folders.is_empty() {
        println!("only the repository's captures: there is no ../shared beside it");
        folders.push(repository("crates/capture/tests/data"));
    }
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension().is_some_and(|extension| extension == "pcap" || extension == "pcapng")
    });
    paths.sort();
    paths
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// As in a pipe: `rocelab pcap make write.toml -o - | rocelab pcap decode -`.
#[test]
fn captures_go_through_pipes() {
    use std::io::Write as _;
    use std::process::Stdio;

    let sandbox = Sandbox::new();
    sandbox.write("write.toml", WRITE);
    let made = sandbox.program(&["pcap", "make", "write.toml", "-o", "-"]).output().unwrap();
    assert!(made.status.success() && made.stderr.is_empty(), "{made:?}");
    sandbox.succeeds(&["pcap", "make", "write.toml", "-o", "write.pcapng"]);
    assert_eq!(made.stdout, fs::read(sandbox.path("write.pcapng")).unwrap());
    for command in ["decode", "verify", "stats"] {
        let of_file = sandbox.rocelab(&["pcap", command, "write.pcapng"]);
        let mut program = sandbox.program(&["pcap", command, "-"]);
        let program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&made.stdout).unwrap();
        let of_pipe = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(of_pipe.stdout).unwrap(), of_file.stdout, "{command}");
        assert_eq!(of_pipe.status.code(), of_file.code, "{command}");
    }
}

#[test]
fn verify_says_what_is_wrong_and_where() {
    let sandbox = Sandbox::new();
    let ended = sandbox.rocelab(&["pcap", "verify", &data("fault_write_corrupt_icrc.delivered")]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    for part in ["frame 7: icrc: found 0x", "82 frames, 1 fault\n", "RC_ACKNOWLEDGE (0x11)"] {
        assert!(ended.stdout.contains(part), "no {part} in:\n{}", ended.stdout);
    }
    let answer = sandbox.succeeds(&["pcap", "verify", &data("fault_send_rnr")]);
    assert!(answer.ends_with("\n112 frames, no faults\n"), "{answer}");
    assert!(sandbox.tree().is_empty());
}

#[test]
fn verify_json_has_the_keys_that_scripts_rely_on() {
    let sandbox = Sandbox::new();
    let ended =
        sandbox.rocelab(&["pcap", "verify", &data("fault_write_corrupt_icrc.delivered"), "--json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let mut all = objects(&ended.stdout);
    let last = all.pop().unwrap();
    assert_eq!((&last["total"], &last["faults"]), (&82.into(), &1.into()));
    assert_eq!(all.len(), 82);
    let keys = [
        "frame",
        "proto",
        "opcode",
        "dest_qp",
        "psn",
        "ack_req",
        "syndrome",
        "msn",
        "payload_len",
        "icrc",
        "fcs",
        "faults",
    ];
    for (number, object) in (1..).zip(&all) {
        assert!(keys.iter().all(|key| object.get(key).is_some()), "{object}");
        assert_eq!(object["frame"], number);
        assert_eq!(object["faults"].as_array().unwrap().len(), usize::from(number == 7));
    }
    assert_eq!(all[0]["proto"], "roce_v2_ipv4");
    assert_eq!(all[0]["opcode"], "RC_RDMA_WRITE_FIRST");
    assert_eq!((&all[0]["payload_len"], &all[0]["syndrome"]), (&1024.into(), &Value::Null));
    assert_eq!((&all[6]["icrc"], &all[6]["fcs"]), (&"bad".into(), &"absent".into()));
    let ack = all.iter().find(|object| object["opcode"] == "RC_ACKNOWLEDGE").unwrap();
    assert!(ack["syndrome"] == 0x1f || ack["syndrome"] == 0x60);
    assert!(ack["msn"].is_u64() && ack["ack_req"] == false);
}

/// tshark's opcode numbers, each with its number of packets; `None` if tshark is missing.
fn tshark_opcodes(path: &Path) -> Option<BTreeMap<u64, u64>> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(path).args(["-T", "fields", "-e", "infiniband.bth.opcode"]);
    // These dissectors guess the payload; the last one hides RoCE on low source ports.
    for guess in PAYLOAD_GUESSES {
        command.args(["--disable-heuristic", guess]);
    }
    command.args(["--disable-protocol", "tftp"]);
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: cannot run tshark: {error}");
            return None;
        }
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {}: {errors}", path.display(), output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut counts = BTreeMap::new();
    for opcode in text.lines().filter(|line| !line.is_empty()) {
        *counts.entry(opcode.parse().unwrap()).or_default() += 1;
    }
    Some(counts)
}

#[test]
fn opcodes_are_counted_as_tshark_counts_them() {
    let sandbox = Sandbox::new();
    for path in captures() {
        let ended = sandbox.rocelab(&["pcap", "verify", path.to_str().unwrap(), "--json"]);
        assert!(matches!(ended.code, Some(0 | 1)), "{}: {}", path.display(), ended.stderr);
        let Some(expected) = tshark_opcodes(&path) else { return };
        let mut counts = BTreeMap::new();
        for object in objects(&ended.stdout) {
            if let Some(opcode) = object.get("opcode_number").and_then(Value::as_u64) {
                *counts.entry(opcode).or_default() += 1;
            }
        }
        // These packets were changed on purpose: tshark does not decode after a next header other
        // than 0x1b.
        if !path.to_str().unwrap().contains("icrc_mutations") {
            assert_eq!(counts, expected, "{}", path.display());
        }
    }
}

#[test]
fn decode_prints_a_line_a_frame() {
    let sandbox = Sandbox::new();
    let path = data("fault_send_rnr");
    let answer = sandbox.succeeds(&["pcap", "decode", &path]);
    assert_eq!(answer.lines().count(), 112);
    let nak = answer.lines().find(|line| line.contains("RNR NAK")).expect("one is there");
    for part in ["10.0.0.1 > 10.0.0.2: RC_ACKNOWLEDGE", "timer 640 us", "payload 0, icrc ok"] {
        assert!(nak.contains(part), "{nak}");
    }
    assert_eq!(sandbox.succeeds(&["pcap", "decode", &path, "--count", "3"]).lines().count(), 3);

    let all = objects(&sandbox.succeeds(&["pcap", "decode", &path, "--json"]));
    assert_eq!(all.len(), 112);
    let first = &all[0];
    assert_eq!((&first["frame"], &first["proto"]), (&1.into(), &"roce_v2_ipv4".into()));
    assert_eq!((&first["bth"]["opcode"], &first["icrc"]), (&"RC_SEND_ONLY".into(), &"ok".into()));
    assert_eq!(first["ipv4"]["destination"], "10.0.0.1");
}

#[test]
fn decode_explains_the_icrc_as_the_documentation_shows() {
    let sandbox = Sandbox::new();
    let explained = |name: &str, count: &str| {
        sandbox.succeeds(&["pcap", "decode", &data(name), "--count", count, "--explain-icrc"])
    };
    let page = fs::read_to_string(repository("docs/icrc.md")).unwrap();
    let answer = explained("fault_send_rnr", "1");
    assert!(page.contains(&answer), "{answer}");
    // The frame with a wrong ICRC, as `verify` has it: found 0xc8f54680, computed 0x37f54680.
    let answer = explained("fault_write_corrupt_icrc.delivered", "7");
    let wrong: Vec<_> = answer.lines().filter(|line| line.contains("which is wrong")).collect();
    assert_eq!(
        wrong,
        [
            "  ICRC 37f54680, on the wire 80 46 f5 37 (the lowest byte first); the frame has 80 46 f5 c8, which is wrong"
        ]
    );
}

#[test]
fn decode_names_connection_management() {
    let sandbox = Sandbox::new();
    let path = repository_argument("crates/wire/tests/data/cm/rping_no_listener_rej.pcap");
    let lines = sandbox.succeeds(&["pcap", "decode", &path]);
    let lines: Vec<_> = lines.lines().collect();
    assert_eq!(lines.len(), 2);
    for (line, message) in lines.iter().zip(["CM REQ", "CM REJ"]) {
        assert!(line.contains("UD_SEND_ONLY") && line.contains(message), "{line}");
    }
    let all = objects(&sandbox.succeeds(&["pcap", "decode", &path, "--json"]));
    assert!(all.iter().all(|frame| frame["mad"].is_object()), "{all:?}");
}

#[test]
fn stats_count_by_queue_pair() {
    let sandbox = Sandbox::new();
    let all = objects(&sandbox.succeeds(&["pcap", "stats", &data("fault_send_rnr"), "--json"]));
    let [connection, total] = &all[..] else { panic!("{all:?}") };
    assert_eq!(total["total"], 112);
    assert_eq!(connection["transport"], "RC");
    let (requests, answers) = (&connection["forward"], &connection["reverse"]);
    assert_eq!((&requests["messages"], &requests["packets"]), (&20.into(), &80.into()));
    assert_eq!(requests["retransmissions"], 60);
    assert_eq!((&answers["rnr_naks"], &answers["acks"]), (&6.into(), &20.into()));
    assert_eq!(answers["naks"]["psn_sequence_error"], 6);
    let rtt = &requests["rtt_ns"];
    let times = ["min", "median", "p99", "max"].map(|key| rtt[key].as_u64().unwrap());
    assert!(times.is_sorted() && times[0] > 0 && rtt["count"].as_u64() > Some(0));

    let text = sandbox.succeeds(&["pcap", "stats", &data("fault_send_rnr")]);
    assert!(text.contains("rtt min [us]") && text.contains("10.0.0.2"), "{text}");
}

#[test]
fn made_captures_are_sound_for_us_and_for_tshark() {
    let sandbox = Sandbox::new();
    sandbox.write("write.toml", WRITE);
    for out in ["write.pcap", "write.pcapng"] {
        let answer = sandbox.succeeds(&["pcap", "make", "write.toml", "--out", out]);
        assert_eq!(answer, format!("8 frames: {out}\n"));
        assert!(sandbox.succeeds(&["pcap", "verify", out]).ends_with("8 frames, no faults\n"));
        let Some(opcodes) = tshark_opcodes(&sandbox.path(out)) else { continue };
        let expected = [(6, 1), (7, 3), (8, 1), (17, 1), (129, 1)];
        assert_eq!(opcodes, BTreeMap::from(expected));
    }
    let again = sandbox.rocelab(&["pcap", "make", "write.toml", "--out", "write.pcap"]);
    let expected = "error: --out = write.pcap: exists; replace it with --force\n";
    assert_eq!((again.code, again.stderr.as_str()), (Some(2), expected));
    sandbox.succeeds(&["pcap", "make", "write.toml", "--out", "write.pcap", "--force"]);

    sandbox.write("wrong.toml", "path_mtu = 1000\n");
    let wrong = sandbox.rocelab(&["pcap", "make", "wrong.toml", "--out", "wrong.pcap"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.starts_with("error: wrong.toml:1:12: path_mtu = 1000: "), "{wrong:?}");
    assert!(!sandbox.path("wrong.pcap").exists());
}

/// Frames that the snap length cut are counted, in JSON and in text.
#[test]
fn frames_that_are_not_whole_are_counted() {
    let sandbox = Sandbox::new();
    let scenario = repository_argument("scenarios/single-switch-write.toml");
    let sets = ["capture.ports=[\"host-0\"]", "capture.snap_length=100"];
    let mut arguments = vec!["run", &scenario, "--out", "results"];
    arguments.extend(sets.iter().flat_map(|set| ["--set", set]));
    sandbox.succeeds(&arguments);
    let capture = "results/capture.pcapng";
    let answer = sandbox.succeeds(&["pcap", "verify", capture, "--json"]);
    let last = objects(answer.lines().last().unwrap()).remove(0);
    let cut = last["cut_frames"].as_u64().unwrap();
    assert!(0 < cut && cut < last["total"].as_u64().unwrap(), "{last}");
    let answer = sandbox.succeeds(&["pcap", "verify", capture]);
    let end = format!("; {cut} frames cut by the snap length, not checked whole\n");
    assert!(answer.replace(',', "").ends_with(&end.replace(',', "")), "{answer}");
}

/// Captures of the simulator have no faults, and the same retransmissions as it counted.
#[test]
fn simulated_captures_are_sound() {
    let sandbox = Sandbox::new();
    for (version, ip) in [("1", "ipv4"), ("2", "ipv4"), ("2", "ipv6")] {
        let scenario = repository_argument(&format!("scenarios/incast-v{version}.toml"));
        let ip = format!("roce.ip={ip}");
        let version = format!("roce.version={version}");
        let mut arguments =
            vec!["run", &scenario, "--out", "results", "--force", "--set", &version];
        if version.ends_with('2') {
            arguments.extend(["--set", &ip]);
        }
        let sets = [
            "workload.incast.bytes=200KB",
            r#"capture.ports=["host-0", "leaf-0"]"#,
            "capture.fcs=true",
        ];
        arguments.extend(sets.iter().flat_map(|set| ["--set", set]));
        sandbox.succeeds(&arguments);
        let answer = sandbox.succeeds(&["pcap", "verify", "results/capture.pcapng", "--json"]);
        let last = objects(answer.lines().last().unwrap()).remove(0);
        assert!(last["total"].as_u64() > Some(1_000));
        assert_eq!((&last["faults"], &last["missing_psns"]), (&0.into(), &0.into()));
    }
}

#[test]
fn what_is_no_capture_is_refused_in_one_line() {
    let sandbox = Sandbox::new();
    sandbox.write("empty.pcap", "");
    sandbox.write("text.pcap", "no capture at all");
    sandbox.write("packed.pcap", [0x1f, 0x8b, 8, 0, 0, 0]);
    let whole = fs::read(data("fault_send_rnr")).unwrap();
    sandbox.write("cut.pcap", &whole[..1_000]);
    let mut wireless = whole.clone();
    wireless[20] = 105;
    sandbox.write("wireless.pcap", wireless);
    fs::create_dir(sandbox.path("folder.pcap")).unwrap();
    let cases = [
        ("empty.pcap", "is empty; name a pcap or pcapng file"),
        ("text.pcap", "not a capture: starts with 0x6e6f2063, neither pcap nor pcapng; name a"),
        ("packed.pcap", "neither pcap nor pcapng; unpack it with gunzip first"),
        ("cut.pcap", "the capture is cut off after frame 7; capture again"),
        (
            "wireless.pcap",
            "frame 1 is of link type 105 (IEEE802_11), which is not read here; capture on an",
        ),
        ("folder.pcap", "is a folder; name a file in it"),
        ("absent.pcap", "there is no such file; name a file that you may read"),
    ];
    for command in ["verify", "decode", "stats"] {
        for (name, expected) in cases {
            let ended = sandbox.rocelab(&["pcap", command, name]);
            assert_eq!(ended.code, Some(2), "{command} {name}: {ended:?}");
            assert!(ended.stderr.starts_with(&format!("error: {name}: ")), "{}", ended.stderr);
            assert!(ended.stderr.contains(expected), "{command} {name}: {}", ended.stderr);
            assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        }
    }
}

/// A truncated file is read as far as possible.
#[test]
fn the_whole_frames_of_a_cut_file_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write("cut.pcap", &fs::read(data("fault_send_rnr")).unwrap()[..1_000]);
    let ended = sandbox.rocelab(&["pcap", "decode", "cut.pcap"]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (Some(2), 7));
    let ended = sandbox.rocelab(&["pcap", "verify", "cut.pcap"]);
    assert!(ended.stdout.ends_with("7 frames, no faults\n"), "{}", ended.stdout);
}

/// A reader that closes the pipe, as `head` does.
#[cfg(unix)]
#[test]
fn a_reader_that_goes_ends_it_quietly() {
    use std::process::Stdio;

    let sandbox = Sandbox::new();
    for command in ["decode", "verify"] {
        let path = data("fault_write_corrupt_icrc.delivered");
        let mut program = sandbox.program(&["pcap", command, &path, "--json"]);
        let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        // The exit code is 1 if it had found the fault before the reader closed the pipe.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command}: {output:?}");
        assert!(output.stderr.is_empty(), "{command}");
    }
}
