//! Why a flow never began: nobody answered.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::text::time;
use crate::Plan;
use crate::network::{FlowEnd, FlowFailure};
use crate::scenario::IpVersion;

/// Who did not answer a flow that failed before it sent anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoAnswer {
    /// To which question.
    pub to: Question,
    /// Name of the node that was asked: the next hop, or the destination.
    pub node: String,
    /// How often it is asked, at the most: flows ask together, and a host whose link is down sends no question.
    pub requests: u16,
    /// From the flow's start until it gave up (ps). The first question may be older: flows share it.
    pub waited_ps: u64,
}

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// The MAC address, by ARP.
    Arp,
    /// The MAC address, by Neighbour Discovery.
    NeighbourDiscovery,
    /// A connection: REQ of the connection manager.
    Connection,
}

impl NoAnswer {
    /// That of a flow, if it failed so.
    pub(super) fn of(plan: &Plan, end: &FlowEnd, waited_ps: u64) -> Option<Self> {
        let flow = &plan.flows[end.flow as usize];
        let (to, node, requests) = match end.failure? {
            FlowFailure::AddressUnresolved => {
                let config = plan.roce.neighbours.as_ref()?;
                let way = (flow.source, flow.destination, !flow.is_tcp());
                let question = match config.ip {
                    IpVersion::Ipv4 => Question::Arp,
                    IpVersion::Ipv6 => Question::NeighbourDiscovery,
                };
                (question, config.asked(plan, way)?, config.attempts.into())
            }
            FlowFailure::ConnectionTimedOut => {
                let retries = plan.roce.connection_manager.as_ref()?.retries;
                (Question::Connection, flow.destination, u16::from(retries) + 1)
            }
            _ => return None,
        };
        let node = plan.topology.nodes[node as usize].name.clone();
        Some(Self { to, node, requests, waited_ps })
    }
}

impl Display for NoAnswer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { to, node, requests, waited_ps } = self;
        let plural = if *requests == 1 { "" } else { "s" };
        let (who, what, none) = match to {
            Question::Arp => ("Its next hop, ", "request", "by ARP for its MAC address"),
            Question::NeighbourDiscovery => {
                ("Its next hop, ", "solicitation", "of Neighbour Discovery for its MAC address")
            }
            Question::Connection => ("Its destination, ", "request", "for a connection (REQ)"),
        };
        let waited = time(*waited_ps);
        write!(
            f,
            "{who}{node}, did not answer in time to up to {requests} {what}{plural} {none}: the flow gave up \
             {waited} after its start, and nothing of it was sent."
        )
    }
}
