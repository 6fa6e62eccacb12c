//! Verdicts on single links: the busiest, and the one that was paused the most.

use rocelab_results::Millionths;

use super::ports::{Direction, Ports};
use super::rules::{self, Rule};
use super::verdicts::{Level, Verdict, verdict};

/// The verdicts on the links of a run that ended at `end_ps`, which have credits in place of pauses or not; none without
/// links.
pub(crate) fn busiest_links(ports: &Ports, end_ps: u64, has_credits: bool) -> Vec<Verdict> {
    let greatest = |value: fn(&Direction) -> u64| {
        let order = |one: &usize| (value(&ports.directions[*one]), std::cmp::Reverse(*one));
        (0..ports.directions.len()).max_by_key(order)
    };
    let busiest = greatest(|one| one.record.utilisation.0).map(|one| utilisation(ports, one));
    let held = if has_credits { waited } else { paused };
    let paused = greatest(|one| one.record.paused_ps).and_then(|one| held(ports, one, end_ps));
    busiest.into_iter().chain(paused).collect()
}

fn utilisation(ports: &Ports, direction: usize) -> Verdict {
    let share = ports.directions[direction].record.utilisation;
    let text = format!(
        "Utilisation: the busiest link sent for {} of the run: {}.",
        percent(share),
        link(ports, direction)
    );
    verdict(rules::utilisation(share), text, Rule::Utilisation)
}

fn paused(ports: &Ports, direction: usize, end_ps: u64) -> Option<Verdict> {
    let share = Millionths::ratio(ports.directions[direction].record.paused_ps, end_ps)?;
    if share.0 == 0 {
        let text = "Storms: no port was paused for a millionth of the run.".to_owned();
        return Some(verdict(Level::Good, text, Rule::Storms));
    }
    let text = format!(
        "Storms: the port that was paused the most was so for {} of the run: {}.",
        percent(share),
        link(ports, direction)
    );
    Some(verdict(rules::paused(share), text, Rule::Storms))
}

/// Lanes of InfiniBand wait for credits wherever more comes than goes: that is no storm.
fn waited(ports: &Ports, direction: usize, end_ps: u64) -> Option<Verdict> {
    let share = Millionths::ratio(ports.directions[direction].record.paused_ps, end_ps)?;
    let text = match share.0 {
        0 => "Credits: no lane waited for credits for a millionth of the run.".to_owned(),
        _ => format!(
            "Credits: the port whose lanes waited for credits the most did so for {} of the run, added up over lanes: {}.",
            percent(share),
            link(ports, direction)
        ),
    };
    Some(verdict(if share.0 == 0 { Level::Good } else { Level::Note }, text, Rule::Pauses))
}

/// `leaf-0:4 to host-3`.
fn link(ports: &Ports, direction: usize) -> String {
    format!("{} to {}", ports.label(direction), ports.directions[direction].record.to)
}

fn percent(share: Millionths) -> String {
    format!("{:.2} %", Millionths(share.0.saturating_mul(100)))
}

#[cfg(test)]
mod tests {
    use super::super::ports::tests::network;
    use super::*;

    #[test]
    fn the_busiest_and_the_most_paused_link_are_named() {
        let mut ports = network(&[("host-0", 0, "leaf", 3), ("host-1", 0, "leaf", 4)]);
        ports.directions[1].record.utilisation = Millionths(962_500);
        ports.directions[2].record.paused_ps = 600;
        let said = busiest_links(&ports, 1_000, false);
        let text = "Utilisation: the busiest link sent for 96.25 % of the run: leaf:3 to host-0.";
        assert_eq!((said[0].level, &*said[0].text), (Level::Note, text));
        let text = "Storms: the port that was paused the most was so for 60.00 % of the run: host-1:0 to leaf.";
        assert_eq!((said[1].level, &*said[1].text), (Level::Bad, text));
        let text = "Credits: the port whose lanes waited for credits the most did so for 60.00 % of the run, added up over \
                    lanes: host-1:0 to leaf.";
        let said = busiest_links(&ports, 1_000, true);
        assert_eq!((said[1].level, &*said[1].text), (Level::Note, text));
        assert!(busiest_links(&Ports::default(), 1_000, false).is_empty());
    }
}
