//! The capture files of a run.

use std::io;
use std::path::{Path, PathBuf};

use rocelab_capture::{CaptureWriter, Format, Interface, LinkType};
use rocelab_fabric::NodeId;

use crate::network::CapturedFrame;
use crate::{CaptureFormat, CapturePlan, Plan};

/// The capture files of a run, while it lasts.
#[derive(Debug)]
pub(super) struct CaptureFiles {
    /// One for all ports (pcapng), or one a port (pcap).
    writers: Vec<CaptureWriter>,
    one_file_a_port: bool,
    /// The first thing that went wrong; nothing is written after it.
    error: Option<io::Error>,
}

impl CaptureFiles {
    /// Files in `folder` for the ports that `captured` names; `open` opens one.
    pub(super) fn create(
        folder: &Path,
        plan: &Plan,
        captured: &CapturePlan,
        open: fn(Format, PathBuf, &[Interface]) -> io::Result<CaptureWriter>,
    ) -> io::Result<Self> {
        let adjacency = plan.topology.adjacency();
        let name = |node: NodeId| &plan.topology.nodes[node as usize].name;
        let interface = |&(node, number): &(NodeId, u16)| {
            let neighbour = &adjacency.ports_of(node)[usize::from(number)];
            let peer_number = adjacency.port_of_link(neighbour.node, neighbour.link).unwrap_or(0);
            Interface {
                name: if plan.topology.is_host(node) {
                    name(node).clone()
                } else {
                    format!("{}:{number}", name(node))
                },
                description: format!("to {}:{peer_number}", name(neighbour.node)),
                link_type: match plan.infiniband {
                    Some(_) => LinkType::InfiniBand,
                    None => LinkType::Ethernet,
                },
                speed: plan.topology.links[neighbour.link as usize].rate,
                fcs: captured.fcs && plan.infiniband.is_none(),
                snap_length: captured.snap_length,
            }
        };
        let interfaces = captured.ports.iter().map(interface);
        let one_file_a_port = captured.format == CaptureFormat::Pcap;
        let writers = if one_file_a_port {
            let file = |interface: Interface| {
                let name = interface.name.replace(':', "-port-");
                let path = folder.join(format!("capture-{name}.pcap"));
                open(Format::Pcap, path, &[interface])
            };
            interfaces.map(file).collect::<io::Result<_>>()?
        } else {
            let path = folder.join("capture.pcapng");
            let interfaces: Vec<_> = interfaces.collect();
            vec![open(Format::PcapNg, path, &interfaces)?]
        };
        Ok(Self { writers, one_file_a_port, error: None })
    }

    /// Writes a frame, unless something went wrong before.
    fn write(&mut self, frame: &CapturedFrame) {
        if self.error.is_some() {
            return;
        }
        let (writer, interface) = if self.one_file_a_port {
            (usize::from(frame.interface), 0)
        } else {
            (0, usize::from(frame.interface))
        };
        let CapturedFrame { key, direction, bytes, .. } = frame;
        let written = u32::try_from(bytes.len()).map_err(io::Error::other).and_then(|len| {
            self.writers[writer].write_frame(interface, key.time, *direction, bytes, len)
        });
        self.error = written.err();
    }

    /// Writes frames of all parts of a network, which come here part by part, in the order of events;
    /// what nodes send because of one event from outside, in the order of nodes.
    pub(super) fn write_all(&mut self, captured: &CapturePlan, mut frames: Vec<CapturedFrame>) {
        frames.sort_by_key(|frame| (frame.key, captured.ports[usize::from(frame.interface)].0));
        for frame in &frames {
            self.write(frame);
        }
    }

    /// Notes what went wrong before a frame could be written.
    pub(super) fn fail(&mut self, error: io::Error) {
        self.error.get_or_insert(error);
    }

    /// Whether something went wrong.
    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Writes out what is buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.writers.iter_mut().try_for_each(CaptureWriter::flush)
    }

    /// Writes out what is buffered and closes the files.
    pub(super) fn finish(self) -> io::Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.writers.into_iter().try_for_each(|writer| writer.finish().map(drop))
    }
}
