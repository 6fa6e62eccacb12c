//! Proofs as people read them.

use std::fmt;

use rocelab_units::{Bandwidth, Bytes, Duration};

use super::{DependencyFinding, HeadroomFinding, MarkingFinding, MemoryFinding, Proof};

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.headroom {
            line(f, "headroom", finding.is_enough(), format_args!("{finding}"))?;
        }
        for finding in &self.memory {
            note(f, "memory", format_args!("{finding}"))?;
        }
        if let Some(finding) = &self.buffer_dependency {
            dependency(f, finding)?;
        }
        for finding in &self.marking {
            line(f, "marks before pauses", finding.marks_first, format_args!("{finding}"))?;
        }
        for message in &self.not_checked {
            note(f, "not checked", format_args!("{message}"))?;
        }
        Ok(())
    }
}

fn line(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    holds: bool,
    text: fmt::Arguments<'_>,
) -> fmt::Result {
    writeln!(f, "  {} {name:<19}  {text}", if holds { "ok   " } else { "WRONG" })
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
        let (needed, configured) = (&self.needed, self.configured_bytes);
        let relation = if self.is_enough() { ">=" } else { "<" };
        write!(
            f,
            "{} of {}, {} one way: {} {relation} {} = {} frame + {} ahead + {} pause + {} cable + \
             {} response + {} begun",
            ports(self.ports),
            Bandwidth::from_bps(self.rate_bps),
            Duration::from_ps(self.delay_ps),
            size(configured),
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
        let margin = size(configured.abs_diff(needed.total_bytes));
        let word = if self.is_enough() { "margin" } else { "missing" };
        write!(f, "; {word} {margin}")
    }
}

impl fmt::Display for MemoryFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.example)?;
        if self.switches > 1 {
            write!(f, " and {} like it", self.switches - 1)?;
        }
        let (buffer, class) = (size(self.buffer_bytes), size(self.class_bytes));
        let (ports, shared) = (ports(self.ports), size(self.shared_bytes));
        write!(f, ", {ports}: {} x {class} a lossless class of {buffer}", self.classes)?;
        if let Some(pool) = self.headroom_pool_bytes {
            write!(f, ", but a pool of {} for all headroom", size(pool))?;
        }
        let fit = self.classes_with_half_shared;
        let classes = if fit == 1 { "class" } else { "classes" };
        write!(f, "; {shared} shared; with half of it shared, {fit} such {classes} would fit")
    }
}

fn dependency(f: &mut fmt::Formatter<'_>, finding: &DependencyFinding) -> fmt::Result {
    const NAME: &str = "buffer dependency";
    let (count, buffers) = (finding.dependencies, finding.buffers);
    match &finding.cycle {
        None => {
            let text = format_args!("no cycle among {count} dependencies of {buffers} buffers");
            line(f, NAME, true, text)?;
        }
        Some(cycle) => {
            line(f, NAME, false, format_args!("pauses can wait in a circle: {cycle}"))?;
            match &finding.cycle_of_flows {
                Some(own) => note(f, "", format_args!("the scenario's own flows close {own}"))?,
                None => note(f, "", format_args!("the scenario's own flows close none"))?,
            }
        }
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

impl fmt::Display for MarkingFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = |holds: bool| if holds { "<=" } else { ">" };
        write!(
            f,
            "{}, queues at {}: one queue {} {} XOFF {}; all queues {} {} XOFF {}, which \
             holds with up to {} each",
            self.example,
            Bandwidth::from_bps(self.rate_bps),
            size(self.unmarked_bytes),
            relation(self.marks_first),
            size(self.xoff_bytes),
            size(self.all_unmarked_bytes),
            relation(self.always_marks_first),
            size(self.all_xoff_bytes),
            size(self.always_kmin_bytes),
        )
    }
}
