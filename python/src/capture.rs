//! Captures, decoded to a table and verified.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray};
use pyo3::prelude::*;
use rocelab_capture::{CaptureFile, CaptureRead, ReadingEnded, Verified, Verifier};
use serde::Serialize;

use crate::error::of_input;
use crate::json;
use crate::table::{Description, Table};

/// Columns of decoded frames, being filled.
#[derive(Default)]
struct Frames {
    frame: Int64Builder,
    time_ns: Int64Builder,
    interface: StringBuilder,
    captured_bytes: Int64Builder,
    protocol: StringBuilder,
    source: StringBuilder,
    destination: StringBuilder,
    opcode: StringBuilder,
    destination_qpn: Int64Builder,
    psn: Int64Builder,
    payload_bytes: Int64Builder,
    becn: BooleanBuilder,
    icrc: StringBuilder,
    fcs: StringBuilder,
    faults: Int64Builder,
}

impl Frames {
    fn add(&mut self, verified: &Verified<'_>) {
        let dissection = &verified.dissection;
        let packet = dissection.packet();
        let bth = dissection.bth();
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.frame.append_value(number(verified.number));
        self.time_ns.append_value(i64::try_from(verified.time.as_nanos()).unwrap_or(i64::MAX));
        self.interface.append_option(verified.interface);
        self.captured_bytes.append_value(number(dissection.extent.captured_len as u64));
        self.protocol.append_value(dissection.protocol.name());
        self.source.append_option(packet.as_ref().map(|packet| packet.source.to_string()));
        self.destination.append_option(packet.as_ref().map(|one| one.destination.to_string()));
        self.opcode.append_option(bth.as_ref().map(|(_, name)| name.to_string()));
        self.destination_qpn.append_option(bth.as_ref().map(|(bth, _)| i64::from(bth.dest_qp)));
        self.psn.append_option(bth.as_ref().map(|(bth, _)| i64::from(bth.psn)));
        let payload = packet.as_ref().map(|packet| number(packet.payload.len() as u64));
        self.payload_bytes.append_option(payload);
        self.becn.append_option(bth.as_ref().map(|(bth, _)| bth.becn));
        self.icrc.append_value(dissection.icrc.name());
        self.fcs.append_value(dissection.fcs.name());
        self.faults.append_value(number(verified.faults.len() as u64));
    }

    fn finish(mut self) -> PyResult<Table> {
        let becn: BooleanArray = self.becn.finish();
        let columns: [(Description, ArrayRef); 15] = [
            (described("frame", "", "Number in the file, from 1."), Arc::new(self.frame.finish())),
            (described("time_ns", "ns", "Time of the capture."), Arc::new(self.time_ns.finish())),
            (described("interface", "", "Its name."), Arc::new(self.interface.finish())),
            (
                described("captured_bytes", "bytes", "Its length in the file."),
                Arc::new(self.captured_bytes.finish()),
            ),
            (
                described("protocol", "", "What the frame carries."),
                Arc::new(self.protocol.finish()),
            ),
            (described("source", "", "Its sender."), Arc::new(self.source.finish())),
            (described("destination", "", "Its receiver."), Arc::new(self.destination.finish())),
            (described("opcode", "", "Name of the BTH's opcode."), Arc::new(self.opcode.finish())),
            (
                described("destination_qpn", "", "Queue pair at the receiver."),
                Arc::new(self.destination_qpn.finish()),
            ),
            (described("psn", "", "Packet sequence number."), Arc::new(self.psn.finish())),
            (
                described("payload_bytes", "bytes", "Payload, without pad."),
                Arc::new(self.payload_bytes.finish()),
            ),
            (described("becn", "", "Backward congestion notification."), Arc::new(becn)),
            (
                described("icrc", "", "Whether the invariant CRC is right."),
                Arc::new(self.icrc.finish()),
            ),
            (
                described("fcs", "", "Whether the frame check sequence is right."),
                Arc::new(self.fcs.finish()),
            ),
            (
                described("faults", "", "Number of what is wrong with it."),
                Arc::new(self.faults.finish()),
            ),
        ];
        let (descriptions, arrays) = columns.into_iter().unzip();
        Table::of_arrays("frames", descriptions, arrays)
    }
}

const fn described(name: &'static str, unit: &'static str, meaning: &'static str) -> Description {
    Description { name, unit, meaning }
}

/// Every frame of a capture, a row each.
#[pyfunction]
pub(crate) fn decode_capture(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
    py.detach(|| {
        let mut frames = Frames::default();
        let read = CaptureFile::at(&path).read(|verified| {
            frames.add(verified);
            Ok(())
        });
        to_the_end(read.map_err(raised)?)?;
        frames.finish()
    })
}

/// What was found in a capture, as a summary, and all faults, a text each.
#[pyfunction]
pub(crate) fn verify_capture(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(Bound<'_, PyAny>, Vec<String>)> {
    let (verifier, faults) = py.detach(|| {
        let mut faults = Vec::new();
        let read = CaptureFile::at(&path).verify(|verified| {
            let number = verified.number;
            faults.extend(verified.faults.iter().map(|fault| format!("frame {number}: {fault}")));
            Ok(())
        });
        Ok::<_, PyErr>((to_the_end(read.map_err(raised)?)?, faults))
    })?;
    Ok((to_object(py, &verifier.summary())?, faults))
}

fn to_object<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    json::to_python(py, value)
}

/// The error as an exception.
fn raised(ended: ReadingEnded<PyErr>) -> PyErr {
    match ended {
        ReadingEnded::Unreadable(error) => of_input(error.to_string()),
        ReadingEnded::BySink(error) => error,
    }
}

/// What was read, if it was everything.
fn to_the_end(read: CaptureRead) -> PyResult<Verifier> {
    match read.error {
        None => Ok(read.verifier),
        Some(error) => Err(of_input(error.to_string())),
    }
}
