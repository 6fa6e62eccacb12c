//! Results of an invented run: 320 servers in 20 racks, with everything that a page can show.

#[cfg(unix)]
pub(crate) mod many;
#[cfg(unix)]
pub(crate) mod trouble;

use std::path::{Path, PathBuf};

use rocelab_results::{
    DropRecord, FlowRecord, FlowStatistics, FlowStatus, LinkRecord, Millionths, Overwrite,
    PauseEvent, PauseRecord, QueueSample, ResultsDir, RunInfo, Summary,
};

/// A name that breaks a page which does not escape it.
pub(crate) const NAME: &str = "fat </script><script>document.title='broken'</script><!-- & \"320\"";

const HOSTS: u64 = 320;
const RACKS: u64 = 20;
const SPINES: u64 = 16;
const FLOWS: u64 = 20_000;
const END_PS: u64 = 20_000_000_000;

/// Writes the results, with `scale` times the pauses and samples of a small run.
pub(crate) fn write(folder: &Path, name: &str, scale: u64) -> PathBuf {
    let path = folder.join(format!("results-{scale}"));
    let directory = ResultsDir::create(&path, Overwrite::Refuse).unwrap();
    let mut statistics = FlowStatistics::default();
    let mut flows = directory.flows().unwrap();
    for number in 0..FLOWS {
        let flow = flow(number);
        statistics.add(&flow);
        flows.write(&flow).unwrap();
    }
    flows.finish().unwrap();
    links(&directory);
    let pauses = pauses(&directory, 50 * scale);
    queues(&directory, 20 * scale);
    let mut drops = directory.records::<DropRecord<'_>>().unwrap();
    drops
        .write(&DropRecord {
            time_ps: 5,
            node: "tor-0".into(),
            ingress_port: 1,
            egress_port: Some(16),
            priority: 3,
            frame_bytes: 1_078,
            reason: "headroom".into(),
            inequality: "headroom in use 20480 + frame 1078 > headroom 20480".into(),
        })
        .unwrap();
    drops.finish().unwrap();
    let mut summary = Summary {
        scenario: name.to_owned(),
        roce_version: 2,
        simulated_ps: END_PS,
        flows: statistics.counts(),
        fct_ps: statistics.fct_ps(END_PS),
        slowdown: statistics.slowdown(END_PS),
        ..Summary::default()
    };
    summary.pfc.pauses = pauses;
    summary.drops.add("headroom");
    let interval = END_PS / (20 * scale);
    let scenario = format!("[sample.queues]\ninterval = \"{interval}ps\"\nports = [\"tor-0\"]\n");
    directory.write_text("scenario.resolved.toml", &scenario).unwrap();
    directory.finish(&summary, &RunInfo::default()).unwrap();
    path
}

/// Numbers that look random and are always the same.
fn scattered(seed: u64) -> u64 {
    let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 11
}

fn flow(number: u64) -> FlowRecord<'static> {
    let bytes = 100 << (scattered(number) % 18);
    let ideal = 4_000_000 + bytes * 80;
    let fct =
        ideal + ideal * (scattered(number + 1) % 1_000) * (scattered(number + 2) % 1_000) / 50_000;
    let start = scattered(number + 3) % END_PS;
    let status = match start + fct <= END_PS {
        true => FlowStatus::Completed,
        false => FlowStatus::Unfinished,
    };
    FlowRecord {
        flow: number,
        workload: "incast[0]".into(),
        name: "incast[0]".into(),
        source: format!("host-{}", scattered(number + 4) % HOSTS).into(),
        destination: format!("host-{}", scattered(number + 5) % HOSTS).into(),
        source_qpn: 0x11,
        destination_qpn: 0x11,
        transport: "rdma".into(),
        verb: "write".into(),
        priority: 3,
        congestion_control: "dcqcn".into(),
        bytes,
        packets: bytes.div_ceil(1_024),
        messages: 1,
        start_ps: start,
        fct_ps: (status == FlowStatus::Completed).then_some(fct),
        ideal_fct_ps: ideal,
        retransmitted_packets: 0,
        messages_delivered: (status == FlowStatus::Completed).then_some(1),
        status,
        measured: 1,
        path: None,
        collisions: None,
    }
}

fn links(directory: &ResultsDir) {
    let mut links = directory.records::<LinkRecord<'_>>().unwrap();
    let mut both = |a: (String, u16), b: (String, u16), seed: u64| {
        for (from, to, seed) in [(&a, &b, seed), (&b, &a, seed + 1)] {
            links
                .write(&LinkRecord {
                    from: from.0.clone().into(),
                    from_port: from.1,
                    to: to.0.clone().into(),
                    to_port: to.1,
                    rate_bps: 100_000_000_000,
                    frames: scattered(seed) % 1_000_000,
                    bytes: scattered(seed) % 1_000_000_000,
                    utilisation: Millionths(scattered(seed) % 1_000_000),
                    paused_ps: scattered(seed) % (END_PS / 4),
                    max_queue_bytes: scattered(seed) % 2_000_000,
                    ecn_marks: scattered(seed) % 9_000,
                })
                .unwrap();
        }
    };
    let port = |number: u64| u16::try_from(number).unwrap();
    for host in 0..HOSTS {
        let rack = (format!("tor-{}", host / (HOSTS / RACKS)), port(host % (HOSTS / RACKS)));
        both((format!("host-{host}"), 0), rack, 10 * host);
    }
    for rack in 0..RACKS {
        for spine in 0..SPINES {
            let up = (format!("tor-{rack}"), port(HOSTS / RACKS + spine));
            both(up, (format!("spine-{spine}"), port(rack)), 7_777 * rack + spine);
        }
    }
    links.finish().unwrap();
}

/// In each round, a rack asks a spine to stop, the spine asks the other racks, and these ask their
/// servers.
fn pauses(directory: &ResultsDir, rounds: u64) -> u64 {
    let mut events = Vec::new();
    for round in 0..rounds {
        let start = END_PS / (rounds + 1) * round;
        let spine = round % SPINES;
        let mut add = |node: String, port: u64, after: u64, lasts: u64| {
            events.push((start + after, node.clone(), port, PauseEvent::Pause, None));
            events.push((start + after + lasts, node, port, PauseEvent::Resume, Some(lasts)));
        };
        let lasts = END_PS / (rounds + 1) / 4;
        add(format!("spine-{spine}"), round % RACKS, 0, lasts);
        for rack in (0..RACKS).filter(|rack| *rack != round % RACKS) {
            add(format!("tor-{rack}"), HOSTS / RACKS + spine, 1_000 + rack, lasts);
            let host = rack * (HOSTS / RACKS) + round % (HOSTS / RACKS);
            add(format!("host-{host}"), 0, 2_000 + rack, lasts);
        }
    }
    events.sort_by_key(|event| event.0);
    let mut records = directory.records::<PauseRecord<'_>>().unwrap();
    for (time_ps, node, port, event, duration_ps) in &events {
        records
            .write(&PauseRecord {
                time_ps: *time_ps,
                node: node.as_str().into(),
                port: u16::try_from(*port).unwrap(),
                priority: 3,
                event: *event,
                quanta: if duration_ps.is_some() { 0 } else { 65_535 },
                duration_ps: *duration_ps,
            })
            .unwrap();
    }
    records.finish().unwrap();
    events.len() as u64 / 2
}

fn queues(directory: &ResultsDir, samples: u64) {
    let mut queues = directory.records::<QueueSample<'_>>().unwrap();
    for sample in 0..samples {
        for rack in 0..RACKS {
            for port in 0..HOSTS / RACKS {
                let bytes = scattered(sample * 1_000 + rack * 40 + port) % 1_500_000;
                if bytes < 600_000 {
                    continue;
                }
                queues
                    .write(&QueueSample {
                        time_ps: END_PS / samples * sample,
                        node: format!("tor-{rack}").into(),
                        port: u16::try_from(port).unwrap(),
                        priority: 3,
                        queue_bytes: bytes,
                    })
                    .unwrap();
            }
        }
    }
    queues.finish().unwrap();
}
