//! Protocols that are wanted.

use std::str::FromStr;

use rocelab_wire::Transport;

use crate::dissection::Protocol;
use crate::suggestion::write_one_of;
use crate::verifier::Verified;

/// The protocol of a frame, or several of them that have one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolWanted {
    /// This one.
    One(Protocol),
    /// RoCE of both versions.
    Roce,
    /// RoCE v2, over IPv4 and IPv6.
    RoceV2,
    /// Congestion notification packets, whatever carries them.
    Cnp,
}

/// Names of several protocols; each protocol has its own besides.
const GROUPS: [(&str, ProtocolWanted); 3] = [
    ("roce", ProtocolWanted::Roce),
    ("roce_v2", ProtocolWanted::RoceV2),
    ("cnp", ProtocolWanted::Cnp),
];

impl ProtocolWanted {
    /// Whether the frame is of it.
    pub(super) fn is_of(self, verified: &Verified<'_>) -> bool {
        let protocol = verified.dissection.protocol;
        match self {
            Self::One(wanted) => protocol == wanted,
            Self::Roce => protocol.has_transport() && protocol != Protocol::InfiniBand,
            Self::RoceV2 => matches!(protocol, Protocol::RoceV2Ipv4 | Protocol::RoceV2Ipv6),
            Self::Cnp => super::bth_of(&verified.dissection)
                .and_then(|bth| bth.opcode())
                .is_some_and(|opcode| opcode.transport() == Transport::Cnp),
        }
    }
}

/// Reads a name of `--json`, such as `roce_v2_ipv4`, or of several protocols: `roce`, `roce_v2`, `cnp`. Case, hyphens and
/// underscores do not matter: `RoCEv2` is `roce_v2`.
impl FromStr for ProtocolWanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = Protocol::ALL.map(|protocol| (protocol.name(), Self::One(protocol)));
        let known: Vec<_> = GROUPS.into_iter().chain(one).collect();
        let wanted = plain(text);
        match known.iter().find(|(name, _)| plain(name) == wanted) {
            Some((_, protocol)) => Ok(*protocol),
            None => {
                let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
                Err(format!("there is no such protocol; {}", write_one_of(text, &names)))
            }
        }
    }
}

/// The name without what does not matter.
fn plain(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_read_in_usual_spellings() {
        for text in ["rocev2", "RoCEv2", "roce_v2", "roce-v2"] {
            assert_eq!(text.parse(), Ok(ProtocolWanted::RoceV2), "{text}");
        }
        assert_eq!("rocev1".parse(), Ok(ProtocolWanted::One(Protocol::RoceV1)));
        assert_eq!("roce_v2_ipv6".parse(), Ok(ProtocolWanted::One(Protocol::RoceV2Ipv6)));
        assert_eq!("CNP".parse(), Ok(ProtocolWanted::Cnp));
        for (wrong, right) in [("puase", "pause"), ("rocev3", "roce")] {
            let error = wrong.parse::<ProtocolWanted>().unwrap_err();
            assert!(error.contains(&format!("did you mean {right}? write one of ")), "{error}");
        }
    }
}
