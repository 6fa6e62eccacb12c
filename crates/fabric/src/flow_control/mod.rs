//! Link-layer flow control at one port: what its transmitter must obey, and what it asks the other end
//! for. One control a file, and one line each in the list below.
//!
//! A [`Port`](crate::Port) keeps what every frame needs (which priorities are held back, whether a control frame
//! is due) in plain fields of its own. So a control is only asked about what is rare: a request, a control frame
//! that arrives or is due, a timer.

mod credits;
mod hpcc_ns3;
mod quanta;

use core::fmt;

use rocelab_state::{
    BorshDeserialize, BorshSerialize, Result, State, load_value, save_value, unfit,
};
use rocelab_units::{Duration, SimTime};
use rocelab_wire::{FlowControlPacket, Frame, MacAddress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use credits::counted_blocks_of;
pub use credits::{
    CreditConfig, CreditControl, CreditCounts, DATA_LANES, LaneCounts, LeavingFrame, blocks_of,
};
pub use hpcc_ns3::OnOffFlowControl;

/// Makes modules, scenario key, JSON Schema, the frames that are sent and the list of controls. Each has a
/// type `Control` in its module, which implements [`FlowControl`] and is made by `Control::new` from the pause
/// time in quanta, and a frame, which implements [`PauseFrame`]. Credits, which are no choice of a scenario's switches but
/// part of InfiniBand, are written beside the list.
macro_rules! controls {
    ($($(#[$meta:meta])* $variant:ident($frame:ty) = $name:literal => $module:ident,)*) => {
        $(mod $module;)*

        /// The flow control of a link, the same at both of its ends.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum LinkFlowControl {
            $($(#[$meta])* #[serde(rename = $name)] $variant,)*
            /// Credits, of InfiniBand.
            #[serde(skip)]
            Credits,
        }

        impl LinkFlowControl {
            /// Every control, in the order of the list, and credits.
            pub const ALL: &[Self] = &[$(Self::$variant,)* Self::Credits];

            /// Those of the list, which are for Ethernet and work by pauses.
            pub const PAUSES: &[Self] = &[$(Self::$variant,)*];

            /// The name that a scenario uses.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* Self::Credits => "credits" }
            }

            /// The name of its frames.
            pub const fn frame_name(self) -> &'static str {
                match self {
                    $(Self::$variant => <$frame as LinkFrame>::NAME,)*
                    Self::Credits => FlowControlPacket::NAME,
                }
            }

            /// Bit p: a pause that is asked for because of `priority` (0 to 7) holds priority p back.
            pub fn held_by(self, priority: u8) -> u8 {
                match self {
                    $(Self::$variant => <$frame as LinkFrame>::held_by(priority),)*
                    Self::Credits => FlowControlPacket::held_by(priority),
                }
            }

            /// The control at one port, whose frames ask for pauses of `quanta` (512 bit times) at a time; none for
            /// credits, which are [made of other parameters](LinkController::credits).
            pub fn controller(self, quanta: u16) -> Option<LinkController> {
                match self {
                    $(Self::$variant => Some(LinkController::$variant($module::Control::new(quanta))),)*
                    Self::Credits => None,
                }
            }
        }

        /// A frame of link-layer flow control, for the next port and no further.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
        pub enum ControlFrame {
            $($(#[$meta])* $variant($frame),)*
            /// Credits, of InfiniBand.
            Credits(FlowControlPacket),
        }

        impl ControlFrame {
            /// The control that it is of.
            pub const fn control(&self) -> LinkFlowControl {
                match self {
                    $(Self::$variant(_) => LinkFlowControl::$variant,)*
                    Self::Credits(_) => LinkFlowControl::Credits,
                }
            }

            /// Bytes on the wire, FCS included, without preamble and gap; of credits with the delimiters.
            pub const fn wire_len(&self) -> u16 {
                match self {
                    $(Self::$variant(_) => <$frame as LinkFrame>::WIRE_LEN,)*
                    Self::Credits(_) => FlowControlPacket::WIRE_LEN,
                }
            }

            /// The pause of a priority that it asks for, in quanta of 512 bit times; 0 lets the priority go on, `None`
            /// changes nothing.
            pub fn quanta_of(&self, priority: u8) -> Option<u16> {
                match self {
                    $(Self::$variant(frame) => LinkFrame::quanta_of(frame, priority),)*
                    Self::Credits(frame) => LinkFrame::quanta_of(frame, priority),
                }
            }

            /// Bit p: it lets priority p go on.
            pub fn resumes(&self) -> u8 {
                match self {
                    $(Self::$variant(frame) => frame.resumes(),)*
                    Self::Credits(frame) => frame.resumes(),
                }
            }

            /// The Ethernet frame that a port with the address `source` sends, without FCS; none where it is no frame of
            /// Ethernet.
            pub fn to_frame(self, source: MacAddress) -> Option<Frame<'static>> {
                match self {
                    $(Self::$variant(frame) => Some(PauseFrame::to_frame(frame, source)),)*
                    Self::Credits(_) => None,
                }
            }
        }

        impl fmt::Display for ControlFrame {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant(frame) => frame.fmt(f),)*
                    Self::Credits(packet) => packet.fmt(f),
                }
            }
        }

        impl From<FlowControlPacket> for ControlFrame {
            fn from(packet: FlowControlPacket) -> Self {
                Self::Credits(packet)
            }
        }

        $(
            impl From<$frame> for ControlFrame {
                fn from(frame: $frame) -> Self {
                    Self::$variant(frame)
                }
            }
        )*

        /// The flow control at one port of the native model.
        #[derive(Clone, Debug)]
        pub enum LinkController {
            $($(#[$meta])* $variant($module::Control),)*
            /// Credits, of InfiniBand.
            Credits(Box<CreditControl>),
        }

        /// Calls a method of whichever control it is.
        macro_rules! of_each {
            ($self:ident.$method:ident $arguments:tt) => {
                match $self {
                    $(LinkController::$variant(control) => control.$method $arguments,)*
                    LinkController::Credits(control) => control.$method $arguments,
                }
            };
        }

        impl LinkController {
            /// Which control it is.
            pub const fn control(&self) -> LinkFlowControl {
                match self {
                    $(Self::$variant(_) => LinkFlowControl::$variant,)*
                    Self::Credits(_) => LinkFlowControl::Credits,
                }
            }

            /// Credits, where the port is one of InfiniBand.
            pub fn credits(&self) -> Option<&CreditControl> {
                match self { Self::Credits(control) => Some(control), _ => None }
            }
        }

        /// Which control it is, is a setting: one is not loaded into another.
        impl State for LinkController {
            fn save(&self, to: &mut Vec<u8>) -> Result {
                save_value(&self.control().name(), to)?;
                of_each!(self.save(to))
            }

            fn load(&mut self, from: &mut &[u8]) -> Result {
                if load_value::<String>(from)? != self.control().name() {
                    return Err(unfit("the flow control of a link"));
                }
                of_each!(self.load(from))
            }
        }

        impl FlowControl for LinkController {
            const COUNTS_FRAMES: bool = true;

            #[inline]
            fn counts_frames(&self) -> bool { matches!(self, Self::Credits(_)) }
            fn restart(&mut self) -> u8 { of_each!(self.restart()) }
            fn credit_counts(&self) -> CreditCounts { of_each!(self.credit_counts()) }
            fn may_precede_data(&self, now: SimTime) -> bool { of_each!(self.may_precede_data(now)) }
            fn hold(&mut self, now: SimTime, priority: u8) { of_each!(self.hold(now, priority)) }
            fn on_arrived(&mut self, priority: u8, len: u32) -> bool { of_each!(self.on_arrived(priority, len)) }
            fn set_leaving(&mut self, frame: Option<LeavingFrame>) -> Option<LeavingFrame> {
                of_each!(self.set_leaving(frame))
            }
            fn leaving(&self) -> Option<LeavingFrame> { of_each!(self.leaving()) }
            fn sent_counts(&self, priority: u8) -> LaneCounts { of_each!(self.sent_counts(priority)) }
            fn received_counts(&self, priority: u8) -> LaneCounts { of_each!(self.received_counts(priority)) }

            fn request_pause(&mut self, priority: u8) { of_each!(self.request_pause(priority)) }
            fn request_resume(&mut self, priority: u8) { of_each!(self.request_resume(priority)) }
            fn pausing(&self) -> u8 { of_each!(self.pausing()) }
            fn repeat_requests(&mut self) -> u8 { of_each!(self.repeat_requests()) }
            fn is_pending(&self) -> bool { of_each!(self.is_pending()) }
            fn pending_bytes(&self) -> u32 { of_each!(self.pending_bytes()) }
            fn take_frame(&mut self, now: SimTime, quantum: Duration) -> Option<ControlFrame> {
                of_each!(self.take_frame(now, quantum))
            }
            fn end_of_pauses(&self) -> ControlFrame { of_each!(self.end_of_pauses()) }
            fn receive(&mut self, now: SimTime, frame: &ControlFrame, quantum: Duration) {
                of_each!(self.receive(now, frame, quantum))
            }
            fn paused(&self) -> u8 { of_each!(self.paused()) }
            fn paused_since(&self, priority: u8) -> Option<SimTime> { of_each!(self.paused_since(priority)) }
            fn paused_time(&self, now: SimTime) -> Duration { of_each!(self.paused_time(now)) }
            fn poll_timeout(&self) -> SimTime { of_each!(self.poll_timeout()) }
            fn handle_timeout(&mut self, now: SimTime) { of_each!(self.handle_timeout(now)) }
            fn may_start(&self, priority: u8, len: u32) -> bool { of_each!(self.may_start(priority, len)) }
            fn bytes_ahead(&self, priority: u8) -> u32 { of_each!(self.bytes_ahead(priority)) }
            fn is_short_of_credits(&self, priority: u8, len: u32) -> bool {
                of_each!(self.is_short_of_credits(priority, len))
            }
            fn on_started(&mut self, now: SimTime, priority: u8, len: u32) { of_each!(self.on_started(now, priority, len)) }
            fn on_freed(&mut self, priority: u8, len: u32) { of_each!(self.on_freed(priority, len)) }
        }
    };
}

controls! {
    /// Priority-based flow control (PFC, IEEE 802.1Qbb): each priority is paused by itself.
    Pfc(rocelab_wire::Pfc) = "pfc" => pfc,
    /// PAUSE (IEEE 802.3 annex 31B, 802.3x): one pause for all priorities of the link.
    Pause(rocelab_wire::Pause) = "pause" => pause,
}

#[expect(clippy::derivable_impls, reason = "no line of the list is marked as the default")]
impl Default for LinkFlowControl {
    fn default() -> Self {
        Self::Pfc
    }
}

/// What the frame of a control has: its bytes, its effect, and its text.
pub trait LinkFrame: Copy + fmt::Display {
    /// Its name.
    const NAME: &'static str;

    /// Bytes on the wire, FCS included, without preamble and gap.
    const WIRE_LEN: u16;

    /// Bit p: a pause that is asked for because of `priority` holds priority p back at the other end.
    fn held_by(priority: u8) -> u8 {
        1 << priority
    }

    /// See [`ControlFrame::quanta_of`].
    fn quanta_of(&self, priority: u8) -> Option<u16>;

    /// Bit p: it lets priority p go on.
    fn resumes(&self) -> u8 {
        let resumes = |&priority: &u8| self.quanta_of(priority) == Some(0);
        (0..8).filter(resumes).fold(0, |mask, priority| mask | 1 << priority)
    }
}

/// A frame that asks for a pause, or ends one: a frame of Ethernet.
pub trait PauseFrame: LinkFrame {
    /// What a port with the address `source` sends, without FCS.
    fn to_frame(self, source: MacAddress) -> Frame<'static>;
}

/// Flow control at one port, in both directions. The native kind is [`LinkController`].
///
/// A `quantum` is 512 bit times of the port. Priorities are 0 to 7.
pub trait FlowControl: fmt::Debug + Send + State {
    /// Whether it may count frames. If not, [`counts_frames`](Self::counts_frames) is not asked, which costs nothing.
    const COUNTS_FRAMES: bool = false;

    /// Whether it counts frames: then [`may_start`](Self::may_start), [`hold`](Self::hold),
    /// [`on_started`](Self::on_started), [`on_arrived`](Self::on_arrived), [`on_freed`](Self::on_freed) and
    /// [`may_precede_data`](Self::may_precede_data) are called. It is a setting.
    fn counts_frames(&self) -> bool {
        false
    }

    /// What was counted of credits; nothing where there are none.
    fn credit_counts(&self) -> CreditCounts {
        CreditCounts::default()
    }

    /// The link came up again after it was down. Returns the priorities (bit p) whose requests are made again.
    fn restart(&mut self) -> u8 {
        self.repeat_requests()
    }

    /// Whether a frame that is due goes ahead of data that could go too. Where nothing could, it goes in any case.
    fn may_precede_data(&self, _now: SimTime) -> bool {
        true
    }

    /// A frame waits at `now` in the queue of `priority` that [must not start](Self::may_start): the priority is
    /// [paused](Self::paused) until a frame arrives.
    fn hold(&mut self, _now: SimTime, _priority: u8) {}

    /// A frame of `len` bytes of `priority` has arrived here. Returns whether a frame is due now because of that.
    fn on_arrived(&mut self, _priority: u8, _len: u32) -> bool {
        false
    }

    /// A frame of a switch starts here, or, with none, is over: the one before it. Its memory is free then.
    fn set_leaving(&mut self, _frame: Option<LeavingFrame>) -> Option<LeavingFrame> {
        None
    }

    /// The frame of a switch that is being sent here.
    fn leaving(&self) -> Option<LeavingFrame> {
        None
    }

    /// What this end has sent of `priority`, and knows of the other. Always the same where frames are not counted.
    fn sent_counts(&self, _priority: u8) -> LaneCounts {
        LaneCounts::default()
    }

    /// What has arrived here of `priority`, and what the other end may know.
    fn received_counts(&self, _priority: u8) -> LaneCounts {
        LaneCounts::default()
    }

    /// Bytes of a frame of it on the wire, without preamble and gap.
    fn frame_len(frame: &ControlFrame) -> u16 {
        frame.wire_len()
    }

    /// Asks the other end to stop sending, because of `priority`.
    fn request_pause(&mut self, priority: u8);

    /// `priority` is no reason any more for the other end to stop sending.
    fn request_resume(&mut self, priority: u8);

    /// Bit p: this port asks for a pause because of priority p. The default, all bits, is for
    /// implementations that do not keep track.
    fn pausing(&self) -> u8 {
        u8::MAX
    }

    /// Makes all requests in force due again, because the other end has lost them (its link was
    /// down). Returns the priorities that are their reasons (bit p).
    fn repeat_requests(&mut self) -> u8 {
        0
    }

    /// Whether a frame waits to be sent.
    fn is_pending(&self) -> bool;

    /// Bytes of the frames that wait to be sent.
    fn pending_bytes(&self) -> u32;

    /// Takes the frame that starts at `now`, if one is due.
    fn take_frame(&mut self, now: SimTime, quantum: Duration) -> Option<ControlFrame>;

    /// The frame that would end all pauses that this port obeys: what the loss of the link amounts to.
    fn end_of_pauses(&self) -> ControlFrame;

    /// Obeys a frame that arrived at `now`. A frame that is being sent is completed. Frames of another control
    /// have no effect.
    fn receive(&mut self, now: SimTime, frame: &ControlFrame, quantum: Duration);

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

    /// Whether a frame of `len` bytes may start whose queue is that of `priority`, which is not [paused](Self::paused).
    fn may_start(&self, _priority: u8, _len: u32) -> bool {
        true
    }

    /// Bytes that were sent from the queue of `priority` and whose credits have not come back: they are on the link, or the
    /// other end holds them.
    fn bytes_ahead(&self, _priority: u8) -> u32 {
        0
    }

    /// Asked as a frame of `len` bytes from the queue of `priority` has started: whether it had to wait for credits, or
    /// another one would.
    fn is_short_of_credits(&self, _priority: u8, _len: u32) -> bool {
        false
    }

    /// A frame of `len` bytes, from the queue of `priority`, starts at `now`.
    fn on_started(&mut self, _now: SimTime, _priority: u8, _len: u32) {}

    /// The memory is free again that a frame of `len` bytes of `priority` took here, which came in by this port.
    fn on_freed(&mut self, _priority: u8, _len: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTUM: Duration = Duration::from_ps(5_120);

    fn at(ps: u64) -> SimTime {
        SimTime::from_ps(ps)
    }

    fn controller(control: LinkFlowControl) -> LinkController {
        control.controller(100).expect("it works by pauses")
    }

    /// What must hold of every control of the list.
    #[test]
    fn each_control_holds_back_what_it_says_and_goes_on_where_it_was_saved() {
        for &control in LinkFlowControl::PAUSES {
            let (mut here, mut there) = (controller(control), controller(control));
            assert_eq!((here.is_pending(), here.poll_timeout()), (false, SimTime::NEVER));
            here.request_pause(3);
            assert_eq!((here.is_pending(), here.pausing()), (true, 1 << 3), "{control:?}");
            let frame = here.take_frame(at(0), QUANTUM).expect("one is due");
            assert_eq!((frame.control(), frame.resumes()), (control, 0));
            assert_eq!(here.take_frame(at(0), QUANTUM), None);
            there.receive(at(0), &frame, QUANTUM);
            assert_eq!(there.paused(), control.held_by(3), "{control:?}");
            let mut saved = Vec::new();
            there.save(&mut saved).expect("it can be saved");
            let mut loaded = controller(control);
            loaded.load(&mut &saved[..]).expect("it fits");
            let end = there.poll_timeout();
            assert_eq!((loaded.paused(), loaded.poll_timeout()), (there.paused(), end));
            there.receive(at(9), &there.end_of_pauses(), QUANTUM);
            assert_eq!((there.paused(), there.poll_timeout()), (0, SimTime::NEVER));
            let held = u64::from(control.held_by(3).count_ones());
            assert_eq!(there.paused_time(at(99)).ps(), 9 * held);
            let again = here.poll_timeout();
            if again != SimTime::NEVER {
                here.handle_timeout(again);
                assert!(here.is_pending(), "it is asked for again");
            }
            here.request_resume(3);
            let frame = here.take_frame(at(300_000), QUANTUM).expect("one is due");
            assert_eq!((frame.resumes(), here.pausing()), (control.held_by(3), 0));
            assert_eq!(here.poll_timeout(), SimTime::NEVER);
            loaded.receive(at(10), &frame, QUANTUM);
            assert_eq!(loaded.paused(), 0);
            let frame =
                frame.to_frame(MacAddress([2, 0, 0, 0, 0, 1])).expect("a frame of Ethernet");
            assert_eq!(frame.ethernet.destination, MacAddress::MAC_CONTROL);
        }
    }

    #[test]
    fn the_controls_of_a_port_are_half_a_cache_line() {
        assert!(size_of::<LinkController>() <= 32);
    }

    #[test]
    fn what_is_written_of_one_control_is_not_loaded_into_another() {
        for &written in LinkFlowControl::PAUSES {
            let mut saved = Vec::new();
            controller(written).save(&mut saved).expect("it can be saved");
            for &other in LinkFlowControl::PAUSES.iter().filter(|&&other| other != written) {
                assert!(controller(other).load(&mut &saved[..]).is_err());
            }
        }
    }
}
