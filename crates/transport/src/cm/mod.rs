//! Connection management: queue pairs that are connected by messages, as real stacks do it.
//!
//! A [`ConnectionManager`] is the CM of one NIC, sans-IO. It knows no queue pair and no network:
//! it is told what arrives at queue pair 1 ([`ConnectionManager::receive`]), says what to send from
//! there ([`ConnectionManager::poll_transmit`]) and when to wake it
//! ([`ConnectionManager::poll_timeout`], [`ConnectionManager::handle_timeout`]), and reports what
//! happened ([`ConnectionManager::poll_event`]). Spurious calls of any of them are harmless.
//!
//! # The starting PSN
//!
//! A REQ and a REP each carry one *starting PSN*. It is the PSN with which the **receiver** of the
//! message starts to send; in other words the sender of the message announces what its own
//! responder will expect. (In captures of Linux, the passive side's first packet has the PSN of
//! the REQ, and the active side's first packet that of the REP.) Here a host gives its
//! [`receive_psn`](ConnectionParameters::receive_psn) and is told its
//! [`send_psn`](ConnectionParameters::send_psn).
//!
//! # Both sides
//!
//! | | active side | passive side |
//! |---|---|---|
//! | before | | [`listen`](ConnectionManager::listen) |
//! | begin | [`connect`](ConnectionManager::connect): REQ | [`CmEvent::ConnectRequested`] |
//! | answer | | [`accept`](ConnectionManager::accept): REP, or [`reject`](ConnectionManager::reject): REJ |
//! | the queue pair can be set up | at [`CmEvent::Established`]; RTU | with what `accept` returns |
//! | it may send | at once | at [`CmEvent::Established`], by RTU or data |
//! | end | [`disconnect`](ConnectionManager::disconnect): DREQ | [`CmEvent::DisconnectRequested`] |
//! | | [`CmEvent::Disconnected`] | [`disconnect`](ConnectionManager::disconnect): DREP, [`CmEvent::Disconnected`] |
//! | its number is free again | [`CmEvent::Released`] | [`CmEvent::Released`] |
//!
//! Either side may be the first to disconnect.
//!
//! # What is repeated
//!
//! REQ, REP and DREQ are sent again when no answer comes in time, [`CmConfig::max_cm_retries`]
//! times. The answers (RTU, DREP, REJ, MRA) are not: they follow again upon the repeated message.
//! A REQ that comes again before the application decided is answered by an MRA, which makes the
//! active side wait for longer; one that comes again later is left to the REP's own repetition.
//! That, the states and the times are those of Linux's CM (`drivers/infiniband/core/cm.c`), which
//! the crate's tests hold it to with captures.
//!
//! # What is different from Linux
//!
//! - Times are 4.096 us x 2^n. Linux counts 1 ms for n = 8, which is 2.4 % less, and its timers
//!   are late by up to 6 % of the time (the timer wheel's granularity).
//! - The RTU follows a REP at once; Linux asks the application first.
//! - A host that connects the same queue pair twice is not told that the first connection is stale.
//! - Alternate paths (LAP, APR), peer-to-peer connections and SIDR are not answered.

mod active;
mod config;
mod connection;
mod disconnect;
mod event;
mod manager;
mod passive;
#[cfg(test)]
mod tests;

pub use config::{AcceptReply, CmConfig, ConnectRequest};
pub use event::{
    CmCounters, CmError, CmEvent, ConnectionId, ConnectionParameters, IncomingRequest,
};
pub use manager::{CmTransmit, ConnectionManager};
