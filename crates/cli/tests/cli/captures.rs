//! Wireshark's dissectors understand the captures of whole runs, and count the same as the
//! simulator. Skipped, with a note, if tshark is missing.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::payload_guesses::PAYLOAD_GUESSES;
use crate::program::{Sandbox, repository_argument};

/// The encapsulation of a scenario's frames.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Encapsulation {
    V1,
    V2Ipv4,
    V2Ipv6,
}

impl Encapsulation {
    const ALL: [Self; 3] = [Self::V1, Self::V2Ipv4, Self::V2Ipv6];

    /// Overrides that select it in a scenario.
    fn overrides(self) -> &'static [&'static str] {
        match self {
            Self::V1 => &["roce.version=1"],
            Self::V2Ipv4 => &["roce.version=2", "roce.ip=ipv4"],
            Self::V2Ipv6 => &["roce.version=2", "roce.ip=ipv6"],
        }
    }
}

/// A frame as tshark dissects it.
#[derive(Debug, Default)]
struct Dissected(Vec<String>);

/// The fields that are read for each frame, in the order of [`Dissected`]'s accessors.
const FIELDS: [&str; 15] = [
    "frame.interface_name",
    "frame.packet_flags_direction",
    "frame.time_epoch",
    "_ws.malformed",
    "_ws.expert.severity",
    "eth.type",
    "vlan.etype",
    "infiniband.grh.nxthdr",
    "udp.dstport",
    "infiniband.bth.opcode",
    "macc.opcode",
    "macc.cbfc.enbv",
    "eth.fcs.status",
    "ip.checksum.status",
    "frame.protocols",
];

impl Dissected {
    fn field(&self, name: &str) -> &str {
        let index = FIELDS.iter().position(|field| *field == name).expect("a field that is asked");
        &self.0[index]
    }

    /// Whether the captured port sent it.
    fn is_outbound(&self) -> bool {
        u32::from_str_radix(self.field("frame.packet_flags_direction").trim_start_matches("0x"), 16)
            .expect("a direction")
            & 3
            == 2
    }

    fn is_pfc(&self) -> bool {
        self.field("macc.opcode") == "0x0101"
    }

    /// The EtherType after the tag, if there is a tag.
    fn ethertype(&self) -> &str {
        Some(self.field("vlan.etype"))
            .filter(|tagged| !tagged.is_empty())
            .unwrap_or_else(|| self.field("eth.type"))
    }
}

/// The least severity of expert notes that is a problem.
const WARNING: u32 = 0x0060_0000;

/// tshark's fields for every frame; `None`, with a note, if tshark is missing.
fn dissect(path: &Path) -> Option<Vec<Dissected>> {
    let mut command = Command::new("tshark");
    command.arg("-n").arg("-r").arg(path).args(["-T", "fields", "-E", "separator=/t"]);
    command.args(["-o", "eth.check_fcs:TRUE", "-o", "ip.check_checksum:TRUE"]);
    // RoCE v2 over IPv6 has a UDP checksum of 0, which is not allowed for plain UDP.
    command.args(["-o", "udp.ignore_ipv6_zero_checksum:TRUE"]);
    // These dissectors guess the payload of RDMA, and report malformed packets.
    for guess in PAYLOAD_GUESSES {
        command.args(["--disable-heuristic", guess]);
    }
    command.args(FIELDS.iter().flat_map(|field| ["-e", field]));
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: cannot run tshark: {error}");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let rows: Vec<_> =
        text.lines().map(|line| Dissected(line.split('\t').map(str::to_owned).collect())).collect();
    assert!(rows.iter().all(|row| row.0.len() == FIELDS.len()));
    Some(rows)
}

/// Every frame must be dissected, have the right encapsulation, and be in order of time.
#[track_caller]
fn check_frames(frames: &[Dissected], encapsulation: Encapsulation, fcs: bool) {
    let mut last = String::new();
    for (number, frame) in (1..).zip(frames) {
        let case = format!("{encapsulation:?}, FCS {fcs}, frame {number}: {frame:?}");
        assert_eq!(frame.field("_ws.malformed"), "", "{case}");
        let severities = frame.field("_ws.expert.severity").split(',');
        for severity in severities.filter(|severity| !severity.is_empty()) {
            assert!(severity.parse::<u32>().expect("a severity") < WARNING, "{case}");
        }
        // 1 means good.
        assert_eq!(frame.field("eth.fcs.status"), if fcs { "1" } else { "" }, "{case}");
        let time = format!("{:>30}", frame.field("frame.time_epoch"));
        assert!(time >= last, "{case}: before {last}");
        last = time;
        if frame.is_pfc() {
            assert_eq!(frame.field("eth.type"), "0x8808", "{case}");
            assert_eq!(frame.field("macc.cbfc.enbv"), "0x0008", "{case}");
            continue;
        }
        let seen = ["infiniband.grh.nxthdr", "udp.dstport"].map(|field| frame.field(field));
        let (ethertype, expected) = match encapsulation {
            Encapsulation::V1 => ("0x8915", ["27", ""]),
            Encapsulation::V2Ipv4 => ("0x0800", ["", "4791"]),
            Encapsulation::V2Ipv6 => ("0x86dd", ["", "4791"]),
        };
        assert_eq!((frame.ethertype(), seen), (ethertype, expected), "{case}");
        assert!(frame.field("frame.protocols").contains(":infiniband"), "{case}");
        assert_ne!(frame.field("infiniband.bth.opcode"), "", "{case}");
        let checksum = if encapsulation == Encapsulation::V2Ipv4 { "1" } else { "" };
        assert_eq!(frame.field("ip.checksum.status"), checksum, "{case}");
    }
}

/// Opcodes of BTHs, by the names of `summary.json`.
const OPCODES: [(u8, &str); 17] = [
    (0x00, "RC_SEND_FIRST"),
    (0x01, "RC_SEND_MIDDLE"),
    (0x02, "RC_SEND_LAST"),
    (0x04, "RC_SEND_ONLY"),
    (0x06, "RC_RDMA_WRITE_FIRST"),
    (0x07, "RC_RDMA_WRITE_MIDDLE"),
    (0x08, "RC_RDMA_WRITE_LAST"),
    (0x09, "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE"),
    (0x0a, "RC_RDMA_WRITE_ONLY"),
    (0x0b, "RC_RDMA_WRITE_ONLY_WITH_IMMEDIATE"),
    (0x0c, "RC_RDMA_READ_REQUEST"),
    (0x0d, "RC_RDMA_READ_RESPONSE_FIRST"),
    (0x0e, "RC_RDMA_READ_RESPONSE_MIDDLE"),
    (0x0f, "RC_RDMA_READ_RESPONSE_LAST"),
    (0x10, "RC_RDMA_READ_RESPONSE_ONLY"),
    (0x11, "RC_ACKNOWLEDGE"),
    (0x81, "CNP"),
];

fn name_of(opcode: &str) -> &'static str {
    let number: u8 = opcode.parse().expect("an opcode");
    OPCODES.iter().find(|(code, _)| *code == number).expect("an opcode that runs use").1
}

/// How many of `frames` have each opcode.
fn count<'a>(frames: impl Iterator<Item = &'a Dissected>) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for frame in frames.filter(|frame| !frame.is_pfc()) {
        *counts.entry(name_of(frame.field("infiniband.bth.opcode"))).or_default() += 1;
    }
    counts
}

/// The simulator's counts by opcode.
fn counted(summary: &Value) -> BTreeMap<&str, u64> {
    let opcodes = summary["opcodes"].as_object().expect("opcodes");
    let counts = opcodes.iter().map(|(name, count)| (name.as_str(), count.as_u64().unwrap()));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Runs a scenario with overrides; its summary and the frames of its capture.
fn run(scenario: &str, sets: &[&str], fcs: bool) -> Option<(Value, Vec<Dissected>)> {
    let sandbox = Sandbox::new();
    let mut arguments = vec!["run", scenario, "--out", "results"];
    let fcs = format!("capture.fcs={fcs}");
    for set in sets.iter().chain([&fcs.as_str()]) {
        arguments.extend(["--set", set]);
    }
    sandbox.succeeds(&arguments);
    let frames = dissect(&sandbox.path("results/capture.pcapng"))?;
    Some((sandbox.json("results/summary.json"), frames))
}

/// The two incasts of the README. All data goes to `host-0` and all answers come from it, so its
/// port has every packet exactly once.
#[test]
fn incasts_dissect_and_count_at_the_receiver() {
    for (encapsulation, fcs) in
        Encapsulation::ALL.into_iter().flat_map(|one| [(one, false), (one, true)])
    {
        let version = if encapsulation == Encapsulation::V1 { 1 } else { 2 };
        let scenario = repository_argument(&format!("scenarios/incast-v{version}.toml"));
        let mut sets = vec!["workload.incast.bytes=500KB", r#"capture.ports=["host-0", "leaf-0"]"#];
        sets.extend(encapsulation.overrides());
        let Some((summary, frames)) = run(&scenario, &sets, fcs) else { return };
        check_frames(&frames, encapsulation, fcs);

        assert_eq!(summary["drops"]["total"], 0);
        let at_receiver =
            frames.iter().filter(|frame| frame.field("frame.interface_name") == "host-0");
        assert_eq!(count(at_receiver), counted(&summary), "{encapsulation:?}");
        let (pauses, cnps) = (frames.iter().any(Dissected::is_pfc), summary["cnps"].as_u64());
        assert!(pauses, "no PFC frame in an incast over {encapsulation:?}");
        assert_eq!(cnps > Some(0), encapsulation != Encapsulation::V1, "CNPs are for v2");
    }
}

/// Every verb, and hosts that pause, on one switch: each host's port sends each packet once, and
/// the control frames that are no CNPs are PFC.
#[test]
fn every_verb_dissects_and_counts_at_the_senders() {
    let flows = ["write", "send", "write-with-immediate", "read"].map(|verb| {
        format!(r#"{{ from = "host-1", to = "host-0", bytes = "300KB", verb = "{verb}" }}"#)
    });
    let short = flows.clone().map(|flow| flow.replace("300KB", "7B").replace("host-1", "host-3"));
    let crowd = r#"{ from = "host-2", to = "host-0", bytes = "1MB" }"#;
    let sandbox = Sandbox::new();
    let scenario = sandbox.write(
        "verbs.toml",
        format!(
            "[topology.single-switch]\nhosts = 4\nlink = {{ rate = \"100Gbps\", cable = \"3m\" }}\n\
             [switch]\nbuffer = \"1MB\"\n\
             [workload.flows]\nlist = [\n{},\n{},\n{crowd}]\n\
             [capture]\nports = [\"host-0\", \"host-1\", \"host-2\", \"host-3\"]\n",
            flows.join(",\n"),
            short.join(",\n"),
        ),
    );
    for encapsulation in Encapsulation::ALL {
        let sets = encapsulation.overrides();
        let Some((summary, frames)) = run(scenario.to_str().unwrap(), sets, true) else { return };
        check_frames(&frames, encapsulation, true);

        let expected = counted(&summary);
        assert_eq!(count(frames.iter().filter(|frame| frame.is_outbound())), expected);
        assert_eq!(count(frames.iter().filter(|frame| !frame.is_outbound())), expected);
        let pfc = frames.iter().filter(|frame| frame.is_pfc()).count() as u64;
        let control = summary["link_traversals"]["control"].as_u64().unwrap();
        assert_eq!(pfc, control - 2 * summary["cnps"].as_u64().unwrap());
        assert!(pfc > 0, "nobody was paused over {encapsulation:?}");
        assert!(expected.len() >= 14, "{expected:?}");
    }
}
