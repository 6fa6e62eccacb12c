//! `rocelab pcap`.

mod decode;
mod fix_icrc;
mod make;
mod output;
mod stats;
mod table;
mod verify;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::examples;
use crate::exit::Exit;
use crate::failure::Failure;

/// What to do with a capture.
#[derive(Debug, Subcommand)]
pub(crate) enum PcapCommand {
    /// Print a capture: a line a frame, or all layers, or bytes.
    #[command(after_help = examples::PCAP_DECODE)]
    Decode(Box<decode::DecodeArguments>),
    /// Check every frame of a capture: exit code 1 if there are faults.
    #[command(after_help = examples::PCAP_VERIFY)]
    Verify(CaptureArguments),
    /// Count by queue pair: messages, bytes, retransmissions, NAKs, round-trip times.
    #[command(after_help = examples::PCAP_STATS)]
    Stats(CaptureArguments),
    /// Copy a capture, with the right ICRC in every frame.
    #[command(after_help = examples::PCAP_FIX_ICRC)]
    FixIcrc(fix_icrc::FixIcrcArguments),
    /// Make a capture of the frames that a TOML file describes.
    #[command(after_help = examples::PCAP_MAKE)]
    Make(make::MakeArguments),
}

/// Which capture, and how to answer.
#[derive(Debug, Args)]
pub(crate) struct CaptureArguments {
    /// A pcap or pcapng file; - is standard input.
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Answer in JSON, one object a line.
    #[arg(long)]
    json: bool,
}

/// Does it.
pub(crate) fn execute(command: &PcapCommand) -> Result<Exit, Failure> {
    match command {
        PcapCommand::Decode(arguments) => decode::execute(arguments),
        PcapCommand::Verify(arguments) => verify::execute(arguments),
        PcapCommand::Stats(arguments) => stats::execute(arguments),
        PcapCommand::FixIcrc(arguments) => fix_icrc::execute(arguments),
        PcapCommand::Make(arguments) => make::execute(arguments),
    }
}
