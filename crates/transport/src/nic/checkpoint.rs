//! What a NIC saves, and what it loads into one that was set up anew.

use rocelab_state::{Result, State, load_value, save_value, unfit};

use rocelab_units::SimTime;

use super::Nic;
use super::arbitration::Arbitration;
use super::queue_pairs::{FIRST_QPN, MAX_QPN, QueuePairs};
use super::timers::Timer;
use crate::QueuePairConfig;
use crate::queue_pair::{QueuePair, Schedule};

/// Loads a NIC whose queue pairs are those that were saved. Where they were made in the course of
/// the simulation, use [`Nic::load_with`].
impl State for Nic {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self { config: _, queue_pairs, arbitration, shared, host } = self;
        let Arbitration { ready, paced, paced_entries, pacing: _, timers } = arbitration;
        let numbers: Vec<u32> = queue_pairs.iter().map(QueuePair::qpn).collect();
        save_value(&(queue_pairs.len() as u64, numbers), to)?;
        queue_pairs.iter().try_for_each(|queue_pair| queue_pair.save(to))?;
        save_value(&ready.in_order(), to)?;
        save_value(&(paced, paced_entries, timers, shared), to)?;
        host.save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        self.load_with(from, |_| None)
    }
}

impl Nic {
    /// Loads what was [saved](State::save). Queue pairs that are not there are made by the
    /// configuration that `config` gives for their number; those that had been destroyed are
    /// destroyed.
    ///
    /// # Errors
    /// If that is not what a NIC with like settings saved, or if there is no configuration. It may
    /// be half loaded then.
    pub fn load_with(
        &mut self,
        from: &mut &[u8],
        config: impl FnMut(u32) -> Option<QueuePairConfig>,
    ) -> Result {
        let (room, numbers): (u64, Vec<u32>) = load_value(from)?;
        self.make_queue_pairs(&numbers, config)?;
        self.queue_pairs.make_room(room)?;
        for queue_pair in self.queue_pairs.iter_mut() {
            queue_pair.load(from)?;
        }
        let arbitration = &mut self.arbitration;
        arbitration.load_ready(&load_value::<Vec<u32>>(from)?, &self.queue_pairs)?;
        (arbitration.paced, arbitration.paced_entries) = load_value(from)?;
        (arbitration.timers, self.shared) = load_value(from)?;
        self.host.load(from)?;
        arbitration.check_pacing(&self.queue_pairs)?;
        let awake = self.queue_pairs.iter().filter(|queue_pair| queue_pair.is_awake()).count();
        if awake != self.shared.active as usize {
            return Err(unfit("the pacing of queue pairs"));
        }
        if arbitration.paced.reach().max(arbitration.timers.reach()) > self.queue_pairs.len() {
            return Err(unfit("a queue pair's timer"));
        }
        Ok(())
    }

    /// Sees to it that there are queue pairs of these numbers, and no others.
    fn make_queue_pairs(
        &mut self,
        numbers: &[u32],
        mut config: impl FnMut(u32) -> Option<QueuePairConfig>,
    ) -> Result {
        if !numbers.is_sorted_by(|one, next| one < next) {
            return Err(unfit("the order of queue pairs"));
        }
        let there: Vec<u32> = self.queue_pairs().map(QueuePair::qpn).collect();
        for qpn in there.into_iter().filter(|qpn| numbers.binary_search(qpn).is_err()) {
            self.destroy_queue_pair(qpn);
        }
        for &qpn in numbers {
            if self.has_queue_pair(qpn) {
                continue;
            }
            let config = config(qpn)
                .filter(|config| config.qpn == qpn && (FIRST_QPN..=MAX_QPN).contains(&config.qpn));
            self.create_queue_pair(config.ok_or_else(|| unfit("a queue pair"))?);
        }
        Ok(())
    }
}

impl QueuePairs {
    /// Makes the table as long as it was: timers of queue pairs that were destroyed point into it.
    fn make_room(&mut self, room: u64) -> Result {
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let used = self
            .places()
            .filter(|(_, one)| one.is_some())
            .last()
            .map_or(0, |(last, _)| last as usize + 1);
        if !(used..=(MAX_QPN - FIRST_QPN) as usize + 1).contains(&room) {
            return Err(unfit("the number of queue pairs"));
        }
        self.resize(room);
        Ok(())
    }
}

impl Arbitration {
    /// Puts those queue pairs into the rings that are ready, which have just been loaded.
    fn load_ready(&mut self, in_order: &[u32], queue_pairs: &QueuePairs) -> Result {
        let mut indices = in_order.to_vec();
        indices.sort_unstable();
        let is_ready = |queue_pair: &QueuePair| queue_pair.schedule == Schedule::Ready;
        let ready = queue_pairs.places().filter_map(|(index, queue_pair)| {
            queue_pair.filter(|queue_pair| is_ready(queue_pair)).map(|_| index)
        });
        if !ready.eq(indices) {
            return Err(unfit("the queue pairs that may send"));
        }
        self.ready = Default::default();
        self.ready.resize(queue_pairs.len());
        for &index in in_order {
            let queue_pair = queue_pairs.find(index);
            let priority = queue_pair.map_or(0, QueuePair::priority);
            self.ready.push(priority, index);
        }
        Ok(())
    }

    /// Counts the queue pairs that wait for pacing credit, each of which has an entry that is not late.
    fn check_pacing(&mut self, queue_pairs: &QueuePairs) -> Result {
        let mut entries: Vec<Timer> = self.paced.entries().collect();
        entries.sort_unstable();
        let has_entry =
            |time, index| time == SimTime::NEVER || entries.binary_search(&(time, index)).is_ok();
        let all_there = (0..).zip(&self.paced_entries).all(|(index, &time)| has_entry(time, index));
        let paced = queue_pairs.places().filter_map(|(index, queue_pair)| {
            let queue_pair = queue_pair?;
            (queue_pair.schedule == Schedule::Paced).then(|| (index, queue_pair.release()))
        });
        self.pacing = 0;
        for (index, release) in paced {
            let entry: Option<&SimTime> = self.paced_entries.get(index as usize);
            if entry.is_none_or(|&entry| entry > release) {
                return Err(unfit("the pacing of queue pairs"));
            }
            self.pacing += 1;
        }
        let fits = all_there && self.paced_entries.len() == queue_pairs.len();
        if fits { Ok(()) } else { Err(unfit("the pacing of queue pairs")) }
    }
}
