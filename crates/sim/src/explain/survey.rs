//! All pauses of a run at a glance: where they began, which were long, and who suffered from what
//! they had no part in.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use rocelab_results::PauseCause;
use serde::Serialize;

use super::probes::Probes;
use super::{ExplainError, Selection, check, watch};
use crate::Plan;
use crate::simulation::Progress;

/// Pauses, roots and victims that are listed, at the most.
const LISTED: usize = 100;

/// The pauses of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Survey {
    /// The digest of the run, as in `summary.json`.
    pub digest: String,
    /// When the run ended (ps).
    pub end_ps: u64,
    /// All pauses.
    pub pauses: usize,
    /// Their lengths, added up (ps).
    pub paused_ps: u64,
    /// Where pauses began: at most 100, those first whose pauses took the most time.
    pub roots: Vec<RootCause>,
    /// The longest pauses: at most 100.
    pub longest: Vec<LongPause>,
    /// Who waited for pauses whose root cause they have no part in: at most 100, those first that
    /// waited longest.
    pub victims: Vec<Victim>,
}

/// Where pauses began, and all that followed from there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RootCause {
    /// The congested egress port, as `switch:port`, or the host that asked for pauses.
    pub place: String,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// Pauses that this place led to.
    pub pauses: usize,
    /// Their lengths, added up (ps).
    pub paused_ps: u64,
    /// Pauses one after the other in the longest chain.
    pub deepest: usize,
}

/// A pause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LongPause {
    /// Its place in `pauses.json`.
    pub pause: usize,
    /// Name of the node that was paused.
    pub node: String,
    /// Its port, from 0.
    pub port: u16,
    /// Priority, 0 to 7.
    pub priority: u8,
    /// When it began (ps).
    pub start_ps: u64,
    /// How long it lasted, or did until the run ended (ps).
    pub ps: u64,
    /// What the node that asked for it waited for, as in `pauses.json`.
    pub waits_for: String,
    /// What the first pause of its chain waited for.
    pub root: String,
}

/// A flow, or an application's connection, whose packets waited for pauses although none of them
/// crossed the place where those began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Victim {
    /// The flow's number, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<u32>,
    /// The connection's place in the plan, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<u32>,
    /// Name of the requester's node, or of the client's.
    pub source: String,
    /// Name of the responder's node, or of the server's.
    pub destination: String,
    /// How long at least one of its packets waited in a paused queue, or its host had one to send
    /// while its port was paused, for roots that it has no part in (ps).
    pub hol_ps: u64,
    /// The time from its start to its end, or to that of the run (ps).
    pub elapsed_ps: u64,
    /// Pauses that it waited for.
    pub pauses: usize,
    /// The root cause of most of that time, and its share of it (ps).
    pub root: String,
    /// See there.
    pub root_ps: u64,
}

/// Runs `plan` again and looks at its pauses. The observer is called every now and then and may break
/// the run off.
///
/// # Errors
/// If the plan is not of the native profile.
pub fn survey(
    plan: Arc<Plan>,
    observe: impl FnMut(&Progress) -> ControlFlow<()>,
) -> Result<Survey, ExplainError> {
    check(&plan, &Selection::Everything)?;
    let mut probes = Probes::for_survey(&plan);
    let simulation = watch(&plan, &mut probes, observe)?;
    let end_ps = simulation.now().ps();
    let (pauses, mut victims) = probes.surveyed(simulation.network(), simulation.now());
    victims
        .sort_by_key(|victim| (std::cmp::Reverse(victim.hol_ps), victim.flow, victim.connection));
    victims.truncate(LISTED);
    let digest = format!("{:016x}", simulation.network().digest());
    Ok(Survey { victims, ..of_pauses(digest, end_ps, &pauses) })
}

/// What pauses say by themselves.
fn of_pauses(digest: String, end_ps: u64, pauses: &[PauseCause]) -> Survey {
    let length = |pause: &PauseCause| pause.end_ps.unwrap_or(end_ps).saturating_sub(pause.start_ps);
    // A cause comes before what it causes.
    let mut chains: Vec<(usize, usize)> = Vec::with_capacity(pauses.len());
    for (index, pause) in pauses.iter().enumerate() {
        let chain =
            pause.parent.map_or((index, 1), |parent| (chains[parent].0, chains[parent].1 + 1));
        chains.push(chain);
    }
    let mut roots: BTreeMap<(&str, u8), (usize, u64, usize)> = BTreeMap::new();
    for (pause, (root, depth)) in pauses.iter().zip(&chains) {
        let (count, ps, deepest) =
            roots.entry((pauses[*root].waits_for.as_str(), pause.priority)).or_default();
        *count += 1;
        *ps += length(pause);
        *deepest = (*deepest).max(*depth);
    }
    let mut roots: Vec<RootCause> = roots
        .into_iter()
        .map(|((place, priority), (pauses, paused_ps, deepest))| RootCause {
            place: place.to_owned(),
            priority,
            pauses,
            paused_ps,
            deepest,
        })
        .collect();
    roots.sort_by_key(|root| std::cmp::Reverse(root.paused_ps));
    roots.truncate(LISTED);
    let mut order: Vec<usize> = (0..pauses.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(length(&pauses[index])), index));
    let longest = order.into_iter().take(LISTED).map(|index| {
        let pause = &pauses[index];
        LongPause {
            pause: index,
            node: pause.node.clone(),
            port: pause.port,
            priority: pause.priority,
            start_ps: pause.start_ps,
            ps: length(pause),
            waits_for: pause.waits_for.clone(),
            root: pauses[chains[index].0].waits_for.clone(),
        }
    });
    Survey {
        digest,
        end_ps,
        pauses: pauses.len(),
        paused_ps: pauses.iter().map(length).sum(),
        roots,
        longest: longest.collect(),
        victims: Vec::new(),
    }
}
