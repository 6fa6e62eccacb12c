//! What a pacer saves, and what it loads into one that was set up anew.

use rocelab_state::{Result, load_value, save_value};

use super::Pacer;
use crate::QueuePairProfile;
use crate::congestion_control::checkpoint;

/// The controller is built when the first data leaves. Before that there are only settings, and
/// when data may leave.
impl Pacer {
    pub(in crate::queue_pair) fn save(
        &self,
        profile: &QueuePairProfile,
        to: &mut Vec<u8>,
    ) -> Result {
        let Self {
            control,
            rate,
            window,
            timeout,
            asleep,
            counts_sent_bytes: _,
            between_frames: _,
            departures,
            release,
            line_rate: _,
            feedback: _,
            probes,
        } = self;
        save_value(&(asleep, release, departures, probes, control.is_some()), to)?;
        let Some(control) = control else { return Ok(()) };
        save_value(&(rate, window, timeout), to)?;
        checkpoint::save(&profile.congestion_control, control.as_ref(), to)
    }

    pub(in crate::queue_pair) fn load(
        &mut self,
        profile: &QueuePairProfile,
        from: &mut &[u8],
    ) -> Result {
        (self.asleep, self.release, self.departures, self.probes) = load_value(from)?;
        if load_value::<bool>(from)? {
            self.load_control(profile, from)?;
        }
        Ok(())
    }

    fn load_control(&mut self, profile: &QueuePairProfile, from: &mut &[u8]) -> Result {
        let answers = load_value(from)?;
        let mut control = self.build(profile, &super::path(profile, self.line_rate)); // Its rate is loaded, and its seed if it keeps one.
        checkpoint::load(&profile.congestion_control, control.as_mut(), from)?;
        self.control = Some(control);
        (self.rate, self.window, self.timeout) = answers;
        Ok(())
    }
}
