//! Flows one by one: in the scenario, in a CSV file, or in a file of the HPCC simulator.

use rocelab_units::{Bytes, SimTime};

use super::flow::{DEFAULT_PORT, Flow, check_ends};
use super::flow_table::{Row, Table};
use super::rules::{FlowRules, MAX_MESSAGE_BYTES};
use super::site::Site;
use super::{MAX_MESSAGES, Workload, reference};
pub use crate::scenario::workload::flows::{FlowConfig, Parameters};
use crate::scenario::{Fault, Transport, Verb, check_verb, ensure, known_names};

impl Workload for Parameters {
    fn flows(&self, site: &Site<'_>) -> Result<Vec<Flow>, Fault> {
        check_transport(self)?;
        let priority = site.priority_or_default(self.priority)?;
        let message_bytes = message_bytes(self, site)?;
        let flows = read(self, site, priority)?;
        let messages = |flow: &Flow| flow.bytes.div_ceil(message_bytes);
        if let Some(flow) = flows.iter().find(|flow| messages(flow) > MAX_MESSAGES) {
            let text = format!("a flow would be {} messages", messages(flow));
            return Err(Fault::at("message", text)
                .help(format!("a flow has at most {MAX_MESSAGES}: give a larger size")));
        }
        Ok(flows.into_iter().map(|flow| Flow { message_bytes, ..flow }).collect())
    }
}

/// Refuses keys that mean nothing to the transport, of single flows too.
fn check_transport(parameters: &Parameters) -> Result<(), Fault> {
    parameters.transport.check(
        parameters.verb,
        parameters.priority,
        parameters.congestion_control.as_ref(),
    )?;
    for (row, flow) in parameters.list.iter().enumerate() {
        let verb = flow.verb.unwrap_or_default();
        let checked = parameters.transport.check(verb, flow.priority, None);
        checked.map_err(|fault| fault.within(&format!("list[{row}]")))?;
    }
    ensure(parameters.transport.is_rdma() || parameters.message.is_none(), || {
        Fault::at("message", "TCP carries a stream of bytes, and knows no messages")
            .help("leave it out")
    })
}

/// The size of each message.
fn message_bytes(parameters: &Parameters, site: &Site<'_>) -> Result<u64, Fault> {
    let Some(message) = parameters.message else { return Ok(MAX_MESSAGE_BYTES) };
    ensure(site.rules == FlowRules::Roce, || {
        Fault::at("message", "HPCC's simulator knows no messages").help("leave it out")
    })?;
    ensure((1..=MAX_MESSAGE_BYTES).contains(&message.get()), || {
        Fault::at("message", "a message has at least one byte and at most 2^31")
            .help("give 1B to 2GiB")
    })?;
    Ok(message.get())
}

/// The flows from where the scenario has them.
fn read(parameters: &Parameters, site: &Site<'_>, priority: u8) -> Result<Vec<Flow>, Fault> {
    match (parameters.list.as_slice(), &parameters.csv, &parameters.reference) {
        ([], Some(file), None) => {
            let table = Table::read(site.folder, file, "csv", &COLUMNS)?;
            tabulated(parameters, &table, site, priority)
        }
        ([], None, Some(file)) => {
            reference::read(site, file, parameters.start_offset, parameters.verb)
        }
        ([_, ..], None, None) => listed(parameters, site, priority),
        ([], None, None) => {
            Err(Fault::at("", "there are no flows").help("give `list`, `csv` or `reference`"))
        }
        _ => Err(Fault::at("", "flows come from one place").help(
            "keep one of `list`, `csv` and `reference`, or write several `[[workload.flows]]`",
        )),
    }
}

fn listed(parameters: &Parameters, site: &Site<'_>, priority: u8) -> Result<Vec<Flow>, Fault> {
    site.check_count("list", parameters.list.len() as u64)?;
    let flow = |(row, flow): (u32, &FlowConfig)| {
        resolved(flow, site, priority, parameters.verb, row)
            .map_err(|fault| fault.within(&format!("list[{row}]")))
    };
    (0..).zip(&parameters.list).map(flow).collect()
}

fn tabulated(
    parameters: &Parameters,
    table: &Table,
    site: &Site<'_>,
    priority: u8,
) -> Result<Vec<Flow>, Fault> {
    ensure(!(table.has("start") && table.has("start_ps")), || {
        table.fault("there are two columns of start times", "keep `start` or `start_ps`")
    })?;
    site.check_count("csv", table.rows().count() as u64)?;
    table.rows().map(|row| tabulated_flow(parameters, row, site, priority)).collect()
}

fn tabulated_flow(
    parameters: &Parameters,
    row: Row<'_>,
    site: &Site<'_>,
    priority: u8,
) -> Result<Flow, Fault> {
    let (from, to) = (row.required("source")?, row.required("destination")?);
    let source = site.hosts.source(from, to).map_err(|fault| row.blame("source", fault))?;
    let destination = site.hosts.destination(to, source);
    let destination = destination.map_err(|fault| row.blame("destination", fault))?;
    check_ends(site.hosts, source, destination).map_err(|fault| row.blame("destination", fault))?;
    let bytes = bytes_of(row)?;
    site.check_bytes("", bytes).map_err(|fault| row.blame("bytes", fault))?;
    let verb = row.field("verb").map_or(Ok(parameters.verb), |text| verb_named(row, text))?;
    if parameters.transport == Transport::Tcp {
        check_verb(verb).map_err(|fault| row.blame("verb", fault))?;
    }
    let priority = match row.field("priority") {
        Some(_) if parameters.transport == Transport::Tcp => {
            let fault = Fault::at("", "all TCP segments have one priority");
            Err(fault.help("give `priority` in `[tcp]`, and leave the field empty"))
        }
        Some(_) => site.priority_or_default(Some(row.parsed("priority")?)),
        None => Ok(priority),
    };
    Ok(Flow {
        source,
        destination,
        start: start_of(row)?,
        bytes,
        message_bytes: MAX_MESSAGE_BYTES,
        verb,
        priority: priority.map_err(|fault| row.blame("priority", fault))?,
        port: DEFAULT_PORT,
        row: row.line(),
    })
}

const COLUMNS: [&str; 7] =
    ["source", "destination", "bytes", "start", "start_ps", "priority", "verb"];

/// The size: digits alone are bytes, because the column's name says so.
fn bytes_of(row: Row<'_>) -> Result<u64, Fault> {
    if row.required("bytes")?.bytes().all(|byte| byte.is_ascii_digit()) {
        return row.whole("bytes");
    }
    row.parsed::<Bytes>("bytes").map(Bytes::get)
}

fn start_of(row: Row<'_>) -> Result<SimTime, Fault> {
    match (row.field("start_ps"), row.field("start")) {
        (Some(_), _) => row.whole("start_ps").map(SimTime::from_ps),
        (None, Some(_)) => row.parsed("start"),
        (None, None) => Ok(SimTime::ZERO),
    }
}

fn verb_named(row: Row<'_>, text: &str) -> Result<Verb, Fault> {
    let verb = Verb::ALL.into_iter().find(|verb| verb.name() == text);
    verb.ok_or_else(|| {
        let names = Verb::ALL.map(Verb::name);
        let fault = Fault::at("", format!("there is no verb `{text}`"));
        row.blame("verb", fault.help(known_names(text, &names)))
    })
}

fn resolved(
    config: &FlowConfig,
    site: &Site<'_>,
    priority: u8,
    verb: Verb,
    row: u32,
) -> Result<Flow, Fault> {
    let FlowConfig { from, to, .. } = config;
    let source = site.hosts.source(from, to).map_err(|fault| fault.within("from"))?;
    let destination = site.hosts.destination(to, source);
    let destination = destination.map_err(|fault| fault.within("to"))?;
    check_ends(site.hosts, source, destination)?;
    site.check_bytes("bytes", config.bytes.get())?;
    Ok(Flow {
        source,
        destination,
        start: config.start,
        bytes: config.bytes.get(),
        message_bytes: MAX_MESSAGE_BYTES,
        verb: config.verb.unwrap_or(verb),
        priority: site.priority_or_default(Some(config.priority.unwrap_or(priority)))?,
        port: DEFAULT_PORT,
        row,
    })
}
