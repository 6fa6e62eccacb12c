//! The events of one queue pair again, from a file: lines of JSON.

use rocelab_transport::congestion_control::{EndpointReport, Path};
use rocelab_units::{Bandwidth, Duration, SimTime};
use serde::{Deserialize, Serialize};

use crate::answers::FLAG_REPACE;
use crate::event::{GuestCall, GuestEvent};
use crate::fault::Cause;
use crate::input::{FLAG_ECN, FLAG_RTT, FLAG_TIMEOUT, Input, NEVER};
use crate::instance::Instance;
use crate::module::{GuestModule, LoadError};
use crate::queue_pair::{QueuePair, Settings};

/// A line: what happened at `now` (ps).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, tag = "event", rename_all = "kebab-case")]
pub enum ReplayEvent {
    /// The queue pair starts. The first line, and no other.
    Open {
        /// (ps)
        now: u64,
        /// [bit/s]
        line_rate: u64,
        /// (ps)
        base_rtt: u64,
        /// (bytes)
        bdp: u64,
        /// Payload of a full packet (bytes).
        mtu: u32,
        /// See [`Path::seed`].
        #[serde(default)]
        seed: u64,
    },
    /// Something was acknowledged.
    Ack {
        /// (ps)
        now: u64,
        /// (bytes)
        acked: u64,
        /// (bytes)
        acknowledged: u64,
        /// (bytes)
        sent: u64,
        /// (ps); none if left out.
        #[serde(default)]
        rtt: Option<u64>,
        /// Whether the receiver saw congestion.
        #[serde(default)]
        ecn: bool,
        /// What the ends of the path tell; nothing if left out.
        #[serde(default)]
        endpoint: Option<ReplayEndpoint>,
    },
    /// A CNP arrived.
    Cnp {
        /// (ps)
        now: u64,
    },
    /// A notification of a switch arrived.
    Cnm {
        /// (ps)
        now: u64,
        /// 0 to 63.
        feedback: u8,
    },
    /// A data packet leaves.
    Sent {
        /// (ps)
        now: u64,
        /// Its frame (bytes).
        bytes: u64,
    },
    /// Something is sent again.
    Loss {
        /// (ps)
        now: u64,
        /// Whether a timeout told it.
        #[serde(default)]
        timeout: bool,
    },
    /// A timer expired.
    Timer {
        /// (ps)
        now: u64,
        /// 0 to 2.
        timer: u32,
    },
}

/// What the ends of the path tell of a packet and its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayEndpoint {
    /// Routers that the packet crossed.
    pub hops: u16,
    /// The endpoint delay (ns).
    pub delay_ns: u32,
    /// Time in NICs (ns).
    pub held_ns: u32,
}

/// What a guest answers to a line. Times are ps; none is never.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayAnswer {
    /// [bit/s]
    pub rate: u64,
    /// (bytes); none is no limit.
    pub window: Option<u64>,
    /// When each timer expires.
    pub timers: Vec<Option<u64>>,
    /// Whether the rate counts for the packet that waits already.
    pub repaces: bool,
    /// Instructions of the call; 0 if the module is not told of such events.
    pub fuel: u64,
}

/// Why a line has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It is no event.
    #[error("it is no event: {0}")]
    Line(String),
    /// The first one does not start a queue pair, or another one does.
    #[error("`open` is the first event, and no other: a file has the events of one queue pair")]
    Open,
    /// A value that an event cannot have.
    #[error("{key} = {value}: {fix}")]
    Value {
        /// Its key.
        key: &'static str,
        /// What is there.
        value: u64,
        /// What to write instead.
        fix: &'static str,
    },
    /// It happens before what is on an earlier line.
    #[error("now = {now}, and the line before has {before}: give the events in the order of time")]
    Order {
        /// When it happens (ps).
        now: u64,
        /// When the one before happened (ps).
        before: u64,
    },
    /// There is no such timer.
    #[error("timer = {0}: there are 0, 1 and 2")]
    Timer(u32),
    /// The guest failed.
    #[error("the module failed: {0}")]
    Guest(Cause),
}

/// A module that is told the events of one queue pair.
#[derive(Debug)]
pub struct Replay {
    instance: Instance,
    pair: Option<QueuePair>,
    settings: Settings,
    state: usize,
    /// What the module is told of.
    told: Vec<GuestEvent>,
    /// When the latest event happened (ps).
    now: u64,
}

impl Replay {
    /// A module with these values of its parameters.
    ///
    /// # Errors
    /// If no instance can be made.
    pub fn new(module: &GuestModule, values: &[i64], fuel: u64) -> Result<Self, LoadError> {
        let instance = Instance::new(module.compiled())?;
        let settings = Settings::new(values, fuel);
        let (state, told) = (module.metadata().state, module.metadata().told());
        Ok(Self { instance, pair: None, settings, state, told, now: 0 })
    }

    /// Tells the guest of the event of a line.
    ///
    /// # Errors
    /// If the line is wrong, or the guest fails.
    pub fn line(&mut self, line: &str) -> Result<ReplayAnswer, ReplayError> {
        let event = serde_json::from_str(line);
        self.tell(&event.map_err(|error| ReplayError::Line(error.to_string()))?)
    }

    fn tell(&mut self, event: &ReplayEvent) -> Result<ReplayAnswer, ReplayError> {
        let Self { instance, pair, settings, state, told, now } = self;
        let (pair, call, input) = match (event.parts()?, pair) {
            (Parts::Open(path), pair @ None) => {
                let input = Input::at(path.start.ps());
                (pair.insert(QueuePair::new(&path, *state)), GuestCall::Open, input)
            }
            (Parts::Event(event, input), Some(pair)) => (pair, GuestCall::Event(event), input),
            (Parts::Open(_), Some(_)) | (Parts::Event(..), None) => return Err(ReplayError::Open),
        };
        if input.now < *now {
            return Err(ReplayError::Order { now: input.now, before: *now });
        }
        *now = input.now;
        // As in a run, of which the events may have been written down for another module.
        let is_told = match call {
            GuestCall::Open => true,
            GuestCall::Event(event) => told.contains(&event),
        };
        if is_told {
            pair.call(instance, call, &input, settings).map_err(ReplayError::Guest)?;
        }
        let answers = pair.answers();
        let unless_never = |value: u64| (value != NEVER).then_some(value);
        Ok(ReplayAnswer {
            rate: answers.rate,
            window: unless_never(answers.window),
            timers: answers.timers.map(unless_never).to_vec(),
            repaces: is_told && answers.flags & FLAG_REPACE != 0,
            fuel: if is_told { settings.fuel - instance.fuel_left() } else { 0 },
        })
    }
}

/// What a call is about.
enum Parts {
    Open(Path),
    Event(GuestEvent, Input),
}

impl ReplayEvent {
    fn parts(&self) -> Result<Parts, ReplayError> {
        let (event, input) = match *self {
            Self::Open { line_rate: 0, .. } => {
                return Err(ReplayError::Value { key: "line_rate", value: 0, fix: "give bit/s" });
            }
            Self::Open { mtu: 0, .. } => {
                return Err(ReplayError::Value { key: "mtu", value: 0, fix: "give bytes" });
            }
            Self::Cnm { feedback, .. } if feedback > 63 => {
                let (key, value) = ("feedback", feedback.into());
                return Err(ReplayError::Value { key, value, fix: "give 0 to 63" });
            }
            Self::Open { now, line_rate, base_rtt, bdp, mtu, seed } => {
                return Ok(Parts::Open(Path {
                    line_rate: Bandwidth::from_bps(line_rate),
                    base_rtt: Duration::from_ps(base_rtt),
                    bdp,
                    path_mtu: mtu,
                    others: 0,
                    seed,
                    start: SimTime::from_ps(now),
                }));
            }
            Self::Ack { now, acked, acknowledged, sent, rtt, ecn, endpoint } => {
                let flags = u32::from(ecn) * FLAG_ECN + u32::from(rtt.is_some()) * FLAG_RTT;
                let rtt = rtt.unwrap_or(NEVER);
                let input = Input { acked, acknowledged, sent, rtt, flags, ..Input::at(now) };
                let told = endpoint.map_or(input, |ReplayEndpoint { hops, delay_ns, held_ns }| {
                    input.with_endpoint(EndpointReport { hops, delay_ns, held_ns })
                });
                (GuestEvent::Ack, told)
            }
            Self::Cnp { now } => (GuestEvent::Cnp, Input::at(now)),
            Self::Cnm { now, feedback } => {
                (GuestEvent::Cnm, Input { value: feedback.into(), ..Input::at(now) })
            }
            Self::Sent { now, bytes } => (GuestEvent::Sent, Input { bytes, ..Input::at(now) }),
            Self::Loss { now, timeout } => {
                let flags = u32::from(timeout) * FLAG_TIMEOUT;
                (GuestEvent::Loss, Input { flags, ..Input::at(now) })
            }
            Self::Timer { timer, .. } if timer > 2 => return Err(ReplayError::Timer(timer)),
            Self::Timer { now, timer } => {
                (GuestEvent::Timer, Input { value: timer, ..Input::at(now) })
            }
        };
        Ok(Parts::Event(event, input))
    }
}
