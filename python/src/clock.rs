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
    return cpu_of(nix::sys::resource::UsageWho::RUSAGE_THREAD);
    #[cfg(not(target_os = "linux"))]
    0.0
}

/// CPU seconds (user and system) of this process so far; zero where the operating system does not tell.
pub(crate) fn cpu_of_process() -> f64 {
    #[cfg(unix)]
    return cpu_of(nix::sys::resource::UsageWho::RUSAGE_SELF);
    #[cfg(not(unix))]
    0.0
}

#[cfg(unix)]
fn cpu_of(who: nix::sys::resource::UsageWho) -> f64 {
    use nix::sys::time::TimeValLike;

    let Ok(usage) = nix::sys::resource::getrusage(who) else { return 0.0 };
    let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    cpu as f64 * 1e-6
}

/// The largest resident memory of this process, Python's included (bytes); zero where the operating system does not
/// tell.
pub(crate) fn peak_memory_bytes() -> u64 {
    #[cfg(unix)]
    {
        let who = nix::sys::resource::UsageWho::RUSAGE_SELF;
        let Ok(usage) = nix::sys::resource::getrusage(who) else { return 0 };
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        u64::try_from(usage.max_rss()).unwrap_or(0) * unit
    }
    #[cfg(not(unix))]
    0
}
