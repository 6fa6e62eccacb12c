//! The machine's clocks, which simulations themselves must not look at.

#[expect(clippy::disallowed_types, reason = "how long a run took is told beside its results")]
type Instant = std::time::Instant;

/// Wall-clock time since a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the start.
    pub(crate) fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// CPU seconds (user and system) of the calling thread so far; zero where the operating system does not tell.
pub(crate) fn cpu_of_thread() -> f64 {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::TimeValLike;

        let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) else { return 0.0 };
        let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        cpu as f64 * 1e-6
    }
    #[cfg(not(target_os = "linux"))]
    0.0
}
