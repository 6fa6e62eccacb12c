//! Instructions of a traversal, counted by valgrind: the difference of two runs, so that what is done
//! once does not count.

use std::process::{Command, Stdio};

use crate::Failure;
use crate::case::took_by;

/// By how much the shorter runs are shorter than those that are timed; valgrind is some fifty times
/// slower.
const SHORTER: [u32; 2] = [40, 20];

/// `None` without valgrind.
pub(crate) fn of_a_traversal(hosts: u32, microseconds: u32) -> Result<Option<f64>, Failure> {
    let found = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let [short, long] = SHORTER.map(|by| counted(hosts, microseconds / by));
    let ((fewer, less), (more, much)) = (short?, long?);
    Ok(Some((much - less) / (more - fewer)))
}

/// Traversals and instructions of a run.
fn counted(hosts: u32, microseconds: u32) -> Result<(f64, f64), Failure> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("counts");
    let mut command = Command::new("valgrind");
    command
        .args(["-q", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(std::env::current_exe()?)
        .args(["--single", &hosts.to_string(), &microseconds.to_string()]);
    let took = took_by(&mut command)?;
    let counts = std::fs::read_to_string(file)?;
    let total = counts.lines().find_map(|line| line.strip_prefix("totals: "));
    let total = total.or_else(|| counts.lines().find_map(|line| line.strip_prefix("summary: ")));
    let instructions: f64 = total.ok_or("valgrind did not say a sum")?.trim().parse()?;
    Ok((took.traversals() as f64, instructions))
}
