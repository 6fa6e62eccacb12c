//! The resources that this process has used.

/// CPU seconds (user and system) and the largest resident memory in bytes of this process so far;
/// zeros if the operating system does not provide them.
pub(crate) fn used() -> (f64, u64) {
    #[cfg(unix)]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        use nix::sys::time::TimeValLike;

        let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return (0.0, 0) };
        let cpu = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        let since_start = u64::try_from(usage.max_rss()).unwrap_or(0) * unit;
        (cpu as f64 * 1e-6, own_peak().unwrap_or(since_start))
    }
    #[cfg(not(unix))]
    (0.0, 0)
}

/// CPU seconds (user and system) of this thread so far; zero if the operating system does not provide them.
pub(crate) fn used_by_thread() -> f64 {
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

/// The largest resident memory since this program was loaded, in bytes, on Linux. The value of
/// `getrusage` is not used, because it includes a program that was loaded earlier in the same
/// process, for example `cargo`.
#[cfg(unix)]
fn own_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
