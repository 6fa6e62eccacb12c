//! Pauses at one port: those that its transmitter must obey, and those that it asks the other end
//! for.

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

    /// Asks the other end to stop sending `priority` (0 to 7).
    fn request_pause(&mut self, priority: u8);

    /// Lets the other end go on sending `priority` (0 to 7).
    fn request_resume(&mut self, priority: u8);

    /// Bit p: this port asks the other end to pause priority p. The default, all bits, is for
    /// implementations that do not keep track.
    fn pausing(&self) -> u8 {
        u8::MAX
    }

    /// Makes all requests in force due again, because the other end has lost them (its link was
    /// down). Returns their priorities (bit p).
    fn repeat_requests(&mut self) -> u8 {
        0
    }

    /// Whether a frame waits to be sent.
    fn is_pending(&self) -> bool;

    /// Bytes of the frames that wait to be sent.
    fn pending_bytes(&self) -> u32;

    /// Takes the frame that starts at `now`, if one is due.
    fn take_frame(&mut self, now: SimTime, quantum: Duration) -> Option<Pfc>;

    /// Obeys a frame that arrived at `now`. A frame that is being sent is completed.
    fn receive(&mut self, now: SimTime, frame: &Pfc, quantum: Duration);

    /// Bit p: priority p must not start a frame.
    fn paused(&self) -> u8;

    /// When the pause of `priority` began; `None` while it is not paused.
    fn paused_since(&self, priority: u8) -> Option<SimTime>;

    /// Time spent paused up to `now`, summed over priorities.
    fn paused_time(&self, now: SimTime) -> Duration;

    /// When [`Self::handle_timeout`] is next due, or never.
    fn poll_timeout(&self) -> SimTime;

    /// Handles the timers that are due. A call before that time does nothing.
    fn handle_timeout(&mut self, now: SimTime);
}
