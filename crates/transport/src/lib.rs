//! The RDMA end host, sans-IO: it reads no clock and owns no socket, no event queue and no file.
//!
//! A [`Nic`] holds [`QueuePair`]s of reliable connections and is driven by four verbs.
//! [`Nic::receive`] hands it a packet, [`Nic::poll_transmit`] asks it for the next one,
//! [`Nic::poll_timeout`] and [`Nic::next_release`] say when it next wants to be woken and
//! [`Nic::handle_timeout`] wakes it. Work enters through [`Nic::post_send`], results leave through
//! [`Nic::poll_completion`]. Spurious calls of any of them are harmless.
//!
//! From the wire upwards:
//!
//! - [`Packet`]: the header words of one packet, 28 bytes; payload is only a length.
//! - A queue pair's *requester* cuts work into packets, and completes it on acknowledgements; its
//!   *responder* answers with acknowledgements and read data. Packet sequence numbers are 24 bits
//!   on the wire and 64 bits inside.
//! - [`Recovery`]: what is sent again after a loss; one scheme a file.
//! - [`congestion_control`]: how fast; one algorithm a file and one line in a list.
//! - [`PathEntropy`]: over which of several paths; one policy a file and one line in a list.
//! - [`HostScheduler`]: who sends next of a NIC, the stacks beside it, and their priorities; one a file and
//!   one line in a list.
//! - [`program`]: what runs on hosts, and reacts to messages; one program a file and one line in a list.
//! - [`stack`]: traffic of a host that is of no flow; one protocol a file and one line in a list.
//! - The NIC arbitrates: acknowledgements and notifications first, then round robin among the
//!   queue pairs that have something to send, window and pacing credit.
//!
//! A queue pair is of one [`Service`]: reliable connection, unreliable connection, or unreliable
//! datagram. By default a NIC's [`Memory`] may be accessed by everyone and holds no bytes, and a
//! SEND always finds a buffer; with protected memory and receive queues the responder refuses what
//! it must, and with bytes in memory packets carry real payload, as [`Content`].
//!
//! What is not modelled: local keys and protection domains, memory windows, extended reliable
//! connections, completion queues of limited size, the "send queue drained" state.

pub mod cm;
mod config;
pub mod congestion_control;
mod content;
mod counters;
pub mod hpcc_ns3;
mod marking;
mod memory;
mod nic;
mod packet;
mod path_entropy;
pub mod program;
mod queue_pair;
mod receive_queue;
mod recovery;
mod scheduler;
mod sequence;
pub mod stack;
pub mod tcp;
mod work;

pub use config::{
    AckCoalescing, AckTimeout, AlternatePath, NicConfig, PathMtu, QueuePairConfig,
    QueuePairProfile, RetransmissionTimeouts, Service,
};
pub use congestion_control::Algorithm;
pub use content::{AtomicOperands, Content};
pub use counters::{Counters, Traffic};
pub use marking::{Marking, MarkingConfig};
pub use memory::{Access, Memory, MemoryError, MemoryRegion, RemoteAccess};
pub use nic::{Backlog, FIRST_QPN, HostSide, HostedNic, Nic, NoRoom, Timer};
pub use packet::{Packet, Transmit, has_alternate_path, marked, marking_of};
pub use path_entropy::PathEntropy;
pub use queue_pair::{OutstandingWork, QueuePair, QueuePairState, Standing, StateError};
pub use receive_queue::ReceiveQueueConfig;
pub use recovery::Recovery;
pub use scheduler::{HostScheduler, HostSchedulerConfig, Offer, STACKS, Turn};
pub use work::{
    ATOMIC_LENGTH, AddressHandle, Completion, CompletionStatus, DatagramSource, MAX_MESSAGE_LENGTH,
    Operation, PathMigration, PostError, ReceiveCompletion, ReceiveRequest, WorkRequest,
};
