//! `rocelab sweep`.

use std::process::Stdio;
use std::time::Duration;

use crate::program::{SMALL, Sandbox};

/// [`SMALL`] with twelve points.
const GRID: &str = "\n[sweep]\nseeds = 3\n[sweep.grid]\n\"workload.incast.senders\" = [1, 3]\n\
     \"roce.path_mtu\" = [512, 1024]\n";

/// A folder with a sweep of twelve points, `grid.toml`.
fn with_grid() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("grid.toml", format!("{SMALL}{GRID}"));
    sandbox
}

/// The combined tables in a folder.
fn tables(sandbox: &Sandbox, folder: &str) -> [Vec<u8>; 2] {
    ["runs.parquet", "flows.parquet"]
        .map(|name| std::fs::read(sandbox.path(folder).join(name)).expect(name))
}

#[test]
fn every_point_has_results_and_all_have_tables() {
    let sandbox = with_grid();
    let told = sandbox.succeeds(&["sweep", "grid.toml"]);
    let expected = "12 of 12 points: results/grid-sweep/runs.parquet, results/grid-sweep/flows.parquet; how they \
         ran: results/grid-sweep/points.csv\n";
    assert_eq!(told, expected);
    let (names, rows) = sandbox.csv("results/grid-sweep/points.csv");
    assert_eq!(
        names,
        ["point", "settings", "directory", "status", "wall_s", "cpu_s", "host", "error"]
    );
    assert_eq!(rows.len(), 12);
    assert_eq!(rows[5][1], "workload.incast.senders=1 roce.path_mtu=1024 seed=3");
    assert!(rows.iter().all(|row| row[3] == "done" && row[5].parse::<f64>().is_ok()));
    // A point is an ordinary run: its scenario runs again, to the same digest.
    let resolved = format!("results/grid-sweep/{}/scenario.resolved.toml", rows[5][2]);
    sandbox.succeeds(&["run", &resolved, "--out", "again", "--quiet"]);
    let digest = |folder: &str| sandbox.json(&format!("{folder}/summary.json"))["digest"].clone();
    assert_eq!(digest("again"), digest(&format!("results/grid-sweep/{}", rows[5][2])));
    // The scenario without its sweep still is one.
    sandbox.succeeds(&["run", "grid.toml", "--out", "alone", "--quiet"]);
}

#[test]
fn a_sweep_that_is_killed_goes_on_to_the_same_tables() {
    let sandbox = with_grid();
    let large = ["--set", "workload.incast.bytes=3MB"];
    let arguments =
        |out: &'static str| [&["sweep", "grid.toml", "--quiet", "--out", out][..], &large].concat();
    sandbox.succeeds(&arguments("whole"));
    let mut kills = 0;
    for wait in 1..=200 {
        let mut command = sandbox.program(&arguments("killed"));
        let mut child = command.stderr(Stdio::null()).spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(20 + wait * 7 % 60));
        if child.try_wait().expect("it is ours").is_some_and(|ended| ended.success()) {
            break;
        }
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        kills += 1;
    }
    assert!(kills > 2, "{kills}");
    sandbox.succeeds(&arguments("killed"));
    assert_eq!(tables(&sandbox, "killed"), tables(&sandbox, "whole"));
    let hidden = |name: &String| name.split('/').any(|part| part.starts_with('.'));
    assert_eq!(sandbox.tree().into_iter().filter(hidden).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn points_run_by_themselves_and_are_collected() {
    let sandbox = with_grid();
    sandbox.succeeds(&["sweep", "grid.toml", "--quiet", "--out", "whole", "--threads", "2"]);
    let listed = sandbox.succeeds(&["sweep", "grid.toml", "--list"]);
    assert_eq!(listed.lines().count(), 12);
    assert_eq!(
        listed.lines().nth(11),
        Some("11 workload.incast.senders=3 roce.path_mtu=1024 seed=3")
    );
    for point in (0..12).rev() {
        sandbox.succeeds(&["sweep", "grid.toml", "--out", "parts", "--point", &point.to_string()]);
        if point == 5 {
            let early = sandbox.rocelab(&["sweep", "grid.toml", "--out", "parts", "--collect"]);
            assert_eq!(early.code, Some(1));
            assert!(early.stderr.contains("5 points without results"), "{}", early.stderr);
        }
    }
    let told = sandbox.succeeds(&["sweep", "grid.toml", "--out", "parts", "--collect"]);
    assert!(told.starts_with("12 of 12 points"), "{told}");
    assert_eq!(tables(&sandbox, "parts"), tables(&sandbox, "whole"));
}

/// The scripts run, as far as a shell can run them.
#[test]
fn scripts_carry_points_out() {
    let sandbox = with_grid();
    let emit = |program| {
        let set = ["--set", "sweep.seeds=1", "--set", "workload.incast.bytes=20KB"];
        sandbox.succeeds(
            &[&["sweep", "grid.toml", "--out", "out", "--emit", program][..], &set].concat(),
        )
    };
    let slurm = emit("slurm");
    assert!(slurm.contains("#SBATCH --array=0-3\n"), "{slurm}");
    sandbox.write("job.sh", &slurm);
    for task in ["0", "1", "2", "3"] {
        let mut job = std::process::Command::new("bash");
        let job = job.arg("job.sh").current_dir(sandbox.path("")).env("SLURM_ARRAY_TASK_ID", task);
        assert!(job.status().expect("bash runs").success());
    }
    let collect = slurm.lines().find_map(|line| line.strip_prefix("# When the array is done: "));
    let mut shell = std::process::Command::new("bash");
    let shell = shell.args(["-c", collect.expect("a command")]).current_dir(sandbox.path(""));
    assert!(shell.status().expect("bash runs").success());
    let (_, rows) = sandbox.csv("out/points.csv");
    assert!(rows.len() == 4 && rows.iter().all(|row| row[3] == "done"), "{rows:?}");
    assert!(emit("parallel").contains("/out/parallel.joblog' "));
    assert!(emit("snakemake").contains("range(4)"));
}

#[test]
fn what_fails_is_named_and_the_others_are_kept() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "some.toml",
        format!("{SMALL}[sweep.grid]\n\"workload.incast.senders\" = [1, 17, 2]\n"),
    );
    let ended = sandbox.rocelab(&["sweep", "some.toml", "--out", "out"]);
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stderr.contains("point 1 failed: workload.incast.senders=17"),
        "{}",
        ended.stderr
    );
    // A swept value is told of where the sweep has it.
    let line = SMALL.lines().count() + 2;
    let place = format!("some.toml:{line}:33: workload.incast.senders = 17");
    assert!(ended.stderr.contains(&place), "{place}: {}", ended.stderr);
    assert!(ended.stdout.starts_with("2 of 3 points"), "{}", ended.stdout);
    let (_, rows) = sandbox.csv("out/points.csv");
    assert_eq!(
        rows.iter().map(|row| row[3].as_str()).collect::<Vec<_>>(),
        ["done", "failed", "done"]
    );
}

/// Results that somebody damaged are not taken for whole.
#[test]
fn damaged_results_are_told() {
    let sandbox = with_grid();
    sandbox.succeeds(&["sweep", "grid.toml", "--out", "out", "--quiet"]);
    let flows = sandbox.path("out/points/7/flows.csv");
    let text = std::fs::read_to_string(&flows).unwrap();
    let cut: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    std::fs::write(&flows, cut).unwrap();
    let before = tables(&sandbox, "out");
    let ended = sandbox.rocelab(&["sweep", "grid.toml", "--out", "out"]);
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("out/points/7/flows.csv"), "{}", ended.stderr);
    assert!(ended.stderr.contains("has 1 flows, and the run had 3"), "{}", ended.stderr);
    assert_eq!(tables(&sandbox, "out"), before);
}

/// Two shells, or a job that a cluster started twice.
#[test]
fn two_sweeps_in_one_folder_share_the_work() {
    let sandbox = with_grid();
    let large = ["--set", "workload.incast.bytes=3MB"];
    let arguments = |out: &'static str| {
        [&["sweep", "grid.toml", "--quiet", "--threads", "1", "--out", out][..], &large].concat()
    };
    sandbox.succeeds(&arguments("whole"));
    let start = || sandbox.program(&arguments("both")).spawn().expect("the program starts");
    let (mut one, mut other) = (start(), start());
    assert!(one.wait().unwrap().success() && other.wait().unwrap().success());
    assert_eq!(tables(&sandbox, "both"), tables(&sandbox, "whole"));
    let hidden = |name: &String| name.split('/').any(|part| part.starts_with('.'));
    assert_eq!(sandbox.tree().into_iter().filter(hidden).collect::<Vec<_>>(), [""; 0]);
}

/// A task elsewhere says why it failed to those who collect.
#[test]
fn why_a_single_point_failed_is_collected() {
    let sandbox = Sandbox::new();
    let text = format!("{SMALL}[capture]\nports = [\"host-0:0\"]\n[sweep]\nseeds = 2\n");
    sandbox.write("some.toml", text);
    sandbox.write("out/points/0/rocelab", "a file of somebody else");
    let ended = sandbox.rocelab(&["sweep", "some.toml", "--out", "out", "--point", "0"]);
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("point 0 failed: seed=1"), "{}", ended.stderr);
    let none = sandbox.rocelab(&["sweep", "some.toml", "--out", "out", "--collect"]);
    assert_eq!(none.stdout, "0 of 2 points: no tables are made; how they ran: out/points.csv\n");
    assert!(!sandbox.path("out/runs.parquet").exists());
    sandbox.succeeds(&["sweep", "some.toml", "--out", "out", "--point", "1"]);
    let ended = sandbox.rocelab(&["sweep", "some.toml", "--out", "out", "--collect"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("out/points/0"), "{}", ended.stderr);
    let (_, rows) = sandbox.csv("out/points.csv");
    assert_eq!((rows[0][3].as_str(), rows[1][3].as_str()), ("failed", "done"));
    assert!(rows[0][7].contains("out/points/0"), "{}", rows[0][7]);
    // Once it is done, it has not failed.
    std::fs::remove_dir_all(sandbox.path("out/points/0")).unwrap();
    sandbox.succeeds(&["sweep", "some.toml", "--out", "out", "--point", "0"]);
    assert!(!sandbox.path("out/points/0.failed.txt").exists());
    sandbox.succeeds(&["sweep", "some.toml", "--out", "out", "--collect"]);
}

#[test]
fn what_cannot_be_swept_is_refused_and_nothing_is_written() {
    let sandbox = with_grid();
    sandbox.write("plan.toml", "[sweep]\nscenario = \"grid.toml\"\nseeds = 2\n");
    let cases: [(&[&str], &[&str]); 7] = [
        (&["sweep", "grid.toml", "--point", "12"], &["--point 12", "12 points", "--list"]),
        (
            &["sweep", "grid.toml", "--set", "sweep.seeds=0"],
            &["--set", "sweep.seeds = 0", "from 1"],
        ),
        (&["sweep", "grid.toml", "--set", "topology.ring.hosts=3"], &["topology.ring"]),
        (&["sweep", "missing.toml"], &["missing.toml", "cannot be read"]),
        (&["sweep", "grid.toml", "--emit", "pbs"], &["pbs", "slurm", "parallel", "snakemake"]),
        (&["run", "plan.toml"], &["plan.toml:2:12", "plan of a sweep", "rocelab sweep"]),
        (&["sweep", "grid.toml", "--set", "sweep.grid.stop=3"], &["sweep.grid.stop = 3", "a list"]),
    ];
    let before = sandbox.tree();
    for (arguments, parts) in cases {
        let ended = sandbox.rocelab(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "{arguments:?}: {part}: {}", ended.stderr);
        }
        assert_eq!(sandbox.tree(), before, "{arguments:?}");
    }
}

/// A run alone ends with exit code 1 where frames of lossless priorities were dropped; so does a sweep, and says where.
#[test]
fn what_is_wrong_with_a_point_is_told_with_it() {
    let sandbox = Sandbox::new();
    let lossless = "[switch]\nheadroom = \"0B\"\nbuffer = \"100KB\"\nxoff = \"90KB\"\n[congestion_control.none]\n";
    let sweep = "[sweep.grid]\n\"workload.incast.bytes\" = [\"1KB\", \"1MB\"]\n";
    sandbox.write("grid.toml", format!("{SMALL}{lossless}{sweep}"));
    let alone =
        sandbox.rocelab(&["run", "grid.toml", "--set", "workload.incast.bytes=1MB", "--quiet"]);
    assert_eq!(alone.code, Some(1), "{alone:?}");
    let told = sandbox.rocelab(&["sweep", "grid.toml", "--quiet"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    let text = told.stderr;
    let line = text.lines().find(|line| line.contains("point 1 ")).unwrap_or_default();
    assert!(line.contains("workload.incast.bytes=1MB") && line.contains("dropped"), "{text}");
    assert!(!text.contains("point 0"), "{text}");
}

#[test]
fn a_seed_that_is_there_twice_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("twice.toml", format!("{SMALL}[sweep]\nseeds = [1, 2, 1]\n"));
    let told = sandbox.rocelab(&["sweep", "twice.toml"]);
    assert_eq!(told.code, Some(2), "{told:?}");
    let text = told.stderr;
    assert!(text.contains("sweep.seeds") && text.contains("the seed 1 is there twice"), "{text}");
}
