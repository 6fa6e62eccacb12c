//! Figures over time: flows, pauses, and sampled quantities.

use rocelab_results::{FlowRecord, MapNode, MapNodeKind};
use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};

use super::envelope::{BINS, Steps, Window};
use super::pauses::Pauses;
use super::ports::Ports;
use super::samples::{Quantity, Sampled, Sampler, Samples};
use super::victims::Victims;
use crate::numbers::count;

/// The time of a figure, and the part of it that the run reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) figure: Window,
    /// The end of the run, not after the end of the figure (ps).
    pub(crate) run_ps: u64,
}

/// The time that figures of `flows` show, for a run that ended at `end_ps`: the whole run, or, if
/// nothing happens in more than half of it, the time from the first flow on. (The clock of HPCC's
/// ns-3 simulator starts two seconds before the flows do.)
pub(crate) fn figure(flows: &[FlowRecord<'_>], end_ps: u64) -> Window {
    let first = flows.iter().map(|flow| flow.start_ps).min().unwrap_or(0);
    let late = first > end_ps / 2 && first < end_ps;
    Window { begin_ps: if late { first } else { 0 }, end_ps }
}

/// Number of curves that a figure of samples shows at first: those with the greatest values.
const MOST_CURVES: usize = 8;
/// Number of curves that can be chosen in a figure of samples, with those that are shown at first.
const MOST_LISTED: usize = 24;

/// A figure over the whole run. Every curve has two values for each of [`BINS`] equal parts.
#[derive(Debug, Serialize)]
pub(crate) struct TimeLine {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) quantity: Quantity,
    /// A note about the figure, or how to get it if there are no curves.
    pub(crate) note: String,
    pub(crate) curves: Vec<Curve>,
}

/// A curve of a figure.
#[derive(Debug, Serialize)]
pub(crate) struct Curve {
    pub(crate) label: String,
    /// `None` where there is no value, as before and after the life of a flow.
    #[serde(serialize_with = "packed")]
    pub(crate) values: Vec<Option<u64>>,
    /// Whether it is a threshold, drawn with dashes.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) limit: bool,
    /// Whether it is only drawn when it is chosen.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) hidden: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_false(limit: &bool) -> bool {
    !limit
}

impl Curve {
    /// A curve of `steps`, cut at the end of the run.
    pub(crate) fn new(label: &str, steps: &Steps, span: Span) -> Self {
        let mut values: Vec<_> = steps.envelope(span.figure, BINS).into_iter().map(Some).collect();
        let within = (0..BINS).filter(|bin| span.figure.edge(BINS, *bin) <= span.run_ps);
        values.truncate(2 * within.count());
        Self { label: label.to_owned(), values, limit: false, hidden: false }
    }

    /// A threshold.
    fn limit(label: &str, steps: &Steps, span: Span) -> Self {
        Self { limit: true, ..Self::new(label, steps, span) }
    }

    /// The same curve with values only in parts of the run that have a moment of `open`.
    fn during(mut self, open: Option<Window>, span: Span) -> Self {
        let Some(open) = open else { return self };
        for (bin, values) in (0..).zip(self.values.chunks_mut(2)) {
            let (from, to) = (span.figure.edge(BINS, bin), span.figure.edge(BINS, bin + 1));
            if to < open.begin_ps || from > open.end_ps {
                values.fill(None);
            }
        }
        self
    }
}

/// Writes values; several equal ones in a row as `[value, how often]`, because most curves are level for long.
fn packed<S: Serializer>(values: &[Option<u64>], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(None)?;
    for equal in values.chunk_by(|one, next| one == next) {
        if equal.len() > 2 {
            list.serialize_element(&(equal[0], equal.len()))?;
        } else {
            equal.iter().try_for_each(|value| list.serialize_element(value))?;
        }
    }
    list.end()
}

/// Flows that are open.
pub(crate) fn open_flows(flows: &[FlowRecord<'_>], span: Span) -> TimeLine {
    let mut changes = Vec::with_capacity(2 * flows.len());
    // Flows that should start after the end of the run never started.
    for flow in flows.iter().filter(|flow| flow.start_ps <= span.run_ps) {
        changes.push((flow.start_ps, 1));
        if let Some(fct) = flow.fct_ps {
            changes.push((flow.start_ps.saturating_add(fct), -1));
        }
    }
    let steps = Steps::of_changes(changes);
    TimeLine {
        id: "flows",
        title: "Open flows",
        quantity: Quantity::Count,
        note: "Flows that had started and not completed.".to_owned(),
        curves: vec![Curve::new("open flows", &steps, span)],
    }
}

/// The goodput of completed flows, each at its mean rate while it was open.
pub(crate) fn goodput(flows: &[FlowRecord<'_>], span: Span) -> TimeLine {
    let mut changes = Vec::with_capacity(2 * flows.len());
    for flow in flows {
        let (Some(fct), Some(rate)) = (flow.fct_ps, flow.goodput_bps()) else { continue };
        let rate = i64::try_from(rate).unwrap_or(i64::MAX);
        changes.push((flow.start_ps, rate));
        changes.push((flow.start_ps.saturating_add(fct), -rate));
    }
    let (mut note, curves) = if changes.is_empty() {
        ("No flow completed.".to_owned(), Vec::new())
    } else {
        let steps = Steps::of_changes(changes);
        let note = "Payload of the flows that completed, each spread evenly over its life: a mean, \
                    not the rate at an instant.";
        (note.to_owned(), vec![Curve::new("goodput of completed flows", &steps, span)])
    };
    let missing = flows.iter().filter(|flow| flow.fct_ps.is_none()).count();
    if missing > 0 && !curves.is_empty() {
        let (missing, all) = (count(missing as u64), count(flows.len() as u64));
        note += &format!(
            " {missing} of {all} flows did not complete; what they delivered is not here."
        );
    }
    TimeLine {
        id: "goodput",
        title: "Goodput of completed flows",
        quantity: Quantity::Rate,
        note,
        curves,
    }
}

/// Number of paused ports and priorities.
pub(crate) fn paused(pauses: &Pauses, ports: &Ports, places: &[MapNode], span: Span) -> TimeLine {
    let mut changes = [Vec::new(), Vec::new()];
    for pause in &pauses.list {
        let node = ports.directions[pause.direction].from;
        let host = usize::from(places[node].kind == MapNodeKind::Host);
        changes[host].push((pause.start_ps, 1));
        if pause.end_ps < span.run_ps {
            changes[host].push((pause.end_ps, -1));
        }
    }
    let curves = if pauses.list.is_empty() {
        Vec::new()
    } else {
        let labels = ["switch ports paused", "host ports paused"];
        let curve = |(label, changes)| Curve::new(label, &Steps::of_changes(changes), span);
        labels.into_iter().zip(changes).map(curve).collect()
    };
    let note = match curves.len() {
        0 => "No port was ever paused.",
        _ => "Priorities of ports that pauses keep from sending, each counted.",
    };
    TimeLine {
        id: "paused",
        title: "Paused ports",
        quantity: Quantity::Count,
        note: note.to_owned(),
        curves,
    }
}

/// Number of flows that pauses hold back at their host.
pub(crate) fn held_back(victims: &Victims, span: Span) -> TimeLine {
    let (note, curves) = if victims.list.is_empty() {
        ("No flow's host was paused in the flow's priority.", Vec::new())
    } else {
        let note = "Open flows whose host is paused in their priority. What pauses further on do to a \
                    flow, rocelab explain tells.";
        (note, vec![Curve::new("flows held back", &victims.held_back, span)])
    };
    TimeLine {
        id: "held-back",
        title: "Flows held back",
        quantity: Quantity::Count,
        note: note.to_owned(),
        curves,
    }
}

/// The samples of one quantity: the series with the greatest values.
pub(crate) fn sampled(
    what: &Sampled,
    samples: Option<&Samples>,
    ports: &Ports,
    span: Span,
) -> TimeLine {
    let (note, curves) = match samples {
        None => (what.missing.to_owned(), Vec::new()),
        Some(samples) => {
            let mut all: Vec<_> = samples.series.iter().collect();
            all.sort_by_key(|(key, steps)| (std::cmp::Reverse(steps.largest()), **key));
            let shown = all.len().min(MOST_CURVES);
            let note = match all.len() {
                0 => "Sampled, and always empty.".to_owned(),
                all if all > MOST_LISTED => format!(
                    "The {shown} of {all} sampled series with the greatest values; {} more can be chosen.",
                    MOST_LISTED - shown
                ),
                all if all > shown => format!(
                    "The {shown} of {all} sampled series with the greatest values; the others can be chosen."
                ),
                _ => String::new(),
            };
            let curve = |(rank, (of, steps)): (usize, (&Sampler, &Steps))| Curve {
                hidden: rank >= MOST_CURVES,
                ..Curve::new(&of.label(ports), steps, span).during(samples.open(*of), span)
            };
            let of = all.first().map(|(of, _)| of.label(ports)).unwrap_or_default();
            let limit = |(name, steps): &(&str, Steps)| {
                Curve::limit(&format!("{name} of {of}"), steps, span)
            };
            let limits: Vec<Curve> = samples.limits.iter().map(limit).collect();
            let listed = all.into_iter().take(MOST_LISTED).enumerate().map(curve);
            (note, listed.chain(limits).collect())
        }
    };
    TimeLine { id: what.id, title: what.title, quantity: what.quantity, note, curves }
}

/// The samples of one quantity as one curve: the series with the greatest value.
pub(crate) fn largest(what: &Sampled, samples: &Samples, span: Span) -> TimeLine {
    let greatest = samples.series.iter().max_by_key(|(_, steps)| steps.largest());
    let curves = greatest
        .map(|(of, steps)| Curve::new("greatest", steps, span).during(samples.open(*of), span));
    TimeLine {
        id: what.id,
        title: what.title,
        quantity: what.quantity,
        note: "Of the port or flow with the greatest value in that run.".to_owned(),
        curves: curves.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::flows::tests::flow;
    use super::super::ports::tests::network;
    use super::*;

    const FIGURE: Window = Window { begin_ps: 0, end_ps: 1_000 };
    const SPAN: Span = Span { figure: FIGURE, run_ps: 1_000 };

    #[test]
    fn flows_open_and_close() {
        let flows = [flow(0, 1, Some(500)), flow(1, 1, None)];
        let line = open_flows(&flows, SPAN);
        let values = &line.curves[0].values;
        assert_eq!((values[0], values[2 * BINS as usize - 1]), (Some(2), Some(1)));
    }

    #[test]
    fn goodput_says_how_many_flows_it_leaves_out() {
        let line = goodput(&[flow(0, 1, Some(500)), flow(1, 1, None)], SPAN);
        assert!(line.note.contains(" 1 of 2 flows did not complete"), "{}", line.note);
        let line = goodput(&[flow(0, 1, Some(500))], SPAN);
        assert!(!line.note.contains("did not complete"), "{}", line.note);
    }

    #[test]
    fn a_curve_ends_with_its_run_and_knows_no_later_flows() {
        let mut late = flow(1, 1, None);
        late.start_ps = 700;
        let span = Span { figure: FIGURE, run_ps: 500 };
        let values = open_flows(&[flow(0, 1, None), late], span).curves.remove(0).values;
        assert_eq!(values.len(), BINS as usize + 2);
        assert!(values.iter().all(|open| *open == Some(1)), "{values:?}");
    }

    /// A flow that has ended sends nothing, but that is not a rate of 0.
    #[test]
    fn a_curve_of_a_flow_ends_with_the_flow() {
        let ports = network(&[("host-0", 0, "leaf", 0)]);
        let of = Sampler { direction: 0, priority: Some(3), flow: Some(7), of_node: false };
        let mut steps = Steps::default();
        steps.set(300, 5);
        steps.set(600, 0);
        let open = [(7, Window { begin_ps: 250, end_ps: 500 })].into();
        let samples = Samples { series: [(of, steps)].into(), open, ..Samples::default() };
        let rates = &super::super::samples::SAMPLED[4];
        let lines = [sampled(rates, Some(&samples), &ports, SPAN), largest(rates, &samples, SPAN)];
        for line in lines {
            let at = |ps: usize| line.curves[0].values[ps * 2 * BINS as usize / 1_000];
            assert_eq!(
                [0, 200, 260, 400, 490, 550, 900].map(at),
                [None, None, Some(0), Some(5), Some(5), None, None]
            );
        }
    }

    #[test]
    fn level_curves_are_short() {
        let values = [None, None, None, Some(1), Some(1), Some(2)];
        let line =
            Curve { label: String::new(), values: values.into(), limit: false, hidden: false };
        let json = serde_json::to_string(&line).unwrap();
        assert_eq!(json, r#"{"label":"","values":[[null,3],1,1,2]}"#);
    }

    #[test]
    fn figures_begin_where_something_happens() {
        let mut late = flow(0, 1, None);
        late.start_ps = 700;
        assert_eq!(figure(&[late.clone()], 1_000).begin_ps, 700);
        assert_eq!(figure(&[late, flow(1, 1, None)], 1_000).begin_ps, 0);
        assert_eq!(figure(&[], 0), Window { begin_ps: 0, end_ps: 0 });
    }

    #[test]
    fn what_was_not_sampled_says_how() {
        let line = sampled(&super::super::samples::SAMPLED[0], None, &Ports::default(), SPAN);
        assert!(line.curves.is_empty());
        assert!(line.note.contains("[sample.queues]"), "{}", line.note);
    }
}
