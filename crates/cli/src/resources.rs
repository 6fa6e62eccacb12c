//! What the process has used of the machine.

/// CPU seconds (user and system) and the largest resident memory in bytes of this process so far;
/// zeros where the operating system does not tell.
pub(crate) fn used() -> (f64, u64) {
    #[cfg(unix)]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::TimeValLike;

        let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return (0.0, 0) };
        let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        let memory = u64::try_from(usage.max_rss()).unwrap_or(0) * unit;
        (cpu as f64 * 1e-6, memory)
    }
    #[cfg(not(unix))]
    (0.0, 0)
}
