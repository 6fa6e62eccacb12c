//! Congestion control: one algorithm a file, one line each in the list at the end of this one.

mod dcqcn;
mod none;
mod timely;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes the scenario key, the JSON Schema, the help and the table of algorithms from one list.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $module:ident,)*) => {
        /// A congestion control with its parameters, as `[congestion_control.NAME]` gives them.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum Algorithm {
            $($(#[$doc])* #[serde(rename = $name)] $variant($module::Parameters),)*
        }

        impl Algorithm {
            /// The names that a scenario may use.
            pub const NAMES: &'static [&'static str] = &[$($name),*];
        }
    };
}

algorithms! {
    /// Packets leave at the line rate, or at a fixed one.
    None = "none" => none,
    /// DCQCN (Zhu et al., SIGCOMM 2015): ECN marks, CNPs, rate cuts and recovery.
    Dcqcn = "dcqcn" => dcqcn,
    /// TIMELY (Mittal et al., SIGCOMM 2015): the gradient of the round-trip time.
    Timely = "timely" => timely,
}
