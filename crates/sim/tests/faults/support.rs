//! Small runs with faults, and what arrived in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rocelab_capture::{CaptureReader, Direction};
use rocelab_sim::network::{FaultCounts, FlowEnd, RecordKind, Totals};
use rocelab_sim::{Ending, Plan, Planning, Scenario, Simulation};
use rocelab_transport::{CompletionStatus, Counters};
use rocelab_wire::Frame;

/// Two hosts and a switch; one WRITE of ten packets from `host-0` to `host-1`, each of which is
/// acknowledged.
pub(crate) const TEN_PACKETS: &str = "[roce]\nack_timeout = 8\n[topology.single-switch]\nhosts = 2\n\
     link = { rate = \"100Gbps\", cable = \"3m\" }\n[congestion_control.none]\n\
     [workload.flows]\nlist = [{ from = \"host-0\", to = \"host-1\", bytes = \"10KiB\" }]\n";

/// The lossy link of most tests: what `host-0` sends, before the switch has it.
pub(crate) const FROM_HOST_0: &str = "from = \"host-0\"\nto = \"switch-0\"\n";

/// A rule on what `host-0` sends.
pub(crate) fn rule(keys: &str) -> String {
    format!("[[faults]]\n{FROM_HOST_0}{keys}\n")
}

/// A rule that counts what matches and does nothing.
pub(crate) fn observer(keys: &str) -> String {
    format!("[[faults]]\naction = \"drop\"\nnth = 1_000_000_000\n{keys}\n")
}

/// A run that is over.
pub(crate) struct Run {
    pub(crate) plan: Arc<Plan>,
    pub(crate) simulation: Simulation,
    pub(crate) ending: Ending,
    pub(crate) ends: Vec<FlowEnd>,
}

pub(crate) fn plan(text: &str) -> Plan {
    let scenario = Scenario::parse(text, Path::new("faults.toml"), &[]);
    let plan = scenario.and_then(|scenario| scenario.plan());
    plan.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Runs a scenario to its end and audits it.
pub(crate) fn run(text: &str) -> Run {
    run_captured(text, None)
}

fn run_captured(text: &str, folder: Option<&Path>) -> Run {
    let plan = Arc::new(plan(text));
    let mut simulation = Simulation::new(Arc::clone(&plan)).expect("a plan becomes a network");
    if let Some(folder) = folder {
        simulation.start_capture(folder).expect("the folder takes files");
    }
    let mut ends = Vec::new();
    let ending = loop {
        let ending = simulation.advance(10_000);
        let records = simulation.take_records().into_iter();
        ends.extend(records.filter_map(|record| match record.kind {
            RecordKind::FlowEnd(end) => Some(end),
            _ => None,
        }));
        simulation.network().audit().unwrap_or_else(|error| panic!("{error}\n{text}"));
        if let Some(ending) = ending {
            break ending;
        }
    };
    simulation.finish_capture().expect("the folder takes files");
    Run { plan, simulation, ending, ends }
}

impl Run {
    /// What each rule did.
    pub(crate) fn faults(&self) -> Vec<FaultCounts> {
        self.simulation.network().fault_counts()
    }

    /// How many frames matched the only rule, and on how many it acted.
    pub(crate) fn fault(&self) -> (u64, u64) {
        let [counts] = self.faults()[..] else { panic!("one rule: {:?}", self.faults()) };
        (counts.matched, counts.acted)
    }

    pub(crate) fn totals(&self) -> Totals {
        self.simulation.network().totals(self.simulation.now())
    }

    pub(crate) fn counters(&self) -> Counters {
        self.simulation.network().nic_counters()
    }

    /// Frames that were dropped for `reason`.
    pub(crate) fn drops(&self, reason: &str) -> u64 {
        self.totals().drops.get(reason).copied().unwrap_or(0)
    }

    /// Every flow completed, all payload arrived exactly once, and nothing is left.
    pub(crate) fn assert_complete(&self) {
        assert_eq!(self.ending, Ending::Finished);
        assert_eq!(self.ends.len(), self.plan.flows.len());
        assert!(self.ends.iter().all(|end| end.status == CompletionStatus::Success));
        assert_eq!(self.simulation.network().frames_in_network(), 0);
        let asked: u64 = self.plan.flows.iter().map(|flow| flow.bytes).sum();
        assert_eq!(self.counters().payload_delivered, asked);
    }
}

/// A frame in a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Captured {
    /// Nanoseconds from the start of the run.
    pub(crate) time: u128,
    pub(crate) bytes: Vec<u8>,
}

impl Captured {
    pub(crate) fn frame(&self) -> Frame<'_> {
        Frame::parse_with_fcs(&self.bytes).expect("a whole frame")
    }

    pub(crate) fn psn(&self) -> u32 {
        self.frame().roce().expect("an RDMA packet").bth.psn
    }

    pub(crate) fn identification(&self) -> u16 {
        match self.frame().roce().expect("an RDMA packet").network {
            rocelab_wire::Network::V2Ipv4 { ip, .. } => ip.identification,
            _ => panic!("no IPv4"),
        }
    }
}

/// A new folder for a capture.
pub(crate) fn new_folder() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = format!("faults-{}-{number}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).expect("the folder takes folders");
    folder
}

/// Runs a scenario and captures `port`, with FCS: the run, what the port sent, what it received.
pub(crate) fn capture(text: &str, port: &str) -> (Run, Vec<Captured>, Vec<Captured>) {
    let folder = new_folder();
    let text = format!("{text}[capture]\nports = [\"{port}\"]\nfcs = true\n");
    let run = run_captured(&text, Some(&folder));
    let mut reader = CaptureReader::open(folder.join("capture.pcapng")).expect("a capture");
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    while let Some(frame) = reader.next_frame() {
        let frame = frame.expect("a frame");
        let captured = Captured { time: frame.time.as_nanos(), bytes: frame.bytes.to_vec() };
        match frame.direction {
            Some(Direction::Outbound) => sent.push(captured),
            _ => received.push(captured),
        }
    }
    drop(reader);
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
    (run, sent, received)
}

/// The packets that arrive at `host-1`, in order, counted from the flow's first; and when [ns].
pub(crate) fn arrivals(text: &str) -> (Run, Vec<u32>, Vec<u128>) {
    let (run, _, received) = capture(text, "host-1");
    let first = run.plan.flows[0].source_psn;
    let offset = |captured: &Captured| captured.psn().wrapping_sub(first) & 0x00ff_ffff;
    let offsets = received.iter().map(offset).collect();
    let times = received.iter().map(|captured| captured.time).collect();
    (run, offsets, times)
}
