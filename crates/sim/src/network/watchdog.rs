//! Watchdogs of egress queues that are paused without end.

mod storms;

use std::sync::Arc;

use rocelab_engine::EventKey;
use rocelab_fabric::FlowControl;
use rocelab_units::{Duration, SimTime};

pub(in crate::network) use self::storms::{Storm, Watchdogs};
use super::core::Network;
use super::event::Event;
use super::failure::Failing;
use super::node::Role;
use crate::profile::Profile;
use crate::record::{QueueStorm, Record, RecordKind, StuckQueue};
use crate::scenario::{SwitchWatchdogConfig, WatchdogAction};

/// A network whose queues are watched for pauses without end.
#[derive(Debug)]
pub(super) struct Watching<'a, P: Profile>(pub(in crate::network) &'a mut Network<P>);

impl<P: Profile> Watching<'_, P> {
    /// The first look of the watchdogs, if there are any.
    pub(super) fn add_watchdogs(&mut self) {
        let Some(watchdog) = &self.0.plan.failures.switch_watchdog else { return };
        let time = SimTime::ZERO + watchdog.poll;
        let tie = self.0.reserve_outside();
        self.0.queue.push(EventKey { time, tie }, Event::Watchdog);
    }

    /// The watchdogs look at every egress queue, and come back after their interval.
    #[cold]
    pub(super) fn watchdog(&mut self, key: EventKey) {
        let plan = Arc::clone(&self.0.plan);
        let Some(watchdog) = &plan.failures.switch_watchdog else { return };
        self.end_storms(key, watchdog);
        for port in 0..u32::try_from(self.0.own_ports().len()).unwrap_or(u32::MAX) {
            self.find_storms(key, watchdog, port);
        }
        let tie = self.0.reserve_outside();
        self.0.queue.push(EventKey { time: key.time + watchdog.poll, tie }, Event::Watchdog);
    }

    fn find_storms(&mut self, key: EventKey, watchdog: &SwitchWatchdogConfig, port: u32) {
        let state = &self.0.ports[port as usize];
        let Role::Switch(_) = self.0.nodes[state.node as usize].role else { return };
        for waits_in in 0..8 {
            let known = |storm: &Storm| (storm.port, storm.queue) == (port, waits_in);
            let state = &self.0.ports[port as usize].port;
            if state.queued(waits_in) == 0 || self.0.failures.watchdogs.storms.iter().any(known) {
                continue;
            }
            let long = |priority: &u8| {
                let since = state.flow_control().paused_since(*priority);
                since.is_some_and(|since| key.time.since(since) >= watchdog.detect)
            };
            let of_queue = state.priorities_of(waits_in);
            let Some(priority) = (0..8).filter(|p| of_queue & 1 << p != 0).find(long) else {
                continue;
            };
            let storm =
                Storm { port, queue: waits_in, priority, since: key.time, quiet_since: None };
            self.0.failures.watchdogs.storms.push(storm);
            self.record_storm(key, port, priority, None);
            self.obey_watchdogs(key, watchdog.action, port);
        }
    }

    /// Queues whose pauses have ended are as they were.
    fn end_storms(&mut self, key: EventKey, watchdog: &SwitchWatchdogConfig) {
        let mut ended = Vec::new();
        let Network { failures, ports, .. } = self.0;
        failures.watchdogs.storms.retain_mut(|storm| {
            let port = &ports[storm.port as usize].port;
            if port.paused() & port.priorities_of(storm.queue) != 0 {
                storm.quiet_since = None;
                return true;
            }
            let quiet = *storm.quiet_since.get_or_insert(key.time);
            let over = key.time.since(quiet) >= watchdog.restore;
            if over {
                ended.push((storm.port, storm.priority, key.time.since(storm.since)));
            }
            !over
        });
        for (port, priority, lasted) in ended {
            self.record_storm(key, port, priority, Some(lasted));
            self.obey_watchdogs(key, watchdog.action, port);
        }
    }

    /// A port does with its queues what the watchdogs say.
    fn obey_watchdogs(&mut self, key: EventKey, action: WatchdogAction, port: u32) {
        let storms = self.0.failures.watchdogs.storms.iter().filter(|storm| storm.port == port);
        let mask = storms.fold(0, |mask, storm| mask | 1 << storm.queue);
        let state = &mut self.0.ports[port as usize].port;
        match action {
            WatchdogAction::Forward => {
                state.ignore_pauses(mask);
                self.0.pump(key, port);
            }
            WatchdogAction::Drop => {
                state.discard(mask);
                Failing(self.0).flush(key, port, mask, super::DropCause::Watchdog);
            }
        }
    }

    fn record_storm(&mut self, key: EventKey, port: u32, priority: u8, lasted: Option<Duration>) {
        let state = &self.0.ports[port as usize];
        let place = StuckQueue { node: state.node, port: state.number, priority };
        self.0.course.totals.storms += u64::from(lasted.is_none());
        let storm = QueueStorm { place, lasted };
        self.0.course.records.keep(place.node, Record { key, kind: RecordKind::Storm(storm) });
    }
}
