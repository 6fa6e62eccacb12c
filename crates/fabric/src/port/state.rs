//! A port in a checkpoint.
//!
//! The frames that wait are not part of it, because their places in the slab differ from run to
//! run. Their owner saves them in the order in which they [wait](Port::waiting_in), and [brings
//! them back](Port::restore_waiting).

use rocelab_state::{Result, State, load_value, save_value, unfit};

use super::counted::{inputs, inputs_mut};
use super::input_queues::Turns;
use super::{Port, PortExtras, PriorityQueue};
use crate::chain::{Chain, Fifo, PacketId};
use crate::flow_control::FlowControl;
use crate::link::Serialisation;

rocelab_state::state!(PortExtras {
    values: responding, ignored, discards, cut_off;
    states: shapers;
    kept: queue_of, pause_response, inputs
});

impl<L: Serialisation, F: FlowControl> Port<L, F> {
    /// Appends a frame of `len` bytes that came in by port `input` to a queue (0 to 7) of a port that was loaded. The loaded count of bytes includes it in the
    /// queue that it was saved in: another one if the map of queues has changed since.
    pub fn restore_waiting(
        &mut self,
        (saved_in, queue): (u8, u8),
        (id, len, input): (PacketId, u32, u16),
        chain: &mut impl Chain,
    ) {
        if saved_in != queue {
            let from = &mut self.queues[usize::from(saved_in)];
            from.bytes = from.bytes.saturating_sub(len);
            self.queues[usize::from(queue)].bytes += len;
        }
        match inputs_mut(self) {
            Some(inputs) => inputs.push(chain, (id, len), (queue, input)),
            None => self.queues[usize::from(queue)].frames.push_back(chain, id),
        }
        self.waiting |= 1 << queue;
    }
}

/// Empties the queues by input, and sets whose turn it is.
fn load_turns<L, F>(port: &mut Port<L, F>, turns: Option<Turns>) -> Result {
    let fits = match (inputs_mut(port), turns) {
        (None, None) => true,
        (Some(inputs), Some(turns)) => inputs.restart(turns),
        _ => false,
    };
    if fits { Ok(()) } else { Err(unfit("the queues of a port")) }
}

impl<L: Serialisation, F: FlowControl> State for Port<L, F> {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self { free_at, link, flow_control, queues, scheduler, extras, .. } = self;
        // Not saved: `waiting`, `control_due`, `paused` and `has_extras`, which repeat other fields, and `blocked`,
        // `notes_passing` and `is_counted`, which depend on settings. Loading computes them.
        save_value(&(free_at, queues.map(|queue| queue.bytes)), to)?;
        link.save(to)?;
        flow_control.save(to)?;
        scheduler.save(to)?;
        save_value(&inputs(self).map(|inputs| inputs.turns()), to)?;
        extras.save(to)
    }

    /// After loading, no frame waits: [`Port::restore_waiting`] adds them.
    fn load(&mut self, from: &mut &[u8]) -> Result {
        self.free_at = load_value(from)?;
        let queued: [u32; 8] = load_value(from)?;
        self.queues = queued.map(|bytes| PriorityQueue { frames: Fifo::default(), bytes });
        self.waiting = 0;
        self.link.load(from)?;
        self.flow_control.load(from)?;
        self.control_due = self.flow_control.is_pending();
        self.paused = self.flow_control.paused();
        self.scheduler.load(from)?;
        load_turns(self, load_value(from)?)?;
        // Failures and watchdogs can give a port extras while it runs.
        if load_value(from)? {
            self.extras_mut().load(from)?;
        }
        self.update_blocked();
        Ok(())
    }
}
