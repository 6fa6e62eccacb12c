//! Integrity mode at a host: real bytes in memory before a flow, and what they are after it.
//!
//! Each flow has a stretch of memory at both ends, at one address. Where its bytes come from, the
//! stretch holds a random stream of the flow's own; where they go, the complement of that, so that
//! a byte that never came is told from one that came wrong.

use std::collections::BTreeMap;

use rocelab_engine::RngStream;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_transport::{
    Completion, CompletionStatus, HostSide, Memory, Nic, QueuePair, ReceiveCompletion,
    ReceiveRequest,
};

use crate::record::{Promise, Violation};
use crate::{FlowPlan, Plan, Verb};

/// Bytes that are compared at a time.
const CHUNK: usize = 1 << 16;
/// Bytes that a violation shows, at the most.
const SHOWN: usize = 16;

/// What a host with integrity mode notes of its queue pairs.
#[derive(Debug)]
pub(super) struct Integrity {
    seed: u64,
    /// By queue pair number.
    witnesses: BTreeMap<u32, Witness>,
}

rocelab_state::state!(Integrity { values: witnesses; kept: seed });

/// The completions of one queue pair.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct Witness {
    /// Of work requests.
    sent: InOrder,
    /// Of receive requests.
    received: InOrder,
}

/// Counts things that are numbered from 0 and should come in that order.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
struct InOrder {
    count: u64,
    /// The first that was not the next one: what was due, and what came.
    first_wrong: Option<(u64, u64)>,
}

impl InOrder {
    fn note(&mut self, number: u64) {
        if number != self.count && self.first_wrong.is_none() {
            self.first_wrong = Some((self.count, number));
        }
        self.count += 1;
    }

    /// What is wrong with them if there should be `due`.
    fn violation(&self, what: &str, due: u64) -> Option<(Promise, u64, String, String)> {
        let named = |number: u64| format!("{what} of message {number}");
        if let Some((expected, found)) = self.first_wrong {
            let promise = if found < expected { Promise::NothingTwice } else { Promise::InOrder };
            return Some((promise, expected, named(expected), named(found)));
        }
        if self.count == due {
            return None;
        }
        let promise = if self.count < due { Promise::NothingLost } else { Promise::NothingTwice };
        let counted = |number: u64| format!("{number} {what}s");
        Some((promise, self.count.min(due), counted(due), counted(self.count)))
    }
}

/// The bytes of a flow, from the first one on.
struct Pattern {
    stream: RngStream,
}

impl Pattern {
    fn new(seed: u64, flow: u32) -> Self {
        Self { stream: RngStream::new(seed, &format!("integrity/flow/{flow}")) }
    }

    /// The next bytes; a multiple of eight, but for the last ones.
    fn fill(&mut self, bytes: &mut [u8]) {
        for word in bytes.chunks_mut(8) {
            let drawn = self.stream.bits().to_le_bytes();
            word.copy_from_slice(&drawn[..word.len()]);
        }
    }
}

/// Where a flow's bytes are in memory, at both ends. Plans keep all of them within 4 GiB.
pub(super) const fn base_address(flow: u32) -> u64 {
    (flow as u64 + 1) << 32
}

/// Whether the flow's bytes go to its source.
fn is_inbound(flow: &FlowPlan) -> bool {
    flow.verb == Verb::Read
}

/// Whether the flow's messages take receive requests.
pub(super) fn takes_receives(flow: &FlowPlan) -> bool {
    matches!(flow.verb, Verb::Send | Verb::WriteWithImmediate)
}

impl Integrity {
    pub(super) const fn new(seed: u64) -> Self {
        Self { seed, witnesses: BTreeMap::new() }
    }

    /// Memory for a flow of which this host is one end.
    pub(super) fn place(&self, memory: &mut Memory, number: u32, flow: &FlowPlan, is_source: bool) {
        let mut bytes = vec![0; usize::try_from(flow.bytes).unwrap_or(0)];
        Pattern::new(self.seed, number).fill(&mut bytes);
        if is_source == is_inbound(flow) {
            bytes.iter_mut().for_each(|byte| *byte = !*byte);
        }
        let placed = memory.place(base_address(number), bytes);
        debug_assert!(placed.is_ok(), "flows do not overlap: {placed:?}");
    }

    /// Receive requests for all messages of a flow, each for its place in memory.
    pub(super) fn post_receives(nic: &mut Nic, number: u32, flow: &FlowPlan) {
        let mut address = base_address(number);
        for (id, bytes) in (0u64..).zip(flow.messages()) {
            let length = u32::try_from(bytes).unwrap_or(u32::MAX);
            let request = ReceiveRequest { id, address, length };
            let posted = nic.post_receive(flow.destination_qpn, request);
            debug_assert!(posted.is_ok(), "a queue of its own: {posted:?}");
            address += bytes;
        }
    }

    /// A work request has ended.
    pub(super) fn note_sent(&mut self, completion: &Completion) {
        if completion.status == CompletionStatus::Success {
            self.witnesses.entry(completion.qpn).or_default().sent.note(completion.id);
        }
    }

    /// A receive request has ended.
    pub(super) fn note_received(&mut self, completion: &ReceiveCompletion) {
        if completion.status == CompletionStatus::Success {
            self.witnesses.entry(completion.qpn).or_default().received.note(completion.id);
        }
    }

    /// What the promises to a flow were broken in that has completed, as far as this end can tell.
    pub(super) fn violations(
        &self,
        plan: &Plan,
        number: u32,
        is_source: bool,
        nic: &Nic,
    ) -> Vec<Violation> {
        let flow = &plan.flows[number as usize];
        let mut found = Vec::new();
        if is_source {
            let witness = self.witnesses.get(&flow.source_qpn);
            found.extend(judge(flow, number, witness.map(|one| &one.sent), "completion"));
        } else {
            found.extend(executed_once(plan, number, nic.queue_pair(flow.destination_qpn)));
            if takes_receives(flow) {
                let received = self.received(flow.destination_qpn, nic);
                found.extend(judge(flow, number, Some(&received), "receive completion"));
            }
        }
        if is_source == is_inbound(flow) {
            found.extend(self.compare(flow, number, nic.memory()));
        }
        found
    }

    /// Receive completions that programs have found, and those that they will: a run may stop before.
    fn received(&self, qpn: u32, nic: &Nic) -> InOrder {
        let mut received =
            self.witnesses.get(&qpn).map_or_else(InOrder::default, |one| one.received);
        let on_their_way = nic.host().into_iter().flat_map(HostSide::receive_completions);
        on_their_way
            .filter(|one| one.qpn == qpn && one.status == CompletionStatus::Success)
            .for_each(|one| received.note(one.id));
        received
    }

    /// Compares memory with what should have arrived: at most one violation a message.
    fn compare(&self, flow: &FlowPlan, number: u32, memory: Option<&Memory>) -> Vec<Violation> {
        let length = usize::try_from(flow.bytes).unwrap_or(usize::MAX);
        let memory = memory.and_then(|memory| memory.bytes(base_address(number), length));
        let mut pattern = Pattern::new(self.seed, number);
        let mut expected = vec![0; CHUNK.min(length)];
        let (mut found, mut offset) = (Vec::<Violation>::new(), 0);
        for actual in memory.unwrap_or_default().chunks(CHUNK) {
            let expected = &mut expected[..actual.len()];
            pattern.fill(expected);
            if expected != actual {
                differences(flow, number, offset, (expected, actual), &mut found);
            }
            offset += actual.len() as u64;
        }
        found
    }
}

/// Adds the first difference of each message in a chunk of a flow's bytes, which starts at `start`.
fn differences(
    flow: &FlowPlan,
    number: u32,
    start: u64,
    (expected, actual): (&[u8], &[u8]),
    found: &mut Vec<Violation>,
) {
    let message_of = |offset: u64| offset / flow.message_bytes.max(1);
    for place in 0..actual.len() {
        let (due, came) = (expected[place], actual[place]);
        let offset = start + place as u64;
        let told = found.last().is_some_and(|last| message_of(last.offset) == message_of(offset));
        if due == came || told {
            continue;
        }
        let end = actual.len().min(place + SHOWN);
        found.push(Violation {
            flow: number,
            promise: if came == !due { Promise::NothingLost } else { Promise::NothingAltered },
            offset,
            expected: hexadecimal(&expected[place..end]),
            found: hexadecimal(&actual[place..end]),
        });
    }
}

/// Whether each message of a flow completed once and in order.
fn judge(flow: &FlowPlan, number: u32, seen: Option<&InOrder>, what: &str) -> Option<Violation> {
    let due = flow.messages().count() as u64;
    let none = InOrder::default();
    let (promise, message, expected, found) = seen.unwrap_or(&none).violation(what, due)?;
    let offset = message.saturating_mul(flow.message_bytes).min(flow.bytes);
    Some(Violation { flow: number, promise, offset, expected, found })
}

/// Whether the responder executed each message once: its message sequence number counts them, and
/// the packet that it expects next is the one after the last.
fn executed_once(plan: &Plan, number: u32, queue_pair: Option<&QueuePair>) -> Option<Violation> {
    let flow = &plan.flows[number as usize];
    let mtu = u64::from(plan.path_mtu());
    let (mut messages, mut packets) = (0u64, 0u64);
    for bytes in flow.messages() {
        messages += 1;
        packets += bytes.div_ceil(mtu).max(1);
    }
    let in_24_bits = |value: u64| value & 0x00ff_ffff;
    let due = (in_24_bits(messages), in_24_bits(u64::from(flow.source_psn) + packets));
    let seen = queue_pair.map_or((0, u64::from(flow.source_psn)), |queue_pair| {
        (u64::from(queue_pair.msn()), u64::from(queue_pair.expected_psn()))
    });
    if seen == due {
        return None;
    }
    let described = |(msn, psn): (u64, u64)| format!("MSN {msn}, next PSN {psn}");
    let promise = if seen.0 < due.0 { Promise::NothingLost } else { Promise::NothingTwice };
    let (expected, found) = (described(due), described(seen));
    Some(Violation { flow: number, promise, offset: flow.bytes, expected, found })
}

fn hexadecimal(bytes: &[u8]) -> String {
    let bytes: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(numbers: &[u64], due: u64) -> Option<(Promise, u64)> {
        let mut seen = InOrder::default();
        numbers.iter().for_each(|&number| seen.note(number));
        seen.violation("completion", due).map(|(promise, message, ..)| (promise, message))
    }

    #[test]
    fn each_once_and_in_order() {
        assert_eq!(judged(&[0, 1, 2], 3), None);
        assert_eq!(judged(&[], 0), None);
        assert_eq!(judged(&[0, 1], 3), Some((Promise::NothingLost, 2)));
        assert_eq!(judged(&[0, 1, 1], 3), Some((Promise::NothingTwice, 2)));
        assert_eq!(judged(&[0, 2, 1], 3), Some((Promise::InOrder, 1)));
        assert_eq!(judged(&[0, 1, 2, 3], 3), Some((Promise::NothingTwice, 3)));
    }

    #[test]
    fn a_pattern_is_the_same_however_it_is_cut() {
        let mut whole = [0; 24];
        Pattern::new(1, 2).fill(&mut whole);
        let mut cut = [0; 24];
        let mut pattern = Pattern::new(1, 2);
        cut.chunks_mut(8).for_each(|part| pattern.fill(part));
        assert_eq!(whole, cut);
        let mut other = [0; 24];
        Pattern::new(1, 3).fill(&mut other);
        assert_ne!(whole, other);
    }
}
