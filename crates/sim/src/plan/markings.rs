//! The code points of frames, by number, and which of them are sent.

use std::collections::{BTreeMap, BTreeSet};

use rocelab_fabric::NodeId;
use rocelab_transport::congestion_control::Feedback;
use rocelab_transport::{Marking, MarkingConfig};
use rocelab_units::Bandwidth;

use super::{FlowPlan, Plan};

/// The code points of all frames.
///
/// Packets have the number of theirs. Numbers 0 to 7 are those of frames of the priorities 0 to 7 of which nothing else says
/// anything.
#[derive(Clone, Debug)]
pub struct Markings {
    /// By number.
    all: Vec<Marking>,
    /// What classes say, by priority.
    pub(crate) classes: [MarkingConfig; 8],
    /// What hosts say of the RDMA frames of a priority.
    pub(crate) hosts: BTreeMap<(NodeId, u8), MarkingConfig>,
    /// What workloads say, by place; the first says nothing.
    pub(crate) workloads: Vec<MarkingConfig>,
    /// Hosts of RoCE v1 among others of v2.
    v1_hosts: BTreeSet<NodeId>,
    cnps: u8,
}

impl Markings {
    /// How many numbers there are.
    pub(crate) const NUMBERS: usize = 1 << u8::BITS;

    /// With what is asked for, of which only the classes' code points have numbers.
    pub(crate) fn new(
        classes: [MarkingConfig; 8],
        hosts: BTreeMap<(NodeId, u8), MarkingConfig>,
        workloads: Vec<MarkingConfig>,
        v1_hosts: BTreeSet<NodeId>,
    ) -> Self {
        let all = (0u8..).zip(&classes).map(|(priority, class)| class.of_priority(priority));
        Self { all: all.collect(), classes, hosts, workloads, v1_hosts, cnps: 0 }
    }

    /// All that have numbers, in their order.
    pub fn all(&self) -> &[Marking] {
        &self.all
    }

    /// The code points of a number.
    pub fn of(&self, number: u8) -> Marking {
        let missing = || MarkingConfig::default().of_priority(number & 0b111);
        self.all.get(usize::from(number)).copied().unwrap_or_else(missing)
    }

    /// The number of those of congestion notification packets.
    pub fn of_cnps(&self) -> u8 {
        self.cnps
    }

    /// Whether RDMA frames of one priority may differ.
    pub(crate) fn differ(&self) -> bool {
        self.workloads.len() > 1 || !self.hosts.is_empty() || !self.v1_hosts.is_empty()
    }

    /// The number of those of the frames of a queue pair at a host: what its workload says, else its host, else its class.
    pub fn of_queue_pair(&self, workload: u8, host: NodeId, priority: u8) -> u8 {
        if !self.differ() {
            return priority;
        }
        let marking = self.asked(workload, host, priority);
        let number = self.all.iter().position(|one| *one == marking);
        number.and_then(|number| u8::try_from(number).ok()).unwrap_or(priority)
    }

    /// The same, as code points.
    pub(crate) fn asked(&self, workload: u8, host: NodeId, priority: u8) -> Marking {
        let priority = priority & 0b111;
        let of_host = self.hosts.get(&(host, priority)).copied().unwrap_or_default();
        let of_workload = self.workloads.get(usize::from(workload)).copied().unwrap_or_default();
        let of_class = self.classes[usize::from(priority)];
        let marking = of_workload.or(&of_host).or(&of_class).of_priority(priority);
        Marking { has_ip: !self.v1_hosts.contains(&host), ..marking }
    }

    /// Gives code points a number, if there is one left.
    pub(crate) fn number(&mut self, marking: Marking) -> Option<u8> {
        let known = self.all.iter().position(|one| *one == marking);
        let number = u8::try_from(known.unwrap_or(self.all.len())).ok()?;
        if known.is_none() {
            self.all.push(marking);
        }
        Some(number)
    }

    /// Congestion notification packets have these.
    pub(crate) fn set_cnps(&mut self, number: u8) {
        self.cnps = number;
    }
}

/// The numbers of the code points of all frames of a plan's flows, connections, management and streams.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentMarkings {
    at_host: BTreeMap<NodeId, BTreeSet<u8>>,
    all: BTreeSet<u8>,
}

impl SentMarkings {
    /// Those of a plan.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut sent = Self::default();
        for flow in &plan.flows {
            let ends = [flow.source, flow.destination];
            let workload = if flow.is_tcp() { None } else { Some(flow.marking) };
            sent.add(ends, (flow.priority, workload), flow.queue_pairs, plan);
        }
        for (_, connection) in crate::plan::network_connections(plan) {
            let ends = connection.ends.map(|end| end.host);
            let class = (connection.priority, Some(connection.marking));
            sent.add(ends, class, connection.queue_pairs, plan);
        }
        if let Some(neighbours) = &plan.roce.neighbours {
            let number = BTreeSet::from([neighbours.marking]);
            // The MAC address of a group is asked of nobody.
            let to_one = |&(number, _): &(u32, &FlowPlan)| plan.group_of_flow(number).is_none();
            for (_, flow) in (0u32..).zip(&plan.flows).filter(to_one) {
                let way = (flow.source, flow.destination, !flow.is_tcp());
                let Some(asked) = neighbours.asked(plan, way) else { continue };
                // A router answers on the link of the host that asks, or a host itself.
                let answers = if plan.topology.is_host(asked) { asked } else { flow.source };
                sent.add_all([flow.source, answers], &number);
            }
        }
        if let Some(mesh) = &plan.monitoring {
            let priority = mesh.rules.priority;
            for &host in mesh.hosts.keys() {
                let number = plan.markings.of_queue_pair(0, host, priority);
                sent.add_all([host, host], &BTreeSet::from([number]));
            }
        }
        for stream in &plan.streams.all {
            let ends = [stream.source, stream.destination];
            sent.add_all(ends, &BTreeSet::from([stream.config.stream().priority]));
        }
        sent
    }

    /// What two hosts send to each other: data, what answers it, and messages about congestion.
    fn add(
        &mut self,
        ends: [NodeId; 2],
        (priority, workload): (u8, Option<u8>),
        queue_pairs: u32,
        plan: &Plan,
    ) {
        let profile = &plan.queue_pairs[queue_pairs as usize];
        let of_data = ends.map(|end| match workload {
            Some(workload) => plan.markings.of_queue_pair(workload, end, priority),
            None => priority,
        });
        let mut all = BTreeSet::from(of_data);
        // What kind it is does not depend on the line rate.
        let feedback = profile.congestion_control.feedback(Bandwidth::default());
        if matches!(feedback, Feedback::Cnp { .. }) || plan.switches_notify() {
            all.insert(profile.cnp_marking);
        }
        if profile.congestion_control.needs_qcn() {
            all.extend(notifications(plan));
        }
        if let Some(management) = &plan.roce.connection_manager {
            all.insert(management.priority);
        }
        self.add_all(ends, &all);
    }

    /// What two hosts send to each other has these.
    fn add_all(&mut self, ends: [NodeId; 2], all: &BTreeSet<u8>) {
        for number in all {
            self.all.insert(*number);
            for end in ends {
                self.at_host.entry(end).or_default().insert(*number);
            }
        }
    }

    /// Those of all frames, ascending.
    pub(crate) fn all(&self) -> impl Iterator<Item = u8> + '_ {
        self.all.iter().copied()
    }

    /// Those of what a host sends and receives, or of what may pass a switch, ascending.
    pub(crate) fn at(&self, plan: &Plan, node: NodeId) -> impl Iterator<Item = u8> + '_ {
        let is_switch = plan.topology.is_switch(node);
        let numbers = if is_switch { Some(&self.all) } else { self.at_host.get(&node) };
        numbers.into_iter().flatten().copied()
    }
}

/// Those of the messages of all congestion points.
fn notifications(plan: &Plan) -> BTreeSet<u8> {
    let adjacency = plan.topology.adjacency();
    let mut all = BTreeSet::new();
    for switch in plan.topology.switches() {
        let ports = (0u16..).zip(adjacency.ports_of(switch));
        all.extend(ports.map(|(port, _)| plan.cnm_priority(switch, port)));
    }
    all
}
