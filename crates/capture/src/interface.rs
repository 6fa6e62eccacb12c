//! Captured ports.

use rocelab_units::Bandwidth;

/// A port to capture, as the writer declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name shown beside each frame (`if_name`), such as `host-0`.
    pub name: String,
    /// Free text (`if_description`); empty for none.
    pub description: String,
    /// What its frames are.
    pub link_type: LinkType,
    /// Link rate (`if_speed`, in bit/s).
    pub speed: Bandwidth,
    /// Whether the frames end with their 4-byte FCS (`if_fcslen`): only those of Ethernet can.
    pub fcs: bool,
    /// Most bytes kept of a frame; 0 keeps all.
    pub snap_length: u32,
}

/// What the frames of a captured port are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkType {
    /// Ethernet frames, from the destination MAC on.
    #[default]
    Ethernet,
    /// Packets of native InfiniBand, from the LRH to the VCRC, and link packets of six bytes. They are
    /// written in ERF records, which Wireshark can read.
    InfiniBand,
}

/// A captured port, as the reader found it. Classic pcap has one, without name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedInterface {
    /// Name (`if_name`), if the file has one.
    pub name: Option<String>,
    /// Free text (`if_description`), if the file has one.
    pub description: Option<String>,
    /// Link rate, if the file has one.
    pub speed: Option<Bandwidth>,
    /// Link type, as in tcpdump.org's registry: 1 is Ethernet, 247 InfiniBand.
    pub link_type: u16,
    /// Length in bytes of the FCS at the end of each frame; 0 if the file declares none.
    pub fcs_length: u8,
    /// Most bytes kept of a frame; 0 means no limit.
    pub snap_length: u32,
}

/// A captured port by its number, as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedInterface {
    /// Number in the file, from 0, through all sections.
    pub number: usize,
    /// Name (`if_name`), if the file has one.
    pub name: Option<String>,
}

/// The direction of a frame, as seen from the captured port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The port received the frame.
    Inbound,
    /// The port sent the frame.
    Outbound,
}
