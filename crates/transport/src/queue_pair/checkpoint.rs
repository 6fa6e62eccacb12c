//! What a queue pair saves, and what it loads into one that was set up anew.

use rocelab_state::{Result, State, load_value, save_value};

use super::pair::QueuePair;

impl State for QueuePair {
    fn save(&self, to: &mut Vec<u8>) -> Result {
        let Self {
            requester,
            responder,
            unreliable,
            pacer,
            address,
            profile,
            qpn: _,
            state,
            prefers_responses,
            owes_echo,
            paths,
            next_cnp,
            retransmissions,
            schedule,
            timer_entry,
        } = self;
        requester.save(to)?;
        responder.save(to)?;
        unreliable.save(to)?;
        pacer.save(profile, to)?;
        save_value(&(state, prefers_responses, owes_echo, next_cnp, retransmissions), to)?;
        save_value(&(schedule, timer_entry), to)?;
        // Whether it is there follows from the settings.
        let Some(paths) = paths else { return Ok(()) };
        paths.spread.as_ref().map_or(Ok(()), |spread| spread.save(to))?;
        let Some(migration) = &paths.migration else { return Ok(()) };
        save_value(&address.path(), to)?;
        migration.save(to)
    }

    fn load(&mut self, from: &mut &[u8]) -> Result {
        self.requester.load(from)?;
        self.responder.load(from)?;
        self.unreliable.load(from)?;
        self.pacer.load(&self.profile, from)?;
        self.state = load_value(from)?;
        (self.prefers_responses, self.owes_echo) = load_value(from)?;
        (self.next_cnp, self.retransmissions) = load_value(from)?;
        (self.schedule, self.timer_entry) = load_value(from)?;
        let Some(paths) = &mut self.paths else { return Ok(()) };
        paths.spread.as_mut().map_or(Ok(()), |spread| spread.load(from))?;
        let Some(migration) = &mut paths.migration else { return Ok(()) };
        self.address.set_path(load_value(from)?);
        migration.load(from)
    }
}
