//! Requests of a capture in, answers out, compared with those of the capture.

use std::collections::{BTreeMap, VecDeque};

use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{
    CompletionStatus, Content, Operation, Packet, ReceiveCompletion, WorkRequest,
};
use rocelab_units::SimTime;
use rocelab_wire::{NakCode, Opcode, Psn, Syndrome};

use crate::capture::{Capture, Captured, Kind, Side, comparable};
use crate::deviation::Deviation;
use crate::payload::{Places, initial_bytes, payload};
use crate::report::Report;
use crate::script::{Connection, End, Setup};
use crate::station::Station;

/// What our responder did, in order.
#[derive(Clone, Debug, PartialEq)]
enum Ours {
    /// It answered, with this payload.
    Answered(Packet, Option<Content>),
    /// It kept silent where Soft-RoCE may say this.
    Silent(Deviation, Packet),
}

/// Feeds what reached `side` to our responder, and compares what it answers.
pub(crate) fn replay(
    setup: &Setup,
    connection: &Connection,
    side: Side,
    capture: &Capture,
    report: &mut Report,
) {
    let (own, peer) = (connection.end(side), connection.end(side.other()));
    if own.is_multicast() {
        return;
    }
    let requests = capture.delivered(side, own.qpn);
    let requests: Vec<_> = requests.filter(|it| Kind::of(&it.packet) == Kind::Request).collect();
    let (seen, unseen) = requests.split_at(requests.len() - own.unseen_requests);
    let answers = capture.sent(side, peer.qpn);
    let answers: Vec<_> = answers.filter(|it| Kind::of(&it.packet) == Kind::Answer).collect();

    let initial = initial_bytes(seen, &answers, setup.path_mtu);
    let mut prompt = Responder::new(setup, connection, side, &initial);
    for request in seen {
        report.discarded += usize::from(!request.is_good);
        prompt.feed(request);
        prompt.drain(request.time, usize::MAX);
        prompt.note_silence(request);
    }
    report.requests_fed += seen.len();
    report.requests_unseen += unseen.len();
    let patient = Responder::new(setup, connection, side, &initial);
    check_patience(patient, seen, &answers, &prompt, report);
    let sent = capture.sent(side.other(), own.qpn);
    let sent = sent.filter(|it| Kind::of(&it.packet) == Kind::Request);
    let sent = Places::new(peer, setup).bytes(sent);
    let arriving = connection.arriving(side, setup);
    check_messages(&mut prompt.station, &arriving, &sent, report);
    compare(&answers, prompt.ours, own, report);
}

struct Responder<'a> {
    station: Station<'a>,
    ours: Vec<Ours>,
    peer_qpn: u32,
    /// What was expected before the last request.
    expected: u32,
    /// Whether nothing was answered to the last request.
    was_silent: bool,
    /// Whether the last NAK was an RNR NAK that nothing followed.
    asked_to_wait: bool,
}

impl<'a> Responder<'a> {
    fn new(
        setup: &Setup,
        connection: &'a Connection,
        side: Side,
        initial: &BTreeMap<u64, u8>,
    ) -> Self {
        let mut station = Station::new(setup, connection, side);
        station.set_bytes(initial);
        let expected = station.queue_pair().expected_psn();
        let peer_qpn = connection.end(side.other()).qpn;
        let (was_silent, asked_to_wait) = (false, false);
        Self { station, ours: Vec::new(), peer_qpn, expected, was_silent, asked_to_wait }
    }

    /// Wrong checksums and partition keys do not get as far as a queue pair.
    fn feed(&mut self, request: &Captured) {
        self.expected = self.station.queue_pair().expected_psn();
        self.was_silent = request.is_good;
        if request.is_good {
            let Captured { time, packet, content, .. } = request;
            let nic = &mut self.station.nic;
            nic.receive_from(*time, packet, Telemetry::None, 0, content.clone());
        }
    }

    /// Lets at most `count` answers leave.
    fn drain(&mut self, now: SimTime, count: usize) {
        for _ in 0..count {
            let Some(transmit) = self.station.nic.poll_transmit(now, 0) else { return };
            let content = self.station.nic.take_content(&transmit.packet);
            let packet = comparable(transmit.packet);
            let syndrome = packet.aeth().map(|aeth| aeth.syndrome);
            self.asked_to_wait = matches!(syndrome, Some(Syndrome::RnrNak { .. }));
            if self.asked_to_wait {
                self.station.post_receives();
            }
            self.was_silent = false;
            self.ours.push(Ours::Answered(packet, content));
        }
    }

    /// What Soft-RoCE may say where nothing was answered to `request`.
    fn note_silence(&mut self, request: &Captured) {
        if !self.was_silent {
            return;
        }
        let expected = Psn::new(self.expected);
        let distance = Psn::new(request.packet.psn()).distance_from(expected);
        let opcode = request.packet.opcode();
        let msn = self.station.queue_pair().msn();
        let answer = |psn: Psn, syndrome| {
            let packet = Packet::new(Opcode::RcAcknowledge, self.peer_qpn, psn.value());
            packet.with_aeth(syndrome, msn)
        };
        if distance < 0 && (opcode.is_send() || opcode.is_rdma_write()) {
            let ack = answer(expected.wrapping_sub(1), Syndrome::ACK);
            self.ours.push(Ours::Silent(Deviation::DuplicateAcknowledged, ack));
        } else if distance > 0 && self.asked_to_wait {
            self.asked_to_wait = false;
            let nak = answer(expected, Syndrome::Nak(NakCode::PsnSequenceError));
            self.ours.push(Ours::Silent(Deviation::NakAfterRnrNak, nak));
        }
    }

    fn answers(&self) -> impl Iterator<Item = &Ours> {
        self.ours.iter().filter(|ours| matches!(ours, Ours::Answered(..)))
    }
}

/// A responder whose answers leave no earlier than those of the capture, so that requests queue up
/// in it as they did there, answers the same as one that is `prompt`.
fn check_patience(
    mut patient: Responder<'_>,
    requests: &[&Captured],
    answers: &[&Captured],
    prompt: &Responder<'_>,
    report: &mut Report,
) {
    let mut drained = 0;
    for request in requests {
        let due = answers.iter().take_while(|answer| answer.time <= request.time).count();
        patient.drain(request.time, due - drained);
        drained = due.max(drained);
        patient.feed(request);
    }
    let end = answers.last().map_or(SimTime::ZERO, |answer| answer.time);
    patient.drain(end, usize::MAX);
    if !patient.answers().eq(prompt.answers()) {
        report.mismatch("answers depend on when they leave".into());
    }
}

fn compare(answers: &[&Captured], ours: Vec<Ours>, end: &End, report: &mut Report) {
    let mut theirs: VecDeque<_> = answers.iter().collect();
    for ours in ours {
        let front = theirs.front().map(|front| comparable(front.packet));
        match ours {
            Ours::Silent(_, packet) if front != Some(packet) => continue,
            Ours::Silent(kind, _) => report.deviate(kind),
            Ours::Answered(packet, content) => {
                let theirs = theirs.front().copied().copied();
                if let Err(reason) = compare_one(theirs, &packet, content, end, report) {
                    return report.mismatch(reason);
                }
            }
        }
        theirs.pop_front();
    }
    let (count, expected) = (theirs.len(), end.answers_after_the_end);
    if count == expected {
        report.answers_after_the_end += count;
    } else {
        let first = theirs.front().map_or("the end".into(), |first| first.to_string());
        report.mismatch(format!("{count} answers are not ours, not {expected}, from {first} on"));
    }
}

fn compare_one(
    theirs: Option<&Captured>,
    ours: &Packet,
    content: Option<Content>,
    end: &End,
    report: &mut Report,
) -> Result<(), String> {
    let Some(theirs) = theirs else { return Err(format!("answer: nothing; ours: {ours}")) };
    let packet = comparable(theirs.packet);
    if packet == *ours {
        report.equal_answers += 1;
    } else if let Some(kind) = Deviation::of_answer(&packet, ours) {
        report.deviate(kind);
    } else {
        return Err(format!("answer: {theirs}; ours: {ours}"));
    }
    let (there, here) = (payload(theirs.content.as_ref()), payload(content.as_ref()));
    if !end.changes_memory && !there.is_empty() {
        if there != here {
            return Err(format!("answer: {theirs}; ours has other data"));
        }
        report.equal_bytes += there.len();
    }
    Ok(())
}

/// What arrived is what the peer's program sent, in `arriving` by number and length, in `sent` by
/// the number of the work request.
fn check_messages(
    station: &mut Station<'_>,
    arriving: &[WorkRequest],
    sent: &[Vec<u8>],
    report: &mut Report,
) {
    let mut received = Vec::new();
    while let Some(completion) = station.nic.poll_receive_completion() {
        if completion.status == CompletionStatus::Success {
            received.push(completion);
        }
    }
    let takes_receive = |work: &&WorkRequest| is_send(work) || work.operation.immediate().is_some();
    let expected: Vec<_> = arriving.iter().filter(takes_receive).collect();
    let is_equal = |(work, completion): (&&WorkRequest, &ReceiveCompletion)| {
        (work.length, work.operation.immediate()) == (completion.bytes, completion.immediate)
            && (!is_send(work)
                || station.received(completion.id, work.length) == sent_by(work, sent))
    };
    if received.len() != expected.len() || !expected.iter().zip(&received).all(is_equal) {
        report.mismatch(format!("{received:?} was received, not {expected:?}"));
    }
    let counters = station.nic.counters();
    let bytes = arriving.iter().map(|work| u64::from(work.length)).sum();
    let delivered = (counters.messages_delivered, counters.payload_delivered);
    if delivered != (arriving.len() as u64, bytes) {
        let count = arriving.len();
        report.mismatch(format!("{delivered:?} was delivered, not {count}, {bytes} bytes"));
    }
    report.messages += arriving.len();
}

const fn is_send(work: &WorkRequest) -> bool {
    use Operation::{Send, SendWithImmediate, SendWithInvalidate};
    matches!(work.operation, Send | SendWithImmediate(_) | SendWithInvalidate(_))
}

fn sent_by<'a>(work: &WorkRequest, sent: &'a [Vec<u8>]) -> Option<&'a [u8]> {
    sent.get(usize::try_from(work.id).ok()?).map(Vec::as_slice)
}
