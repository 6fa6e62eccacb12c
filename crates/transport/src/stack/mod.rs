//! Stacks of a host with traffic of their own, beside its NIC and its TCP: one file each, and one line
//! each in the list below.
//!
//! A scenario describes *streams* of a stack, as `[[host.stack.NAME]]`. Each goes from one host to another,
//! and has an `End` at both. A stack says what its packets look like, and when an end sends one;
//! [`StackHost`] has all ends of one host, and sends what is due. What a stack has, it says in its own file: the
//! keys of a stream, what is wrong with them, its bytes in captures, and its saved state.

mod host;
mod schedule;

use core::fmt;
use core::net::IpAddr;

pub use host::{StackHost, StackHostConfig, StreamCounts, StreamPacket, StreamTransmit};
use rocelab_state::{Result as StateResult, State};
use rocelab_units::{Bandwidth, Bytes, Duration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::congestion_control::InvalidParameter;

/// Makes modules, scenario keys, JSON Schema and the kinds of streams. Each module has a type `Parameters`, which
/// implements [`Definition`], with an associated function `end`; and a type `End`, which implements [`StreamEnd`].
macro_rules! stacks {
    ($($(#[$meta:meta])* $variant:ident = $name:literal => $module:ident,)*) => {
        $(mod $module;)*

        /// Traffic of hosts that is of no workload: any number of streams of each stack.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct StackConfigs {
            $(
                $(#[$meta])*
                #[serde(rename = $name, skip_serializing_if = "Vec::is_empty")]
                $module: Vec<$module::Parameters>,
            )*
        }

        impl StackConfigs {
            /// The names that a scenario may use.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Every stream with its key, such as `NAME[0]`, in the order of the list.
            pub fn streams(&self) -> Vec<(String, StreamConfig)> {
                let all: Vec<(String, StreamConfig)> = Vec::new();
                $(
                    let own = self.$module.iter().enumerate().map(|(index, stream)| {
                        (format!("{}[{index}]", $name), StreamConfig::$variant(stream.clone()))
                    });
                    let all = all.into_iter().chain(own).collect::<Vec<_>>();
                )*
                all
            }
        }

        /// One stream: what its keys say.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum StreamConfig {
            $($(#[$meta])* $variant($module::Parameters),)*
        }

        impl StreamConfig {
            /// The name of its stack.
            pub const fn stack(&self) -> &'static str {
                match *self { $(Self::$variant(_) => $name,)* }
            }

            fn definition(&self) -> &dyn Definition {
                match *self { $(Self::$variant(ref parameters) => parameters,)* }
            }

            fn end(&self, role: Role, period: Period) -> End {
                _ = (role, period);
                match *self {
                    $(Self::$variant(ref parameters) => {
                        End::$variant(parameters.end(role, period))
                    })*
                }
            }
        }

        /// One end of a stream.
        #[derive(Debug)]
        enum End {
            $($variant($module::End),)*
        }

        impl End {
            fn next_due(&self) -> SimTime {
                match *self { $(Self::$variant(ref end) => end.next_due(),)* }
            }

            fn send(&mut self) -> u16 {
                match *self { $(Self::$variant(ref mut end) => end.send(),)* }
            }

            fn receive(&mut self, now: SimTime, packet: &StreamPacket) {
                _ = (now, packet);
                match *self { $(Self::$variant(ref mut end) => end.receive(now, packet),)* }
            }
        }

        impl State for End {
            fn save(&self, to: &mut Vec<u8>) -> StateResult {
                _ = &to;
                match *self { $(Self::$variant(ref end) => end.save(to),)* }
            }

            fn load(&mut self, from: &mut &[u8]) -> StateResult {
                _ = &from;
                match *self { $(Self::$variant(ref mut end) => end.load(from),)* }
            }
        }
    };
}

stacks! {
    /// UDP datagrams at a constant rate, which react to nothing.
    Udp = "udp" => udp,
}

/// Which end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one that a scenario names first (`from`).
    Source,
    /// The other one (`to`).
    Destination,
}

/// When a stream sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// From then on.
    pub start: SimTime,
    /// Before that.
    pub stop: SimTime,
}

/// Where a stream begins, for what may be wrong with it.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The rate of its source's link.
    pub line_rate: Bandwidth,
    /// Bytes of a frame that are neither the stack's header nor payload: Ethernet, 802.1Q tag, IP, FCS.
    pub encapsulation_len: u16,
}

impl Site {
    /// How long the source's port takes to send a packet whose IP packet has so many bytes behind the header.
    pub fn time_on_link(&self, len: u16) -> Duration {
        /// Preamble and start of frame delimiter, and the gap between frames (IEEE 802.3).
        const BETWEEN_FRAMES: u64 = 8 + 12;
        let frame = u64::from(frame_len(self.encapsulation_len, len));
        self.line_rate.transmission_time(Bytes::new(frame + BETWEEN_FRAMES))
    }
}

/// What every stream says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream<'a> {
    /// The name of the host that it comes from.
    pub from: &'a str,
    /// The name of the host that it goes to.
    pub to: &'a str,
    /// The priority of its packets, as the scenario has it.
    pub priority: u8,
    /// When it starts.
    pub start: SimTime,
    /// When it stops, if it says so.
    pub stop: Option<SimTime>,
}

/// What its packets look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The number of the protocol in IP.
    pub protocol: u8,
    /// Bytes of the stack's header, behind that of IP.
    pub header_len: u16,
    /// The most payload of a packet (bytes).
    pub largest_payload: u16,
}

/// What can be asked of a stream by its keys.
trait Definition: fmt::Debug {
    /// What every stream says.
    fn stream(&self) -> Stream<'_>;

    /// What its packets look like.
    fn format(&self) -> Format;

    /// The first thing that is wrong with the keys of its stack.
    fn validate(&self, site: Site) -> Result<(), InvalidParameter>;

    /// The source's port and the destination's, by the number of the stream: equal-cost multipath goes by them. `(0, 0)`
    /// if the protocol has none.
    fn ports(&self, number: u32) -> (u16, u16) {
        _ = number;
        (0, 0)
    }

    /// The header and the payload of a packet between these addresses, as they are in a capture.
    fn to_bytes(&self, packet: &StreamPacket, source: IpAddr, destination: IpAddr) -> Vec<u8>;
}

/// One end of a stream.
trait StreamEnd: fmt::Debug + State {
    /// When it sends next, or wanted to; [`SimTime::NEVER`] if nothing more is known to come.
    fn next_due(&self) -> SimTime;

    /// What was due is sent: its payload (bytes).
    fn send(&mut self) -> u16;

    /// A packet of the other end has arrived.
    fn receive(&mut self, now: SimTime, packet: &StreamPacket) {
        _ = (now, packet);
    }
}

impl StreamConfig {
    /// What every stream says.
    pub fn stream(&self) -> Stream<'_> {
        self.definition().stream()
    }

    /// What its packets look like.
    pub fn format(&self) -> Format {
        self.definition().format()
    }

    /// Checks the keys of its stack.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn validate(&self, site: Site) -> Result<(), InvalidParameter> {
        self.definition().validate(site)
    }

    /// The largest frame, if so many bytes of it are neither its header nor payload.
    pub fn largest_frame(&self, encapsulation_len: u16) -> u16 {
        let Format { header_len, largest_payload, .. } = self.format();
        frame_len(encapsulation_len, header_len + largest_payload)
    }

    /// The ports of a packet of stream `number`: where it comes from, and where it goes.
    pub fn ports(&self, number: u32, from: Role) -> (u16, u16) {
        let (near, far) = self.definition().ports(number);
        if from == Role::Source { (near, far) } else { (far, near) }
    }

    /// The header and the payload of a packet between these addresses, as they are in a capture.
    pub fn to_bytes(&self, packet: &StreamPacket, source: IpAddr, destination: IpAddr) -> Vec<u8> {
        self.definition().to_bytes(packet, source, destination)
    }
}

/// Bytes of a frame with so many bytes in its IP packet behind the header of that.
const fn frame_len(encapsulation_len: u16, len: u16) -> u16 {
    /// Ethernet's shortest frame.
    const MIN: u16 = 64;
    let len = encapsulation_len.saturating_add(len);
    if len < MIN { MIN } else { len }
}
