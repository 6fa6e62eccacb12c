//! Tables of flows and opcodes.

use rocelab_capture::{Flow, FlowTable, MAX_FLOWS, Protocol, Verifier};

use super::output::{Closed, Output};

/// `1 frame`, `2 frames`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A line for each direction of each connection.
pub(super) fn connections(verifier: &Verifier, output: &mut Output) -> Result<(), Closed> {
    let flows = verifier.flows();
    if flows.flows().is_empty() {
        return output.line("no RoCE packets");
    }
    let mut rows = vec![
        [
            "", "if", "from", "to", "qp", "packets", "messages", "bytes", "again", "NAK", "RNR",
            "CNP", "missing", "unacked",
        ]
        .map(str::to_owned),
    ];
    for connection in flows.connections() {
        rows.push(connection_row(verifier, connection.forward, "-"));
        rows.extend(connection.reverse.map(|reverse| connection_row(verifier, reverse, "`")));
    }
    print(&rows, 4, output)?;
    if flows.not_followed() > 0 {
        let packets = flows.not_followed();
        output.line(format_args!(
            "{packets} packets are of further queue pairs: only {MAX_FLOWS} are followed; the \
             others' frames are checked one by one"
        ))?;
    }
    Ok(())
}

/// The interface by its name, or by its number if the file has no name.
fn interface(verifier: &Verifier, number: u32) -> String {
    verifier.interface_name(number).map_or_else(|| number.to_string(), str::to_owned)
}

fn connection_row(verifier: &Verifier, flow: &Flow, mark: &str) -> [String; 14] {
    let counters = flow.counters();
    let transport = flow.transport().map_or("", |transport| transport.name());
    [
        format!("{mark} {transport}"),
        interface(verifier, flow.key().interface),
        flow.key().source.to_string(),
        flow.key().destination.to_string(),
        format!("{:#x}", flow.key().dest_qp),
        counters.packets.to_string(),
        counters.messages.to_string(),
        counters.payload_bytes.to_string(),
        counters.retransmissions.to_string(),
        counters.naks_total().to_string(),
        counters.rnr_naks.to_string(),
        counters.cnps.to_string(),
        flow.missing().to_string(),
        flow.unacknowledged_messages().to_string(),
    ]
}

/// A line for each direction with data: its duration, goodput, and round-trip times.
pub(super) fn times(flows: &FlowTable, output: &mut Output) -> Result<(), Closed> {
    let mut rows = vec![
        [
            "from",
            "to",
            "qp",
            "first [s]",
            "last [s]",
            "goodput [Mbit/s]",
            "rtt min [us]",
            "median",
            "p99",
            "max",
        ]
        .map(str::to_owned),
    ];
    rows.extend(flows.flows().iter().map(time_row));
    output.line("")?;
    print(&rows, 3, output)
}

fn time_row(flow: &Flow) -> [String; 10] {
    let seconds =
        |time: std::time::Duration| format!("{}.{:09}", time.as_secs(), time.subsec_nanos());
    let thousandths = |value: Option<u64>| {
        value.map_or("-".to_owned(), |value| format!("{}.{:03}", value / 1_000, value % 1_000))
    };
    let rtt = flow.round_trips();
    [
        flow.key().source.to_string(),
        flow.key().destination.to_string(),
        format!("{:#x}", flow.key().dest_qp),
        seconds(flow.first_time()),
        seconds(flow.last_time()),
        thousandths(flow.goodput_bps().map(|bps| bps / 1_000)),
        thousandths(rtt.min_ns()),
        thousandths(rtt.percentile_ns(500)),
        thousandths(rtt.percentile_ns(990)),
        thousandths(rtt.max_ns()),
    ]
}

/// A line for each opcode, and for other protocols.
pub(super) fn opcodes(verifier: &Verifier, output: &mut Output) -> Result<(), Closed> {
    let mut rows = Vec::new();
    for count in verifier.opcodes() {
        let name = format!("{} ({:#04x})", count.name, count.number);
        rows.push([name, count.packets.to_string()]);
    }
    for protocol in Protocol::ALL {
        let frames = verifier.totals().of_protocol(protocol);
        if !protocol.has_transport() && frames > 0 {
            rows.push([protocol.to_string(), frames.to_string()]);
        }
    }
    output.line("")?;
    print(&rows, 1, output)
}

/// Prints rows in columns: the first `left` columns aligned left, the others right.
fn print<const N: usize>(
    rows: &[[String; N]],
    left: usize,
    output: &mut Output,
) -> Result<(), Closed> {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            line += gap;
            line += &match column < left {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            };
        }
        output.line(line.trim_end())?;
    }
    Ok(())
}
