//! How lost packets are sent again: one scheme a file, and one line each in the list below.
//!
//! A scheme is composed of policies. The requester either goes back to what was lost and sends all
//! again from there, or keeps an account of what arrived ([`Arrivals`]) and repeats what is missing.
//! The responder either drops what comes early, or keeps it until its turn ([`ReorderBuffer`]).
//! Each scheme says in its own file which of them it has, and with which limits.

mod arrivals;
mod reorder;

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::arrivals::Arrivals;
pub(crate) use self::reorder::{Held, ReorderBuffer};
use crate::congestion_control::InvalidParameter;
use crate::sequence::Sequence;
use crate::{QueuePairProfile, RetransmissionTimeouts};

/// Makes modules, scenario key, JSON Schema and the list of schemes, which the tests of what every
/// scheme must do go through. A scheme has a function `rules`; one with parameters is written
/// `Name(parameters: Parameters)`.
macro_rules! schemes {
    ($($(#[$meta:meta])*
       $variant:ident $(($parameters:ident: $type:ident))? = $name:literal => $module:ident,)*) => {
        $(mod $module;)*

        /// How a reliable connection recovers from loss.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Recovery {
            $($(#[$meta])* #[serde(rename = $name)] $variant $(($module::$type))?,)*
        }

        impl Recovery {
            /// Every registered scheme with its default parameters, in the order of the list.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$variant $(($module::$type::default()))?,)*]
            }

            /// The name that a scenario uses.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $name,)* }
            }

            /// The scheme's rules. They are asked only when something was lost; what every packet
            /// needs is asked once, at set-up.
            pub(crate) fn reliability(&self) -> Box<dyn Reliability> {
                match self {
                    $(Self::$variant $(($parameters))? => {
                        Box::new($module::rules($(*$parameters)?))
                    })*
                }
            }
        }
    };
}

schemes! {
    /// Everything from the lost packet on is sent again.
    #[default]
    GoBackN = "go-back-n" => go_back_n,
    /// The whole message is sent again from its first packet (SIGCOMM'16, section 4.1).
    GoBackZero = "go-back-0" => go_back_zero,
    /// Only what is missing is sent again (IRN, SIGCOMM'18).
    SelectiveRepeat = "selective-repeat" => selective_repeat,
    /// Only what is missing is sent again, once many later packets arrived: for several paths.
    Reordering(parameters: Parameters) = "reordering" => reordering,
}

impl Recovery {
    /// Whether the requester repeats only what is missing. Then every packet asks for an
    /// acknowledgement, there may be two timeouts, and what is in flight is limited to the
    /// bandwidth-delay product unless somebody says otherwise.
    pub fn is_selective(&self) -> bool {
        self.reliability().selection().is_some()
    }

    /// Packets by which one may be overtaken before it is taken for lost; 0 if any that overtakes it says so.
    pub fn tolerance(&self) -> u32 {
        self.reliability().selection().map_or(0, |selection| selection.tolerance)
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// The first parameter that cannot work, why, and what to write instead.
    pub fn validate(&self) -> Result<(), InvalidParameter> {
        self.reliability().validate()
    }
}

/// The rules of one recovery scheme, for both ends of a connection. Those of go-back-N, where a
/// scheme says nothing else.
pub(crate) trait Reliability: fmt::Debug + Send + Sync {
    /// See [`Recovery::validate`].
    fn validate(&self) -> Result<(), InvalidParameter> {
        Ok(())
    }

    /// Whether packets that arrived in order stay arrived when a later packet of their message is
    /// lost. If not, the responder takes the first packet of an unfinished message as its restart,
    /// and acknowledgements inside a message do not move the requester on.
    fn keeps_partial_messages(&self) -> bool {
        true
    }

    /// Requester: how it finds what is missing, to repeat nothing else; none: it goes back.
    fn selection(&self) -> Option<Selection> {
        None
    }

    /// Responder: what it keeps of what arrives out of order, of a requester with so many packets in
    /// flight at the most; none: it drops all of that, and asks for the packet that it expects.
    fn early_packets(&self, max_outstanding: u32) -> Option<EarlyPackets> {
        _ = max_outstanding;
        None
    }

    /// Requester without [`selection`](Self::selection): where to resume sending.
    fn resend_from(&self, loss: &Loss) -> Sequence {
        loss.lost
    }

    /// Responder without [`early_packets`](Self::early_packets): which packet to expect (and to ask
    /// for) after one was skipped.
    fn expect_after_gap(&self, gap: &Gap) -> Sequence {
        gap.expected
    }
}

/// How a requester finds what is missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    /// Packets by which one may be overtaken before it is taken for lost.
    pub(crate) tolerance: u32,
}

/// What a responder keeps of what arrives out of order. It says in a selective acknowledgement what
/// is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyPackets {
    /// How far ahead a packet may be that is kept; what is farther is dropped without a word.
    pub(crate) reach: u32,
}

impl dyn Reliability {
    /// The account of a requester that begins with packet `first`, if it keeps one.
    pub(crate) fn arrivals(
        &self,
        first: Sequence,
        timeouts: Option<RetransmissionTimeouts>,
    ) -> Option<Box<Arrivals>> {
        let Selection { tolerance } = self.selection()?;
        Some(Box::new(Arrivals::new(first, timeouts, tolerance)))
    }

    /// Where a responder keeps what arrives out of order, if it does.
    pub(crate) fn reorder_buffer(&self, profile: &QueuePairProfile) -> Option<Box<ReorderBuffer>> {
        let EarlyPackets { reach } = self.early_packets(profile.max_outstanding)?;
        Some(Box::new(ReorderBuffer::new(reach)))
    }
}

/// What a requester knows of a loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    /// The oldest packet that has to be sent again.
    pub(crate) lost: Sequence,
    /// The first packet of the message that it belongs to.
    pub(crate) message_first: Sequence,
}

/// What a responder knows of a gap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// The packet that it was waiting for.
    pub(crate) expected: Sequence,
    /// The first packet of the unfinished message; `expected` where there is none.
    pub(crate) message_first: Sequence,
}
