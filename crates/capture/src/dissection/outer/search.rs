//! Looks for the innermost frame of captured bytes.

use rocelab_wire::{EtherType, Ethernet, Ipv4, Ipv6, PROTOCOL_UDP, Udp, VlanTag};

use super::gre::PROTOCOL_GRE;
use super::{ErspanII, ErspanIII, Gre, LinuxCooked, OuterHeader, OuterLayer, Vxlan};
use crate::dissection::LinkLayer;

/// Tunnels in tunnels that are looked into: real networks have two.
pub(in crate::dissection) const DEEPEST: usize = 4;

/// The innermost frame or packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dissection) struct Inner {
    /// Where it begins in the captured bytes.
    pub(in crate::dissection) start: usize,
    /// Where it ends: beyond the captured bytes if the frame is cut.
    pub(in crate::dissection) end: usize,
    /// `None` for an Ethernet frame; the EtherType of a packet without Ethernet header.
    pub(in crate::dissection) ether_type: Option<EtherType>,
}

/// Finds the innermost frame in `bytes` of a frame that had `whole_len` bytes without its FCS, and puts the headers around it
/// into `outer`. `None` if these bytes are an Ethernet frame without a tunnel, or nothing that is known.
pub(in crate::dissection) fn find(
    layer: LinkLayer,
    bytes: &[u8],
    whole_len: usize,
    outer: &mut Vec<OuterLayer>,
) -> Option<Inner> {
    let mut search = Search { bytes, end: whole_len, outer };
    let mut inner = search.begin(layer)?;
    let mut kept = search.outer.len();
    for _ in 0..DEEPEST {
        match search.tunnel(inner) {
            Some(next) => inner = next,
            None => break,
        }
        kept = search.outer.len();
    }
    // What was read in vain of the next tunnel belongs to the frame.
    outer.truncate(kept);
    let is_plain = layer == LinkLayer::Ethernet && outer.is_empty();
    (!is_plain).then_some(inner)
}

struct Search<'a> {
    bytes: &'a [u8],
    /// The end of what is looked at.
    end: usize,
    outer: &'a mut Vec<OuterLayer>,
}

impl<'a> Search<'a> {
    /// What the link layer carries.
    fn begin(&mut self, layer: LinkLayer) -> Option<Inner> {
        match layer {
            LinkLayer::Ethernet => Some(self.ethernet(0)),
            LinkLayer::RawIp => {
                let version = self.bytes.first()? >> 4;
                self.packet(0, ip_of(version)?)
            }
            LinkLayer::LinuxCooked => {
                self.cooked(LinuxCooked::parse(self.bytes)?, LinuxCooked::LEN)
            }
            LinkLayer::LinuxCooked2 => {
                self.cooked(LinuxCooked::parse_2(self.bytes)?, LinuxCooked::LEN_2)
            }
            LinkLayer::InfiniBand | LinkLayer::Erf => None,
        }
    }

    fn cooked(&mut self, header: LinuxCooked, len: usize) -> Option<Inner> {
        self.note(OuterHeader::LinuxCooked(header), 0, len);
        let ether_type = header.ether_type()?;
        match ether_type {
            EtherType::IPV4 | EtherType::IPV6 => self.packet(len, ether_type),
            EtherType::ROCE_V1 => {
                Some(Inner { start: len, end: self.end, ether_type: Some(ether_type) })
            }
            tag if tag.is_vlan() => {
                Some(Inner { start: len, end: self.end, ether_type: Some(tag) })
            }
            _ => None,
        }
    }

    /// The tunnel that the frame or packet is, if it is one: what is in it.
    fn tunnel(&mut self, carrier: Inner) -> Option<Inner> {
        if !self.may_be_tunnel(carrier)? {
            return None;
        }
        self.end = carrier.end;
        let (at, ether_type) = match carrier.ether_type {
            Some(ether_type) => (carrier.start, ether_type),
            None => self.after_ethernet(carrier.start)?,
        };
        let (protocol, at) = self.after_ip(at, ether_type)?;
        match protocol {
            PROTOCOL_UDP => self.vxlan(at),
            PROTOCOL_GRE => self.gre(at),
            _ => None,
        }
    }

    /// Whether the protocol, and with UDP the port, is that of a tunnel. Nearly all frames are none, and end here.
    fn may_be_tunnel(&self, carrier: Inner) -> Option<bool> {
        let (mut at, mut ether_type) = match carrier.ether_type {
            Some(ether_type) => (carrier.start, ether_type),
            None => (carrier.start + Ethernet::LEN, self.ether_type(carrier.start + 12)?),
        };
        while ether_type.is_vlan() {
            at += VlanTag::LEN;
            ether_type = self.ether_type(at - 2)?;
        }
        let (protocol, len) = match ether_type {
            EtherType::IPV4 => (*self.bytes.get(at + 9)?, Ipv4::LEN),
            EtherType::IPV6 => (*self.bytes.get(at + 6)?, Ipv6::LEN),
            _ => return Some(false),
        };
        Some(match protocol {
            PROTOCOL_GRE => true,
            PROTOCOL_UDP => self.number(at + len + 2)? == Vxlan::PORT,
            _ => false,
        })
    }

    fn ether_type(&self, at: usize) -> Option<EtherType> {
        self.number(at).map(EtherType)
    }

    /// The number of two bytes at a place.
    fn number(&self, at: usize) -> Option<u16> {
        let bytes = self.bytes.get(at..)?.first_chunk()?;
        Some(u16::from_be_bytes(*bytes))
    }

    /// Reads addresses and tags: where what follows begins, and its EtherType.
    fn after_ethernet(&mut self, start: usize) -> Option<(usize, EtherType)> {
        let ethernet = Ethernet::parse(self.from(start)?).ok()?;
        self.note(OuterHeader::Ethernet(ethernet), start, Ethernet::LEN);
        let mut at = start + Ethernet::LEN;
        let mut ether_type = ethernet.ether_type;
        while ether_type.is_vlan() {
            // A tag begins with the EtherType that announces it.
            let tag = VlanTag::parse(self.from(at - 2)?).ok()?;
            self.note(OuterHeader::Vlan(tag), at - 2, VlanTag::LEN);
            at += VlanTag::LEN;
            ether_type = self.ether_type(at - 2)?;
        }
        Some((at, ether_type))
    }

    /// Reads an IP header: the protocol in it, and where that begins. The end moves to that of the packet.
    fn after_ip(&mut self, at: usize, ether_type: EtherType) -> Option<(u8, usize)> {
        let end = self.end_of_ip(at, ether_type)?;
        let bytes = self.from(at)?;
        let (protocol, len) = match ether_type {
            EtherType::IPV4 => {
                let ip = Ipv4::parse(bytes).ok().filter(|ip| !ip.is_fragment())?;
                self.note(OuterHeader::Ipv4(ip), at, Ipv4::LEN);
                (ip.protocol, Ipv4::LEN)
            }
            _ => {
                let ip = Ipv6::parse(bytes).ok()?;
                self.note(OuterHeader::Ipv6(ip), at, Ipv6::LEN);
                (ip.next_header, Ipv6::LEN)
            }
        };
        self.end = end;
        Some((protocol, at + len))
    }

    fn vxlan(&mut self, at: usize) -> Option<Inner> {
        let udp = Udp::parse(self.from(at)?).ok()?;
        if udp.destination_port != Vxlan::PORT {
            return None;
        }
        let vxlan = Vxlan::parse(self.from(at + Udp::LEN)?)?;
        self.note(OuterHeader::Udp(udp), at, Udp::LEN);
        self.note(OuterHeader::Vxlan(vxlan), at + Udp::LEN, Vxlan::LEN);
        self.inner_frame(at + Udp::LEN + Vxlan::LEN)
    }

    fn gre(&mut self, at: usize) -> Option<Inner> {
        let (gre, len) = Gre::parse(self.from(at)?)?;
        self.note(OuterHeader::Gre(gre), at, len);
        let at = at + len;
        if let Some(ether_type) = gre.ip() {
            return self.packet(at, ether_type);
        }
        match gre.protocol {
            Gre::ETHERNET => self.inner_frame(at),
            // Type I has no header, and no sequence number either.
            Gre::ERSPAN if gre.sequence.is_none() => self.inner_frame(at),
            Gre::ERSPAN => {
                let erspan = ErspanII::parse(self.from(at)?)?;
                self.note(OuterHeader::ErspanII(erspan), at, ErspanII::LEN);
                self.inner_frame(at + ErspanII::LEN)
            }
            Gre::ERSPAN_III => self.erspan_iii(at),
            _ => None,
        }
    }

    fn erspan_iii(&mut self, at: usize) -> Option<Inner> {
        let erspan = ErspanIII::parse(self.from(at)?)?;
        let platform = if erspan.has_platform_header { ErspanIII::PLATFORM_LEN } else { 0 };
        let len = ErspanIII::LEN + platform;
        self.note(OuterHeader::ErspanIII(erspan), at, len);
        match erspan.frame_type {
            ErspanIII::ETHERNET => self.inner_frame(at + len),
            ErspanIII::IP => {
                let version = self.from(at + len)?.first()? >> 4;
                self.packet(at + len, ip_of(version)?)
            }
            _ => None,
        }
    }

    /// An Ethernet frame in a tunnel, if its header was captured.
    fn inner_frame(&self, start: usize) -> Option<Inner> {
        self.from(start)?.first_chunk::<{ Ethernet::LEN }>()?;
        Some(self.ethernet(start))
    }

    const fn ethernet(&self, start: usize) -> Inner {
        Inner { start, end: self.end, ether_type: None }
    }

    /// An IP packet without Ethernet header. What follows it, such as padding, does not belong to it.
    fn packet(&self, start: usize, ether_type: EtherType) -> Option<Inner> {
        let end = self.end_of_ip(start, ether_type)?;
        Some(Inner { start, end, ether_type: Some(ether_type) })
    }

    /// The end of the IP packet, as its length says, or what there is of it.
    fn end_of_ip(&self, start: usize, ether_type: EtherType) -> Option<usize> {
        let (at, header) = match ether_type {
            EtherType::IPV4 => (2, 0),
            EtherType::IPV6 => (4, Ipv6::LEN),
            _ => return None,
        };
        let len = u16::from_be_bytes(*self.from(start + at)?.first_chunk()?);
        let end = start + header + usize::from(len);
        Some(if len == 0 { self.end } else { end.min(self.end) })
    }

    /// The captured bytes from a place on, up to the end of what is looked at.
    fn from(&self, start: usize) -> Option<&'a [u8]> {
        self.bytes.get(start..self.end.min(self.bytes.len()))
    }

    fn note(&mut self, header: OuterHeader, offset: usize, len: usize) {
        self.outer.push(OuterLayer { offset, len, header });
    }
}

/// The EtherType of a version of IP.
const fn ip_of(version: u8) -> Option<EtherType> {
    match version {
        4 => Some(EtherType::IPV4),
        6 => Some(EtherType::IPV6),
        _ => None,
    }
}
