//! The records of a small run.

use std::collections::BTreeMap;
use std::path::Path;

use rocelab_results::*;

pub(crate) fn flows() -> Vec<FlowRecord<'static>> {
    let completed = FlowRecord {
        flow: 1,
        workload: "incast[0]".into(),
        name: "incast[0]".into(),
        source: "host-1".into(),
        destination: "host-16".into(),
        source_qpn: 0x11,
        destination_qpn: 0x12,
        transport: "rdma".into(),
        verb: "write".into(),
        priority: 3,
        congestion_control: "dcqcn".into(),
        bytes: 1_000_000,
        packets: 977,
        messages: 1,
        start_ps: 0,
        fct_ps: Some(1_365_000_001),
        ideal_fct_ps: 86_000_000,
        retransmitted_packets: 0,
        messages_delivered: Some(1),
        status: FlowStatus::Completed,
        measured: 1,
        path: Some("host-1>switch>host-0".into()),
        collisions: Some(0),
    };
    vec![
        completed.clone(),
        FlowRecord {
            flow: 0,
            source: "host-0, rack \"a\"".into(),
            source_qpn: 0xff_ffff,
            verb: "read".into(),
            congestion_control: "hpcc-pint".into(),
            bytes: 5_000_000_000,
            packets: 4_882_813,
            messages: 3,
            start_ps: 1_000_000,
            fct_ps: Some(400_000_000_000),
            ideal_fct_ps: 400_000_000_000,
            retransmitted_packets: 12,
            messages_delivered: Some(3),
            ..completed.clone()
        },
        FlowRecord {
            flow: 2,
            fct_ps: None,
            retransmitted_packets: 49,
            messages_delivered: None,
            status: FlowStatus::RetryExceeded,
            ..completed.clone()
        },
        FlowRecord {
            flow: 3,
            fct_ps: None,
            messages_delivered: Some(0),
            status: FlowStatus::Unfinished,
            ..completed
        },
    ]
}

pub(crate) fn pauses() -> Vec<PauseRecord<'static>> {
    let pause = PauseRecord {
        time_ps: 10_000_000,
        node: "spine-0".into(),
        port: 3,
        priority: 3,
        event: PauseEvent::Pause,
        quanta: 0xffff,
        duration_ps: None,
    };
    vec![
        pause.clone(),
        PauseRecord { time_ps: 20_000_000, event: PauseEvent::Refresh, ..pause.clone() },
        PauseRecord {
            time_ps: 25_000_000,
            event: PauseEvent::Resume,
            quanta: 0,
            duration_ps: Some(15_000_000),
            ..pause
        },
    ]
}

pub(crate) fn queues() -> Vec<QueueSample<'static>> {
    vec![QueueSample {
        time_ps: 1_000_000,
        node: "leaf-3".into(),
        port: 0,
        priority: 3,
        queue_bytes: 123_456,
    }]
}

pub(crate) fn drops() -> Vec<DropRecord<'static>> {
    vec![
        DropRecord {
            time_ps: 12_345_678,
            node: "leaf-3".into(),
            ingress_port: 17,
            egress_port: Some(0),
            priority: 3,
            frame_bytes: 1_078,
            reason: "headroom_exceeded".into(),
            inequality: "headroom in use 20480 + frame 1078 > headroom 20480".into(),
        },
        DropRecord {
            time_ps: 12_345_679,
            node: "leaf-3".into(),
            ingress_port: 17,
            egress_port: None,
            priority: 0,
            frame_bytes: 64,
            reason: "no_route".into(),
            inequality: "".into(),
        },
    ]
}

pub(crate) fn links() -> Vec<LinkRecord<'static>> {
    vec![LinkRecord {
        from: "host-0".into(),
        from_port: 0,
        to: "leaf-0".into(),
        to_port: 3,
        rate_bps: 100_000_000_000,
        frames: 977,
        bytes: 1_053_206,
        utilisation: Millionths(66_667),
        paused_ps: 15_000_000,
        max_queue_bytes: 0,
        ecn_marks: 0,
    }]
}

pub(crate) fn operations() -> Vec<OperationRecord<'static>> {
    let read = OperationRecord {
        app: "disk".into(),
        kind: "read".into(),
        client: "host-0".into(),
        server: "host-1".into(),
        connection: 0,
        operation: 0,
        slot: 0,
        start_ps: 1_000_000,
        end_ps: Some(13_500_000),
        latency_ps: Some(12_500_000),
        found: None,
        status: OperationStatus::Completed,
        measured: 1,
    };
    vec![
        read.clone(),
        OperationRecord {
            kind: "write".into(),
            operation: 1,
            slot: 1,
            end_ps: Some(21_000_000),
            latency_ps: Some(20_000_000),
            found: Some(7),
            ..read.clone()
        },
        OperationRecord {
            operation: 2,
            start_ps: 13_500_000,
            end_ps: None,
            latency_ps: None,
            status: OperationStatus::Unfinished,
            ..read
        },
    ]
}

fn operation_statistics() -> OperationStatistics {
    let mut statistics = OperationStatistics::default();
    operations().iter().for_each(|operation| statistics.add(operation));
    statistics
}

/// Payload that was accepted evenly over a time (us).
fn accepted(bytes: u64, from: u64, to: u64) -> DeliveryLog {
    let mut log = DeliveryLog::with_origin(from * 1_000_000);
    let packets = to - from;
    (1..=packets).for_each(|packet| log.add((from + packet) * 1_000_000, bytes / packets));
    log
}

/// A goodput that begins with the run, with payload until 400 ms.
fn goodput() -> Option<Goodput> {
    Goodput::of(
        &accepted(5_000_000_000, 0, 400_000),
        RunSpan::starting_at(0).until(401_365_000_000),
        true,
    )
}

pub(crate) fn summary() -> Summary {
    let mut statistics = FlowStatistics::default();
    flows().iter().for_each(|flow| statistics.add(flow));
    let goodput = goodput();
    let mut drops = DropCounts::default();
    self::drops().iter().for_each(|drop| drops.add(&drop.reason));
    Summary {
        scenario: "incast-v2".into(),
        labels: BTreeMap::new(),
        branch: None,
        seed: 1,
        roce_version: 2,
        infiniband: None,
        incomplete: false,
        digest: "9f86d081884c7d65".into(),
        simulated_ps: 20_000_000_000,
        ns3_rdma: None,
        link_traversals: LinkTraversals { total: 120, data: 60, ack: 50, control: 10 },
        flows: statistics.counts(),
        goodput_bps: goodput.map(|goodput| goodput.bps()),
        goodput,
        fct_ps: statistics.fct_ps(20_000_000_000),
        slowdown: statistics.slowdown(20_000_000_000),
        transports: BTreeMap::new(),
        tcp: Some(TcpCounts {
            segments: 20,
            acknowledgements: 12,
            retransmissions: 3,
            fast_retransmits: 1,
            timeouts: 2,
            ecn_reductions: 4,
        }),
        streams: Vec::new(),
        monitoring: None,
        nvlink: None,
        collectives: Vec::new(),
        messages: Some(statistics.messages()),
        operations: vec![operation_statistics().counts(
            "disk",
            Some(4),
            &accepted(8_000, 1, 21),
            22_000_000,
        )],
        drops,
        lossless_drops: [("headroom_exceeded".to_owned(), 1)].into(),
        failures: [("link-down".to_owned(), 2)].into(),
        faults: vec![FaultRuleCounts {
            rule: "lost ACKs".into(),
            action: "drop".into(),
            matched: 50,
            acted: 2,
        }],
        integrity: None,
        flow_controls: Vec::new(),
        storms: 0,
        deadlocks: Vec::new(),
        slow_receivers: Vec::new(),
        layer2: None,
        neighbours: None,
        stalled: None,
        frozen: None,
        idle_queue_pairs: Vec::new(),
        pfc: PfcCounts { pauses: 1, resumes: 1, paused_ps: 15_000_000 },
        ecn: EcnCounts { marks: 7 },
        cnps: 2,
        cnms: 0,
        multicast_copies: 0,
        switch_cnps: 0,
        naks: 1,
        rnr_naks: 3,
        timeouts: 7,
        late_connections: 0,
        path_migrations: Vec::new(),
        completion_events: 0,
        completions_after_events: 0,
        retransmissions: 61,
        measured: None,
        sample_intervals: BTreeMap::new(),
        opcodes: [("RC_RDMA_WRITE_FIRST", 3), ("RC_ACKNOWLEDGE", 50), ("CNP", 2)]
            .map(|(name, frames)| (name.to_owned(), frames))
            .into(),
    }
}

pub(crate) fn run_info() -> RunInfo {
    let mut run = RunInfo {
        version: "0.1.0".into(),
        started: Some("2026-01-31T12:00:00Z".into()),
        wall_s: 2.5,
        cpu_s: 2.0,
        peak_memory_bytes: 45_000_000,
        events: 9_000_000,
        threads: 2,
        partitions: 4,
        machine: Machine { os: "linux".into(), arch: "x86_64".into(), cores: 2 },
        ..RunInfo::default()
    };
    run.set_rates(run.events, 20_000_000);
    run
}

/// Writes all of it into a results directory at `path`.
pub(crate) fn write(path: &Path, overwrite: Overwrite) -> Result<std::path::PathBuf, ResultsError> {
    let directory = ResultsDir::create(path, overwrite)?;
    fill(&directory)?;
    directory.finish(&summary(), &run_info())
}

pub(crate) fn fill(directory: &ResultsDir) -> Result<(), ResultsError> {
    let mut writer = directory.flows()?;
    flows().iter().try_for_each(|flow| writer.write(flow))?;
    writer.finish()?;
    let mut writer = directory.pauses()?;
    pauses().iter().try_for_each(|pause| writer.write(pause))?;
    writer.finish()?;
    let mut writer = directory.queues()?;
    queues().iter().try_for_each(|sample| writer.write(sample))?;
    writer.finish()?;
    let mut writer = directory.operations()?;
    operations().iter().try_for_each(|operation| writer.write(operation))?;
    writer.finish()?;
    let mut writer = directory.drops()?;
    drops().iter().try_for_each(|drop| writer.write(drop))?;
    writer.finish()?;
    let mut writer = directory.links()?;
    links().iter().try_for_each(|link| writer.write(link))?;
    writer.finish()?;
    directory.write_text("scenario.resolved.toml", "seed = 1\n")
}
