//! Finds the two flows that are the two directions of one connection.
//!
//! A response has the PSN of the request that it answers. So the peer of its flow is one of the
//! flows with opposite addresses, and its requests contain that PSN. Stacks commonly use the same
//! UDP source port for both directions (Soft-RoCE does, see Linux `rdma_flow_label_to_udp_sport` in
//! `include/rdma/ib_verbs.h`), which decides if there are several.

use rocelab_wire::Psn;

use super::direction::{Flow, Pairing};

/// Number of flows between two addresses that are examined.
const LOOKED_AT: usize = 1_024;

/// The flow among `candidates` whose requests may be answered by `psn`, a response in flow `of`.
pub(super) fn find(
    flows: &[Flow],
    candidates: &[u32],
    of: u32,
    psn: Psn,
) -> Option<(u32, Pairing)> {
    let responses = &flows[of as usize];
    let mut open = 0;
    let (mut alike, mut alikes) = (None, 0);
    let (mut holding, mut holdings) = (None, 0);
    for &candidate in candidates.iter().take(LOOKED_AT) {
        let flow = &flows[candidate as usize];
        let taken = flow.peer.is_some_and(|(peer, _)| peer != of);
        if taken || !flow.requests.started() {
            continue;
        }
        open += 1;
        if responses.entropy.is_some() && flow.entropy == responses.entropy {
            (alike, alikes) = (Some(candidate), alikes + 1);
        }
        if flow.requests.contains(psn) {
            (holding, holdings) = (Some(candidate), holdings + 1);
        }
    }
    if let (Some(alike), 1) = (alike, alikes) {
        return Some((alike, Pairing::Certain));
    }
    let certainty = if open == 1 { Pairing::Certain } else { Pairing::Likely };
    holding.filter(|_| holdings == 1).map(|flow| (flow, certainty))
}
