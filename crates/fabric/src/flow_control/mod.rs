//! Pauses at one port: what its transmitter must obey, and what the other end is to be told.

mod hpcc_ns3;
mod quanta;

use core::fmt;

use rocelab_state::State;
use rocelab_units::{Duration, SimTime};
use rocelab_wire::Pfc;

pub use hpcc_ns3::OnOffFlowControl;
pub use quanta::QuantaFlowControl;

/// Priority flow control at one port, in both directions. The native kind is
/// [`QuantaFlowControl`].
///
/// A `quantum` is 512 bit times of the port.
pub trait FlowControl: fmt::Debug + Send + State {
    /// Bytes of one flow control frame on the wire, without preamble and gap.
    const FRAME_LEN: u16;

    /// The other end is to stop sending `priority` (0 to 7).
    fn request_pause(&mut self, priority: u8);

    /// The other end may go on sending `priority` (0 to 7).
    fn request_resume(&mut self, priority: u8);

    /// Bit p: the other end is to have stopped sending priority p; all of them, if that is not kept.
    fn pausing(&self) -> u8 {
        u8::MAX
    }

    /// Pauses that are asked for are asked for again: the other end knows nothing of them. Gives their
    /// priorities (bit p).
    fn repeat_requests(&mut self) -> u8 {
        0
    }

    /// Whether a frame waits to be sent.
    fn is_pending(&self) -> bool;

    /// Bytes of the frames that wait to be sent.
    fn pending_bytes(&self) -> u32;

    /// The frame that starts at `now`, if one is due.
    fn take_frame(&mut self, now: SimTime, quantum: Duration) -> Option<Pfc>;

    /// Obeys a frame that arrived at `now`. A frame being sent is finished.
    fn receive(&mut self, now: SimTime, frame: &Pfc, quantum: Duration);

    /// Bit p: priority p must not start a frame.
    fn paused(&self) -> u8;

    /// Since when `priority` has been paused, if it is.
    fn paused_since(&self, priority: u8) -> Option<SimTime>;

    /// Time spent paused up to `now`, summed over priorities.
    fn paused_time(&self, now: SimTime) -> Duration;

    /// When this next wants to be woken, or never.
    fn poll_timeout(&self) -> SimTime;

    /// Serves what is due; to be called too early is harmless.
    fn handle_timeout(&mut self, now: SimTime);
}
