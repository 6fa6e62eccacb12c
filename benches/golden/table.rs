//! The measurements as Markdown.

use std::fmt::Write as _;

use crate::hold::Hold;
use crate::measurement::Measurement;
use rocelab_benches::machine::Machine;

/// The tables, each with a line that explains it.
pub(crate) fn markdown(
    measurements: &[Measurement<'_>],
    queue: &[Hold],
    machine: &Machine,
    runs: u32,
) -> String {
    let mut text = String::new();
    agreement(&mut text, measurements);
    cost(&mut text, measurements, machine, runs);
    if !queue.is_empty() {
        event_queue(&mut text, queue);
    }
    text
}

// Writing to a `String` cannot fail.
macro_rules! line {
    ($text:expr, $($arguments:tt)*) => {{ let _ = writeln!($text, $($arguments)*); }};
}

fn agreement(text: &mut String, measurements: &[Measurement<'_>]) {
    line!(
        text,
        "Slowdowns are `fct / standalone_fct`, theirs / ours, percentiles by nearest rank; `pfc.txt` \
         with its number of lines.\n"
    );
    line!(
        text,
        "| case | flows (finished) | `fct.txt` | `pfc.txt` | converted | largest difference | \
         p50 | p95 | p99 |"
    );
    line!(text, "|---|---|---|---|---|---|---|---|---|");
    for Measurement { case, agreement, converts, .. } in measurements {
        let [theirs, ours] = agreement.slowdowns;
        let slowdown = |index: usize| {
            let value = |all: Option<[f64; 3]>| {
                all.map_or_else(|| "-".to_owned(), |all| format!("{:.3}", all[index]))
            };
            format!("{} / {}", value(theirs), value(ours))
        };
        let difference = agreement
            .largest_difference
            .map_or_else(|| "other flows finished".to_owned(), |ns| format!("{ns} ns"));
        let [finished, ours] = agreement.finished;
        let finished =
            if finished == ours { format!("{finished}") } else { format!("{finished} / {ours}") };
        line!(
            text,
            "| {} | {} ({finished}) | {} | {}, {} | {} | {difference} | {} | {} | {} |",
            case.name,
            case.flows,
            same(agreement.fct),
            same(agreement.pfc),
            agreement.pauses,
            same(*converts),
            slowdown(0),
            slowdown(1),
            slowdown(2),
        );
    }
}

fn same(same: bool) -> &'static str {
    if same { "exact" } else { "**differs**" }
}

fn cost(text: &mut String, measurements: &[Measurement<'_>], machine: &Machine, runs: u32) {
    let runs = if runs == 1 { "one run".to_owned() } else { format!("median of {runs} runs") };
    line!(text, "\nCPU time of the whole process, {runs}; {machine}. Theirs: `meta.json`.\n");
    line!(
        text,
        "| case | data packet-hops | CPU s, theirs | ours | packet-hops / CPU s, theirs | ours | \
         ratio | memory MiB, theirs | ours |"
    );
    line!(text, "|---|---|---|---|---|---|---|---|---|");
    for one in measurements {
        let reference = one.case.reference;
        let theirs = |format: &dyn Fn(crate::reference_run::ReferenceRun) -> String| {
            reference.map_or_else(|| "-".to_owned(), format)
        };
        let hops = one.case.packet_hops;
        line!(
            text,
            "| {} | {} | {} | {:.3} | {} | {} | {} | {} | {:.0} |",
            one.case.name,
            grouped(hops as f64),
            theirs(&|run| format!("{:.2}", run.cpu_s)),
            one.usage.cpu_s,
            theirs(&|run| grouped(hops as f64 / run.cpu_s)),
            grouped(one.speed()),
            theirs(&|run| format!("{:.1}", run.cpu_s / one.usage.cpu_s)),
            theirs(&|run| format!("{:.0}", run.peak_mib)),
            one.usage.peak_mib,
        );
    }
    total(text, measurements);
}

/// The sum of all cases, if the reference was measured for all of them.
fn total(text: &mut String, measurements: &[Measurement<'_>]) {
    let theirs = measurements.iter().map(|one| one.case.reference.map(|run| run.cpu_s));
    let Some(theirs) = theirs.sum::<Option<f64>>() else { return };
    let hops = measurements.iter().map(|one| one.case.packet_hops).sum::<u64>() as f64;
    let ours = measurements.iter().map(|one| one.usage.cpu_s).sum::<f64>();
    line!(
        text,
        "| all | {} | {theirs:.2} | {ours:.3} | {} | {} | {:.1} | | |",
        grouped(hops),
        grouped(hops / theirs),
        grouped(hops / ours),
        theirs / ours,
    );
}

/// In thousands: 1234567.8 is "1,234,568".
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The standard library's heap on another virtual machine of this kind (2 cores, shared with other
/// programs), for the same four numbers of waiting events, in nanoseconds for a step.
const HEAP_ELSEWHERE: [(u32, f64); 4] =
    [(1_000, 48.7), (10_000, 74.5), (100_000, 152.6), (1_000_000, 631.7)];

fn event_queue(text: &mut String, queue: &[Hold]) {
    line!(
        text,
        "\nThe measure of the machine: ns of CPU time to take the first of N events of 32 bytes and \
         add another, drawing its delay included.\n"
    );
    line!(
        text,
        "| N | `std` `BinaryHeap` | the same on another such machine | `EventQueue` | ratio |"
    );
    line!(text, "|---|---|---|---|---|");
    for hold in queue {
        let elsewhere = HEAP_ELSEWHERE.iter().find(|(pending, _)| *pending == hold.pending);
        let elsewhere = elsewhere.map_or_else(|| "-".to_owned(), |(_, ns)| format!("{ns:.1}"));
        line!(
            text,
            "| {} | {:.1} | {elsewhere} | {:.1} | {:.2} |",
            grouped(f64::from(hold.pending)),
            hold.heap,
            hold.ours,
            hold.ours / hold.heap,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_in_threes() {
        let given = [0.4, 999.0, 1000.0, 54_869_758.0].map(grouped);
        assert_eq!(given, ["0", "999", "1,000", "54,869,758"]);
    }
}
