//! How an end of a flow or connection stands.

use rocelab_transport::Standing;
use rocelab_transport::tcp::TcpStanding;

use super::category::Category;

/// How a queue pair, or an end of a TCP connection, stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndState {
    /// Its host asks for the MAC address of the next hop.
    AddressResolution,
    /// Work is on its way to the NIC, which has none of it.
    Posting,
    QueuePair(Standing),
    Tcp(TcpStanding),
}

/// What an end waits for, as far as it is its own business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// What has a name, and no cause that is to be looked for.
    Only(Category),
    /// The congestion control, which lets something leave later.
    CongestionControl(Category),
    /// An answer that does not come.
    Answer,
    /// The port.
    Port,
}

impl EndState {
    /// What it waits for at a time (picoseconds).
    pub(super) fn waits_for(self, time: u64) -> WaitsFor {
        match self {
            Self::AddressResolution => WaitsFor::Only(Category::AddressResolution),
            Self::Posting => WaitsFor::Only(Category::Posting),
            Self::QueuePair(standing) => match standing {
                Standing::NotConnected => WaitsFor::Only(Category::ConnectionSetup),
                Standing::Failed | Standing::NoWork => WaitsFor::Only(Category::Idle),
                Standing::Unanswered => WaitsFor::Answer,
                Standing::ReceiverNotReady => WaitsFor::Only(Category::ReceiverNotReady),
                Standing::Window => WaitsFor::CongestionControl(Category::Window),
                Standing::PacketLimit => WaitsFor::Only(Category::PacketLimit),
                Standing::ReadLimit => WaitsFor::Only(Category::ReadLimit),
                Standing::MaySend(release) if time < release.ps() => {
                    WaitsFor::CongestionControl(Category::Pacing)
                }
                Standing::MaySend(_) => WaitsFor::Port,
            },
            Self::Tcp(standing) => match standing {
                TcpStanding::NoWork => WaitsFor::Only(Category::Idle),
                TcpStanding::Unanswered => WaitsFor::Answer,
                TcpStanding::CongestionWindow => WaitsFor::CongestionControl(Category::Window),
                TcpStanding::ReceiveWindow => WaitsFor::Only(Category::ReceiveWindow),
                TcpStanding::InStack => WaitsFor::Only(Category::HostStack),
                TcpStanding::MaySend => WaitsFor::Port,
            },
        }
    }

    /// When it changes by itself, if that is after `since` (picoseconds).
    pub(super) fn release(self, since: u64) -> u64 {
        match self {
            Self::QueuePair(Standing::MaySend(release)) => release.ps(),
            Self::AddressResolution | Self::Posting | Self::QueuePair(_) | Self::Tcp(_) => since,
        }
    }
}
