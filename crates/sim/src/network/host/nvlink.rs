//! What leaves a host over NVLink, and what comes to one.

use rocelab_engine::{EventKey, mix};
use rocelab_fabric::NodeId;

use crate::network::event::Event;
use crate::network::node::Role;
use crate::network::other_frames::OtherFrames;
use crate::profile::{
    Context, DistantTransfer, EndHost, NvlinkDeparture, NvlinkTransfer, Profile, Shared,
};

impl<P: Profile> OtherFrames<'_, P> {
    /// A transfer leaves a host. Its event comes a delay later, so it is behind the window that runs.
    #[cold]
    pub(super) fn leave_by_nvlink(&mut self, from: NodeId, departure: NvlinkDeparture) {
        let NvlinkDeparture { transfer, head } = departure;
        let head = EventKey { time: head, tie: self.0.reserve(from) };
        let to = self.far_end(&transfer);
        let is_here = !matches!(self.0.nodes[to as usize].role, Role::Elsewhere(_));
        let left = DistantTransfer { transfer, head };
        self.0.shared.leave_by_nvlink(left, (!is_here).then_some(to));
        if is_here {
            let unit = |node: NodeId| self.0.layout.units.get(node as usize);
            let is_same = unit(from) == unit(to);
            self.schedule_transfer(&left, !is_same);
        }
    }

    /// A transfer that is under way to a host here has its event, in another unit than that which runs if `is_beyond`.
    pub(in crate::network) fn schedule_transfer(
        &mut self,
        under_way: &DistantTransfer,
        is_beyond: bool,
    ) {
        let DistantTransfer { transfer, head } = under_way;
        let to = self.far_end(transfer);
        let Role::Host(host) = self.0.nodes[to as usize].role else { return };
        let event = Event::Transfer { host, connection: transfer.connection };
        match self.0.layout.units.get(to as usize) {
            Some(&unit) if is_beyond => self.0.queue.push_beyond(unit, *head, event),
            _ => self.0.queue.push(*head, event),
        }
    }

    /// The host that a transfer goes to.
    fn far_end(&self, transfer: &NvlinkTransfer) -> NodeId {
        self.0.plan.connections[transfer.connection as usize].end(transfer.to).host
    }

    /// The first byte of a transfer is at a host.
    #[cold]
    pub(in crate::network) fn transfer_arrives(
        &mut self,
        key: EventKey,
        host: u32,
        connection: u32,
    ) {
        let (state, mut context) = with_host!(self.0, host, key);
        if let Some(what) = state.end_host.receive_by_nvlink(&mut context, connection) {
            state.digest = mix(state.digest ^ key.time.ps() ^ what.rotate_left(17));
        }
        self.0.after_host(key, host, false);
    }
}
