//! Traffic of hosts that is of no workload.

use std::net::IpAddr;
use std::sync::Arc;

use rocelab_fabric::NodeId;
use rocelab_transport::stack::{Period, Role, StreamConfig};
use rocelab_wire::{CRC_LEN, Ethernet, Ipv4, Ipv6, VlanTag};

use crate::address::{self, Addresses, IpVersion};

/// The streams of hosts' stacks beside NIC and TCP.
#[derive(Clone, Debug, Default)]
pub struct StreamsPlan {
    /// What their packets travel in, also where RoCE is version 1.
    pub ip: IpVersion,
    /// Of hosts.
    pub addresses: Arc<Addresses>,
    /// In the order of stacks, then of the scenario's text.
    pub all: Vec<StreamPlan>,
}

/// A stream from one host to another.
#[derive(Clone, Debug)]
pub struct StreamPlan {
    /// What its keys say.
    pub config: StreamConfig,
    /// The host that its key names first.
    pub source: NodeId,
    /// The other one.
    pub destination: NodeId,
    /// When it sends.
    pub period: Period,
}

impl StreamPlan {
    /// The host at one of its ends.
    pub const fn host(&self, end: Role) -> NodeId {
        match end {
            Role::Source => self.source,
            Role::Destination => self.destination,
        }
    }
}

impl StreamsPlan {
    /// Bytes of a frame that are neither a stack's header nor payload: Ethernet, 802.1Q tag, IP, FCS.
    pub fn encapsulation_len(&self, tagged: bool) -> u16 {
        let ip = match self.ip {
            IpVersion::Ipv4 => Ipv4::LEN,
            IpVersion::Ipv6 => Ipv6::LEN,
        };
        let tag = if tagged { VlanTag::LEN } else { 0 };
        u16::try_from(Ethernet::LEN + tag + ip + CRC_LEN).unwrap_or(u16::MAX)
    }

    /// The largest frame of streams whose priority is one of those in `priorities` (bit p), FCS included (bytes).
    pub(super) fn largest_frame(&self, tagged: bool, priorities: u8) -> u16 {
        let own = self.all.iter().filter(|one| priorities >> one.config.stream().priority & 1 != 0);
        let encapsulation_len = self.encapsulation_len(tagged);
        own.map(|stream| stream.config.largest_frame(encapsulation_len)).max().unwrap_or(0)
    }

    /// Hash of the addresses and ports of the packets of stream `number` that one of its ends sends, for
    /// equal-cost multipath.
    pub(crate) fn flow_hash(&self, number: u32, sender: Role) -> u32 {
        let Some(stream) = self.all.get(number as usize) else { return 0 };
        let (near, far) = stream.config.ports(number, sender);
        let (from, to) = match sender {
            Role::Source => (stream.source, stream.destination),
            Role::Destination => (stream.destination, stream.source),
        };
        let protocol = stream.config.format().protocol;
        address::five_tuple_hash(protocol, (self.address(from), near), (self.address(to), far))
    }

    /// The address of a host.
    pub(crate) fn address(&self, host: NodeId) -> IpAddr {
        self.addresses.ip(self.ip, host)
    }
}
