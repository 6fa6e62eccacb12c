//! The checksums that cover an ICRC.

use std::net::IpAddr;
use std::ops::Range;

use rocelab_wire::{CRC_LEN, Udp, crc_to_wire, fcs};

use crate::dissection::{Dissection, OuterHeader};

/// Bytes of a frame that are to be others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Correction {
    /// Where they begin in the captured bytes.
    pub(super) place: usize,
    bytes: [u8; Self::LONGEST],
    len: usize,
}

impl Correction {
    /// Most bytes of one.
    pub(super) const LONGEST: usize = CRC_LEN;

    fn of_crc(place: usize, crc: u32) -> Self {
        Self { place, bytes: crc_to_wire(crc), len: CRC_LEN }
    }

    fn of_udp(place: usize, checksum: u16) -> Self {
        let [high, low] = checksum.to_be_bytes();
        Self { place, bytes: [high, low, 0, 0], len: 2 }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// All bytes of the frame that have to change so that its ICRC at `icrc_place` is `icrc`, in their order.
///
/// From inside to outside, each checksum that covers the ICRC and was right is computed again over what has changed so far.
pub(super) fn corrections(
    captured: &[u8],
    dissection: &Dissection<'_>,
    icrc_place: usize,
    icrc: u32,
) -> Vec<Correction> {
    let mut frame = Frame { captured, bytes: captured.to_vec(), corrections: Vec::new() };
    frame.correct(Correction::of_crc(icrc_place, icrc));
    let icrc = icrc_place..icrc_place + CRC_LEN;
    for datagram in datagrams(dissection) {
        frame.correct_udp(&datagram, &icrc);
    }
    frame.correct_fcs(&icrc);
    frame.corrections.sort_by_key(|correction| correction.place);
    frame.corrections
}

/// A frame, before and after its corrections.
struct Frame<'a> {
    captured: &'a [u8],
    bytes: Vec<u8>,
    corrections: Vec<Correction>,
}

impl Frame<'_> {
    fn correct(&mut self, correction: Correction) {
        let bytes = correction.bytes();
        self.bytes[correction.place..correction.place + bytes.len()].copy_from_slice(bytes);
        self.corrections.push(correction);
    }

    /// Makes a UDP checksum right again, if it covers the ICRC. One of 0 says that there is none.
    fn correct_udp(&mut self, datagram: &Datagram, icrc: &Range<usize>) {
        let end = datagram.place + usize::from(datagram.udp.length);
        let data = datagram.place + Udp::LEN..end;
        if datagram.udp.checksum == 0 || !covers(&data, icrc) || end > self.captured.len() {
            return;
        }
        if datagram.computed_checksum(&self.captured[data.clone()]) == datagram.udp.checksum {
            let checksum = datagram.computed_checksum(&self.bytes[data]);
            self.correct(Correction::of_udp(datagram.place + Udp::LEN - 2, checksum));
        }
    }

    /// Makes the FCS right again, if the last bytes are one that was right: whether the file declares it does not matter.
    fn correct_fcs(&mut self, icrc: &Range<usize>) {
        let Some((covered, found)) = self.captured.split_last_chunk::<CRC_LEN>() else { return };
        let end = covered.len();
        if covers(&(0..end), icrc) && *found == crc_to_wire(fcs(covered)) {
            let right = fcs(&self.bytes[..end]);
            self.correct(Correction::of_crc(end, right));
        }
    }
}

fn covers(range: &Range<usize>, other: &Range<usize>) -> bool {
    range.start <= other.start && other.end <= range.end
}

/// A datagram that the ICRC is in.
struct Datagram {
    /// Where its header begins.
    place: usize,
    udp: Udp,
    source: IpAddr,
    destination: IpAddr,
}

impl Datagram {
    fn computed_checksum(&self, data: &[u8]) -> u16 {
        self.udp.computed_checksum(self.source, self.destination, data)
    }
}

/// The datagrams around the ICRC, from inside to outside.
fn datagrams(dissection: &Dissection<'_>) -> Vec<Datagram> {
    let mut found = Vec::new();
    let mut ip = None;
    for layer in dissection.outer {
        match layer.header {
            OuterHeader::Ipv4(header) => {
                ip = Some((header.source.into(), header.destination.into()));
            }
            OuterHeader::Ipv6(header) => {
                ip = Some((header.source.into(), header.destination.into()));
            }
            OuterHeader::Udp(udp) => found.extend(ip.map(|(source, destination)| Datagram {
                place: layer.offset,
                udp,
                source,
                destination,
            })),
            _ => {}
        }
    }
    found.extend(own_datagram(dissection));
    found.reverse();
    found
}

/// The datagram that the RoCE packet is.
fn own_datagram(dissection: &Dissection<'_>) -> Option<Datagram> {
    let headers = dissection.headers();
    let (source, destination) = match (headers.ipv4, headers.ipv6) {
        (Some(ip), _) => (ip.source.into(), ip.destination.into()),
        (_, Some(ip)) => (ip.source.into(), ip.destination.into()),
        _ => return None,
    };
    Some(Datagram {
        place: dissection.place_of_bth()? - Udp::LEN,
        udp: headers.udp?,
        source,
        destination,
    })
}
