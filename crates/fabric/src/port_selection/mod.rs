//! Which port of a server a flow uses, where a server has several: one rule a file, and one line each in the list below.

mod flow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use flow::ServerFlow;

/// Makes modules, scenario key, JSON Schema and the list of rules. Each has a function `select` in its module, which gives
/// the place of a port for a [`ServerFlow`].
macro_rules! rules {
    ($first:ident = $first_name:literal => $first_module:ident $(, $(#[$meta:meta])* $variant:ident = $name:literal => $module:ident)* $(,)?) => {
        mod $first_module;
        $(mod $module;)*

        /// How a flow chooses among the ports of a server.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
        )]
        pub enum PortSelection {
            /// Flows take the ports in turn, in the order of their list.
            #[default]
            #[serde(rename = $first_name)]
            $first,
            $($(#[$meta])* #[serde(rename = $name)] $variant,)*
        }

        impl PortSelection {
            /// Every rule, in the order of the list.
            pub const ALL: &[Self] = &[Self::$first, $(Self::$variant,)*];

            /// The name that a scenario uses.
            pub const fn name(self) -> &'static str {
                match self { Self::$first => $first_name, $(Self::$variant => $name,)* }
            }

            /// The place of the port that a flow takes, below `flow.ports`.
            pub fn select(self, flow: &ServerFlow) -> usize {
                let place = match self {
                    Self::$first => $first_module::select(flow),
                    $(Self::$variant => $module::select(flow),)*
                };
                place.min(flow.ports.saturating_sub(1))
            }
        }
    };
}

rules! {
    RoundRobin = "round-robin" => round_robin,
    /// A flow takes the port with the place of its other port, so that it stays on one rail.
    SameIndex = "same-index" => same_index,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_takes_a_port_that_is_there() {
        for &rule in PortSelection::ALL {
            for number in 0..20 {
                for ports in 1..5 {
                    for peer_port in [None, Some(0), Some(3), Some(70)] {
                        let flow = ServerFlow { number, ports, peer_port };
                        assert!(rule.select(&flow) < ports, "{rule:?} {flow:?}");
                    }
                }
            }
        }
    }
}
