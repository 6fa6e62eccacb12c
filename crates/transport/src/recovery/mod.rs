//! How lost packets are sent again: one scheme a file.

mod go_back_n;
mod go_back_zero;
mod selective_repeat;

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use self::selective_repeat::{Arrivals, Held, ReorderBuffer};
use crate::sequence::Sequence;

/// How a reliable connection recovers from loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Everything from the lost packet on is sent again.
    #[default]
    #[serde(rename = "go-back-n")]
    GoBackN,
    /// The whole message is sent again from its first packet (SIGCOMM'16, section 4.1).
    #[serde(rename = "go-back-0")]
    GoBackZero,
    /// Only what is missing is sent again (IRN, SIGCOMM'18).
    #[serde(rename = "selective-repeat")]
    SelectiveRepeat,
}

impl Recovery {
    /// The scheme's rules. They are asked only when something was lost; what every packet needs
    /// is asked once, at set-up.
    pub(crate) fn reliability(self) -> &'static dyn Reliability {
        match self {
            Self::GoBackN => &go_back_n::GoBackN,
            Self::GoBackZero => &go_back_zero::GoBackZero,
            Self::SelectiveRepeat => &selective_repeat::SelectiveRepeat,
        }
    }
}

/// The rules of one recovery scheme, for both ends of a connection.
pub(crate) trait Reliability: fmt::Debug + Sync {
    /// Whether packets that arrived in order stay arrived when a later packet of their message is
    /// lost. If not, the responder takes the first packet of an unfinished message as its restart,
    /// and acknowledgements inside a message do not move the requester on.
    fn keeps_partial_messages(&self) -> bool;

    /// Whether the responder keeps what arrives out of order, and the requester repeats only what
    /// is missing.
    fn is_selective(&self) -> bool {
        false
    }

    /// Requester: where to resume sending.
    fn resend_from(&self, loss: &Loss) -> Sequence;

    /// Responder: which packet to expect (and to ask for) after one was skipped.
    fn expect_after_gap(&self, gap: &Gap) -> Sequence;
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
