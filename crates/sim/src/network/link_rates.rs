//! The rates of ports over time, where failures change them.

use std::collections::BTreeMap;

use rocelab_state::{BorshDeserialize, BorshSerialize};
use rocelab_units::{Bandwidth, SimTime};

/// What the rates of ports were, for those of which they changed.
#[derive(Debug, Default)]
pub(super) struct LinkRates {
    pub(super) by_port: BTreeMap<u32, PortRates>,
}

#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct PortRates {
    /// That of the link.
    pub(super) usual: Bandwidth,
    /// Since when it had which rate, in order of time, from the start of the run on.
    pub(super) since: Vec<(SimTime, Bandwidth)>,
    /// The frame that it sent as the rate changed: when that is over, and its rate, which stays.
    pub(super) under_way: (SimTime, Bandwidth),
}

/// How a link was used from the start of a run to some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkUse {
    /// Its rate where no failure lowers it.
    pub(crate) rate: Bandwidth,
    /// Its mean rate.
    pub(crate) mean: Bandwidth,
    /// What is not on it yet of a frame that is being sent, with the gap behind it (bytes). Of a byte
    /// that has begun nothing is on it, so that no link carries more than it can.
    pub(crate) unsent: u64,
}

impl LinkRates {
    /// The rate of a port at a time, if failures had lowered it; of events at that time those of failures
    /// come first.
    pub(super) fn lowered(&self, port: u32, time: SimTime) -> Option<Bandwidth> {
        let port = self.by_port.get(&port)?;
        let next = port.since.partition_point(|&(since, _)| since <= time);
        let (_, rate) = *port.since.get(next.checked_sub(1)?)?;
        (rate < port.usual).then_some(rate)
    }

    /// From `now` on a port has the rate `after`, and `before` until then; what it sends now is over at
    /// `free_at`.
    pub(super) fn note(
        &mut self,
        port: u32,
        (now, free_at): (SimTime, SimTime),
        before: Bandwidth,
        after: Bandwidth,
    ) {
        let first = || PortRates {
            usual: before,
            since: vec![(SimTime::ZERO, before)],
            under_way: (SimTime::ZERO, before),
        };
        let port = self.by_port.entry(port).or_insert_with(first);
        if port.under_way.0 != free_at {
            port.under_way = (free_at, before);
        }
        let rates = &mut port.since;
        match rates.last_mut() {
            Some(last) if last.0 == now => last.1 = after,
            _ => rates.push((now, after)),
        }
    }

    /// The rate of a port, on average from one time to another; `rate` if it never changed, or there is no time between.
    pub(super) fn mean_or(
        &self,
        port: u32,
        (from, to): (SimTime, SimTime),
        rate: Bandwidth,
    ) -> Bandwidth {
        self.mean(port, from, to).unwrap_or(rate)
    }

    /// The mean rate of a port from one time to another, rounded down; none if it never changed, or
    /// there is no time between.
    pub(super) fn mean(&self, port: u32, from: SimTime, to: SimTime) -> Option<Bandwidth> {
        let rates = &self.by_port.get(&port)?.since;
        let first = rates.partition_point(|&(since, _)| since <= from).saturating_sub(1);
        let mut sum = 0_u128; // In bits per second times picoseconds.
        for (place, &(since, rate)) in rates.iter().enumerate().skip(first) {
            if since >= to {
                break;
            }
            let until = rates.get(place + 1).map_or(to, |&(next, _)| next.min(to));
            let time = until.since(since.max(from)).ps();
            sum += u128::from(rate.bits_per_second()) * u128::from(time);
        }
        let mean = sum.checked_div(u128::from(to.since(from).ps()))?;
        Some(Bandwidth::from_bps(u64::try_from(mean).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    #[test]
    fn the_mean_is_over_what_the_rate_was() {
        let mut rates = LinkRates::default();
        let [slow, middle, fast] = [10, 40, 100].map(Bandwidth::from_gbps);
        rates.note(7, (at(100), at(110)), fast, middle);
        rates.note(7, (at(200), at(90)), middle, slow);
        rates.note(7, (at(200), at(90)), slow, fast); // Two failures of one instant.
        let gbps = |from, to| {
            rates.mean(7, at(from), at(to)).map(|mean| mean.bits_per_second() / 1_000_000_000)
        };
        assert_eq!((gbps(0, 50), gbps(100, 150), gbps(250, 300)), (Some(100), Some(40), Some(100)));
        assert_eq!((gbps(50, 150), gbps(190, 200)), (Some(70), Some(40)));
        assert_eq!(gbps(0, 300), Some(80));
        assert_eq!(gbps(100, 100), None);
        assert_eq!(rates.mean(8, at(0), at(9)), None);
    }
}
