//! The reasons for rejecting a connection.

use core::fmt;

/// The reason in a REJ. Every value is possible; the listed ones have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "state", derive(borsh::BorshSerialize, borsh::BorshDeserialize))]
pub struct RejectReason(pub u16);

/// Names and numbers: Linux `include/rdma/ib_cm.h`, `enum ib_cm_rej_reason`.
macro_rules! reasons {
    ($($number:literal $name:ident $text:literal)*) => {
        impl RejectReason {
            $(
                #[doc = concat!("Reason ", $number, ": ", $text, ".")]
                pub const $name: Self = Self($number);
            )*

            /// The reason in words, if it is known.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

reasons! {
    1 NO_QP "no QP available"
    2 NO_EEC "no EE context available"
    3 NO_RESOURCES "no resources available"
    4 TIMEOUT "timeout"
    5 UNSUPPORTED "unsupported request"
    6 INVALID_COMMUNICATION_ID "invalid communication ID"
    7 INVALID_COMMUNICATION_INSTANCE "invalid communication instance"
    8 INVALID_SERVICE_ID "invalid service ID"
    9 INVALID_TRANSPORT_TYPE "invalid transport service type"
    10 STALE_CONNECTION "stale connection"
    11 RDC_NOT_EXIST "RDC does not exist"
    12 INVALID_GID "primary remote port GID rejected"
    13 INVALID_LID "primary remote port LID rejected"
    14 INVALID_SL "invalid primary SL"
    15 INVALID_TRAFFIC_CLASS "invalid primary traffic class"
    16 INVALID_HOP_LIMIT "invalid primary hop limit"
    17 INVALID_PACKET_RATE "invalid primary packet rate"
    18 INVALID_ALTERNATE_GID "alternate remote port GID rejected"
    19 INVALID_ALTERNATE_LID "alternate remote port LID rejected"
    20 INVALID_ALTERNATE_SL "invalid alternate SL"
    21 INVALID_ALTERNATE_TRAFFIC_CLASS "invalid alternate traffic class"
    22 INVALID_ALTERNATE_HOP_LIMIT "invalid alternate hop limit"
    23 INVALID_ALTERNATE_PACKET_RATE "invalid alternate packet rate"
    24 PORT_CM_REDIRECT "port and CM redirection"
    25 PORT_REDIRECT "port redirection"
    26 INVALID_MTU "invalid path MTU"
    27 INSUFFICIENT_RESPONDER_RESOURCES "insufficient responder resources"
    28 CONSUMER_DEFINED "consumer reject"
    29 INVALID_RNR_RETRY "RNR retry count rejected"
    30 DUPLICATE_LOCAL_COMMUNICATION_ID "duplicate local communication ID"
    31 INVALID_CLASS_VERSION "invalid class version"
    32 INVALID_FLOW_LABEL "invalid primary flow label"
    33 INVALID_ALTERNATE_FLOW_LABEL "invalid alternate flow label"
    35 VENDOR_OPTION_NOT_SUPPORTED "vendor option not supported"
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => fmt::Display::fmt(&self.0, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown() {
        assert_eq!(RejectReason::INVALID_SERVICE_ID.to_string(), "8 (invalid service ID)");
        assert_eq!(RejectReason(34).to_string(), "34");
        let known = (0..=u16::MAX).filter(|reason| RejectReason(*reason).name().is_some());
        assert_eq!(known.count(), 34);
    }
}
