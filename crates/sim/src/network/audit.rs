//! Conservation: checked at the end of every run, because a simulator that loses count of a frame
//! has no results.

use rocelab_fabric::BufferPolicy;
use thiserror::Error;

use super::node::Role;
use super::overview::Overview;
use crate::profile::Profile;

/// A law of conservation that did not hold: a defect of the simulator.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AuditError {
    /// Frames came from nowhere or went there.
    #[error(
        "frames created {created} != delivered {delivered} + dropped {dropped} + in the network \
         {live}"
    )]
    Frames {
        /// Put on their first link or about to be.
        created: u64,
        /// Ended where they should.
        delivered: u64,
        /// Dropped.
        dropped: u64,
        /// On links and in queues.
        live: u64,
    },
    /// A switch's memory is accounted for wrongly.
    #[error("switch {switch} accounts for {stored} bytes but {queued} wait in its queues")]
    Buffer {
        /// The switch's node number.
        switch: u32,
        /// By its buffer's counters.
        stored: u64,
        /// By its queues.
        queued: u64,
    },
    /// Fault rules and the drops that they made disagree.
    #[error(
        "fault rules dropped {acted} frames and corrupted {corrupted}, but {dropped} frames were \
             dropped for a fault and {icrc} for their ICRC"
    )]
    Faults {
        /// By the rules that drop.
        acted: u64,
        /// By the rules that corrupt.
        corrupted: u64,
        /// Counted as dropped by a rule.
        dropped: u64,
        /// Counted as dropped for a wrong ICRC.
        icrc: u64,
    },
    /// Payload over NVLink came from nowhere or went there.
    #[error("hosts sent {sent} bytes over NVLink != received {received} + under way {under_way}")]
    Nvlink {
        /// Bytes that left hosts.
        sent: u64,
        /// Bytes that reached hosts.
        received: u64,
        /// Bytes between them.
        under_way: u64,
    },
    /// Payload was delivered twice or never, or in the wrong amount.
    #[error(
        "flows and operations completed with {completed} payload bytes but {delivered} were delivered"
    )]
    Payload {
        /// Of the flows and operations that completed.
        completed: u64,
        /// In order, by the receiving NICs.
        delivered: u64,
    },
}

impl<'a, P: Profile> Overview<'a, P> {
    /// Checks that every byte of switch memory is accounted for.
    ///
    /// # Errors
    /// The first switch of which that does not hold.
    pub(crate) fn audit_buffers(self) -> Result<(), AuditError> {
        let mut queued = vec![0u64; self.0.switches.len()];
        for port in self.0.own_ports() {
            let Role::Switch(switch) = self.0.nodes[port.node as usize].role else { continue };
            let buffer = &self.0.switches[switch as usize].buffer;
            port.port.for_each_waiting(&self.0.pool, |id, _| {
                let len = u32::from(self.0.pool.get(id).frame_len);
                queued[switch as usize] += u64::from(buffer.memory_of(len));
            });
        }
        for (switch, queued) in self.0.switches.iter().zip(queued) {
            let queued = queued + switch.unreturned;
            let stored = switch.buffer.stored();
            if stored != queued {
                return Err(AuditError::Buffer { switch: switch.node, stored, queued });
            }
        }
        Ok(())
    }

    /// Payload of the operations of applications that completed (bytes).
    pub(crate) fn payload_of_operations(self) -> u64 {
        self.0.course.operations.payload
    }
}
