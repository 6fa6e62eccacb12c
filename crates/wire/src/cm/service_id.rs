//! Service IDs of the RDMA connection manager: ports of IP's protocols.

use core::fmt;

/// The port space of [`service_id`] for connected services: TCP's protocol number.
pub const TCP_PORT_SPACE: u8 = 0x06;

/// The port space of [`service_id`] for datagrams: UDP's protocol number.
pub const UDP_PORT_SPACE: u8 = 0x11;

/// The common prefix of all service IDs for IP ports (Linux `IB_CMA_SERVICE_ID`,
/// `include/rdma/ib_cm.h`).
const PREFIX: u64 = 0x0000_0000_0100_0000;

/// The service ID of a port, as Linux's RDMA connection manager and its applications have it.
///
/// ```
/// # use rocelab_wire::cm::{TCP_PORT_SPACE, service_id};
/// assert_eq!(service_id(TCP_PORT_SPACE, 7174), 0x0000_0000_0106_1c06);
/// ```
#[must_use]
pub const fn service_id(port_space: u8, port: u16) -> u64 {
    PREFIX | (port_space as u64) << 16 | port as u64
}

/// The port space and the port of a service ID; `None` if it is not a service ID for an IP port.
#[must_use]
pub const fn ip_service(service_id: u64) -> Option<(u8, u16)> {
    let [a, b, c, d, e, port_space, high, low] = service_id.to_be_bytes();
    let prefix = u64::from_be_bytes([a, b, c, d, e, 0, 0, 0]);
    if prefix == PREFIX { Some((port_space, u16::from_be_bytes([high, low]))) } else { None }
}

/// A service ID as text.
pub(super) struct ServiceId(pub(super) u64);

impl fmt::Display for ServiceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ip_service(self.0) {
            Some((TCP_PORT_SPACE, port)) => write!(f, "TCP port {port}"),
            Some((UDP_PORT_SPACE, port)) => write!(f, "UDP port {port}"),
            _ => write!(f, "{:#018x}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_back() {
        for port in [0, 1, 7174, u16::MAX] {
            let id = service_id(UDP_PORT_SPACE, port);
            assert_eq!(ip_service(id), Some((UDP_PORT_SPACE, port)));
        }
        assert_eq!(ip_service(0x0000_0000_0206_1c06), None);
        assert_eq!(ip_service(0x1000_0000_0106_1c06), None);
    }

    #[test]
    fn text() {
        assert_eq!(ServiceId(0x0106_1c06).to_string(), "TCP port 7174");
        assert_eq!(ServiceId(0x0111_1c06).to_string(), "UDP port 7174");
        assert_eq!(ServiceId(0x0122_1c06).to_string(), "0x0000000001221c06");
    }
}
