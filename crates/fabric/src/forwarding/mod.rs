//! By which ports a switch forwards what has come in: one forwarding plane a file, and one line each in the list below.
//!
//! Routes ([`Routes`](crate::Routes)) say by which port every host is reached, and the simulator knows them as a packet
//! is sent. A plane is asked where a switch may decide otherwise as the packet arrives: where it does not know every host
//! ([`KnownHosts`]), or never looks.

mod address_table;
mod known_hosts;

use core::fmt;

use rocelab_state::{Result, State, load_value, save_value, unfit};
use rocelab_units::SimTime;
use rocelab_wire::Encapsulation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::NodeId;
pub use known_hosts::{KnownHosts, LearningConfig, MacEntries, MissingEntries};

/// Makes modules, scenario key, JSON Schema, saved state and the list of planes. Each has a type `Plane` in its module,
/// which implements [`Forward`].
macro_rules! planes {
    ($($(#[$meta:meta])* $variant:ident = $name:literal => $module:ident,)*) => {
        $(mod $module;)*

        /// How a switch finds the ports by which it forwards a frame.
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema,
        )]
        pub enum ForwardingPlane {
            /// A bridge on RoCE v1, and a router on RoCE v2.
            #[default]
            #[serde(rename = "auto")]
            Auto,
            $($(#[$meta])* #[serde(rename = $name)] $variant,)*
        }

        impl ForwardingPlane {
            /// Every plane, in the order of the list.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name that a scenario uses.
            pub const fn name(self) -> &'static str {
                match self { Self::Auto => "auto", $(Self::$variant => $name,)* }
            }

            /// The plane that is meant, for frames of this encapsulation: never [`Self::Auto`].
            pub fn resolved(self, encapsulation: Encapsulation) -> Self {
                match self {
                    Self::Auto if Self::Bridge.forwards(encapsulation) => Self::Bridge,
                    Self::Auto => Self::Router,
                    chosen => chosen,
                }
            }

            /// Whether it forwards frames of this encapsulation.
            pub fn forwards(self, encapsulation: Encapsulation) -> bool {
                match self {
                    Self::Auto => true,
                    $(Self::$variant => <$module::Plane as Forward>::forwards(encapsulation),)*
                }
            }

            /// Whether it does as routes say wherever it knows a host.
            pub fn follows_routes(self) -> bool {
                match self {
                    Self::Auto => true,
                    $(Self::$variant => <$module::Plane as Forward>::FOLLOWS_ROUTES,)*
                }
            }

            /// Whether it floods what it does not know, or all.
            pub fn floods(self) -> bool {
                match self {
                    Self::Auto => true,
                    $(Self::$variant => <$module::Plane as Forward>::FLOODS,)*
                }
            }

            /// The state of one switch that has this many ports, for frames of this encapsulation.
            pub fn state(self, encapsulation: Encapsulation, ports: usize) -> PlaneState {
                match self {
                    Self::Auto => self.resolved(encapsulation).state(encapsulation, ports),
                    $(Self::$variant => PlaneState::$variant($module::Plane::new(ports)),)*
                }
            }
        }

        /// The plane of one switch, with its state.
        #[derive(Debug)]
        pub enum PlaneState {
            $($(#[$meta])* $variant($module::Plane),)*
        }

        impl PlaneState {
            /// By which ports a frame goes on that has come in.
            pub fn forward(&mut self, known: &KnownHosts, frame: &ForwardedFrame) -> Forwarding {
                match self { $(Self::$variant(plane) => plane.forward(known, frame),)* }
            }

            /// Forgets at `now` what it has learnt behind a port, by its number: nothing is reached there any more.
            pub fn flush(&mut self, port: u16, now: SimTime) {
                match self { $(Self::$variant(plane) => plane.flush(port, now),)* }
            }

            /// What became of its MAC entries so far.
            pub fn mac_entries(&self) -> MacEntries {
                match self { $(Self::$variant(plane) => plane.mac_entries(),)* }
            }

            /// Which plane it is; never [`ForwardingPlane::Auto`].
            pub const fn plane(&self) -> ForwardingPlane {
                match self { $(Self::$variant(_) => ForwardingPlane::$variant,)* }
            }
        }

        /// Which plane it is, is a setting: one is not loaded into another.
        impl State for PlaneState {
            fn save(&self, to: &mut Vec<u8>) -> Result {
                save_value(&self.plane().name(), to)?;
                match self { $(Self::$variant(plane) => plane.save(to),)* }
            }

            fn load(&mut self, from: &mut &[u8]) -> Result {
                if load_value::<String>(from)? != self.plane().name() {
                    return Err(unfit("the forwarding plane of a switch"));
                }
                match self { $(Self::$variant(plane) => plane.load(from),)* }
            }
        }
    };
}

planes! {
    /// It looks up the destination's MAC address, learns where source addresses are, and floods what it does not know
    /// (IEEE 802.1Q, the learning and the forwarding process). RoCE v1 only.
    Bridge = "bridge" => bridge,
    /// A bridge that drops frames for addresses that it does not know, and floods none. RoCE v1 only.
    BridgeNoFlood = "bridge-no-flood" => bridge_no_flood,
    /// It looks up the destination's IP address, and as the last one on the way finds its MAC address and port. RoCE v2
    /// only.
    Router = "router" => router,
}

/// A forwarding plane in one switch.
trait Forward: fmt::Debug + State {
    /// Whether it does as routes say wherever it knows a host. It is not asked then where every switch knows every host.
    const FOLLOWS_ROUTES: bool = true;

    /// Whether it floods what it does not know, or all.
    const FLOODS: bool = true;

    /// Whether it forwards frames of this encapsulation.
    fn forwards(encapsulation: Encapsulation) -> bool;

    /// The plane of a switch with this many ports, before any frame.
    fn new(ports: usize) -> Self;

    /// By which ports a frame goes on that has come in.
    fn forward(&mut self, known: &KnownHosts, frame: &ForwardedFrame) -> Forwarding;

    /// Forgets what it has learnt behind a port.
    fn flush(&mut self, port: u16, now: SimTime) {
        let _ = (port, now);
    }

    /// What became of its MAC entries so far.
    fn mac_entries(&self) -> MacEntries {
        MacEntries::default()
    }
}

/// What a switch sees of a frame that it is to forward, and what it may know of the frame's destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardedFrame {
    /// When its last bit has arrived; where it is cut through, its first 64 bytes.
    pub now: SimTime,
    /// The host that has sent it.
    pub source: NodeId,
    /// The host that it is for.
    pub destination: NodeId,
    /// The number of the port by which it came in.
    pub ingress: u16,
    /// Whether its source MAC address is that of its host: no router has forwarded it, and no switch has made it.
    pub has_source_mac: bool,
    /// The number of the port towards its destination by the routes; none if there is no way.
    pub route: Option<u16>,
    /// Whether that port leads to the destination itself, and to no other switch.
    pub is_last_hop: bool,
    /// Whether a switch has flooded it. So its destination MAC address is that of its host.
    pub was_flooded: bool,
    /// Whether its priority is lossless in this switch; only with [`KnownHosts::drop_incomplete_arp`].
    pub is_lossless: bool,
    /// Whether this is the last hop and the destination a host that is up, so that it answers an ARP request.
    pub answers: bool,
}

/// By which ports a frame goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// As the routes say.
    AsRouted,
    /// By the port of this number.
    By(u16),
    /// By every port of its broadcast domain but that by which it came in.
    Flood,
    /// It is dropped.
    Drop(ForwardingDrop),
}

/// Why a forwarding plane drops a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardingDrop {
    /// Its destination is where it came from.
    Filtered,
    /// A router has received it that it is not addressed to.
    ForeignDestination,
    /// The MAC address or the port of its destination is unknown to the last router.
    IncompleteArp,
    /// A bridge that does not flood does not know the port of its destination.
    UnknownDestination,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame from host 1 to host 2, which came in by port 0 and whose route is port 1, which leads to host 2.
    pub(super) fn frame(us: u64) -> ForwardedFrame {
        ForwardedFrame {
            now: SimTime::from_ps(us * 1_000_000),
            source: 1,
            destination: 2,
            ingress: 0,
            has_source_mac: true,
            route: Some(1),
            is_last_hop: true,
            was_flooded: false,
            is_lossless: false,
            answers: true,
        }
    }

    fn learning() -> KnownHosts {
        KnownHosts { learning: Some(LearningConfig::default()), ..KnownHosts::default() }
    }

    #[test]
    fn each_plane_goes_on_where_it_was_saved() {
        for &plane in ForwardingPlane::ALL {
            let encapsulations = [Encapsulation::V1, Encapsulation::V2Ipv4, Encapsulation::V2Ipv6];
            for encapsulation in encapsulations.into_iter().filter(|&one| plane.forwards(one)) {
                let mut state = plane.state(encapsulation, 4);
                assert_eq!(state.plane(), plane);
                let known = learning();
                for us in 0..4 {
                    let source = u32::try_from(us).expect("small") % 3 + 5;
                    state.forward(&known, &ForwardedFrame { source, ..frame(us) });
                }
                let mut saved = Vec::new();
                state.save(&mut saved).expect("it can be saved");
                let mut loaded = plane.state(encapsulation, 4);
                loaded.load(&mut &saved[..]).expect("it fits");
                for us in 4..9 {
                    let frame = ForwardedFrame { destination: 6, source: 2, ..frame(us) };
                    assert_eq!(state.forward(&known, &frame), loaded.forward(&known, &frame));
                }
                assert_eq!(state.mac_entries(), loaded.mac_entries());
            }
        }
    }

    #[test]
    fn a_plane_that_follows_routes_does_so_where_it_knows_every_host() {
        for &plane in ForwardingPlane::ALL.iter().filter(|plane| plane.follows_routes()) {
            for encapsulation in [Encapsulation::V1, Encapsulation::V2Ipv4] {
                if plane.forwards(encapsulation) {
                    let mut state = plane.state(encapsulation, 4);
                    let decided = state.forward(&KnownHosts::default(), &frame(1));
                    assert!(
                        matches!(decided, Forwarding::AsRouted | Forwarding::By(1)),
                        "{plane:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn by_default_v1_is_bridged_and_v2_is_routed() {
        let plane = |encapsulation| ForwardingPlane::Auto.state(encapsulation, 1).plane();
        assert_eq!(plane(Encapsulation::V1), ForwardingPlane::Bridge);
        assert_eq!(plane(Encapsulation::V2Ipv4), ForwardingPlane::Router);
        assert_eq!(plane(Encapsulation::V2Ipv6), ForwardingPlane::Router);
    }
}
