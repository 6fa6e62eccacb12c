//! TCP: full segments one behind the other, from application to application.

use rocelab_transport::tcp::TcpSegment;
use rocelab_units::Duration;

use super::route::Route;
use super::train::{Hop, Train};
use crate::TcpPlan;

/// Segments of a run, and how long they are in the stacks of hosts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segments {
    mss: u16,
    encapsulation_len: u16,
    send_delay: Duration,
    receive_delay: Duration,
}

impl Segments {
    pub(super) fn new(tcp: &TcpPlan, tagged: bool) -> Self {
        Self {
            mss: tcp.mss(),
            encapsulation_len: tcp.encapsulation_len(tagged),
            send_delay: tcp.parameters.send_delay,
            receive_delay: tcp.parameters.receive_delay,
        }
    }

    /// From the moment at which data is posted to that at which all of it is delivered.
    pub(super) fn delivery(&self, bytes: u64, forward: &[Hop]) -> Duration {
        let mss = u64::from(self.mss.max(1));
        let rest = u16::try_from(bytes % mss).unwrap_or(u16::MAX);
        let mut route = Route::new(forward);
        let mut last = 0;
        for (count, payload) in [(bytes / mss, self.mss), (u64::from(rest > 0), rest)] {
            if count > 0 {
                last = route.carry(Train::at(0, count, self.frame_len(payload))).last();
            }
        }
        self.send_delay + Duration::from_ps(last) + self.receive_delay
    }

    /// Bytes of a frame, FCS included.
    fn frame_len(&self, payload: u16) -> u64 {
        let segment = TcpSegment::new(0, 0, 0, 0).with_payload_len(payload);
        segment.frame_len(self.encapsulation_len).into()
    }
}
