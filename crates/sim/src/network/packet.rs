//! Packets, one cache line each.

use rocelab_engine::{Place, ask_for_large_pages};
use rocelab_fabric::{Chain, ControlFrame, NodeId, PacketId};
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_wire::Pfc;

pub(crate) use super::path::{ANY, NO_ROUTE};
use super::path::{Ends, Path};
use crate::profile::{EndHost, HostPacket, Profile, StackFrame};

/// What frames between hosts carry under a profile.
pub(super) type PacketOf<P> = <<P as Profile>::EndHost as EndHost<P>>::Packet;

/// A frame somewhere in the network. Its payload has a length; bytes, where there are any, are
/// kept beside it.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Packet<R> {
    /// In a queue: the packet behind it. On a link: the port that sent it.
    next: PacketId,
    /// Whether it is on a link.
    is_on_link: bool,
    /// Where it goes on, as far as it knows.
    pub(crate) path: Path,
    /// Hash of the addresses and the entropy field, which equal-cost multipath goes by.
    pub(crate) flow_hash: u32,
    /// The host that it goes to.
    pub(crate) destination: NodeId,
    /// The host that it comes from.
    pub(crate) source: NodeId,
    /// Bytes of the frame, FCS included.
    pub(crate) frame_len: u16,
    /// In a switch: the port by which it came in. On a link to a switch: the port by which that
    /// one will forward it, [`NO_ROUTE`], or [`ANY`]; known ahead, so that it can be prefetched.
    pub(crate) switch_port: u16,
    /// What it carries.
    pub(crate) body: Body<R>,
}

/// What a frame carries.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) enum Body<R> {
    /// A packet from host to host.
    Rdma(R),
    /// A frame of another stack, from host to host.
    Stack(StackFrame),
    /// A frame of link-layer flow control, for the next port and no further.
    Control(ControlFrame),
}

impl<R: HostPacket> Body<R> {
    /// Whether it is a question for a MAC address, or the answer, that no router forwards.
    pub(crate) fn stays_in_domain(&self) -> bool {
        matches!(self, Self::Stack(frame) if frame.stays_in_domain())
    }

    /// Whether the nodes that it names, if any, are among so many.
    pub(crate) fn names_nodes_of(&self, nodes: usize) -> bool {
        match self {
            Self::Stack(StackFrame::Neighbour(frame)) => {
                [frame.asker, frame.asked].iter().all(|&node| (node as usize) < nodes)
            }
            Self::Stack(_) | Self::Rdma(_) | Self::Control(_) => true,
        }
    }

    /// The priority, 0 to 7, of what goes from host to host.
    pub(crate) fn priority(&self) -> Option<u8> {
        match self {
            Self::Rdma(packet) => Some(packet.priority()),
            Self::Stack(frame) => Some(frame.priority()),
            Self::Control(_) => None,
        }
    }

    /// The number of the code points of what goes from host to host.
    pub(crate) fn marking(&self) -> Option<u8> {
        match self {
            Self::Rdma(packet) => Some(packet.marking()),
            Self::Stack(frame) => Some(frame.marking()),
            Self::Control(_) => None,
        }
    }
}

/// All packets that exist, by [`PacketId`].
#[derive(Debug)]
pub(crate) struct PacketPool<R> {
    packets: Vec<Packet<R>>,
    /// Chain of free places, through `next`.
    free: Option<PacketId>,
    live: u32,
}

impl<R> Packet<R> {
    /// A packet that waits to be sent for the first time.
    #[inline]
    pub(crate) fn new(source: NodeId, destination: NodeId, frame_len: u16, body: Body<R>) -> Self {
        Self {
            next: PacketId::NONE,
            is_on_link: false,
            path: Path::UNKNOWN,
            flow_hash: 0,
            destination,
            source,
            frame_len,
            switch_port: NO_ROUTE,
            body,
        }
    }
}

impl<R> Packet<R> {
    /// What its path follows from.
    #[inline(always)]
    pub(super) fn ends(&self) -> Ends {
        let &Self { source, destination, flow_hash, .. } = self;
        Ends { source, destination, flow_hash }
    }
}

impl<R: Copy> Packet<R> {
    /// It is on the link that `port` sends on from now on.
    #[inline(always)]
    pub(crate) fn start_on_link(&mut self, port: u32) {
        (self.next, self.is_on_link) = (PacketId(port), true);
    }

    /// It has come to the end of its link.
    #[inline(always)]
    pub(crate) fn end_on_link(&mut self) {
        self.is_on_link = false;
    }

    /// The packet as it is in a part of the network that it has come to.
    #[inline]
    pub(crate) fn entered(&self) -> Self {
        Self { next: PacketId::NONE, is_on_link: false, ..*self }
    }
}

impl<R> Default for PacketPool<R> {
    fn default() -> Self {
        Self { packets: Vec::new(), free: None, live: 0 }
    }
}

impl<R: Copy> PacketPool<R> {
    /// Number of packets that exist now.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    /// Puts a packet into the pool.
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet<R>) -> PacketId {
        let id = self.free.unwrap_or_else(|| self.grow());
        // Field by field, without a copy on the way.
        let place = &mut self.packets[id.0 as usize];
        self.free = (place.next != PacketId::NONE).then_some(place.next);
        *place = packet;
        self.live += 1;
        id
    }

    /// Takes a packet, which is on no link, out of the pool; its id may come again.
    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) {
        debug_assert!(self.link_of(id).is_none(), "a frame on a link");
        self.live -= 1;
        self.packets[id.0 as usize].next = self.free.unwrap_or(PacketId::NONE);
        self.free = Some(id);
    }

    /// The port that sends on the link that a packet is on, if it is on one.
    pub(crate) fn link_of(&self, id: PacketId) -> Option<u32> {
        let packet = self.get(id);
        packet.is_on_link.then_some(packet.next.0)
    }

    /// All packets on links, with the port that sent them. Looks at the whole pool.
    pub(crate) fn on_links(&self) -> impl Iterator<Item = (u32, PacketId)> + '_ {
        let ids = (0u32..).map(PacketId).take(self.packets.len());
        ids.filter_map(|id| self.link_of(id).map(|port| (port, id)))
    }

    /// Where a packet is: to be asked for ahead of time.
    #[inline(always)]
    pub(crate) fn place_of(&self, id: PacketId) -> Place {
        Place::of_element(&self.packets, id.0)
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &Packet<R> {
        &self.packets[id.0 as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet<R> {
        &mut self.packets[id.0 as usize]
    }

    /// A free place, where there was none.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> PacketId {
        let id = u32::try_from(self.packets.len()).expect("fewer than 2^32 packets exist at once");
        let capacity = self.packets.capacity();
        self.packets.push(Packet::new(0, 0, 0, Body::Control(Pfc::default().into())));
        if self.packets.capacity() > capacity {
            ask_for_large_pages(&self.packets);
        }
        PacketId(id)
    }
}

impl<R: Copy> Chain for PacketPool<R> {
    #[inline]
    fn next(&self, id: PacketId) -> PacketId {
        self.get(id).next
    }

    #[inline]
    fn set_next(&mut self, id: PacketId, next: PacketId) {
        self.get_mut(id).next = next;
    }
}

#[cfg(test)]
mod tests {
    use rocelab_transport::Packet as RdmaPacket;
    use rocelab_transport::hpcc_ns3::Packet as HpccNs3Packet;

    use super::*;

    #[test]
    fn a_packet_is_one_cache_line() {
        assert_eq!(size_of::<Packet<RdmaPacket>>(), 64);
        assert_eq!(size_of::<Packet<HpccNs3Packet>>(), 64);
    }

    #[test]
    fn places_are_used_again() {
        let mut pool = PacketPool::<RdmaPacket>::default();
        let packet = Packet::new(0, 1, 64, Body::Control(Pfc::default().into()));
        let ids: Vec<_> = (0..4).map(|_| pool.insert(packet)).collect();
        pool.remove(ids[1]);
        pool.remove(ids[3]);
        assert_eq!(pool.live(), 2);
        assert_eq!(pool.insert(packet), ids[3]);
        assert_eq!(pool.insert(packet), ids[1]);
        assert_eq!(pool.insert(packet), PacketId(4));
    }
}
