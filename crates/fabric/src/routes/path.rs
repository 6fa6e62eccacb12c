//! One shortest path, for closed forms and base round-trip times.

use super::{NONE, PathError, Routes};
use crate::topology::NodeId;

impl Routes {
    /// The links of a shortest path from host to host, in order: each switch uses its lowest port.
    /// Empty if both hosts are the same. With static routes, the path that these routes make.
    ///
    /// # Errors If one of the two is not a host, or there is no path.
    pub fn shortest_path(
        &self,
        source: NodeId,
        destination: NodeId,
    ) -> Result<Vec<u32>, PathError> {
        let mut links = Vec::new();
        self.walk(source, destination, |link| links.push(link))?;
        Ok(links)
    }

    /// The number of links of every path that [`Routes::egress`] may choose from host to host; with
    /// static routes, of the path by the lowest ports.
    ///
    /// # Errors As [`Routes::shortest_path`].
    pub fn path_length(&self, source: NodeId, destination: NodeId) -> Result<usize, PathError> {
        let mut length = 0;
        self.walk(source, destination, |_| length += 1)?;
        Ok(length)
    }

    fn walk(
        &self,
        source: NodeId,
        destination: NodeId,
        mut visit: impl FnMut(u32),
    ) -> Result<(), PathError> {
        for node in [source, destination] {
            if self.rows.get(node as usize).is_none_or(|&row| row != NONE) {
                return Err(PathError::NotAHost { node });
            }
        }
        if source == destination {
            return Ok(());
        }
        let unreachable = PathError::Unreachable { from: source, to: destination };
        let up = self.attachment_link(source).ok_or(unreachable)?;
        visit(up);
        let mut node = self.attachment_of(source).switch;
        let mut crossed = 0;
        while node != destination {
            if crossed > self.rows.len() {
                return Err(PathError::Loop { from: source, to: destination });
            }
            crossed += 1;
            let &port = self.next_hops(node, destination).first().ok_or(unreachable)?;
            let hop = self.adjacency.ports_of(node)[usize::from(port)];
            visit(hop.link);
            node = hop.node;
        }
        Ok(())
    }

    /// The link of a host to its switch.
    fn attachment_link(&self, host: NodeId) -> Option<u32> {
        let attachment = self.attachment_of(host);
        let ports = self.adjacency.ports_of(attachment.switch);
        ports.get(usize::from(attachment.port)).map(|port| port.link)
    }
}
