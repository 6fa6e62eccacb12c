//! Who sends next on the port of a host: one scheduler over all stacks that share it, one a file, and
//! one line each in the list below.
//!
//! A host has a NIC, and may have TCP and [streams](crate::stack) beside it. Each stack [offers](Offer) what it has to send, by
//! priority, and the scheduler says whose [turn](Turn) it is, and with which priorities. Within a stack
//! and these priorities the order is the stack's own: in a NIC round robin among the queue pairs that
//! have something to send, window and pacing credit.

use core::fmt;

use rocelab_state::{Result, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The stacks of a host, the places of their offers: its NIC, its neighbours, its TCP, and its streams.
pub const STACKS: usize = 4;

/// What a stack has to send that is not paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Bit n: acknowledgements or notifications of priority n. They go before its data.
    pub control: u8,
    /// Bit n: data of priority n.
    pub data: u8,
    /// Frame bytes of data that have left so far.
    pub sent: u64,
}

impl Offer {
    /// Whether there is anything.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.control | self.data == 0
    }
}

/// Who sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The place of the stack.
    pub stack: usize,
    /// Bit n: what it sends may be of priority n.
    pub priorities: u8,
}

impl Turn {
    /// A stack with all that it has.
    #[must_use]
    pub const fn of(stack: usize) -> Self {
        Self { stack, priorities: u8::MAX }
    }
}

/// Makes modules, scenario key, JSON Schema and the list of schedulers. A scheduler is what its module's
/// `new` gives; one with parameters is written `Name(parameters: Parameters)`.
macro_rules! schedulers {
    ($($(#[$meta:meta])*
       $variant:ident $(($parameters:ident: $type:ident))? = $name:literal => $module:ident,)*) => {
        $(mod $module;)*

        /// How a host shares its port among its stacks and priorities.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
        )]
        pub enum HostSchedulerConfig {
            $($(#[$meta])* #[serde(rename = $name)] $variant $(($module::$type))?,)*
        }

        impl HostSchedulerConfig {
            /// Every registered scheduler with its default parameters, in the order of the list.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$variant $(($module::$type::default()))?,)*]
            }

            /// The name that a scenario uses.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $name,)* }
            }

            /// The scheduler of one host.
            pub fn build(&self) -> HostScheduler {
                HostScheduler(match self {
                    $(Self::$variant $(($parameters))? => {
                        Any::$variant($module::Scheduler::new($(*$parameters)?))
                    })*
                })
            }
        }

        #[derive(Debug)]
        enum Any {
            $($variant($module::Scheduler),)*
        }

        impl Any {
            #[inline]
            fn next(&mut self, offers: &[Offer; STACKS]) -> Option<Turn> {
                match self { $(Self::$variant(scheduler) => scheduler.next(offers),)* }
            }

            fn as_schedule(&self) -> &dyn Schedule {
                match self { $(Self::$variant(scheduler) => scheduler,)* }
            }

            fn as_schedule_mut(&mut self) -> &mut dyn Schedule {
                match self { $(Self::$variant(scheduler) => scheduler,)* }
            }
        }
    };
}

schedulers! {
    /// Among stacks by bytes, within each in turns, whatever the priorities.
    #[default]
    RoundRobin = "round-robin" => round_robin,
    /// The highest priority first; among stacks with the same, by bytes.
    StrictPriority = "strict-priority" => strict_priority,
    /// Strict priorities first; the others share by weight, as IEEE 802.1Q's enhanced transmission selection has it.
    Ets(parameters: Parameters) = "ets" => ets,
}

/// One scheduler.
trait Schedule: fmt::Debug + State {
    /// See [`HostScheduler::next`].
    fn next(&mut self, offers: &[Offer; STACKS]) -> Option<Turn>;

    /// See [`HostScheduler::minds_priorities`].
    fn minds_priorities(&self) -> bool {
        false
    }
}

/// The scheduler of one host.
#[derive(Debug)]
pub struct HostScheduler(Any);

impl HostScheduler {
    /// Whose turn it is; none if nobody offers anything.
    #[inline]
    pub fn next(&mut self, offers: &[Offer; STACKS]) -> Option<Turn> {
        self.0.next(offers)
    }

    /// Whether it minds priorities. Then it must also be asked where there is one stack, and after what
    /// pacing held back until now was [released](crate::Nic::release).
    pub fn minds_priorities(&self) -> bool {
        self.0.as_schedule().minds_priorities()
    }
}

impl State for HostScheduler {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        self.0.as_schedule().save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        self.0.as_schedule_mut().load(from)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn offer() -> impl Strategy<Value = Offer> {
        let some = || prop_oneof![Just(0), any::<u8>()];
        (some(), some(), 0..3_000_u64).prop_map(|(control, data, sent)| Offer {
            control,
            data,
            sent,
        })
    }

    proptest! {
        /// Whatever is chosen is there, control goes first, and the port is never idle for nothing.
        #[test]
        fn every_scheduler_keeps_the_port_busy(
            rounds in prop::collection::vec([offer(), offer(), offer(), offer()], 1..60)
        ) {
            for config in HostSchedulerConfig::all() {
                let mut scheduler = config.build();
                let mut sent = [0; STACKS];
                for round in &rounds {
                    let mut offers = *round;
                    for (offer, sent) in offers.iter_mut().zip(&mut sent) {
                        *sent += offer.sent;
                        offer.sent = *sent;
                    }
                    let Some(turn) = scheduler.next(&offers) else {
                        prop_assert!(offers.iter().all(Offer::is_empty), "{config:?}");
                        continue;
                    };
                    let chosen = offers[turn.stack];
                    let has_control = offers.iter().any(|offer| offer.control != 0);
                    prop_assert!(!has_control || offers.iter().filter(|one| !one.is_empty()).count() == 1
                        || chosen.control & turn.priorities != 0, "{config:?}");
                    prop_assert!((chosen.control | chosen.data) & turn.priorities != 0, "{config:?}");
                }
            }
        }
    }
}
