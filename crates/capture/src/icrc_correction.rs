//! Gives the frames of a capture the ICRC that is right.

use std::io::{self, Read, Write};

use rocelab_wire::{crc_to_wire, fcs};

use crate::dissection::{Checksum, Contents, Dissection, Dissector};
use crate::{CaptureReader, CapturedFrame, ReadError};

/// Length of a CRC, in bytes.
const CRC_LEN: usize = 4;

/// What has to change in a capture so that all ICRCs of RoCE frames are right, also in tunnels.
///
/// Everything else stays, byte for byte: times, interfaces, comments, and faults of other kinds. An FCS that was right is made
/// right again, because it covers the ICRC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IcrcCorrection {
    /// In the order of the file.
    patches: Vec<Patch>,
    /// Frames of the capture.
    pub frames: u64,
    /// Frames whose ICRC was wrong, and is right in what [`write`](Self::write) writes.
    pub corrected: u64,
    /// RoCE frames that were cut by the snap length, so that they have no ICRC to correct.
    pub cut: u64,
    /// Packets of native InfiniBand whose ICRC is wrong: they are left as they are.
    pub infiniband: u64,
}

/// Four bytes that are to be others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Patch {
    /// Where they begin in the file.
    position: u64,
    bytes: [u8; CRC_LEN],
}

impl IcrcCorrection {
    /// Finds what has to change, and reads the capture to its end.
    ///
    /// # Errors If the capture cannot be read, or not to its end.
    pub fn of<R: Read>(mut reader: CaptureReader<R>) -> Result<Self, ReadError> {
        let mut correction = Self::default();
        let mut dissector = Dissector::default();
        while let Some(frame) = reader.next_frame() {
            let frame = frame?;
            correction.frames += 1;
            correction.note(&frame, &dissector.dissect(&frame));
        }
        Ok(correction)
    }

    /// Copies the capture, which must be the same as before, from `input` to `output`, with the right ICRCs.
    ///
    /// # Errors Errors of either; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the capture is shorter now.
    pub fn write(&self, mut input: impl Read, mut output: impl Write) -> io::Result<()> {
        let mut position = 0;
        for patch in &self.patches {
            let before = patch.position - position;
            let copied = io::copy(&mut input.by_ref().take(before), &mut output)?;
            if copied < before {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            input.read_exact(&mut [0; CRC_LEN])?;
            output.write_all(&patch.bytes)?;
            position = patch.position + CRC_LEN as u64;
        }
        io::copy(&mut input, &mut output)?;
        output.flush()
    }

    fn note(&mut self, frame: &CapturedFrame<'_>, dissection: &Dissection<'_>) {
        if dissection.cut && dissection.protocol.has_transport() {
            self.cut += 1;
        }
        let Checksum::Bad { computed, .. } = dissection.icrc else { return };
        if matches!(dissection.contents, Contents::InfiniBand(_)) {
            self.infiniband += 1;
        }
        let Some(place) = dissection.place_of_icrc() else { return };
        self.corrected += 1;
        self.patch(frame, place, computed);
        if dissection.fcs == Checksum::Ok
            && let Some(end) = frame.bytes.len().checked_sub(CRC_LEN)
            && place + CRC_LEN <= end
        {
            let mut bytes = frame.bytes[..end].to_vec();
            bytes[place..place + CRC_LEN].copy_from_slice(&crc_to_wire(computed));
            self.patch(frame, end, fcs(&bytes));
        }
    }

    fn patch(&mut self, frame: &CapturedFrame<'_>, place: usize, crc: u32) {
        let position = frame.position + place as u64;
        self.patches.push(Patch { position, bytes: crc_to_wire(crc) });
    }
}
