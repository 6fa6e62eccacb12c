//! Fast CNPs: a switch notifies senders of congestion itself, when their packets will wait in a long queue.
//!
//! A receiver notifies only after a marked packet has left that queue and crossed the rest of the path. The switch
//! need not wait for that. Its notifications look like those of the receiver, so a sender needs nothing new; receivers
//! notify too, where queues mark.

use std::collections::BTreeMap;

use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Admit, Condition, IngressFlow, IngressFrame, InvalidIngress};

/// `[[ingress.fast_cnp]]`. RoCE v2 only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FastCnpParameters")]
pub struct Parameters {
    /// Ports of switches: `leaf-0:3`, or all of `leaf-0`.
    pub ports: Vec<String>,
    /// Bytes that wait in the egress queue of a data packet as it comes in, from which on its sender is notified. Above 0.
    pub threshold: Bytes,
    /// The shortest time between two notifications of one queue pair by one port, above 0. 50 us by default, as DCQCN's
    /// receivers.
    #[serde(default = "fifty_microseconds")]
    pub interval: Duration,
}

const fn fifty_microseconds() -> Duration {
    Duration::from_us(50)
}

impl Condition for Parameters {
    type AtPort = AtPort;

    const NOTIFIES: bool = true;
    const DROPS: bool = false;

    fn check(&self, _: u64) -> Result<(), InvalidIngress> {
        let invalid = |key, value, problem: &str, fix: &str| {
            Err(InvalidIngress { key, value, problem: problem.into(), fix: fix.into() })
        };
        if self.threshold == Bytes::ZERO {
            let problem = "all senders would be notified, with or without congestion";
            return invalid(
                "threshold",
                self.threshold.to_string(),
                problem,
                "give \"100KB\", say",
            );
        }
        if self.interval == Duration::ZERO {
            let problem = "every packet would make a notification";
            return invalid("interval", self.interval.to_string(), problem, "give \"50us\", say");
        }
        Ok(())
    }

    fn at_port(&self) -> AtPort {
        let &Self { threshold, interval, .. } = self;
        AtPort { threshold, interval, next: BTreeMap::new(), remembered: REMEMBERED }
    }
}

/// Who was notified at a port.
#[derive(Debug)]
pub struct AtPort {
    threshold: Bytes,
    interval: Duration,
    /// By flow: when it may be notified again. What is over may be left out.
    next: BTreeMap<IngressFlow, SimTime>,
    /// So many flows are remembered before those are forgotten that may be notified again.
    remembered: usize,
}

// A checkpoint has who was notified; the rest comes from the scenario.
rocelab_state::state!(AtPort { values: next; kept: threshold, interval, remembered });

/// [`AtPort::remembered`], at first.
const REMEMBERED: usize = 1_024;

impl Admit for AtPort {
    fn admits(&mut self, _: &IngressFrame) -> bool {
        true
    }

    fn notifies(&mut self, frame: &IngressFrame) -> bool {
        let Some(flow) = frame.flow else { return false };
        let waits = self.next.get(&flow).is_some_and(|&next| frame.now < next);
        if waits || u64::from(frame.egress_queue) < self.threshold.get() {
            return false;
        }
        if self.next.len() >= self.remembered {
            self.next.retain(|_, &mut next| next > frame.now);
            // Looking through all of them again soon would find few.
            self.remembered = REMEMBERED.max(2 * self.next.len());
        }
        self.next.insert(flow, frame.now.saturating_add(self.interval));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::frame;
    use super::*;

    fn parameters() -> Parameters {
        let threshold = Bytes::new(5_000);
        Parameters { ports: Vec::new(), threshold, interval: Duration::from_us(10) }
    }

    /// A data packet of a flow that finds so many bytes in its queue.
    fn data(us: u64, queue_pair: u32, egress_queue: u32) -> IngressFrame {
        let flow = IngressFlow { source: 1, destination: 2, queue_pair };
        IngressFrame { egress_queue, flow: Some(flow), ..frame(us * 1_000, 3) }
    }

    #[test]
    fn a_flow_is_notified_of_a_long_queue_once_in_an_interval() {
        let mut port = parameters().at_port();
        let mut notifies = |us, queued| port.notifies(&data(us, 7, queued));
        assert_eq!(
            [(0, 4_999), (1, 5_000), (2, 9_000)].map(|(us, queued)| notifies(us, queued)),
            [false, true, false]
        );
        assert_eq!([10, 11, 12].map(|us| notifies(us, 6_000)), [false, true, false]);
        // Another flow has an interval of its own.
        assert!(port.notifies(&data(12, 8, 5_000)));
    }

    #[test]
    fn what_carries_no_data_is_not_notified() {
        let mut port = parameters().at_port();
        assert!(!port.notifies(&IngressFrame { egress_queue: 90_000, ..frame(0, 3) }));
        assert!(port.admits(&data(0, 7, 90_000)));
    }

    #[test]
    fn flows_that_may_be_notified_again_are_forgotten() {
        let mut port = parameters().at_port();
        for queue_pair in 0..2_000 {
            assert!(port.notifies(&data(u64::from(queue_pair), queue_pair, 5_000)));
        }
        assert!(port.next.len() <= REMEMBERED);
        assert!(!port.notifies(&data(2_000, 1_999, 5_000)));
    }

    #[test]
    fn what_cannot_work_is_refused() {
        assert_eq!(parameters().check(1_500), Ok(()));
        let none = Parameters { threshold: Bytes::ZERO, ..parameters() };
        assert_eq!(none.check(1_500).unwrap_err().key, "threshold");
        let always = Parameters { interval: Duration::ZERO, ..parameters() };
        assert_eq!(always.check(1_500).unwrap_err().key, "interval");
    }
}
