//! Which way packets take, as far as their sender decides: one policy a file, and one line each in the
//! list below.
//!
//! Networks with equal-cost paths hash a number in each packet that means nothing else: the UDP source
//! port of RoCE v2, the flow label of v1. A queue pair has as many of them as its policy asks for, and
//! the policy says for each data packet which of them it gets. Acknowledgements and notifications have
//! the first.

use core::fmt;

use rocelab_state::{Result, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Packet;
use crate::congestion_control::InvalidParameter;

/// Makes modules, scenario key, JSON Schema and the list of policies. A policy has a function `choice`,
/// which gives its state in a queue pair; one with parameters is written `Name(parameters: Parameters)`.
macro_rules! policies {
    ($($(#[$meta:meta])*
       $variant:ident $(($parameters:ident: $type:ident))? = $name:literal => $module:ident,)*) => {
        $(mod $module;)*

        /// Which numbers the packets of a queue pair have that equal-cost multipath goes by.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
        )]
        pub enum PathEntropy {
            $($(#[$meta])* #[serde(rename = $name)] $variant $(($module::$type))?,)*
        }

        impl PathEntropy {
            /// Every registered policy with its default parameters, in the order of the list.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$variant $(($module::$type::default()))?,)*]
            }

            /// The name that a scenario uses.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $name,)* }
            }

            const fn choice(&self) -> Choice {
                match self {
                    $(Self::$variant $(($parameters))? => {
                        Choice::$variant($module::choice($(*$parameters)?))
                    })*
                }
            }
        }

        /// The policy of one queue pair, and what it remembers.
        #[derive(Debug)]
        enum Choice {
            $($variant($module::Choice),)*
        }

        impl Choice {
            fn next(&mut self, packet: &Packet) -> u32 {
                match self { $(Self::$variant(choice) => choice.next(packet),)* }
            }

            fn policy(&self) -> &dyn Policy {
                match self { $(Self::$variant(choice) => choice,)* }
            }
        }

        impl State for Choice {
            fn save(&self, to: &mut Vec<u8>) -> Result {
                match self { $(Self::$variant(choice) => choice.save(to),)* }
            }

            fn load(&mut self, from: &mut &[u8]) -> Result {
                match self { $(Self::$variant(choice) => choice.load(from),)* }
            }
        }
    };
}

policies! {
    /// One number for all packets of a queue pair.
    #[default]
    QueuePair = "queue-pair" => queue_pair,
    /// So many numbers, of which each packet has the next.
    RoundRobin(parameters: Parameters) = "round-robin" => round_robin,
}

/// One policy in one queue pair.
trait Policy: fmt::Debug + State {
    /// See [`PathEntropy::validate`].
    fn validate(&self) -> core::result::Result<(), InvalidParameter> {
        Ok(())
    }

    /// See [`PathEntropy::numbers`]; it does not change.
    fn numbers(&self) -> u32;

    /// Which of the numbers a data packet gets that leaves now: a request, or read data. Below
    /// [`numbers`](Self::numbers).
    fn next(&mut self, packet: &Packet) -> u32;
}

impl PathEntropy {
    /// The most numbers of a queue pair: each takes 4 bytes, and networks have fewer equal paths.
    pub const MOST_NUMBERS: u32 = 256;

    /// How many numbers a queue pair has to choose from, at least 1.
    pub fn numbers(&self) -> u32 {
        self.choice().policy().numbers()
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// The first parameter that cannot work, why, and what to write instead.
    pub fn validate(&self) -> core::result::Result<(), InvalidParameter> {
        self.choice().policy().validate()
    }
}

/// The numbers of a queue pair that has several, and which of them is next.
#[derive(Debug)]
pub(crate) struct Spread {
    numbers: Box<[u32]>,
    choice: Choice,
}

rocelab_state::state!(Spread { states: choice; kept: numbers });

impl Spread {
    /// With the `first` number and `more`; none if the policy has no choice.
    pub(crate) fn new(policy: &PathEntropy, first: u32, more: &[u32]) -> Option<Self> {
        let others = (policy.numbers() as usize).saturating_sub(1).min(more.len());
        let numbers: Box<[u32]> = [first].iter().chain(&more[..others]).copied().collect();
        (others > 0).then(|| Self { numbers, choice: policy.choice() })
    }

    /// The number of a data packet that leaves now.
    pub(crate) fn next(&mut self, packet: &Packet) -> u32 {
        let place = self.choice.next(packet) as usize;
        self.numbers[place % self.numbers.len()]
    }
}

#[cfg(test)]
mod tests {
    use rocelab_wire::Opcode;

    use super::*;

    #[test]
    fn every_policy_keeps_to_its_numbers_and_goes_on_from_where_it_was() {
        for policy in PathEntropy::all() {
            policy.validate().expect("defaults can work");
            let mut choice = policy.choice();
            let mut saved = Vec::new();
            let opcodes = [Opcode::RcSendFirst, Opcode::RcSendMiddle, Opcode::RcSendLast];
            let packets = opcodes.map(|opcode| Packet::new(opcode, 0x11, 0));
            let next = |choice: &mut Choice, place: usize| choice.next(&packets[place % 3]);
            for place in 0..100 {
                assert!(next(&mut choice, place) < policy.numbers(), "{policy:?}");
            }
            choice.save(&mut saved).expect("numbers are numbers");
            let mut loaded = policy.choice();
            loaded.load(&mut saved.as_slice()).expect("it was just saved");
            for place in 100..200 {
                assert_eq!(next(&mut choice, place), next(&mut loaded, place), "{policy:?}");
            }
        }
    }
}
