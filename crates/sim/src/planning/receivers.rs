//! NICs that handle what arrives no faster than they can, found and checked.

use std::collections::BTreeMap;

use rocelab_fabric::NodeId;
use rocelab_units::{Bytes, Duration};

use crate::plan::{Plan, SlowReceiver};
use crate::scenario::{Fault, SlowReceiverConfig, ensure};
use crate::workload::HostDirectory;

/// The slow receivers of a scenario, each at its hosts.
pub(super) fn build(
    plan: &Plan,
    configs: &[SlowReceiverConfig],
    hosts: &HostDirectory,
) -> Result<BTreeMap<NodeId, SlowReceiver>, Fault> {
    let mut receivers = BTreeMap::new();
    for (index, config) in configs.iter().enumerate() {
        let add = || {
            check(config, plan.common_queue_pair().path_mtu.bytes().into())?;
            for host in hosts.selected("hosts", config.hosts.as_deref())? {
                let receiver = slow_receiver(plan, host, config)?;
                ensure(receivers.insert(host, receiver).is_none(), || {
                    let name = &plan.topology.nodes[host as usize].name;
                    Fault::at("hosts", format!("`{name}` is a slow receiver already"))
                        .help("name every host in one `[[slow_receiver]]` only")
                })?;
            }
            Ok(())
        };
        let mut add = add;
        add().map_err(|fault: Fault| fault.within(&format!("slow_receiver[{index}]")))?;
    }
    Ok(receivers)
}

fn slow_receiver(
    plan: &Plan,
    host: NodeId,
    config: &SlowReceiverConfig,
) -> Result<SlowReceiver, Fault> {
    let lossless = lossless_of_host(plan, host);
    let headroom = headroom_of_host(plan, host, lossless);
    let name = &plan.topology.nodes[host as usize].name;
    let xoff = match config.xoff {
        Some(xoff) => {
            ensure(xoff < config.buffer, || {
                Fault::at("xoff", "it is no less than the memory, so no pause is asked for")
                    .value(xoff.to_string())
                    .help(format!("give less than `buffer`, {}", config.buffer))
            })?;
            xoff
        }
        None => {
            ensure(headroom < config.buffer, || {
                let message = format!(
                    "that does not hold the headroom of `{name}`'s lossless priorities, {headroom}"
                );
                Fault::at("buffer", message)
                    .value(config.buffer.to_string())
                    .help("give more, or `xoff`")
            })?;
            Bytes::new(config.buffer.get() - headroom.get())
        }
    };
    let frames = plan.largest_frame().get() * 2;
    let xon = config.xon.unwrap_or_else(|| Bytes::new(xoff.get().saturating_sub(frames)));
    ensure(xon <= xoff, || {
        Fault::at("xon", format!("that is more than XOFF, {xoff}"))
            .value(xon.to_string())
            .help("give no more than `xoff`")
    })?;
    let (buffer, rate) = (config.buffer, config.rate);
    let translation = config.translation.clone();
    Ok(SlowReceiver { buffer, lossless, xoff, xon, rate, translation })
}

/// The priorities that are lossless at the switch of a host (bit p).
pub(super) fn lossless_of_host(plan: &Plan, host: NodeId) -> u8 {
    let adjacency = plan.topology.adjacency();
    let neighbour = adjacency.ports_of(host).first().map_or(host, |port| port.node);
    let lossless = &plan.switch_at(neighbour).lossless;
    lossless.iter().fold(0, |mask, priority| mask | 1 << (priority & 7))
}

/// What a host may still receive after it has asked for a pause, over all priorities of
/// `lossless` (bit p).
pub(super) fn headroom_of_host(plan: &Plan, host: NodeId, lossless: u8) -> Bytes {
    let adjacency = plan.topology.adjacency();
    let neighbour = adjacency.ports_of(host).first();
    let of_one = neighbour.map(|port| plan.lossless_hop(host, port, &adjacency).terms().total());
    Bytes::new(of_one.unwrap_or_default().get().saturating_mul(lossless.count_ones().into()))
}

/// The longest time that is taken for that of a miss.
const LONGEST_MISS: Duration = Duration::from_ms(1);

fn check(config: &SlowReceiverConfig, path_mtu: u64) -> Result<(), Fault> {
    ensure(config.buffer > Bytes::ZERO, || {
        Fault::at("buffer", "a NIC has memory").help("give a size above 0, such as \"256KiB\"")
    })?;
    ensure(config.rate.is_none_or(|rate| rate.bits_per_second() > 0), || {
        Fault::at("rate", "a NIC handles something").help("give a rate, such as \"50Gbps\"")
    })?;
    let Some(translation) = &config.translation else { return Ok(()) };
    ensure(translation.entries > 0, || {
        Fault::at("translation.entries", "a cache holds something")
            .help("give 1 or more; the NIC of SIGCOMM 2016, section 4.4, has 2048")
    })?;
    ensure(translation.page_size > Bytes::ZERO, || {
        Fault::at("translation.page_size", "a page holds something")
            .help("give a size above 0, such as \"4KiB\" or \"2MiB\"")
    })?;
    ensure(translation.miss <= LONGEST_MISS, || {
        Fault::at(
            "translation.miss",
            format!("{} is no time to read from memory", translation.miss),
        )
        .help(format!("give at most {LONGEST_MISS}"))
    })?;
    ensure(translation.chunk.get() >= path_mtu, || {
        Fault::at("translation.chunk", format!("less than a packet's payload, {path_mtu} bytes"))
            .value(translation.chunk.to_string())
            .help("give the size of a receive buffer, such as \"4KiB\"")
    })?;
    ensure(translation.memory >= translation.chunk, || {
        Fault::at("translation.memory", "less than one `chunk`")
            .value(translation.memory.to_string())
            .help(format!("give {} or more", translation.chunk))
    })
}
