//! Errors of parsing bytes, of building frames, and of buffers.

use core::fmt;

use crate::Gid;

/// The part of a frame that an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// Ethernet II header.
    Ethernet,
    /// 802.1Q tag.
    Vlan,
    /// ARP packet.
    Arp,
    /// IPv4 header.
    Ipv4,
    /// IPv6 header.
    Ipv6,
    /// Neighbour Discovery message.
    NeighbourDiscovery,
    /// UDP header.
    Udp,
    /// TCP header.
    Tcp,
    /// Local Route Header of native InfiniBand.
    Lrh,
    /// Flow control packet of native InfiniBand.
    FlowControl,
    /// Global Route Header.
    Grh,
    /// Base Transport Header.
    Bth,
    /// Datagram Extended Transport Header.
    Deth,
    /// XRC Extended Transport Header.
    Xrceth,
    /// FLUSH Extended Transport Header.
    Feth,
    /// RDMA Extended Transport Header.
    Reth,
    /// Atomic Extended Transport Header.
    AtomicEth,
    /// ACK Extended Transport Header.
    Aeth,
    /// Selective acknowledgement.
    Sack,
    /// Atomic ACK Extended Transport Header.
    AtomicAckEth,
    /// Immediate Data Extended Transport Header.
    ImmDt,
    /// Invalidate Extended Transport Header.
    Ieth,
    /// Body of a Congestion Notification Packet.
    Cnp,
    /// Management datagram.
    Mad,
    /// The RDMA connection manager's header in private data.
    CmaHeader,
    /// Invariant CRC.
    Icrc,
    /// Ethernet frame check sequence.
    Fcs,
    /// MAC control opcode.
    MacControl,
    /// 802.1Qbb priority-based flow control.
    Pfc,
    /// 802.3x PAUSE.
    Pause,
    /// 802.1Qau congestion notification tag.
    CnTag,
    /// 802.1Qau congestion notification message.
    Cnm,
    /// Header of a record of the Extensible Record Format, with its extension headers.
    Erf,
}

impl Layer {
    /// The layer's usual name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ethernet => "Ethernet",
            Self::Vlan => "802.1Q",
            Self::Arp => "ARP",
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
            Self::NeighbourDiscovery => "ICMPv6",
            Self::Udp => "UDP",
            Self::Tcp => "TCP",
            Self::Lrh => "LRH",
            Self::FlowControl => "flow control packet",
            Self::Grh => "GRH",
            Self::Bth => "BTH",
            Self::Deth => "DETH",
            Self::Xrceth => "XRCETH",
            Self::Feth => "FETH",
            Self::Reth => "RETH",
            Self::AtomicEth => "AtomicETH",
            Self::Aeth => "AETH",
            Self::Sack => "SACK",
            Self::AtomicAckEth => "AtomicAckETH",
            Self::ImmDt => "ImmDt",
            Self::Ieth => "IETH",
            Self::Cnp => "CNP",
            Self::Mad => "MAD",
            Self::CmaHeader => "CMA header",
            Self::Icrc => "ICRC",
            Self::Fcs => "FCS",
            Self::MacControl => "MAC control",
            Self::Pfc => "PFC",
            Self::Pause => "PAUSE",
            Self::CnTag => "CN-TAG",
            Self::Cnm => "CNM",
            Self::Erf => "ERF header",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why bytes are not a valid header or frame.
///
/// Nothing was consumed: the caller still has all bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The bytes end inside the layer, or before the end that its length field says.
    #[error("{layer} at byte {offset} needs {needed} bytes and has {had}")]
    Truncated {
        /// The layer that is incomplete.
        layer: Layer,
        /// Length of the layer, in bytes.
        needed: usize,
        /// Number of bytes that were left for it.
        had: usize,
        /// Start of the layer, as an offset from the start of the parsed bytes.
        offset: usize,
    },
    /// A field has a value that this header never has, so the position of the next header is
    /// unknown.
    #[error("{layer} at byte {offset} has an impossible {field}: {value}")]
    Field {
        /// The layer that holds the field.
        layer: Layer,
        /// The field's name in the standard.
        field: &'static str,
        /// The value found.
        value: u32,
        /// Start of the layer, as an offset from the start of the parsed bytes.
        offset: usize,
    },
}

impl ParseError {
    /// The same error for a layer that starts `base` bytes further on.
    #[must_use]
    pub const fn shifted(mut self, base: usize) -> Self {
        match &mut self {
            Self::Truncated { offset, .. } | Self::Field { offset, .. } => *offset += base,
        }
        self
    }

    /// The layer that the error is about.
    #[must_use]
    pub const fn layer(&self) -> Layer {
        match self {
            Self::Truncated { layer, .. } | Self::Field { layer, .. } => *layer,
        }
    }

    /// Start of that layer, as an offset from the start of the parsed bytes.
    #[must_use]
    pub const fn offset(&self) -> usize {
        match self {
            Self::Truncated { offset, .. } | Self::Field { offset, .. } => *offset,
        }
    }
}

/// Why a frame or packet cannot be built from a sender's values: see
/// [`RoceFrame`](crate::RoceFrame) and [`InfiniBandPacket`](crate::InfiniBandPacket). Nothing was
/// written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An IPv4 encapsulation needs GIDs that contain IPv4 addresses, and this one does not.
    #[error("{0} holds no IPv4 address")]
    NotIpv4(Gid),
    /// The extension headers are not those that the opcode requires.
    #[error("opcode {opcode:#04x} does not carry the given extension headers")]
    Extensions {
        /// The opcode in the BTH.
        opcode: u8,
    },
    /// The packet is too long for its length fields: 16 bits for bytes, or in an LRH 11 bits for
    /// words of four bytes.
    #[error("a packet of {len} bytes does not fit the length fields")]
    TooLong {
        /// Length from the network header, or LRH, to the ICRC, in bytes.
        len: usize,
    },
}

/// The buffer is shorter than the frame. Its contents are unspecified afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the frame needs {needed} bytes and the buffer has {had}")]
pub struct EmitError {
    /// Length of the frame, in bytes.
    pub needed: usize,
    /// Length of the buffer, in bytes.
    pub had: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifted_moves_only_the_offset() {
        let error = ParseError::Truncated { layer: Layer::Bth, needed: 12, had: 3, offset: 0 };
        let shifted = error.shifted(54);
        assert_eq!(shifted.layer(), Layer::Bth);
        assert_eq!(shifted.offset(), 54);
        assert_eq!(shifted.to_string(), "BTH at byte 54 needs 12 bytes and has 3");
    }
}
