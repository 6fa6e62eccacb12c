//! Reads captures that the user names.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rocelab_capture::{CaptureReader, LinkLayer, ReadError, Survey, Verified, Verifier};

use super::output::Closed;
use crate::failure::Failure;

/// The end of reading a capture.
pub(super) struct Ended {
    pub(super) verifier: Verifier,
    /// Why the rest of the file could not be read; `None` if it was read to its end.
    pub(super) failure: Option<Failure>,
}

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// Passes every frame of the capture at `path` to `sink`, until that is closed.
///
/// # Errors If the capture cannot be read at all, and errors of `sink`. An error after valid frames
/// is in [`Ended::failure`].
pub(super) fn read(
    path: &Path,
    sink: impl FnMut(&Verified<'_>) -> Result<(), Closed>,
) -> Result<Ended, Closed> {
    read_by(Verifier::new(), path, sink)
}

/// As [`read`], with faults that do not depend on the order of frames. For this, a file is read
/// twice; a pipe can be read only once.
pub(super) fn verify(
    path: &Path,
    sink: impl FnMut(&Verified<'_>) -> Result<(), Closed>,
) -> Result<Ended, Closed> {
    read_by(Verifier::with(survey(path)), path, sink)
}

/// The common addresses of each interface, as far as the file can be read.
fn survey(path: &Path) -> Survey {
    let mut survey = Survey::default();
    if path.is_file()
        && let Ok(mut reader) = CaptureReader::open(path)
    {
        while let Some(Ok(frame)) = reader.next_frame()
            && LinkLayer::of_type(frame.link_type).is_some()
        {
            survey.note(&frame);
        }
    }
    survey
}

fn read_by(
    mut verifier: Verifier,
    path: &Path,
    mut sink: impl FnMut(&Verified<'_>) -> Result<(), Closed>,
) -> Result<Ended, Closed> {
    let mut reader = open(path).map_err(|error| explain(path, &error))?;
    while let Some(frame) = reader.next_frame() {
        let frame = match frame {
            Ok(frame) => frame,
            Err(error) => {
                let failure = Some(explain(path, &error));
                return Ok(Ended { verifier, failure });
            }
        };
        if LinkLayer::of_type(frame.link_type).is_none() {
            let failure = Some(unknown_link(path, frame.number, frame.link_type));
            return Ok(Ended { verifier, failure });
        }
        sink(&verifier.verify(&frame))?;
    }
    Ok(Ended { verifier, failure: None })
}

/// The capture at `path`, or in standard input.
fn open(path: &Path) -> Result<CaptureReader<Box<dyn Read>>, ReadError> {
    let input: Box<dyn Read> = if path == Path::new(STANDARD_INPUT) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(|source| ReadError::Io { source, frames: 0 })?)
    };
    CaptureReader::new(input)
}

fn unknown_link(path: &Path, frame: u64, link_type: u16) -> Failure {
    let path = path.display();
    Failure::Input(format!(
        "{path}: frame {frame} is of link type {link_type}, which is not read here; capture on an \
         Ethernet interface (1), or InfiniBand (247)"
    ))
}

/// The message on one line: the file, the position, the error, how to fix it.
fn explain(path: &Path, error: &ReadError) -> Failure {
    let shown = path.display();
    let fix = match error {
        _ if path.is_dir() => {
            return Failure::Input(format!("{shown}: is a folder; name a file in it"));
        }
        ReadError::Truncated { frames: 0 } if is_empty(path) => {
            return Failure::Input(format!("{shown}: is empty; name a pcap or pcapng file"));
        }
        ReadError::NotACapture { magic } if magic >> 16 == 0x1f8b => "unpack it with gunzip first",
        ReadError::NotACapture { .. } => "name a pcap or pcapng file",
        ReadError::Truncated { .. } => "capture again, or go on with what is there",
        ReadError::Io { source, .. } => {
            let what = match source.kind() {
                io::ErrorKind::NotFound => "there is no such file".to_owned(),
                _ => source.to_string(),
            };
            return Failure::Input(format!(
                "{shown}: {error}: {what}; name a file that you may read"
            ));
        }
        _ => "save it anew with Wireshark or editcap",
    };
    Failure::Input(format!("{shown}: {error}; {fix}"))
}

fn is_empty(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0)
}
