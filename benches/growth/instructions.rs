//! Instructions of a traversal, counted by valgrind: the difference of two runs, so that the work
//! at the start is not included.

use std::process::{Command, Stdio};

use crate::Failure;
use crate::case::{Case, WARM_UP_US, took_by};

/// `None` without valgrind.
pub(crate) fn of_a_traversal(case: &Case) -> Result<Option<f64>, Failure> {
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let (fewer, less) = counted(case.hosts, WARM_UP_US)?;
    let (more, much) = counted(case.hosts, WARM_UP_US + case.counted_us)?;
    Ok(Some((much - less) / (more - fewer)))
}

/// Traversals and instructions of a run that ends at `end_us`.
fn counted(hosts: u32, end_us: u32) -> Result<(f64, f64), Failure> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("counts");
    let mut command = Command::new("valgrind");
    command
        .args(["-q", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(std::env::current_exe()?)
        .args(["--single", &hosts.to_string(), &end_us.to_string(), "1"]);
    let took = took_by(&mut command)?;
    let counts = std::fs::read_to_string(file)?;
    let total = counts.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.or_else(|| counts.lines().find_map(|line| line.strip_prefix("summary: ")));
    let instructions: f64 = total.ok_or("valgrind did not say a sum")?.trim().parse()?;
    Ok((took.all_traversals as f64, instructions))
}
