//! The stacks that share a host's port with its NIC: one file each, and one line in the list below.
//!
//! The host's [scheduler](rocelab_transport::HostScheduler) says whose turn it is. A host on which nobody uses
//! any of them has no [`Stacks`], and asks nothing.

use core::fmt;

use rocelab_fabric::NodeId;
use rocelab_state::{Result, State};
use rocelab_transport::tcp::SackBlocks;
use rocelab_transport::{Offer, STACKS};
use rocelab_units::{Bandwidth, SimTime};

use crate::profile::{AcceptedPayload, FlowProgress, StackDeparture, StackFrame};
use crate::record::HostEnd;
use crate::{FlowPlan, Plan};

/// The place of the NIC among the offers to the scheduler. The stacks of the list follow.
pub(super) const NIC: usize = 0;

/// Makes modules, and what a host does with each of its stacks.
macro_rules! stacks {
    ($($(#[$meta:meta])* $module:ident: $stack:ident,)*) => {
        $(mod $module;)*

        /// The stacks of a host beside its NIC.
        #[derive(Debug)]
        pub(super) struct Stacks {
            $($(#[$meta])* pub(super) $module: Option<$module::$stack>,)*
        }

        impl Stacks {
            /// Those that `node` has, if it has any.
            pub(super) fn new(plan: &Plan, node: NodeId) -> Option<Box<Self>> {
                let stacks = Self { $($module: $module::$stack::new(plan, node),)* };
                let has_any = stacks.all().next().is_some();
                has_any.then(|| Box::new(stacks))
            }

            /// Each that the host has: for what is not done with every frame.
            pub(super) fn all(&self) -> impl Iterator<Item = &dyn Stack> {
                [$(self.$module.as_ref().map(|stack| -> &dyn Stack { stack }),)*]
                    .into_iter()
                    .flatten()
            }

            /// The same, to change.
            pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut dyn Stack> {
                [$(self.$module.as_mut().map(|stack| -> &mut dyn Stack { stack }),)*]
                    .into_iter()
                    .flatten()
            }

            /// What each has to send, at its place.
            pub(super) fn offer(&self, paused: u8, offers: &mut [Offer; STACKS]) {
                let mut places = offers.iter_mut().skip(NIC + 1);
                $(if let (Some(place), Some(stack)) = (places.next(), &self.$module) {
                    *place = stack.offer(paused);
                })*
            }

            /// Whether any has something to send.
            pub(super) fn is_ready(&self, paused: u8) -> bool {
                $(self.$module.as_ref().is_some_and(|stack| stack.is_ready(paused)) ||)* false
            }

            /// The next frame of the one at a place, if its priority is among those in `paused` as little as
            /// `held`.
            pub(super) fn poll_transmit(
                &mut self,
                place: usize,
                now: SimTime,
                held: u8,
            ) -> Option<StackDeparture> {
                let mut at = NIC;
                $(
                    at += 1;
                    if at == place {
                        return self.$module.as_mut()?.poll_transmit(now, held);
                    }
                )*
                None
            }

            /// When the first of them wants to be woken.
            pub(super) fn poll_timeout(&self) -> SimTime {
                let first = SimTime::NEVER;
                $(let first = self.$module.as_ref().map_or(first, |one| first.min(one.poll_timeout()));)*
                first
            }

            /// It is `now`, perhaps earlier than they asked for.
            pub(super) fn handle_timeout(&mut self, now: SimTime) {
                $(if let Some(stack) = &mut self.$module {
                    stack.handle_timeout(now);
                })*
            }

            /// The next of their flows that has ended.
            pub(super) fn poll_end(&mut self, now: SimTime) -> Option<HostEnd> {
                $(if let Some(end) = self.$module.as_mut().and_then(|stack| stack.poll_end(now)) {
                    return Some(end);
                })*
                None
            }

            /// What they have accepted for applications since they were last asked.
            pub(super) fn poll_accepted(&mut self) -> Option<AcceptedPayload> {
                $(if let Some(accepted) = self.$module.as_mut().and_then(Stack::poll_accepted) {
                    return Some(accepted);
                })*
                None
            }

            /// A frame arrived for one of them.
            pub(super) fn receive(
                &mut self,
                plan: &Plan,
                now: SimTime,
                frame: &StackFrame,
                sack: Option<&SackBlocks>,
            ) {
                $(if let Some(stack) = &mut self.$module && stack.takes(frame) {
                    return stack.receive(plan, now, frame, sack);
                })*
            }
        }

        /// There is a place for each in the offers to the scheduler.
        const _: () = assert!([NIC, $({ let _ = stringify!($module); NIC }),*].len() <= STACKS);
    };
}

stacks! {
    /// ARP and Neighbour Discovery, where next hops are asked for.
    neighbours: HostNeighbours,
    /// TCP, for flows of workloads that ask for it.
    tcp: HostTcp,
    /// Traffic that is of no workload.
    streams: HostStreams,
}

/// A stack of a host. The second half is for stacks that carry flows of workloads.
pub(super) trait Stack: fmt::Debug + State {
    /// What it has to send that is not paused (bit p: priority p is).
    fn offer(&self, paused: u8) -> Offer;

    /// Whether it has something to send that is not paused.
    fn is_ready(&self, paused: u8) -> bool;

    /// The next frame. The transmitter is free.
    fn poll_transmit(&mut self, now: SimTime, paused: u8) -> Option<StackDeparture>;

    /// Whether a frame is one of its own.
    fn takes(&self, frame: &StackFrame) -> bool;

    /// A frame arrived that it takes.
    fn receive(&mut self, plan: &Plan, now: SimTime, frame: &StackFrame, sack: Option<&SackBlocks>);

    /// When it next wants [`handle_timeout`](Self::handle_timeout); [`SimTime::NEVER`] if it does not. Until
    /// then it sends nothing by itself.
    fn poll_timeout(&self) -> SimTime;

    /// It is `now`, perhaps earlier than it asked for.
    fn handle_timeout(&mut self, now: SimTime);

    /// Whether it carries a flow.
    fn carries(&self, flow: &FlowPlan) -> bool {
        _ = flow;
        false
    }

    /// A flow that it carries, and of which its host is one end, will start.
    fn expect(&mut self, number: u32, flow: &FlowPlan) {
        _ = (number, flow);
    }

    /// A flow that it carries starts here.
    fn start(&mut self, plan: &Plan, now: SimTime, number: u32) {
        _ = (plan, now, number);
    }

    /// The next of its flows that has ended.
    fn poll_end(&mut self, now: SimTime) -> Option<HostEnd> {
        _ = now;
        None
    }

    /// What it has accepted for applications since it was last asked.
    fn poll_accepted(&mut self) -> Option<AcceptedPayload> {
        None
    }

    /// How far a flow has come that started here, at a port of that rate.
    fn progress(&self, flow: &FlowPlan, line_rate: Bandwidth) -> Option<FlowProgress> {
        _ = (flow, line_rate);
        None
    }

    /// Frames that the source of a flow, this host, has sent again.
    fn retransmissions(&self, flow: &FlowPlan) -> u64 {
        _ = flow;
        0
    }
}

impl Stacks {
    /// The one that carries a flow, if it is not the NIC.
    pub(super) fn carrying(&self, flow: &FlowPlan) -> Option<&dyn Stack> {
        self.all().find(|stack| stack.carries(flow))
    }

    /// The same, to change.
    pub(super) fn carrying_mut(&mut self, flow: &FlowPlan) -> Option<&mut dyn Stack> {
        self.all_mut().find(|stack| stack.carries(flow))
    }
}

impl State for Stacks {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        self.all().try_for_each(|stack| stack.save(to))
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        self.all_mut().try_for_each(|stack| stack.load(from))
    }
}
