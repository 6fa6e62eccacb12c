//! ECN codepoints that are wanted.

use std::str::FromStr;

use rocelab_wire::Ecn;

use crate::dissection::HeadersRead;
use crate::suggestion::write_one_of;

/// The names of all codepoints, as in descriptions of captures.
const NAMES: [(&str, Ecn); 4] =
    [("ce", Ecn::Ce), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("not-ect", Ecn::NotEct)];

/// The ECN codepoint of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnWanted(pub Ecn);

impl EcnWanted {
    /// Whether IP, or in RoCE v1 the GRH, has the codepoint. The GRH of native InfiniBand has none.
    pub(super) fn is_in(self, headers: &HeadersRead) -> bool {
        let HeadersRead { ipv4, ipv6, grh, .. } = headers;
        let ip = ipv4.map(|ip| ip.ecn).or(ipv6.map(|ip| ip.ecn));
        let of_roce = grh.filter(|_| headers.lrh.is_none());
        let found = ip.or(of_roce.map(|grh| Ecn::from_bits(grh.traffic_class)));
        found == Some(self.0)
    }
}

/// Reads `ce`, `ect0`, `ect1` or `not-ect`, in any case.
impl FromStr for EcnWanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        named.map(|(_, ecn)| Self(*ecn)).ok_or_else(|| {
            format!("is no ECN codepoint; {}", write_one_of(text, &NAMES.map(|(name, _)| name)))
        })
    }
}
