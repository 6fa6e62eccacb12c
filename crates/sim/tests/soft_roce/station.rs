//! One end of a connection, as our transport has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rocelab_transport::{
    AckTimeout, Memory, Nic, NicConfig, PathMtu, QueuePair, QueuePairConfig, QueuePairProfile,
    ReceiveQueueConfig, ReceiveRequest, Service,
};
use rocelab_units::Bandwidth;

use crate::capture::Side;
use crate::script::{Connection, End, Setup};

/// AckReq is set on every 66th packet of a long message.
const ACK_INTERVAL: u32 = 66;

/// READs and atomic operations at once: what perftest asks for, and Soft-RoCE gives.
const RD_ATOMIC: u32 = 128;

/// The wire is no bottleneck in a replay.
const LINE_RATE: Bandwidth = Bandwidth::from_gbps(400);

/// Where the buffers of receive requests are, 4 GiB apart, and how many bytes of each are kept.
const RECEIVES: u64 = 1 << 60;
const KEPT: u32 = 1 << 14;

/// A NIC with the queue pair of one end, and memory as its script says.
pub(crate) struct Station<'a> {
    pub(crate) nic: Nic,
    pub(crate) end: &'a End,
    /// Batches of receive requests that were not posted yet.
    receives: std::slice::Iter<'a, u32>,
    /// Receive requests that were posted.
    posted: u64,
}

impl<'a> Station<'a> {
    pub(crate) fn new(setup: &Setup, connection: &'a Connection, side: Side) -> Self {
        let (end, other) = (connection.end(side), connection.end(side.other()));
        let mut nic = Nic::new(NicConfig { line_rate: LINE_RATE, encapsulation_len: 42, seed: 0 });
        nic.set_memory(memory(end, &BTreeMap::new()));
        let receive_queue = if end.receives.is_empty() {
            ReceiveQueueConfig::Endless
        } else {
            ReceiveQueueConfig::Own
        };
        nic.create_queue_pair(QueuePairConfig {
            qpn: end.qpn,
            dest_qp: other.qpn,
            destination: 0,
            entropy: 0,
            more_entropies: Vec::new(),
            initial_psn: end.psn,
            remote_initial_psn: end.expects.unwrap_or(other.psn),
            priority: 0,
            marking: 0,
            receive_queue,
            alternate_path: None,
            q_key: end.q_key,
            profile: Arc::new(profile(setup)),
        });
        let mut station = Self { nic, end, receives: end.receives.iter(), posted: 0 };
        station.post_receives();
        station
    }

    /// Puts bytes into its memory: what is there before the first request.
    pub(crate) fn set_bytes(&mut self, initial: &BTreeMap<u64, u8>) {
        self.nic.set_memory(memory(self.end, initial));
    }

    /// Posts the next batch of receive requests.
    pub(crate) fn post_receives(&mut self) {
        let batch = self.receives.next().copied().unwrap_or_default();
        for _ in 0..batch {
            let (id, length) = (self.posted, self.end.receive_bytes);
            self.posted += 1;
            let request = ReceiveRequest { id, address: receive_address(id), length };
            self.nic.post_receive(self.end.qpn, request).expect("a receive queue");
        }
    }

    /// What is in the buffer of a receive request.
    pub(crate) fn received(&self, id: u64, length: u32) -> Option<&[u8]> {
        self.nic.memory()?.bytes(receive_address(id), length as usize)
    }

    pub(crate) fn queue_pair(&self) -> &QueuePair {
        self.nic.queue_pair(self.end.qpn).expect("it was created")
    }
}

const fn receive_address(id: u64) -> u64 {
    RECEIVES + (id << 32)
}

fn profile(setup: &Setup) -> QueuePairProfile {
    let path_mtu = PathMtu::try_from(setup.path_mtu).expect("a path MTU");
    QueuePairProfile {
        service: setup.service,
        ack_interval: if setup.service == Service::ReliableConnection { ACK_INTERVAL } else { 0 },
        ack_timeout: AckTimeout::try_from(setup.ack_timeout).expect("an exponent"),
        retry_count: setup.retry_count,
        rnr_timer: setup.rnr_timer,
        max_rd_atomic: RD_ATOMIC,
        max_dest_rd_atomic: RD_ATOMIC,
        max_outstanding: setup.max_outstanding,
        ..QueuePairProfile::new(path_mtu)
    }
}

/// Protected memory: nothing may be accessed but by the keys of the script. In it is what the script
/// says, `initial`, and room for what is received.
fn memory(end: &End, initial: &BTreeMap<u64, u8>) -> Memory {
    let mut memory = Memory::protected();
    let words = end.words.iter().flat_map(|word| (word.address..).zip(word.value.to_le_bytes()));
    let bytes: Vec<_> =
        words.chain(initial.iter().map(|(address, byte)| (*address, *byte))).collect();
    for region in &end.regions {
        let region = region.registered();
        memory.register(region).expect("regions with keys of their own");
        let mut image = vec![0; usize::try_from(region.length).expect("a small region")];
        for (address, byte) in &bytes {
            if region.holds(*address, 1) {
                image[usize::try_from(address - region.address).expect("inside")] = *byte;
            }
        }
        memory.place(region.address, image).expect("regions that do not overlap");
    }
    let kept = end.receive_bytes.min(KEPT) as usize;
    for id in 0..end.receives.iter().copied().map(u64::from).sum() {
        memory.place(receive_address(id), vec![0; kept]).expect("room of its own");
    }
    memory
}
