//! What HPCC's ns-3 simulator makes of a flow.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_fabric::truncated_nanoseconds;
use rocelab_units::SimTime;

use crate::plan::FlowPlan;
use crate::scenario::{Fault, Transport, Verb, ensure};
use crate::workload::{Flow, FlowRules};

/// The source port of the first flow of a pair of hosts; each further one has the next.
const FIRST_SOURCE_PORT: u32 = 10_000;

/// Gives flows their ports, in the order in which they start.
#[derive(Debug, Default)]
pub(in crate::planning) struct Numbering {
    /// Flows so far from one host to another.
    counts: BTreeMap<(NodeId, NodeId), u32>,
}

impl Numbering {
    /// The flow with its ports, which starts at a whole nanosecond.
    pub(in crate::planning) fn number(&mut self, flow: &Flow) -> Result<FlowPlan, Fault> {
        check(flow)?;
        let count = self.counts.entry((flow.source, flow.destination)).or_default();
        let source_port = FIRST_SOURCE_PORT + *count;
        ensure(source_port <= u16::MAX.into(), || {
            let most = u32::from(u16::MAX) + 1 - FIRST_SOURCE_PORT;
            Fault::at("", format!("these two hosts have more than {most} flows"))
                .help("the source ports of HPCC's simulator end there: leave flows out")
        })?;
        *count += 1;
        Ok(FlowPlan {
            source: flow.source,
            destination: flow.destination,
            start: truncated(flow.start),
            bytes: flow.bytes,
            message_bytes: flow.bytes,
            transport: Transport::Rdma,
            verb: flow.verb,
            priority: flow.priority,
            source_qpn: 0,
            destination_qpn: 0,
            source_psn: 0,
            destination_psn: 0,
            entropy: source_port | u32::from(flow.port) << 16,
            queue_pairs: 0,
            marking: 0,
        })
    }
}

/// Whether the flow is one of HPCC's simulator, whatever the workload that it comes from.
fn check(flow: &Flow) -> Result<(), Fault> {
    ensure(flow.verb == Verb::Write, || {
        Fault::at("verb", "HPCC's simulator knows no other operation than a WRITE")
            .value(flow.verb.name())
            .help("use \"write\", or leave `verb` out")
    })?;
    FlowRules::HpccNs3.check_bytes("bytes", flow.bytes)?;
    FlowRules::HpccNs3.check_priority("priority", flow.priority)
}

/// A time as that simulator takes it, who reads seconds into a floating-point number and cuts
/// that off to nanoseconds. A quotient of two whole numbers that are exact is rounded as the text
/// of the quotient would be.
pub(in crate::planning) fn truncated(time: SimTime) -> SimTime {
    let seconds = time.ps() as f64 / 1e12;
    SimTime::from_ps(truncated_nanoseconds(seconds).saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(start: &str) -> Flow {
        Flow {
            source: 1,
            destination: 2,
            start: start.parse().unwrap(),
            bytes: 1_000,
            message_bytes: 1_000,
            verb: Verb::Write,
            priority: 3,
            port: 100,
            row: 0,
        }
    }

    #[test]
    fn ports_count_by_pair_of_hosts() {
        let mut numbering = Numbering::default();
        let mut entropy = |flow: &Flow| numbering.number(flow).unwrap().entropy;
        assert_eq!(entropy(&flow("2s")), 10_000 | 100 << 16);
        assert_eq!(entropy(&flow("2s")), 10_001 | 100 << 16);
        let back = Flow { source: 2, destination: 1, port: 7, ..flow("2s") };
        assert_eq!(entropy(&back), 10_000 | 7 << 16);
    }

    #[test]
    fn starts_are_cut_off_where_a_double_is_below_the_decimal() {
        let start = |text: &str| Numbering::default().number(&flow(text)).unwrap().start.ps();
        assert_eq!(start("2s"), 2_000_000_000_000);
        assert_eq!(start("2.0005s"), 2_000_500_000_000); // the double is above
        // 2.1 is 2.100000000000000088..., 2.3 is 2.299999999999999822...
        assert_eq!(start("2.1s"), 2_100_000_000_000);
        assert_eq!(start("2.3s"), 2_299_999_999_000);
    }

    #[test]
    fn other_operations_are_refused() {
        let read = Flow { verb: Verb::Read, ..flow("2s") };
        assert!(Numbering::default().number(&read).is_err());
    }
}
