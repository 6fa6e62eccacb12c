//! What a port of a switch asks of frames as they come in, before the switch forwards them: one condition a file, and
//! one line each in the list below. A frame that does not meet a condition is dropped, for a cause of the condition's name.
//! A condition may also have the switch notify the sender of congestion.

use core::fmt;

use rocelab_state::{
    BorshDeserialize, BorshSerialize, Result, State, load_value, save_value, unfit,
};
use rocelab_units::SimTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NodeId;

/// Makes modules, scenario keys, JSON Schema, saved state, and the causes by which results count dropped frames. A
/// condition has in its module `Parameters`, which have a field `ports` and implement [`Condition`], and `AtPort`, its
/// state at one port.
macro_rules! conditions {
    ($($(#[$meta:meta])* $variant:ident = $name:literal => $module:ident,)*) => {
        $(mod $module;)*

        /// `[ingress]`: conditions for frames that come in by ports of switches.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct IngressConfig {
            $(
                $(#[$meta])*
                #[serde(rename = $name, skip_serializing_if = "Vec::is_empty")]
                pub $module: Vec<$module::Parameters>,
            )*
        }

        impl IngressConfig {
            /// All of them, each with its key, such as `policer[0]`.
            pub fn conditions(&self) -> Vec<(String, IngressCondition)> {
                let all: [Vec<(String, IngressCondition)>; IngressCause::NAMES.len()] = [$(
                    (0..).zip(&self.$module).map(|(place, parameters): (usize, _)| {
                        let condition = IngressCondition::$variant(parameters.clone());
                        (format!("{}[{place}]", $name), condition)
                    }).collect(),
                )*];
                all.into_iter().flatten().collect()
            }
        }

        /// A condition as a scenario gives it.
        #[derive(Clone, Debug, PartialEq)]
        pub enum IngressCondition {
            $($(#[$meta])* $variant($module::Parameters),)*
        }

        impl IngressCondition {
            /// The ports that it is for, as they are named.
            pub fn ports(&self) -> &[String] {
                match *self { $(Self::$variant(ref parameters) => &parameters.ports,)* }
            }

            /// Checks every parameter but the ports, where frames have at most `largest_frame` bytes.
            ///
            /// # Errors
            /// The first parameter that cannot work, why, and what to write instead.
            pub fn check(&self, largest_frame: u64) -> core::result::Result<(), InvalidIngress> {
                match *self { $(Self::$variant(ref parameters) => parameters.check(largest_frame),)* }
            }

            /// Whether it may drop frames.
            pub fn drops(&self) -> bool {
                match *self { $(Self::$variant(_) => <$module::Parameters as Condition>::DROPS,)* }
            }

            /// Whether it may have the switch send congestion notification packets (CNPs).
            pub fn notifies(&self) -> bool {
                match *self { $(Self::$variant(_) => <$module::Parameters as Condition>::NOTIFIES,)* }
            }

            /// The state at one port.
            pub fn state(&self) -> IngressState {
                match *self {
                    $(Self::$variant(ref parameters) => IngressState::$variant(parameters.at_port()),)*
                }
            }
        }

        /// A condition at one port, with its state.
        #[derive(Debug)]
        pub enum IngressState {
            $($(#[$meta])* $variant($module::AtPort),)*
        }

        impl IngressState {
            /// What becomes of a frame that has come in.
            pub fn judge(&mut self, frame: &IngressFrame) -> IngressVerdict {
                match *self {
                    $(Self::$variant(ref mut state) => {
                        if !state.admits(frame) {
                            IngressVerdict::Drop(IngressCause::$variant)
                        } else if state.notifies(frame) {
                            IngressVerdict::Notify
                        } else {
                            IngressVerdict::Pass
                        }
                    })*
                }
            }

            /// Whether it may have the switch notify senders, so that it asks for a frame's flow and egress queue.
            pub fn may_notify(&self) -> bool {
                match *self { $(Self::$variant(_) => <$module::Parameters as Condition>::NOTIFIES,)* }
            }

            /// The cause by which results count what it refuses.
            pub fn cause(&self) -> IngressCause {
                match *self { $(Self::$variant(_) => IngressCause::$variant,)* }
            }
        }

        /// Which condition it is, is a setting: one is not loaded into another.
        impl State for IngressState {
            fn save(&self, to: &mut Vec<u8>) -> Result {
                save_value(&self.cause().name(), to)?;
                match *self { $(Self::$variant(ref state) => state.save(to),)* }
            }

            fn load(&mut self, from: &mut &[u8]) -> Result {
                if load_value::<String>(from)? != self.cause().name() {
                    return Err(unfit("the ingress conditions of a port"));
                }
                match *self { $(Self::$variant(ref mut state) => state.load(from),)* }
            }
        }

        /// Why a frame was dropped as it came in: the condition that it did not meet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
        pub enum IngressCause {
            $($(#[$meta])* $variant,)*
        }

        impl IngressCause {
            /// The names of all causes, in the order of the list.
            pub const NAMES: &[&str] = &[$($name,)*];

            /// The condition's name, as scenarios and results have it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

conditions! {
    /// Frames with priorities that are not for the port are dropped.
    AccessList = "access_list" => access_list,
    /// What comes in faster than a rate, beyond a burst, is dropped.
    Policer = "policer" => policer,
    /// Senders whose packets will wait in a long queue are notified of congestion by the switch.
    FastCnp = "fast_cnp" => fast_cnp,
}

/// A condition's parameters.
trait Condition {
    /// What it knows at one port.
    type AtPort: Admit;

    /// Whether it may have the switch send congestion notification packets (CNPs).
    const NOTIFIES: bool = false;

    /// Whether it may drop frames.
    const DROPS: bool = true;

    /// See [`IngressCondition::check`].
    ///
    /// # Errors
    /// The first parameter that cannot work.
    fn check(&self, largest_frame: u64) -> core::result::Result<(), InvalidIngress>;

    /// The state at one port, before any frame.
    fn at_port(&self) -> Self::AtPort;
}

/// A condition at one port.
trait Admit: fmt::Debug + State {
    /// Whether a frame meets it.
    fn admits(&mut self, frame: &IngressFrame) -> bool;

    /// Whether the sender of a frame that meets it is notified of congestion; only of frames that have a
    /// [flow](IngressFrame::flow).
    fn notifies(&mut self, frame: &IngressFrame) -> bool {
        let _ = frame;
        false
    }
}

/// What becomes of a frame that has come in by a port with a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngressVerdict {
    /// It goes on.
    Pass,
    /// It goes on, and the switch sends a congestion notification packet (CNP) to the queue pair that has sent it.
    Notify,
    /// It is dropped.
    Drop(IngressCause),
}

/// What a port knows of a frame that comes in.
#[derive(Clone, Copy, Debug)]
pub struct IngressFrame {
    /// When its last bit arrives; where it is cut through, its first 64 bytes.
    pub now: SimTime,
    /// Its priority as it comes in, 0 to 7.
    pub priority: u8,
    /// Its bytes, FCS included, preamble and gap not.
    pub len: u32,
    /// Bytes that wait where it will wait too: in the queue of its priority at the port by which it goes on. A switch that
    /// has yet to choose among several ports takes the shortest of their queues. 0 where no condition of the port
    /// [notifies](IngressState::may_notify).
    pub egress_queue: u32,
    /// The flow of packets that it belongs to, if it carries data of a queue pair and a condition of the port
    /// [notifies](IngressState::may_notify).
    pub flow: Option<IngressFlow>,
}

/// The packets of a queue pair, from its sender's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub struct IngressFlow {
    /// The host that sends.
    pub source: NodeId,
    /// The host that receives.
    pub destination: NodeId,
    /// The number of the receiving queue pair.
    pub queue_pair: u32,
}

/// A parameter that cannot work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidIngress {
    /// Its key within the condition's table.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub fix: String,
}

/// Checks that `key` names priorities, and only such as there are.
fn check_priorities(
    key: &'static str,
    priorities: &[u8],
) -> core::result::Result<(), InvalidIngress> {
    let (problem, fix) = match priorities.iter().find(|&&priority| priority > 7) {
        Some(other) => (format!("{other} is no priority"), "give 0 to 7"),
        None if priorities.is_empty() => {
            ("that selects no priorities".into(), "name priorities from 0 to 7")
        }
        None => return Ok(()),
    };
    Err(InvalidIngress { key, value: format!("{priorities:?}"), problem, fix: fix.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of 1,000 bytes that comes in at `ns`, of no flow, to an empty queue.
    pub(super) fn frame(ns: u64, priority: u8) -> IngressFrame {
        let now = SimTime::from_ps(ns * 1_000);
        IngressFrame { now, priority, len: 1_000, egress_queue: 0, flow: None }
    }
}
