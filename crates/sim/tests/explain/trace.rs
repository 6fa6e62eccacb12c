//! Explanations against packet traces: the same parts of the same flows, computed anew from what
//! was captured at both ends of every link, and from nothing else but rates and delays of links.
//!
//! Captures have nanoseconds. The links here have 8 Gbit/s and delays of whole nanoseconds: one byte
//! takes one nanosecond, nothing happens between two, and what is compared is equal to the picosecond.
//! At other rates the time at each place agrees to what rounding leaves.

mod segments;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use rocelab_capture::{CaptureReader, Direction};
use rocelab_fabric::LinkFlowControl;
use rocelab_sim::explain::{Category, Cause, Explanation, Selection, Stage, Subject, explain};
use rocelab_sim::network::RecordKind;
use rocelab_sim::{CaptureFormat, CapturePlan, FlowPlan, Plan, Planning, Scenario, Simulation};
use rocelab_wire::{Body, Frame, Network, Opcode, Pfc, Roce, Syndrome};

/// What a byte takes on these links (ps).
const BYTE: u64 = 1_000;
/// A pause quantum of 512 bit times (ps).
const QUANTUM: u64 = 64 * BYTE;
/// Preamble and start of frame; and the gap behind it (bytes).
const PREAMBLE: u64 = 8;
const GAP: u64 = 12;
/// The delay of every link (ps).
const DELAY: u64 = 1_000_000;

/// A frame at a port.
#[derive(Clone, Debug)]
struct Seen {
    time: u64,
    is_sent: bool,
    len: u64,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Packet(Packet),
    Pause(Pfc),
}

/// What says which packet a frame is, at every port that it comes by.
#[derive(Clone, Copy, Debug)]
struct Packet {
    id: (Ipv4Addr, u16),
    to: (Ipv4Addr, u32),
    opcode: u8,
    psn: u32,
    acknowledges: bool,
    /// Of TCP; what comes before is 0 then, but for the identification.
    segment: Option<segments::Segment>,
}

impl Packet {
    fn of(roce: &Roce<'_>) -> Self {
        let Network::V2Ipv4 { ip, .. } = roce.network else { panic!("{roce:?}") };
        let syndrome = roce.extensions.aeth.map(|aeth| aeth.syndrome);
        Self {
            id: (ip.source, ip.identification),
            to: (ip.destination, roce.bth.dest_qp),
            opcode: roce.bth.opcode,
            psn: roce.bth.psn,
            acknowledges: roce.bth.opcode == Opcode::RcAcknowledge as u8
                && matches!(syndrome, Some(Syndrome::Ack { .. })),
            segment: None,
        }
    }

    fn is_data(&self) -> bool {
        match self.segment {
            Some(segment) => segment.len > 0,
            None => ![Opcode::RcAcknowledge as u8, Opcode::Cnp as u8].contains(&self.opcode),
        }
    }
}

/// A time that a flow spends at a place, and because of whom.
type Key = (Stage, String, Category, String);

/// Everything that was captured, by port, in order.
struct Trace<'a> {
    plan: &'a Plan,
    ports: BTreeMap<String, Vec<Seen>>,
    /// By node: its address.
    addresses: BTreeMap<u32, Ipv4Addr>,
}

impl<'a> Trace<'a> {
    fn read(plan: &'a Plan, file: &Path) -> Self {
        let mut trace = Self { plan, ports: BTreeMap::new(), addresses: BTreeMap::new() };
        let mut reader = CaptureReader::open(file).unwrap();
        while let Some(frame) = reader.next_frame() {
            let frame = frame.unwrap();
            let name = frame.described.unwrap().name.clone().unwrap();
            let is_sent = frame.direction == Some(Direction::Outbound);
            let parsed = Frame::parse_with_fcs(frame.bytes).unwrap();
            let what = match &parsed.body {
                Body::Roce(roce) => What::Packet(Packet::of(roce)),
                Body::Pfc(pfc) => What::Pause(*pfc),
                Body::Other(bytes) => What::Packet(Packet::of_tcp(bytes)),
                other => panic!("{other:?}"),
            };
            let host = (0u32..).zip(&plan.topology.nodes).find(|(_, node)| node.name == name);
            if let (Some((host, _)), true, What::Packet(packet)) = (host, is_sent, &what) {
                trace.addresses.insert(host, packet.id.0);
            }
            let time = frame.sim_time().unwrap().ps();
            let len = frame.original_length.into();
            let port = if name.contains(':') { name } else { format!("{name}:0") };
            trace.ports.entry(port).or_default().push(Seen { time, is_sent, len, what });
        }
        trace
    }

    fn host(&self, node: u32) -> String {
        self.plan.topology.nodes[node as usize].name.clone()
    }

    fn at(&self, port: &str) -> &[Seen] {
        self.ports.get(port).map_or(&[], Vec::as_slice)
    }

    /// The places of a packet and its times there, in order of time: where it was sent, where it
    /// arrived, and so on.
    fn way(&self, id: (Ipv4Addr, u16)) -> Vec<(String, u64, bool)> {
        let mut way = Vec::new();
        for (port, seen) in &self.ports {
            let same =
                seen.iter().filter(|seen| matches!(&seen.what, What::Packet(p) if p.id == id));
            way.extend(same.map(|seen| (port.clone(), seen.time, seen.is_sent)));
        }
        way.sort_by_key(|(_, time, is_sent)| (*time, *is_sent));
        assert!(way.chunks(2).all(|pair| pair[0].2 && !pair[1].2), "{way:?}");
        way
    }

    /// The spans for which PFC frames hold a priority of a port.
    fn pauses(&self, port: &str, priority: u8) -> Vec<(u64, u64)> {
        let mut pauses: Vec<(u64, u64)> = Vec::new();
        for seen in self.at(port).iter().filter(|seen| !seen.is_sent) {
            let What::Pause(pfc) = &seen.what else { continue };
            if pfc.class_enable_vector & 1 << priority == 0 {
                continue;
            }
            let until = seen.time + u64::from(pfc.quanta[usize::from(priority)]) * QUANTUM;
            match pauses.last_mut() {
                Some((_, end)) if *end >= seen.time => *end = until,
                _ => pauses.push((seen.time, until)),
            }
        }
        pauses
    }

    /// The flow whose packet it is, and whether it goes to the flow's destination.
    fn flow_of(&self, packet: &Packet) -> (u32, bool) {
        if let Some(segment) = &packet.segment {
            return self.flow_of_segment(segment);
        }
        let to = |node: u32, qpn: u32| {
            self.addresses.get(&node).is_some_and(|address| (*address, qpn) == packet.to)
        };
        let forward = |flow: &FlowPlan| to(flow.destination, flow.destination_qpn);
        let back = |flow: &FlowPlan| to(flow.source, flow.source_qpn);
        let flows = (0u32..).zip(&self.plan.flows).filter(|(_, flow)| !flow.is_tcp());
        let found = flows.clone().find(|(_, flow)| forward(flow)).map(|(number, _)| (number, true));
        let found =
            found.or_else(|| flows.clone().find(|(_, flow)| back(flow)).map(|(n, _)| (n, false)));
        found.unwrap_or_else(|| panic!("{packet:?} is of no flow"))
    }

    /// What a port's transmitter is busy with, in order: until when, and for the flow `own` what
    /// waiting for it is.
    fn busy(&self, port: &str, own: u32) -> Vec<((u64, u64), (Category, String))> {
        let sent = self.at(port).iter().filter(|seen| seen.is_sent);
        let busy = sent.map(|seen| {
            let span = (seen.time, seen.time + (PREAMBLE + seen.len + GAP) * BYTE);
            let who = match &seen.what {
                What::Pause(_) => (Category::QueueingBehindOthers, "pause frames".to_owned()),
                What::Packet(packet) => match self.flow_of(packet) {
                    (flow, true) if flow == own => (Category::QueueingBehindItself, String::new()),
                    (flow, false) if flow == own => {
                        (Category::QueueingBehindOthers, "own control".to_owned())
                    }
                    (flow, _) => (Category::QueueingBehindOthers, format!("flow {flow}")),
                },
            };
            (span, who)
        });
        busy.collect()
    }

    /// A frame of a flow waits for a port: while the port is paused that is why, and else what the
    /// transmitter is busy with.
    fn wait(
        &self,
        parts: &mut BTreeMap<Key, u64>,
        (stage, place): (Stage, &str),
        (port, flow): (&str, u32),
        span: (u64, u64),
    ) {
        let priority = self.plan.flows[flow as usize].priority;
        let mut free = vec![span];
        for pause in self.pauses(port, priority) {
            let key =
                (stage, place.to_owned(), Category::Pause(LinkFlowControl::Pfc), String::new());
            *parts.entry(key).or_default() += take(&mut free, pause);
        }
        for (busy, (category, who)) in self.busy(port, flow) {
            let key = (stage, place.to_owned(), category, who);
            *parts.entry(key).or_default() += take(&mut free, busy);
        }
        free.retain(|(from, to)| from < to);
        assert_eq!(free, [], "{place}: nothing held flow {flow} back, but it waited");
    }

    /// A packet's way over links and through switches.
    fn travel(
        &self,
        parts: &mut BTreeMap<Key, u64>,
        stage: Stage,
        flow: u32,
        way: &[(String, u64, bool)],
    ) {
        for pair in way.windows(2) {
            let [(port, time, is_sent), (next, until, _)] = pair else { unreachable!() };
            if *is_sent {
                let on_link = |category| (stage, port.clone(), category, String::new());
                *parts.entry(on_link(Category::Serialisation)).or_default() += until - time - DELAY;
                *parts.entry(on_link(Category::Propagation)).or_default() += DELAY;
            } else {
                self.wait(parts, (stage, next), (next, flow), (*time, *until));
            }
        }
    }

    /// The state of the source until the packet leaves that counted.
    fn source(&self, parts: &mut BTreeMap<Key, u64>, flow: u32, until: u64) {
        let described = &self.plan.flows[flow as usize];
        let host = self.host(described.source);
        let port = format!("{host}:0");
        let mut free = vec![(described.start.ps(), until)];
        let is_own = |seen: &&Seen| match &seen.what {
            What::Packet(packet) => {
                seen.is_sent && packet.is_data() && self.flow_of(packet) == (flow, true)
            }
            What::Pause(_) => false,
        };
        let own: Vec<&Seen> =
            self.at(&port).iter().filter(is_own).filter(|seen| seen.time <= until).collect();
        let psn = |seen: &Seen| match &seen.what {
            What::Packet(packet) => packet.psn,
            What::Pause(_) => unreachable!(),
        };
        for (index, seen) in own.iter().enumerate() {
            let in_vain = own[index + 1..].iter().any(|later| psn(later) == psn(seen));
            let next = own.get(index + 1).map_or(until, |next| next.time);
            if in_vain {
                let key = (Stage::Sender, host.clone(), Category::Retransmission, String::new());
                *parts.entry(key).or_default() += take(&mut free, (seen.time, next));
            }
        }
        for seen in &own {
            let span = (seen.time, seen.time + (PREAMBLE + seen.len + GAP) * BYTE);
            let key = (Stage::Sender, host.clone(), Category::Serialisation, String::new());
            *parts.entry(key).or_default() += take(&mut free, span);
        }
        for span in free {
            self.wait(parts, (Stage::Sender, &host), (&port, flow), span);
        }
    }

    /// Where the time of a flow of WRITEs went, and its end.
    fn parts(&self, flow: u32) -> (BTreeMap<Key, u64>, u64) {
        let described = &self.plan.flows[flow as usize];
        if described.is_tcp() {
            return self.parts_of_tcp(flow);
        }
        let last = last_psn(self.plan, described);
        let (source, destination) = (self.host(described.source), self.host(described.destination));
        let arrivals = |port: &str| {
            let arrived = self.at(port).iter().filter(|seen| !seen.is_sent);
            let packets = arrived.filter_map(|seen| match &seen.what {
                What::Packet(packet) => Some((seen.time, *packet)),
                What::Pause(_) => None,
            });
            packets.collect::<Vec<_>>()
        };
        let answer = arrivals(&format!("{source}:0")).into_iter().find(|(_, packet)| {
            packet.acknowledges && packet.psn == last && self.flow_of(packet) == (flow, false)
        });
        let (end, answer) = answer.expect("the flow completes");
        let back = self.way(answer.id);
        let left = back[0].1;
        let request = arrivals(&format!("{destination}:0")).into_iter().rfind(|(time, packet)| {
            *time <= left && packet.psn == last && self.flow_of(packet) == (flow, true)
        });
        let (arrived, request) = request.expect("it arrives before it is answered");
        let forth = self.way(request.id);
        let mut parts = BTreeMap::new();
        self.source(&mut parts, flow, forth[0].1);
        self.travel(&mut parts, Stage::Request, flow, &forth);
        let port = format!("{destination}:0");
        self.wait(&mut parts, (Stage::Responder, &destination), (&port, flow), (arrived, left));
        self.travel(&mut parts, Stage::Answer, flow, &back);
        parts.retain(|_, ps| *ps > 0);
        (parts, end)
    }
}

/// The PSN of the last packet of a flow of WRITEs.
fn last_psn(plan: &Plan, flow: &FlowPlan) -> u32 {
    let packets = u32::try_from(flow.bytes.div_ceil(plan.path_mtu().into())).unwrap();
    (flow.source_psn + packets - 1) & 0x00ff_ffff
}

/// Takes what is in `span` out of `free`; gives its length.
fn take(free: &mut Vec<(u64, u64)>, span: (u64, u64)) -> u64 {
    let mut taken = 0;
    let mut left = Vec::new();
    for &(from, to) in free.iter() {
        let (start, end) = (from.max(span.0), to.min(span.1));
        if start >= end {
            left.push((from, to));
            continue;
        }
        taken += end - start;
        left.extend([(from, start), (end, to)].into_iter().filter(|(from, to)| from < to));
    }
    *free = left;
    taken
}

/// What an explanation says, in the words of a trace.
fn said(explanation: &Explanation) -> BTreeMap<Key, u64> {
    let mut parts = BTreeMap::new();
    for part in &explanation.parts {
        let who = match &part.cause {
            Some(Cause::Flow { flow }) => format!("flow {flow}"),
            Some(Cause::OwnControl) => "own control".to_owned(),
            Some(Cause::PauseFrames) => "pause frames".to_owned(),
            Some(Cause::PausedBy { .. } | Cause::Loss { .. } | Cause::CongestionControl { .. })
            | None => String::new(),
            Some(other) => panic!("{other:?}"),
        };
        *parts.entry((part.stage, part.place.clone(), part.category, who)).or_default() += part.ps;
    }
    parts
}

/// The plan of a scenario, captured at every port.
fn plan(text: &str) -> Plan {
    let scenario = Scenario::parse(text, Path::new("trace.toml"), &[]);
    let mut plan = scenario.and_then(|scenario| scenario.plan()).unwrap();
    let adjacency = plan.topology.adjacency();
    let nodes = (0u32..).take(plan.topology.nodes.len());
    let ports = nodes.flat_map(|node| {
        let count = adjacency.ports_of(node).len();
        (0u16..).take(count).map(move |port| (node, port))
    });
    let ports = ports.collect();
    let format = CaptureFormat::Pcapng;
    plan.capture = Some(CapturePlan { ports, fcs: true, format, snap_length: 1 << 18 });
    plan
}

/// Runs a scenario with a capture, and explains all of its flows.
fn traced(text: &str, check: impl Fn(&Trace<'_>, &[Explanation], &BTreeMap<u32, u64>)) {
    let plan = Arc::new(plan(text));
    let folder = tempfile::tempdir().unwrap();
    let mut simulation =
        Simulation::<rocelab_sim::profile::roce::Roce>::new(Arc::clone(&plan)).unwrap();
    simulation.start_capture(folder.path()).unwrap();
    simulation.run_to_end();
    simulation.finish_capture().unwrap();
    let ends = simulation.take_records().into_iter().filter_map(|record| match record.kind {
        RecordKind::FlowEnd(end) => Some((end.flow, end.finished.ps())),
        _ => None,
    });
    let ends = ends.collect();
    let explained =
        explain(Arc::clone(&plan), &Selection::Everything, &mut |_| ControlFlow::Continue(()))
            .unwrap();
    assert_eq!(explained.digest, format!("{:016x}", simulation.network().digest()));
    let trace = Trace::read(&plan, &folder.path().join("capture.pcapng"));
    check(&trace, &explained.flows, &ends);
}

/// Every part of every flow is what the trace says; gives what all flows spent on each category.
#[track_caller]
fn agree(text: &str) -> BTreeMap<Category, u64> {
    let sums = std::cell::RefCell::new(BTreeMap::<Category, u64>::new());
    traced(text, |trace, flows, ends| {
        assert_eq!(flows.len(), trace.plan.flows.len());
        for one in flows {
            let Subject::Flow { flow, .. } = one.what else { panic!() };
            let (parts, end) = trace.parts(flow);
            assert_eq!(ends.get(&flow), Some(&end), "{one}");
            assert_eq!(said(one), parts, "{one}");
            assert_eq!(parts.values().sum::<u64>(), one.elapsed_ps, "{one}");
            for part in &one.parts {
                *sums.borrow_mut().entry(part.category).or_default() += part.ps;
            }
        }
    });
    sums.into_inner()
}

fn incast(roce: &str, buffer: &str, more: &str) -> String {
    format!(
        "[roce]\nack_timeout = 6\n{roce}\n[topology.single-switch]\nhosts = 5\n\
         link = {{ rate = \"8Gbps\", delay = \"1us\" }}\n[switch]\nbuffer = \"{buffer}\"\n{more}\n\
         [congestion_control.none]\n[workload.incast]\nsenders = 4\nreceiver = \"host-0\"\n\
         bytes = \"100KB\"\n"
    )
}

#[test]
fn an_incast() {
    let sums = agree(&incast("", "4MB", ""));
    assert!(
        sums[&Category::QueueingBehindOthers] > 0
            && !sums.contains_key(&Category::Pause(LinkFlowControl::Pfc))
    );
}

#[test]
fn an_incast_that_pauses_its_senders() {
    assert!(agree(&incast("", "200KB", ""))[&Category::Pause(LinkFlowControl::Pfc)] > 0);
}

#[test]
fn flows_that_meet_in_a_fat_tree() {
    let text = "[topology.clos]\npods = 2\nracks_per_pod = 2\nhosts_per_rack = 2\n\
                aggregations_per_pod = 2\ncores = 2\n\
                host_link = { rate = \"8Gbps\", delay = \"1us\" }\n\
                fabric_link = { rate = \"8Gbps\", delay = \"1us\" }\n[switch]\nbuffer = \"200KB\"\n\
                [congestion_control.none]\n[[workload.incast]]\nsenders = 5\nreceiver = \"host-0\"\n\
                bytes = \"60KB\"\n[[workload.flows]]\nlist = [\n\
                { from = \"host-7\", to = \"host-1\", bytes = \"80KB\" },\n\
                { from = \"host-0\", to = \"host-5\", bytes = \"50KB\", start = \"20us\" },\n]\n";
    let sums = agree(text);
    assert!(
        sums[&Category::Pause(LinkFlowControl::Pfc)] > 0
            && sums[&Category::QueueingBehindOthers] > 0
    );
}

#[test]
fn losses() {
    let fault = "[[faults]]\naction = \"drop\"\nopcode = \"data\"\nnth = 20\n";
    for recovery in ["go-back-n", "selective-repeat"] {
        // More than a flow has: what waits for a window is not to be seen on the wire.
        let roce = format!("recovery = \"{recovery}\"\nmax_outstanding = 1000");
        let text = incast(&roce, "4MB", "").replace("[switch]", &format!("{fault}[switch]"));
        assert!(agree(&text)[&Category::Retransmission] > 0, "{recovery}");
    }
}

/// At 100 Gbit/s what is captured is cut off to nanoseconds, each time for itself.
#[test]
fn other_rates_agree_to_what_a_capture_can_tell() {
    let text = incast("", "1MB", "").replace("8Gbps", "100Gbps");
    traced(&text, |trace, flows, _| {
        for one in flows {
            let answer = |stage| one.parts.iter().filter(move |part| part.stage == stage);
            let mut by_place = BTreeMap::<_, u64>::new();
            for part in answer(Stage::Answer).chain(answer(Stage::Request)) {
                *by_place.entry((part.stage, &part.place)).or_default() += part.ps;
            }
            let Subject::Flow { flow, .. } = one.what else { panic!() };
            let last = &trace.plan.flows[flow as usize];
            assert_eq!(by_place.len(), 4, "{one}");
            for ((stage, place), ps) in by_place {
                let measured = measured(trace, last, stage, place);
                assert!(measured.abs_diff(ps) < 1_000, "{place}: {measured}: {one}");
            }
        }
    });
}

/// How long the last packet of a flow, or its acknowledgement, waited for a port and was on its
/// link (ps).
fn measured(trace: &Trace<'_>, flow: &FlowPlan, stage: Stage, place: &str) -> u64 {
    let psn = last_psn(trace.plan, flow);
    let found = trace.ports.values().flatten().find_map(|seen| match &seen.what {
        What::Packet(packet)
            if packet.psn == psn
                && packet.is_data() == (stage == Stage::Request)
                && trace.plan.flows[trace.flow_of(packet).0 as usize] == *flow =>
        {
            Some(packet.id)
        }
        _ => None,
    });
    let way = trace.way(found.expect("it was captured"));
    let sent = way.iter().position(|(port, _, is_sent)| port == place && *is_sent).unwrap();
    way[sent + 1].1 - sent.checked_sub(1).map_or(way[sent].1, |before| way[before].1)
}
