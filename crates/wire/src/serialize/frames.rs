//! Frames as flat serialized objects.

use serde::ser::{SerializeMap, SerializeStruct as _};
use serde::{Serialize, Serializer};

use super::text::Verdict;
use crate::{
    Body, Extensions, FlowControlPacket, Frame, InfiniBandBody, InfiniBandPacket, Network, Roce,
    TransportPacket,
};

/// A value that adds its entries to an object.
trait Entries {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// Implements [`serde::Serialize`] for such a value.
macro_rules! serialize_entries {
    ($($type:ty),*) => {$(
        /// As one flat object; see the feature `serde` in the documentation of the crate.
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                self.write(&mut map)?;
                map.end()
            }
        }
    )*};
}

serialize_entries!(
    Extensions,
    FlowControlPacket,
    Frame<'_>,
    InfiniBandPacket<'_>,
    Network,
    Roce<'_>,
    TransportPacket<'_>
);

impl Entries for Frame<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("proto", self.proto())?;
        map.serialize_entry("ethernet", &self.ethernet)?;
        if let [Some(outer), inner] = &self.vlan {
            match inner {
                Some(inner) => map.serialize_entry("vlan", &[outer, inner])?,
                None => map.serialize_entry("vlan", &[outer])?,
            }
        }
        optional(map, "cn_tag", self.cn_tag.as_ref())?;
        self.body.write(map)?;
        map.serialize_entry("padding_len", &self.padding.len())?;
        map.serialize_entry("fcs", &Verdict(self.fcs_ok()))
    }
}

impl Entries for Body<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Roce(roce) => roce.write(map),
            Self::Pfc(pfc) => map.serialize_entry("pfc", pfc),
            Self::Pause(pause) => map.serialize_entry("pause", pause),
            Self::Cnm { cnm, msdu } => {
                map.serialize_entry("cnm", cnm)?;
                map.serialize_entry("msdu_len", &msdu.len())
            }
            Self::Other(bytes) => map.serialize_entry("other_len", &bytes.len()),
        }
    }
}

impl Entries for Roce<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.network.write(map)?;
        self.transport().write(map)?;
        map.serialize_entry("icrc", &Verdict(Some(self.icrc_ok())))
    }
}

impl Entries for Network {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::V1 { grh } => map.serialize_entry("grh", grh),
            Self::V2Ipv4 { ip, udp } => {
                map.serialize_entry("ipv4", ip)?;
                map.serialize_entry("udp", udp)
            }
            Self::V2Ipv6 { ip, udp } => {
                map.serialize_entry("ipv6", ip)?;
                map.serialize_entry("udp", udp)
            }
        }
    }
}

impl Entries for TransportPacket<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("bth", &self.bth)?;
        self.extensions.write(map)?;
        map.serialize_entry("payload_len", &self.payload.len())
    }
}

impl Entries for Extensions {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let Self {
            telemetry,
            deth,
            xrceth,
            feth,
            reth,
            atomic_eth,
            aeth,
            sack,
            atomic_ack_eth,
            imm_dt,
            ieth,
            cnp,
        } = self;
        optional(map, "telemetry", telemetry.as_ref())?;
        optional(map, "deth", deth.as_ref())?;
        optional(map, "xrceth", xrceth.as_ref())?;
        optional(map, "feth", feth.as_ref())?;
        optional(map, "reth", reth.as_ref())?;
        optional(map, "atomic_eth", atomic_eth.as_ref())?;
        optional(map, "aeth", aeth.as_ref())?;
        optional(map, "sack", sack.as_ref())?;
        optional(map, "atomic_ack_eth", atomic_ack_eth.as_ref())?;
        optional(map, "imm_dt", imm_dt.as_ref())?;
        optional(map, "ieth", ieth.as_ref())?;
        optional(map, "cnp", cnp.as_ref())
    }
}

impl Entries for InfiniBandPacket<'_> {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("proto", self.proto())?;
        map.serialize_entry("lrh", &self.lrh)?;
        match &self.body {
            InfiniBandBody::Transport { grh, packet } => {
                optional(map, "grh", grh.as_ref())?;
                packet.write(map)?;
                map.serialize_entry("icrc", &Verdict(Some(self.icrc_ok())))?;
            }
            InfiniBandBody::Raw(bytes) => {
                map.serialize_entry("other_len", &bytes.len())?;
                map.serialize_entry("icrc", &Verdict(None))?;
            }
        }
        map.serialize_entry("padding_len", &self.padding.len())?;
        map.serialize_entry("vcrc", &Verdict(self.vcrc_ok()))
    }
}

impl Entries for FlowControlPacket {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("proto", self.proto())?;
        map.serialize_entry("flow_control", &FlowControlFields(self))?;
        map.serialize_entry("lpcrc", &Verdict(Some(self.lpcrc_ok())))
    }
}

/// The fields of a flow control packet, without its checksum.
struct FlowControlFields<'a>(&'a FlowControlPacket);

impl Serialize for FlowControlFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FlowControlPacket { op, fctbs, vl, fccl, lpcrc: _ } = self.0;
        let mut object = serializer.serialize_struct("FlowControl", 4)?;
        object.serialize_field("op", op)?;
        object.serialize_field("fctbs", fctbs)?;
        object.serialize_field("vl", vl)?;
        object.serialize_field("fccl", fccl)?;
        object.end()
    }
}

fn optional<M: SerializeMap>(
    map: &mut M,
    key: &'static str,
    value: Option<&impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(key, value))
}
