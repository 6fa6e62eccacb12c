//! Fault rules: from what a scenario says to what the network asks of each frame.

mod check;
mod links;
mod opcodes;

use std::collections::BTreeSet;

use rocelab_fabric::{NodeId, Topology};
use rocelab_units::{Duration, SimTime};

use crate::plan::{
    FaultAction, FaultChoice, FaultRule, FlowPlan, FrameSelector, MulticastPlan, Plan,
};
use crate::scenario::{
    CorruptedPart, Fault, FaultConfig, FaultPattern, FaultVerb, IpVersion, Scenario, ensure,
};

/// How long a frame is held back at the most if nothing follows it.
const LONGEST_HOLD: Duration = Duration::from_ms(1);

/// The rules of a scenario, in the order of its text.
pub(super) fn build(
    configs: &[FaultConfig],
    topology: &Topology,
    (flows, multicast): (&[FlowPlan], Option<&MulticastPlan>),
) -> Result<Vec<FaultRule>, Fault> {
    let mut names = BTreeSet::new();
    let mut rules = Vec::with_capacity(configs.len());
    for (index, config) in configs.iter().enumerate() {
        let place = format!("faults[{index}]");
        check_multicast(config, multicast).map_err(|fault| fault.within(&place))?;
        let rule = rule(config, &place, topology, flows).map_err(|fault| fault.within(&place))?;
        ensure(names.insert(rule.name.clone()), || {
            Fault::at(format!("{place}.name"), format!("`{}` is the name of two rules", rule.name))
                .help("name every rule differently, or leave the names out")
        })?;
        rules.push(rule);
    }
    Ok(rules)
}

/// Refuses to name one of several flows that share their frames.
fn check_multicast(config: &FaultConfig, multicast: Option<&MulticastPlan>) -> Result<(), Fault> {
    let sending = config.flow.and_then(|flow| Some((flow, multicast?.sending_of(flow)?)));
    sending.map_or(Ok(()), |(flow, _)| {
        let what = format!("the frames of flow {flow} are for all members of a multicast group");
        Err(Fault::at("flow", what)
            .help("give `dest_qp = 0xffffff`, and `to` the node at the link to one member"))
    })
}

/// Frames that rules do not see, where some rule may be meant for them: one that names nothing of RDMA.
pub(super) fn passed_over(scenario: &Scenario, plan: &Plan) -> Option<Fault> {
    let is_for_any = |rule: &FaultConfig| {
        let of_rdma = (&rule.opcode, rule.flow, rule.dest_qp, &rule.psn);
        matches!(of_rdma, (None, None, None, None)) && rule.pattern.is_none()
    };
    let index = scenario.faults.iter().position(is_for_any)?;
    let resolution = plan.roce.neighbours.as_ref().map(|neighbours| match neighbours.ip {
        IpVersion::Ipv4 => "ARP",
        IpVersion::Ipv6 => "Neighbour Discovery",
    });
    let tcp = plan.flows.iter().any(FlowPlan::is_tcp).then_some("TCP");
    let streams = (!plan.streams.all.is_empty()).then_some("streams");
    let passed: Vec<_> = [tcp, resolution, streams].into_iter().flatten().collect();
    let (last, first) = passed.split_last()?;
    let names = if first.is_empty() {
        (*last).to_owned()
    } else {
        format!("{} and {last}", first.join(", "))
    };
    let key = format!("faults[{index}]");
    Some(Fault::at(key, format!("rules see RDMA packets only: frames of {names} pass")).value("").help(
        "`bit_error_rate` of a `[[link]]` loses frames of every kind; name an `opcode`, such as \"data\", if RDMA is meant",
    ))
}

fn rule(
    config: &FaultConfig,
    place: &str,
    topology: &Topology,
    flows: &[FlowPlan],
) -> Result<FaultRule, Fault> {
    check::check(config)?;
    let opcodes = opcodes::named(config.opcode.as_ref())?;
    check::check_opcodes(config, &opcodes)?;
    let action = action(config);
    Ok(FaultRule {
        name: config.name.clone().unwrap_or_else(|| place.into()),
        links: links::directions(config, topology)?,
        frames: FrameSelector {
            opcodes,
            queue_pairs: config.flow.map_or(Ok(Vec::new()), |flow| queue_pairs(flow, flows))?,
            dest_qp: config.dest_qp,
            psn: config.psn,
            with_payload: action == FaultAction::Corrupt(CorruptedPart::Payload),
            after: config.after.unwrap_or(SimTime::ZERO),
            until: config.until.unwrap_or(SimTime::NEVER),
        },
        action,
        choice: choice(config),
        limit: config.count.unwrap_or(u64::MAX),
    })
}

/// The action of a rule whose keys have been checked.
fn action(config: &FaultConfig) -> FaultAction {
    match config.action {
        FaultVerb::Drop => FaultAction::Drop,
        FaultVerb::Duplicate => FaultAction::Duplicate,
        FaultVerb::Delay => FaultAction::Delay(config.delay.unwrap_or_default()),
        FaultVerb::Corrupt => FaultAction::Corrupt(config.part.unwrap_or_default()),
        FaultVerb::Reorder => FaultAction::Reorder {
            // With a time alone, no number of frames ends it.
            behind: config.behind.unwrap_or(u32::MAX),
            within: config.delay.unwrap_or(LONGEST_HOLD),
        },
    }
}

fn choice(config: &FaultConfig) -> FaultChoice {
    match (config.nth, config.every, config.probability, config.pattern) {
        (Some(nth), ..) => FaultChoice::Nth(nth),
        (_, Some(every), ..) => FaultChoice::Every(every),
        (_, _, Some(probability), _) => FaultChoice::Probability(probability),
        (.., Some(FaultPattern::IpIdentification)) => FaultChoice::IpIdentification,
        _ => FaultChoice::All,
    }
}

/// Both queue pairs of a flow.
fn queue_pairs(flow: u32, flows: &[FlowPlan]) -> Result<Vec<(NodeId, u32)>, Fault> {
    let found = flows.get(flow as usize).ok_or_else(|| no_flow(flow, flows.len()))?;
    ensure(!found.is_tcp(), || {
        Fault::at("flow", format!("flow {flow} is carried by TCP, and rules see RDMA packets only"))
            .help("name a flow of RDMA; links lose frames of TCP too (`loss`)")
    })?;
    Ok(vec![(found.source, found.source_qpn), (found.destination, found.destination_qpn)])
}

fn no_flow(flow: u32, flows: usize) -> Fault {
    if flows == 0 {
        return Fault::at("flow", "this scenario has no flows")
            .help("choose packets of applications by `from`, `to` and `dest_qp` in its place");
    }
    let help = match flows {
        1 => "the only flow of this scenario is 0".to_owned(),
        _ => format!("the flows of this scenario are 0 to {}", flows - 1),
    };
    Fault::at("flow", format!("there is no flow {flow}")).help(help)
}
