//! Deadlock-free SSSP (DFSSSP): the ways of SSSP, on lanes that keep them from waiting for each other in a circle.
//!
//! All ways begin on the first lane. While there is a circle, all ways of that of its dependencies which had the fewest at
//! first move to the next lane; then that lane is searched.

use super::sssp;
use crate::channels::Channels;
use crate::dependencies::{ByPort, CycleSearch, Dependencies, Step, Successors};
use crate::subnet::Subnet;
use crate::tables::{ForwardingTables, ServiceLevels, Tables};
use crate::topology::NodeKind;

/// The tables of DFSSSP; else why `lanes` are not enough.
pub(super) fn route(subnet: &Subnet, lanes: u8) -> Result<Tables, String> {
    let forwarding = sssp::forwarding(subnet);
    let channels = Channels::new(subnet.graph());
    let flows = Flows::new(subnet, &forwarding);
    let mut levels = Levels::new(subnet);
    let mut members: Vec<u32> = (0..).take(flows.all.len()).collect();
    let mut lane = 0;
    while flows.have_cycle(&channels, &members) {
        lane += 1;
        if lane == lanes {
            return Err(super::too_few_lanes(lanes, |lanes| {
                Some(route(subnet, lanes).ok()?.lanes)
            }));
        }
        members = Layer::new(&channels, &flows, &members).free_of_cycles();
        for &flow in &members {
            levels.set(flows.all[flow as usize], lane);
        }
    }
    Ok(Tables { forwarding, service_levels: levels.into(), lanes: lane + 1 })
}

/// What all channel adapters of a switch send to an LID.
#[derive(Clone, Copy, Debug)]
struct Flow {
    from: u32,
    lid: u16,
    /// How many LIDs send.
    sources: u32,
}

/// All flows. As OpenSM does, we keep ways to switches free of circles too: they may need a lane more.
struct Flows<'s> {
    subnet: &'s Subnet,
    forwarding: &'s ForwardingTables,
    all: Vec<Flow>,
}

impl<'s> Flows<'s> {
    /// Flows in the order of the sweep: by target, then by source.
    fn new(subnet: &'s Subnet, forwarding: &'s ForwardingTables) -> Self {
        let mut sources: Vec<Flow> = Vec::new();
        let mut is_source = vec![false; subnet.graph().len()];
        for (index, end_port) in subnet.end_ports().iter().enumerate() {
            let Some(at) = subnet.graph().attachment(index) else { continue };
            let is_first = end_port.kind != NodeKind::Switch && !is_source[at.switch];
            let Some(from) = u32::try_from(at.switch).ok().filter(|_| is_first) else { continue };
            is_source[at.switch] = true;
            let sending = sssp::lids_at(subnet, at.switch) - 1;
            sources.push(Flow { from, lid: 0, sources: sending });
        }
        let lids = subnet.end_ports().iter().flat_map(|one| one.lids.iter());
        let flows = |lid| sources.iter().map(move |&source| Flow { lid, ..source });
        Self { subnet, forwarding, all: lids.flat_map(flows).collect() }
    }

    /// Tells `visit` each dependency of a flow: a channel, and the port by which it goes on.
    fn dependencies(&self, channels: &Channels, flow: u32, mut visit: impl FnMut(usize, u8)) {
        let Flow { from, lid, .. } = self.all[flow as usize];
        let mut last = None;
        self.forwarding.walk(self.subnet, from as usize, lid, |channel| {
            if let Some(last) = last {
                visit(last, channel.port);
            }
            last = Some(channels.number(channel));
        });
    }

    /// Whether some of the flows wait for each other in a circle.
    fn have_cycle(&self, channels: &Channels, members: &[u32]) -> bool {
        let mut dependencies = Dependencies::none(channels);
        for &flow in members {
            self.dependencies(channels, flow, |channel, port| {
                dependencies.add(channel, usize::from(port));
            });
        }
        let by_port = ByPort { channels, dependencies: &dependencies };
        CycleSearch::new(channels).next(&by_port).is_some()
    }
}

/// The service level of each flow.
struct Levels {
    lids: usize,
    levels: Vec<u8>,
}

impl Levels {
    fn new(subnet: &Subnet) -> Self {
        let lids = usize::from(subnet.last_lid()) + 1;
        Self { lids, levels: vec![0; subnet.graph().len() * lids] }
    }

    fn set(&mut self, flow: Flow, level: u8) {
        self.levels[flow.from as usize * self.lids + usize::from(flow.lid)] = level;
    }
}

impl From<Levels> for ServiceLevels {
    fn from(levels: Levels) -> Self {
        Self::BySwitchAndLid { lids: levels.lids, levels: levels.levels }
    }
}

/// What flows of a channel wait for.
#[derive(Debug)]
struct Dependency {
    port: u8,
    /// How many pairs of LIDs made it at first.
    pairs: u32,
    /// All flows that made it, and how many of them still do.
    flows: Vec<u32>,
    left: usize,
}

/// A lane with its flows.
struct Layer<'c> {
    channels: &'c Channels,
    flows: &'c Flows<'c>,
    /// For each channel, its dependencies, the newest last.
    dependencies: Vec<Vec<Dependency>>,
    is_member: Vec<bool>,
}

impl Successors for Layer<'_> {
    /// The newest come first.
    fn next_from(&self, channel: usize, position: usize) -> Option<(usize, usize)> {
        let all = self.dependencies[channel].iter().rev().enumerate().skip(position);
        let (position, found) = all.into_iter().find(|(_, one)| one.left > 0)?;
        Some((position, self.channels.next(channel, usize::from(found.port))))
    }

    fn has(&self, channel: usize, position: usize) -> bool {
        self.at(Step { channel, position }).is_some_and(|found| found.left > 0)
    }
}

impl<'c> Layer<'c> {
    fn new(channels: &'c Channels, flows: &'c Flows<'c>, members: &[u32]) -> Self {
        let mut dependencies: Vec<Vec<Dependency>> = Vec::new();
        dependencies.resize_with(channels.len(), Vec::new);
        let mut is_member = vec![false; flows.all.len()];
        for &flow in members {
            is_member[flow as usize] = true;
            let pairs = flows.all[flow as usize].sources;
            flows.dependencies(channels, flow, |channel, port| {
                let all = &mut dependencies[channel];
                match all.iter_mut().find(|one| one.port == port) {
                    Some(one) => one.add(flow, pairs),
                    None => all.push(Dependency { port, pairs, flows: vec![flow], left: 1 }),
                }
            });
        }
        Self { channels, flows, dependencies, is_member }
    }

    fn at(&self, step: Step) -> Option<&Dependency> {
        let all = &self.dependencies[step.channel];
        all.get(all.len().checked_sub(step.position + 1)?)
    }

    /// Takes flows away until there is no circle, and returns them in the order in which they were taken.
    fn free_of_cycles(mut self) -> Vec<u32> {
        let mut moved = Vec::new();
        let mut search = CycleSearch::new(self.channels);
        while let Some(cycle) = search.next(&self) {
            let dependencies = cycle.iter().filter_map(|&step| self.at(step));
            let weakest = dependencies.min_by_key(|one| one.pairs);
            let flows = weakest.map(|one| one.flows.clone()).unwrap_or_default();
            for flow in flows {
                if std::mem::replace(&mut self.is_member[flow as usize], false) {
                    self.remove(flow);
                    moved.push(flow);
                }
            }
        }
        moved
    }

    fn remove(&mut self, flow: u32) {
        self.flows.dependencies(self.channels, flow, |channel, port| {
            let mut all = self.dependencies[channel].iter_mut();
            if let Some(found) = all.find(|one| one.port == port) {
                found.left -= 1;
            }
        });
    }
}

impl Dependency {
    fn add(&mut self, flow: u32, pairs: u32) {
        self.pairs += pairs;
        self.flows.push(flow);
        self.left += 1;
    }
}
