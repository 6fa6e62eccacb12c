//! `rocelab headroom`.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use rocelab_report::HeadroomUse;
use rocelab_sim::proof::{
    Bandwidth, Bytes, COMMON_CELL, Duration, HeadroomQuestion, Length, QuestionError, Ratio,
};

use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;

/// Arguments of `rocelab headroom`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("distance").args(["cable", "delay"]).conflicts_with("results")))]
pub(crate) struct HeadroomArguments {
    /// A results directory: instead of a calculation, compare the headroom that the run used with what was reserved.
    #[arg(value_name = "RESULTS", conflicts_with_all = [
        "rate", "cable", "delay", "mtu", "largest_frame", "response", "cell", "ports", "buffer", "shared", "reserve", "classes",
    ])]
    results: Option<PathBuf>,
    /// Rate of every port.
    #[arg(
        long,
        value_name = "RATE",
        allow_hyphen_values = true,
        required_unless_present = "results",
        requires = "distance"
    )]
    rate: Option<Bandwidth>,
    /// Length of every cable; a metre takes 5 ns.
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    cable: Option<Length>,
    /// Propagation delay of every cable, one way.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    delay: Option<Duration>,
    /// Path MTU of the lossless class: payload bytes of a full RoCE packet, 256, 512, 1024, 2048 or 4096.
    #[arg(long, value_name = "BYTES", default_value_t = 1024)]
    mtu: u32,
    /// The largest frame of any class, FCS included, at least that of the lossless one: the pause may
    /// have to wait for it.
    /// [default: a full packet of the lossless class]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    largest_frame: Option<Bytes>,
    /// What both ends together need to make and to obey a pause.
    /// [default: what IEEE 802.3 allows at this rate, or the next lower one that it lists]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    response: Option<Duration>,
    /// The size of the cells that memory is handed out in; 1B counts in bytes. The other count is told
    /// beside it.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value_t = COMMON_CELL)]
    cell: Bytes,
    /// Number of ports.
    #[arg(long, value_name = "N", default_value_t = 32)]
    ports: u32,
    /// All memory of the switch.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "12MB")]
    buffer: Bytes,
    /// The share of it that all classes share.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true, default_value = "0.5")]
    shared: Ratio,
    /// What each class of each port owns beside its headroom.
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, default_value = "0B")]
    reserve: Bytes,
    /// How many lossless classes are wanted: exit code 1 if they do not fit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    classes: Option<u32>,
    /// Print a JSON object.
    #[arg(long)]
    json: bool,
}

/// Prints the terms of the headroom, and how many lossless classes fit.
pub(crate) fn execute(arguments: &HeadroomArguments) -> Result<Exit, Failure> {
    let (None, Some(rate)) = (&arguments.results, arguments.rate) else {
        let results = arguments.results.as_deref().unwrap_or(Path::new(""));
        return compare(results, arguments.json);
    };
    let cable = arguments.cable.unwrap_or_default();
    let question = HeadroomQuestion {
        rate,
        delay: arguments.delay.unwrap_or_else(|| cable.propagation_delay()),
        path_mtu: arguments.mtu,
        largest_frame: arguments.largest_frame,
        response: arguments.response,
        cell: arguments.cell,
        ports: arguments.ports,
        buffer: arguments.buffer,
        shared: arguments.shared,
        reserve: arguments.reserve,
    };
    let answer = question.answer().map_err(|error| refused(&error, arguments.cable))?;
    if arguments.json {
        let text = serde_json::to_string(&answer).unwrap_or_default();
        answer::print(&format!("{text}\n"))?;
    } else {
        answer::print(&answer.to_string())?;
    }
    let wanted = arguments.classes.unwrap_or(0);
    if wanted > answer.classes_that_fit {
        stderr_line!("{wanted} lossless classes do not fit: {} do", answer.classes_that_fit);
        return Ok(Exit::Found);
    }
    Ok(Exit::Done)
}

/// Prints the headroom that a run used, beside what was reserved.
fn compare(results: &Path, json: bool) -> Result<Exit, Failure> {
    let shown = results.display();
    let Some(used) = HeadroomUse::of(&crate::report::open(results)?)? else {
        return Err(Failure::Input(format!(
            "{shown}: the memory of switches was not measured: put [sample.ingress] with interval and \
             ports (such as [\"all\"]) into the scenario, and run it again"
        )));
    };
    answer::print(&if json {
        serde_json::to_string(&used).unwrap_or_default() + "\n"
    } else {
        format!("{shown}: headroom used, of what is reserved: {}\n{used}", used.verdict())
    })?;
    Ok(if used.drops() > 0 { Exit::Found } else { Exit::Done })
}

/// The error, in terms of the options that the user gave.
fn refused(error: &QuestionError, cable: Option<Length>) -> Failure {
    match cable {
        Some(cable) if error.key == "delay" => Failure::Input(format!(
            "--cable = {cable}: its delay is {}; give at most 200000km, whose delay is 1s, or the delay \
             itself with --delay",
            error.value
        )),
        _ => Failure::Input(format!("--{error}")),
    }
}
