//! Whatever the bytes: parsing a frame, or a packet or flow control packet of native InfiniBand, never panics, and what
//! parses comes back byte for byte.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rocelab_wire::{
    Arp, EmitError, FlowControlPacket, Frame, InfiniBandPacket, NeighbourMessage, ParseError,
};

fuzz_target!(|bytes: &[u8]| {
    for parsed in [Frame::parse(bytes), Frame::parse_with_fcs(bytes)] {
        let Some(frame) = accepted(bytes, parsed) else { continue };
        check_emission(bytes, |out| frame.emit(out));
        let _ = (frame.icrc_ok(), frame.fcs_ok(), frame.proto(), frame.to_string());
    }
    if let Some(packet) = accepted(bytes, InfiniBandPacket::parse(bytes)) {
        check_emission(bytes, |out| packet.emit(out));
        let _ = (packet.icrc_ok(), packet.vcrc_ok(), packet.to_string());
        let _ = packet.broken_rules().count();
        assert_eq!(packet.on_lane(3).vcrc_ok(), Some(true));
    }
    if let Some(packet) = accepted(bytes, FlowControlPacket::parse(bytes)) {
        assert_eq!(packet.to_bytes(), bytes[..FlowControlPacket::LEN]);
        assert!(packet.with_lpcrc().lpcrc_ok());
        let _ = packet.to_string();
    }
    if let Some(arp) = accepted(bytes, Arp::parse(bytes)) {
        assert_eq!(arp.to_bytes(), bytes[..Arp::LEN]);
    }
    if let Some(message) = accepted(bytes, NeighbourMessage::parse(bytes)) {
        assert_eq!(NeighbourMessage::parse(&message.to_bytes()), Ok(message));
    }
});

/// What was parsed; an error must be about a place in the bytes.
fn accepted<T>(bytes: &[u8], parsed: Result<T, ParseError>) -> Option<T> {
    parsed.inspect_err(|error| assert!(error.offset() <= bytes.len())).ok()
}

fn check_emission(bytes: &[u8], emit: impl FnOnce(&mut [u8]) -> Result<usize, EmitError>) {
    let mut emitted = vec![0; bytes.len()];
    assert_eq!(emit(&mut emitted), Ok(bytes.len()));
    assert_eq!(emitted, bytes);
}
