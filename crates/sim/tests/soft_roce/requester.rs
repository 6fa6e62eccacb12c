//! Answers of a capture in, requests out, compared with those of the capture.
//!
//! A capture shows an answer on the cable, not when its host got round to it. So it is fed as late
//! as it can have been: when our requester would do otherwise than the captured one without it.

use std::collections::VecDeque;

use rocelab_transport::congestion_control::Telemetry;
use rocelab_transport::{AckTimeout, AddressHandle, CompletionStatus, Service};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::{Opcode, Psn, Syndrome};

use crate::capture::{Capture, Captured, Kind, Side, comparable};
use crate::deviation::Deviation;
use crate::payload::{Places, payload};
use crate::report::Report;
use crate::script::{Connection, Outcome, Setup};
use crate::station::Station;

/// How much earlier than ours an ACK timer of the captured host may expire: it counts in steps of
/// 4 ms, from when the packet was made, not from when it was on the cable.
const EARLY: Duration = Duration::from_ms(4);

/// How much later it may be seen to expire beyond an eighth of the timeout, to which Linux rounds
/// timers (`kernel/time/timer.c`): steps of 4 ms, and an emulated machine with other things to do.
const LATE: Duration = Duration::from_ms(12);

/// Replays what `side` requested.
pub(crate) fn replay(
    setup: &Setup,
    connection: &Connection,
    side: Side,
    capture: &Capture,
    report: &mut Report,
) {
    let (own, peer) = (connection.end(side), connection.end(side.other()));
    let requests = capture.sent(side, peer.qpn);
    let requests = requests.filter(|it| Kind::of(&it.packet) == Kind::Request);
    let requests: Vec<_> = requests.collect();
    let places = Places::new(own, setup);
    let answers = capture.delivered(side, own.qpn).filter(|it| {
        it.is_good && matches!(Kind::of(&it.packet), Kind::Answer | Kind::Notification)
    });
    let answers: VecDeque<_> = answers.collect();
    let mut requester = Requester {
        station: Station::new(setup, connection, side),
        answers: answers.clone(),
        now: SimTime::ZERO,
        setup: *setup,
        timeout: timeout(setup.ack_timeout),
        is_asked_to_wait: false,
        originals: VecDeque::new(),
    };
    requester.station.nic.set_memory(places.memory(requests.iter().copied()));
    requester.post(peer.qpn, peer.q_key);
    for request in &requests {
        if let Err(reason) = requester.reach(request, report) {
            return report.mismatch(reason);
        }
    }
    requester.finish(report);
    let memory = requester.station.nic.memory().expect("it was set");
    if own.outcome == Outcome::Success
        && let Some(id) = places.wrong_read(memory, answers.into_iter())
    {
        report.mismatch(format!("READ {id} brought other data"));
    }
}

/// The local ACK timeout of this exponent; as long as can be if there is none.
fn timeout(exponent: u8) -> Duration {
    let timeout = AckTimeout::try_from(exponent).expect("an exponent").duration();
    timeout.unwrap_or(Duration::from_ps(u64::MAX / 2))
}

/// Whether `request` would not be sent again after this answer. READ data and results of atomic
/// operations with later PSNs may show that it is lost.
fn acknowledges(answer: &Captured, request: &Captured) -> bool {
    let distance = Psn::new(answer.packet.psn()).distance_from(Psn::new(request.packet.psn()));
    match (answer.packet.opcode(), answer.packet.aeth().map(|aeth| aeth.syndrome)) {
        (Opcode::RcAcknowledge, syndrome) => distance >= 0 && syndrome == Some(Syndrome::ACK),
        _ => distance == 0 && Kind::of(&answer.packet) == Kind::Answer,
    }
}

struct Requester<'a> {
    station: Station<'a>,
    /// Not yet fed.
    answers: VecDeque<&'a Captured>,
    now: SimTime,
    setup: Setup,
    timeout: Duration,
    /// Whether the last answer was an RNR NAK.
    is_asked_to_wait: bool,
    /// Results of atomic operations that were fed, in order and each once.
    originals: VecDeque<(u32, u64)>,
}

impl Requester<'_> {
    fn post(&mut self, dest_qp: u32, q_key: u32) {
        let qpn = self.station.end.qpn;
        for work in self.station.end.work(&self.setup) {
            let nic = &mut self.station.nic;
            let posted = if self.setup.service == Service::UnreliableDatagram {
                let to = AddressHandle { destination: 0, entropy: 0, dest_qp, q_key };
                nic.post_datagram(self.now, qpn, work, to)
            } else {
                nic.post_send(self.now, qpn, work)
            };
            posted.expect("work that can be posted");
        }
    }

    /// Does what must have happened before `request` was sent, and sends it.
    fn reach(&mut self, request: &Captured, report: &mut Report) -> Result<(), String> {
        loop {
            let due = self.station.nic.poll_timeout();
            let is_overdue = due.saturating_add(self.lateness()) < request.time;
            if self.offers(request) && !is_overdue {
                return self.take(request, report);
            }
            let early = if self.is_asked_to_wait { Duration::ZERO } else { EARLY };
            let answer = self.answers.front().filter(|answer| answer.time <= request.time);
            if answer.is_some_and(|answer| !acknowledges(answer, request)) {
                self.feed();
            } else if due <= request.time.saturating_add(early) {
                self.expire(due, request, report)?;
            } else if self.may_expire_early(due, request) {
                report.deviate(Deviation::TimerNotRestarted);
                self.expire(due, request, report)?;
            } else if answer.is_some() {
                self.feed();
            } else {
                let (oldest, next) = self.station.queue_pair().send_psns();
                let ours = format!("unacknowledged from {oldest}, next {next}, timer at {due}");
                return Err(format!("request: {request}; ours: {ours}"));
            }
        }
    }

    /// Whether `request` is sent again by a timer that ran before what it waits for was sent.
    fn may_expire_early(&self, due: SimTime, request: &Captured) -> bool {
        let is_oldest = self.station.queue_pair().send_psns().0 == request.packet.psn();
        is_oldest && !self.is_asked_to_wait && due <= request.time.saturating_add(self.timeout)
    }

    /// How much later than ours an ACK timer may be seen to expire.
    fn lateness(&self) -> Duration {
        Duration::from_ps(self.timeout.ps() / 8 + LATE.ps())
    }

    /// Whether the next packet that our requester may send has this PSN.
    fn offers(&mut self, request: &Captured) -> bool {
        let nic = &mut self.station.nic;
        if !nic.is_ready(0) && nic.next_release() <= request.time {
            nic.handle_timeout(self.now.max(nic.next_release()));
        }
        nic.is_ready(0) && self.station.queue_pair().send_psns().1 == request.packet.psn()
    }

    fn take(&mut self, request: &Captured, report: &mut Report) -> Result<(), String> {
        self.now = self.now.max(request.time);
        let transmit = self.station.nic.poll_transmit(self.now, 0);
        let Some(packet) = transmit.map(|transmit| transmit.packet) else {
            return Err(format!("request: {request}; ours waits"));
        };
        let content = self.station.nic.take_content(&packet);
        let packet = comparable(packet);
        let theirs = comparable(request.packet);
        if theirs == packet {
            report.equal_requests += 1;
        } else if let Some(kind) = Deviation::of_request(&theirs, &packet) {
            report.deviate(kind);
        } else {
            return Err(format!("request: {request}; ours: {packet}"));
        }
        if content != request.content {
            return Err(format!("request: {request}; ours has other data or operands"));
        }
        report.equal_bytes += payload(content.as_ref()).len();
        Ok(())
    }

    fn feed(&mut self) {
        let Some(answer) = self.answers.pop_front() else { return };
        self.now = self.now.max(answer.time);
        let Captured { packet, content, .. } = answer;
        let syndrome = packet.aeth().map(|aeth| aeth.syndrome);
        self.is_asked_to_wait = matches!(syndrome, Some(Syndrome::RnrNak { .. }));
        if let Some(ack) = packet.atomic_ack_eth()
            && self.originals.back().is_none_or(|(psn, _)| *psn != packet.psn())
        {
            self.originals.push_back((packet.psn(), ack.original_remote_data));
        }
        let nic = &mut self.station.nic;
        nic.receive_from(self.now, packet, Telemetry::None, 0, content.clone());
    }

    /// Our timer expires, and `request` shows when it did there.
    fn expire(
        &mut self,
        due: SimTime,
        request: &Captured,
        report: &mut Report,
    ) -> Result<(), String> {
        let before = self.station.nic.counters().timeouts;
        self.now = self.now.max(due);
        self.station.nic.handle_timeout(self.now);
        self.is_asked_to_wait = false;
        if self.station.nic.counters().timeouts == before {
            return Ok(());
        }
        report.timeouts.push((due, request.time));
        if due.saturating_add(self.lateness()) < request.time {
            return Err(format!("request: {request}; ours: timer at {due}"));
        }
        Ok(())
    }

    /// Feeds what is left, and looks at how it ended.
    fn finish(&mut self, report: &mut Report) {
        while !self.answers.is_empty() {
            self.feed();
        }
        let outcome = self.station.end.outcome;
        if outcome == Outcome::RetryExceeded {
            self.station.nic.handle_timeout(self.station.nic.poll_timeout());
        }
        if outcome != Outcome::Unfinished && self.station.nic.is_ready(0) {
            let next = self.station.queue_pair().send_psns().1;
            return report.mismatch(format!("our requester goes on, with PSN {next}"));
        }
        match self.outcome() {
            Ok(found) if found == outcome => {}
            Ok(found) => {
                report.mismatch(format!("our requester ends with {found:?}, not {outcome:?}"));
            }
            Err(reason) => report.mismatch(reason),
        }
    }

    /// How the work ended: in the order of posting, atomic operations with the results that came.
    fn outcome(&mut self) -> Result<Outcome, String> {
        let work = self.station.end.work(&self.setup);
        let mut posted = work.iter();
        while let Some(completion) = self.station.nic.poll_completion() {
            match completion.status {
                CompletionStatus::Success => {}
                CompletionStatus::RetryExceeded => return Ok(Outcome::RetryExceeded),
                CompletionStatus::RemoteAccess => return Ok(Outcome::RemoteAccess),
                CompletionStatus::RemoteInvalidRequest => {
                    return Ok(Outcome::RemoteInvalidRequest);
                }
                CompletionStatus::RemoteOperational => return Ok(Outcome::RemoteOperational),
                other => return Err(format!("work ended with {other:?}")),
            }
            if posted.next().is_none_or(|work| work.id != completion.id) {
                return Err(format!("{completion:?} is out of order"));
            }
            if completion.operation.is_atomic()
                && self.originals.pop_front().map(|(_, found)| found) != Some(completion.original)
            {
                return Err(format!("{completion:?} has not the result that came"));
            }
        }
        let is_done = posted.next().is_none();
        Ok(if is_done { Outcome::Success } else { Outcome::Unfinished })
    }
}
