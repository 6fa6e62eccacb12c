//! What a NIC saves, and what it loads into one that was set up anew.

use rocelab_state::{
    BorshDeserialize, BorshSerialize, Result, State, load_value, save_value, unfit,
};
use rocelab_units::SimTime;

use super::{Nic, Sender};
use crate::congestion_control::{Path, checkpoint};
use crate::hpcc_ns3::Flow;
use crate::hpcc_ns3::ring::Ring;

impl<T: Copy + Ord + core::fmt::Debug + BorshSerialize + BorshDeserialize> Nic<T> {
    /// Saves its state.
    ///
    /// # Errors
    /// If a controller's number is not one.
    pub fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self {
            config,
            feedback: _,
            overheads: _,
            answers,
            ring: Ring { queue_pairs, unused, scanned, last },
            wake_up,
            timers,
            ended,
            counters,
        } = self;
        save_value(&(queue_pairs.len() as u64), to)?;
        for queue_pair in queue_pairs {
            save_value(&queue_pair.as_ref().map(|sender| sender.flow.number), to)?;
            let Some(sender) = queue_pair else { continue };
            sender.save(to)?;
            checkpoint::save(&config.algorithm, sender.control.as_ref(), to)?;
        }
        save_value(&(answers, unused, scanned, last), to)?;
        save_value(&(wake_up, timers, ended, counters), to)
    }

    /// Loads what was [saved](Self::save). `start` gives for a flow, by its number, what
    /// [`start`](Self::start) was told of it.
    ///
    /// # Errors
    /// If that is not what a NIC with like settings saved, or if a flow is not known. It may be half
    /// loaded then.
    pub fn load_with(
        &mut self,
        from: &mut &[u8],
        mut start: impl FnMut(u32) -> Option<(Flow, Path, u64)>,
    ) -> Result {
        self.ring.queue_pairs.clear();
        for _ in 0..load_value::<u64>(from)? {
            let Some(flow) = load_value::<Option<u32>>(from)? else {
                self.ring.queue_pairs.push(None);
                continue;
            };
            let (flow, path, window) = start(flow).ok_or_else(|| unfit("a flow"))?;
            let mut sender = Sender::new(&flow, &path, window, SimTime::ZERO, &self.config);
            sender.load(from)?;
            checkpoint::load(&self.config.algorithm, sender.control.as_mut(), from)?;
            self.ring.queue_pairs.push(Some(sender));
        }
        self.answers = load_value(from)?;
        (self.ring.unused, self.ring.scanned, self.ring.last) = load_value(from)?;
        (self.wake_up, self.timers, self.ended, self.counters) = load_value(from)?;
        self.check_numbers()
    }

    /// Whether numbers of queue pairs name what they have to.
    fn check_numbers(&self) -> Result {
        let Ring { queue_pairs, unused, scanned, last } = &self.ring;
        let holds = |number: &u32| queue_pairs.get(*number as usize).map(Option::is_some);
        let is_sound = scanned.iter().all(|number| holds(number) == Some(true))
            && unused.iter().all(|number| holds(number) == Some(false))
            && *last < usize::MAX
            && self.timers.all(|armed| holds(&armed.queue_pair).is_some() && armed.timer < 3);
        if is_sound { Ok(()) } else { Err(unfit("the number of a queue pair")) }
    }
}
