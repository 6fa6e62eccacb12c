//! The columns of the flows, once for CSV and Parquet.

use crate::{FlowRecord, Millionths};

/// A column's name, and its value in a record.
pub(crate) struct FlowColumn {
    pub(crate) name: &'static str,
    pub(crate) value: FlowValue,
}

/// How to take a column's value out of a record. The variant is the column's type.
pub(crate) enum FlowValue {
    Integer(fn(&FlowRecord<'_>) -> u64),
    OptionalInteger(fn(&FlowRecord<'_>) -> Option<u64>),
    OptionalRatio(fn(&FlowRecord<'_>) -> Option<Millionths>),
    Text(for<'r> fn(&'r FlowRecord<'_>) -> &'r str),
}

use FlowValue::{Integer, OptionalInteger, OptionalRatio, Text};

/// In the files' order.
pub(crate) const FLOW_COLUMNS: [FlowColumn; 20] = [
    FlowColumn { name: "flow", value: Integer(|flow| flow.flow) },
    FlowColumn { name: "source", value: Text(|flow| &flow.source) },
    FlowColumn { name: "destination", value: Text(|flow| &flow.destination) },
    FlowColumn { name: "source_qpn", value: Integer(|flow| flow.source_qpn.into()) },
    FlowColumn { name: "destination_qpn", value: Integer(|flow| flow.destination_qpn.into()) },
    FlowColumn { name: "transport", value: Text(|flow| &flow.transport) },
    FlowColumn { name: "verb", value: Text(|flow| &flow.verb) },
    FlowColumn { name: "priority", value: Integer(|flow| flow.priority.into()) },
    FlowColumn { name: "congestion_control", value: Text(|flow| &flow.congestion_control) },
    FlowColumn { name: "bytes", value: Integer(|flow| flow.bytes) },
    FlowColumn { name: "packets", value: Integer(|flow| flow.packets) },
    FlowColumn { name: "messages", value: Integer(|flow| flow.messages) },
    FlowColumn { name: "start_ps", value: Integer(|flow| flow.start_ps) },
    FlowColumn { name: "fct_ps", value: OptionalInteger(|flow| flow.fct_ps) },
    FlowColumn { name: "ideal_fct_ps", value: Integer(|flow| flow.ideal_fct_ps) },
    FlowColumn { name: "slowdown", value: OptionalRatio(|flow| flow.slowdown()) },
    FlowColumn { name: "goodput_bps", value: OptionalInteger(|flow| flow.goodput_bps()) },
    FlowColumn { name: "retransmitted_packets", value: Integer(|flow| flow.retransmitted_packets) },
    FlowColumn {
        name: "messages_delivered",
        value: OptionalInteger(|flow| flow.messages_delivered),
    },
    FlowColumn { name: "status", value: Text(|flow| flow.status.name()) },
];
