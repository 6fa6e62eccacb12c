//! The headers of a fixed length, which the frame parser can read.

use crate::error::ParseError;
use crate::header::Header;
use crate::{
    Aeth, AtomicAckEth, AtomicEth, Bth, CnTag, Cnm, Cnp, Deth, Feth, FlowControlPacket, Grh, Ieth,
    ImmDt, Ipv4, Ipv6, Lrh, Pause, Pfc, Reth, Sack, Udp, VlanTag, Xrceth,
};

macro_rules! headers {
    ($($header:ty),* $(,)?) => {
        $(impl Header for $header {
            const LEN: usize = Self::LEN;
            fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
                Self::parse(bytes)
            }
        })*
    };
}

headers! {
    VlanTag, Ipv4, Ipv6, Udp, Lrh, Grh, Bth,
    Deth, Xrceth, Feth, Reth, AtomicEth, Aeth, Sack, AtomicAckEth, ImmDt, Ieth, Cnp,
    Pfc, Pause, CnTag, Cnm, FlowControlPacket,
}
