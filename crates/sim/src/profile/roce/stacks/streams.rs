//! A host's traffic that is of no workload: the ends of streams.

use rocelab_fabric::NodeId;
use rocelab_state::{Result, State};
use rocelab_transport::Offer;
use rocelab_transport::stack::{Role, StackHost, StackHostConfig, StreamCounts};
use rocelab_transport::tcp::SackBlocks;
use rocelab_units::SimTime;

use super::Stack;
use crate::Plan;
use crate::profile::{Departing, StackDeparture, StackFrame};

/// The ends of streams at a host.
#[derive(Debug)]
pub(in crate::profile::roce) struct HostStreams(StackHost);

impl HostStreams {
    /// Those of `node`, if it has any.
    pub(in crate::profile::roce) fn new(plan: &Plan, node: NodeId) -> Option<Self> {
        let streams = &plan.streams;
        let encapsulation_len = streams.encapsulation_len(plan.roce.tagged);
        let mut host = StackHost::new(StackHostConfig { encapsulation_len });
        for (number, stream) in (0u32..).zip(&streams.all) {
            let (role, peer) = match node {
                _ if node == stream.source => (Role::Source, stream.destination),
                _ if node == stream.destination => (Role::Destination, stream.source),
                _ => continue,
            };
            let way = (peer, streams.flow_hash(number, role));
            host.open((number, &stream.config), role, stream.period, way);
        }
        let has_any = host.counts().next().is_some();
        has_any.then_some(Self(host))
    }

    /// What was counted of each stream, by its number.
    pub(in crate::profile::roce) fn counts(&self) -> impl Iterator<Item = (u32, StreamCounts)> {
        self.0.counts()
    }

    /// Whether one has something left to send.
    pub(in crate::profile::roce) fn has_more(&self) -> bool {
        self.0.has_more()
    }
}

impl Stack for HostStreams {
    fn offer(&self, paused: u8) -> Offer {
        self.0.offer(paused)
    }

    fn is_ready(&self, paused: u8) -> bool {
        self.0.is_ready(paused)
    }

    fn poll_transmit(&mut self, now: SimTime, paused: u8) -> Option<StackDeparture> {
        let transmit = self.0.poll_transmit(now, paused)?;
        let frame = Departing {
            packet: StackFrame::Stream(transmit.packet),
            destination: transmit.destination,
            flow_hash: transmit.flow_hash,
            frame_len: transmit.frame_len,
        };
        Some(StackDeparture { frame, sack: None })
    }

    fn takes(&self, frame: &StackFrame) -> bool {
        matches!(frame, StackFrame::Stream(_))
    }

    fn receive(&mut self, _: &Plan, now: SimTime, frame: &StackFrame, _: Option<&SackBlocks>) {
        if let StackFrame::Stream(packet) = frame {
            self.0.receive(now, packet);
        }
    }

    fn poll_timeout(&self) -> SimTime {
        self.0.poll_timeout()
    }

    fn handle_timeout(&mut self, now: SimTime) {
        self.0.handle_timeout(now);
    }
}

impl State for HostStreams {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        self.0.save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        self.0.load(from)
    }
}
