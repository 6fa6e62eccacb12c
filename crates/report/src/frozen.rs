//! What pauses held when a run ended, in words.

use rocelab_results::{FrozenRecord, Summary};

use crate::numbers::{count, counted, time};

/// Number of roots that a sentence names; of the others it gives the number.
const NAMED: usize = 4;

/// Flows and connections that pauses held when a run ended, and the number of all flows: `of 560
/// flows: 510 flows frozen by pauses since 1.00 ms, held by host-0`. `None` if nothing was held.
pub fn frozen_text(summary: &Summary) -> Option<String> {
    let frozen = summary.frozen.as_ref()?;
    let of = match summary.all_flows().total {
        0 => String::new(),
        flows => format!("of {}: ", counted(flows, "flow")),
    };
    let (what, since) = (held(frozen), time(frozen.since_ps));
    Some(format!("{of}{what} frozen by pauses since {since}, held by {}", roots(frozen, NAMED)))
}

/// How much is held: `2 flows, 1 connection`.
pub(crate) fn held(frozen: &FrozenRecord) -> String {
    let what = [(frozen.flows, "flow"), (frozen.connections, "connection")];
    let what = what.iter().filter(|(number, _)| *number > 0);
    what.map(|&(number, noun)| counted(number, noun)).collect::<Vec<_>>().join(", ")
}

/// The first roots by name, and how many more there are.
pub(crate) fn roots(frozen: &FrozenRecord, named: usize) -> String {
    let first: Vec<_> = frozen.roots.iter().take(named).map(|root| root.root.as_str()).collect();
    let more = match frozen.roots.len().saturating_sub(named) {
        0 => String::new(),
        more => format!(" and {} more", count(more as u64)),
    };
    first.join(", ") + &more
}

#[cfg(test)]
mod tests {
    use rocelab_results::FrozenRoot;

    use super::*;

    #[test]
    fn the_first_roots_are_named_and_no_flow_is_one_of_none() {
        let root = |number| FrozenRoot { root: format!("host-{number}"), held: 1 };
        let frozen = FrozenRecord {
            flows: 510,
            connections: 1,
            since_ps: 1_000_000_007,
            roots: (0..6).map(root).collect(),
        };
        let mut summary = Summary { frozen: Some(frozen), ..Summary::default() };
        let text = "510 flows, 1 connection frozen by pauses since 1.00 ms, held by host-0, \
                    host-1, host-2, host-3 and 2 more";
        assert_eq!(frozen_text(&summary).as_deref(), Some(text));
        summary.flows.total = 560;
        assert_eq!(frozen_text(&summary).unwrap(), format!("of 560 flows: {text}"));
        assert_eq!(frozen_text(&Summary::default()), None);
    }
}
