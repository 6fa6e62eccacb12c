//! What a queue pair does with what arrives.

use rocelab_units::{Duration, SimTime};
use rocelab_wire::{NakCode, Opcode, Sack, Syndrome, TelemetryHeader, rnr_timer_ns};

use super::message::Message;
use super::pacer::Acknowledged;
use super::pair::{QueuePair, success};
use super::requester::{NotReady, Progress, Refused};
use super::responder::Answer;
use crate::congestion_control::{Feedback, Telemetry};
use crate::nic::Shared;
use crate::recovery::Held;
use crate::{CompletionStatus, Packet};

/// Opcodes below are the standard's of the reliable connection.
const STANDARD_RC: u8 = 0x20;

impl QueuePair {
    pub(crate) fn receive(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        if !self.state.receives() {
            shared.counters.discarded += 1;
            return;
        }
        let opcode = packet.opcode();
        if self.unreliable.is_some() || opcode as u8 >= STANDARD_RC {
            self.receive_other(now, packet, shared);
        } else if opcode.is_request() {
            self.on_data(now, packet, shared);
            self.on_request(now, packet, telemetry, shared);
        } else if opcode == Opcode::RcAcknowledge {
            self.on_acknowledge(now, packet, telemetry, shared);
        } else {
            self.on_data(now, packet, shared);
            self.on_response(now, packet, shared);
        }
    }

    /// What is not of a reliable connection, or not for one. Packets of another transport service
    /// are dropped without a word (Linux rxe, `check_type_state`).
    #[inline(never)]
    fn receive_other(&mut self, now: SimTime, packet: &Packet, shared: &mut Shared) {
        if let Some(cnm) = packet.cnm() {
            shared.counters.cnms_received += 1;
            self.pacer.on_cnm(now, cnm.quantized_feedback);
            return;
        }
        if packet.opcode().is_congestion_notification() {
            shared.counters.cnps_received += 1;
            self.pacer.on_cnp(now);
            return;
        }
        let is_for_it = self.unreliable.as_ref().is_some_and(|one| one.is_for_it(packet));
        if is_for_it {
            self.on_data(now, packet, shared);
        }
        match (packet.sack(), &mut self.unreliable) {
            (Some(sack), None) => self.on_selective_acknowledge(now, packet, &sack, shared),
            (None, Some(unreliable)) if is_for_it => unreliable.on_request(packet, shared),
            _ => shared.counters.discarded += 1,
        }
    }

    /// What every data packet does before its content is looked at: congestion is reported.
    #[inline]
    fn on_data(&mut self, now: SimTime, packet: &Packet, shared: &mut Shared) {
        shared.counters.data_received += 1;
        if !packet.is_ce() {
            return;
        }
        shared.counters.ce_received += 1;
        let opcode = packet.opcode();
        match self.pacer.feedback() {
            // READ data is not acknowledged: on InfiniBand a CN tells of it.
            Feedback::EcnEcho if opcode.is_response() && self.address.is_infiniband() => {
                shared.control.push(self.address.notification(&self.profile));
            }
            Feedback::EcnEcho => self.owes_echo = true,
            Feedback::Cnp { min_interval } if now >= self.next_cnp => {
                self.next_cnp = now.saturating_add(min_interval);
                shared.control.push(self.address.notification(&self.profile));
            }
            Feedback::Cnp { .. }
            | Feedback::Rtt
            | Feedback::Telemetry(_)
            | Feedback::Qcn
            | Feedback::None => {}
        }
    }

    fn on_request(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        let answer = self.responder.on_request(now, packet, shared);
        self.answer(&answer, telemetry, shared);
        if let Some(held) = self.responder.take_early() {
            self.on_early(now, held, shared);
        }
    }

    /// Requests whose turn has come, which arrived early, `first` before the others. The last
    /// acknowledgement says what all of them would.
    #[cold]
    fn on_early(&mut self, now: SimTime, first: Held, shared: &mut Shared) {
        let mut saved = Answer::Nothing;
        let mut next = Some(first);
        while let Some(held) = next {
            shared.arriving = held.content;
            let answer = self.responder.on_early(now, &held.packet, shared);
            shared.arriving = None;
            // The result of an atomic operation is said by no later acknowledgement.
            if !(saved.is_plain() && answer.is_plain()) {
                let before = core::mem::replace(&mut saved, Answer::Nothing);
                self.answer(&before, Telemetry::None, shared);
            }
            if answer != Answer::Nothing {
                saved = answer;
            }
            next = self.responder.take_early();
        }
        self.answer(&saved, Telemetry::None, shared);
    }

    #[inline]
    fn answer(&mut self, answer: &Answer, telemetry: Telemetry<'_>, shared: &mut Shared) {
        match answer {
            Answer::Nothing => {}
            Answer::Now(acknowledge) => self.acknowledge(acknowledge, telemetry, shared),
            Answer::Detailed(detailed) => self.acknowledge_in_detail(detailed, telemetry, shared),
            Answer::Refuse(nak) => {
                self.acknowledge(nak, telemetry, shared);
                self.fail(CompletionStatus::Flushed, shared);
            }
        }
    }

    /// READ data, or the result of an atomic operation.
    fn on_response(&mut self, now: SimTime, packet: &Packet, shared: &mut Shared) {
        let (qpn, Shared { completions, counters, memory, arriving, .. }) =
            (self.qpn, &mut *shared);
        let keeps_packets = self.responder.keeps_partial_messages();
        let mut accepted = 0;
        let complete = |message: &Message, original| {
            if message.operation.awaits_response() {
                counters.messages_delivered += 1;
                counters.payload_delivered += u64::from(message.length);
                if !keeps_packets {
                    counters.payload_accepted += u64::from(message.length);
                }
            }
            completions.push_back(success(qpn, message, original));
        };
        let accept = |address: u64| {
            let result = packet.atomic_ack_eth().map(|ack| ack.original_remote_data);
            accepted =
                result.map_or(packet.payload_len().into(), |result| size_of_val(&result) as u64);
            let Some(memory) = memory else { return };
            if let Some(content) = arriving {
                memory.store(address, content.payload());
            } else if let Some(result) = result {
                memory.store(address, &result.to_le_bytes());
            }
        };
        let progress = self.requester.on_response(now, packet, complete, accept);
        if keeps_packets {
            shared.counters.payload_accepted += accepted;
        }
        if progress.stale {
            shared.counters.duplicates += 1;
        } else if progress.loss || progress.advanced_to.is_none() {
            shared.counters.out_of_order += 1;
        }
        self.after_progress(now, &progress, false, Telemetry::None, shared);
    }

    /// An acknowledgement that says what arrived behind a gap.
    #[cold]
    fn on_selective_acknowledge(
        &mut self,
        now: SimTime,
        packet: &Packet,
        sack: &Sack,
        shared: &mut Shared,
    ) {
        shared.counters.acks_received += 1;
        let (qpn, completions) = (self.qpn, &mut shared.completions);
        let progress = self.requester.on_selective_ack(now, packet.psn(), sack, |message, _| {
            completions.push_back(success(qpn, message, 0));
        });
        self.after_progress(now, &progress, packet.becn(), Telemetry::None, shared);
    }

    fn on_acknowledge(
        &mut self,
        now: SimTime,
        packet: &Packet,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        let Some(aeth) = packet.aeth() else { return };
        let (qpn, completions) = (self.qpn, &mut shared.completions);
        let complete = |message: &Message, _| completions.push_back(success(qpn, message, 0));
        let progress = match aeth.syndrome {
            Syndrome::Ack { .. } => {
                shared.counters.acks_received += 1;
                self.requester.on_ack(now, packet.psn(), complete)
            }
            Syndrome::Nak(NakCode::PsnSequenceError) => {
                shared.counters.naks_received += 1;
                self.requester.on_sequence_error(now, packet.psn(), complete)
            }
            Syndrome::Nak(code) => {
                shared.counters.naks_received += 1;
                return self.on_refusal(now, packet.psn(), code, shared);
            }
            Syndrome::RnrNak { timer_code } => {
                shared.counters.rnr_naks_received += 1;
                let wait = Duration::from_ns(rnr_timer_ns(timer_code));
                match self.requester.on_not_ready(now, packet.psn(), wait, complete) {
                    NotReady::Stale => return,
                    NotReady::Wait(progress) => progress,
                    NotReady::GiveUp => {
                        return self.fail(CompletionStatus::RnrRetryExceeded, shared);
                    }
                }
            }
            Syndrome::Reserved(_) => {
                shared.counters.discarded += 1;
                return;
            }
        };
        self.after_progress(now, &progress, packet.becn(), telemetry, shared);
    }

    fn after_progress(
        &mut self,
        now: SimTime,
        progress: &Progress,
        becn: bool,
        telemetry: Telemetry<'_>,
        shared: &mut Shared,
    ) {
        shared.counters.becn_acks_received += u64::from(becn);
        if let Some(reached) = progress.advanced_to {
            let (position, next_position) = self.requester.positions();
            let bytes = progress.bytes;
            let told_rtt = telemetry
                .and_then(TelemetryHeader::queueing_ns)
                .map(|wait| self.profile.base_rtt + Duration::from_ns(wait));
            let acknowledged =
                Acknowledged { bytes, reached, position, next_position, becn, telemetry, told_rtt };
            self.pacer.on_ack(now, &acknowledged);
        }
        if progress.loss {
            self.pacer.on_loss(now, false);
        }
        self.rest_if_done(shared);
    }

    /// The peer refused the request packet `psn`; what precedes it arrived. A READ before it whose
    /// response is missing is asked for again, and ends by its own retries.
    fn on_refusal(&mut self, now: SimTime, psn: u32, code: NakCode, shared: &mut Shared) {
        let (qpn, completions) = (self.qpn, &mut shared.completions);
        let refused = self.requester.on_refusal(now, psn, |message, _| {
            completions.push_back(success(qpn, message, 0));
        });
        match refused {
            Refused::Stale => shared.counters.discarded += 1,
            Refused::Later(progress) => {
                self.after_progress(now, &progress, false, Telemetry::None, shared);
            }
            Refused::Now => self.fail(status_of(code), shared),
        }
    }
}

/// How the work ends that the peer refused.
const fn status_of(code: NakCode) -> CompletionStatus {
    match code {
        NakCode::RemoteAccessError => CompletionStatus::RemoteAccess,
        NakCode::RemoteOperationalError => CompletionStatus::RemoteOperational,
        _ => CompletionStatus::RemoteInvalidRequest,
    }
}
