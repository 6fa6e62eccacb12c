//! Captures whose frames are cut: what is not there is not judged.

use rocelab_capture::{
    CaptureReader, CaptureWriter, Direction, Fault, Format, Interface, LinkType, Recipe, Survey,
    Verifier,
};
use rocelab_units::{Bandwidth, SimTime};

/// Ethernet, IPv4, UDP and BTH: the RETH behind them is cut off.
const TO_BTH: usize = 14 + 20 + 8 + 12;

/// The frames of a recipe between two hosts.
fn frames(messages: &str) -> Vec<Vec<u8>> {
    let hosts = "source = \"10.0.0.1\"\ndestination = \"10.0.0.2\"\npath_mtu = 256\n";
    let text = format!("{hosts}{messages}");
    Recipe::parse("test.toml".as_ref(), &text).unwrap().frames().to_vec()
}

/// A read of four packets, a write of three, and a short send: frames 0, 1 to 3, and 4.
const READ_WRITE_SEND: &str = "[[message]]\nverb = \"read\"\nbytes = 1024\n\
                               [[message]]\nverb = \"write\"\nbytes = 768\n\
                               [[message]]\nverb = \"send\"\nbytes = 64\n";

/// The names of the faults of these frames of a recipe, each cut to so many bytes, with their numbers in the capture.
fn faults(messages: &str, order: &[usize], snap_length: usize) -> Vec<(u64, &'static str)> {
    let frames = frames(messages);
    let port = Interface {
        name: "host-0".into(),
        description: String::new(),
        link_type: LinkType::Ethernet,
        speed: Bandwidth::from_gbps(100),
        fcs: false,
        snap_length: 0,
    };
    let mut writer = CaptureWriter::new(Format::PcapNg, Vec::new(), &[port]).unwrap();
    for (number, &frame) in (0_u64..).zip(order) {
        let frame = &frames[frame];
        let time = SimTime::from_ps(number * 1_000_000);
        let captured = &frame[..frame.len().min(snap_length)];
        let len = u32::try_from(frame.len()).unwrap();
        writer.write_frame(0, time, Direction::Outbound, captured, len).unwrap();
    }
    let file = writer.finish().unwrap();
    let mut survey = Survey::default();
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    while let Some(frame) = reader.next_frame() {
        survey.note(&frame.unwrap());
    }
    let mut verifier = Verifier::with(survey);
    let mut reader = CaptureReader::new(&file[..]).unwrap();
    let mut found = Vec::new();
    while let Some(frame) = reader.next_frame() {
        let verified = verifier.verify(&frame.unwrap());
        found.extend(verified.faults.iter().map(|fault| (verified.number, Fault::name(fault))));
    }
    found
}

/// The read and the end of the write are sent again, as after a timeout when the receiver had the rest. A read of unknown
/// length may take all PSNs between the two, or only its own.
#[test]
fn behind_a_cut_read_that_is_sent_again_a_message_may_be_anywhere() {
    for snap_length in [usize::MAX, TO_BTH] {
        let found = faults(READ_WRITE_SEND, &[0, 1, 2, 3, 4, 0, 3, 4], snap_length);
        assert_eq!(found, [], "{snap_length}");
    }
}

/// The same where the beginning of the write is not in the capture: uncut, there is a gap.
#[test]
fn behind_a_cut_read_packets_may_be_missing() {
    for snap_length in [usize::MAX, TO_BTH] {
        assert_eq!(faults(READ_WRITE_SEND, &[0, 2, 3, 4], snap_length), [], "{snap_length}");
    }
}

/// What the BTH says is judged. A read takes one PSN at the least, so that nothing is between it and the next PSN.
#[test]
fn opcodes_that_cannot_follow_are_found_in_cut_frames_too() {
    let messages = "[[message]]\nverb = \"read\"\nbytes = 64\n\
                    [[message]]\nverb = \"RC_RDMA_WRITE_LAST\"\nbytes = 1\n\
                    [[message]]\nverb = \"RC_SEND_FIRST\"\nbytes = 256\n\
                    [[message]]\nverb = \"RC_RDMA_WRITE_LAST\"\nbytes = 1\n";
    let expected = [(2, "opcode_sequence"), (4, "opcode_sequence")];
    for snap_length in [usize::MAX, TO_BTH] {
        assert_eq!(faults(messages, &[0, 1, 2, 3], snap_length), expected, "{snap_length}");
    }
}
