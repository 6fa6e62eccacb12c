//! The layers of a frame, and where they are.

use std::ops::Range;

use rocelab_wire::{
    Aeth, AtomicAckEth, AtomicEth, Body, Bth, CRC_LEN, CnTag, Cnm, Cnp, Deth, Ethernet, Feth,
    FlowControlPacket, Frame, Grh, Ieth, ImmDt, InfiniBandBody, InfiniBandPacket, Ipv4, Ipv6, Lrh,
    Pause, Pfc, Reth, Sack, Udp, VlanTag, Xrceth,
};

use super::ordered::Ordered;
use crate::dissection::{Checksum, Contents, Dissection, OuterLayer};

/// Length of the VCRC and of the LPCRC of InfiniBand, in bytes.
const LINK_CHECKSUM_LEN: usize = 2;

/// A layer, or what lies between headers.
pub(super) struct Layer {
    pub(super) name: String,
    /// Its place in the captured bytes, if that is known.
    pub(super) bytes: Option<Range<usize>>,
    /// Its fields; a scalar says all in the layer's own line.
    pub(super) fields: Ordered,
}

/// All layers of a frame, from outside to inside, and the checksums after them.
pub(super) fn layers_of(dissection: &Dissection<'_>) -> Vec<Layer> {
    let mut layers = Layers { all: Vec::new(), at: dissection.offset };
    dissection.outer.iter().for_each(|outer| layers.outer(outer));
    match &dissection.contents {
        Contents::Ethernet(frame) => layers.ethernet(frame, dissection),
        Contents::InfiniBand(packet) => layers.infiniband(packet, dissection),
        Contents::FlowControl(packet) => layers.flow_control(packet, dissection),
        Contents::Opaque => layers.opaque(dissection),
    }
    if let Some(mad) = dissection.mad() {
        layers.all.push(Layer {
            name: "Management datagram".to_owned(),
            bytes: None,
            fields: Ordered::of(&mad),
        });
    }
    layers.all
}

struct Layers {
    all: Vec<Layer>,
    /// Where the next layer begins.
    at: usize,
}

impl Layers {
    fn outer(&mut self, outer: &OuterLayer) {
        let fields = match Ordered::of(&outer.header) {
            // An enum is an object whose only key is the name.
            Ordered::Object(mut named) if named.len() == 1 => named.remove(0).1,
            other => other,
        };
        self.all.push(Layer {
            name: title(outer.header.name()),
            bytes: Some(outer.offset..outer.offset + outer.len),
            fields,
        });
    }

    fn ethernet(&mut self, frame: &Frame<'_>, dissection: &Dissection<'_>) {
        if dissection.without_ethernet {
            // The header was made, and takes no captured bytes.
            let headers = without(&Ordered::of(frame), "ethernet");
            self.headers(headers, frame.roce().map(|roce| roce.extensions.len()));
        } else {
            self.headers(Ordered::of(frame), frame.roce().map(|roce| roce.extensions.len()));
        }
        match &frame.body {
            Body::Roce(roce) => {
                self.rest("Payload", roce.payload.len());
                self.rest("Pad", roce.pad.len());
                self.checksum("ICRC", roce.icrc, dissection.icrc);
            }
            Body::Cnm { msdu, .. } => self.rest("MSDU", msdu.len()),
            Body::Other(bytes) => self.rest("Data", bytes.len()),
            _ => {}
        }
        self.rest("Padding", frame.padding.len());
        if dissection.extent.cut && dissection.outer.is_empty() {
            // The file says that there is one.
            self.rest("FCS", dissection.extent.original_len.saturating_sub(self.at));
        } else if let Some(fcs) = frame.fcs {
            self.checksum("FCS", fcs, dissection.fcs);
        } else if dissection.fcs != Checksum::Absent {
            self.word("FCS", dissection.fcs.name());
        }
    }

    fn infiniband(&mut self, packet: &InfiniBandPacket<'_>, dissection: &Dissection<'_>) {
        let transport = packet.transport();
        self.headers(Ordered::of(packet), transport.map(|transport| transport.extensions.len()));
        if let Some(transport) = transport {
            self.rest("Payload", transport.payload.len());
            self.rest("Pad", transport.pad.len());
            self.checksum("ICRC", transport.icrc, dissection.icrc);
        }
        if let InfiniBandBody::Raw(bytes) = packet.body {
            self.rest("Data", bytes.len());
        }
        if let Some(found) = packet.vcrc {
            self.link_checksum("VCRC", found, dissection.vcrc());
        }
        self.rest("Padding", packet.padding.len());
    }

    fn flow_control(&mut self, packet: &FlowControlPacket, dissection: &Dissection<'_>) {
        self.headers(Ordered::of(packet), None);
        self.link_checksum("LPCRC", packet.lpcrc, dissection.lpcrc());
        self.rest("Padding", dissection.extent.captured_len.saturating_sub(self.at));
    }

    fn opaque(&mut self, dissection: &Dissection<'_>) {
        if let Some(headers) = &dissection.headers_read {
            self.headers(Ordered::of(headers), None);
        }
        self.rest("Data", dissection.extent.captured_len.saturating_sub(self.at));
    }

    /// The headers of a frame: of the entries of its JSON, those before the length of the payload that are no text. The
    /// extension headers of the BTH have `extensions_len` bytes together.
    fn headers(&mut self, object: Ordered, extensions_len: Option<usize>) {
        let Ordered::Object(mut entries) = object else { return };
        if let Some(end) = entries.iter().position(|(name, _)| name == "payload_len") {
            entries.truncate(end);
        }
        let mut after_bth = entries.iter().skip_while(|(name, _)| name != "bth").skip(1);
        let plain: usize = after_bth.by_ref().filter_map(|(name, _)| header_len(name)).sum();
        let telemetry = extensions_len.map(|len| len.saturating_sub(plain));
        for (name, value) in entries {
            let len = header_len(&name).or(telemetry.filter(|_| name == "telemetry"));
            match value {
                Ordered::List(tags) if name == "vlan" => {
                    tags.into_iter().for_each(|tag| self.header(&name, len, tag));
                }
                Ordered::Scalar(_) if len.is_none() => {}
                value => self.header(&name, len, value),
            }
        }
    }

    fn header(&mut self, name: &str, len: Option<usize>, fields: Ordered) {
        let bytes = len.map(|len| self.at..self.at + len);
        self.at += len.unwrap_or(0);
        self.all.push(Layer { name: title(name), bytes, fields });
    }

    /// Bytes without fields, if there are any.
    fn rest(&mut self, name: &str, len: usize) {
        if len > 0 {
            let fields = Ordered::Scalar(counted(len));
            self.all.push(Layer {
                name: name.to_owned(),
                bytes: Some(self.at..self.at + len),
                fields,
            });
        }
        self.at += len;
    }

    /// A checksum of four bytes. Without a verdict, it was not captured whole.
    fn checksum(&mut self, name: &str, found: u32, verdict: Checksum) {
        let text = match verdict {
            Checksum::Ok => format!("{found:#010x}, ok"),
            Checksum::Bad { computed, .. } => {
                format!("{found:#010x}, bad: {computed:#010x} is right")
            }
            Checksum::Absent => return self.rest(name, CRC_LEN),
        };
        let bytes = Some(self.at..self.at + CRC_LEN);
        self.at += CRC_LEN;
        self.all.push(Layer { name: name.to_owned(), bytes, fields: Ordered::Scalar(text) });
    }

    /// A checksum of two bytes, which protects one link of InfiniBand.
    fn link_checksum(&mut self, name: &str, found: u16, verdict: Checksum) {
        let text = match verdict {
            Checksum::Bad { computed, .. } => {
                format!("{found:#06x}, bad: {computed:#06x} is right")
            }
            Checksum::Ok | Checksum::Absent => format!("{found:#06x}, {}", verdict.name()),
        };
        let bytes = Some(self.at..self.at + LINK_CHECKSUM_LEN);
        self.at += LINK_CHECKSUM_LEN;
        self.all.push(Layer { name: name.to_owned(), bytes, fields: Ordered::Scalar(text) });
    }

    fn word(&mut self, name: &str, text: &str) {
        let fields = Ordered::Scalar(text.to_owned());
        self.all.push(Layer { name: name.to_owned(), bytes: None, fields });
    }
}

/// An object without one of its keys.
fn without(object: &Ordered, key: &str) -> Ordered {
    match object {
        Ordered::Object(entries) => {
            Ordered::Object(entries.iter().filter(|(name, _)| name != key).cloned().collect())
        }
        other => other.clone(),
    }
}

pub(super) fn counted(len: usize) -> String {
    if len == 1 { "1 byte".to_owned() } else { format!("{len} bytes") }
}

/// Length of a header by its name in JSON, if all of its kind are as long.
fn header_len(name: &str) -> Option<usize> {
    Some(match name {
        "ethernet" => Ethernet::LEN,
        "vlan" => VlanTag::LEN,
        "cn_tag" => CnTag::LEN,
        "ipv4" => Ipv4::LEN,
        "ipv6" => Ipv6::LEN,
        "udp" => Udp::LEN,
        "lrh" => Lrh::LEN,
        "flow_control" => FlowControlPacket::LEN - LINK_CHECKSUM_LEN,
        "grh" => Grh::LEN,
        "bth" => Bth::LEN,
        "pfc" => Pfc::LEN,
        "pause" => Pause::LEN,
        "cnm" => Cnm::LEN,
        "deth" => Deth::LEN,
        "xrceth" => Xrceth::LEN,
        "feth" => Feth::LEN,
        "reth" => Reth::LEN,
        "atomic_eth" => AtomicEth::LEN,
        "aeth" => Aeth::LEN,
        "sack" => Sack::LEN,
        "atomic_ack_eth" => AtomicAckEth::LEN,
        "imm_dt" => ImmDt::LEN,
        "ieth" => Ieth::LEN,
        "cnp" => Cnp::LEN,
        _ => return None,
    })
}

/// The name of a header as the standard writes it, from its name in JSON.
fn title(name: &str) -> String {
    match name {
        "ethernet" => "Ethernet".to_owned(),
        "vlan" => "802.1Q tag".to_owned(),
        "cn_tag" => "CN-TAG".to_owned(),
        "flow_control" => "Flow control packet".to_owned(),
        "ipv4" => "IPv4".to_owned(),
        "ipv6" => "IPv6".to_owned(),
        "telemetry" => "Telemetry".to_owned(),
        "atomic_eth" => "AtomicETH".to_owned(),
        "atomic_ack_eth" => "AtomicAckETH".to_owned(),
        "imm_dt" => "ImmDt".to_owned(),
        "linux_cooked" => "Linux cooked capture".to_owned(),
        "erspan_ii" => "ERSPAN type II".to_owned(),
        "erspan_iii" => "ERSPAN type III".to_owned(),
        name => name.to_uppercase(),
    }
}
