//! Queue pairs that could send and do not. No law of congestion control asks for that, so it tells of a
//! fault in the model: a departure that was forgotten, or a pacing gap that does not follow the rate.
//!
//! Looks are at fixed times of the simulation, and cost nothing in between. A host is looked at where its
//! port is idle. A queue pair that is seen twice, and sent no data in between, waited from one look to the
//! next, whatever else left the port: if that was not paused, and had room.

mod backlogs;

use rocelab_fabric::{FlowControl, Serialisation};
use rocelab_transport::Backlog;
use rocelab_units::SimTime;

pub(in crate::network) use self::backlogs::{HostBacklogs, IdleBacklogs};
pub(crate) use self::backlogs::{IdleBacklog, every_nth_look};
use self::backlogs::{LEAST_SHARE, PortUse};
use super::core::Network;
use super::next_frames::held_at;
use super::node::Host;
use super::port::NetworkPort;
use crate::Plan;
use crate::profile::{Inspect, Profile};

/// A network that is searched for queue pairs that could send.
#[derive(Debug)]
pub(crate) struct BacklogSearch<'a, P: Profile> {
    plan: &'a Plan,
    hosts: &'a [Host<P>],
    ports: &'a [NetworkPort<P>],
    backlogs: &'a mut IdleBacklogs,
}

impl<P: Profile> Network<P> {
    /// A search of this part for queue pairs that could send.
    pub(crate) fn backlog_search(&mut self) -> BacklogSearch<'_, P> {
        let Self { plan, hosts, ports, features, .. } = self;
        BacklogSearch { plan, hosts, ports, backlogs: &mut features.idle_backlogs }
    }
}

impl<P: Profile> BacklogSearch<'_, P> {
    /// Looks at every host that is here, at `now`. Nothing happens anywhere before `until`.
    #[cold]
    pub(crate) fn look_for_idle_backlogs(&mut self, now: SimTime, until: SimTime) {
        let mut met = std::mem::take(&mut self.backlogs.met);
        for number in 0..u32::try_from(self.hosts.len()).unwrap_or(u32::MAX) {
            self.idle_backlogs_of(&self.hosts[number as usize], now, &mut met);
            if met.is_empty() {
                self.backlogs.forget_waiting(number);
                continue;
            }
            let port = &self.ports[self.hosts[number as usize].port as usize];
            let gaps = port.sent.frames * self.plan.gap_bytes();
            let (sent, paused) =
                (port.sent.bytes + gaps, port.port.flow_control().paused_time(now));
            let rate = port.port.link().rate();
            let seen = self.backlogs.by_host.entry(number).or_default();
            seen.look(PortUse { at: now, sent, paused }, rate, &met, until);
        }
        self.backlogs.met = met;
    }

    /// Fills `backlogs` with what could be sent at `now` by a host whose port is idle.
    fn idle_backlogs_of(&self, host: &Host<P>, now: SimTime, backlogs: &mut Vec<Backlog>) {
        backlogs.clear();
        let port = &self.ports[host.port as usize];
        let is_idle = port.port.free_at() <= now && host.down == 0 && port.link_is_up();
        if !is_idle || !host.end_host.has_backlogs() {
            return;
        }
        // Of a channel adapter, also service levels of whose lane a packet waits for credits.
        let paused = held_at::<P>(&port.port, self.plan);
        let line_rate = port.port.link().rate();
        let could_send = |backlog: &Backlog| {
            let rate = backlog.rate.bits_per_second();
            paused & 1 << backlog.priority == 0 && rate > line_rate.bits_per_second() / LEAST_SHARE
        };
        backlogs.extend(host.end_host.backlogs().filter(could_send));
        backlogs.sort_unstable_by_key(|backlog| backlog.qpn);
        backlogs.dedup_by_key(|backlog| backlog.qpn);
    }
}
