//! Gives the frames of a capture the ICRC that is right.

mod covering;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use self::covering::{Correction, corrections};
use crate::dissection::{Checksum, Contents, Dissection, Dissector, NotLookedInto};
use crate::{CaptureReader, CapturedFrame, ReadError};

/// What has to change in a capture so that all ICRCs of RoCE frames are right, also in tunnels.
///
/// Everything else stays, byte for byte: times, interfaces, comments, and faults of other kinds. Checksums that cover the ICRC and
/// that were right are made right again: UDP checksums, of the packet and of tunnels around it, and the FCS, whether the file
/// declares it or not. So a second correction finds nothing to do.
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
    /// Frames that were not looked into, by reason.
    not_looked_into: BTreeMap<NotLookedInto, u64>,
}

/// Bytes that are to be others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Patch {
    /// Where they begin in the file.
    position: u64,
    correction: Correction,
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
            let bytes = patch.correction.bytes();
            let mut replaced = [0; Correction::LONGEST];
            input.read_exact(&mut replaced[..bytes.len()])?;
            output.write_all(bytes)?;
            position = patch.position + bytes.len() as u64;
        }
        io::copy(&mut input, &mut output)?;
        output.flush()
    }

    /// Why frames were not looked into, and how many.
    pub fn not_looked_into(&self) -> impl Iterator<Item = (NotLookedInto, u64)> + '_ {
        self.not_looked_into.iter().map(|(reason, frames)| (*reason, *frames))
    }

    /// The link types that are not read, and how many frames are of each.
    pub(crate) fn link_types(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        self.not_looked_into().filter_map(|(reason, frames)| match reason {
            NotLookedInto::LinkType(number) => Some((number, frames)),
            _ => None,
        })
    }

    /// Frames of link types that are not read.
    pub(crate) fn of_unread_links(&self) -> u64 {
        self.link_types().map(|(_, frames)| frames).sum()
    }

    fn note(&mut self, frame: &CapturedFrame<'_>, dissection: &Dissection<'_>) {
        if let Some(reason) = dissection.not_looked_into {
            *self.not_looked_into.entry(reason).or_default() += 1;
        }
        if dissection.extent.cut && dissection.protocol.has_transport() {
            self.cut += 1;
        }
        let Checksum::Bad { computed, .. } = dissection.icrc else { return };
        if matches!(dissection.contents, Contents::InfiniBand(_)) {
            self.infiniband += 1;
        }
        let Some(place) = dissection.place_of_icrc() else { return };
        self.corrected += 1;
        let patches = corrections(frame.bytes, dissection, place, computed).into_iter();
        self.patches.extend(patches.map(|correction| Patch {
            position: frame.position + correction.place as u64,
            correction,
        }));
    }
}
