//! The laws of conservation, over all parts of a network.

use super::WholeNetwork;
use crate::network::{AuditError, DropCause};
use crate::profile::Profile;
use crate::scenario::CorruptedPart;
use crate::{FaultAction, FaultRule};

impl<P: Profile> WholeNetwork<'_, P> {
    /// Checks that every frame and every byte of switch memory is accounted for, and when no frame
    /// is under way and no flow failed, every byte of payload.
    ///
    /// # Errors
    /// The first law that does not hold.
    pub fn audit(self) -> Result<(), AuditError> {
        self.audit_frames()?;
        self.parts().try_for_each(|part| part.audit_buffers())?;
        self.audit_faults()?;
        self.audit_nvlink()?;
        self.audit_payload()
    }

    fn audit_frames(self) -> Result<(), AuditError> {
        let totals = self.counted();
        let live = u64::from(self.frames_in_network());
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

    /// Each act of a rule that drops is one dropped frame. Of corrupted frames some are still on
    /// their way, were dropped on it, or duplicated, by a rule or for the members of a multicast group.
    fn audit_faults(self) -> Result<(), AuditError> {
        let (mut acted, mut corrupted, mut duplicated, mut bad_fcs) = (0, 0, 0, 0);
        for (rule, counts) in self.plan().faults.iter().zip(self.fault_counts()) {
            match rule.action {
                FaultAction::Drop => acted += counts.acted,
                // Bits that change by themselves have frames dropped for the same reason.
                FaultAction::Corrupt(CorruptedPart::Fcs) => bad_fcs += counts.acted,
                FaultAction::Corrupt(_) => corrupted += counts.acted,
                FaultAction::Duplicate => duplicated += counts.acted,
                FaultAction::Reorder { .. } | FaultAction::Delay(_) => {}
            }
        }
        let totals = self.counted();
        let all = &totals.drops;
        let drops = |cause: DropCause| all.get(cause.name()).copied().unwrap_or(0);
        let (dropped, icrc) = (drops(DropCause::Fault(0)), drops(DropCause::Icrc));
        let fcs_fits = bad_fcs <= drops(DropCause::FcsError);
        if acted == dropped && icrc <= corrupted + duplicated + totals.multicast_copies && fcs_fits
        {
            return Ok(());
        }
        Err(AuditError::Faults { acted, corrupted, dropped, icrc })
    }

    /// Applications get each byte of a TCP flow once, and the flow ends with the last: whatever else
    /// is under way. They get none of a flow that has failed, which never began.
    fn audit_segments(self) -> Result<(), AuditError> {
        if !self.all_flows_ended() {
            return Ok(());
        }
        let flows = self.plan().flows.iter().filter(|flow| flow.is_tcp());
        let all: u64 = flows.map(|flow| flow.bytes).sum();
        let unopened: u64 = self.parts().map(|part| part.unopened_bytes()).sum();
        let completed = all.saturating_sub(unopened);
        let counters = self.tcp_counters();
        equal(completed, counters.payload_delivered)?;
        equal(completed, counters.payload_accepted)
    }

    /// Of what streams sent no more arrives, unless it was duplicated; and all of it, if no frame was dropped or is under
    /// way. A flooded frame arrives twice where two ways are open, as after a switch has forgotten its tables.
    fn audit_streams(self) -> Result<(), AuditError> {
        let totals = self.counted();
        let duplicates = |rule: &FaultRule| rule.action == FaultAction::Duplicate;
        let is_duplicated = totals.layer2.floods > 0 || self.plan().faults.iter().any(duplicates);
        let has_all = self.is_drained() && totals.frames_dropped == 0 && !is_duplicated;
        for counts in self.stream_counts() {
            let (sent, delivered) = (counts.sent_bytes, counts.delivered_bytes);
            if has_all || (delivered > sent && !is_duplicated) {
                equal(sent, delivered)?;
            }
        }
        Ok(())
    }

    /// What goodput is made of is what hosts accepted.
    fn audit_accepted(self) -> Result<(), AuditError> {
        let hosts = self.nic_counters().payload_accepted + self.tcp_counters().payload_accepted;
        equal(hosts, self.accepted_bytes())
    }

    /// What hosts sent over NVLink has reached others, or is under way.
    fn audit_nvlink(self) -> Result<(), AuditError> {
        let (mut sent, mut received) = (0, 0);
        for used in self.nvlink_use().values() {
            sent += used.sent.bytes;
            received += used.received.bytes;
        }
        let (_, under_way) = self.under_way_by_nvlink();
        if sent == received + under_way {
            return Ok(());
        }
        Err(AuditError::Nvlink { sent, received, under_way })
    }

    /// A duplicated datagram is delivered twice, and nobody minds.
    fn audit_payload(self) -> Result<(), AuditError> {
        self.audit_accepted()?;
        self.audit_segments()?;
        self.audit_streams()?;
        if !self.plan().service().is_reliable() {
            return Ok(());
        }
        let failed = u64::from(self.flow_counts().1) + self.operation_counts().1;
        let is_drained = self.is_drained() && self.under_way_by_nvlink() == (0, 0);
        if failed > 0 || !self.all_flows_ended() || !is_drained {
            return Ok(());
        }
        let flows = self.plan().flows.iter().filter(|flow| !flow.is_tcp());
        let flows: u64 = flows.map(|flow| flow.bytes).sum();
        let operations: u64 = self.parts().map(|part| part.payload_of_operations()).sum();
        let by_nvlink: u64 = self.nvlink_use().values().map(|used| used.received.bytes).sum();
        let counters = self.nic_counters();
        equal(flows + operations, counters.payload_delivered + by_nvlink)?;
        equal(flows + operations, counters.payload_accepted + by_nvlink)
    }
}

/// Payload that was completed is payload that was delivered, each byte once.
fn equal(completed: u64, delivered: u64) -> Result<(), AuditError> {
    if completed == delivered {
        return Ok(());
    }
    Err(AuditError::Payload { completed, delivered })
}
