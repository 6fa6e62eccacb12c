//! Golden runs of the simulator itself: the same trace, the same log of every event, byte for byte.
//!
//! They are in `golden/ns3-rdma` of the folder that `ROCELAB_SHARED` names, or of `shared` beside the
//! repository. Where they are missing the test says so and passes.

use std::path::{Path, PathBuf};
use std::process::Command;

use rocelab_ns3_rdma::{Arithmetic, Branch, Options};

use crate::run;

fn shared() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    std::env::var_os("ROCELAB_SHARED").map_or_else(beside, PathBuf::from)
}

/// The content of a file that may be compressed; none if there is no such file.
fn content(folder: &Path, name: &str) -> Option<Vec<u8>> {
    if let Ok(bytes) = std::fs::read(folder.join(name)) {
        return Some(bytes);
    }
    let packed = folder.join(format!("{name}.gz"));
    packed.is_file().then(|| {
        let output = Command::new("gzip").arg("-dc").arg(&packed).output().expect("gzip runs");
        assert!(output.status.success(), "{}: gzip fails", packed.display());
        output.stdout
    })
}

/// The seed that a case's `meta.json` tells, or 1.
fn seed(folder: &Path) -> u32 {
    let meta = std::fs::read_to_string(folder.join("meta.json")).unwrap_or_default();
    let behind = meta.split("\"seed\":").nth(1).unwrap_or("1");
    let digits = behind.trim_start().split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(1)
}

/// Where two texts begin to differ.
fn difference(ours: &[u8], theirs: &[u8]) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let lines = |bytes: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect()
    };
    let (ours, theirs) = (lines(ours), lines(theirs));
    let same = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
    let of = |lines: &[String]| lines.get(same).cloned().unwrap_or_else(|| "the end".to_owned());
    Some(format!(
        "line {} of {} and {}: ours `{}`, theirs `{}`",
        same + 1,
        ours.len(),
        theirs.len(),
        of(&ours),
        of(&theirs)
    ))
}

#[test]
fn results_are_those_of_the_simulator() {
    let folder = shared().join("golden/ns3-rdma");
    let Ok(cases) = std::fs::read_dir(&folder) else {
        println!("skipped: there are no golden runs in {}", folder.display());
        return;
    };
    let only = std::env::var("GOLDEN_CASE").unwrap_or_default();
    let mut cases: Vec<_> = cases.map(|entry| entry.unwrap().path()).collect();
    cases.retain(|case| case.join("config.txt").is_file());
    cases.sort();
    let (mut run, mut skipped, mut files, mut hops) = (0, 0, 0, 0);
    let mut failures = Vec::new();
    for case in cases {
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("tcp-") || !name.contains(&only) {
            skipped += 1;
            continue;
        }
        let is_timely = name.starts_with("timely-");
        let options = Options {
            seed: seed(&case),
            arithmetic: if name.ends_with("-double") {
                Arithmetic::Double
            } else {
                Arithmetic::Linux
            },
            branch: if is_timely { Branch::Timely } else { Branch::Master },
        };
        let made = run::run(&case.join("config.txt"), options).unwrap();
        run += 1;
        hops += made.statistics.hops.data;
        let compared = if is_timely {
            vec![("stdout.txt", made.printed)]
        } else {
            vec![("mix.tr", made.trace), ("exact.txt", made.log)]
        };
        for (file, ours) in compared {
            let Some(theirs) = content(&case, file) else { continue };
            files += 1;
            if let Some(difference) = difference(&ours, &theirs) {
                failures.push(format!("{name}/{file}: {difference}"));
            }
        }
    }
    println!("run {run}, skipped {skipped}, files compared {files}, packet-hops {hops}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
