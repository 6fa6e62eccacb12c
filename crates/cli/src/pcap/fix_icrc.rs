//! `rocelab pcap fix-icrc`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use rocelab_capture::{CaptureFile, IcrcCorrection, NotLookedInto};

use super::table::counted;
use crate::answer;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inputs::Inputs;
use crate::new_file;

/// Arguments of `rocelab pcap fix-icrc`.
#[derive(Debug, Args)]
pub(crate) struct FixIcrcArguments {
    /// A pcap or pcapng file. It is read twice, so it cannot be standard input.
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Write the copy to this file; - is standard output.
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

/// Finds what has to change, and then writes the copy: a capture that cannot be read to its end leaves none.
pub(super) fn execute(arguments: &FixIcrcArguments) -> Result<Exit, Failure> {
    let FixIcrcArguments { path, out, force } = arguments;
    let correction = CaptureFile::at(path).icrc_correction()?;
    let input = File::open(path)
        .map(BufReader::new)
        .map_err(|error| Failure::Machine { path: path.clone(), error })?;
    if out == Path::new("-") {
        return match correction.write(input, BufWriter::new(io::stdout().lock())) {
            // Whoever reads has enough.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::Machine { path: out.clone(), error })
            }
            _ => {
                answer::print_notes(path, &not_looked_into(&correction));
                Ok(Exit::Done)
            }
        };
    }
    let file = new_file::create("--out", out, *force, &Inputs::file(path, "the capture itself"))?;
    let mut output = BufWriter::new(file);
    correction
        .write(input, &mut output)
        .and_then(|()| output.flush())
        .map_err(|error| Failure::Machine { path: out.clone(), error })?;
    let mut text = format!("{}: {}\n", told(&correction), out.display());
    for line in not_looked_into(&correction) {
        text += &line;
        text.push('\n');
    }
    answer::print(&text)?;
    Ok(Exit::Done)
}

/// A line for each reason why frames were not looked into, so that ICRCs in them may be wrong.
fn not_looked_into(correction: &IcrcCorrection) -> Vec<String> {
    let line = |(reason, frames): (NotLookedInto, u64)| {
        let was = if frames == 1 { "was" } else { "were" };
        format!("{} {} {was} not looked into", counted(frames, "frame"), reason.phrase())
    };
    correction.not_looked_into().map(line).collect()
}

/// What was changed, and what could not be.
fn told(correction: &IcrcCorrection) -> String {
    let IcrcCorrection { frames, corrected, cut, infiniband, .. } = *correction;
    let mut text =
        format!("{}, {} corrected", counted(frames, "frame"), counted(corrected, "ICRC"));
    if cut > 0 {
        text += &format!(", {} cut by the snap length without one", counted(cut, "frame"));
    }
    if infiniband > 0 {
        text += &format!(", {} of native InfiniBand left wrong", counted(infiniband, "ICRC"));
    }
    text
}
