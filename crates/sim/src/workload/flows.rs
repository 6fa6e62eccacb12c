//! Flows one by one: in the scenario, in a CSV file, or in a file of the HPCC simulator.

use std::path::{Path, PathBuf};

use rocelab_transport::Algorithm;
use rocelab_units::{Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_table::{Row, Table};
use super::{DEFAULT_PORT, Flow, FlowRules, Site, Workload, check_ends, reference};
use crate::plan::{MAX_MESSAGE_BYTES, Verb};
use crate::scenario::{Fault, Transport, check_verb, ensure, known_names};

/// The most messages of a flow: all are posted at its start.
const MAX_MESSAGES: u64 = 1 << 20;

/// `[workload.flows]`: exactly one of `list`, `csv` and `reference`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "FlowsParameters")]
pub struct Parameters {
    /// The flows themselves: `[[workload.flows.list]]`, or an array of inline tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<FlowConfig>,
    /// A CSV file with the columns `source`, `destination`, `bytes` (with a unit, or digits
    /// alone), `start` (with a unit) or `start_ps`, and optionally `priority` and `verb`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csv: Option<PathBuf>,
    /// A flow file of the HPCC simulator (`flow.txt`), whose node numbers are those of this
    /// topology's nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<PathBuf>,
    /// With `reference`: taken off every start time, because those files begin at 2 s.
    pub start_offset: Duration,
    /// Payload bytes of each message: a flow's bytes are posted at its start as messages of this
    /// size, and one with the rest. Default: one message, as far as 2GiB allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Bytes>,
    /// What carries them: `rdma` or `tcp`.
    #[serde(skip_serializing_if = "Transport::is_rdma")]
    pub transport: Transport,
    /// The operation of flows that name none.
    pub verb: Verb,
    /// Priority 0 to 7 of flows that name none. Default: that of `[roce]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// How these flows react to congestion. Default: as those of their priority, or all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<Algorithm>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            csv: None,
            reference: None,
            start_offset: Duration::from_ms(2_000),
            message: None,
            transport: Transport::default(),
            verb: Verb::default(),
            priority: None,
            congestion_control: None,
        }
    }
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// The host that posts the work.
    pub from: String,
    /// The other host.
    pub to: String,
    /// Payload bytes; a READ moves them from `to` to `from`.
    pub bytes: Bytes,
    /// When the work is posted. Default: 0s.
    #[serde(default)]
    pub start: SimTime,
    /// The operation. Default: that of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verb: Option<Verb>,
    /// Priority 0 to 7. Default: that of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
}

impl Workload for Parameters {
    fn congestion_control(&self) -> Option<&Algorithm> {
        self.congestion_control.as_ref()
    }

    fn transport(&self) -> Transport {
        self.transport
    }

    fn flows(&self, site: &Site<'_>) -> Result<Vec<Flow>, Fault> {
        self.check_transport()?;
        let priority = site.priority_or_default(self.priority)?;
        let message_bytes = self.message_bytes(site)?;
        let flows = self.read(site, priority)?;
        let messages = |flow: &Flow| flow.bytes.div_ceil(message_bytes);
        if let Some(flow) = flows.iter().find(|flow| messages(flow) > MAX_MESSAGES) {
            let text = format!("a flow would be {} messages", messages(flow));
            return Err(Fault::at("message", text)
                .help(format!("a flow has at most {MAX_MESSAGES}: give a larger size")));
        }
        Ok(flows.into_iter().map(|flow| Flow { message_bytes, ..flow }).collect())
    }

    fn key_of(&self, row: u32) -> String {
        match (&self.csv, &self.reference) {
            (Some(_), _) => "csv".into(),
            (_, Some(_)) => "reference".into(),
            _ => format!("list[{row}]"),
        }
    }

    fn files(&self) -> Vec<(&'static str, &Path)> {
        let csv = self.csv.iter().map(|file| ("csv", file.as_path()));
        csv.chain(self.reference.iter().map(|file| ("reference", file.as_path()))).collect()
    }

    fn files_mut(&mut self) -> Vec<&mut PathBuf> {
        self.csv.iter_mut().chain(&mut self.reference).collect()
    }
}

impl Parameters {
    /// Refuses keys that mean nothing to the transport, of single flows too.
    fn check_transport(&self) -> Result<(), Fault> {
        self.transport.check(self.verb, self.priority, self.congestion_control.as_ref())?;
        for (row, flow) in self.list.iter().enumerate() {
            let verb = flow.verb.unwrap_or_default();
            let checked = self.transport.check(verb, flow.priority, None);
            checked.map_err(|fault| fault.within(&format!("list[{row}]")))?;
        }
        ensure(self.transport.is_rdma() || self.message.is_none(), || {
            Fault::at("message", "TCP carries a stream of bytes, and knows no messages")
                .help("leave it out")
        })
    }

    /// The size of each message.
    fn message_bytes(&self, site: &Site<'_>) -> Result<u64, Fault> {
        let Some(message) = self.message else { return Ok(MAX_MESSAGE_BYTES) };
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
    fn read(&self, site: &Site<'_>, priority: u8) -> Result<Vec<Flow>, Fault> {
        match (self.list.as_slice(), &self.csv, &self.reference) {
            ([], Some(file), None) => {
                let table = Table::read(site.folder, file, "csv", &COLUMNS)?;
                self.tabulated(&table, site, priority)
            }
            ([], None, Some(file)) => reference::read(site, file, self.start_offset, self.verb),
            ([_, ..], None, None) => self.listed(site, priority),
            ([], None, None) => {
                Err(Fault::at("", "there are no flows").help("give `list`, `csv` or `reference`"))
            }
            _ => Err(Fault::at("", "flows come from one place").help(
                "keep one of `list`, `csv` and `reference`, or write several `[[workload.flows]]`",
            )),
        }
    }

    fn listed(&self, site: &Site<'_>, priority: u8) -> Result<Vec<Flow>, Fault> {
        site.check_count("list", self.list.len() as u64)?;
        let flow = |(row, flow): (u32, &FlowConfig)| {
            flow.resolved(site, priority, self.verb, row)
                .map_err(|fault| fault.within(&format!("list[{row}]")))
        };
        (0..).zip(&self.list).map(flow).collect()
    }

    fn tabulated(&self, table: &Table, site: &Site<'_>, priority: u8) -> Result<Vec<Flow>, Fault> {
        ensure(!(table.has("start") && table.has("start_ps")), || {
            table.fault("there are two columns of start times", "keep `start` or `start_ps`")
        })?;
        site.check_count("csv", table.rows().count() as u64)?;
        table.rows().map(|row| self.tabulated_flow(row, site, priority)).collect()
    }

    fn tabulated_flow(&self, row: Row<'_>, site: &Site<'_>, priority: u8) -> Result<Flow, Fault> {
        let host = |column| {
            let host = site.hosts.one(row.required(column)?);
            host.map_err(|fault| row.blame(column, fault))
        };
        let (source, destination) = (host("source")?, host("destination")?);
        check_ends(source, destination).map_err(|fault| row.blame("destination", fault))?;
        let bytes = bytes_of(row)?;
        site.check_bytes("", bytes).map_err(|fault| row.blame("bytes", fault))?;
        let verb = row.field("verb").map_or(Ok(self.verb), |text| verb_named(row, text))?;
        if self.transport == Transport::Tcp {
            check_verb(verb).map_err(|fault| row.blame("verb", fault))?;
        }
        let priority = match row.field("priority") {
            Some(_) if self.transport == Transport::Tcp => {
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

impl FlowConfig {
    fn resolved(&self, site: &Site<'_>, priority: u8, verb: Verb, row: u32) -> Result<Flow, Fault> {
        let source = site.hosts.one(&self.from).map_err(|fault| fault.within("from"))?;
        let destination = site.hosts.one(&self.to).map_err(|fault| fault.within("to"))?;
        check_ends(source, destination)?;
        site.check_bytes("bytes", self.bytes.get())?;
        Ok(Flow {
            source,
            destination,
            start: self.start,
            bytes: self.bytes.get(),
            message_bytes: MAX_MESSAGE_BYTES,
            verb: self.verb.unwrap_or(verb),
            priority: site.priority_or_default(Some(self.priority.unwrap_or(priority)))?,
            port: DEFAULT_PORT,
            row,
        })
    }
}
