//! What comes of the points.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use parquet::file::reader::{FileReader, SerializedFileReader};
use rocelab_results::Overwrite;
use rocelab_sweep::{Clock, Observed, Points, Status, Sweep, combine, write_points};

use crate::{SMALL, sweep};

/// A clock that stands still.
struct NoClock;

impl Clock for NoClock {
    fn wall_s(&self) -> f64 {
        0.0
    }

    fn cpu_s(&self) -> f64 {
        0.0
    }
}

const GRID: &str = "[sweep]\nseeds = 2\n[sweep.grid]\n\"workload.incast.senders\" = [1, 2]\n\
     congestion_control = [\"none\", \"dcqcn\"]\n\"roce.path_mtu\" = [512, 1024]\n";

fn go_on(_: &Observed<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Carries out all points on so many threads, and makes the tables.
fn carried_out(sweep: &Sweep, folder: &Path, threads: usize) -> Vec<Status> {
    let points = Points::new(sweep, folder, Overwrite::Refuse);
    let all: Vec<usize> = (0..sweep.points().len()).collect();
    let statuses = points.carry_out(&all, threads, &NoClock, &go_on);
    let done: Vec<usize> =
        all.into_iter().filter(|&point| matches!(statuses[point], Status::Done)).collect();
    combine(&points, &done).unwrap();
    statuses
}

/// The two tables, as bytes.
fn tables(folder: &Path) -> [Vec<u8>; 2] {
    ["flows.parquet", "runs.parquet"].map(|name| fs::read(folder.join(name)).unwrap())
}

/// The rows of a table, by the names of columns.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let row = |row: parquet::record::Row| {
        row.get_column_iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
    };
    reader.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect()
}

#[test]
fn rows_say_whose_they_are_in_the_order_of_the_points() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(GRID).unwrap();
    let statuses = carried_out(&sweep, folder.path(), 2);
    assert!(statuses.iter().all(|status| matches!(status, Status::Done)), "{statuses:?}");
    let runs = rows(&folder.path().join("runs.parquet"));
    assert_eq!(runs.len(), 16);
    for (number, run) in runs.iter().enumerate() {
        let point = &sweep.points()[number];
        assert_eq!(run["point"], number.to_string());
        for key in sweep.keys() {
            let said = run[key].trim_matches('"').to_owned();
            assert_eq!(said, point.setting(key).unwrap().value.to_text());
        }
        assert_eq!(run["seed"], (number % 2 + 1).to_string());
        assert_eq!(run["flows"], run["flows_completed"]);
        assert_eq!(run["flows"], run["workload.incast.senders"]);
        assert_eq!(run["version"].trim_matches('"'), env!("CARGO_PKG_VERSION"));
        let (mtu, flows) = (&run["roce.path_mtu"], &run["flows"]);
        // The digest is that of the run alone.
        let same = runs.iter().filter(|other| other["digest"] == run["digest"]);
        assert!(
            same.into_iter()
                .all(|other| (&other["roce.path_mtu"], &other["flows"]) == (mtu, flows))
        );
    }
    let flows = rows(&folder.path().join("flows.parquet"));
    assert_eq!(flows.len(), 8 + 16);
    let numbers: Vec<usize> = flows.iter().map(|flow| flow["point"].parse().unwrap()).collect();
    assert!(numbers.is_sorted());
    for flow in &flows {
        let packets = 10_000_u64.div_ceil(flow["roce.path_mtu"].parse().unwrap());
        assert_eq!(flow["packets"], packets.to_string());
        assert_eq!(flow["digest"], runs[flow["point"].parse::<usize>().unwrap()]["digest"]);
    }
}

#[test]
fn tables_are_the_same_however_points_are_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(GRID).unwrap();
    let (one, two, broken, single) = (
        folder.path().join("one"),
        folder.path().join("two"),
        folder.path().join("broken"),
        folder.path().join("single"),
    );
    carried_out(&sweep, &one, 1);
    carried_out(&sweep, &two, 3);
    assert_eq!(tables(&one), tables(&two));

    // Broken off after three points, and gone on with.
    let points = Points::new(&sweep, &broken, Overwrite::Refuse);
    let all: Vec<usize> = (0..16).collect();
    let ended = AtomicUsize::new(0);
    let three = |observed: &Observed<'_>| match observed {
        Observed::Ended { .. } if ended.fetch_add(1, Ordering::Relaxed) == 2 => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    };
    let statuses = points.carry_out(&all, 1, &NoClock, &three);
    assert_eq!(statuses.iter().filter(|status| matches!(status, Status::Done)).count(), 3);
    write_points(&points, &statuses).unwrap();
    let written = fs::metadata(points.directory(0)).unwrap().modified().unwrap();
    carried_out(&sweep, &broken, 2);
    assert_eq!(fs::metadata(points.directory(0)).unwrap().modified().unwrap(), written);
    assert_eq!(tables(&one), tables(&broken));

    // Each point by itself, the last first.
    let points = Points::new(&sweep, &single, Overwrite::Refuse);
    for point in (0..16).rev() {
        points.carry_out(&[point], 1, &NoClock, &go_on);
    }
    assert!(all.iter().all(|&point| matches!(points.found(point), Status::Done)));
    combine(&points, &all).unwrap();
    assert_eq!(tables(&one), tables(&single));
}

#[test]
fn labels_are_columns() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[labels]\nstudy = \"buffers\"\n[sweep.grid]\nlabels.arm = [\"a\", \"b\"]\n";
    carried_out(&sweep(text).unwrap(), folder.path(), 1);
    let runs = rows(&folder.path().join("runs.parquet"));
    let said: Vec<_> = runs.iter().map(|run| [&run["labels.arm"], &run["labels.study"]]).collect();
    assert_eq!(said, [["\"a\"", "\"buffers\""], ["\"b\"", "\"buffers\""]]);
    assert_eq!(runs[0]["digest"], runs[1]["digest"], "labels change nothing else");
}

/// Data frames refuse two columns of one name.
#[test]
fn a_swept_key_does_not_take_the_name_of_a_flows_column() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[sweep.grid]\ncongestion_control = [\"dcqcn\", \"none\"]\n";
    carried_out(&sweep(text).unwrap(), folder.path(), 1);
    let flows = rows(&folder.path().join("flows.parquet"));
    let swept: Vec<_> = flows.iter().map(|flow| &flow["sweep.congestion_control"]).collect();
    let own: Vec<_> = flows.iter().map(|flow| &flow["congestion_control"]).collect();
    assert!(swept == own && own.contains(&&"\"none\"".to_owned()), "{swept:?} {own:?}");
    let runs = rows(&folder.path().join("runs.parquet"));
    assert_eq!(runs[1]["congestion_control"], "\"none\"");
}

#[test]
fn a_point_that_fails_leaves_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[sweep.grid]\n\"workload.incast.senders\" = [1, 9, 2]\n";
    let statuses = carried_out(&sweep(text).unwrap(), folder.path(), 2);
    assert!(
        matches!(&statuses[..], [Status::Done, Status::Failed(_), Status::Done]),
        "{statuses:?}"
    );
    let runs = rows(&folder.path().join("runs.parquet"));
    let senders: Vec<_> = runs.iter().map(|run| run["workload.incast.senders"].as_str()).collect();
    assert_eq!(senders, ["1", "2"]);
    assert_eq!(runs[1]["point"], "2");
}

/// A point of enough events to be looked at while it runs.
const LARGE: &str = "[sweep.grid]\n\"workload.incast.bytes\" = [\"30MB\"]\n";

/// What a task said before it was started again says nothing of the second attempt.
#[test]
fn an_attempt_that_is_broken_off_has_not_failed() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(LARGE).unwrap();
    let points = Points::new(&sweep, folder.path(), Overwrite::Refuse);
    // Somebody else's files are in the way.
    fs::create_dir_all(points.directory(0)).unwrap();
    fs::write(points.directory(0).join("notes"), "mine").unwrap();
    let failed = points.carry_out(&[0], 1, &NoClock, &go_on);
    assert!(matches!(failed[..], [Status::Failed(_)]), "{failed:?}");
    assert!(matches!(points.found(0), Status::Failed(_)));
    fs::remove_dir_all(points.directory(0)).unwrap();
    let seen = AtomicUsize::new(0);
    let second = |_: &Observed<'_>| match seen.fetch_add(1, Ordering::Relaxed) {
        0 => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    points.carry_out(&[0], 1, &NoClock, &second);
    assert!(!matches!(points.found(0), Status::Failed(_)), "{:?}", points.found(0));
}

/// A cluster that takes a worker for lost gives its point to another.
#[test]
fn a_point_that_two_carry_out_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(LARGE).unwrap();
    let points = Points::new(&sweep, folder.path(), Overwrite::Refuse);
    let once = AtomicUsize::new(0);
    // While the first one runs, the second one does all of it.
    let overtaken = |observed: &Observed<'_>| {
        if matches!(observed, Observed::Running) && once.fetch_add(1, Ordering::Relaxed) == 1 {
            let other = points.carry_out(&[0], 1, &NoClock, &go_on);
            assert!(matches!(other[..], [Status::Done]), "{other:?}");
        }
        ControlFlow::Continue(())
    };
    let statuses = points.carry_out(&[0], 1, &NoClock, &overtaken);
    assert!(once.load(Ordering::Relaxed) > 1, "it is looked at while it runs");
    assert!(matches!(statuses[..], [Status::Done]), "{statuses:?}");
    let names = fs::read_dir(folder.path().join("points")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["0"], "nothing is left beside it");
}

#[test]
fn tables_of_an_earlier_time_stay_if_no_point_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep("[sweep]\nseeds = 1\n").unwrap();
    carried_out(&sweep, folder.path(), 1);
    let before = tables(folder.path());
    combine(&Points::new(&sweep, folder.path(), Overwrite::Refuse), &[]).unwrap();
    assert_eq!(tables(folder.path()), before);
}

#[test]
fn results_of_other_settings_are_not_taken_for_a_point_s() {
    let folder = tempfile::tempdir().unwrap();
    let of = |senders: &str| {
        sweep(&format!("[sweep.grid]\n\"workload.incast.senders\" = [{senders}]\n")).unwrap()
    };
    carried_out(&of("1"), folder.path(), 1);
    let other = of("2");
    let points = Points::new(&other, folder.path(), Overwrite::Refuse);
    let statuses = points.carry_out(&[0], 1, &NoClock, &go_on);
    let [Status::Failed(error)] = &statuses[..] else { panic!("{statuses:?}") };
    assert!(error.to_string().contains("--force"), "{error}");
    let points = Points::new(&other, folder.path(), Overwrite::Replace);
    assert!(matches!(points.carry_out(&[0], 1, &NoClock, &go_on)[..], [Status::Done]));
    assert!(matches!(points.found(0), Status::Done));
    assert!(SMALL.contains("senders = 2"));
}

/// The plan of a storage application with two points, and of one of flows.
const MIXED: &str = "[sweep]\n[[sweep.points]]\n\"workload.storage.queue_depth\" = 1\n\
     [[sweep.points]]\n\"workload.storage.queue_depth\" = 4\n";
const STORAGE: &str = "[topology.single-switch]\nhosts = 3\n\
     link = { rate = \"100Gbps\", cable = \"3m\" }\n[workload.storage]\nname = \"disk\"\n\
     clients = [\"host-0\"]\nservers = [\"host-1\"]\nblock = \"4KiB\"\nread_fraction = 0.5\n\
     queue_depth = 1\naccess_time = \"5us\"\nuntil = \"200us\"\n";

/// Operations of all points are in one table, with the swept keys; `runs.parquet` has their latencies.
#[test]
fn operations_have_a_table_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep::parse(&format!("{STORAGE}{MIXED}"), Path::new("plan.toml"), &[]).unwrap();
    let statuses = carried_out(&sweep, folder.path(), 1);
    assert!(statuses.iter().all(|status| matches!(status, Status::Done)), "{statuses:?}");
    let operations = rows(&folder.path().join("operations.parquet"));
    let runs = rows(&folder.path().join("runs.parquet"));
    for (point, depth) in [(0, "1"), (1, "4")] {
        let own: Vec<_> =
            operations.iter().filter(|row| row["point"] == point.to_string()).collect();
        assert!(own.len() > 10 && own.iter().all(|row| row["app"] == "\"disk\""), "{own:?}");
        let key = "workload.storage.queue_depth";
        assert!(own.iter().all(|row| row[key] == depth && row["latency_ps"] != "null"));
        assert_eq!(runs[point]["operations_completed"], own.len().to_string());
        let mut latencies: Vec<u64> =
            own.iter().map(|row| row["latency_ps"].parse().unwrap()).collect();
        latencies.sort_unstable();
        assert_eq!(runs[point]["operation_latency_max_ps"], latencies.last().unwrap().to_string());
        let median = latencies[latencies.len().div_ceil(2) - 1];
        assert_eq!(runs[point]["operation_latency_p50_ps"], median.to_string());
        // Few operations support no high percentile.
        assert_eq!(runs[point]["operation_latency_p999_ps"], "null");
    }
    // The kinds add up to all operations of the point, and a point of one kind has a row, too.
    let kinds = rows(&folder.path().join("kinds.parquet"));
    let said: Vec<_> =
        kinds.iter().map(|row| (row["point"].as_str(), row["kind"].as_str())).collect();
    assert_eq!(
        said,
        [("0", "\"read\""), ("0", "\"write\""), ("1", "\"read\""), ("1", "\"write\"")]
    );
    for point in ["0", "1"] {
        let own = operations.iter().filter(|row| row["point"] == point);
        for row in kinds.iter().filter(|row| row["point"] == point) {
            assert_eq!(row["app"], "\"disk\"");
            let mut latencies: Vec<u64> = own
                .clone()
                .filter(|operation| operation["kind"] == row["kind"])
                .map(|operation| operation["latency_ps"].parse().unwrap())
                .collect();
            latencies.sort_unstable();
            assert_eq!(row["completed"], latencies.len().to_string());
            assert_eq!(row["latency_max_ps"], latencies.last().unwrap().to_string());
            assert_ne!(row["per_second"], "null");
        }
    }
    // Points without applications have no such tables, and those of an earlier time go.
    let flows = crate::sweep("[sweep]\nseeds = 1\n").unwrap();
    let points = Points::new(&flows, folder.path(), Overwrite::Replace);
    points.carry_out(&[0], 1, &NoClock, &go_on);
    assert!(!combine(&points, &[0]).unwrap());
    assert!(!folder.path().join("operations.parquet").exists());
    assert!(!folder.path().join("kinds.parquet").exists());
    let runs = rows(&folder.path().join("runs.parquet"));
    assert_eq!(runs[0]["operations_per_second"], "null");
}

/// Where one point has reads only, they stand beside those of the others; the bytes are the same whoever makes them.
#[test]
fn a_single_kind_has_its_row() {
    let text = format!(
        "{STORAGE}[sweep]\n[[sweep.points]]\n\"workload.storage.read_fraction\" = 1.0\n\
         [[sweep.points]]\n\"workload.storage.read_fraction\" = 0.5\n"
    );
    let sweep = Sweep::parse(&text, Path::new("plan.toml"), &[]).unwrap();
    let made = [1, 2].map(|threads| {
        let folder = tempfile::tempdir().unwrap();
        carried_out(&sweep, folder.path(), threads);
        folder
    });
    let path = |folder: &tempfile::TempDir| folder.path().join("kinds.parquet");
    let kinds = rows(&path(&made[0]));
    let said: Vec<_> =
        kinds.iter().map(|row| (row["point"].as_str(), row["kind"].as_str())).collect();
    assert_eq!(said, [("0", "\"read\""), ("1", "\"read\""), ("1", "\"write\"")]);
    let runs = rows(&made[0].path().join("runs.parquet"));
    assert_eq!(kinds[0]["latency_p50_ps"], runs[0]["operation_latency_p50_ps"]);
    assert_eq!(kinds[0]["per_second"], runs[0]["operations_per_second"]);
    assert_eq!(fs::read(path(&made[0])).unwrap(), fs::read(path(&made[1])).unwrap());
}

/// Rows that were lost are found.
#[test]
fn operations_that_are_cut_off_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep::parse(&format!("{STORAGE}{MIXED}"), Path::new("plan.toml"), &[]).unwrap();
    carried_out(&sweep, folder.path(), 1);
    let points = Points::new(&sweep, folder.path(), Overwrite::Refuse);
    let path = points.directory(1).join("operations.csv");
    let text = fs::read_to_string(&path).unwrap();
    let cut: Vec<_> = text.lines().take(4).collect();
    fs::write(&path, cut.join("\n") + "\n").unwrap();
    let error = combine(&points, &[0, 1]).unwrap_err().to_string();
    assert!(error.contains("operations.csv") && error.contains("3 operations"), "{error}");
}
