//! Memory: who may access it, and the bytes that travel.

use rocelab_transport::{
    Access, CompletionStatus, Memory, MemoryRegion, Operation, QueuePairProfile, QueuePairState,
    ReceiveQueueConfig, ReceiveRequest, WorkRequest,
};
use rocelab_wire::{NakCode, Opcode, Syndrome};

use crate::pair::{Departure, Fate, Pair, QPN, profile, work};

const KEY: u32 = 0x1234;
const REMOTE: u64 = 0x10_0000;
const LOCAL: u64 = 0x7000;

fn pattern(length: usize, salt: u8) -> Vec<u8> {
    (0_u8..251).cycle().take(length).map(|byte| byte.wrapping_mul(7) ^ salt).collect()
}

/// Side 0 has `length` bytes at `LOCAL`, side 1 at `REMOTE` behind `KEY`.
fn pair_with(length: usize, access: Access) -> Pair {
    let mut pair = Pair::new(profile());
    let mut near = Memory::open();
    near.place(LOCAL, pattern(length, 1)).unwrap();
    pair.nics[0].set_memory(near);
    let mut far = Memory::protected();
    far.place(REMOTE, pattern(length, 2)).unwrap();
    let length = length as u64;
    far.register(MemoryRegion { r_key: KEY, address: REMOTE, length, access }).unwrap();
    pair.nics[1].set_memory(far);
    pair
}

fn bytes(pair: &Pair, side: usize, address: u64, length: usize) -> &[u8] {
    pair.nics[side].memory().unwrap().bytes(address, length).unwrap()
}

#[test]
fn writes_and_reads_move_bytes_with_and_without_loss() {
    for losses in [false, true] {
        for length in [1_u32, 1024, 1025, 10_000] {
            let whole = length as usize;
            let mut pair = pair_with(whole, Access::ALL);
            let mut sent = 0;
            pair.rule = Box::new(move |_| {
                sent += 1;
                if losses && sent % 5 == 2 { Fate::Drop } else { Fate::Deliver }
            });
            let write = WorkRequest::new(0, Operation::Write, length).to(REMOTE, KEY).local(LOCAL);
            pair.post(0, QPN, write);
            pair.drive();
            assert_eq!(bytes(&pair, 1, REMOTE, whole), pattern(whole, 1), "{length}");

            let far = pair.nics[1].memory_mut().unwrap();
            *far = Memory::open();
            far.place(REMOTE, pattern(whole, 3)).unwrap();
            pair.post(0, QPN, WorkRequest { operation: Operation::Read, id: 1, ..write });
            pair.drive();
            assert_eq!(bytes(&pair, 0, LOCAL, whole), pattern(whole, 3), "{length}");
            pair.assert_all_succeeded(0, 0..2);
        }
    }
}

#[test]
fn what_the_key_does_not_allow_is_refused() {
    let read_only = Access { remote_read: true, ..Access::default() };
    let write_only = Access { remote_write: true, ..Access::default() };
    let to = |operation, length, address, key| {
        WorkRequest::new(0, operation, length).to(address, key).local(LOCAL)
    };
    let fetch_add = Operation::FetchAdd { add: 1 };
    for (access, request) in [
        (read_only, to(Operation::Write, 4096, REMOTE, KEY)),
        (read_only, to(fetch_add, 8, REMOTE, KEY)),
        (write_only, to(Operation::Read, 4096, REMOTE, KEY)),
        (Access::ALL, to(Operation::Write, 4096, REMOTE, KEY + 1)),
        (Access::ALL, to(Operation::Write, 4096, REMOTE + 1, KEY)),
        (Access::ALL, to(Operation::Read, 1, REMOTE + 4096, KEY)),
        (Access::ALL, to(fetch_add, 8, REMOTE + 4096, KEY)),
    ] {
        let mut pair = pair_with(4096, access);
        pair.post(0, QPN, request);
        pair.post(0, QPN, work(1, Operation::Send, 10));
        pair.drive();
        let statuses: Vec<_> = pair.completions[0].iter().map(|done| done.status).collect();
        assert_eq!(statuses, [CompletionStatus::RemoteAccess, CompletionStatus::Flushed]);
        assert_eq!(pair.nics[1].queue_pair(QPN).unwrap().state(), QueuePairState::Error);
        let mut naks = pair.log.iter().filter(|departure| departure.side == 1);
        let nak = naks.next().unwrap().transmit.packet;
        let syndrome = Syndrome::Nak(NakCode::RemoteAccessError);
        assert_eq!((nak.psn(), nak.aeth().unwrap().syndrome), (0xff_fffe, syndrome));
        assert_eq!(bytes(&pair, 1, REMOTE, 4096), pattern(4096, 2), "nothing was written");
    }
}

#[test]
fn an_access_of_no_bytes_needs_no_key() {
    let mut pair = pair_with(64, Access::default());
    pair.post(0, QPN, WorkRequest::new(0, Operation::Write, 0).to(0, 99));
    pair.post(0, QPN, WorkRequest::new(1, Operation::Read, 0).to(0, 99));
    pair.drive();
    pair.assert_all_succeeded(0, 0..2);
}

#[test]
fn a_refusal_waits_for_the_read_before_it() {
    let mut pair = pair_with(20_000, Access::ALL);
    let read = WorkRequest::new(0, Operation::Read, 20_000).to(REMOTE, KEY).local(LOCAL);
    pair.post(0, QPN, read);
    pair.post(0, QPN, WorkRequest::new(1, Operation::Write, 10).to(REMOTE, KEY + 1));
    pair.drive();
    let statuses: Vec<_> = pair.completions[0].iter().map(|done| done.status).collect();
    assert_eq!(statuses, [CompletionStatus::Success, CompletionStatus::RemoteAccess]);
    assert_eq!(bytes(&pair, 0, LOCAL, 20_000), pattern(20_000, 2));
}

#[test]
fn sends_fill_the_posted_buffers_in_order() {
    let mut pair = Pair::without_queue_pairs(rocelab_units::Bandwidth::from_gbps(100));
    let [near, mut far] = crate::pair::ends(&std::sync::Arc::new(profile()), 0);
    far.receive_queue = ReceiveQueueConfig::Own;
    pair.connect([near, far]);
    let mut memory = Memory::open();
    memory.place(LOCAL, pattern(6000, 1)).unwrap();
    pair.nics[0].set_memory(memory);
    let mut memory = Memory::open();
    memory.place(REMOTE, vec![0; 8192]).unwrap();
    pair.nics[1].set_memory(memory);
    for id in 0..2 {
        let request = ReceiveRequest { id, address: REMOTE + id * 4096, length: 4096 };
        pair.nics[1].post_receive(QPN, request).unwrap();
    }
    pair.post(0, QPN, WorkRequest::new(0, Operation::Send, 3000).local(LOCAL));
    let immediate = Operation::SendWithImmediate(77);
    pair.post(0, QPN, WorkRequest::new(1, immediate, 2000).local(LOCAL + 3000));
    pair.drive();
    pair.assert_all_succeeded(0, 0..2);
    let received: Vec<_> = pair.received[1]
        .iter()
        .map(|done| (done.id, done.status, done.bytes, done.immediate))
        .collect();
    let success = CompletionStatus::Success;
    assert_eq!(received, [(0, success, 3000, None), (1, success, 2000, Some(77))]);
    assert_eq!(bytes(&pair, 1, REMOTE, 3000), &pattern(6000, 1)[..3000]);
    assert_eq!(bytes(&pair, 1, REMOTE + 4096, 2000), &pattern(6000, 1)[3000..5000]);
}

#[test]
fn send_with_invalidate_makes_a_key_useless() {
    let mut pair = pair_with(64, Access::ALL);
    pair.post(0, QPN, WorkRequest::new(0, Operation::SendWithInvalidate(KEY), 2000).local(LOCAL));
    pair.post(0, QPN, WorkRequest::new(1, Operation::Write, 8).to(REMOTE, KEY).local(LOCAL));
    pair.drive();
    let statuses: Vec<_> = pair.completions[0].iter().map(|done| done.status).collect();
    assert_eq!(statuses, [CompletionStatus::Success, CompletionStatus::RemoteAccess]);
    let last = pair.requests(0).map(|sent| sent.transmit.packet).nth(1).unwrap();
    assert_eq!(last.opcode(), Opcode::RcSendLastWithInvalidate);
    assert_eq!(last.ieth().unwrap().r_key, KEY);
}

#[test]
fn atomics_are_executed_once_whatever_is_lost() {
    let swap = Operation::CompareSwap { compare: 10, swap: 50 };
    // What is lost: nothing, the first request, the first result, both results.
    for lost in [vec![], vec![0], vec![3], vec![3, 4, 5]] {
        let mut pair = pair_with(16, Access::ALL);
        pair.nics[1].memory_mut().unwrap().clone_from(&{
            let mut far = Memory::protected();
            far.place(REMOTE, vec![0; 16]).unwrap();
            let region =
                MemoryRegion { r_key: KEY, address: REMOTE, length: 16, access: Access::ALL };
            far.register(region).unwrap();
            far
        });
        let mut seen = 0;
        pair.rule = Box::new(move |_: &Departure| {
            seen += 1;
            if lost.contains(&(seen - 1)) { Fate::Drop } else { Fate::Deliver }
        });
        let operations = [Operation::FetchAdd { add: 10 }, swap, swap];
        for (id, operation) in (0..).zip(operations) {
            pair.post(0, QPN, WorkRequest::new(id, operation, 0).to(REMOTE, KEY).local(LOCAL));
        }
        pair.drive();
        pair.assert_all_succeeded(0, 0..3);
        let originals: Vec<_> = pair.completions[0].iter().map(|done| done.original).collect();
        assert_eq!(originals, [0, 10, 50]);
        assert_eq!(bytes(&pair, 1, REMOTE, 8), 50_u64.to_le_bytes());
        assert_eq!(bytes(&pair, 0, LOCAL, 8), 50_u64.to_le_bytes(), "the last result");
    }
}

#[test]
fn an_unaligned_atomic_address_is_an_invalid_request() {
    let mut pair = pair_with(64, Access::ALL);
    let fetch_add = Operation::FetchAdd { add: 1 };
    pair.post(0, QPN, WorkRequest::new(0, fetch_add, 8).to(REMOTE + 4, KEY));
    pair.drive();
    assert_eq!(pair.completions[0][0].status, CompletionStatus::RemoteInvalidRequest);
}

#[test]
fn reads_and_atomics_in_flight_are_limited() {
    let mut pair = Pair::new(QueuePairProfile { max_rd_atomic: 3, ..profile() });
    for id in 0..20 {
        let operation = if id % 2 == 0 { Operation::Read } else { Operation::FetchAdd { add: 1 } };
        pair.post(0, QPN, work(id, operation, 3000));
    }
    pair.post(0, QPN, work(20, Operation::Write, 10));
    let mut most = 0;
    for step in 0..100_000 {
        pair.drive_until(rocelab_units::SimTime::from_ps(step * 10_000));
        let requested = pair.requests(0).count();
        most = most.max(requested - pair.completions[0].len().min(requested));
    }
    pair.assert_all_succeeded(0, 0..21);
    // The WRITE waits behind the last of them, but is not limited itself.
    assert!((3..=4).contains(&most), "{most}");
    assert_eq!(pair.requests(0).count(), 21);
}

#[test]
fn a_responder_refuses_more_reads_than_it_has_room_for() {
    let profile = QueuePairProfile { max_rd_atomic: 8, max_dest_rd_atomic: 2, ..profile() };
    let mut pair = Pair::new(profile);
    for id in 0..8 {
        pair.post(0, QPN, work(id, Operation::Read, 100_000));
    }
    pair.drive();
    let statuses: Vec<_> = pair.completions[0].iter().map(|done| done.status).collect();
    let (success, invalid) = (CompletionStatus::Success, CompletionStatus::RemoteInvalidRequest);
    assert_eq!(statuses[..3], [success, success, invalid]);
}
