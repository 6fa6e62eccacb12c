//! What hosts' TCP does.

use std::net::IpAddr;
use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_transport::tcp::{TcpParameters, TcpSegment};
use rocelab_wire::{Ethernet, Ipv4, Ipv6, VlanTag};

use crate::address::{Addresses, IpVersion};

/// What hosts' TCP does.
#[derive(Clone, Debug)]
pub struct TcpPlan {
    /// Of all hosts.
    pub parameters: Arc<TcpParameters>,
    /// What segments travel in, also where RoCE is version 1.
    pub ip: IpVersion,
    /// Of hosts.
    pub addresses: Arc<Addresses>,
}

impl TcpPlan {
    /// Bytes of the IP header: 20 or 40.
    pub fn ip_header_len(&self) -> u16 {
        let len = match self.ip {
            IpVersion::Ipv4 => Ipv4::LEN,
            IpVersion::Ipv6 => Ipv6::LEN,
        };
        u16::try_from(len).unwrap_or(u16::MAX)
    }

    /// Bytes before the TCP header of every frame.
    pub fn encapsulation_len(&self, tagged: bool) -> u16 {
        let layer2 = Ethernet::LEN + if tagged { VlanTag::LEN } else { 0 };
        u16::try_from(layer2).unwrap_or(u16::MAX) + self.ip_header_len()
    }

    /// Payload of a full segment (bytes).
    pub fn mss(&self) -> u16 {
        self.parameters.mss(self.ip_header_len())
    }

    /// Bytes of the largest frame, FCS included.
    pub(super) fn largest_frame(&self, tagged: bool) -> u16 {
        let full = TcpSegment::new(0, 0, 0, 0).with_payload_len(self.mss());
        full.frame_len(self.encapsulation_len(tagged))
    }

    /// The address of a host.
    pub(crate) fn address(&self, host: NodeId) -> IpAddr {
        self.addresses.ip(self.ip, host)
    }
}
