//! How a switch chooses among several shortest paths: one algorithm a file, and one line each in the
//! list below.
//!
//! With equal-cost multipath (ECMP), the default, a hash of the packet decides, and nothing else: the
//! simulator knows the port before the packet arrives ([`Routes::egress`](crate::Routes::egress)). Any
//! other algorithm has state in each switch, and decides as the packet arrives.

use core::fmt;

use rocelab_state::{Result, State, load_value, save_value, unfit};
use rocelab_units::SimTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::topology::NodeId;

/// Makes modules, scenario key, JSON Schema and the list of algorithms. Each has a type `Balancer` in its
/// module, which implements [`ChoosePort`] and `Default`. Those behind `other keys` are no values of this key: another key of the
/// scenario says them.
macro_rules! algorithms {
    (
        $($(#[$meta:meta])* $variant:ident = $name:literal => $module:ident,)*
        ; other keys:
        $($(#[$other_meta:meta])* $other:ident = $other_name:literal => $other_module:ident,)*
    ) => {
        $(mod $module;)*
        $(mod $other_module;)*

        /// The algorithm by which a switch chooses among several shortest paths.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
        )]
        pub enum LoadBalancing {
            /// A hash of the packet's addresses and entropy decides (ECMP).
            #[default]
            #[serde(rename = "ecmp")]
            Ecmp,
            $($(#[$meta])* #[serde(rename = $name)] $variant,)*
            $($(#[$other_meta])* #[serde(skip)] $other,)*
        }

        impl LoadBalancing {
            /// Every algorithm, in the order of the list.
            pub const ALL: &[Self] = &[Self::Ecmp, $(Self::$variant,)* $(Self::$other,)*];

            /// The name that a scenario uses.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::Ecmp => "ecmp",
                    $(Self::$variant => $name,)*
                    $(Self::$other => $other_name,)*
                }
            }

            /// The state of one switch; `None` with ECMP, which has none.
            pub fn balancer(self) -> Option<LoadBalancer> {
                match self {
                    Self::Ecmp => None,
                    $(Self::$variant => Some(LoadBalancer::$variant(Default::default())),)*
                    $(Self::$other => Some(LoadBalancer::$other(Default::default())),)*
                }
            }
        }

        /// The algorithm of one switch, with its state.
        #[derive(Debug)]
        pub enum LoadBalancer {
            $($(#[$meta])* $variant($module::Balancer),)*
            $($(#[$other_meta])* $other($other_module::Balancer),)*
        }

        impl LoadBalancer {
            /// The port by which the packet goes on: one of `choice.ports`; `None` if there is none. `waiting`
            /// gives the bytes that wait at a port, over all priorities, or on InfiniBand those of the packet's lane there and at the other
            /// end; `u32::MAX` at one that would drop the packet.
            #[inline]
            pub fn choose(&mut self, choice: Choice<'_>, waiting: impl Fn(u16) -> u32) -> Option<u16> {
                if let [] | [_] = choice.ports {
                    return choice.ports.first().copied();
                }
                let place = match self {
                    $(Self::$variant(balancer) => balancer.choose(choice, waiting),)*
                    $(Self::$other(balancer) => balancer.choose(choice, waiting),)*
                };
                choice.ports.get(place).copied()
            }

            /// The algorithm.
            pub const fn algorithm(&self) -> LoadBalancing {
                match self {
                    $(Self::$variant(_) => LoadBalancing::$variant,)*
                    $(Self::$other(_) => LoadBalancing::$other,)*
                }
            }
        }

        /// The algorithm is a setting: one is not loaded into another.
        impl State for LoadBalancer {
            fn save(&self, to: &mut Vec<u8>) -> Result {
                save_value(&self.algorithm().name(), to)?;
                match self {
                    $(Self::$variant(balancer) => balancer.save(to),)*
                    $(Self::$other(balancer) => balancer.save(to),)*
                }
            }

            fn load(&mut self, from: &mut &[u8]) -> Result {
                if load_value::<String>(from)? != self.algorithm().name() {
                    return Err(unfit("the load balancing of a switch"));
                }
                match self {
                    $(Self::$variant(balancer) => balancer.load(from),)*
                    $(Self::$other(balancer) => balancer.load(from),)*
                }
            }
        }
    };
}

algorithms! {
    /// Each packet takes the next port in turn, whatever its destination.
    RoundRobin = "round-robin" => round_robin,
    /// Each packet takes the port with the fewest bytes waiting; equal ones in turn.
    ShortestQueue = "shortest-queue" => shortest_queue,
    ; other keys:
    /// Adaptive routing of InfiniBand, packet by packet (`infiniband.sm.adaptive_routing`).
    AdaptiveGreedy = "adaptive-greedy" => adaptive_greedy,
    /// Adaptive routing of InfiniBand where a destination keeps its port for a while (`infiniband.sm.adaptive_routing`).
    AdaptiveBounded = "adaptive-bounded" => adaptive_bounded,
}

/// What a switch knows of a packet that it is to forward.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// When the packet arrives.
    pub now: SimTime,
    /// The hash of its addresses and entropy, as [`Routes::egress`](crate::Routes::egress) has it: the same
    /// for all packets of a flow, unless its sender gives them several entropies.
    pub flow_hash: u32,
    /// The host that it goes to.
    pub destination: NodeId,
    /// The ports of all shortest paths to its destination, ascending.
    pub ports: &'a [u16],
}

/// A load-balancing algorithm in one switch.
trait ChoosePort: fmt::Debug + State {
    /// The place in `choice.ports`, which has at least two, of the port that the packet takes. `waiting` gives the
    /// bytes that wait at a port; `u32::MAX` at one that would drop the packet.
    fn choose(&mut self, choice: Choice<'_>, waiting: impl Fn(u16) -> u32) -> usize;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_algorithm_chooses_one_of_the_ports_and_goes_on_where_it_was_saved() {
        for &algorithm in LoadBalancing::ALL {
            let Some(mut balancer) = algorithm.balancer() else { continue };
            let ports = [3, 5, 9];
            let choose = |balancer: &mut LoadBalancer, flow_hash| {
                let choice =
                    Choice { now: SimTime::ZERO, flow_hash, destination: 3, ports: &ports };
                let port = balancer.choose(choice, u32::from).expect("there are ports");
                assert!(ports.contains(&port), "{algorithm:?}");
                port
            };
            for flow_hash in 0..10 {
                choose(&mut balancer, flow_hash);
            }
            let mut saved = Vec::new();
            balancer.save(&mut saved).expect("it can be saved");
            let mut loaded = algorithm.balancer().expect("it has state");
            loaded.load(&mut &saved[..]).expect("it fits");
            for flow_hash in 0..10 {
                assert_eq!(choose(&mut balancer, flow_hash), choose(&mut loaded, flow_hash));
            }
        }
    }

    #[test]
    fn one_port_or_none_is_no_choice() {
        for algorithm in LoadBalancing::ALL {
            let Some(mut balancer) = algorithm.balancer() else { continue };
            let choice = |ports| Choice { now: SimTime::ZERO, flow_hash: 7, destination: 3, ports };
            assert_eq!(balancer.choose(choice(&[]), u32::from), None);
            assert_eq!(balancer.choose(choice(&[4]), u32::from), Some(4));
        }
    }
}
