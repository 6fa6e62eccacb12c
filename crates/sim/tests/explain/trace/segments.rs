//! Flows of TCP in a trace.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use rocelab_sim::FlowPlan;
use rocelab_sim::explain::{Category, Stage};
use rocelab_wire::{Ipv4, Tcp};

use super::{BYTE, GAP, Key, PREAMBLE, Packet, Seen, Trace, What, agree, take};

/// What a segment's headers say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    source: (Ipv4Addr, u16),
    destination: (Ipv4Addr, u16),
    sequence_number: u32,
    /// Payload (bytes).
    pub(super) len: u32,
}

/// A segment with data at a port, by its place in the stream.
#[derive(Clone, Copy, Debug)]
struct Data {
    time: u64,
    frame_len: u64,
    id: (Ipv4Addr, u16),
    from: u64,
    to: u64,
}

impl Packet {
    /// What follows the EtherType of IPv4.
    pub(super) fn of_tcp(bytes: &[u8]) -> Self {
        let ip = Ipv4::parse(bytes).unwrap();
        let tcp = Tcp::parse(&bytes[Ipv4::LEN..]).unwrap();
        let header = usize::from(bytes[Ipv4::LEN + 12] >> 4) * 4;
        let len = usize::from(ip.total_len) - Ipv4::LEN - header;
        let segment = Segment {
            source: (ip.source, tcp.source_port),
            destination: (ip.destination, tcp.destination_port),
            sequence_number: tcp.sequence_number,
            len: u32::try_from(len).unwrap(),
        };
        let id = (ip.source, ip.identification);
        let to = (ip.destination, 0);
        Self { id, to, opcode: 0, psn: 0, acknowledges: false, segment: Some(segment) }
    }
}

impl Trace<'_> {
    /// The flow whose segment it is, and whether it goes to the flow's destination.
    pub(super) fn flow_of_segment(&self, segment: &Segment) -> (u32, bool) {
        let flows = (0u32..).zip(&self.plan.flows).filter(|(_, flow)| flow.is_tcp());
        let found = flows.into_iter().find_map(|(number, flow)| {
            let (near, far) = flow.tcp_ports();
            let source = (*self.addresses.get(&flow.source)?, near);
            let ends = (source, (flow.destination, far));
            let is_destination = |end: (Ipv4Addr, u16)| {
                let known = self.addresses.get(&ends.1.0);
                end.1 == ends.1.1 && known.is_none_or(|address| *address == end.0)
            };
            if segment.source == source && is_destination(segment.destination) {
                return Some((number, true));
            }
            let back = segment.destination == source && is_destination(segment.source);
            back.then_some((number, false))
        });
        found.unwrap_or_else(|| panic!("{segment:?} is of no flow"))
    }

    /// Data of a flow at a port, in order.
    fn data(&self, flow: u32, port: &str, is_sent: bool) -> Vec<Data> {
        let described = &self.plan.flows[flow as usize];
        let seen = self.at(port).iter().filter(|seen| seen.is_sent == is_sent);
        let data = seen.filter_map(|seen| {
            let What::Packet(packet) = &seen.what else { return None };
            let segment = packet.segment.filter(|segment| segment.len > 0)?;
            if self.flow_of(packet) != (flow, true) {
                return None;
            }
            // Flows are shorter than 4 GB here.
            let from = segment.sequence_number.wrapping_sub(described.source_psn).into();
            let to = from + u64::from(segment.len);
            Some(Data { time: seen.time, frame_len: seen.len, id: packet.id, from, to })
        });
        data.collect()
    }

    /// Where the time of a flow of TCP went, and its end.
    pub(super) fn parts_of_tcp(&self, flow: u32) -> (BTreeMap<Key, u64>, u64) {
        let described = &self.plan.flows[flow as usize];
        let destination = self.host(described.destination);
        let stack = self.receive_delay();
        let mut missing = vec![(0, described.bytes)];
        let arrived = self.data(flow, &format!("{destination}:0"), false);
        let last = arrived.into_iter().find(|data| {
            take(&mut missing, (data.from, data.to));
            missing.is_empty()
        });
        let last = last.expect("the flow completes");
        let way = self.way(last.id);
        let mut parts = BTreeMap::new();
        self.source_of_tcp(&mut parts, flow, way[0].1);
        self.travel(&mut parts, Stage::Request, flow, &way);
        let key = (Stage::Request, destination, Category::HostStack, String::new());
        parts.insert(key, stack);
        parts.retain(|_, ps| *ps > 0);
        (parts, last.time + stack)
    }

    fn receive_delay(&self) -> u64 {
        self.plan.tcp.as_ref().unwrap().parameters.receive_delay.ps()
    }

    fn send_delay(&self) -> u64 {
        self.plan.tcp.as_ref().unwrap().parameters.send_delay.ps()
    }

    /// The state of the source until the segment leaves that counted.
    fn source_of_tcp(&self, parts: &mut BTreeMap<Key, u64>, flow: u32, until: u64) {
        let described = &self.plan.flows[flow as usize];
        let host = self.host(described.source);
        let port = format!("{host}:0");
        let key = |category| (Stage::Sender, host.clone(), category, String::new());
        let mut free = vec![(described.start.ps(), until)];
        let mut own = self.data(flow, &port, true);
        own.retain(|data| data.time <= until);
        for (index, data) in own.iter().enumerate() {
            let overlaps = |later: &Data| later.from < data.to && data.from < later.to;
            if own[index + 1..].iter().any(overlaps) {
                let next = own.get(index + 1).map_or(until, |next| next.time);
                let taken = take(&mut free, (data.time, next));
                *parts.entry(key(Category::Retransmission)).or_default() += taken;
            }
        }
        for data in &own {
            let span = (data.time, data.time + (PREAMBLE + data.frame_len + GAP) * BYTE);
            *parts.entry(key(Category::Serialisation)).or_default() += take(&mut free, span);
        }
        for (busy, (category, who)) in self.busy(&port, flow) {
            let key = (Stage::Sender, host.clone(), category, who);
            *parts.entry(key).or_default() += take(&mut free, busy);
        }
        for span in free {
            let before = own.iter().filter(|data| data.time <= span.0);
            if before.map(|data| data.to).max() == Some(described.bytes) {
                *parts.entry(key(Category::Retransmission)).or_default() += span.1 - span.0;
            } else {
                self.window(parts, flow, described, span);
            }
        }
    }

    /// The source has more to send, but nothing leaves: until a segment comes through the stack which
    /// an acknowledgement let go.
    fn window(
        &self,
        parts: &mut BTreeMap<Key, u64>,
        flow: u32,
        described: &FlowPlan,
        span: (u64, u64),
    ) {
        let (source, destination) = (self.host(described.source), self.host(described.destination));
        let at = |host: &str, category| (Stage::Sender, host.to_owned(), category, String::new());
        let (sends, receives) = (self.send_delay(), self.receive_delay());
        let mut free = vec![span];
        let mut spend = |host: &str, category, span: (u64, u64)| {
            *parts.entry(at(host, category)).or_default() += take(&mut free, span);
        };
        let made = span.1 - sends;
        spend(&source, Category::HostStack, (made, span.1));
        let is_answer = |seen: &&Seen| match &seen.what {
            What::Packet(packet) => !packet.is_data() && self.flow_of(packet) == (flow, false),
            What::Pause(_) => false,
        };
        let port = format!("{source}:0");
        let mut answers = self.at(&port).iter().filter(|seen| !seen.is_sent).filter(is_answer);
        if let Some(answer) = answers.find(|seen| seen.time + receives == made) {
            let What::Packet(packet) = &answer.what else { unreachable!() };
            let left = self.way(packet.id)[0].1;
            let answered = left - sends;
            let arrived = self.data(flow, &format!("{destination}:0"), false);
            let request = arrived.iter().rfind(|data| data.time + receives <= answered).unwrap();
            let through = request.time + receives;
            spend(&source, Category::HostStack, (answer.time, made));
            spend(&destination, Category::HostStack, (answered, left));
            spend(&destination, Category::DelayedAck, (through, answered));
            spend(&destination, Category::HostStack, (request.time, through));
        }
        spend(&source, Category::Window, span);
    }
}

/// Senders of 100 KB each to one receiver; `keys` are of `[tcp]`, `more` sections of their own.
fn incast(senders: u32, keys: &str, buffer: &str, more: &str) -> String {
    format!(
        "[topology.single-switch]\nhosts = 5\nlink = {{ rate = \"8Gbps\", delay = \"1us\" }}\n\
         [switch]\nbuffer = \"{buffer}\"\n[congestion_control.none]\n[tcp]\nmin_rto = \"5ms\"\n\
         initial_rto = \"5ms\"\ndelayed_ack = \"20us\"\n{keys}\n[[workload.incast]]\n\
         transport = \"tcp\"\nsenders = {senders}\nreceiver = \"host-0\"\nbytes = \"100KB\"\n{more}"
    )
}

#[test]
fn an_incast_of_tcp() {
    let sums = agree(&incast(4, "initial_window = 100", "4MB", ""));
    assert!(sums[&Category::QueueingBehindOthers] > 0 && !sums.contains_key(&Category::Window));
}

#[test]
fn windows_wait_for_acknowledgements() {
    let keys = "initial_window = 2\nquick_acks = 0\nsegments_per_ack = 4";
    let sums = agree(&incast(1, keys, "4MB", ""));
    assert!(sums[&Category::Window] > 0 && sums[&Category::DelayedAck] > 0);
    assert!(!sums.contains_key(&Category::HostStack));
    let keys = format!("{keys}\nsend_delay = \"3us\"\nreceive_delay = \"5us\"");
    assert!(agree(&incast(1, &keys, "4MB", ""))[&Category::HostStack] > 0);
    assert!(agree(&incast(3, &keys, "4MB", ""))[&Category::Window] > 0);
}

#[test]
fn segments_that_were_dropped() {
    for algorithm in ["reno", "cubic"] {
        let keys = format!("congestion_control = {{ {algorithm} = {{}} }}");
        let sums = agree(&incast(4, &keys, "100KB", ""));
        assert!(sums[&Category::Retransmission] > 0, "{algorithm}");
    }
}

#[test]
fn tcp_and_rdma_on_one_port() {
    let more = "[[workload.incast]]\nsenders = 4\nreceiver = \"host-0\"\nbytes = \"50KB\"\n\
                [[workload.flows]]\nlist = [{ from = \"host-0\", to = \"host-2\", bytes = \"80KB\" }]\n";
    let sums = agree(&incast(4, "initial_window = 100", "4MB", more));
    assert!(sums[&Category::QueueingBehindOthers] > 0);
}
