//! InfiniBand: throughput by credits, loops of credits, and what congestion does to those who have no part in it.

mod congestion;
mod congestion_control;
mod credits;
mod fabrics;
mod files;
mod lmc;

/// Links between nodes, in the form of `[topology.graph]`.
fn link((from, to): (&str, &str), (gbps, metres): (u64, u64)) -> String {
    format!(
        "{{ from = [\"{from}\"], to = [\"{to}\"], link = {{ rate = \"{gbps}Gbps\", cable = \"{metres}m\" }} }}"
    )
}

/// A flow of a list.
fn flow(from: &str, to: &str, bytes: u64) -> String {
    format!("{{ from = \"{from}\", to = \"{to}\", bytes = \"{bytes}B\" }}")
}

/// `[topology.graph]` and `[workload.flows]`.
fn network(hosts: &str, switches: &str, links: &[String], flows: &[String]) -> String {
    let switches = match switches {
        "" => String::new(),
        names => format!("switches = [\"{names}\"]\n"),
    };
    format!(
        "[topology.graph]\nhosts = [\"{hosts}\"]\n{switches}links = [\n{}\n]\n[workload.flows]\nlist = [\n{}\n]\n",
        links.join(",\n"),
        flows.join(",\n")
    )
}
