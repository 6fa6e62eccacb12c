//! Writes frames as bytes.

use crc32fast::Hasher;

use super::network::Network;
use super::roce::Roce;
use super::{Body, Frame};
use crate::emit::Writer;
use crate::error::EmitError;
use crate::fcs::crc_to_wire;

impl Frame<'_> {
    /// Length of the frame in bytes, with its FCS if it has one.
    #[must_use]
    pub fn wire_len(&self) -> usize {
        let mut len = 0;
        self.for_each(|part| len += part.len());
        len
    }

    /// Writes the frame to the start of `out`, and returns its length.
    ///
    /// A parsed frame gives exactly the bytes from which it was parsed: checksums, lengths,
    /// reserved bits and padding are not changed.
    ///
    /// # Errors
    ///
    /// [`EmitError`] if `out` is shorter than [`Self::wire_len`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let len = self.wire_len();
        let mut writer = Writer::new(out, len)?;
        self.for_each(|part| writer.put(part));
        Ok(len)
    }

    /// Passes the bytes of the frame to `sink`, piece by piece in wire order.
    pub fn for_each(&self, mut sink: impl FnMut(&[u8])) {
        self.for_each_before_fcs(&mut sink);
        if let Some(fcs) = self.fcs {
            sink(&crc_to_wire(fcs));
        }
    }

    /// The right FCS of the frame.
    #[must_use]
    pub fn computed_fcs(&self) -> u32 {
        let mut hasher = Hasher::new();
        self.for_each_before_fcs(&mut |part| hasher.update(part));
        hasher.finalize()
    }

    fn for_each_before_fcs(&self, sink: &mut impl FnMut(&[u8])) {
        let ethernet = self.ethernet.to_bytes();
        let (addresses, ether_type) = ethernet.split_at(12);
        sink(addresses);
        for tag in self.vlan.iter().flatten() {
            sink(&tag.to_bytes());
        }
        if let Some(tag) = &self.cn_tag {
            sink(&tag.to_bytes());
        }
        sink(ether_type);
        match &self.body {
            Body::Roce(roce) => roce.for_each(sink),
            Body::Pfc(pfc) => sink(&pfc.to_bytes()),
            Body::Pause(pause) => sink(&pause.to_bytes()),
            Body::Cnm { cnm, msdu } => {
                sink(&cnm.to_bytes());
                sink(msdu);
            }
            Body::Other(bytes) => sink(bytes),
        }
        sink(self.padding);
    }
}

impl Roce<'_> {
    fn for_each(&self, sink: &mut impl FnMut(&[u8])) {
        match &self.network {
            Network::V1 { grh } => sink(&grh.to_bytes()),
            Network::V2Ipv4 { ip, udp } => {
                sink(&ip.to_bytes());
                sink(&udp.to_bytes());
            }
            Network::V2Ipv6 { ip, udp } => {
                sink(&ip.to_bytes());
                sink(&udp.to_bytes());
            }
        }
        self.transport().for_each(sink);
    }
}
