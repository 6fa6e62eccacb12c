//! Watchdogs of egress queues that are paused without end.

use std::sync::Arc;

use rocelab_engine::EventKey;
use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Duration, SimTime};

use super::{Event, Network, QueueStorm, Record, RecordKind, Role, StuckQueue};
use crate::profile::Profile;
use crate::scenario::{SwitchWatchdogConfig, WatchdogAction};

/// The queues that watchdogs act on.
#[derive(Debug, Default)]
pub(super) struct Watchdogs {
    pub(super) storms: Vec<Storm>,
}

/// A queue in a storm.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct Storm {
    /// Among all ports.
    pub(super) port: u32,
    /// Its number.
    queue: u8,
    /// The priority whose pause lasted.
    priority: u8,
    since: SimTime,
    /// Since when it is not paused, if it is not.
    quiet_since: Option<SimTime>,
}

impl Storm {
    /// The same at the same port, by its place in another part.
    pub(super) fn at(self, port: u32) -> Self {
        Self { port, ..self }
    }

    /// By this, storms stand in the order in which they were found.
    pub(super) fn found(&self) -> (SimTime, u32, u8) {
        (self.since, self.port, self.queue)
    }
}

impl<P: Profile> Network<P> {
    /// The first look of the watchdogs, if there are any.
    pub(super) fn add_watchdogs(&mut self) {
        let Some(watchdog) = &self.plan.failures.switch_watchdog else { return };
        let time = SimTime::ZERO + watchdog.poll;
        let tie = self.reserve_outside();
        self.queue.push(EventKey { time, tie }, Event::Watchdog);
    }

    /// The watchdogs look at every egress queue, and come back after their interval.
    #[cold]
    pub(super) fn watchdog(&mut self, key: EventKey) {
        let plan = Arc::clone(&self.plan);
        let Some(watchdog) = &plan.failures.switch_watchdog else { return };
        self.end_storms(key, watchdog);
        for port in 0..u32::try_from(self.own_ports().len()).unwrap_or(u32::MAX) {
            self.find_storms(key, watchdog, port);
        }
        let tie = self.reserve_outside();
        self.queue.push(EventKey { time: key.time + watchdog.poll, tie }, Event::Watchdog);
    }

    fn find_storms(&mut self, key: EventKey, watchdog: &SwitchWatchdogConfig, port: u32) {
        let state = &self.ports[port as usize];
        let Role::Switch(_) = self.nodes[state.node as usize].role else { return };
        for waits_in in 0..8 {
            let known = |storm: &Storm| (storm.port, storm.queue) == (port, waits_in);
            let state = &self.ports[port as usize].port;
            if state.queued(waits_in) == 0 || self.watchdogs.storms.iter().any(known) {
                continue;
            }
            let long = |priority: &u8| {
                let since = state.paused_since(*priority);
                since.is_some_and(|since| key.time.since(since) >= watchdog.detect)
            };
            let of_queue = state.priorities_of(waits_in);
            let Some(priority) = (0..8).filter(|p| of_queue & 1 << p != 0).find(long) else {
                continue;
            };
            let storm =
                Storm { port, queue: waits_in, priority, since: key.time, quiet_since: None };
            self.watchdogs.storms.push(storm);
            self.record_storm(key, port, priority, None);
            self.obey_watchdogs(key, watchdog.action, port);
        }
    }

    /// Queues whose pauses have ended are as they were.
    fn end_storms(&mut self, key: EventKey, watchdog: &SwitchWatchdogConfig) {
        let mut ended = Vec::new();
        let Self { watchdogs, ports, .. } = self;
        watchdogs.storms.retain_mut(|storm| {
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
        let storms = self.watchdogs.storms.iter().filter(|storm| storm.port == port);
        let mask = storms.fold(0, |mask, storm| mask | 1 << storm.queue);
        let state = &mut self.ports[port as usize].port;
        match action {
            WatchdogAction::Forward => {
                state.ignore_pauses(mask);
                self.pump(key, port);
            }
            WatchdogAction::Drop => {
                state.discard(mask);
                self.flush(key, port, mask, super::DropCause::Watchdog);
            }
        }
    }

    fn record_storm(&mut self, key: EventKey, port: u32, priority: u8, lasted: Option<Duration>) {
        let state = &self.ports[port as usize];
        let place = StuckQueue { node: state.node, port: state.number, priority };
        self.totals.storms += u64::from(lasted.is_none());
        let storm = QueueStorm { place, lasted };
        self.records.keep(place.node, Record { key, kind: RecordKind::Storm(storm) });
    }
}
