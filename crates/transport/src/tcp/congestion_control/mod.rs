//! Congestion control of TCP: one algorithm a file, and one line each in the list below.
//!
//! An algorithm is a value that is told of acknowledgements and of congestion
//! ([`TcpCongestionControl`]) and says how much may be in flight. What to send, and what is lost,
//! is none of its business. What algorithms compute in `f64` is made with IEEE 754 operations and
//! `libm` only, so that every machine gets the same bits.

#[cfg(test)]
mod conformance;
mod interface;
mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::interface::{
    EcnEcho, TcpAck, TcpCongestion, TcpCongestionControl, TcpCongestionKind, TcpPath,
};
use crate::congestion_control::InvalidParameter;

/// Makes modules, scenario key, JSON Schema and the table of algorithms from one list.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $module:ident,)*) => {
        $(pub mod $module;)*

        /// A congestion control of TCP with its parameters.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum TcpAlgorithm {
            $($(#[$doc])* #[serde(rename = $name)] $variant($module::Parameters),)*
        }

        /// Every registered algorithm, in the order of the list.
        pub const TCP_DESCRIPTORS: &[TcpDescriptor] = &[$(TcpDescriptor {
            name: $name,
            summary: $module::SUMMARY,
            reference: $module::REFERENCE,
            default: || TcpAlgorithm::$variant($module::Parameters::default()),
        }),*];

        impl TcpAlgorithm {
            /// The names that a scenario may use.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The name that a scenario uses.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            fn definition(&self) -> &dyn Definition {
                match self { $(Self::$variant(parameters) => parameters,)* }
            }
        }
    };
}

algorithms! {
    /// Reno (RFC 5681): the window halves on loss, and grows by a segment a round trip.
    Reno = "reno" => reno,
    /// CUBIC (RFC 9438): the window grows by a cubic function of the time since the last loss.
    Cubic = "cubic" => cubic,
    /// DCTCP (RFC 8257): the window falls by the share of marked bytes.
    Dctcp = "dctcp" => dctcp,
}

/// What Linux runs where nothing else is asked for.
impl Default for TcpAlgorithm {
    fn default() -> Self {
        Self::Cubic(cubic::Parameters::default())
    }
}

/// What is known of an algorithm without a scenario: for help, tables and tests.
#[derive(Clone, Copy, Debug)]
pub struct TcpDescriptor {
    /// The name that a scenario uses.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it is published.
    pub reference: &'static str,
    /// The algorithm with default parameters.
    pub default: fn() -> TcpAlgorithm,
}

impl TcpAlgorithm {
    /// Every registered algorithm with its default parameters.
    pub fn all_defaults() -> impl Iterator<Item = Self> {
        TCP_DESCRIPTORS.iter().map(|descriptor| (descriptor.default)())
    }

    /// How receivers echo marks to it.
    pub fn echo(&self) -> EcnEcho {
        self.definition().echo()
    }

    /// Whether its connections always use ECN.
    pub fn needs_ecn(&self) -> bool {
        self.echo() == EcnEcho::EachSegment
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// The first parameter that cannot work, why, and what to write instead.
    pub fn validate(&self) -> Result<(), InvalidParameter> {
        self.definition().validate()
    }

    /// A controller for one connection.
    pub fn build(&self, path: &TcpPath) -> Box<dyn TcpCongestionControl> {
        self.definition().build(path)
    }
}

/// What each algorithm's `Parameters` say about it. Beside them its module has a `SUMMARY` and a
/// `REFERENCE`.
trait Definition {
    /// See [`TcpAlgorithm::echo`].
    fn echo(&self) -> EcnEcho {
        EcnEcho::UntilCwr
    }

    /// See [`TcpAlgorithm::validate`].
    fn validate(&self) -> Result<(), InvalidParameter> {
        Ok(())
    }

    /// See [`TcpAlgorithm::build`].
    fn build(&self, path: &TcpPath) -> Box<dyn TcpCongestionControl>;
}
