//! Gaps in captures of several interfaces, and of hosts that appear one after the other.

use rocelab_capture::{
    CaptureReader, CaptureWriter, Direction, Fault, Format, Interface, LinkType, Observation,
    Recipe, Survey, Verifier,
};
use rocelab_units::{Bandwidth, SimTime};

/// A write of ten packets and its acknowledgement, between two hosts of 10.0.0.0/24.
fn write_between(source: u8, destination: u8) -> Vec<Vec<u8>> {
    let text = format!(
        "source = \"10.0.0.{source}\"\ndestination = \"10.0.0.{destination}\"\npath_mtu = 1024\n\
         [[message]]\nverb = \"write\"\nbytes = 10240\n[[message]]\nverb = \"acknowledge\"\n"
    );
    let recipe = Recipe::parse("test.toml".as_ref(), &text).unwrap();
    assert_eq!(recipe.frames().len(), 11);
    recipe.frames().to_vec()
}

/// A capture of frames, each with its interface.
fn capture<'a>(frames: impl IntoIterator<Item = (usize, &'a Vec<u8>)>) -> Vec<u8> {
    capture_cut_at(usize::MAX, frames)
}

/// A capture of frames, of each at most so many bytes.
fn capture_cut_at<'a>(
    snap_length: usize,
    frames: impl IntoIterator<Item = (usize, &'a Vec<u8>)>,
) -> Vec<u8> {
    let ports = ["leaf-0:4", "leaf-0:5"].map(|name| Interface {
        name: name.into(),
        description: String::new(),
        link_type: LinkType::Ethernet,
        speed: Bandwidth::from_gbps(100),
        fcs: false,
        snap_length: 0,
    });
    let mut writer = CaptureWriter::new(Format::PcapNg, Vec::new(), &ports).unwrap();
    for (number, (interface, frame)) in (0_u64..).zip(frames) {
        let time = SimTime::from_ps(number * 1_000_000);
        let len = u32::try_from(frame.len()).unwrap();
        let captured = &frame[..frame.len().min(snap_length)];
        writer.write_frame(interface, time, Direction::Outbound, captured, len).unwrap();
    }
    writer.finish().unwrap()
}

/// The number of gaps that are faults, and of those that are not.
fn gaps(file: &[u8]) -> (usize, usize) {
    let mut survey = Survey::default();
    let mut reader = CaptureReader::new(file).unwrap();
    while let Some(frame) = reader.next_frame() {
        survey.note(&frame.unwrap());
    }
    let mut verifier = Verifier::with(survey);
    let (mut faults, mut told) = (0, 0);
    let mut reader = CaptureReader::new(file).unwrap();
    while let Some(frame) = reader.next_frame() {
        let verified = verifier.verify(&frame.unwrap());
        let is_told = |one: &&Observation| matches!(one, Observation::AcknowledgesElsewhere { .. });
        told += verified.observations.iter().filter(is_told).count();
        for fault in verified.faults {
            assert!(matches!(fault, Fault::AcknowledgesUnseen { .. }), "{fault}");
            faults += 1;
        }
    }
    (faults, told)
}

/// The number of opcodes that follow no other of their kind.
fn out_of_sequence(file: &[u8]) -> usize {
    let mut verifier = Verifier::default();
    let mut reader = CaptureReader::new(file).unwrap();
    let mut count = 0;
    while let Some(frame) = reader.next_frame() {
        let faults = verifier.verify(&frame.unwrap()).faults;
        count += faults.iter().filter(|one| matches!(one, Fault::OpcodeSequence { .. })).count();
    }
    count
}

/// The first copy of a read is lost before the captured port, and the second comes after a later
/// request. It fills the gap completely, because a read takes the PSNs of its responses too.
#[test]
fn a_read_that_comes_late_leaves_no_gap() {
    let text = "path_mtu = 1024\n[[message]]\nverb = \"write\"\npsn = 7\nbytes = 1024\n\
        [[message]]\nverb = \"read\"\npsn = 14\nbytes = 2048\n\
        [[message]]\nverb = \"read\"\npsn = 8\nbytes = 6144\n\
        [[message]]\nverb = \"read-response\"\nbytes = 6144\n\
        [[message]]\nverb = \"read-response\"\npsn = 14\nbytes = 2048\n";
    let recipe = Recipe::parse("test.toml".as_ref(), text).unwrap();
    let frames: Vec<_> = recipe.frames().to_vec();
    assert_eq!(gaps(&capture(frames.iter().map(|frame| (0, frame)))), (0, 0));
    // A read that never comes leaves the gap.
    let without = frames.iter().enumerate().filter(|(index, _)| !(2..9).contains(index));
    assert_ne!(gaps(&capture(without.map(|(_, frame)| (0, frame)))), (0, 0));
}

/// The second half of a read is lost and requested again: its responses begin anew where the others
/// stopped. If requests take another path, nothing in the capture shows the repetition.
#[test]
fn responses_may_begin_anew_where_requests_are_not_seen() {
    let text = "path_mtu = 1024\n[[message]]\nverb = \"read\"\npsn = 7\nbytes = 6144\n\
        [[message]]\nverb = \"read-response\"\nbytes = 6144\nomit = [3, 4, 5]\n\
        [[message]]\nverb = \"read\"\npsn = 10\nbytes = 3072\n\
        [[message]]\nverb = \"read-response\"\nbytes = 3072\n";
    let recipe = Recipe::parse("test.toml".as_ref(), text).unwrap();
    let frames = recipe.frames();
    assert_eq!(frames.len(), 8);
    // 64 bytes do not hold the length that a request asks for.
    for snap_length in [usize::MAX, 64] {
        let with = |packets: &[usize]| {
            let frames = packets.iter().map(|&packet| (0, &frames[packet]));
            capture_cut_at(snap_length, frames)
        };
        assert_eq!(out_of_sequence(&with(&[0, 1, 2, 3, 4, 5, 6, 7])), 0);
        assert_eq!(out_of_sequence(&with(&[1, 2, 3, 5, 6, 7])), 0);
        // All requests pass here, and none asked again.
        assert_eq!(out_of_sequence(&with(&[0, 1, 2, 3, 5, 6, 7])), 1);
    }
}

/// A link failure moves packets from one uplink to the other, and back. Ten packets are on these
/// interfaces, their acknowledgement is on one of them, or on both.
#[test]
fn packets_that_another_interface_holds_alone_are_not_missing() {
    let frames = write_between(1, 2);
    for ways in [
        [0, 0, 0, 0, 1, 1, 1, 0, 0, 0],
        [0, 0, 1, 1, 0, 0, 1, 1, 0, 0],
        [1, 0, 1, 0, 1, 0, 1, 0, 1, 0],
    ] {
        for answers in [&[0][..], &[1], &[0, 1], &[1, 0]] {
            let requests = ways.into_iter().zip(&frames);
            let answers_on = answers.iter().map(|&interface| (interface, &frames[10]));
            let (faults, _) = gaps(&capture(requests.chain(answers_on)));
            assert_eq!(faults, 0, "{ways:?} {answers:?}");
        }
    }
    let moved = [0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0].into_iter().zip(&frames);
    assert_eq!(gaps(&capture(moved)), (0, 1));
}

/// A link fails while packets are on their way: they are lost before any interface sees them, and
/// are sent again on the other path.
#[test]
fn packets_that_were_lost_as_the_flow_moved_are_not_missing() {
    let frames = write_between(1, 2);
    let ways = [0, 1, 2, 3].map(|packet| (0, packet));
    let other_way = [5, 6, 4, 5, 6].map(|packet| (1, packet));
    let back = [7, 8, 9, 10].map(|packet| (0, packet));
    let sent = ways.into_iter().chain(other_way).chain(back);
    let (faults, _) = gaps(&capture(sent.map(|(interface, packet)| (interface, &frames[packet]))));
    assert_eq!(faults, 0);
}

/// An answer passes the requester's port before the next request arrives at the responder's.
#[test]
fn a_gap_is_missed_though_what_follows_has_yet_to_come_to_the_other_interface() {
    let text = "path_mtu = 1024\n[[message]]\nverb = \"write\"\nbytes = 6144\n\
        [[message]]\nverb = \"acknowledge\"\n[[message]]\nverb = \"write\"\nbytes = 1024\n";
    let recipe = Recipe::parse("test.toml".as_ref(), text).unwrap();
    let frames = recipe.frames();
    let both = (0..5).flat_map(|packet| [(0, packet), (1, packet)]);
    let behind = [(1, 5), (0, 7), (1, 6), (0, 6), (1, 7)];
    let file = capture(both.chain(behind).map(|(interface, packet)| (interface, &frames[packet])));
    assert_eq!(gaps(&file), (1, 0));
}

/// A packet that passes both interfaces is missing at the one that does not have it.
#[test]
fn packets_that_both_interfaces_should_hold_are_missed() {
    let frames = write_between(1, 2);
    for missing in 1..9 {
        for interface in [0, 1] {
            let both = frames
                .iter()
                .enumerate()
                .flat_map(|(number, frame)| [0, 1].map(|one| (number, one, frame)).into_iter());
            let left = both.filter(|&(number, one, _)| number != missing || one != interface);
            let file = capture(left.map(|(_, one, frame)| (one, frame)));
            assert_eq!(gaps(&file), (1, 0), "{missing} on {interface}");
        }
    }
}

/// It may become clear only after the gaps that a port is not that of one host.
#[test]
fn the_order_in_which_hosts_appear_does_not_matter() {
    let (first, others) = (write_between(1, 2), write_between(3, 4));
    let with_gap: Vec<_> =
        first.iter().enumerate().filter(|(number, _)| *number != 5).map(|(_, one)| one).collect();
    let on_one = |frames: Vec<_>| capture(frames.into_iter().map(|frame| (0, frame)));
    assert_eq!(gaps(&on_one(with_gap.clone())), (1, 0), "it may be the port of a host");
    let behind: Vec<_> = with_gap.iter().copied().chain(&others).collect();
    assert_eq!(gaps(&on_one(behind)), (0, 1));
    let before: Vec<_> = others.iter().chain(with_gap).collect();
    assert_eq!(gaps(&on_one(before)), (0, 1));
}
