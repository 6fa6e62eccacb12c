//! Conservation: checked at the end of every run, because a simulator that loses count of a frame
//! has no results.

use rocelab_fabric::BufferPolicy;
use thiserror::Error;

use super::{DropCause, Network, Role};
use crate::FaultAction;
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

impl<P: Profile> Network<P> {
    /// Checks that every frame and every byte of switch memory is accounted for, and when no frame
    /// is under way and no flow failed, every byte of payload.
    ///
    /// # Errors
    /// The first law that does not hold.
    pub fn audit(&self) -> Result<(), AuditError> {
        self.audit_frames()?;
        self.audit_buffers()?;
        self.audit_faults()?;
        self.audit_payload()
    }

    fn audit_frames(&self) -> Result<(), AuditError> {
        let totals = &self.totals;
        let live = u64::from(self.pool.live());
        if totals.frames_created == totals.frames_delivered + totals.frames_dropped + live {
            return Ok(());
        }
        Err(AuditError::Frames {
            created: totals.frames_created,
            delivered: totals.frames_delivered,
            dropped: totals.frames_dropped,
            live,
        })
    }

    fn audit_buffers(&self) -> Result<(), AuditError> {
        let mut queued = vec![0u64; self.nodes.len()];
        for port in &self.ports {
            let Role::Switch(switch) = self.nodes[port.node as usize].role else { continue };
            let buffer = &self.switches[switch as usize].buffer;
            port.port.for_each_waiting(&self.pool, |id, _| {
                let len = u32::from(self.pool.get(id).frame_len);
                queued[port.node as usize] += u64::from(buffer.memory_of(len));
            });
        }
        for switch in &self.switches {
            let queued = queued[switch.node as usize] + switch.unreturned;
            let stored = switch.buffer.stored();
            if stored != queued {
                return Err(AuditError::Buffer { switch: switch.node, stored, queued });
            }
        }
        Ok(())
    }

    /// Each act of a rule that drops is one dropped frame. Of corrupted frames some are still on
    /// their way, were dropped on it, or duplicated.
    fn audit_faults(&self) -> Result<(), AuditError> {
        let (mut acted, mut corrupted, mut duplicated) = (0, 0, 0);
        for (rule, counts) in self.plan.faults.iter().zip(self.fault_counts()) {
            match rule.action {
                FaultAction::Drop => acted += counts.acted,
                FaultAction::Corrupt(_) => corrupted += counts.acted,
                FaultAction::Duplicate => duplicated += counts.acted,
                FaultAction::Reorder { .. } | FaultAction::Delay(_) => {}
            }
        }
        let drops = |cause: DropCause| self.totals.drops.get(cause.name()).copied().unwrap_or(0);
        let (dropped, icrc) = (drops(DropCause::Fault(0)), drops(DropCause::Icrc));
        if acted == dropped && icrc <= corrupted + duplicated {
            return Ok(());
        }
        Err(AuditError::Faults { acted, corrupted, dropped, icrc })
    }

    /// Applications get each byte of a TCP flow once, and the flow ends with the last: whatever else
    /// is under way.
    fn audit_segments(&self) -> Result<(), AuditError> {
        if !self.all_flows_ended() {
            return Ok(());
        }
        let flows = self.plan.flows.iter().filter(|flow| flow.is_tcp());
        let completed = flows.map(|flow| flow.bytes).sum();
        let delivered = self.tcp_counters().payload_delivered;
        if completed == delivered {
            return Ok(());
        }
        Err(AuditError::Payload { completed, delivered })
    }

    /// A duplicated datagram is delivered twice, and nobody minds.
    fn audit_payload(&self) -> Result<(), AuditError> {
        self.audit_segments()?;
        if !self.plan.service().is_reliable() {
            return Ok(());
        }
        let failed = u64::from(self.flows.failed) + self.operations.failed;
        if failed > 0 || !self.all_flows_ended() || !self.is_drained() {
            return Ok(());
        }
        let flows = self.plan.flows.iter().filter(|flow| !flow.is_tcp());
        let flows: u64 = flows.map(|flow| flow.bytes).sum();
        let completed = flows + self.operations.payload;
        let delivered = self.nic_counters().payload_delivered;
        if completed == delivered {
            return Ok(());
        }
        Err(AuditError::Payload { completed, delivered })
    }
}
