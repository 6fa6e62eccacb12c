//! Congestion control: one algorithm a file, and one line each in the list below.
//!
//! An algorithm is a value that is told what happened ([`CongestionControl`]) and says how fast
//! its queue pair may send. It declares the [`Feedback`] that it needs, and the NIC collects that
//! and nothing else: no algorithm's name occurs outside its own file and its line in the list.
//!
//! Rates are whole bits per second to the outside. What algorithms compute in `f64` is made with
//! IEEE 754 operations only, so that every machine gets the same bits.

pub(crate) mod arithmetic;
pub(crate) mod checkpoint;
#[cfg(test)]
mod conformance;
mod delay;
mod external;
mod feedback;
mod interface;
mod late;
mod parameter;
mod reaction;
#[cfg(test)]
mod testing;
mod timers;

use rocelab_units::Bandwidth;
pub use rocelab_wire::EndpointReport;
use rocelab_wire::TelemetryKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use delay::Delay;
pub use external::{ControlFault, ExternalAlgorithm, Loaded, Slot};
pub use feedback::Feedback;
pub use interface::{Ack, CongestionControl, LossEvent, Path, Sent, Telemetry, control_seed};
pub(crate) use late::Late;
pub use parameter::InvalidParameter;
pub use timers::Timers;

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
    /// Patched TIMELY (Zhu et al., CoNEXT 2016): TIMELY with a reference delay.
    PatchedTimely = "patched-timely" => patched_timely,
    /// Swift (Kumar et al., SIGCOMM 2020): a window that keeps a target delay.
    Swift = "swift" => swift,
    /// DCTCP (Alizadeh et al., SIGCOMM 2010): the share of marked packets, as a rate.
    Dctcp = "dctcp" => dctcp,
    /// HPCC (Li et al., SIGCOMM 2019): the load that switches write into packets.
    Hpcc = "hpcc" => hpcc,
    /// HPCC over PINT (Ben Basat et al., SIGCOMM 2020): the highest load, in one number.
    HpccPint = "hpcc-pint" => hpcc_pint,
    /// QCN (IEEE 802.1Qau): switches sample their queues and notify senders at layer 2.
    Qcn = "qcn" => qcn,
    /// Congestion control of InfiniBand (IBTA Annex A10): FECN marks, and delays from a table.
    InfiniBand = "infiniband" => infiniband,
    /// A WebAssembly module that the user wrote.
    Wasm = "wasm" => wasm,
    /// A class of Python that the user wrote; only in runs that Python starts.
    Python = "python" => python,
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

    /// What results call it: its name, and of one that was loaded its own name behind it.
    pub fn label(&self) -> &str {
        self.loaded().map_or_else(|| self.name(), |loaded| loaded.0.label())
    }

    /// What tells it from other algorithms: its name, and of one that was loaded its identity too.
    pub fn identity(&self) -> String {
        match self.loaded() {
            Some(loaded) => format!("{} {}", self.name(), loaded.0.identity()),
            None => self.name().to_owned(),
        }
    }

    /// What was loaded, if it is an algorithm that is.
    pub fn loaded(&self) -> Option<&Loaded> {
        match self {
            Self::Wasm(parameters) => parameters.module.get(),
            Self::Python(parameters) => parameters.loaded.get(),
            _ => None,
        }
    }

    /// The same algorithm with the hash of its module and all values of the module's parameters, if it has one.
    #[must_use]
    pub fn pinned(&self) -> Self {
        match (self, self.loaded()) {
            (Self::Wasm(parameters), Some(loaded)) => Self::Wasm(parameters.pinned(loaded)),
            _ => self.clone(),
        }
    }

    /// The same algorithm for another run: nothing went wrong in it so far.
    #[must_use]
    pub fn for_run(&self) -> Self {
        match (self, self.loaded()) {
            (Self::Wasm(parameters), Some(loaded)) => {
                let module = Slot::of(loaded.0.for_run());
                Self::Wasm(wasm::Parameters { module, ..parameters.clone() })
            }
            (Self::Python(parameters), Some(loaded)) => {
                let loaded = Slot::of(loaded.0.for_run());
                Self::Python(python::Parameters { loaded, ..parameters.clone() })
            }
            _ => self.clone(),
        }
    }

    /// What went wrong in one of its controllers first, of those that are running.
    pub fn fault(&self) -> Option<ControlFault> {
        self.loaded()?.0.fault()
    }

    /// What it does, in a line.
    pub fn summary(&self) -> &'static str {
        self.descriptor().summary
    }

    /// Where it is published; empty if nowhere.
    pub fn reference(&self) -> &'static str {
        self.descriptor().reference
    }

    /// What it needs to be told, in a network whose hosts have ports of `line_rate`.
    pub fn feedback(&self, line_rate: Bandwidth) -> Feedback {
        self.definition().feedback(line_rate)
    }

    /// The same algorithm with every value that a preset gives to hosts whose ports have this rate.
    #[must_use]
    pub fn effective(&self, line_rate: Bandwidth) -> Self {
        self.definition().effective(line_rate).unwrap_or_else(|| self.clone())
    }

    /// Whether it can do nothing without ECN marks, which RoCE v1 does not have.
    pub fn needs_ecn(&self) -> bool {
        // What kind it is does not depend on the line rate.
        let feedback = self.feedback(Bandwidth::default());
        matches!(feedback, Feedback::Cnp { .. } | Feedback::EcnEcho)
    }

    /// Whether it can do nothing without the notifications of switches' congestion points, which
    /// do not leave a layer-2 domain.
    pub fn needs_qcn(&self) -> bool {
        // What kind it is does not depend on the line rate.
        self.feedback(Bandwidth::default()) == Feedback::Qcn
    }

    /// What switches must write into packets for it.
    pub fn telemetry(&self) -> Option<TelemetryKind> {
        // What kind it is does not depend on the line rate.
        self.feedback(Bandwidth::default()).telemetry()
    }

    /// Whether it counts hops by the hop limit of packets, which only routers take from.
    pub fn counts_hops(&self) -> bool {
        self.definition().counts_hops()
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// The first parameter that cannot work, why, and what to write instead.
    pub fn validate(&self) -> Result<(), InvalidParameter> {
        self.definition().validate()
    }

    /// A controller for one queue pair. Parameters that [`validate`](Self::validate) refuses give
    /// an undefined rate, but no panic.
    pub fn build(&self, path: &Path) -> Box<dyn CongestionControl> {
        self.definition().build(path)
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
    fn feedback(&self, line_rate: Bandwidth) -> Feedback;

    /// See [`Algorithm::validate`].
    fn validate(&self) -> Result<(), InvalidParameter>;

    /// See [`Algorithm::effective`]; `None` where nothing is left to a preset.
    fn effective(&self, line_rate: Bandwidth) -> Option<Algorithm> {
        let _ = line_rate;
        None
    }

    /// See [`Algorithm::counts_hops`].
    fn counts_hops(&self) -> bool {
        false
    }

    /// See [`Algorithm::build`].
    fn build(&self, path: &Path) -> Box<dyn CongestionControl>;
}
