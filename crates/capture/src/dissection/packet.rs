//! A packet of the InfiniBand transport, whatever carries it.

use std::fmt;

use rocelab_wire::cm::{GSI_QPN, Mad};
use rocelab_wire::{
    Bth, Deth, Ecn, Extensions, Gid, InfiniBandPacket, Network, Opcode, Roce, TelemetryKind,
};

/// Source or destination of a packet, below the queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    /// A GID; for RoCE v2 the IP address.
    Gid(Gid),
    /// A local identifier of InfiniBand, in packets without GRH.
    Lid(u16),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gid(gid) => match gid.to_ipv4() {
                Some(address) => f.pad(&address.to_string()),
                None => f.pad(&gid.to_string()),
            },
            Self::Lid(lid) => f.pad(&format!("lid {lid}")),
        }
    }
}

/// A packet as the InfiniBand transport sees it.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The sender.
    pub source: Address,
    /// The receiver.
    pub destination: Address,
    /// The value by which networks spread flows over paths: the UDP source port, or the flow label
    /// of a GRH. Stacks commonly use the same value for both directions of a connection.
    pub entropy: Option<u32>,
    /// ECN codepoint, if the network header has one: native InfiniBand has FECN in the BTH.
    pub ecn: Option<Ecn>,
    /// Base transport header.
    pub bth: &'a Bth,
    /// The extension headers after the BTH.
    pub extensions: &'a Extensions,
    /// Payload, without pad.
    pub payload: &'a [u8],
    /// Pad bytes.
    pub pad: &'a [u8],
}

impl<'a> Packet<'a> {
    /// The management datagram in the packet: only in packets to queue pair 1 with that queue
    /// pair's key.
    #[must_use]
    pub fn mad(&self) -> Option<Mad<'a>> {
        let deth = self.extensions.deth.filter(|deth| deth.q_key == Deth::GSI_Q_KEY)?;
        let to_gsi = self.bth.dest_qp == GSI_QPN && deth.src_qp == GSI_QPN;
        if to_gsi { Mad::parse(self.payload).ok() } else { None }
    }

    /// Whether a switch marked the packet because it met congestion: by ECN in IP or the GRH of RoCE, or by
    /// FECN, which native InfiniBand has in place of it.
    #[must_use]
    pub fn has_experienced_congestion(&self) -> bool {
        match self.ecn {
            Some(ecn) => ecn == Ecn::Ce,
            None => self.bth.fecn,
        }
    }

    pub(super) fn of_roce(roce: &'a Roce<'_>) -> Self {
        let (source, destination, entropy, ecn) = match &roce.network {
            Network::V1 { grh } => {
                let label = Some(grh.flow_label).filter(|label| *label != 0);
                (grh.sgid, grh.dgid, label, Ecn::from_bits(grh.traffic_class))
            }
            Network::V2Ipv4 { ip, udp } => {
                (ip.source.into(), ip.destination.into(), Some(udp.source_port.into()), ip.ecn)
            }
            Network::V2Ipv6 { ip, udp } => {
                (ip.source.into(), ip.destination.into(), Some(udp.source_port.into()), ip.ecn)
            }
        };
        Self {
            source: Address::Gid(source),
            destination: Address::Gid(destination),
            entropy,
            ecn: Some(ecn),
            bth: &roce.bth,
            extensions: &roce.extensions,
            payload: roce.payload,
            pad: roce.pad,
        }
    }

    pub(super) fn of_infiniband(packet: &'a InfiniBandPacket<'_>) -> Option<Self> {
        let transport = packet.transport()?;
        let (source, destination) = match packet.grh() {
            Some(grh) => (Address::Gid(grh.sgid), Address::Gid(grh.dgid)),
            None => (Address::Lid(packet.lrh.slid), Address::Lid(packet.lrh.dlid)),
        };
        Some(Self {
            source,
            destination,
            entropy: None,
            ecn: None,
            bth: &transport.bth,
            extensions: &transport.extensions,
            payload: transport.payload,
            pad: transport.pad,
        })
    }

    /// The operation of the packet: its opcode, or the opcode to which telemetry was added. `None`
    /// if the opcode is not defined here.
    #[must_use]
    pub fn operation(&self) -> Option<Opcode> {
        match self.bth.opcode() {
            // Several manufacturers use the same opcode. Without this header, the packet is another
            // manufacturer's.
            Some(opcode) if opcode.has_sack() && self.extensions.sack.is_none() => None,
            Some(opcode) => Some(opcode),
            None => self.extensions.telemetry.and_then(|_| self.bth.operation_with_telemetry()),
        }
    }

    /// As [`Self::operation`], from the base transport header alone, if nothing after it was
    /// captured. `None` for an opcode that several manufacturers use.
    pub(crate) fn operation_by_header(&self) -> Option<Opcode> {
        self.bth
            .opcode()
            .or(self.bth.operation_with_telemetry())
            .filter(|opcode| !opcode.has_sack())
    }

    /// The telemetry in the packet, and the opcode to which it was added.
    #[must_use]
    pub fn telemetry(&self) -> Option<(TelemetryKind, Opcode)> {
        self.extensions
            .telemetry
            .map(|header| header.kind())
            .zip(self.bth.operation_with_telemetry())
    }

    /// The opcode's standard name, such as `RC_RDMA_WRITE_ONLY`. For packets with telemetry, the
    /// name of their operation; for an opcode without a name, its number (`0x1f`).
    #[must_use]
    pub fn opcode_name(&self) -> OpcodeName {
        OpcodeName { number: self.bth.opcode, operation: self.operation() }
    }
}

/// The name of an opcode: see [`Packet::opcode_name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpcodeName {
    number: u8,
    operation: Option<Opcode>,
}

impl OpcodeName {
    /// The name, from the header alone.
    pub(crate) fn of_bth(bth: &Bth) -> Self {
        Self { number: bth.opcode, operation: bth.opcode().or(bth.operation_with_telemetry()) }
    }
}

impl fmt::Display for OpcodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operation {
            Some(operation) => f.pad(operation.name()),
            None => f.pad(&format!("{:#04x}", self.number)),
        }
    }
}
