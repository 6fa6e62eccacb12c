//! `rocelab run` with a configuration of Microsoft's simulator ns3-rdma.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rocelab_ns3_rdma::{
    Arithmetic, Branch, Digesting, Finished, Input, Options, RunError, Statistics, Texts,
    is_config, run,
};
use rocelab_results::{
    DropCounts, EcnCounts, LinkTraversals, Machine, Ns3RdmaCounts, PfcCounts, ResultsDir, RunInfo,
    Summary, is_name_of_results,
};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::{COPY_OR_OUT, Inputs};
use crate::interrupt::Interrupt;
use crate::progress::{Stages, Stopwatch};
use crate::resources;
use crate::run::{RunArguments, shown};

/// The log of every event.
const LOG_FILE: &str = "exact.txt";
/// What the branch `timely` prints.
const PRINTED_FILE: &str = "stdout.txt";
/// The keys that `--set` has.
const TIME_KEY: &str = "profile.ns3-rdma.time";
const BRANCH_KEY: &str = "profile.ns3-rdma.branch";

/// Whether the file at `path` is a configuration of ns3-rdma.
pub(crate) fn is_ours(path: &Path) -> bool {
    rocelab_sim::reference::is_config(path)
        && std::fs::read_to_string(path).is_ok_and(|text| is_config(&text))
}

/// Refuses a configuration of ns3-rdma, which only `run` knows.
pub(crate) fn refuse(path: &Path) -> Result<(), Failure> {
    if !is_ours(path) {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{}: is a configuration of ns3-rdma, which has no queue pairs; `rocelab run` runs it, and `rocelab \
         convert --roce 1` or `--roce 2` makes a scenario of it; other commands do not know it",
        path.display()
    )))
}

/// Reads the configuration at `path` and the files that it names.
pub(crate) fn read(path: &Path, options: Options) -> Result<Input, Failure> {
    let failed = |error| Failure::Machine { path: path.to_owned(), error };
    let text = std::fs::read_to_string(path).map_err(failed)?;
    Input::parse(path, &text, options, |file| std::fs::read_to_string(file))
        .map_err(|error| Failure::Input(error.to_string()))
}

/// Runs the configurations at `paths`, one after the other.
pub(crate) fn execute(
    arguments: &RunArguments,
    paths: &[PathBuf],
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    let options = options(arguments)?;
    let read = |path: &PathBuf| Case::read(arguments, path, options);
    let cases: Vec<_> = paths.iter().map(read).collect::<Result<_, _>>()?;
    for case in &cases {
        exit = exit.and(case.run(arguments, interrupt)?);
        if exit == Exit::Interrupted {
            break;
        }
    }
    Ok(exit)
}

/// What arguments say beside the configuration.
fn options(arguments: &RunArguments) -> Result<Options, Failure> {
    let mut options = Options::default();
    if let Some(option) = arguments.checkpoint_option() {
        return Err(Failure::Input(format!(
            "{option}: runs of ns3-rdma have no checkpoints; leave it out"
        )));
    }
    let wrong = |key: &str, value: &str, help: &str| {
        Failure::Input(format!("--set: {key} = {value}: is not known for ns3-rdma; {help}"))
    };
    for (key, value) in arguments.scenario().overrides() {
        match (key.as_str(), value.as_str()) {
            (TIME_KEY, "linux") => options.arithmetic = Arithmetic::Linux,
            (TIME_KEY, "double") => options.arithmetic = Arithmetic::Double,
            (TIME_KEY, _) => return Err(wrong(key, value, "write `linux` or `double`")),
            (BRANCH_KEY, "master") => options.branch = Branch::Master,
            (BRANCH_KEY, "timely") => options.branch = Branch::Timely,
            (BRANCH_KEY, _) => return Err(wrong(key, value, "write `master` or `timely`")),
            _ => {
                let help = format!("the keys are {TIME_KEY} and {BRANCH_KEY}");
                return Err(wrong(key, value, &help));
            }
        }
    }
    if let Some(seed) = arguments.scenario().seed() {
        options.seed = u32::try_from(seed).map_err(|_| {
            Failure::Input(format!("--seed = {seed}: is no second since 1970 of 32 bits"))
        })?;
    }
    Ok(options)
}

/// A configuration, and where its results go.
struct Case {
    name: String,
    input: Input,
    directory: PathBuf,
    /// The name of its trace.
    trace: String,
}

impl Case {
    fn read(arguments: &RunArguments, path: &Path, options: Options) -> Result<Self, Failure> {
        let input = read(path, options)?;
        let output = &input.config.files.output;
        let trace = output.file_name().map(|name| name.to_string_lossy().into_owned());
        let is_free = |name: &String| {
            !is_name_of_results(Path::new(name)) && ![LOG_FILE, PRINTED_FILE].contains(&&**name)
        };
        let trace = trace.filter(is_free).ok_or_else(|| {
            Failure::Input(format!(
                "{}: TRACE_OUTPUT_FILE = {}: results have other files of this name; name another \
                 one, such as mix.tr",
                path.display(),
                output.display()
            ))
        })?;
        let name = name_of(path);
        let directory = arguments.directory_of(&name, options.seed.into());
        let overwrite = arguments.overwrite();
        let files = &input.config.files;
        let all = [&files.topology, &files.flows, &files.tcp_flows, &files.traced];
        let named = |file: &&PathBuf| Inputs::file(file, "a file that the configuration names");
        let inputs = all.iter().map(named).fold(Inputs::default(), Inputs::and);
        let inputs = inputs.and(Inputs::file(path, "the configuration itself"));
        let removed = ResultsDir::removed_for(&directory, overwrite)?;
        inputs.refuse_removing(&removed, &directory, COPY_OR_OUT)?;
        drop(inputs);
        Ok(Self { name, input, directory, trace })
    }

    fn run(&self, arguments: &RunArguments, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let results = ResultsDir::create(&self.directory, arguments.overwrite())?;
        let stages = Stages::of_one(arguments.quiet(), "running");
        let (watch, (cpu, _)) = (Stopwatch::start(), resources::used());
        let (finished, digest) = self.simulate(arguments, &results, interrupt)?;
        let (cpu_now, memory) = resources::used();
        drop(stages);
        let statistics = &finished.statistics;
        let summary = self.summary(&finished, digest);
        let mut info = RunInfo {
            wall_s: watch.elapsed().as_secs_f64(),
            cpu_s: cpu_now - cpu,
            peak_memory_bytes: memory,
            events: statistics.events,
            threads: 1,
            partitions: 1,
            machine: Machine::current(),
            ..RunInfo::default()
        };
        info.set_rates(statistics.events, summary.link_traversals.total);
        let path = results.finish(&summary, &info)?;
        if !arguments.quiet() {
            answer::print(&table(&summary, statistics, &info, shown(&path)))?;
        }
        Ok(if finished.is_interrupted { Exit::Interrupted } else { Exit::Done })
    }

    /// Runs it with the outputs that are asked for; also returns their digest.
    fn simulate(
        &self,
        arguments: &RunArguments,
        results: &ResultsDir,
        interrupt: &Interrupt,
    ) -> Result<(Finished, u64), Failure> {
        let is_timely = self.input.options.branch == Branch::Timely;
        // The branch `timely` has no trace, but prints.
        let name = if is_timely { PRINTED_FILE } else { &self.trace };
        let mut main = Digesting::new(created(results, name)?);
        let mut log = match arguments.reference_log() {
            true => Some(created(results, LOG_FILE)?),
            false => None,
        };
        let mut texts = Texts::default();
        *(if is_timely { &mut texts.printed } else { &mut texts.trace }) = Some(&mut main);
        texts.log = log.as_mut().map(|log| log as &mut dyn Write);
        let mut observe = |_| match interrupt.requested() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let finished = run(&self.input, texts, &mut observe).map_err(|error| {
            let (name, error) = match error {
                RunError::Input(error) => return Failure::Input(error.to_string()),
                RunError::Trace(error) | RunError::Printed(error) => (name, error),
                RunError::Log(error) => (LOG_FILE, error),
            };
            Failure::Machine { path: results.working_path().join(name), error }
        })?;
        Ok((finished, main.digest()))
    }

    fn summary(&self, finished: &Finished, digest: u64) -> Summary {
        let Statistics { hops, arrivals, .. } = finished.statistics;
        let statistics = &finished.statistics;
        let options = self.input.options;
        let mut drops = DropCounts::default();
        for (reason, frames) in
            [("switch_memory", statistics.memory_drops), ("loss", statistics.losses)]
        {
            if frames > 0 {
                drops.add_frames(reason, frames);
            }
        }
        Summary {
            scenario: self.name.clone(),
            seed: options.seed.into(),
            roce_version: 2,
            incomplete: finished.is_interrupted,
            digest: format!("{digest:016x}"),
            simulated_ps: finished.end * 1_000,
            ns3_rdma: Some(Ns3RdmaCounts {
                branch: match options.branch {
                    Branch::Master => "master".into(),
                    Branch::Timely => "timely".into(),
                },
                time: match options.arithmetic {
                    Arithmetic::Linux => "linux".into(),
                    Arithmetic::Double => "double".into(),
                },
                flows: self.input.flows.len() as u64,
                packets: statistics.packets,
                packet_hops: hops.data,
                received: arrivals.total(),
                in_order: arrivals.in_order,
                duplicates: arrivals.duplicates,
                out_of_order: arrivals.out_of_order,
                acknowledgements: statistics.acknowledgements,
                completion_times: "none: this simulator has no completions".into(),
            }),
            link_traversals: LinkTraversals {
                total: hops.data + hops.acknowledgements + hops.control,
                data: hops.data,
                ack: hops.acknowledgements,
                control: hops.control,
            },
            drops,
            pfc: PfcCounts { pauses: statistics.pauses, resumes: statistics.resumes, paused_ps: 0 },
            ecn: EcnCounts { marks: statistics.marks },
            cnps: statistics.cnps,
            naks: statistics.negative_acknowledgements,
            timeouts: statistics.time_outs,
            ..Summary::default()
        }
    }
}

/// The name of a configuration: that of its folder if it is called `config.txt`.
fn name_of(path: &Path) -> String {
    let folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new(".")).canonicalize().ok()
    };
    let stem = path.file_stem().map(PathBuf::from).unwrap_or_default();
    let named = if path.ends_with("config.txt") { folder().unwrap_or(stem) } else { stem };
    named.file_name().map_or_else(|| "ns3-rdma".into(), |name| name.to_string_lossy().into_owned())
}

fn created(results: &ResultsDir, name: &str) -> Result<File, Failure> {
    let path = results.working_path().join(name);
    File::create(&path).map_err(|error| Failure::Machine { path, error })
}

/// The results for a terminal.
fn table(summary: &Summary, statistics: &Statistics, info: &RunInfo, results: &Path) -> String {
    let counts = summary.ns3_rdma.clone().unwrap_or_default();
    let interrupted = if summary.incomplete { ", INTERRUPTED there" } else { "" };
    let mut table = format!(
        "{}: ns3-rdma, branch {}, time {}, seed {}, {:.9} s simulated{interrupted}\n\n",
        summary.scenario,
        counts.branch,
        counts.time,
        summary.seed,
        summary.simulated_ps as f64 * 1e-12,
    );
    let per_second = |count: u64| if info.cpu_s > 0.0 { count as f64 / info.cpu_s } else { 0.0 };
    for (label, text) in [
        ("Packets", format!("{} sent of {} flows", counts.packets, counts.flows)),
        (
            "Received",
            format!(
                "{}: {} in order, {} again, {} too early",
                counts.received, counts.in_order, counts.duplicates, counts.out_of_order
            ),
        ),
        ("Completion times", counts.completion_times),
        (
            "Feedback",
            format!(
                "{} ACKs, {} NACKs, {} CNPs, {} timeouts",
                counts.acknowledgements, summary.naks, summary.cnps, summary.timeouts
            ),
        ),
        ("PFC", format!("{} pauses, {} resumes", summary.pfc.pauses, summary.pfc.resumes)),
        ("ECN", format!("{} packets marked", summary.ecn.marks)),
        (
            "Drops",
            format!("{} by switches, {} on links", statistics.memory_drops, statistics.losses),
        ),
        (
            "Link traversals",
            format!("{}, {} of data", summary.link_traversals.total, counts.packet_hops),
        ),
        (
            "Speed",
            format!(
                "{:.3} M packet-hops, {:.3} M events per CPU second",
                per_second(counts.packet_hops) * 1e-6,
                info.events_per_cpu_s * 1e-6
            ),
        ),
        ("Cost", format!("{:.2} s, {:.2} CPU seconds", info.wall_s, info.cpu_s)),
        ("Digest", summary.digest.clone()),
        ("Results", results.display().to_string()),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{label:17}{text}");
    }
    table
}
