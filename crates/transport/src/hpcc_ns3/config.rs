//! What all end hosts of a run have in common.

use rocelab_units::{Bandwidth, Duration, SimTime};
use rocelab_wire::{TelemetryKind, TelemetryUnits};

use crate::Algorithm;
use crate::congestion_control::{Feedback, Path};

/// What all end hosts of a run have in common.
#[derive(Clone, Debug)]
pub struct Config {
    /// Payload bytes of a full packet.
    pub payload_bytes: u32,
    /// Payload bytes of a chunk; 0 for none.
    pub chunk_bytes: u32,
    /// Whether loss goes back to the start of a chunk, and not to the lost packet.
    pub back_to_chunk: bool,
    /// Bytes in order from which on every packet is acknowledged; below it only whole chunks.
    pub ack_interval_bytes: u32,
    /// Whether the window shrinks with the rate.
    pub scale_window: bool,
    /// Whether packets are paced at the current rate, and not at the line rate.
    pub pace_at_rate: bool,
    /// The priority whose pause stops acknowledgements; priority 0 is never paused.
    pub ack_priority: u8,
    /// How the rate reacts.
    pub algorithm: Algorithm,
    /// Share of the acknowledgements that a probabilistic algorithm looks at, in 65536ths.
    pub sampled_acks: u32,
    /// The time that so many bytes take at a rate.
    pub serialisation: fn(u32, Bandwidth) -> Duration,
}

/// Whether this end host gives an algorithm all that it asks for. It counts no bytes that are sent,
/// starts every flow at the line rate, and has a window of its own in place of the algorithm's.
pub fn can_drive(algorithm: &Algorithm, line_rate: Bandwidth) -> bool {
    // Windows in proportion to the path are off without a bandwidth-delay product.
    let path = Path {
        line_rate,
        base_rtt: Duration::from_us(10),
        bdp: 0,
        path_mtu: 1_000,
        others: 0,
        seed: 0,
        start: SimTime::ZERO,
    };
    let control = algorithm.build(&path);
    !control.counts_sent_bytes() && control.window().is_none() && control.rate() >= line_rate
}

/// Whether packets of this end host carry a kind of telemetry.
pub const fn carries(telemetry: TelemetryKind) -> bool {
    matches!(telemetry, TelemetryKind::Int | TelemetryKind::Pint)
}

/// Bytes of a frame beside its payload: what each packet carries for its algorithm is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overheads {
    /// Of a data packet.
    pub data: u32,
    /// Of an ACK or NACK: the whole frame.
    pub acknowledgement: u32,
}

impl Overheads {
    /// Layer 2 (14), IPv4 (20), UDP (8), sequence number and priority (6).
    const DATA: u32 = 14 + 20 + 8 + 6;
    /// Layer 2, IPv4, and ports, flags, priority and sequence number (12).
    const ACKNOWLEDGEMENT: u32 = 14 + 20 + 12;
    /// Acknowledgements are padded to this.
    const MIN_ACKNOWLEDGEMENT: u32 = 60;

    /// Those of packets that carry `feedback`: in-band telemetry of five hops (42 bytes), one
    /// probabilistic value (2 bytes), a timestamp (8 bytes) or nothing.
    pub fn of(feedback: Feedback) -> Self {
        let carried = match feedback {
            Feedback::Telemetry(TelemetryUnits::Int(_)) => 42,
            Feedback::Telemetry(TelemetryUnits::Pint(_)) => 2,
            Feedback::Rtt => 8,
            _ => 0,
        };
        Self {
            data: Self::DATA + carried,
            acknowledgement: (Self::ACKNOWLEDGEMENT + carried).max(Self::MIN_ACKNOWLEDGEMENT),
        }
    }
}

#[cfg(test)]
mod tests {
    use rocelab_units::Duration as Interval;
    use rocelab_wire::IntUnits;

    use super::*;

    #[test]
    fn algorithms_that_need_more_are_known() {
        let driven =
            |text: &str| can_drive(&toml::from_str(text).unwrap(), Bandwidth::from_gbps(100));
        for text in [
            "none = {}",
            "dcqcn = { preset = \"hpcc\" }",
            "dcqcn = { preset = \"nvidia\" }",
            "timely = { preset = \"hpcc\" }",
            "dctcp = {}",
            "hpcc = {}",
            "hpcc-pint = {}",
        ] {
            assert!(driven(text), "{text}");
        }
        for text in [
            "none = { rate = \"1Gbps\" }",
            "none = { window = \"8KB\" }",
            "dcqcn = { preset = \"paper\" }",
            "swift = {}",
        ] {
            assert!(!driven(text), "{text}");
        }
    }

    #[test]
    fn sizes_are_those_of_the_simulator() {
        let sizes = |feedback| {
            let Overheads { data, acknowledgement } = Overheads::of(feedback);
            (data, acknowledgement)
        };
        assert_eq!(sizes(Feedback::None), (48, 60));
        assert_eq!(sizes(Feedback::EcnEcho), (48, 60));
        assert_eq!(sizes(Feedback::Cnp { min_interval: Interval::ZERO }), (48, 60));
        assert_eq!(sizes(Feedback::Rtt), (56, 60));
        assert_eq!(
            sizes(Feedback::Telemetry(TelemetryUnits::Int(IntUnits { multiplier: 1 }))),
            (90, 88)
        );
    }
}
