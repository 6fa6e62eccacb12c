//! The rates of ports over time, where failures change them.

use std::collections::BTreeMap;

use rocelab_fabric::Serialisation;
use rocelab_units::{Bandwidth, SimTime};

use super::{Network, PortView};
use crate::profile::Profile;

/// What the rates of ports were, for those of which they changed.
#[derive(Debug, Default)]
pub(super) struct LinkRates {
    by_port: BTreeMap<u32, PortRates>,
}

#[derive(Debug)]
struct PortRates {
    /// That of the link.
    usual: Bandwidth,
    /// Since when it had which rate, in order of time, from the start of the run on.
    since: Vec<(SimTime, Bandwidth)>,
}

impl LinkRates {
    /// From `now` on a port has the rate `after`, and `before` until then.
    pub(super) fn note(&mut self, port: u32, now: SimTime, before: Bandwidth, after: Bandwidth) {
        let first = || PortRates { usual: before, since: vec![(SimTime::ZERO, before)] };
        let rates = &mut self.by_port.entry(port).or_insert_with(first).since;
        match rates.last_mut() {
            Some(last) if last.0 == now => last.1 = after,
            _ => rates.push((now, after)),
        }
    }

    /// The mean rate of a port from one time to another, rounded down; none if it never changed, or
    /// there is no time between.
    fn mean(&self, port: u32, from: SimTime, to: SimTime) -> Option<Bandwidth> {
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

impl<P: Profile> Network<P> {
    /// The rate of a port, by its place among all, on average from one time to another.
    pub(super) fn mean_rate(&self, port: u32, from: SimTime, to: SimTime) -> Bandwidth {
        let now = || self.ports[port as usize].port.link().rate();
        self.link_rates.mean(port, from, to).unwrap_or_else(now)
    }

    /// The rate of a port that is here where no failure lowers it, and its mean from the start of the
    /// run to `now`.
    pub(crate) fn rates_until(
        &self,
        view: &PortView<'_, P>,
        now: SimTime,
    ) -> (Bandwidth, Bandwidth) {
        let port = self.nodes[view.node as usize].first_port + u32::from(view.number);
        let changed = self.link_rates.by_port.get(&port).map(|rates| rates.usual);
        let usual = changed.unwrap_or_else(|| view.port.link().rate());
        (usual, self.mean_rate(port, SimTime::ZERO, now))
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
        rates.note(7, at(100), fast, middle);
        rates.note(7, at(200), middle, slow);
        rates.note(7, at(200), slow, fast); // Two failures of one instant.
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
