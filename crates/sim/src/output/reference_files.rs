//! The output files of HPCC's ns-3 simulator.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rocelab_fabric::{HpccNs3Routes, NodeId};
use rocelab_units::{Duration, SimTime};

use crate::network::QueueHistogramDump;
use crate::plan::FlowPlan;
use crate::reference::{FCT_FILE, PFC_FILE, QUEUE_FILE};

/// Writes `fct.txt`, `pfc.txt` and, at the end, `qlen.txt`.
#[derive(Debug)]
pub(crate) struct ReferenceOutput {
    folder: PathBuf,
    flows: BufWriter<File>,
    pauses: BufWriter<File>,
}

impl ReferenceOutput {
    /// Starts both files in `folder`.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        let create = |name| File::create(folder.join(name)).map(BufWriter::new);
        Ok(Self { folder: folder.to_owned(), flows: create(FCT_FILE)?, pauses: create(PFC_FILE)? })
    }

    /// A flow has finished.
    pub(crate) fn flow(
        &mut self,
        flow: &FlowPlan,
        fct: Duration,
        standalone: Duration,
    ) -> io::Result<()> {
        writeln!(self.flows, "{}", FlowLine { flow, fct, standalone })
    }

    /// A port was told to stop or to go on.
    pub(crate) fn pause(&mut self, pause: &PauseLine) -> io::Result<()> {
        writeln!(self.pauses, "{pause}")
    }

    /// Writes what was seen of queues: `time: T` in nanoseconds, and below it for each port of a switch `switch port
    /// count count ...`, ports counted from 1, and how often there were below 1,000 bytes, below 2,000, and so on.
    pub(crate) fn queues(&mut self, mut dumps: Vec<QueueHistogramDump<'_>>) -> io::Result<()> {
        dumps.sort_by_key(|dump| (dump.time, dump.switch, dump.port));
        let mut file = BufWriter::new(File::create(self.folder.join(QUEUE_FILE))?);
        for of_time in dumps.chunk_by(|one, other| one.time == other.time) {
            writeln!(file, "time: {}", of_time[0].time.ps() / 1_000)?;
            for QueueHistogramDump { switch, port, counts, .. } in of_time {
                write!(file, "{switch} {}", port + 1)?;
                counts.iter().try_for_each(|count| write!(file, " {count}"))?;
                writeln!(file)?;
            }
        }
        file.flush()
    }

    /// Ends the other files.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flows.flush()?;
        self.pauses.flush()
    }
}

/// `sip dip sport dport size start fct standalone_fct`: addresses in 8 hexadecimal digits, times in
/// nanoseconds, one line for each finished flow.
struct FlowLine<'a> {
    flow: &'a FlowPlan,
    fct: Duration,
    standalone: Duration,
}

impl fmt::Display for FlowLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flow, fct, standalone } = self;
        write!(
            f,
            "{:08x} {:08x} {} {} {} {} {} {}",
            HpccNs3Routes::address(flow.source),
            HpccNs3Routes::address(flow.destination),
            flow.entropy & 0xffff,
            flow.entropy >> 16,
            flow.bytes,
            flow.start.ps() / 1_000,
            fct.ps() / 1_000,
            standalone.ps() / 1_000,
        )
    }
}

/// `time node node_type interface type`: the time in nanoseconds, the node that is told, 0 for a
/// host and 1 for a switch, its interface counted from 1, and 1 to stop or 0 to go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PauseLine {
    /// When.
    pub(crate) time: SimTime,
    /// Who is told.
    pub(crate) node: NodeId,
    /// Whether that is a switch.
    pub(crate) is_switch: bool,
    /// Its port, counted from 0.
    pub(crate) port: u16,
    /// Whether to stop.
    pub(crate) stop: bool,
}

impl fmt::Display for PauseLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, node, is_switch, port, stop } = *self;
        let (node_type, kind) = (u8::from(is_switch), u8::from(stop));
        write!(f, "{} {node} {node_type} {} {kind}", time.ps() / 1_000, u32::from(port) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Transport, Verb};

    #[test]
    fn lines_have_the_simulator_s_form() {
        let flow = FlowPlan {
            source: 1,
            destination: 300,
            start: SimTime::from_ps(2_000_001_000_000),
            bytes: 1_000,
            message_bytes: 1_000,
            transport: Transport::Rdma,
            verb: Verb::Write,
            priority: 3,
            source_qpn: 0,
            destination_qpn: 0,
            source_psn: 0,
            destination_psn: 0,
            entropy: 10_003 | 100 << 16,
            queue_pairs: 0,
            marking: 0,
        };
        let (fct, standalone) = (Duration::from_ns(4_321), Duration::from_ns(4_243));
        let line = FlowLine { flow: &flow, fct, standalone }.to_string();
        assert_eq!(line, "0b000101 0b012c01 10003 100 1000 2000001000 4321 4243");
        let time = SimTime::from_ps(2_000_012_345_000);
        let pause = PauseLine { time, node: 32, is_switch: true, port: 0, stop: true };
        assert_eq!(pause.to_string(), "2000012345 32 1 1 1");
        let resume = PauseLine { time, node: 3, is_switch: false, port: 4, stop: false };
        assert_eq!(resume.to_string(), "2000012345 3 0 5 0");
    }
}
