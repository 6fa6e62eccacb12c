//! Batches as bytes, for parts of a network that are in another process.

use std::collections::BTreeSet;

use rocelab_engine::EventKey;
use rocelab_fabric::NodeId;
use rocelab_state::{BorshDeserialize, BorshSerialize, Result, load_value, save_value, unfit};
use rocelab_units::SimTime;

use super::{Batch, BatchOf};
use crate::network::multicast::is_to_group;
use crate::network::overview::Overview;
use crate::network::packet::{Body, Packet};
use crate::network::side::Company;
use crate::profile::roce::Roce;

/// A frame that has started on a link that is cut. What else a packet has is known at the other end.
#[derive(BorshSerialize, BorshDeserialize)]
struct SavedFrame<R> {
    /// The link, by its place among those that are cut, and when the frame arrives.
    crossed: (u32, EventKey),
    flow_hash: u32,
    destination: NodeId,
    source: NodeId,
    frame_len: u16,
    body: Body<R>,
}

/// What goes with the frames.
#[derive(BorshDeserialize)]
struct Rest<M> {
    company: Vec<(u32, Company)>,
    doomed: BTreeSet<u32>,
    messages: Vec<M>,
    first_arrival: SimTime,
}

impl<R: Copy + BorshSerialize, M: BorshSerialize> Batch<R, M> {
    /// Appends it.
    ///
    /// # Errors
    /// If a number is not one.
    pub(crate) fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self { frames, crossings, company, doomed, messages, first_arrival } = self;
        save_value(&(frames.len() as u64), to)?;
        for (frame, &crossed) in frames.iter().zip(crossings) {
            let &Packet { flow_hash, destination, source, frame_len, body, .. } = frame;
            save_value(
                &SavedFrame { crossed, flow_hash, destination, source, frame_len, body },
                to,
            )?;
        }
        save_value(&(company, doomed, messages, first_arrival), to)
    }
}

impl<R: BorshDeserialize + Copy, M: BorshDeserialize> Batch<R, M> {
    fn load(from: &mut &[u8]) -> Result<Self> {
        let mut batch = Self::default();
        for _ in 0..load_value::<u64>(from)? {
            let SavedFrame { crossed, flow_hash, destination, source, frame_len, body } =
                load_value(from)?;
            let mut packet = Packet::new(source, destination, frame_len, body);
            packet.flow_hash = flow_hash;
            batch.frames.push(packet);
            batch.crossings.push(crossed);
        }
        let Rest { company, doomed, messages, first_arrival } = load_value(from)?;
        Ok(Self { company, doomed, messages, first_arrival, ..batch })
    }
}

impl<'a> Overview<'a, Roce> {
    /// Takes a batch for this part from the beginning of `from`. All of it arrives after `window`.
    ///
    /// # Errors
    /// If there is none, or one that is not for this part.
    pub(crate) fn load_batch(self, from: &mut &[u8], window: SimTime) -> Result<BatchOf<Roce>> {
        let batch = BatchOf::<Roce>::load(from)?;
        // Frames of flow control go from one end of a link to the other, answers of routers come from there, and all else
        // goes from host to host.
        let (nodes, topology) = (self.0.nodes.len(), &self.0.plan.topology);
        let sendings = self.0.plan.sendings();
        let is_end = |node: NodeId, frame: &Packet<_>| {
            let may_be_switch =
                matches!(frame.body, Body::Control(_)) || frame.body.stays_in_domain();
            (node as usize) < nodes && (may_be_switch || topology.is_host(node))
        };
        let arrives = |(frame, &(link, arrival)): (&Packet<_>, &(u32, EventKey))| {
            (link as usize) < self.0.layout.part.cut().links().len()
                && self.0.layout.places.beyond(link).is_some()
                && arrival.time > window
                && is_end(frame.source, frame)
                && is_end(frame.destination, frame)
                && frame.body.names_nodes_of(nodes)
                && (!is_to_group(frame) || (frame.flow_hash as usize) < sendings)
        };
        let is_here = |node: NodeId| self.0.layout.part.has(node);
        let fits_here = |told: &_| self.0.shared.fits_here(&self.0.plan, told, (window, is_here));
        let mut frames = batch.frames.iter().zip(&batch.crossings);
        let fits = frames.all(arrives)
            && batch.company.is_sorted_by(|(one, _), (next, _)| one < next)
            && batch.company.iter().all(|(place, _)| (*place as usize) < batch.frames.len())
            && batch.messages.iter().all(fits_here);
        if fits { Ok(batch) } else { Err(unfit("frames for a part of the network")) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use rocelab_engine::Engine;
    use rocelab_fabric::topology::Partitioning;

    use super::super::super::{Cut, Part, Setting};
    use super::*;
    use crate::network::core::Network;
    use crate::network::crossing::Crossing;
    use crate::{Planning, Scenario};

    /// Telemetry goes beside packets, and messages say something.
    const SCENARIO: &str = "[topology.dumbbell]\nleft = 2\nright = 2\n\
         host_link = { rate = \"100Gbps\", cable = \"20m\" }\n\
         bottleneck = { rate = \"100Gbps\", cable = \"200m\" }\n[congestion_control.hpcc]\n\
         [workload.storage]\nclients = [\"host-0\"]\nservers = [\"host-2\"]\nblock = \"16KiB\"\n\
         read_fraction = 0.5\nqueue_depth = 8\noperations = 50\n";

    /// The second of two parts, batches for it as bytes, and the ends of the windows that they are of.
    fn batches() -> (Network<Roce>, Vec<(Vec<u8>, SimTime)>) {
        let scenario = Scenario::parse(SCENARIO, Path::new("t.toml"), &[]).unwrap();
        let plan = Arc::new(scenario.plan().unwrap());
        let cut = Cut::new(&plan, Partitioning::balanced(&plan.topology, 2));
        let setting = Setting::<Roce>::new(plan).unwrap();
        let mut parts =
            Part::all(&cut).map(|part| (Network::of_part(&setting, part).unwrap(), Engine::new()));
        let (mut first, mut engine) = parts.next().unwrap();
        let (second, _) = parts.next().unwrap();
        let mut batches = Vec::new();
        for window in (1..40).map(|number| SimTime::from_ps(number * 500_000)) {
            engine.run(&mut first, window, u64::MAX);
            for (to, batch) in Crossing(&mut first).take_batches() {
                assert_eq!(to, 1);
                let mut bytes = Vec::new();
                batch.save(&mut bytes).unwrap();
                batches.push((bytes, window));
            }
        }
        (second, batches)
    }

    #[test]
    fn batches_come_back() {
        let (network, batches) = batches();
        let (mut frames, mut company, mut messages) = (0, 0, 0);
        for (bytes, window) in &batches {
            let mut rest = &bytes[..];
            let batch = Overview(&network).load_batch(&mut rest, *window).unwrap();
            assert!(rest.is_empty());
            frames += batch.frames.len();
            company += batch.company.len();
            messages += batch.messages.len();
            let mut again = Vec::new();
            batch.save(&mut again).unwrap();
            assert_eq!(again, *bytes);
        }
        assert!(frames >= 8 && company >= 8 && messages >= 8, "{frames} {company} {messages}");
    }

    #[test]
    fn half_a_batch_is_refused() {
        let (network, batches) = batches();
        for (bytes, window) in &batches {
            for end in 0..bytes.len() {
                assert!(
                    Overview(&network).load_batch(&mut &bytes[..end], *window).is_err(),
                    "{end}"
                );
            }
        }
    }

    /// Any byte may be another one: what is taken in then names what there is.
    #[test]
    fn altered_bytes_name_nothing_that_is_not_there() {
        let (network, batches) = batches();
        let nodes = network.nodes.len();
        let (mut refused, mut taken) = (0, 0);
        for (bytes, window) in &batches {
            for place in 0..bytes.len() {
                let mut altered = bytes.clone();
                altered[place] ^= 0xff;
                let Ok(batch) = Overview(&network).load_batch(&mut &altered[..], *window) else {
                    refused += 1;
                    continue;
                };
                taken += 1;
                for (frame, &(link, arrival)) in batch.frames.iter().zip(&batch.crossings) {
                    assert!(network.layout.places.beyond(link).is_some() && arrival.time > *window);
                    assert!((frame.source as usize) < nodes);
                    assert!((frame.destination as usize) < nodes);
                }
            }
        }
        assert!(refused > 100 && taken > 100, "{refused} {taken}");
    }

    #[test]
    fn a_batch_of_a_window_before_is_refused() {
        let (network, batches) = batches();
        let late = SimTime::from_ps(u64::MAX - 1);
        let with_frames = batches.iter().filter(|(bytes, _)| bytes[0] > 0);
        for (bytes, _) in with_frames {
            assert!(Overview(&network).load_batch(&mut &bytes[..], late).is_err());
        }
    }
}
