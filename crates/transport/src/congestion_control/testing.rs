//! What golden tests of algorithms have in common.

use rocelab_units::{Bandwidth, Duration, SimTime};

use super::{Ack, CongestionControl, Path, Telemetry};

/// A path of 10 us with packets of 1000 bytes.
pub(super) fn path(line_rate: Bandwidth) -> Path {
    let base_rtt = Duration::from_us(10);
    Path {
        line_rate,
        base_rtt,
        bdp: line_rate.bytes_in(base_rtt).get(),
        path_mtu: 1_000,
        others: 0,
        seed: 0,
        start: SimTime::ZERO,
    }
}

/// An acknowledgement that says nothing but two positions (bytes).
pub(super) fn ack(acknowledged: u64, sent: u64) -> Ack<'static> {
    Ack {
        now: SimTime::ZERO,
        acked_bytes: 0,
        acknowledged,
        sent,
        rtt: None,
        ecn_echo: false,
        telemetry: Telemetry::None,
    }
}

/// Serves all timers up to `now`, each at its time.
pub(super) fn serve_timers(control: &mut dyn CongestionControl, now: SimTime) {
    while let Some(timer) = control.timers().and_then(|timers| timers.due(now)) {
        let due = control.timers().map_or(now, |timers| timers.next());
        control.expire(timer, due);
    }
}
