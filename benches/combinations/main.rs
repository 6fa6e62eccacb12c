//! Random small scenarios of combined features, and the laws that must hold of each.
//!
//! ```console
//! $ cargo run --release -p rocelab-benches --bin combinations -- --seed 1 --count 20000 --parts 3000 --kills 1000
//! $ cargo run --release -p rocelab-benches --bin combinations -- --only 1:4711 --save findings
//! ```
//!
//! All verbs, services, recoveries, algorithms and topologies, TCP beside, failures, faults and whatever
//! else a scenario can say are thrown together by a seed. Each scenario runs with the audit on
//! (`laws.rs` has what else is asked), some of them in several parts too, and some are killed and gone on
//! with, which must come to the same bytes. What violates a law is made smaller and saved.

#![expect(
    clippy::disallowed_types,
    reason = "it measures the machine's time, and simulates nothing itself"
)]

mod carry_out;
mod endless;
mod kills;
mod laws;
mod random;
mod scenario;
mod shrink;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Parser;
use rocelab_benches::usage::Usage;

use self::carry_out::{Bench, Went};
use self::endless::Endless;
use self::kills::Kills;
use self::random::Random;
use self::scenario::Made;

/// Any error of this program; it ends the program with a message.
type Failure = Box<dyn Error>;

/// Runs random scenarios of combined features, and checks what must hold of each.
#[derive(Debug, Parser)]
#[command(name = "combinations")]
struct Arguments {
    /// Where the dice start; printed, so that the same scenarios can be made again. [default: the time]
    #[arg(long)]
    seed: Option<u64>,
    /// How many scenarios.
    #[arg(long, default_value_t = 1_000)]
    count: u64,
    /// Begin with this one.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Begin none after so many seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// How many of them run in 2 and in 4 parts too.
    #[arg(long, default_value_t = 0)]
    parts: u64,
    /// How many of them are killed at random moments and gone on with.
    #[arg(long, default_value_t = 0)]
    kills: u64,
    /// Scenarios at once. [default: one for each core]
    #[arg(long)]
    threads: Option<usize>,
    /// Where scenarios go that violate a law.
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// One scenario, in parts and killed too; it is printed.
    #[arg(long, value_name = "SEED:INDEX", value_parser = place)]
    only: Option<(u64, u64)>,
    /// Check this scenario file in place of random ones.
    #[arg(long, value_name = "FILE", conflicts_with = "only")]
    file: Option<PathBuf>,
    /// Leave what violates a law as it is.
    #[arg(long)]
    no_shrinking: bool,
    /// Tell why scenarios were refused.
    #[arg(long)]
    refusals: bool,
}

fn place(text: &str) -> Result<(u64, u64), String> {
    let wrong = || "give a seed and an index, such as 1:4711".to_owned();
    let (seed, index) = text.split_once(':').ok_or_else(wrong)?;
    Ok((seed.parse().map_err(|_| wrong())?, index.parse().map_err(|_| wrong())?))
}

/// A violated law.
#[derive(Clone, Debug, PartialEq)]
struct Violation {
    law: &'static str,
    text: String,
}

impl Violation {
    fn new(law: &'static str, text: impl Into<String>) -> Self {
        Self { law, text: text.into() }
    }
}

fn main() -> ExitCode {
    // The processes that are killed are this program too, started as `rocelab`.
    if std::env::args().nth(1).is_some_and(|first| first == "run" || first == "resume") {
        return rocelab_cli::main();
    }
    match execute(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

/// Counts of what was done and found.
#[derive(Debug, Default)]
struct Tally {
    runs: u64,
    in_parts: u64,
    series: u64,
    kills: Kills,
    /// The number of times that each reason was given.
    refused: BTreeMap<String, u64>,
    violations: BTreeMap<&'static str, u64>,
}

/// The additional checks for a scenario.
#[derive(Clone, Copy, Debug)]
struct Asked {
    parts: bool,
    kills: bool,
}

/// Returns whether all laws held.
fn execute(arguments: &Arguments) -> Result<bool, Failure> {
    carry_out::keep_panics();
    if let Some(folder) = &arguments.save {
        std::fs::create_dir_all(folder)?;
    }
    if let Some(file) = &arguments.file {
        return check_file(arguments, file);
    }
    if let Some((seed, index)) = arguments.only {
        let made = scenario::make(seed, index);
        println!("{}", made.text());
        let tally = Mutex::new(Tally::default());
        judge(arguments, (seed, index), Asked { parts: true, kills: true }, &tally)?;
        return print_tally(arguments, &tally, None);
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    let seed = arguments.seed.unwrap_or(now.as_secs());
    println!("seed {seed}");
    let tally = Mutex::new(Tally::default());
    let endless = Endless::watch(arguments.save.clone());
    let next = AtomicU64::new(0);
    let begun = Instant::now();
    let limit = arguments.seconds.map(Duration::from_secs);
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.unwrap_or_else(cores);
    std::thread::scope(|scope| {
        let work = || -> Result<(), String> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= arguments.count || limit.is_some_and(|limit| begun.elapsed() > limit) {
                    return Ok(());
                }
                let is_share = |share: u64| {
                    let of = |number: u64| u128::from(number) * u128::from(share);
                    let count = u128::from(arguments.count);
                    of(number + 1) / count > of(number) / count
                };
                let asked =
                    Asked { parts: is_share(arguments.parts), kills: is_share(arguments.kills) };
                let index = arguments.from + number;
                let text = scenario::make(seed, index).text();
                let begun = endless.begin(&format!("{seed}-{index}"), text);
                judge(arguments, (seed, index), asked, &tally)
                    .map_err(|error| error.to_string())?;
                drop(begun);
            }
        };
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err("a worker panicked".to_owned()))
        })
    })?;
    print_tally(arguments, &tally, Some(begun.elapsed()))
}

/// Makes a scenario, checks it, and reports violations.
fn judge(
    arguments: &Arguments,
    (seed, index): (u64, u64),
    asked: Asked,
    tally: &Mutex<Tally>,
) -> Result<(), Failure> {
    let made = scenario::make(seed, index);
    let name = format!("{seed}-{index}");
    let random = Random::new(seed, index);
    let found = look(&made, &name, asked, &random, Some(tally));
    let Err(violation) = found else { return Ok(()) };
    report(arguments, &made, &name, asked, &random, &violation, tally)
}

/// Makes a violating scenario smaller, prints it and saves it.
fn report(
    arguments: &Arguments,
    made: &Made,
    name: &str,
    asked: Asked,
    random: &Random,
    violation: &Violation,
    tally: &Mutex<Tally>,
) -> Result<(), Failure> {
    let count = {
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let count = tally.violations.entry(violation.law).or_default();
        *count += 1;
        *count
    };
    println!("{name}: {}: {}", violation.law, violation.text);
    let smallest = if arguments.no_shrinking || count > 20 {
        made.clone()
    } else {
        let law = violation.law;
        let asked =
            Asked { parts: law == "parts", kills: matches!(law, "resume" | "kill" | "left-over") }
                .within(asked);
        shrink::shrink(made, |tried| {
            look(tried, name, asked, random, None).is_err_and(|found| found.law == law)
        })
    };
    let Some(folder) = &arguments.save else { return Ok(()) };
    let mut text = String::new();
    writeln!(text, "# {}: {}", violation.law, violation.text.replace('\n', " "))?;
    let seen = look(&smallest, name, asked, random, None);
    if let Err(now) = seen {
        writeln!(text, "# as it stands here: {}: {}", now.law, now.text.replace('\n', " "))?;
    }
    text.push_str(&smallest.text());
    std::fs::write(folder.join(format!("{}-{name}.toml", violation.law)), text)?;
    let is_named = |file: &&String| text_names(&smallest, file);
    for file in smallest.files.keys().filter(is_named) {
        std::fs::write(folder.join(file), &smallest.files[file])?;
    }
    Ok(())
}

fn text_names(made: &Made, file: &str) -> bool {
    made.text().contains(file)
}

impl Asked {
    /// The checks that both contain.
    const fn within(self, other: Self) -> Self {
        Self { parts: self.parts && other.parts, kills: self.kills && other.kills }
    }
}

/// Runs a scenario, and checks all laws.
fn look(
    made: &Made,
    name: &str,
    asked: Asked,
    random: &Random,
    tally: Option<&Mutex<Tally>>,
) -> Result<(), Violation> {
    let count = |change: &dyn Fn(&mut Tally)| {
        if let Some(tally) = tally {
            change(&mut tally.lock().unwrap_or_else(PoisonError::into_inner));
        }
    };
    let machine = |error: std::io::Error| Violation::new("machine", error.to_string());
    let bench = Bench::new(made, name).map_err(machine)?;
    let ran = match carry_out::carry_out(&bench) {
        Went::Refused(reason) => {
            count(&|tally| *tally.refused.entry(reason_in_short(&reason)).or_default() += 1);
            return Ok(());
        }
        Went::Violated(violation) => return Err(violation),
        Went::Ran(ran) => ran,
    };
    count(&|tally| tally.runs += 1);
    laws::check(&bench, made, &ran)?;
    if asked.parts {
        carry_out::in_parts(&bench, &ran, 2)?;
        carry_out::in_parts(&bench, &ran, 4)?;
        carry_out::unwatched(&bench, &ran)?;
        count(&|tally| tally.in_parts += 1);
    }
    if asked.kills {
        let kills = kills::kill(&bench, &ran, &mut random.clone())?;
        count(&|tally| {
            tally.series += 1;
            tally.kills.all += kills.all;
            tally.kills.by_signal += kills.by_signal;
        });
    }
    Ok(())
}

/// The reason without its place in the file and without numbers.
fn reason_in_short(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default();
    let behind = line.split_once(".toml:").map_or(line, |(_, behind)| behind);
    let behind = behind.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ':');
    behind.trim().chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect()
}

/// Checks a scenario from a file.
fn check_file(arguments: &Arguments, file: &Path) -> Result<bool, Failure> {
    let made = Made { table: rocelab_benches::text(file)?.parse()?, ..Made::default() };
    let tally = Mutex::new(Tally::default());
    let (asked, random) = (Asked { parts: true, kills: true }, Random::new(0, 0));
    if let Err(violation) = look(&made, "file", asked, &random, Some(&tally)) {
        report(arguments, &made, "file", asked, &random, &violation, &tally)?;
    }
    print_tally(arguments, &tally, None)
}

/// Prints what was done and found; returns whether nothing was found.
fn print_tally(
    arguments: &Arguments,
    tally: &Mutex<Tally>,
    took: Option<Duration>,
) -> Result<bool, Failure> {
    let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    let refused: u64 = tally.refused.values().sum();
    println!(
        "{} scenarios ran, {refused} were refused; {} also in 2 and 4 parts; {} killed, {} times, {} of them by SIGKILL",
        tally.runs, tally.in_parts, tally.series, tally.kills.all, tally.kills.by_signal
    );
    if arguments.refusals {
        let mut all: Vec<_> = tally.refused.iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (reason, count) in all {
            println!("{count:6} {reason}");
        }
    }
    if let Some(took) = took {
        let cpu = Usage::so_far().cpu_s;
        println!("{:.1} s, {cpu:.1} s of CPU time in this process", took.as_secs_f64());
    }
    for (law, count) in &tally.violations {
        println!("{count:6} violations of {law}");
    }
    Ok(tally.violations.is_empty())
}
