//! What the results say of flows' paths.

use rocelab_units::SimTime;

use super::collisions::Collisions;
use super::known_paths::{KnownPaths, PathHop};
use crate::{FlowPlan, Plan};

/// The paths of flows, and how many share them.
#[derive(Debug)]
pub(super) struct FlowPaths<'a> {
    plan: &'a Plan,
    paths: Option<KnownPaths<'a>>,
    collisions: Collisions,
}

rocelab_state::state!(['a] FlowPaths<'a> { states: collisions; kept: plan, paths });

/// What a row says of a flow's path.
#[derive(Debug)]
pub(super) struct PathColumns {
    /// The names of its nodes.
    pub(super) path: String,
    /// See [`Collisions::end`].
    pub(super) collisions: Option<u64>,
}

impl<'a> FlowPaths<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        let paths = KnownPaths::new(plan);
        let collisions = paths.as_ref().map(|paths| Collisions::new(plan, paths));
        Self { plan, paths, collisions: collisions.unwrap_or_default() }
    }

    /// A flow was over at `end`, or open until then; `None` if it has no known path, or had not begun.
    pub(super) fn end(&mut self, flow: &FlowPlan, end: SimTime) -> Option<PathColumns> {
        let paths = self.paths.as_ref().filter(|_| flow.start <= end)?;
        let hops = paths.of(flow)?;
        let times = (flow.start, end);
        let collisions = self.collisions.end(self.plan, (paths, &hops), times);
        Some(PathColumns { path: self.names(paths, &hops), collisions })
    }

    fn names(&self, paths: &KnownPaths<'_>, hops: &[PathHop]) -> String {
        let name = |node| self.plan.topology.nodes[node as usize].name.as_str();
        let mut text = String::new();
        for hop in hops {
            text.push_str(name(hop.node));
            if paths.is_parallel(hop) {
                text.push_str(&format!(":{}", hop.port));
            }
            text.push('>');
        }
        let last = hops.last().and_then(|hop| paths.neighbour(hop.node, hop.port));
        text.push_str(last.map_or("", name));
        text
    }
}
