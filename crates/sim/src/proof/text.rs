//! Proofs as people read them.

use std::fmt;

use rocelab_units::{Bandwidth, Bytes, Duration};

use super::{
    COMMON_CELL, DependencyFinding, EgressLimitFinding, HeadroomDoubt, HeadroomFinding,
    HeadroomSum, LaneLoop, LossyPriority, MarkingFinding, MemoryFinding, OwnFailures, PauseFinding,
    Proof, ReceiverFinding, ShortPause, SubnetAfterFailures, SubnetFinding, UnheardPause, Verdict,
};

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.headroom {
            // Ports of one kind that differ otherwise are told apart by where they are.
            let kind = |one: &HeadroomFinding| (one.rate_bps, one.delay_ps);
            let alike = self.headroom.iter().filter(|other| kind(other) == kind(finding));
            let place = if alike.count() > 1 { at_switches(finding) } else { String::new() };
            judged(f, "headroom", finding.verdict(), format_args!("{place}{finding}"))?;
        }
        for finding in &self.memory {
            note(f, "memory", format_args!("{finding}"))?;
        }
        for finding in &self.egress_limits {
            judged(f, "egress limit", finding.verdict(), format_args!("{finding}"))?;
        }
        for finding in &self.pauses {
            line(f, "pauses", false, format_args!("{finding}"))?;
        }
        for finding in &self.receivers {
            judged(f, "slow receiver", finding.verdict(), format_args!("{finding}"))?;
        }
        if let Some(finding) = &self.buffer_dependency {
            dependency(f, finding)?;
        }
        if let Some(finding) = &self.subnet {
            subnet(f, finding)?;
        }
        for finding in &self.marking {
            line(f, "marks before pauses", finding.marks_first, format_args!("{finding}"))?;
        }
        for finding in &self.routing_loops {
            warning(f, "routing loop", format_args!("{finding}"))?;
        }
        for finding in &self.lossy_priorities {
            warning(f, "lossy priority", format_args!("{finding}"))?;
        }
        for finding in &self.starved {
            warning(f, "starved priority", format_args!("{finding}"))?;
        }
        for finding in &self.hosts {
            warning(f, "slow host", format_args!("{finding}"))?;
        }
        match &self.pings {
            Some(finding) if finding.are_too_many() => {
                warning(f, "pings", format_args!("{finding}; `until` ends them earlier"))?;
            }
            Some(finding) => note(f, "pings", format_args!("{finding}"))?,
            None => {}
        }
        for message in &self.not_checked {
            note(f, "not checked", format_args!("{message}"))?;
        }
        Ok(())
    }
}

/// How a subnet of InfiniBand is routed, and what its lanes wait for.
fn subnet(f: &mut fmt::Formatter<'_>, finding: &SubnetFinding) -> fmt::Result {
    let SubnetFinding { engine, data_vls, .. } = finding;
    if let Some(reason) = &finding.refused {
        warning(f, "subnet", format_args!("{reason}; {engine} in its place"))?;
    } else {
        line(f, "subnet", true, format_args!("routed by {engine}"))?;
    }
    for one in &finding.credit_loops {
        let text = format_args!(
            "lane {}: packets can wait for each other's credits for ever: {}",
            one.lane, one.ports
        );
        line(f, "credit loops", false, text)?;
    }
    if finding.credit_loops.is_empty() {
        line(f, "credit loops", true, format_args!("none, on {data_vls} data lanes"))?;
    }
    if let Some(after) = &finding.after_failures {
        subnet_after_failures(f, after)?;
    }
    finding.buffers.iter().try_for_each(|one| match one.verdict() {
        Verdict::Proved => line(f, "lane buffers", true, format_args!("{one}")),
        _ => warning(f, "lane buffers", format_args!("{one}")),
    })
}

/// What the scenario's failures make of routes and lanes.
fn subnet_after_failures(f: &mut fmt::Formatter<'_>, after: &SubnetAfterFailures) -> fmt::Result {
    const NAME: &str = "own failures";
    let at = |ps: u64| Duration::from_ps(ps);
    if let Some((ps, reason)) = &after.refused {
        warning(f, NAME, format_args!("from {} on the engine refuses: {reason}", at(*ps)))?;
    }
    match &after.credit_loop {
        Some((ps, LaneLoop { lane, ports })) => line(
            f,
            NAME,
            false,
            format_args!(
                "from {} on packets of lane {lane} can wait for each other's credits for ever: {ports}",
                at(*ps)
            ),
        )?,
        None if after.has_more => {
            let examined = after.examined;
            note(
                f,
                NAME,
                format_args!("no loop in the first {examined} tables; later ones are not examined"),
            )?;
        }
        None => line(f, NAME, true, format_args!("no loop in the tables that follow"))?,
    }
    note(
        f,
        NAME,
        format_args!(
            "not examined: packets that still wait by earlier tables, with those of later ones"
        ),
    )
}

fn line(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    holds: bool,
    text: fmt::Arguments<'_>,
) -> fmt::Result {
    writeln!(f, "  {} {name:<19}  {text}", if holds { "ok   " } else { "WRONG" })
}

fn judged(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    verdict: Verdict,
    text: fmt::Arguments<'_>,
) -> fmt::Result {
    match verdict {
        Verdict::Open => note(f, name, text),
        Verdict::Proved | Verdict::Refuted => line(f, name, verdict == Verdict::Proved, text),
    }
}

fn warning(f: &mut fmt::Formatter<'_>, name: &str, text: fmt::Arguments<'_>) -> fmt::Result {
    writeln!(f, "  warn  {name:<19}  {text}")
}

fn note(f: &mut fmt::Formatter<'_>, name: &str, text: fmt::Arguments<'_>) -> fmt::Result {
    writeln!(f, "        {name:<19}  {text}")
}

fn size(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}

fn ports(count: u64) -> String {
    format!("{count} port{}", if count == 1 { "" } else { "s" })
}

impl fmt::Display for HeadroomFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, delay) = (Bandwidth::from_bps(self.rate_bps), Duration::from_ps(self.delay_ps));
        write!(f, "{} of {rate}, {delay} one way: ", ports(self.ports))?;
        compared(f, self.configured_bytes, &self.needed)?;
        if self.verdict() != Verdict::Refuted {
            return self.doubts.iter().try_for_each(|doubt| write!(f, "; {doubt}"));
        }
        // What is too little for one port needs no more doubts; but where it comes from.
        let is_all = |doubt: &&HeadroomDoubt| matches!(doubt, HeadroomDoubt::Pool { pool_bytes, .. } if *pool_bytes == self.configured_bytes);
        match self.doubts.iter().find(is_all) {
            Some(_) => {
                f.write_str(", as all of `switch.headroom_pool` is less than one port needs")
            }
            None => Ok(()),
        }
    }
}

/// What there is of a headroom against what is needed.
fn compared(f: &mut fmt::Formatter<'_>, available: u64, needed: &HeadroomSum) -> fmt::Result {
    let is_enough = available >= needed.total_bytes;
    write!(
        f,
        "{} {} {} = {} frame + {} ahead + {} pause + {} cable + {} response + {} begun",
        size(available),
        if is_enough { ">=" } else { "<" },
        size(needed.total_bytes),
        needed.first_bytes,
        needed.ahead_bytes,
        needed.pause_bytes,
        needed.cable_bytes,
        needed.response_bytes,
        needed.begun_bytes,
    )?;
    if needed.cell_bytes > 0 {
        write!(f, " + {} cells", needed.cell_bytes)?;
    }
    let word = if is_enough { "margin" } else { "missing" };
    write!(f, "; {word} {}", size(available.abs_diff(needed.total_bytes)))
}

/// The switches of a finding: the first by name, and how many more.
fn at_switches(finding: &HeadroomFinding) -> String {
    let named = finding.examples.join(", ");
    match finding.switches - finding.examples.len() as u64 {
        0 => format!("{named}: "),
        more => format!("{named} and {more} more: "),
    }
}

impl fmt::Display for HeadroomDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool { pool_bytes, needed_bytes } => write!(
                f,
                "statistical: of a pool of {}, where all need {}",
                size(*pool_bytes),
                size(*needed_bytes)
            ),
            Self::CutThrough => {
                f.write_str("not proved: the sum is not for switches that cut through")
            }
            Self::Flooding => f.write_str("not proved: every copy of a flooded frame takes memory"),
            Self::Multicast => {
                f.write_str("not proved: every copy of a frame for a multicast group takes memory")
            }
        }
    }
}

impl fmt::Display for EgressLimitFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (limit, longest) = (size(self.limit_bytes), size(self.longest_bytes));
        let relation = if self.verdict() == Verdict::Proved { ">=" } else { "<" };
        write!(f, "{}: {limit} {relation} {longest}", alike(&self.example, self.switches))?;
        f.write_str(", what a lossless queue can hold")?;
        match self.verdict() {
            Verdict::Refuted => f.write_str("; beyond the limit it drops"),
            Verdict::Proved | Verdict::Open => Ok(()),
        }
    }
}

impl fmt::Display for PauseFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(finding) => finding.fmt(f),
            Self::Unheard(finding) => finding.fmt(f),
        }
    }
}

impl fmt::Display for ShortPause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, frame) = (Bandwidth::from_bps(self.rate_bps), self.frame_bytes);
        let (ports, quanta, least) = (ports(self.ports), self.quanta, self.least_quanta);
        write!(
            f,
            "{ports} of {rate}: {quanta} < {least} quanta: half of a pause must outlast a frame, \
             q > ({frame} + 20) / 32"
        )
    }
}

impl fmt::Display for UnheardPause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sent, class) = (self.sent_priority, self.lossless_priority);
        let (sender, receiver) = (&self.sender, &self.receiver);
        write!(
            f,
            "{sender} -> {receiver}: frames that are sent with priority {sent} are in {class} at \
             {receiver}, and its pauses of {class} do not stop them at {sender}"
        )?;
        match self.links - 1 {
            0 => Ok(()),
            more => write!(f, "; so on {more} more link{}", if more == 1 { "" } else { "s" }),
        }
    }
}

impl fmt::Display for ReceiverFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (buffer, xoff) = (size(self.buffer_bytes), size(self.xoff_bytes));
        write!(f, "{}, {buffer} with XOFF at {xoff}: ", alike(&self.example, self.hosts))?;
        compared(f, self.headroom_bytes(), &self.needed)?;
        if self.not_paused.is_empty() {
            return Ok(());
        }
        let numbers: Vec<_> = self.not_paused.iter().map(ToString::to_string).collect();
        write!(f, "; not proved: its pauses do not stop priority {}", numbers.join(", "))
    }
}

impl fmt::Display for LossyPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u64, noun: &str| match count {
            0 => None,
            1 => Some(format!("1 {noun}")),
            count => Some(format!("{count} {noun}s")),
        };
        let traffic = [(self.flows, "flow"), (self.connections, "connection")];
        let traffic: Vec<_> =
            traffic.into_iter().filter_map(|(count, noun)| counted(count, noun)).collect();
        let place = match self.everywhere {
            true => "at every switch".to_owned(),
            false => format!("at {}", alike(&self.example, self.switches)),
        };
        write!(
            f,
            "RDMA of priority {} ({}) is lossy {place}: where memory is full its frames are dropped; \
             name the priority in `switch.lossless`, or send it with one that is named there",
            self.priority,
            traffic.join(", "),
        )
    }
}

/// The first of some, and how many there are.
fn alike(example: &str, count: u64) -> String {
    if count > 1 { format!("{example} and {} like it", count - 1) } else { example.to_owned() }
}

impl fmt::Display for MemoryFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&alike(&self.example, self.switches))?;
        let (buffer, class) = (size(self.buffer_bytes), size(self.class_bytes));
        let (ports, shared) = (ports(self.ports), size(self.shared_bytes));
        write!(f, ", {ports}: {} x {class} a lossless class of {buffer}", self.classes)?;
        if let Some(pool) = self.headroom_pool_bytes {
            write!(f, ", but a pool of {} for all headroom", size(pool))?;
        }
        let fit = self.classes_with_half_shared;
        let classes = if fit == 1 { "class" } else { "classes" };
        write!(f, "; {shared} shared; with half of it shared, {fit} such {classes} would fit")?;
        match self.classes_in_common_cells {
            Some(fit) => write!(f, " ({fit} with cells of {} B)", COMMON_CELL.get()),
            None => Ok(()),
        }
    }
}

fn dependency(f: &mut fmt::Formatter<'_>, finding: &DependencyFinding) -> fmt::Result {
    const NAME: &str = "buffer dependency";
    let (count, buffers) = (finding.dependencies, finding.buffers);
    match &finding.cycle {
        None => match &finding.cycle_of_silent {
            None => {
                let text = format_args!("no cycle among {count} dependencies of {buffers} buffers");
                line(f, NAME, true, text)?;
            }
            Some(silent) => {
                let text = format_args!(
                    "not proved: frames for a host that is not heard of for `layer2.learning.mac_ageing` are \
                     flooded, and with those pauses can wait in a circle: {silent}; give `mac_ageing` no less \
                     than `arp_timeout`, or `layer2.drop_incomplete_arp = true`"
                );
                warning(f, NAME, text)?;
            }
        },
        Some(cycle) => {
            line(f, NAME, false, format_args!("pauses can wait in a circle: {cycle}"))?;
            match &finding.cycle_of_flows {
                Some(own) => note(f, "", format_args!("the scenario's own flows close {own}"))?,
                None => note(f, "", format_args!("the scenario's own flows close none"))?,
            }
        }
    }
    if let Some(own) = &finding.own_failures {
        own_failures(f, own)?;
    }
    let Some(failures) = &finding.failures else { return Ok(()) };
    let (links, examined) = (failures.links, failures.examined);
    const AFTER: &str = "after a failure";
    if let Some(first) = &failures.first {
        let text = format_args!("without {}: {}", first.link, first.cycle);
        return line(f, AFTER, false, text);
    }
    if links == 0 {
        return note(f, AFTER, format_args!("there are no links between switches"));
    }
    if failures.spanning_tree {
        let text = format_args!("no cycle: what is left has a spanning tree again, {links} links");
        return line(f, AFTER, true, text);
    }
    if examined < links {
        let text =
            format_args!("no cycle in {examined} of {links} failures, the rest not examined");
        return note(f, AFTER, text);
    }
    line(f, AFTER, true, format_args!("no cycle after any of {links} single failures"))
}

fn own_failures(f: &mut fmt::Formatter<'_>, own: &OwnFailures) -> fmt::Result {
    const NAME: &str = "own failures";
    let (changes, examined) = (own.changes, own.examined);
    match (&own.cycle, &own.cycle_of_mixed) {
        (Some(cycle), _) => {
            line(f, NAME, false, format_args!("pauses can wait in a circle: {cycle}"))?;
        }
        (None, Some(cycle)) => {
            let text = format_args!(
                "not proved: while frames wait by the routes of before, pauses can wait in a circle: {cycle}"
            );
            warning(f, NAME, text)?;
        }
        (None, None) if examined > 0 => {
            let text =
                format_args!("no cycle as the scenario's failures change routes, {examined} times");
            let holds_for_all = own.not_examined_from_ps.is_none();
            if holds_for_all { line(f, NAME, true, text) } else { note(f, NAME, text) }?;
        }
        (None, None) => {}
    }
    let Some(since) = own.not_examined_from_ps else { return Ok(()) };
    let (left_out, since) = (changes - examined, Duration::from_ps(since));
    let text = format_args!(
        "not proved for {left_out} of {changes} changes of routes, from {since} on: it would take too long"
    );
    note(f, NAME, text)
}

impl fmt::Display for MarkingFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = |holds: bool| if holds { "<=" } else { ">" };
        write!(
            f,
            "{}, queues at {}: one queue {}{} {} XOFF {}; all queues {} {} XOFF {}, which \
             holds with up to {} each",
            self.example,
            Bandwidth::from_bps(self.rate_bps),
            size(self.unmarked_bytes),
            if self.default_ecn { " (default)" } else { "" },
            relation(self.marks_first),
            size(self.xoff_bytes),
            size(self.all_unmarked_bytes),
            relation(self.always_marks_first),
            size(self.all_xoff_bytes),
            size(self.always_kmin_bytes),
        )
    }
}
