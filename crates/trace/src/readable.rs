//! A trace as JSON that a person can read.

use serde_json::{Value as Json, json};

use crate::{RankGraph, Trace};

/// A trace as JSON: groups, and for each rank its nodes with the indices of those that they wait for.
pub fn to_json(trace: &Trace) -> Json {
    let ranks: Vec<_> = trace.ranks.iter().map(rank).collect();
    json!({ "groups": trace.groups, "ranks": ranks })
}

fn rank(graph: &RankGraph) -> Json {
    let mut done = vec![Vec::new(); graph.nodes.len()];
    let mut started = done.clone();
    for parent in 0..u32::try_from(graph.nodes.len()).unwrap_or(u32::MAX) {
        for &node in graph.on_done(parent) {
            done[node as usize].push(parent);
        }
        for &node in graph.on_start(parent) {
            started[node as usize].push(parent);
        }
    }
    let nodes = graph.nodes.iter().zip(&graph.labels).zip(done.iter().zip(&started));
    let nodes = nodes.enumerate().map(|(index, ((node, label), (done, started)))| {
        let mut object = json!({ "index": index, "id": label.id, "name": label.name });
        if let (Json::Object(object), Ok(Json::Object(node))) =
            (&mut object, serde_json::to_value(node))
        {
            object.extend(node);
            object.insert("waits_for_end_of".to_owned(), done.as_slice().into());
            object.insert("waits_for_start_of".to_owned(), started.as_slice().into());
        }
        object
    });
    json!({
        "rank": graph.rank,
        "file": graph.source.file_name().unwrap_or_default().to_string_lossy(),
        "ignored_dependencies": graph.dangling,
        "nodes": nodes.collect::<Vec<_>>(),
    })
}
