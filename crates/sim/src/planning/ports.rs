//! Ports by name, for captures and samples.

use rocelab_fabric::{NodeId, Topology};

use crate::plan::CapturePlan;
use crate::scenario::{CaptureConfig, Fault, ensure};

pub(super) fn capture(config: &CaptureConfig, topology: &Topology) -> Result<CapturePlan, Fault> {
    ensure(config.snap_length > 0, || {
        Fault::at("capture.snap_length", "captures would hold no byte of any frame")
            .help("give at least 1, or leave it out to keep whole frames")
    })?;
    let ports = named("capture.ports", &config.ports, topology)?;
    ensure(ports.len() < usize::from(u16::MAX), || {
        Fault::at("capture.ports", format!("{} ports are too many for a capture", ports.len()))
            .help("name fewer than 65535")
    })?;
    Ok(CapturePlan {
        ports,
        fcs: config.fcs,
        format: config.format,
        snap_length: config.snap_length,
    })
}

/// The ports that `texts` name, in their order, each once.
pub(super) fn named(
    key: &str,
    texts: &[String],
    topology: &Topology,
) -> Result<Vec<(NodeId, u16)>, Fault> {
    ensure(!texts.is_empty(), || {
        Fault::at(key, "no port is named").help("name a port, such as \"host-0\" or \"leaf-0:3\"")
    })?;
    let mut ports = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        for port in one(text, topology).map_err(|fault| fault.within(&format!("{key}[{index}]")))? {
            if !ports.contains(&port) {
                ports.push(port);
            }
        }
    }
    Ok(ports)
}

/// `node:port`, or every port of `node`.
fn one(text: &str, topology: &Topology) -> Result<Vec<(NodeId, u16)>, Fault> {
    if let Some(node) = topology.node_by_name(text.trim()) {
        let count = u16::try_from(topology.port_count(node)).unwrap_or(u16::MAX);
        return Ok((0..count).map(|port| (node, port)).collect());
    }
    let port = topology.port_by_name(text).map_err(|error| {
        let text = error.to_string();
        let (problem, fix) = text.split_once("; ").unwrap_or((&text, "name a port that exists"));
        Fault::at("", problem).help(fix)
    })?;
    Ok(vec![port])
}
