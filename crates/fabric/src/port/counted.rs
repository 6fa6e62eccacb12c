//! A port whose flow control counts frames, and whose frames may wait by the port that they came in by.

use rocelab_units::SimTime;

use super::{InputQueues, Port, PortExtras};
use crate::chain::{Chain, PacketId};
use crate::flow_control::{FlowControl, LeavingFrame};
use crate::link::Serialisation;

/// What only a port does whose flow control [counts frames](FlowControl::counts_frames).
#[derive(Debug)]
pub struct CountedPort<'a, L, F>(pub(super) &'a mut Port<L, F>);

impl PortExtras {
    /// These extras, if there are any, and queues by input, if there are any.
    #[must_use]
    pub fn with_inputs(
        extras: Option<Box<Self>>,
        inputs: Option<Box<InputQueues>>,
    ) -> Option<Box<Self>> {
        if inputs.is_none() {
            return extras;
        }
        let mut extras = extras.unwrap_or_default();
        extras.inputs = inputs;
        Some(extras)
    }
}

/// The queues by input of a port, if it has such.
pub(super) fn inputs<L, F>(port: &Port<L, F>) -> Option<&InputQueues> {
    port.extras.as_ref()?.inputs.as_deref()
}

pub(super) fn inputs_mut<L, F>(port: &mut Port<L, F>) -> Option<&mut InputQueues> {
    port.extras.as_mut()?.inputs.as_deref_mut()
}

/// The frame of a queue that goes next; [`PacketId::NONE`] if none waits.
fn next_of<L, F>(port: &Port<L, F>, queue: u8) -> PacketId {
    match inputs(port) {
        Some(inputs) => inputs.head(queue),
        None => port.queues[usize::from(queue)].frames.head(),
    }
}

/// Takes the frame of a queue that goes next, even if it is paused.
pub(super) fn take_next<L, F, C: Chain>(
    port: &mut Port<L, F>,
    queue: u8,
    chain: &C,
    len: impl Fn(&C, PacketId) -> u32,
) -> Option<PacketId> {
    let (id, is_empty) = match inputs_mut(port) {
        Some(inputs) => (inputs.pop(chain, queue, &len)?, inputs.is_empty(queue)),
        None => {
            let line = &mut port.queues[usize::from(queue)].frames;
            (line.pop_front(chain)?, line.is_empty())
        }
    };
    port.queues[usize::from(queue)].bytes -= len(chain, id);
    if is_empty {
        port.waiting &= !(1 << queue);
    }
    Some(id)
}

impl<L: Serialisation, F: FlowControl> CountedPort<'_, L, F> {
    /// Adds a frame of `len` bytes that came in by port `input` to the queue of its priority.
    #[cold]
    pub fn enqueue(
        &mut self,
        chain: &mut impl Chain,
        id: PacketId,
        (priority, input): (u8, u16),
        len: u32,
    ) {
        let Some(inputs) = inputs_mut(self.0) else {
            return self.0.enqueue(chain, id, priority, len);
        };
        inputs.push(chain, (id, len), (priority, input));
        self.0.queues[usize::from(priority)].bytes += len;
        self.0.waiting |= 1 << priority;
    }

    /// Records that a frame of `len` bytes that came in by port `input` is sent at `now` without having waited here, which
    /// counts as the turn of that input.
    #[cold]
    pub fn note_passed(&mut self, now: SimTime, (priority, input): (u8, u16), len: u32) {
        if let Some(inputs) = inputs_mut(self.0) {
            inputs.note_passed(priority, input);
        }
        self.0.note_passed(priority);
        self.note_started(now, priority, len);
    }

    /// Records that a frame of `priority` and `len` bytes has arrived here. Returns whether a control frame is due because
    /// of it.
    pub fn note_arrived(&mut self, priority: u8, len: u32) -> bool {
        self.0.ask_flow_control(|flow_control, _| flow_control.on_arrived(priority, len))
    }

    /// Records that the memory is free again of a frame of `priority` and `len` bytes that came in here. Returns whether
    /// a control frame is due.
    pub fn note_freed(&mut self, priority: u8, len: u32) -> bool {
        self.0.ask_flow_control(|flow_control, _| flow_control.on_freed(priority, len));
        self.0.control_due
    }

    /// Bytes that wait in a lane and came in by port `input`.
    pub fn queued_from(&self, lane: u8, input: u16) -> u32 {
        inputs(self.0).map_or_else(|| self.0.queued(lane), |inputs| inputs.bytes_of(lane, input))
    }

    /// Records which frame of a switch starts here, or, with none, that it is over. Returns the one before it.
    pub fn set_leaving(&mut self, frame: Option<LeavingFrame>) -> Option<LeavingFrame> {
        self.0.flow_control.set_leaving(frame)
    }

    /// Takes the frame that goes next at `now`, with its priority; `len` gives a packet's frame length in bytes. Holds back the
    /// queues whose next frame must not start.
    #[cold]
    pub fn dequeue<C: Chain>(
        &mut self,
        now: SimTime,
        chain: &C,
        len: impl Fn(&C, PacketId) -> u32,
    ) -> Option<(PacketId, u8)> {
        let Self(port) = self;
        let mut lens = [0; 8];
        for (queue, head_len) in (0u8..).zip(&mut lens) {
            if (port.waiting & !port.blocked) & 1 << queue == 0 {
                continue;
            }
            *head_len = len(chain, next_of(port, queue));
            if !port.flow_control.may_start(queue, *head_len) {
                port.ask_flow_control(|flow_control, _| flow_control.hold(now, queue));
                port.update_blocked();
            }
        }
        let eligible = port.waiting & !port.blocked;
        if eligible == 0 {
            return None;
        }
        let head_len = |queue: u8| lens[usize::from(queue)];
        let queue = port.scheduler.select(port.waiting, eligible, head_len);
        let id = take_next(port, queue, chain, len)?;
        self.note_started(now, queue, head_len(queue));
        Some((id, queue))
    }

    /// A frame of `len` bytes from the queue of `priority` starts at `now`.
    fn note_started(&mut self, now: SimTime, priority: u8, len: u32) {
        self.0.ask_flow_control(|flow_control, _| flow_control.on_started(now, priority, len));
    }
}
