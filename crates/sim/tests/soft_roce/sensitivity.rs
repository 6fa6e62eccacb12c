//! The comparison notices what is wrong: captures and scripts with one thing altered.

use rocelab_transport::{Content, Packet};
use rocelab_wire::Syndrome;

use crate::capture::{Capture, Captured, Kind};
use crate::payload::payload;
use crate::script::Script;
use crate::{load, replay};

/// Asserts that a replay of `name` fails once `alter` was there.
fn check(name: &str, alter: impl FnOnce(&mut Script, &mut Capture)) {
    let (mut script, mut capture) = load(name);
    assert!(replay(&script, &capture).mismatches.is_empty(), "{name} is good before");
    alter(&mut script, &mut capture);
    assert!(!replay(&script, &capture).mismatches.is_empty(), "{name}: nobody noticed");
}

/// The `n`-th packet of a kind, from 0.
fn nth(packets: &mut [Captured], kind: Kind, n: usize) -> &mut Captured {
    let mut packets = packets.iter_mut().filter(|captured| Kind::of(&captured.packet) == kind);
    packets.nth(n).expect("so many")
}

fn remove(packets: &mut Vec<Captured>, kind: Kind, n: usize) {
    let number = nth(packets, kind, n).number;
    packets.retain(|captured| captured.number != number);
}

fn with_psn(packet: Packet, psn: u32) -> Packet {
    Packet::new(packet.opcode(), packet.dest_qp(), psn).with_payload_len(packet.payload_len())
}

#[test]
fn an_answer_is_missing() {
    check("perftest_send_bw_4096", |_, capture| remove(&mut capture.sent, Kind::Answer, 7));
    check("perftest_read_bw_16k", |_, capture| remove(&mut capture.sent, Kind::Answer, 79));
}

#[test]
fn an_answer_comes_twice() {
    check("rping_ipv4", |_, capture| {
        let again = nth(&mut capture.sent, Kind::Answer, 3).clone();
        capture.sent.push(again);
    });
}

#[test]
fn an_answer_says_something_else() {
    check("perftest_write_bw_4096", |_, capture| {
        let answer = nth(&mut capture.sent, Kind::Answer, 4);
        answer.packet = answer.packet.with_aeth(Syndrome::ACK, 6);
    });
    check("perftest_atomic_fadd", |_, capture| {
        let answer = nth(&mut capture.sent, Kind::Answer, 19);
        answer.packet = answer.packet.with_atomic_ack_eth(1);
    });
    check("softroce_run1", |_, capture| {
        let refused = nth(&mut capture.sent, Kind::Answer, 55);
        refused.packet = refused.packet.with_aeth(Syndrome::ACK, 0);
    });
    check("perftest_read_bw_4096", |_, capture| {
        let answer = nth(&mut capture.sent, Kind::Answer, 1);
        answer.packet = answer.packet.with_payload_len(1023);
    });
}

#[test]
fn data_is_other_data() {
    // Written, and read back.
    check("softroce_run1", |_, capture| {
        let write = capture.delivered.iter_mut().find(|captured| captured.number == 82);
        alter(write.expect("the middle of the last WRITE before READs"));
    });
    // Received.
    check("ucmatose", |_, capture| alter(nth(&mut capture.delivered, Kind::Request, 4)));
    // Read twice.
    check("perftest_read_bw_4096", |_, capture| alter(nth(&mut capture.sent, Kind::Answer, 9)));
    // Sent again.
    check("fault_write_drop_data_once", |_, capture| {
        alter(nth(&mut capture.sent, Kind::Request, 50));
    });
}

fn alter(packet: &mut Captured) {
    let mut bytes = payload(packet.content.as_ref()).to_vec();
    *bytes.last_mut().expect("a packet with payload") ^= 1;
    packet.content = Some(Content::Payload(bytes.into()));
}

#[test]
fn a_request_is_not_what_was_posted() {
    check("perftest_send_bw_4096", |_, capture| {
        let request = nth(&mut capture.sent, Kind::Request, 2);
        request.packet = request.packet.with_ack_req(true);
    });
    check("fault_write_drop_data_once", |_, capture| {
        let request = nth(&mut capture.sent, Kind::Request, 50);
        request.packet = with_psn(request.packet, request.packet.psn() + 1);
    });
    check("perftest_atomic_fadd", |_, capture| {
        nth(&mut capture.sent, Kind::Request, 3).content = None;
    });
}

#[test]
fn a_retransmission_has_no_cause() {
    // The NAK that it follows never came.
    check("fault_write_drop_data_once", |_, capture| {
        remove(&mut capture.delivered, Kind::Answer, 1);
    });
    // The response that was lost came.
    check("fault_read_drop_resp", |_, capture| capture.delivered = capture.sent.clone());
}

#[test]
fn a_timer_expires_at_another_time() {
    let name = "fault_write_drop_tail_packet";
    check(name, |script, _| script.connection[0].ack_timeout = Some(15));
    check(name, |script, _| script.connection[0].ack_timeout = Some(13));
    check("fault_ucmatose_blackhole_retry5", |script, _| {
        script.connection[0].retry_count = Some(4);
    });
    check("fault_ucmatose_blackhole_retry5", |script, _| {
        script.connection[0].retry_count = Some(6);
    });
}

#[test]
fn a_script_is_wrong() {
    check("fault_send_rnr", |script, _| script.deviations.clear());
    check("fault_send_rnr", |script, _| script.connection[0].server.receives = vec![20]);
    check("perftest_read_lat_64", |script, _| script.connection[0].server.regions.clear());
    check("perftest_write_bw_mtu256", |script, _| script.set_path_mtu(512));
    check("window_write_mtu256_delay5ms", |script, _| script.connection[0].max_outstanding = 128);
    check("ucmatose", |script, _| script.connection.truncate(1));
}
