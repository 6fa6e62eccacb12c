//! Congestion control: one algorithm a file, and one line each in the list below.
//!
//! An algorithm is a value that is told what happened ([`CongestionControl`]) and says how fast
//! its queue pair may send. It declares the [`Feedback`] that it needs, and the NIC collects that
//! and nothing else: no algorithm's name occurs outside its own file and its line in the list.
//!
//! Rates are `f64` bits per second inside algorithms, made with IEEE 754 operations only, so that
//! every machine gets the same bits.

#[cfg(test)]
mod conformance;

use core::fmt;

use rocelab_units::{Bandwidth, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes modules, scenario key, JSON Schema, help and the table of algorithms from one list.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $module:ident,)*) => {
        $(pub mod $module;)*

        /// A congestion control with its parameters, as `[congestion_control.NAME]` gives them.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum Algorithm {
            $($(#[$doc])* #[serde(rename = $name)] $variant($module::Parameters),)*
        }

        /// Every registered algorithm, in the order of the list.
        pub const DESCRIPTORS: &[Descriptor] = &[$(Descriptor {
            name: $name,
            summary: $module::SUMMARY,
            reference: $module::REFERENCE,
            default: || Algorithm::$variant($module::Parameters::default()),
        }),*];

        impl Algorithm {
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
    /// Packets leave at the line rate, or at a fixed one.
    None = "none" => none,
    /// DCQCN (Zhu et al., SIGCOMM 2015): ECN marks, CNPs, rate cuts and recovery.
    Dcqcn = "dcqcn" => dcqcn,
    /// TIMELY (Mittal et al., SIGCOMM 2015): the gradient of the round-trip time.
    Timely = "timely" => timely,
}

impl Algorithm {
    /// What runs where a scenario names none: on networks with ECN, and on those without.
    pub fn default_for(has_ecn: bool) -> Self {
        if has_ecn {
            Self::Dcqcn(dcqcn::Parameters::default())
        } else {
            Self::None(none::Parameters::default())
        }
    }
}

/// What is known of an algorithm without a scenario: for help, tables and tests.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The name that a scenario uses.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it is published; empty if nowhere.
    pub reference: &'static str,
    /// The algorithm with default parameters.
    pub default: fn() -> Algorithm,
}

impl Algorithm {
    /// Every registered algorithm with its default parameters.
    pub fn all_defaults() -> impl Iterator<Item = Self> {
        DESCRIPTORS.iter().map(|descriptor| (descriptor.default)())
    }

    /// What it does, in a line.
    pub fn summary(&self) -> &'static str {
        self.descriptor().summary
    }

    /// Where it is published; empty if nowhere.
    pub fn reference(&self) -> &'static str {
        self.descriptor().reference
    }

    /// What it needs to be told.
    pub fn feedback(&self) -> Feedback {
        self.definition().feedback()
    }

    /// Whether it can do nothing without ECN marks, which RoCE v1 does not have.
    pub fn needs_ecn(&self) -> bool {
        matches!(self.feedback(), Feedback::Cnp { .. } | Feedback::EcnEcho)
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// The first parameter that cannot work, why, and what to write instead.
    pub fn validate(&self) -> Result<(), InvalidParameter> {
        self.definition().validate()
    }

    /// A controller for one queue pair on a port of `line_rate`. Parameters that
    /// [`validate`](Self::validate) refuses give an undefined rate, but no panic.
    pub fn build(&self, line_rate: Bandwidth) -> Box<dyn CongestionControl> {
        self.definition().build(line_rate)
    }

    fn descriptor(&self) -> &'static Descriptor {
        let own = self.name();
        DESCRIPTORS.iter().find(|one| one.name == own).expect("the list made both")
    }
}

/// What each algorithm's `Parameters` say about it. Beside them its module has a `SUMMARY` and a
/// `REFERENCE`.
trait Definition {
    /// See [`Algorithm::feedback`].
    fn feedback(&self) -> Feedback;

    /// See [`Algorithm::validate`].
    fn validate(&self) -> Result<(), InvalidParameter>;

    /// See [`Algorithm::build`].
    fn build(&self, line_rate: Bandwidth) -> Box<dyn CongestionControl>;
}

/// The feedback that an algorithm needs. Both ends of a queue pair use the same algorithm, so the
/// receiving end knows what to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Feedback {
    /// None.
    None,
    /// The receiver answers packets that met congestion with CNPs:
    /// [`CongestionControl::on_cnp`].
    Cnp {
        /// The least time between two CNPs for a queue pair.
        min_interval: Duration,
    },
    /// Each acknowledgement, with a round-trip time where there is one:
    /// [`CongestionControl::on_ack`].
    Rtt,
    /// Each acknowledgement; its BECN bit says that a packet met congestion since the last one:
    /// [`CongestionControl::on_ack`].
    EcnEcho,
}

/// A rate controller of one queue pair. The NIC asks for `rate`, `window` and `poll_timeout`
/// after each call that may have changed them, and keeps the answers.
pub trait CongestionControl: fmt::Debug + Send {
    /// How fast data may leave, frame bytes with preamble and gap [bit/s]. A rate at or above the
    /// line rate means: no pacing.
    fn rate(&self) -> f64;

    /// How much payload may be unacknowledged (bytes); none is no limit. The last packet may
    /// exceed it.
    fn window(&self) -> Option<u64> {
        None
    }

    /// Something was acknowledged. Called if the [`Feedback`] is `Rtt` or `EcnEcho`.
    fn on_ack(&mut self, ack: &Ack) {
        _ = ack;
    }

    /// A congestion notification packet arrived. Called if the [`Feedback`] is `Cnp`.
    fn on_cnp(&mut self, now: SimTime) {
        _ = now;
    }

    /// Whether [`on_sent`](Self::on_sent) is to be called; asked once.
    fn counts_sent_bytes(&self) -> bool {
        false
    }

    /// A data packet begins to leave. Returns whether anything changed.
    fn on_sent(&mut self, sent: &Sent) -> bool {
        _ = sent;
        false
    }

    /// Something is sent again.
    fn on_loss(&mut self, loss: &LossEvent) {
        _ = loss;
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called; [`SimTime::NEVER`] if no
    /// timer runs. It changes only in calls to this controller.
    fn poll_timeout(&self) -> SimTime {
        SimTime::NEVER
    }

    /// Serves the timers that are due. Harmless when none is.
    fn handle_timeout(&mut self, now: SimTime) {
        _ = now;
    }
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When it arrived.
    pub now: SimTime,
    /// Payload that it newly acknowledges (bytes).
    pub acked_bytes: u64,
    /// From the start of the acknowledged packet's transmission to now; none if that packet was
    /// sent more than once.
    pub rtt: Option<Duration>,
    /// Whether the receiver saw congestion (only with [`Feedback::EcnEcho`]).
    pub ecn_echo: bool,
}

/// A departing data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The start of its transmission.
    pub now: SimTime,
    /// Its frame with FCS (bytes).
    pub bytes: u64,
}

/// A loss that the requester noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossEvent {
    /// When it was noticed.
    pub now: SimTime,
    /// Whether by the local ACK timeout, and not by a NAK or a gap.
    pub timeout: bool,
}

/// A parameter that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value} {problem}: {fix}")]
pub struct InvalidParameter {
    /// Its key within the algorithm's table.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What is wrong.
    pub problem: &'static str,
    /// What to write instead.
    pub fix: &'static str,
}

impl InvalidParameter {
    /// Refuses a value unless `holds`.
    fn unless(
        holds: bool,
        key: &'static str,
        value: &dyn fmt::Display,
        problem: &'static str,
        fix: &'static str,
    ) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { key, value: value.to_string(), problem, fix }) }
    }
}
