//! Tables, LIDs, engines and lanes are those of OpenSM, run by run.
//!
//! A few runs are in `runs/`. Many more are looked for in the folder that `ROCELAB_SHARED` names, or beside the
//! repository; without it, the test says that it skips them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use rocelab_subnet::{
    Engine, NodeKind, Options, Path as Way, Routing, Subnet, credit_loops, dump, ibnetdiscover,
    lft_file, roots, route, sl_file,
};

use crate::service_levels;
use crate::topologies::grid;

/// Folders with runs.
fn folders_of_runs() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("ROCELAB_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| here.join("../../../shared"));
    let mut folders = vec![here.join("tests/subnet/runs")];
    let more = shared.join("golden/infiniband/opensm");
    if more.is_dir() {
        folders.push(more);
    } else {
        println!("skipped: the runs in {}, which does not exist", more.display());
    }
    folders
}

/// Folders in a folder, sorted.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("folder").map(|entry| entry.expect("entry").path());
    let mut folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("name")
}

/// The text of a file, which may be packed.
fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok().or_else(|| {
        let packed = PathBuf::from(format!("{}.gz", path.display()));
        let packed = packed.is_file().then_some(packed)?;
        let unpacked = Command::new("gzip").arg("-dc").arg(packed).output().ok()?;
        String::from_utf8(unpacked.stdout).ok()
    })
}

/// A run of OpenSM.
struct Run {
    name: String,
    lids: String,
    lfts: String,
    /// Pairs with their service levels, where they were asked for.
    levels: Option<String>,
    subnet: Subnet,
    routing: Routing,
}

impl Run {
    /// The run in `folder`, unless it is of an engine that we leave out, or cannot be unpacked.
    fn read(topology: &Path, folder: &Path) -> Option<Self> {
        let default = || format!("opensm -R {}", name(folder));
        let command = read(&folder.join("command")).unwrap_or_else(default);
        let words: Vec<&str> = command.split_whitespace().collect();
        let after = |option: &str| words.iter().skip_while(|word| **word != option).nth(1).copied();
        let engine = Engine::ALL.into_iter().find(|engine| Some(engine.name()) == after("-R"))?;
        let net = topology.join("net");
        let network = ibnetdiscover::read(&net, &read(&net)?).expect("topology");
        let lmc = after("-l").map_or(0, |lmc| lmc.parse().expect("LMC"));
        let subnet = Subnet::new(network, 0, lmc).expect("subnet");
        // The file of roots names the first switch.
        let first = format!("{}\n", subnet.switch_guid(0));
        let roots = after("-a").map(|file| roots::read(Path::new(file), &first, &subnet));
        let roots = roots.transpose().expect("roots");
        let routing = route(&subnet, engine, &Options { roots, ..Options::default() });
        let lfts = read(&folder.join("opensm-lfts.dump"))?;
        let lids = read(&folder.join("guid2lid"))?;
        let levels = read(&folder.join("sl.txt"));
        let name = format!("{} {}", name(topology), name(folder));
        Some(Self { name, lids, lfts, levels, subnet, routing })
    }

    /// How tables and LIDs differ.
    fn differences(&self) -> Vec<String> {
        let lfts = dump::Lfts { subnet: &self.subnet, tables: &self.routing.tables.forwarding }
            .to_string();
        let levels = dump::Levels { subnet: &self.subnet, tables: &self.routing.tables };
        // The levels themselves are drawn by chance.
        let pairs =
            self.levels.as_ref().map(|expected| (pairs(expected), pairs(&levels.to_string())));
        let parts = [
            ("pairs", pairs.and_then(|(expected, found)| differences(&expected, &found))),
            ("tables", differences(&self.lfts, &lfts)),
            (
                "LIDs",
                differences(&self.lids, &dump::GuidToLid { subnet: &self.subnet }.to_string()),
            ),
        ];
        let told = parts.into_iter().filter_map(|(part, difference)| Some((part, difference?)));
        told.map(|(part, difference)| format!("{}: {part}: {difference}", self.name)).collect()
    }
}

/// The pairs of LIDs without their service levels.
fn pairs(levels: &str) -> String {
    let pairs = levels.lines().filter_map(|line| line.rsplit_once(' '));
    pairs.map(|(pair, _)| format!("{pair}\n")).collect()
}

/// Lines that differ, and the first of them.
fn differences(expected: &str, found: &str) -> Option<String> {
    let longest = expected.lines().count().max(found.lines().count());
    let pad = |text: &str| {
        let lines = text.lines().map(str::to_owned);
        lines.chain(std::iter::repeat(String::new())).take(longest).collect::<Vec<_>>()
    };
    let (expected, found) = (pad(expected), pad(found));
    let pairs = expected.iter().zip(&found);
    let differing: Vec<_> = pairs.filter(|(expected, found)| expected != found).collect();
    let (one, other) = differing.first()?;
    Some(format!("{} of {longest} lines differ, such as {one:?}, here {other:?}", differing.len()))
}

/// Pairs of channel adapters whose path crosses the channel that most cross.
fn most_paths(subnet: &Subnet, tables: &rocelab_subnet::Tables) -> usize {
    let ends = subnet.end_ports();
    let adapters = || (0..ends.len()).filter(|&end| ends[end].kind == NodeKind::ChannelAdapter);
    let mut paths = BTreeMap::new();
    for (source, target) in adapters().flat_map(|one| adapters().map(move |other| (one, other))) {
        let from = subnet.graph().attachment(source).expect("switch").switch;
        match tables.forwarding.path(subnet, from, ends[target].lids.base) {
            Way::Delivered(channels) => {
                channels.into_iter().for_each(|channel| *paths.entry(channel).or_insert(0) += 1);
            }
            other => panic!("{other:?}"),
        }
    }
    paths.into_values().max().unwrap_or(0)
}

#[derive(Debug, PartialEq, Eq)]
struct Verdict {
    engine: String,
    is_free: bool,
    most_paths: usize,
    lanes: Option<u8>,
}

impl Verdict {
    /// What `lanes.txt` says of tables: the engine, whether there is a credit loop, pairs on the most loaded link, lanes.
    fn of(subnet: &Subnet, routing: &Routing) -> Self {
        let tables = &routing.tables;
        let loops = credit_loops(subnet, tables, &service_levels());
        let lanes = match routing.engine {
            Engine::Dfsssp | Engine::Lash => Some(tables.lanes),
            _ => None,
        };
        Self {
            engine: routing.engine.name().to_owned(),
            is_free: loops.is_empty(),
            most_paths: most_paths(subnet, tables),
            lanes,
        }
    }

    /// `ring4 lash used lash free max paths on a link 3 LFT 32 entries, 0 differ; lanes needed: log 2 mine 2`
    fn read(line: &str) -> Option<(String, Self)> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let after = |before: &[&str]| {
            let at = words.windows(before.len()).position(|window| window == before)?;
            words.get(at + before.len()).copied()
        };
        let number = |text: &str| text.parse().expect("number");
        let verdict = Self {
            engine: after(&["used"])?.to_owned(),
            is_free: words.contains(&"free"),
            most_paths: number(after(&["a", "link"])?),
            lanes: after(&["VLs", "needed"])
                .or_else(|| after(&["log"]))
                .map(|lanes| lanes.parse().expect("lanes")),
        };
        Some((format!("{} {}", words[0], words[1]), verdict))
    }
}

#[test]
fn tables_lids_engines_and_lanes_are_those_of_opensm() {
    let mut failures = Vec::new();
    let mut skipped = Vec::new();
    let (mut count, mut judged) = (0, 0);
    for folder in folders_of_runs() {
        let verdicts = read(&folder.join("lanes.txt")).expect("verdicts");
        let verdicts: BTreeMap<_, _> = verdicts.lines().filter_map(Verdict::read).collect();
        for topology in folders(&folder) {
            for folder in folders(&topology) {
                let Some(run) = Run::read(&topology, &folder) else {
                    skipped.push(format!("{} {}", name(&topology), name(&folder)));
                    continue;
                };
                count += 1;
                failures.extend(run.differences());
                if let Some(expected) = verdicts.get(&run.name) {
                    judged += 1;
                    let found = Verdict::of(&run.subnet, &run.routing);
                    if found != *expected {
                        failures.push(format!("{}: {found:?}, not {expected:?}", run.name));
                    }
                }
            }
        }
    }
    println!(
        "run {count}, {judged} with a verdict, skipped {}: {}",
        skipped.len(),
        skipped.join(", ")
    );
    assert!(count >= 8 && judged >= 7, "{count} {judged}");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn tables_from_a_file_are_the_same_again() {
    for folder in folders_of_runs() {
        for topology in folders(&folder) {
            for folder in folders(&topology) {
                let Some(run) = Run::read(&topology, &folder) else { continue };
                let file = Path::new("lfts");
                let tables = lft_file::read(file, &run.lfts, &run.subnet).expect("tables");
                let options = Options { tables: Some(tables), ..Options::default() };
                let routing = route(&run.subnet, Engine::File, &options);
                assert_eq!((routing.engine, routing.refused), (Engine::File, None));
                let again = dump::Lfts { subnet: &run.subnet, tables: &routing.tables.forwarding }
                    .to_string();
                assert_eq!(differences(&run.lfts, &again), None, "{}", run.name);
            }
        }
    }
}

/// The service levels that OpenSM's administrator answered are those of a path by the engine `file`, and no others.
#[test]
fn service_levels_from_a_file_are_the_same_again() {
    let (mut count, mut several) = (0, 0);
    for folder in folders_of_runs() {
        for topology in folders(&folder) {
            for folder in folders(&topology) {
                let Some(run) = Run::read(&topology, &folder) else { continue };
                let Some(text) = &run.levels else { continue };
                let lids = lft_file::lids_now(Path::new("lfts"), &run.lfts, &run.subnet);
                let lids = lids.expect("LIDs");
                assert!(lids.iter().all(|(before, now)| before == now), "{}", run.name);
                let file = Path::new("sl.txt");
                let levels = sl_file::read(file, text, &run.subnet, &lids, 16).expect("levels");
                let tables = lft_file::read(Path::new("lfts"), &run.lfts, &run.subnet).ok();
                let options = Options { tables, levels: Some(levels), ..Options::default() };
                let routing = route(&run.subnet, Engine::File, &options);
                let again = dump::Levels { subnet: &run.subnet, tables: &routing.tables };
                assert_eq!(differences(text, &again.to_string()), None, "{}", run.name);
                // Where OpenSM says SLs for lanes, they leave no loop.
                let loops = credit_loops(&run.subnet, &routing.tables, &service_levels());
                assert!(loops.is_empty(), "{}: {loops:?}", run.name);
                several += u32::from(routing.tables.lanes > 1);
                count += 1;
            }
        }
    }
    println!("{count} files of service levels, {several} of them with several");
    assert!(count >= 2 && several >= 2, "{count} {several}");
}

/// Of these, OpenSM's tables are not here, but what came out is.
#[test]
fn rings_meshes_and_hypercubes_have_the_verdicts_of_opensm() {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/subnet/runs/lanes.txt");
    let verdicts = read(&runs).expect("verdicts");
    let verdicts: BTreeMap<_, _> = verdicts.lines().filter_map(Verdict::read).collect();
    let mut count = 0;
    for (name, topology) in [
        ("ring5", grid(&[5], true)),
        ("mesh_3x3", grid(&[3, 3], false)),
        ("hypercube_3", grid(&[2, 2, 2], false)),
    ] {
        let subnet = Subnet::new(topology, 0, 0).expect("subnet");
        let root = Options { roots: Some(vec![0]), ..Options::default() };
        let runs = Engine::ALL.map(|engine| (engine.name(), engine, Options::default()));
        for (run, engine, options) in runs.into_iter().chain([("updn_root0", Engine::UpDown, root)])
        {
            let Some(expected) = verdicts.get(&format!("{name} {run}")) else { continue };
            assert_eq!(
                Verdict::of(&subnet, &route(&subnet, engine, &options)),
                *expected,
                "{name} {run}"
            );
            count += 1;
        }
    }
    assert_eq!(count, 27);
}
