//! What frames say of their class: the code points that hosts write into them, apart from the priority that they mean.

use rocelab_wire::Ecn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion_control::InvalidParameter;

/// The code points of frames. What is not given follows from the priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MarkingConfig {
    /// Differentiated services code point, 0 to 63: the upper 6 bits of the traffic class. Default: the priority times 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 63))]
    pub dscp: Option<u8>,
    /// In place of `dscp`, the whole traffic class, 0 to 255. RoCE v2 has its ECN codepoint in the lower 2 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic_class: Option<u8>,
    /// Priority code point of the 802.1Q tag, 0 to 7. Default: the priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub pcp: Option<u8>,
}

/// The code points of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marking {
    /// The priority with which a host sends, which pauses of its port hold back, 0 to 7.
    pub priority: u8,
    /// Traffic class of the GRH or IPv6 header, type of service of IPv4; the lower 2 bits are those of ECN where there is IP.
    pub traffic_class: u8,
    /// Priority code point of the 802.1Q tag, if there is one, 0 to 7.
    pub pcp: u8,
    /// Whether there is an IP header, where hosts of both versions of RoCE are in one network; else true.
    pub has_ip: bool,
}

impl MarkingConfig {
    /// The first thing that is wrong.
    ///
    /// # Errors
    /// That.
    pub fn validate(&self) -> Result<(), InvalidParameter> {
        if let Some(dscp) = self.dscp {
            let fix = "give 0 to 63";
            InvalidParameter::unless(dscp <= 63, "dscp", &dscp, "is no DSCP: it has 6 bits", fix)?;
        }
        if let Some(pcp) = self.pcp {
            let fix = "give 0 to 7";
            InvalidParameter::unless(pcp <= 7, "pcp", &pcp, "is no PCP: it has 3 bits", fix)?;
        }
        if let (Some(class), Some(_)) = (self.traffic_class, self.dscp) {
            let what = "is there beside `dscp`, which is a part of it";
            InvalidParameter::unless(false, "traffic_class", &class, what, "give one of them")?;
        }
        Ok(())
    }

    /// What it says, and for what it does not say what `other` says.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let says_class = self.dscp.is_some() || self.traffic_class.is_some();
        let of_class = if says_class { self } else { other };
        Self {
            dscp: of_class.dscp,
            traffic_class: of_class.traffic_class,
            pcp: self.pcp.or(other.pcp),
        }
    }

    /// The code points of frames of a priority, 0 to 7.
    pub fn of_priority(&self, priority: u8) -> Marking {
        let dscp = self.dscp.unwrap_or(priority << 3) & 0b11_1111;
        Marking {
            priority,
            traffic_class: self.traffic_class.unwrap_or(dscp << 2),
            pcp: self.pcp.unwrap_or(priority) & 0b111,
            has_ip: true,
        }
    }
}

impl Marking {
    /// Differentiated services code point, 0 to 63.
    pub const fn dscp(&self) -> u8 {
        self.traffic_class >> 2
    }

    /// The lower 2 bits of the traffic class, where no ECN codepoint takes their place.
    pub const fn low_bits(&self) -> Ecn {
        Ecn::from_bits(self.traffic_class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_follow_from_the_priority_or_are_given() {
        let plain = MarkingConfig::default().of_priority(3);
        assert_eq!((plain.dscp(), plain.traffic_class, plain.pcp), (24, 96, 3));
        let given = MarkingConfig { dscp: Some(26), pcp: Some(5), ..MarkingConfig::default() };
        let marking = given.of_priority(3);
        assert_eq!((marking.dscp(), marking.traffic_class, marking.pcp), (26, 104, 5));
        let class = MarkingConfig { traffic_class: Some(107), ..MarkingConfig::default() };
        assert_eq!((class.of_priority(0).dscp(), class.of_priority(0).traffic_class), (26, 107));
        assert_eq!(class.of_priority(0).low_bits(), Ecn::Ce);
        assert_eq!(class.or(&given), MarkingConfig { pcp: Some(5), ..class });
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let of = |dscp, traffic_class, pcp| MarkingConfig { dscp, traffic_class, pcp }.validate();
        assert_eq!(of(Some(64), None, None).unwrap_err().key, "dscp");
        assert_eq!(of(None, None, Some(8)).unwrap_err().key, "pcp");
        assert_eq!(of(Some(26), Some(104), None).unwrap_err().key, "traffic_class");
        assert!(of(Some(63), None, Some(7)).is_ok() && of(None, Some(255), None).is_ok());
    }
}
