//! What an algorithm needs to be told.

use rocelab_units::Duration;
use rocelab_wire::{TelemetryKind, TelemetryUnits};

/// The feedback that an algorithm needs. Both ends of a queue pair use the same algorithm, so the
/// receiving end knows what to send.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Feedback {
    /// None.
    None,
    /// The receiver answers packets that met congestion with CNPs:
    /// [`CongestionControl::on_cnp`](super::CongestionControl::on_cnp).
    Cnp {
        /// The least time between two CNPs for a queue pair.
        min_interval: Duration,
    },
    /// Each acknowledgement, with a round-trip time where there is one:
    /// [`CongestionControl::on_ack`](super::CongestionControl::on_ack).
    Rtt,
    /// Each acknowledgement; its BECN bit says that a packet met congestion since the last one:
    /// [`CongestionControl::on_ack`](super::CongestionControl::on_ack).
    EcnEcho,
    /// Each acknowledgement, with what switches wrote into the packet that it answers:
    /// [`Ack::telemetry`](super::Ack::telemetry).
    Telemetry(TelemetryUnits),
    /// Congestion notification messages of switches (IEEE 802.1Qau), about data packets that carry
    /// a CN-TAG: [`CongestionControl::on_cnm`](super::CongestionControl::on_cnm).
    Qcn,
}

impl Feedback {
    /// Each acknowledgement, with a round-trip time where there is one and what the ends of the path tell:
    /// [`Ack::endpoint`](super::Ack::endpoint).
    pub const ENDPOINT: Self = Self::Telemetry(TelemetryUnits::Endpoint(()));

    /// What data packets and their acknowledgements carry for it.
    pub const fn telemetry(self) -> Option<TelemetryKind> {
        match self {
            Self::Telemetry(units) => Some(units.kind()),
            Self::None | Self::Cnp { .. } | Self::Rtt | Self::EcnEcho | Self::Qcn => None,
        }
    }

    /// Whether it is of the round-trip time that the NIC measures.
    #[inline]
    pub(crate) const fn measures_round_trip(self) -> bool {
        match self {
            Self::Rtt => true,
            Self::Telemetry(units) => units.kind().is_echo(),
            Self::None | Self::Cnp { .. } | Self::EcnEcho | Self::Qcn => false,
        }
    }

    /// Whether acknowledgements carry it.
    pub(crate) const fn is_by_ack(self) -> bool {
        matches!(self, Self::Rtt | Self::EcnEcho | Self::Telemetry(_))
    }
}
