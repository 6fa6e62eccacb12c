//! Configurations of ns3-rdma as scenarios of RoCE.

use std::collections::BTreeSet;
use std::path::Path;

use rocelab_fabric::{EcnConfig, MarkAt, Priority, QUANTUM_BITS, SchedulerConfig};
use rocelab_ns3_rdma::{Branch, Config, FlowSpec, Input, Multipath, Pause, Recovery};
use rocelab_sim::Verb;
use rocelab_sim::reference::fraction_of;
use rocelab_sim::scenario::workload::flows;
use rocelab_sim::scenario::{ClassConfig, RoceVersion};
use rocelab_transport::congestion_control::{Algorithm, dcqcn, none, timely};
use rocelab_units::{Bandwidth, Bytes, Duration, Ratio, SimTime};

use super::native::{Native, Paths};
use crate::failure::Failure;

/// Memory of a switch of that simulator.
const MEMORY: Bytes = Bytes::new(9_000_000);
/// Its dynamic threshold: so many times the memory that is free.
const ALPHA: Ratio = Ratio::new(16, 1);
/// Its fixed threshold, and how far below it a pause ends.
const XOFF: Bytes = Bytes::new(20_600);
const XON_OFFSET: Bytes = Bytes::new(2_060);
/// The class whose data ignore notifications.
const CLASS_WITHOUT_REACTION: u8 = 1;
/// The class of notifications.
const CNP_CLASS: u8 = 7;

/// The scenario of a configuration.
pub(super) fn convert(input: &Input, version: RoceVersion) -> Result<Native, Failure> {
    let config = &input.config;
    let topology = config.files.topology.clone();
    let stop = SimTime::ZERO + Duration::from_ns(config.stop);
    let mut native = Native::new(version, (Path::new(""), topology), stop);
    native.scenario.seed = u64::from(input.options.seed);
    let mtu = native.set_payload("PACKET_PAYLOAD_SIZE", config.payload);
    set_recovery(&mut native, &config.recovery, mtu);
    set_switches(&mut native, input);
    match input.options.branch {
        Branch::Master => set_reaction(&mut native, config, &input.flows),
        Branch::Timely => set_timely(&mut native),
    }
    native.set_paths(match config.multipath {
        Multipath::None => Paths::First,
        Multipath::Flow => Paths::ByFlow,
        Multipath::Packet => Paths::ByPacket,
    });
    native.set_loss("ERROR_RATE_PER_LINK", config.loss);
    if input.topology.links.iter().any(|link| link.loss > 0.0) {
        native.note("a link's loss is tested once for each packet, not twice");
    }
    set_flows(&mut native, input, mtu);
    Ok(native)
}

fn set_recovery(native: &mut Native, recovery: &Recovery, mtu: u32) {
    native.scenario.roce.ack_interval = recovery.ack_interval.clamp(1, 1 << 22);
    native.note("acknowledgements have the priority of their data (there: class 1)");
    if recovery.back_to_zero {
        native.set_back_to_zero(recovery.chunk.into(), mtu);
    }
    if recovery.wait_for_ack {
        let packets = recovery.chunk.clamp(1, 1 << 23);
        native.scenario.roce.max_outstanding = Some(packets);
        native.note("L2_WAIT_FOR_ACK: at most a chunk is in flight (`roce.max_outstanding`)");
    }
}

fn set_switches(native: &mut Native, input: &Input) {
    let classes: BTreeSet<u8> = input.flows.iter().map(|flow| flow.class).collect();
    let switch = &mut native.scenario.switch;
    switch.buffer = MEMORY;
    switch.scheduler = SchedulerConfig::RoundRobin;
    switch.lossless = classes.into_iter().collect();
    let Pause { dynamic, time } = input.config.pause;
    if dynamic {
        switch.alpha = ALPHA;
    } else {
        switch.xoff = Some(XOFF);
        switch.xon_offset = XON_OFFSET;
    }
    if let Some(rate) = input.topology.links.iter().map(|link| link.rate).max() {
        switch.pause_quanta = quanta(time, rate);
    }
    native.note(
        "a pause ends when memory is free again, and is renewed until then (there: it expires)",
    );
    native.note("pauses stop the ports of switches too (there: they slow them down to 10 Gb/s)");
    native.note("ports send a frame of each priority in turn (there: 10 Gb/s for each class, the highest first)");
    native.note("headroom is what rate, cable and largest frame ask for (there: 103000 B, `switch.headroom`)");
}

/// A time in us as quanta of a link of `rate` bit/s.
fn quanta(time: u64, rate: u64) -> u16 {
    let bits = u128::from(time) * u128::from(rate) / 1_000_000;
    let quanta = bits / u128::from(QUANTUM_BITS);
    u16::try_from(quanta.max(1)).unwrap_or(u16::MAX)
}

fn set_reaction(native: &mut Native, config: &Config, flows: &[FlowSpec]) {
    if !config.qcn {
        return native.set_reaction(Algorithm::None(none::Parameters::default()), None);
    }
    let marking = &config.marking;
    let ecn = EcnConfig {
        kmin: Bytes::new(marking.kmin.into()),
        kmax: Bytes::new(marking.kmax.into()),
        pmax: marking.pmax,
        per_rate: None,
        mark_at: MarkAt::Dequeue,
        average_weight: None,
    };
    let algorithm = Algorithm::Dcqcn(dcqcn(native, config));
    native.set_reaction(algorithm, Some(ecn));
    native.scenario.roce.cnp_priority = CNP_CLASS;
    let is_deaf = |flow: &FlowSpec| flow.class == CLASS_WITHOUT_REACTION;
    if native.scenario.roce.version == RoceVersion::V2 && flows.iter().any(is_deaf) {
        let deaf = ClassConfig {
            congestion_control: Some(Algorithm::None(none::Parameters::default())),
            ..ClassConfig::default()
        };
        if let Some(class) = Priority::new(CLASS_WITHOUT_REACTION) {
            native.scenario.class.insert(class, deaf);
        }
        native.note("class 1 ignores notifications (`class.1`)");
    }
}

/// What the branch `timely` has built in are the defaults of the algorithm here.
fn set_timely(native: &mut Native) {
    native.set_reaction(Algorithm::Timely(timely::Parameters::default()), None);
    native.note("TIMELY follows acknowledgements, in place of answers of the application, and its step is 10 Mb/s for each \
                 10 Gb/s of the line rate (there: 10 Mb/s, and at most 9.6 Gb/s)");
    native.note("flows begin at the line rate (there: at the rate in the file)");
}

fn dcqcn(native: &mut Native, config: &Config) -> dcqcn::Parameters {
    let reaction = &config.reaction;
    let us = |time: u64| Some(Duration::from_us(time)).filter(|&time| time > Duration::ZERO);
    let timer = format!("{}us", reaction.increase_interval).parse().unwrap_or(Duration::ZERO);
    if native.scenario.roce.version == RoceVersion::V2 {
        if reaction.gain == 0.0 {
            native.note("DCTCP_GAIN 0 never lets alpha change: it is left out (`congestion_control.dcqcn.g`)");
        }
        if timer == Duration::ZERO {
            native.note("RP_TIMER 0: it is left out (`congestion_control.dcqcn.increase_timer`)");
        }
    }
    dcqcn::Parameters {
        cnp_interval: us(reaction.cnp_interval),
        alpha_interval: us(reaction.alpha_interval),
        increase_timer: Some(timer).filter(|&timer| timer > Duration::ZERO),
        byte_counter: Some(Bytes::new(reaction.byte_counter.into())),
        g: fraction_of(&reaction.gain.to_string()).filter(|gain| gain.numerator() > 0),
        initial_alpha: Some(Ratio::new(1, 2)),
        fast_recovery_threshold: Some(reaction.fast_recovery.max(1)),
        additive_increase: Some(Bandwidth::from_bps(reaction.additive)),
        hyper_increase: Some(Bandwidth::from_bps(reaction.hyper)),
        clamp_target_rate: Some(reaction.clamp),
        cut_on_first_cnp: Some(true),
        rate_decrease_interval: us(reaction.cnp_interval),
        ..dcqcn::Parameters::default()
    }
}

fn set_flows(native: &mut Native, input: &Input, mtu: u32) {
    let flow = |flow: &FlowSpec| flows::FlowConfig {
        from: format!("host-{}", flow.source),
        to: format!("host-{}", flow.destination),
        bytes: Bytes::new(u64::from(flow.packets) * u64::from(mtu)),
        start: SimTime::ZERO + Duration::from_ns(flow.start),
        verb: None,
        priority: Some(flow.class),
    };
    native.set_flows(flows::Parameters {
        list: input.flows.iter().map(flow).collect(),
        verb: Verb::Write,
        ..flows::Parameters::default()
    });
    native.note(format!(
        "flows are WRITEs of queue pairs, of as many packets as there, each with {mtu} bytes; a flow that has begun \
         goes on until all is acknowledged"
    ));
    let stopped = input.flows.iter().filter(|flow| flow.stop < input.config.stop).count();
    if stopped > 0 {
        native.note(format!(
            "{stopped} of {} flows stop before the end there; here they go on",
            input.flows.len()
        ));
    }
    if input.config.in_chunks {
        native.note("SEND_IN_CHUNKS: applications do not wait for an answer every 4 MB");
    }
}
