//! Captures that the user names.

use std::io;
use std::path::Path;

use rocelab_capture::{CaptureReader, LinkLayer, ReadError, Survey, Verified, Verifier};

use super::output::Closed;
use crate::failure::Failure;

/// How reading a capture ended.
pub(super) struct Ended {
    pub(super) verifier: Verifier,
    /// Why the rest of the file could not be read, if it could not.
    pub(super) failure: Option<Failure>,
}

/// Gives every frame of the capture at `path` to `sink`, until that is closed.
///
/// # Errors
/// If the capture cannot be read at all, and those of `sink`. What cannot be read behind good frames
/// is no error yet: see [`Ended::failure`].
pub(super) fn read(
    path: &Path,
    sink: impl FnMut(&Verified<'_>) -> Result<(), Closed>,
) -> Result<Ended, Closed> {
    read_by(Verifier::new(), path, sink)
}

/// The same, where faults are wanted that do not depend on the order of frames: a file is read twice, what
/// comes through a pipe once.
pub(super) fn verify(
    path: &Path,
    sink: impl FnMut(&Verified<'_>) -> Result<(), Closed>,
) -> Result<Ended, Closed> {
    read_by(Verifier::with(survey(path)), path, sink)
}

/// Whose packets pass which interface, as far as the file can be read.
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
    let mut reader = CaptureReader::open(path).map_err(|error| explain(path, &error))?;
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

fn unknown_link(path: &Path, frame: u64, link_type: u16) -> Failure {
    let path = path.display();
    Failure::Input(format!(
        "{path}: frame {frame} is of link type {link_type}, which is not read here; capture on an \
         Ethernet interface (1), or InfiniBand (247)"
    ))
}

/// One line: the file, the place, what is wrong, what to do.
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
