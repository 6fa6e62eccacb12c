//! The JSON objects of `--json`.

use std::fmt::Display;
use std::time::Duration;

use rocelab_wire::cm::Mad;
use rocelab_wire::{FlowControlPacket, Frame, InfiniBandPacket, NakCode};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::dissection::{
    Contents, Dissection, HeadersRead, NotLookedInto, OpcodeName, OuterLayer, Protocol,
};
use crate::flow::{Connection, Flow};
use crate::verifier::{Verified, Verifier};

/// One object: the most important headers, the results of the checks, and faults and observations.
/// Keys of packets are null in other frames.
impl Serialize for Verified<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let packet = self.dissection.packet();
        let bth = self.dissection.bth();
        let aeth = packet.as_ref().and_then(|packet| packet.extensions.aeth);
        FrameRecord {
            frame: self.number,
            time_s: seconds(self.time),
            interface: self.interface,
            interface_number: self.interface_number,
            proto: self.dissection.protocol.name(),
            opcode: bth.map(|(_, name)| Text(name)),
            opcode_number: bth.map(|(bth, _)| bth.opcode),
            dest_qp: bth.map(|(bth, _)| bth.dest_qp),
            psn: bth.map(|(bth, _)| bth.psn),
            ack_req: bth.map(|(bth, _)| bth.ack_req),
            syndrome: aeth.map(|aeth| aeth.syndrome.to_u8()),
            msn: aeth.map(|aeth| aeth.msn),
            payload_len: packet.as_ref().map(|packet| packet.payload.len()),
            icrc: self.dissection.icrc.name(),
            fcs: self.dissection.fcs.name(),
            vcrc: self.dissection.vcrc().name(),
            lpcrc: self.dissection.lpcrc().name(),
            faults: Texts(self.faults),
            observations: Texts(self.observations),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct FrameRecord<'a> {
    frame: u64,
    time_s: String,
    interface: Option<&'a str>,
    interface_number: usize,
    proto: &'static str,
    opcode: Option<Text<OpcodeName>>,
    opcode_number: Option<u8>,
    dest_qp: Option<u32>,
    psn: Option<u32>,
    ack_req: Option<bool>,
    syndrome: Option<u8>,
    msn: Option<u32>,
    payload_len: Option<usize>,
    icrc: &'static str,
    fcs: &'static str,
    vcrc: &'static str,
    lpcrc: &'static str,
    faults: Texts<'a, crate::Fault>,
    observations: Texts<'a, crate::Observation>,
}

/// A frame with all its headers, in the field names of the standard, as one object.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a>(pub &'a Verified<'a>);

impl Serialize for Decoded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let dissection = &self.0.dissection;
        let headers = match &dissection.contents {
            Contents::Ethernet(frame) if dissection.extent.cut || dissection.without_ethernet => {
                partly(frame, dissection)
            }
            Contents::Ethernet(frame) => Headers::Ethernet(frame),
            Contents::InfiniBand(packet) => Headers::InfiniBand(packet),
            Contents::FlowControl(packet) => Headers::FlowControl(packet),
            Contents::Opaque => Headers::Opaque(Opaque {
                proto: dissection.protocol.name(),
                icrc: dissection.icrc.name(),
                fcs: dissection.fcs.name(),
                headers: dissection.headers_read.as_ref(),
                error: dissection.error.map(Text),
                stopped: dissection.stopped.map(Text),
            }),
        };
        DecodedRecord {
            frame: self.0.number,
            time_s: seconds(self.0.time),
            interface: self.0.interface,
            interface_number: self.0.interface_number,
            captured_len: dissection.extent.captured_len,
            original_len: dissection.extent.original_len,
            cut: dissection.extent.cut,
            outer: dissection.outer,
            headers,
            not_looked_into: dissection.not_looked_into.map(NotLookedInto::name),
            mad: dissection.mad(),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct DecodedRecord<'a> {
    frame: u64,
    time_s: String,
    interface: Option<&'a str>,
    interface_number: usize,
    captured_len: usize,
    original_len: usize,
    cut: bool,
    #[serde(skip_serializing_if = "<[OuterLayer]>::is_empty")]
    outer: &'a [OuterLayer],
    #[serde(flatten)]
    headers: Headers<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_looked_into: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mad: Option<Mad<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Headers<'a> {
    Ethernet(&'a Frame<'a>),
    InfiniBand(&'a InfiniBandPacket<'a>),
    FlowControl(&'a FlowControlPacket),
    Partly(serde_json::Value),
    Opaque(Opaque<'a>),
}

#[derive(Serialize)]
struct Opaque<'a> {
    proto: &'static str,
    icrc: &'static str,
    fcs: &'static str,
    #[serde(flatten)]
    headers: Option<&'a HeadersRead>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Text<rocelab_wire::ParseError>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Text<rocelab_wire::ParseError>>,
}

/// Without what was not captured. If the end of the frame was replaced by zeros, there are no checksums to check; if the
/// packet has no Ethernet header, the frame's one was made.
fn partly<'a>(frame: &Frame<'_>, dissection: &Dissection<'_>) -> Headers<'a> {
    let mut object = serde_json::to_value(frame).unwrap_or_default();
    if dissection.extent.cut {
        for checksum in ["icrc", "fcs"] {
            if let Some(verdict) = object.get_mut(checksum) {
                *verdict = "absent".into();
            }
        }
    }
    if dissection.without_ethernet
        && let Some(object) = object.as_object_mut()
    {
        object.remove("ethernet");
    }
    Headers::Partly(object)
}

/// One object for both directions.
impl Serialize for Connection<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ConnectionRecord {
            interface: self.forward.key().interface,
            transport: self
                .forward
                .transport()
                .or(self.reverse.and_then(Flow::transport))
                .map(Text),
            forward: FlowRecord::of(self.forward),
            reverse: self.reverse.map(FlowRecord::of),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct ConnectionRecord {
    interface: u32,
    transport: Option<Text<rocelab_wire::Transport>>,
    forward: FlowRecord,
    reverse: Option<FlowRecord>,
}

#[derive(Serialize)]
struct FlowRecord {
    source: Text<crate::Address>,
    destination: Text<crate::Address>,
    dest_qp: u32,
    packets: u64,
    messages: u64,
    payload_bytes: u64,
    new_payload_bytes: u64,
    retransmissions: u64,
    acks: u64,
    naks: Naks,
    rnr_naks: u64,
    cnps: u64,
    ecn_ce: u64,
    faulty: u64,
    missing_psns: u64,
    unacknowledged_messages: usize,
    unacknowledged_psns: u32,
    first_time_s: String,
    last_time_s: String,
    goodput_bps: Option<u64>,
    rtt_ns: Option<RoundTripRecord>,
}

#[derive(Serialize)]
struct Naks {
    psn_sequence_error: u64,
    invalid_request: u64,
    remote_access_error: u64,
    remote_operational_error: u64,
    invalid_rd_request: u64,
}

#[derive(Serialize)]
struct RoundTripRecord {
    count: u64,
    min: u64,
    median: u64,
    p99: u64,
    max: u64,
}

impl FlowRecord {
    fn of(flow: &Flow) -> Self {
        let counters = flow.counters();
        let times = flow.round_trips();
        let percentile = |per_mille| times.percentile_ns(per_mille).unwrap_or_default();
        Self {
            source: Text(flow.key().source),
            destination: Text(flow.key().destination),
            dest_qp: flow.key().dest_qp,
            packets: counters.packets,
            messages: counters.messages,
            payload_bytes: counters.payload_bytes,
            new_payload_bytes: counters.new_payload_bytes,
            retransmissions: counters.retransmissions,
            acks: counters.acks,
            naks: Naks {
                psn_sequence_error: counters.naks_of(NakCode::PsnSequenceError),
                invalid_request: counters.naks_of(NakCode::InvalidRequest),
                remote_access_error: counters.naks_of(NakCode::RemoteAccessError),
                remote_operational_error: counters.naks_of(NakCode::RemoteOperationalError),
                invalid_rd_request: counters.naks_of(NakCode::InvalidRdRequest),
            },
            rnr_naks: counters.rnr_naks,
            cnps: counters.cnps,
            ecn_ce: counters.congestion_experienced,
            faulty: counters.faulty,
            missing_psns: flow.missing(),
            unacknowledged_messages: flow.unacknowledged_messages(),
            unacknowledged_psns: flow.unacknowledged_psns(),
            first_time_s: seconds(flow.first_time()),
            last_time_s: seconds(flow.last_time()),
            goodput_bps: flow.goodput_bps(),
            rtt_ns: times.min_ns().zip(times.max_ns()).map(|(min, max)| RoundTripRecord {
                count: times.count(),
                min,
                median: percentile(500),
                p99: percentile(990),
                max,
            }),
        }
    }
}

/// The last object, about the whole capture.
#[derive(Serialize)]
struct Summary {
    total: u64,
    faults: u64,
    faulty_frames: u64,
    cut_frames: u64,
    connections: usize,
    packets_not_followed: u64,
    missing_psns: u64,
    unacknowledged_messages: usize,
    not_looked_into: serde_json::Map<String, serde_json::Value>,
    protocols: serde_json::Map<String, serde_json::Value>,
    opcodes: serde_json::Map<String, serde_json::Value>,
}

impl Verifier {
    /// The result for the whole capture, as an object for programs.
    #[must_use]
    pub fn summary(&self) -> impl Serialize + '_ {
        Summary::of(self)
    }
}

impl Summary {
    fn of(verifier: &Verifier) -> Self {
        let totals = verifier.totals();
        let flows = verifier.flows();
        let protocols = Protocol::ALL
            .iter()
            .filter(|protocol| totals.of_protocol(**protocol) > 0)
            .map(|protocol| (protocol.name().to_owned(), totals.of_protocol(*protocol).into()));
        let reasons =
            verifier.not_looked_into().map(|(reason, frames)| (reason.name(), frames.into()));
        let mut opcodes = serde_json::Map::new();
        for count in verifier.opcodes() {
            // An operation with telemetry has the same name as without.
            let packets = opcodes.entry(count.name.to_string()).or_insert_with(|| 0.into());
            *packets = (packets.as_u64().unwrap_or_default() + count.packets).into();
        }
        Self {
            total: totals.frames,
            faults: totals.faults,
            faulty_frames: totals.faulty,
            cut_frames: totals.cut,
            connections: flows.connections().count(),
            packets_not_followed: flows.not_followed(),
            missing_psns: flows.flows().iter().map(Flow::missing).sum(),
            unacknowledged_messages: flows.flows().iter().map(Flow::unacknowledged_messages).sum(),
            not_looked_into: reasons.collect(),
            protocols: protocols.collect(),
            opcodes,
        }
    }
}

/// Serializes a value as its `Display` text.
struct Text<T>(T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

struct Texts<'a, T>(&'a [T]);

impl<T: Display> Serialize for Texts<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for one in self.0 {
            list.serialize_element(&Text(one))?;
        }
        list.end()
    }
}

/// Seconds with all nanoseconds, as text: readers of JSON take numbers above 2^53 for others nearby.
fn seconds(time: Duration) -> String {
    format!("{}.{:09}", time.as_secs(), time.subsec_nanos())
}
