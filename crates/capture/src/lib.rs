//! Packet captures: written for Wireshark, read from anywhere, verified, counted, made.
//!
//! [`CaptureWriter`] streams simulated frames into a pcapng file, one interface a captured port,
//! or into a classic pcap file. [`CaptureReader`] streams frames out of either, in both byte
//! orders and with any of the formats' time resolutions down to nanoseconds.
//!
//! [`Verifier`] checks the frames of a capture one by one ([`Fault`], [`Observation`]), follows its
//! [flows](FlowTable) and counts; [`CaptureFile`] passes it those of a file. A [`Dissector`] looks into tunnels too, [`Tree`] and
//! [`HexDump`] show a frame, [`Filter`] chooses frames, and [`IcrcCorrection`] gives frames the ICRC that is right. [`Recipe`] makes the frames that a text describes. What both find
//! and make is the library's; `rocelab pcap` prints it, and its `--json` is what
//! [`Verified`], [`Decoded`] and [`Connection`] serialize to.
//!
//! The bytes written depend on nothing but the frames: no clock, no host name, always little
//! endian. Two runs that send the same frames write the same file.
//!
//! ```
//! use rocelab_capture::{CaptureReader, CaptureWriter, Direction, Format, Interface, LinkType};
//! use rocelab_units::{Bandwidth, SimTime};
//!
//! let port = Interface {
//!     name: "host-0".into(),
//!     description: "host-0 port 0 to leaf-0 port 3".into(),
//!     link_type: LinkType::Ethernet,
//!     speed: Bandwidth::from_gbps(100),
//!     fcs: false,
//!     snap_length: 0,
//! };
//! let mut file = Vec::new();
//! let mut writer = CaptureWriter::new(Format::PcapNg, &mut file, &[port])?;
//! writer.write_frame(0, SimTime::from_ps(84_480), Direction::Outbound, &[0; 60], 60)?;
//! writer.finish()?;
//!
//! let mut reader = CaptureReader::new(&file[..])?;
//! let frame = reader.next_frame().expect("one frame was written")?;
//! assert_eq!(frame.time.as_nanos(), 84);
//! assert_eq!(frame.bytes, [0; 60]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Time stamps
//!
//! Simulated time is in picoseconds, time stamps are in nanoseconds, rounded down. The pcapng
//! format could declare a resolution of 10^-12 s, but Wireshark 4.0 multiplies the part below a
//! second by 10^9 in 64 bits, which overflows there, and shows wrong times.
//!
//! # Native InfiniBand
//!
//! Wireshark 4.0 does not read link type 247, which is InfiniBand's own. So packets of native InfiniBand
//! are written in ERF records (link type 197), in either format.
//!
//! # Frame check sequence
//!
//! A capture that holds each frame's FCS declares it: pcapng by `if_fcslen` = 4, classic pcap by
//! the FCS bits of its network field. An undeclared FCS would make readers take it for the ICRC
//! of a RoCE v1 frame, whose end no length field gives.

mod dissection;
mod erf;
mod error;
mod fault;
mod file;
mod filter;
mod flow;
mod format;
mod hex_dump;
mod icrc_correction;
mod icrc_explained;
mod integrity;
mod interface;
mod make;
mod observation;
mod reader;
mod record;
mod round_trip;
mod suggestion;
mod tree;
mod verifier;
mod writer;

pub use dissection::{
    Address, Checksum, Contents, Dissection, Dissector, ErspanII, ErspanIII, FrameExtent, Gre,
    HeadersRead, LinkLayer, LinuxCooked, NotLookedInto, OpcodeName, OuterHeader, OuterLayer,
    Packet, Protocol, Vxlan,
};
pub use error::ReadError;
pub use fault::{Fault, PayloadRule};
pub use file::{CaptureError, CaptureFile, CaptureRead, ReadingEnded};
pub use filter::{AddressWanted, EcnWanted, Filter, OpcodeWanted, ProtocolWanted, TimeWanted};
pub use flow::{Connection, Flow, FlowCounters, FlowKey, FlowTable, MAX_FLOWS};
pub use format::Format;
pub use hex_dump::{HexDump, HexDumpComment};
pub use icrc_correction::IcrcCorrection;
pub use icrc_explained::IcrcExplained;
pub use interface::{CapturedInterface, Direction, Interface, LinkType, NumberedInterface};
pub use make::{Recipe, RecipeError};
pub use observation::Observation;
pub use reader::{CaptureReader, CapturedFrame};
pub use record::Decoded;
pub use round_trip::RoundTrips;
pub use tree::Tree;
pub use verifier::{OpcodeCount, Survey, Totals, Verified, Verifier};
pub use writer::CaptureWriter;
