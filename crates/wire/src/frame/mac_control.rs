//! The frames of PAUSE and PFC.

use super::{Body, Frame};
use crate::mac_control::MAC_CONTROL_FRAME_LEN;
use crate::zeros::ZEROS;
use crate::{EtherType, Ethernet, MacAddress, Pause, Pfc};

impl Pause {
    /// The frame that a port with the address `source` sends, without FCS.
    #[must_use]
    pub fn to_frame(self, source: MacAddress) -> Frame<'static> {
        frame(source, Body::Pause(self), Self::LEN)
    }
}

impl Pfc {
    /// The frame that a port with the address `source` sends, without FCS.
    #[must_use]
    pub fn to_frame(self, source: MacAddress) -> Frame<'static> {
        frame(source, Body::Pfc(self), Self::LEN)
    }
}

/// A frame with a body of `len` bytes, padded with zeros.
fn frame(source: MacAddress, body: Body<'static>, len: usize) -> Frame<'static> {
    Frame {
        ethernet: Ethernet {
            destination: MacAddress::MAC_CONTROL,
            source,
            ether_type: EtherType::MAC_CONTROL,
        },
        vlan: [None; 2],
        cn_tag: None,
        body,
        padding: &ZEROS[..MAC_CONTROL_FRAME_LEN - Ethernet::LEN - len],
        fcs: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_sixty_bytes() {
        let mut bytes = [0xff; 60];
        let frame = Pause { quanta: 1 }.to_frame(MacAddress([2, 0, 0, 0, 0, 1]));
        assert_eq!(frame.emit(&mut bytes), Ok(60));
        let head = [1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0, 1, 0, 1];
        assert_eq!(bytes[..18], head);
        assert_eq!(bytes[18..], [0; 42]);
        assert_eq!(Frame::parse(&bytes), Ok(frame));
    }

    #[test]
    fn a_pfc_frame_is_sixty_bytes() {
        let mut bytes = [0xff; 60];
        let frame = Pfc::uniform(1, 2).to_frame(MacAddress([2, 0, 0, 0, 0, 1]));
        assert_eq!(frame.emit(&mut bytes), Ok(60));
        let head = [1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 1, 1, 0, 1, 0, 2];
        assert_eq!(bytes[..20], head);
        assert_eq!(bytes[20..], [0; 40]);
        assert_eq!(Frame::parse(&bytes), Ok(frame));
    }
}
